// What makes objects in either precision and in the memory of either processor: one pointer each.
#pragma once

#include <type_traits>

#include "solvers/configuration.hpp"
#include "solvers/execution.hpp"

namespace tessera {

/// The makers of a row of a table; null where nothing makes what the row describes.
/// @tparam Make <T, Space>: the type of a pointer to a function
template <template <class, class> class Make>
struct Makers {
  Make<double, Host> host_double = nullptr;
  Make<float, Host> host_float = nullptr;
  Make<double, Device> device_double = nullptr;
  Make<float, Device> device_float = nullptr;

  template <class T, class Space>
  Make<T, Space> get() const {
    constexpr bool is_double = std::is_same_v<T, double>;
    if constexpr (std::is_same_v<Space, Host>) {
      if constexpr (is_double) return host_double;
      if constexpr (!is_double) return host_float;
    } else {
      if constexpr (is_double) return device_double;
      if constexpr (!is_double) return device_float;
    }
  }
};

/// Makers on the GPU alone, where this build has CUDA: pointers that on_gpu.operator()<T>()
/// returns.
template <template <class, class> class Make, class OnGpu>
Makers<Make> makers_on_gpu(OnGpu on_gpu) {
  Makers<Make> makers;
  if constexpr (kHasCuda) {
    makers.device_double = on_gpu.template operator()<double>();
    makers.device_float = on_gpu.template operator()<float>();
  }
  return makers;
}

/// The same, and makers on the host.
template <template <class, class> class Make, class OnHost, class OnGpu>
Makers<Make> makers_of(OnHost on_host, OnGpu on_gpu) {
  Makers<Make> makers = makers_on_gpu<Make>(on_gpu);
  makers.host_double = on_host.template operator()<double>();
  makers.host_float = on_host.template operator()<float>();
  return makers;
}

}  // namespace tessera
