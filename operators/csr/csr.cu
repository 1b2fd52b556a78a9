// This file multiplies by the assembled matrix on the GPU.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "operators/csr/device_csr.hpp"
#include "operators/csr/pattern.cuh"
#include "operators/csr/product_kernels.cuh"
#include "operators/form/operator_name.hpp"

namespace tessera {
namespace {

// rounded[k] = the entry of row i and column j in single precision, or that of row j and column i
// if j < i, so that the matrix stays symmetric; rest_i = the sum over the row of what is lost. A
// warp a row. Deterministic.
__global__ void __launch_bounds__(kThreads)
    round_rows_kernel(const Pattern pattern, const Index* __restrict__ starts,
                      const std::int32_t* __restrict__ columns, const double* __restrict__ values,
                      float* __restrict__ rounded, double* __restrict__ rest) {
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  const Index size = pattern.grid.nodes.size();
  for (Index i = thread_number<kThreads>() / kWarp; i < size;
       i += thread_count<kThreads>() / kWarp) {
    const IndexTriple position = pattern.grid.nodes.position(i);
    double lost = 0.0;
    for (Index k = starts[i] + lane; k < starts[i + 1]; k += kWarp) {
      const std::int32_t j = columns[k];
      const Index source = j < i ? starts[j] + place_in_row(find_row(pattern, j), position) : k;
      rounded[k] = static_cast<float>(values[source]);
      lost += values[k] - static_cast<double>(rounded[k]);
    }
    lost = sum_over_lanes<kWarp>(lost);
    if (lane == 0) rest[i] = lost;
  }
}

template <class T, class Entry>
class DeviceCsrOperator final : public LinearOperator<T, Device> {
 public:
  DeviceCsrOperator(const BilinearForm& form, DeviceSparseRows<Entry> rows, DeviceArray<T> rest,
                    const char* name)
      : pattern_(make_pattern(form)),
        rows_(std::move(rows)),
        rest_(std::move(rest)),
        name_(operator_name(name)) {}

  Index size() const override { return pattern_.grid.nodes.size(); }
  std::string name() const override { return name_; }

  // By the mean length of rows, as measured on an H200. A shape is for the lattices beside it, and
  // for what is near them.
  void do_apply(const DeviceVector<T>& x, DeviceVector<T>& y) const override {
    const double length = static_cast<double>(rows_.values.size()) / static_cast<double>(size());
    if (pattern_.grid.dimension == 3 && length <= 30.0) {  // p = 1
      constexpr int kRows = sizeof(Entry) == sizeof(double) ? 8 : 16;
      return multiply_short_rows<kRows, 7>(x, y);
    }
    if (length <= 12.0) return multiply_short_rows<32, 9>(x, y);   // 2D, p = 1
    if (length <= 20.0) return multiply_short_rows<16, 10>(x, y);  // 2D, p = 2
    if (length <= 30.0) return multiply_short_rows<16, 6>(x, y);   // 2D, p = 3
    if (length <= 90.0) return multiply_short_rows<8, 8>(x, y);    // 2D, p = 4 to 6; 3D, p = 2
    if (length <= 150.0) return multiply_short_rows<4, 8>(x, y);   // 3D, p = 3
    const Launch as = launch_of("the sparse matrix-vector product", size() * kWarp);
    multiply(multiply_long_rows_kernel<8, Entry, T>, as, x, y);
  }

  void do_diagonal(DeviceVector<T>& d) const override {
    launch(diagonal_kernel<T, Entry, Index>, launch_of("diagonal of the matrix", size()), pattern_,
           Index{0}, size(), rows_.starts.data(), rows_.values.data(), rest(), d.data());
  }

  /// The matrix and x once, y once.
  Cost cost() const override {
    const double vectors = 2.0 * static_cast<double>(size()) * sizeof(T);
    return {vectors + static_cast<double>(bytes()), 2.0 * static_cast<double>(rows_.values.size())};
  }

  Index bytes() const override {
    return rows_.starts.bytes() + rows_.columns.bytes() + rows_.values.bytes() + rest_.bytes();
  }

 private:
  const T* rest() const { return rest_.size() > 0 ? rest_.data() : nullptr; }

  // Warps load one piece while they add another, so that no more are needed than are resident;
  // where vectors are in single precision, too, 16 times as many are 3 to 5 % faster (H200).
  template <int rows_at_once, int in_flight>
  void multiply_short_rows(const DeviceVector<T>& x, DeviceVector<T>& y) const {
    constexpr unsigned kTimesResident = sizeof(T) == sizeof(double) ? 1 : 16;
    const auto kernel = multiply_short_rows_kernel<rows_at_once, in_flight, Entry, T>;
    static const auto resident = static_cast<unsigned>(resident_blocks(kernel, kThreads, 0));
    Launch as = launch_of("the sparse matrix-vector product",
                          (size() + rows_at_once - 1) / rows_at_once * kWarp);
    as.blocks.x = std::min(as.blocks.x, resident * kTimesResident);
    multiply(kernel, as, x, y);
  }

  template <class Kernel>
  void multiply(Kernel kernel, const Launch& as, const DeviceVector<T>& x,
                DeviceVector<T>& y) const {
    launch(kernel, as, size(), rows_.starts.data(), rows_.columns.data(), rows_.values.data(),
           rest(), x.data(), y.data());
  }

  Pattern pattern_;
  DeviceSparseRows<Entry> rows_;
  DeviceArray<T> rest_;  // what rounding has taken from each row; empty if nothing is rounded
  std::string name_;
};

std::unique_ptr<LinearOperator<double, Device>> make_rounded(const BilinearForm& form,
                                                             DeviceSparseRows<double> rows) {
  const Index size = form.discretization->lattice.size();
  DeviceArray<float> rounded(rows.values.size());
  DeviceArray<double> rest(size);
  launch(round_rows_kernel, launch_of("rounding the matrix", size * kWarp), make_pattern(form),
         rows.starts.data(), rows.columns.data(), rows.values.data(), rounded.data(), rest.data());
  synchronize_device();
  return std::make_unique<DeviceCsrOperator<double, float>>(
      form,
      DeviceSparseRows<float>{std::move(rows.starts), std::move(rows.columns), std::move(rounded)},
      std::move(rest), kRoundedCsr);
}

std::unique_ptr<LinearOperator<float, Device>> make_rounded(const BilinearForm& form,
                                                            DeviceSparseRows<float> rows) {
  return std::make_unique<DeviceCsrOperator<float, float>>(form, std::move(rows),
                                                           DeviceArray<float>(), kRoundedCsr);
}

}  // namespace

template <class T>
std::unique_ptr<LinearOperator<T, Device>> make_device_csr_operator(
    const BilinearForm& form, const DeviceCellKernel<T>& kernel) {
  return std::make_unique<DeviceCsrOperator<T, T>>(form, assemble_on_device(form, kernel),
                                                   DeviceArray<T>(), kCsr);
}

template <class T>
std::unique_ptr<LinearOperator<T, Device>> make_rounded_csr_operator(
    const BilinearForm& form, const DeviceCellKernel<T>& kernel) {
  return make_rounded(form, assemble_on_device(form, kernel));
}

#define TESSERA_INSTANTIATE(T)                                                   \
  template std::unique_ptr<LinearOperator<T, Device>> make_device_csr_operator(  \
      const BilinearForm&, const DeviceCellKernel<T>&);                          \
  template std::unique_ptr<LinearOperator<T, Device>> make_rounded_csr_operator( \
      const BilinearForm&, const DeviceCellKernel<T>&);
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(float)
#undef TESSERA_INSTANTIATE

}  // namespace tessera
