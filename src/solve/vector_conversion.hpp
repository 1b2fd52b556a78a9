// These functions move vectors between the precision and memory of a solver and the host.
#pragma once

#include <cstdint>
#include <type_traits>

#include "solvers/memory/vector.hpp"
#include "solvers/preconditioners/smoothing_passes.hpp"

namespace tessera {

/// The values in the precision and the memory that a solver works in.
template <class T, class Space>
Vector<T, Space> converted(const HostVector<double>& values) {
  Vector<T, Space> result(values.layout());
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

/// The values of a vector on the GPU in another precision, or itself where it has that already.
template <class T, class From>
DeviceVector<T> in_precision(DeviceVector<From> values) {
  if constexpr (std::is_same_v<T, From>) {
    return values;
  } else {
    DeviceVector<T> result(values.layout());
    convert(values, 1.0, result);
    return result;
  }
}

/// Room for values on their way from a GPU to double precision: as many as there are values, none
/// where they take no detour.
template <class T, class Space>
HostVector<T> make_landing(std::int64_t size) {
  return HostVector<T>(std::is_same_v<T, double> || std::is_same_v<Space, Host> ? 0 : size);
}

/// Back to the host in double precision, by way of `landing`.
template <class T, class Space>
void convert_back(const Vector<T, Space>& values, HostVector<T>& landing,
                  HostVector<double>& result) {
  if constexpr (std::is_same_v<T, double>) {
    copy(values, result);
  } else if constexpr (std::is_same_v<Space, Host>) {
    convert(values, 1.0, result);
  } else {
    copy(values, landing);
    convert(landing, 1.0, result);
  }
}
/// The same with a landing of its own.
template <class T, class Space>
void convert_back(const Vector<T, Space>& values, HostVector<double>& result) {
  HostVector<T> landing = make_landing<T, Space>(values.size());
  convert_back(values, landing, result);
}

/// The vector in another memory, or itself where it is in that one already.
template <class Space, class T>
Vector<T, Space> moved_to(HostVector<T> values) {
  if constexpr (std::is_same_v<Space, Host>) {
    return values;
  } else {
    Vector<T, Space> result(values.layout());
    copy(values, result);
    return result;
  }
}

/// The vector's values on the host: itself, or a copy.
template <class T>
const HostVector<T>& on_host(const HostVector<T>& values) {
  return values;
}
template <class T>
HostVector<T> on_host(const DeviceVector<T>& values) {
  HostVector<T> result(values.layout());
  copy(values, result);
  return result;
}

}  // namespace tessera
