// These functions move values between the lanes of vectors.
#pragma once

#include <utility>

#include "mesh/lanes/simd.hpp"

namespace tessera {

/// 0, 1, ..: lane l has l.
template <class T>
[[gnu::always_inline]] inline Lanes<T> lane_numbers() {
  return []<int... l>(std::integer_sequence<int, l...>) { return Lanes<T>{static_cast<T>(l)...}; }
  (std::make_integer_sequence<int, kLanes<T>>{});
}

/// Lane l of the result is lane F()(l) of the 2 kLanes lanes of (a, b); F has no state.
template <class T, class F>
[[gnu::always_inline]] inline Lanes<T> shuffle_lanes(Lanes<T> a, Lanes<T> b, F) {
  return [&]<int... l>(std::integer_sequence<int, l...>) __attribute__((always_inline)) {
    return __builtin_shufflevector(a, b, F{}(std::integral_constant<int, l>{})...);
  }
  (std::make_integer_sequence<int, kLanes<T>>{});
}

/// Lane l has lane l + 1 of v, the last one has the first lane of `after`.
template <class T>
[[gnu::always_inline]] inline Lanes<T> shift_down(Lanes<T> v, Lanes<T> after) {
  return shuffle_lanes<T>(v, after, [](auto l) { return l() + 1; });
}

/// Lane l has lane l - 1 of v, the first one has the last lane of `before`.
template <class T>
[[gnu::always_inline]] inline Lanes<T> shift_up(Lanes<T> before, Lanes<T> v) {
  return shuffle_lanes<T>(before, v, [](auto l) { return kLanes<T> - 1 + l(); });
}

}  // namespace tessera
