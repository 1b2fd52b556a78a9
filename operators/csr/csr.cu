// This file multiplies by the assembled matrix on the GPU, a group of threads a row.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "operators/csr/device_csr.hpp"
#include "operators/csr/pattern.cuh"
#include "operators/form/operator_name.hpp"

namespace tessera {
namespace {

// y_i = sum over the entries k of row i of values[k] x[columns[k]], and rest_i x_i where rest is
// not null. Deterministic.
//
// Launch: `lanes` threads a row. With fewer blocks than rows want a group of threads goes from row
// to row, and has the place of the next one on its way while it multiplies. Each thread has up to
// `in_flight` of a row's entries on their way at a time and adds them in order; then the row's
// threads are added by a tree. Entries and columns go past the L1 cache, which x is in. 2 flops an
// entry.
template <int lanes, int in_flight, class Entry, class T>
__global__ void __launch_bounds__(kThreads)
    multiply_rows_kernel(Index rows, const Index* __restrict__ starts,
                         const std::int32_t* __restrict__ columns, const Entry* __restrict__ values,
                         const T* __restrict__ rest, const T* __restrict__ x, T* __restrict__ y) {
  constexpr int kStep = lanes * in_flight;
  const int lane = static_cast<int>(threadIdx.x % lanes);
  const Index stride = thread_count<kThreads>() / lanes;
  // All threads of a warp take part in its shuffles, those beyond the last row as well: to them a
  // row has no entries.
  const Index end = (rows + kWarp - 1) / kWarp * kWarp;
  const auto row_range = [=](Index row) {
    return std::array<Index, 2>{starts[min(row, rows)], starts[min(row + 1, rows)]};
  };
  Index i = thread_number<kThreads>() / lanes;
  std::array<Index, 2> range = row_range(i);
  for (; i < end; i += stride) {
    const Entry* entry = values + range[0] + lane;
    const std::int32_t* column = columns + range[0] + lane;
    auto left = static_cast<int>(range[1] - range[0]) - lane;
    if (i + stride < end) range = row_range(i + stride);
    T sum{0};
    for (; left > 0; left -= kStep, entry += kStep, column += kStep) {
      Entry a[in_flight];
      std::int32_t j[in_flight];
#pragma unroll
      for (int k = 0; k < in_flight; ++k) {
        const bool has_entry = k * lanes < left;
        a[k] = has_entry ? __ldcs(entry + k * lanes) : Entry{0};
        j[k] = has_entry ? __ldcs(column + k * lanes) : -1;
      }
#pragma unroll
      for (int k = 0; k < in_flight; ++k) {
        if (j[k] >= 0) sum += static_cast<T>(a[k]) * __ldg(x + j[k]);
      }
    }
#pragma unroll
    for (int offset = lanes / 2; offset > 0; offset /= 2) {
      sum += __shfl_xor_sync(0xffffffffU, sum, offset);
    }
    if (lane == 0 && i < rows) y[i] = rest == nullptr ? sum : sum + rest[i] * __ldg(x + i);
  }
}

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
#pragma unroll
    for (int offset = kWarp / 2; offset > 0; offset /= 2) {
      lost += __shfl_xor_sync(0xffffffffU, lost, offset);
    }
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

  // By the mean length of rows, as measured on an H100 on lattices in 2D and 3D, p = 1 to 6.
  void do_apply(const DeviceVector<T>& x, DeviceVector<T>& y) const override {
    const double length = mean_length();
    if (length <= 12.0) return multiply<4, 4>(x, y);
    if constexpr (sizeof(Entry) == sizeof(double)) {
      if (length <= 30.0) return multiply<8, 4>(x, y);
      if (length <= 90.0) return multiply<16, 8>(x, y);
    } else {
      if (length <= 30.0) return multiply<4, 8>(x, y);
      if (length <= 90.0) return multiply<8, 8>(x, y);
      if (length <= 150.0) return multiply<16, 8>(x, y);
    }
    multiply<32, 8>(x, y);
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

  double mean_length() const {
    return static_cast<double>(rows_.values.size()) / static_cast<double>(size());
  }

  // Short rows are over before the next ones' places have come, so that groups of threads go from
  // row to row; of long ones all have a group of their own (H200).
  template <int lanes, int in_flight>
  void multiply(const DeviceVector<T>& x, DeviceVector<T>& y) const {
    constexpr double kLongRow = 60.0;
    const auto kernel = multiply_rows_kernel<lanes, in_flight, Entry, T>;
    Launch as = launch_of("the sparse matrix-vector product", size() * lanes);
    if (mean_length() < kLongRow) {
      static const auto resident = static_cast<unsigned>(resident_blocks(kernel, kThreads, 0));
      as.blocks.x = std::min(as.blocks.x, resident);
    }
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
