// This file has the passes of smoothers on the host.
#include "solvers/preconditioners/smoothing_passes.hpp"

#include "solvers/memory/hashed_value.hpp"

namespace tessera {

using Index = std::int64_t;

template <class T, class Space>
void first_step(T scale, const Vector<T, Space>& inverse_diagonal, const Vector<T, Space>& b,
                Vector<T, Space>& x) {
  const T* const inverse = inverse_diagonal.data();
#pragma omp parallel for simd schedule(static)
  for (Index i = 0; i < x.size(); ++i) x[i] = scale * inverse[i] * b[i];
}

template <class T, class Space>
void next_step(T scale, const Vector<T, Space>& inverse_diagonal, const Vector<T, Space>& b,
               Vector<T, Space>& y, Leave leave, Vector<T, Space>& x) {
  const T* const inverse = inverse_diagonal.data();
#pragma omp parallel for simd schedule(static)
  for (Index i = 0; i < x.size(); ++i) x[i] += scale * inverse[i] * (b[i] - y[i]);
  if (leave == Leave::zeros) fill(y, T{0});
}

template <class T, class Space>
void subtract_in_place(const Vector<T, Space>& b, Vector<T, Space>& r) {
#pragma omp parallel for simd schedule(static)
  for (Index i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
}

template <class From, class To, class Space>
void convert(const Vector<From, Space>& from, double scale, Vector<To, Space>& to) {
#pragma omp parallel for simd schedule(static)
  for (Index i = 0; i < to.size(); ++i) {
    to[i] = static_cast<To>(scale * static_cast<double>(from[i]));
  }
}

template <class T, class Space>
void fill_random(Vector<T, Space>& x) {
  if (x.layout().shared != nullptr) {
#pragma omp parallel for schedule(static)
    for (Index i = 0; i < x.size(); ++i) {
      x[i] = static_cast<T>(hashed_value(x.layout().whole_number(i)));
    }
    return;
  }
#pragma omp parallel for simd schedule(static)
  for (Index i = 0; i < x.size(); ++i) x[i] = static_cast<T>(hashed_value(i));
}

#define TESSERA_INSTANTIATE(T)                                                                  \
  template void first_step(T, const HostVector<T>&, const HostVector<T>&, HostVector<T>&);      \
  template void next_step(T, const HostVector<T>&, const HostVector<T>&, HostVector<T>&, Leave, \
                          HostVector<T>&);                                                      \
  template void subtract_in_place(const HostVector<T>&, HostVector<T>&);                        \
  template void fill_random(HostVector<T>&);
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(float)
#undef TESSERA_INSTANTIATE
template void convert(const HostVector<double>&, double, HostVector<float>&);
template void convert(const HostVector<float>&, double, HostVector<double>&);

}  // namespace tessera
