// Lanes<T> is one SIMD register with a value of each of several cells.
#pragma once

#include <cstddef>
#include <cstring>

namespace tessera {

#if defined(__AVX512F__)
inline constexpr std::size_t kSimdBytes = 64;
#elif defined(__AVX__)
inline constexpr std::size_t kSimdBytes = 32;
#else
inline constexpr std::size_t kSimdBytes = 16;
#endif

/// Number of values of T in one SIMD register of the instruction set that this build is for.
template <class T>
inline constexpr int kLanes = static_cast<int>(kSimdBytes / sizeof(T));

/// Number of values of T in one cache line.
template <class T>
inline constexpr int kLineValues = static_cast<int>(64 / sizeof(T));

template <class T>
struct LanesOf {
  typedef T type __attribute__((vector_size(kSimdBytes)));
};

/// One value of each of kLanes<T> cells: a built-in vector type with element-wise arithmetic.
template <class T>
using Lanes = typename LanesOf<T>::type;

/// kLanes<T> values from anywhere in memory, and to it.
template <class T>
[[gnu::always_inline]] inline Lanes<T> load_lanes(const T* from) {
  Lanes<T> v;
  std::memcpy(&v, from, sizeof(v));
  return v;
}
template <class T>
[[gnu::always_inline]] inline void store_lanes(Lanes<T> v, T* to) {
  std::memcpy(to, &v, sizeof(v));
}

/// All lanes equal to value.
template <class T>
inline Lanes<T> broadcast(T value) {
  return Lanes<T>{} + value;
}

}  // namespace tessera
