// This file has the vector operations of the GPU.
#include <algorithm>

#include "solvers/memory/dot_products.hpp"
#include "solvers/memory/entry_loop.cuh"
#include "solvers/memory/reduction.cuh"
#include "solvers/memory/vector.hpp"
#include "solvers/ranks/gpu/owned_entries.cuh"

namespace tessera {
namespace {

using Index = std::int64_t;

// result = sum_i x_i y_i over the entries that count. 2 sizeof(T) bytes and 2 flops per entry;
// deterministic.
template <class Entries, class T>
__global__ void __launch_bounds__(kReductionThreads)
    dot_kernel(Index n, Entries entries, const T* x, const T* y, Sums<1>* partial,
               unsigned* arrived, double* result) {
  Sums<1> sum;
  const Index stride = thread_count<kReductionThreads>();
  for (Index i = thread_number<kReductionThreads>(); i < n; i += stride) {
    if (!entries.has(i)) continue;
    sum[0] += static_cast<double>(x[i]) * static_cast<double>(y[i]);
  }
  reduce_over_grid(sum, partial, arrived, [=](const Sums<1>& total) { *result = total[0]; });
}

// Some vectors, as an argument of a kernel; null past the last one.
template <class T>
struct DotOperands {
  const T* values[kDotsPerLaunch];
};

// result_k = sum_i x_k,i y_i over the entries that count. (count + 1) sizeof(T) bytes per entry;
// deterministic.
template <class Entries, class T>
__global__ void __launch_bounds__(kReductionThreads)
    dots_kernel(Index n, Entries entries, DotOperands<T> x, int count, const T* y,
                Sums<kDotsPerLaunch>* partial, unsigned* arrived, double* result) {
  Sums<kDotsPerLaunch> sum;
  const Index stride = thread_count<kReductionThreads>();
  for (Index i = thread_number<kReductionThreads>(); i < n; i += stride) {
    if (!entries.has(i)) continue;
    const double of_y = static_cast<double>(y[i]);
#pragma unroll
    for (int k = 0; k < kDotsPerLaunch; ++k) {
      if (k < count) sum[k] += static_cast<double>(x.values[k][i]) * of_y;
    }
  }
  reduce_over_grid(sum, partial, arrived, [=](const Sums<kDotsPerLaunch>& total) {
    for (int k = 0; k < count; ++k) result[k] = total[k];
  });
}

// The vectors that are combined and their factors, as an argument of a kernel.
template <class T>
struct Terms {
  T factor[kMaxCombinedVectors];
  const T* values[kMaxCombinedVectors];
};

// From the host, which has this rank's sums.
void sum_over_ranks(const VectorLayout& layout, std::span<double> sums) {
  if (layout.shared != nullptr) layout.shared->ranks().sum(sums);
}

}  // namespace

template <class T>
void fill(DeviceVector<T>& x, T value) {
  T* data = x.data();
  for_each_entry(x.size(), "filling a vector", [=] __device__(Index i) { data[i] = value; });
}

template <class T>
void axpy(T a, const DeviceVector<T>& x, DeviceVector<T>& y) {
  TESSERA_CHECK(x.size() == y.size());
  const T* in = x.data();
  T* out = y.data();
  for_each_entry(y.size(), "adding vectors", [=] __device__(Index i) { out[i] += a * in[i]; });
}

template <class T>
void aypx(const DeviceVector<T>& x, T b, DeviceVector<T>& y) {
  TESSERA_CHECK(x.size() == y.size());
  const T* in = x.data();
  T* out = y.data();
  for_each_entry(y.size(), "adding vectors",
                 [=] __device__(Index i) { out[i] = in[i] + b * out[i]; });
}

template <class T>
void combine(std::span<const T> a, std::span<const DeviceVector<T>* const> x, DeviceVector<T>& y) {
  const int terms = static_cast<int>(x.size());
  TESSERA_CHECK(0 < terms && terms <= kMaxCombinedVectors && a.size() == x.size());
  Terms<T> of = {};
  for (int k = 0; k < terms; ++k) {
    TESSERA_CHECK(x[k]->size() == y.size());
    of.factor[k] = a[k];
    of.values[k] = x[k]->data();
  }
  T* out = y.data();
  for_each_entry(y.size(), "adding vectors", [=] __device__(Index i) {
    T sum = of.factor[0] * of.values[0][i];
    for (int k = 1; k < terms; ++k) sum += of.factor[k] * of.values[k][i];
    out[i] = sum;
  });
}

template <class T>
void copy(const DeviceVector<T>& x, DeviceVector<T>& y) {
  TESSERA_CHECK(x.size() == y.size());
  enqueue_copy(y.data(), x.data(), static_cast<std::size_t>(x.size()) * sizeof(T),
               cudaMemcpyDeviceToDevice, "copying a vector on the GPU");
}

template <class T>
void multiply(const DeviceVector<T>& x, const DeviceVector<T>& y, DeviceVector<T>& z) {
  TESSERA_CHECK(x.size() == z.size() && y.size() == z.size());
  const T* a = x.data();
  const T* b = y.data();
  T* c = z.data();
  for_each_entry(z.size(), "multiplying vectors", [=] __device__(Index i) { c[i] = a[i] * b[i]; });
}

template <class T>
void invert_entries(DeviceVector<T>& x) {
  T* data = x.data();
  for_each_entry(x.size(), "inverting a vector's entries",
                 [=] __device__(Index i) { data[i] = T{1} / data[i]; });
}

template <class T>
double dot(const DeviceVector<T>& x, const DeviceVector<T>& y) {
  TESSERA_CHECK(x.layout() == y.layout());
  ReductionBuffer<1> buffer;
  DeviceArray<double> result(1);
  with_entries(x.layout(), [&](auto entries) {
    launch(dot_kernel<decltype(entries), T>, reduction_launch("dot product", x.size()), x.size(),
           entries, x.data(), y.data(), buffer.partial(), buffer.arrived(), result.data());
  });
  double sum = to_host(result).front();
  sum_over_ranks(x.layout(), {&sum, 1});
  return sum;
}

DotProducts<Device>::DotProducts(int max_count)
    : partial_(kMaxReductionBlocks * kDotsPerLaunch), arrived_(1), sums_(max_count) {
  zero_on_device(arrived_.data(), arrived_.bytes());
}

template <class T>
void DotProducts<Device>::sum(std::span<const DeviceVector<T>* const> x, const DeviceVector<T>& y,
                              std::span<double> sums) {
  const int all = static_cast<int>(x.size());
  TESSERA_CHECK(x.size() == sums.size() && all <= sums_.size());
  // Sums is an array of doubles.
  auto* const partial = reinterpret_cast<Sums<kDotsPerLaunch>*>(partial_.data());
  for (int first = 0; first < all; first += kDotsPerLaunch) {
    const int count = std::min(kDotsPerLaunch, all - first);
    DotOperands<T> of = {};
    for (int k = 0; k < count; ++k) {
      TESSERA_CHECK(x[first + k]->layout() == y.layout());
      of.values[k] = x[first + k]->data();
    }
    with_entries(y.layout(), [&](auto entries) {
      launch(dots_kernel<decltype(entries), T>, reduction_launch("dot products", y.size()),
             y.size(), entries, of, count, y.data(), partial, arrived_.data(),
             sums_.data() + first);
    });
  }
  copy_to_host(sums_.data(), all * static_cast<std::int64_t>(sizeof(double)), sums.data());
  sum_over_ranks(y.layout(), sums);
}

template void DotProducts<Device>::sum(std::span<const DeviceVector<double>* const>,
                                       const DeviceVector<double>&, std::span<double>);
template void DotProducts<Device>::sum(std::span<const DeviceVector<float>* const>,
                                       const DeviceVector<float>&, std::span<double>);
template void fill(DeviceVector<double>&, double);
template void fill(DeviceVector<float>&, float);
template void axpy(double, const DeviceVector<double>&, DeviceVector<double>&);
template void axpy(float, const DeviceVector<float>&, DeviceVector<float>&);
template void aypx(const DeviceVector<double>&, double, DeviceVector<double>&);
template void aypx(const DeviceVector<float>&, float, DeviceVector<float>&);
template void combine(std::span<const double>, std::span<const DeviceVector<double>* const>,
                      DeviceVector<double>&);
template void combine(std::span<const float>, std::span<const DeviceVector<float>* const>,
                      DeviceVector<float>&);
template void copy(const DeviceVector<double>&, DeviceVector<double>&);
template void copy(const DeviceVector<float>&, DeviceVector<float>&);
template void multiply(const DeviceVector<double>&, const DeviceVector<double>&,
                       DeviceVector<double>&);
template void multiply(const DeviceVector<float>&, const DeviceVector<float>&,
                       DeviceVector<float>&);
template void invert_entries(DeviceVector<double>&);
template void invert_entries(DeviceVector<float>&);
template double dot(const DeviceVector<double>&, const DeviceVector<double>&);
template double dot(const DeviceVector<float>&, const DeviceVector<float>&);

}  // namespace tessera
