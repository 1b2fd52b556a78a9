// This file multiplies by the modes of an axis with products of Eigen, which take long to compile.
#include "operators/fast_diagonalization/host_axis.hpp"

#include <Eigen/Core>

namespace tessera {
namespace {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
using Stride = Eigen::OuterStride<>;
template <class T>
using View = Eigen::Map<Matrix<T>, 0, Stride>;
template <class T>
using ConstView = Eigen::Map<const Matrix<T>, 0, Stride>;

// Calls f(first, V) for the even modes and, if there are any, the odd ones.
template <class T, class F>
void for_each_part(const T* vectors, Index even, Index odd, F f) {
  f(0, ConstView<T>(vectors, even, even, Stride(even)));
  if (odd > 0) f(even, ConstView<T>(vectors + even * even, odd, odd, Stride(odd)));
}

}  // namespace

template <class T>
void HostAxis<T>::sweep_columns(Direction direction, Index columns, const T* in, T* out) const {
  for_each_part(vectors_.data(), even_, odd_, [&](Index first, const ConstView<T>& v) {
    const ConstView<T> x(in + first, v.rows(), columns, Stride(size()));
    View<T> y(out + first, v.rows(), columns, Stride(size()));
    if (direction == Direction::to_modes) {
      y.noalias() = v.transpose() * x;
    } else {
      y.noalias() = v * x;
    }
  });
}

template <class T>
void HostAxis<T>::sweep_rows(Direction direction, Index rows, const T* in, T* out) const {
  for_each_part(vectors_.data(), even_, odd_, [&](Index first, const ConstView<T>& v) {
    const ConstView<T> x(in + first * rows, rows, v.rows(), Stride(rows));
    View<T> y(out + first * rows, rows, v.rows(), Stride(rows));
    if (direction == Direction::to_modes) {
      y.noalias() = x * v;
    } else {
      y.noalias() = x * v.transpose();
    }
  });
}

template class HostAxis<double>;
template class HostAxis<float>;

}  // namespace tessera
