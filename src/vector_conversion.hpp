#pragma once

#include <utility>

#include "solvers/smoothing_passes.hpp"
#include "solvers/vector.hpp"

namespace tessera {

/// The values in the precision and the memory that a solver works in.
template <class T, class Space>
Vector<T, Space> converted(const HostVector<double>& values) {
  Vector<T, Space> result(values.size());
  if constexpr (std::is_same_v<T, double>) {
    copy(values, result);
  } else if constexpr (std::is_same_v<Space, Host>) {
    convert(values, 1.0, result);
  } else {
    HostVector<T> rounded(values.size());
    convert(values, 1.0, rounded);
    copy(rounded, result);
  }
  return result;
}

/// Back to the host in double precision.
template <class T, class Space>
void convert_back(const Vector<T, Space>& values, HostVector<double>& result) {
  if constexpr (std::is_same_v<T, double>) {
    copy(values, result);
  } else if constexpr (std::is_same_v<Space, Host>) {
    convert(values, 1.0, result);
  } else {
    HostVector<T> on_host(values.size());
    copy(values, on_host);
    convert(on_host, 1.0, result);
  }
}

}  // namespace tessera
