// This file has the passes of smoothers on the GPU.
#include "solvers/memory/entry_loop.cuh"
#include "solvers/memory/hashed_value.hpp"
#include "solvers/preconditioners/smoothing_passes.hpp"

namespace tessera {

using Index = std::int64_t;

template <class T, class Space>
void first_step(T scale, const Vector<T, Space>& inverse_diagonal, const Vector<T, Space>& b,
                Vector<T, Space>& d, Vector<T, Space>& x) {
  const T* const inverse = inverse_diagonal.data();
  const T* const right = b.data();
  T* const step = d.data();
  T* const solution = x.data();
  for_each_entry(x.size(), "a step of Chebyshev's iteration", [=] __device__(Index i) {
    solution[i] = step[i] = scale * inverse[i] * right[i];
  });
}

namespace {

template <Leave leave, class T>
void queue_next_step(T momentum, T scale, const T* inverse, const T* right, DeviceVector<T>& y,
                     DeviceVector<T>& d, DeviceVector<T>& x) {
  T* const product = y.data();
  T* const step = d.data();
  T* const solution = x.data();
  const auto take_product = [=] __device__(Index i) {
    const T value = product[i];
    if constexpr (leave == Leave::zeros) product[i] = T{0};
    return value;
  };
  if (momentum == T{0}) {
    for_each_entry(x.size(), "a step of Chebyshev's iteration", [=] __device__(Index i) {
      solution[i] += step[i] = scale * inverse[i] * (right[i] - take_product(i));
    });
    return;
  }
  for_each_entry(x.size(), "a step of Chebyshev's iteration", [=] __device__(Index i) {
    solution[i] += step[i] = momentum * step[i] + scale * inverse[i] * (right[i] - take_product(i));
  });
}

}  // namespace

template <class T, class Space>
void next_step(T momentum, T scale, const Vector<T, Space>& inverse_diagonal,
               const Vector<T, Space>& b, Vector<T, Space>& y, Leave leave, Vector<T, Space>& d,
               Vector<T, Space>& x) {
  const auto queue = leave == Leave::zeros ? queue_next_step<Leave::zeros, T>
                                           : queue_next_step<Leave::as_it_is, T>;
  queue(momentum, scale, inverse_diagonal.data(), b.data(), y, d, x);
}

template <class T, class Space>
void subtract_in_place(const Vector<T, Space>& b, Vector<T, Space>& r) {
  const T* const right = b.data();
  T* const residual = r.data();
  for_each_entry(r.size(), "a residual",
                 [=] __device__(Index i) { residual[i] = right[i] - residual[i]; });
}

template <class From, class To, class Space>
void convert(const Vector<From, Space>& from, double scale, Vector<To, Space>& to) {
  const From* const in = from.data();
  To* const out = to.data();
  for_each_entry(to.size(), "converting a vector", [=] __device__(Index i) {
    out[i] = static_cast<To>(scale * static_cast<double>(in[i]));
  });
}

template <class T, class Space>
void fill_random(Vector<T, Space>& x) {
  T* const data = x.data();
  for_each_entry(x.size(), "filling a vector",
                 [=] __device__(Index i) { data[i] = static_cast<T>(hashed_value(i)); });
}

#define TESSERA_INSTANTIATE(T)                                                                    \
  template void first_step(T, const DeviceVector<T>&, const DeviceVector<T>&, DeviceVector<T>&,   \
                           DeviceVector<T>&);                                                     \
  template void next_step(T, T, const DeviceVector<T>&, const DeviceVector<T>&, DeviceVector<T>&, \
                          Leave, DeviceVector<T>&, DeviceVector<T>&);                             \
  template void subtract_in_place(const DeviceVector<T>&, DeviceVector<T>&);                      \
  template void fill_random(DeviceVector<T>&);
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(float)
#undef TESSERA_INSTANTIATE
template void convert(const DeviceVector<double>&, double, DeviceVector<float>&);
template void convert(const DeviceVector<float>&, double, DeviceVector<double>&);
template void convert(const DeviceVector<double>&, double, DeviceVector<double>&);

}  // namespace tessera
