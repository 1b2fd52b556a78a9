// This file has the passes of smoothers on the GPU.
#include "solvers/memory/entry_loop.cuh"
#include "solvers/memory/hashed_value.hpp"
#include "solvers/preconditioners/smoothing_passes.hpp"

namespace tessera {

using Index = std::int64_t;

namespace {

// Entries that a thread takes at a time, with loads and stores of 16 bytes or more.
constexpr int kGroup = 4;

template <class T, int count>
struct alignas(count * sizeof(T)) Entries {
  T value[count];
};

template <int count, class T>
__device__ Entries<T, count> load(const T* x, Index i) {
  return *reinterpret_cast<const Entries<T, count>*>(x + i);
}
template <int count, class T>
__device__ void store(const Entries<T, count>& entries, T* x, Index i) {
  *reinterpret_cast<Entries<T, count>*>(x + i) = entries;
}

// Products and sums that the compiler does not contract to one operation with others: an entry must
// have the same bits whether its thread takes one entry or a group, because ranks have it at
// different places of their vectors.
__device__ float rounded_product(float a, float b) { return __fmul_rn(a, b); }
__device__ double rounded_product(double a, double b) { return __dmul_rn(a, b); }
__device__ float rounded_sum(float a, float b) { return __fadd_rn(a, b); }
__device__ double rounded_sum(double a, double b) { return __dadd_rn(a, b); }

// Calls pass.apply<count>(i) for all entries i < n, `count` from i on at a time. Launch: one thread
// a group.
template <class Pass>
__global__ void __launch_bounds__(256) pass_kernel(Index n, const Pass pass) {
  const Index first = thread_number<256>() * kGroup;
  if (first + kGroup <= n) {
    pass.template apply<kGroup>(first);
  } else {
    for (Index i = first; i < n; ++i) pass.template apply<1>(i);
  }
}

template <class Pass>
void queue_pass(Index n, const char* name, const Pass& pass) {
  if (n == 0) return;
  launch(pass_kernel<Pass>, {name, blocks_for(n, 256 * kGroup), 256}, n, pass);
}

template <class T>
struct FirstStep {
  T scale;
  const T* inverse;
  const T* right;
  T* solution;

  template <int count>
  __device__ void apply(Index i) const {
    const auto inverse_of = load<count>(inverse, i);
    auto solution_of = load<count>(right, i);
#pragma unroll
    for (int k = 0; k < count; ++k) {
      solution_of.value[k] =
          rounded_product(rounded_product(scale, inverse_of.value[k]), solution_of.value[k]);
    }
    store(solution_of, solution, i);
  }
};

template <class T, Leave leave>
struct NextStep {
  T scale;
  const T* inverse;
  const T* right;
  T* product;
  T* solution;

  template <int count>
  __device__ void apply(Index i) const {
    const auto inverse_of = load<count>(inverse, i);
    const auto right_of = load<count>(right, i);
    const auto product_of = load<count>(product, i);
    auto solution_of = load<count>(solution, i);
#pragma unroll
    for (int k = 0; k < count; ++k) {
      const T residual = rounded_sum(right_of.value[k], -product_of.value[k]);
      solution_of.value[k] =
          fma(rounded_product(scale, inverse_of.value[k]), residual, solution_of.value[k]);
    }
    store(solution_of, solution, i);
    if constexpr (leave == Leave::zeros) store(Entries<T, count>{}, product, i);
  }
};

template <class T>
struct SubtractInPlace {
  const T* right;
  T* residual;

  template <int count>
  __device__ void apply(Index i) const {
    const auto right_of = load<count>(right, i);
    auto residual_of = load<count>(residual, i);
#pragma unroll
    for (int k = 0; k < count; ++k) {
      residual_of.value[k] = rounded_sum(right_of.value[k], -residual_of.value[k]);
    }
    store(residual_of, residual, i);
  }
};

template <class From, class To>
struct Convert {
  double scale;
  const From* in;
  To* out;

  template <int count>
  __device__ void apply(Index i) const {
    const auto from = load<count>(in, i);
    Entries<To, count> to;
#pragma unroll
    for (int k = 0; k < count; ++k) {
      to.value[k] = static_cast<To>(scale * static_cast<double>(from.value[k]));
    }
    store(to, out, i);
  }
};

}  // namespace

template <class T, class Space>
void first_step(T scale, const Vector<T, Space>& inverse_diagonal, const Vector<T, Space>& b,
                Vector<T, Space>& x) {
  queue_pass(x.size(), "a step of Chebyshev's iteration",
             FirstStep<T>{scale, inverse_diagonal.data(), b.data(), x.data()});
}

template <class T, class Space>
void next_step(T scale, const Vector<T, Space>& inverse_diagonal, const Vector<T, Space>& b,
               Vector<T, Space>& y, Leave leave, Vector<T, Space>& x) {
  const auto queue = [&]<Leave left>() {
    queue_pass(x.size(), "a step of Chebyshev's iteration",
               NextStep<T, left>{scale, inverse_diagonal.data(), b.data(), y.data(), x.data()});
  };
  if (leave == Leave::zeros) {
    queue.template operator()<Leave::zeros>();
  } else {
    queue.template operator()<Leave::as_it_is>();
  }
}

template <class T, class Space>
void subtract_in_place(const Vector<T, Space>& b, Vector<T, Space>& r) {
  queue_pass(r.size(), "a residual", SubtractInPlace<T>{b.data(), r.data()});
}

template <class From, class To, class Space>
void convert(const Vector<From, Space>& from, double scale, Vector<To, Space>& to) {
  queue_pass(to.size(), "converting a vector", Convert<From, To>{scale, from.data(), to.data()});
}

template <class T, class Space>
void fill_random(Vector<T, Space>& x) {
  T* const data = x.data();
  if (x.layout().shared != nullptr) {
    const WholeNumbers whole = x.layout().shared->numbers();
    for_each_entry(x.size(), "filling a vector", [=] __device__(Index i) {
      const Index row = i / whole.row_length;
      const Index layer = row / whole.rows;
      data[i] = static_cast<T>(hashed_value(whole.first + (i - row * whole.row_length) +
                                            whole.whole_strides[0] * (row - layer * whole.rows) +
                                            whole.whole_strides[1] * layer));
    });
    return;
  }
  for_each_entry(x.size(), "filling a vector",
                 [=] __device__(Index i) { data[i] = static_cast<T>(hashed_value(i)); });
}

#define TESSERA_INSTANTIATE(T)                                                                   \
  template void first_step(T, const DeviceVector<T>&, const DeviceVector<T>&, DeviceVector<T>&); \
  template void next_step(T, const DeviceVector<T>&, const DeviceVector<T>&, DeviceVector<T>&,   \
                          Leave, DeviceVector<T>&);                                              \
  template void subtract_in_place(const DeviceVector<T>&, DeviceVector<T>&);                     \
  template void fill_random(DeviceVector<T>&);
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(float)
#undef TESSERA_INSTANTIATE
template void convert(const DeviceVector<double>&, double, DeviceVector<float>&);
template void convert(const DeviceVector<float>&, double, DeviceVector<double>&);
template void convert(const DeviceVector<double>&, double, DeviceVector<double>&);

}  // namespace tessera
