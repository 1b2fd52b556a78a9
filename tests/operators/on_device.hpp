// These functions apply operators to vectors in GPU memory.
#pragma once

#include <limits>

#include "solvers/linear_operator.hpp"
#include "solvers/memory/vector.hpp"

namespace tessera::testing {

/// What f(x, y) makes of a vector y of NaN in GPU memory.
template <class T, class F>
HostVector<T> on_device(const HostVector<T>& x, F&& f) {
  DeviceVector<T> device_x(x.size());
  DeviceVector<T> device_y(x.size());
  copy(x, device_x);
  fill(device_y, std::numeric_limits<T>::quiet_NaN());
  f(device_x, device_y);
  HostVector<T> y(x.size());
  copy(device_y, y);
  return y;
}

template <class T>
HostVector<T> applied(const LinearOperator<T, Device>& a, const HostVector<T>& x) {
  return on_device(x, [&](const DeviceVector<T>& from, DeviceVector<T>& to) { a.apply(from, to); });
}

template <class T>
HostVector<T> diagonal_of(const LinearOperator<T, Device>& a) {
  return on_device(HostVector<T>(a.size()), [&](const DeviceVector<T>&, DeviceVector<T>& diagonal) {
    a.diagonal(diagonal);
  });
}

}  // namespace tessera::testing
