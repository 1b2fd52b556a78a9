// This function makes the operator of a strategy in GPU memory.
#pragma once

#include <memory>

#include "operators/strategy.hpp"

namespace tessera {

/// Makes the operator of a form in GPU memory; the form's discretization must outlive it.
/// @throws std::invalid_argument for what the GPU does not have or the form does not suit,
///         InvertedCell, BadFieldValue, DeviceOutOfMemory, DeviceError; std::logic_error if
///         what was made does not have the name of operator_label()
template <class T>
std::unique_ptr<LinearOperator<T, Device>> make_device_operator(const StrategyName& strategy,
                                                                const BilinearForm& form);

}  // namespace tessera
