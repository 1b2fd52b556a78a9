// Half of the inverse of the diagonal.
#include "tests/extension/half_jacobi.hpp"

#include "src/case/shape.hpp"

namespace tessera::testing {
namespace {

template <class T>
class HalfJacobi final : public Preconditioner<T, Host> {
 public:
  explicit HalfJacobi(const LinearOperator<T, Host>& a) : diagonal_(a.size()) {
    a.diagonal(diagonal_);
  }

  std::int64_t size() const override { return diagonal_.size(); }
  void do_apply(const HostVector<T>& r, HostVector<T>& z) const override {
    for (Index i = 0; i < z.size(); ++i) z[i] = r[i] / (T{2} * diagonal_[i]);
  }

 private:
  HostVector<T> diagonal_;
};

template <class T>
PreconditionerSetup<T, Host> make(const PreconditionerTask<T, Host>& task) {
  PreconditionerSetup<T, Host> made;
  made.preconditioner = std::make_unique<HalfJacobi<T>>(task.a);
  made.notes.emplace_back("half of the inverse diagonal");
  return made;
}

OperatorBytes bytes(const CaseParameters& parameters) {
  const FormShape shape = case_shape(parameters);
  const Index diagonal = shape.lattice.size() * shape.value_bytes;
  return {diagonal, diagonal};
}

}  // namespace

PreconditionerInfo half_jacobi() {
  return {.name = "half-jacobi",
          .summary = "half of the inverse of the diagonal",
          .bytes = bytes,
          .make = {.host_double = make<double>, .host_float = make<float>}};
}

}  // namespace tessera::testing
