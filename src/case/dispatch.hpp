// This function turns precision and processor, which are known at run time, into types.
#pragma once

#include <stdexcept>

#include "solvers/configuration.hpp"
#include "solvers/execution.hpp"
#include "src/parameters/choices.hpp"

namespace tessera {

/// f.operator()<T, Space>() for the scalar type of the precision and the space of the processor.
template <class F>
auto with_scalar_and_space(Precision precision, Processor processor, F&& f) {
  const auto with_space = [&]<class T>() {
    if (processor == Processor::cpu) return f.template operator()<T, Host>();
    if constexpr (kHasCuda) {
      return f.template operator()<T, Device>();
    } else {
      throw std::logic_error("this build has no code for GPUs");
    }
  };
  return precision == Precision::double_precision ? with_space.template operator()<double>()
                                                  : with_space.template operator()<float>();
}

}  // namespace tessera
