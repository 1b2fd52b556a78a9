// These functions move vectors to GPU memory and back, and apply operators there.
#pragma once

#include <limits>
#include <vector>

#include "solvers/linear_operator.hpp"
#include "solvers/memory/vector.hpp"
#include "tests/operators/problems.hpp"

namespace tessera::testing {

template <class T>
DeviceVector<T> uploaded(const HostVector<T>& values) {
  DeviceVector<T> x(values.size());
  copy(values, x);
  return x;
}
template <class T>
DeviceVector<T> uploaded(const std::vector<double>& values) {
  return uploaded(vector_of<T>(values));
}

template <class T>
HostVector<T> downloaded(const DeviceVector<T>& x) {
  HostVector<T> values(x.size());
  copy(x, values);
  return values;
}

/// A vector whose entries are all NaN: an output that must be overwritten.
template <class T>
DeviceVector<T> poisoned_on_device(Index n) {
  DeviceVector<T> x(n);
  fill(x, std::numeric_limits<T>::quiet_NaN());
  return x;
}

/// What f(x, y) makes of a vector y of NaN in GPU memory.
template <class T, class F>
HostVector<T> on_device(const HostVector<T>& x, F&& f) {
  DeviceVector<T> y = poisoned_on_device<T>(x.size());
  f(uploaded(x), y);
  return downloaded(y);
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
