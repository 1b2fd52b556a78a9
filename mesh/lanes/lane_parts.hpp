// These functions read and write some neighboring lanes of a vector.
#pragma once

#include <cstring>
#include <type_traits>

namespace tessera {

/// Type of the values of a built-in vector, how many it has, and the vector of so many U.
template <class V>
using LaneValue = std::remove_cvref_t<decltype(V{}[0])>;
template <class V>
inline constexpr int kLaneCount = static_cast<int>(sizeof(V) / sizeof(LaneValue<V>));
template <class V, class U>
struct LanesAs {
  typedef U type __attribute__((vector_size(kLaneCount<V> * sizeof(U))));
};

/// The lanes from first_lane on as values of a vector `Part`, converted.
template <class Part, class V>
[[gnu::always_inline]] inline Part load_part(const V& from, int first_lane) {
  typename LanesAs<Part, LaneValue<V>>::type part;
  std::memcpy(&part, reinterpret_cast<const LaneValue<V>*>(&from) + first_lane, sizeof(part));
  return __builtin_convertvector(part, Part);
}

/// Writes values, converted, to the lanes from first_lane on.
template <class Part, class V>
[[gnu::always_inline]] inline void store_part(Part values, V& to, int first_lane) {
  const auto part = __builtin_convertvector(values, typename LanesAs<Part, LaneValue<V>>::type);
  std::memcpy(reinterpret_cast<LaneValue<V>*>(&to) + first_lane, &part, sizeof(part));
}

}  // namespace tessera
