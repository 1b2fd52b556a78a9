// DotProducts are those of one vector with several others.
#pragma once

#include <span>

#include "solvers/memory/vector.hpp"

namespace tessera {

/// sums_k = x_k . y for vectors x_k, each to the bits of every run as dot() of vector.hpp has them;
/// y is read once (on the GPU once for kDotsPerLaunch of them), and there is one wait for all sums.
/// All vectors have the same size, and y may be one of the x_k.
template <class Space>
class DotProducts;

template <>
class DotProducts<Host> {
 public:
  explicit DotProducts(int /*max_count*/) {}

  template <class T>
  void sum(std::span<const HostVector<T>* const> x, const HostVector<T>& y, std::span<double> sums);
};

/// The number of dot products that are summed together on the GPU.
inline constexpr int kDotsPerLaunch = 8;

template <>
class DotProducts<Device> {
 public:
  /// @param max_count how many there are at a time, at most
  /// @throws DeviceOutOfMemory
  explicit DotProducts(int max_count);

  /// @throws DeviceError
  template <class T>
  void sum(std::span<const DeviceVector<T>* const> x, const DeviceVector<T>& y,
           std::span<double> sums);

 private:
  DeviceArray<double> partial_;
  DeviceArray<unsigned> arrived_;
  DeviceArray<double> sums_;
};

}  // namespace tessera
