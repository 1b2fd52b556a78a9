// The matrix with all of its zeros.
#include "tests/extension/dense_kernel.hpp"

#include <vector>

#include "mesh/saturated.hpp"
#include "operators/csr/csr.hpp"

namespace tessera::testing {
namespace {

constexpr Index kMaxNodes = 2000;

template <class T>
class Dense final : public LinearOperator<T, Host> {
 public:
  explicit Dense(const CsrMatrix<T>& sparse)
      : size_(sparse.size()), entries_(static_cast<std::size_t>(size_ * size_)) {
    for (Index i = 0; i < size_; ++i) {
      const auto length = static_cast<std::size_t>(sparse.row_length(i));
      std::vector<Index> columns(length);
      std::vector<T> values(length);
      sparse.read_row(i, columns.data(), values.data());
      for (std::size_t k = 0; k < length; ++k) entries_[i * size_ + columns[k]] = values[k];
    }
  }

  Index size() const override { return size_; }
  std::string name() const override { return "dense"; }
  Cost cost() const override {
    const auto n = static_cast<double>(size_);
    return {n * n * sizeof(T), 2.0 * n * n};
  }
  Index bytes() const override { return size_ * size_ * static_cast<Index>(sizeof(T)); }
  void do_apply(const HostVector<T>& x, HostVector<T>& y) const override {
    for (Index i = 0; i < size_; ++i) {
      T sum{0};
      for (Index j = 0; j < size_; ++j) sum += entries_[i * size_ + j] * x[j];
      y[i] = sum;
    }
  }
  void do_diagonal(HostVector<T>& d) const override {
    for (Index i = 0; i < size_; ++i) d[i] = entries_[i * size_ + i];
  }

 private:
  Index size_;
  std::vector<T> entries_;
};

template <class T>
std::unique_ptr<LinearOperator<T, Host>> make(const StrategyName&, const BilinearForm& form) {
  return std::make_unique<Dense<T>>(*make_csr_matrix<T>(form));
}

OperatorBytes bytes(const StrategyName&, const FormShape& shape) {
  const Saturated held = Saturated(shape.lattice.size()) * shape.lattice.size() * shape.value_bytes;
  return {held, held * 2};
}

std::string why_not(const StrategyName&, const FormShape& shape) {
  if (shape.lattice.size() <= kMaxNodes) return "";
  return "the kernel dense is for at most 2000 nodes, and here are " +
         std::to_string(shape.lattice.size());
}

}  // namespace

KernelInfo dense_kernel() {
  return {.name = "dense",
          .summary = "all entries of the matrix, zeros included",
          .fast_degrees = "any degree",
          .memory = "8 n^2 B",
          .cpu_bytes = bytes,
          .why_not = why_not,
          .make = {.host_double = make<double>, .host_float = make<float>}};
}

}  // namespace tessera::testing
