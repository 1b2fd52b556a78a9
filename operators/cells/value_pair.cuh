// A ValuePair is two values side by side in shared memory.
#pragma once

#include <type_traits>

namespace tessera {

/// Two values, x and y, that shared memory takes and gives by one instruction.
template <class T>
using ValuePair = std::conditional_t<sizeof(T) == sizeof(double), double2, float2>;

}  // namespace tessera
