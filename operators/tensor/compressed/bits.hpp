// These functions say how many bits and bytes compressed factors have.
#pragma once

#include <utility>

#include "mesh/index.hpp"

namespace tessera {

/// Bits of a number in compressed factors.
enum class CompressedBits { b16 = 16, b21 = 21, b32 = 32, b42 = 42, b64 = 64 };

/// The bits of numbers in factors of this many bytes a value: where entries vary little in each
/// cell, where they vary more, and where an entry would err by too much with these, so that it is
/// not packed.
constexpr CompressedBits few_bits(Index value_bytes) {
  return value_bytes == 8 ? CompressedBits::b32 : CompressedBits::b16;
}
constexpr CompressedBits many_bits(Index value_bytes) {
  return value_bytes == 8 ? CompressedBits::b42 : CompressedBits::b21;
}
constexpr CompressedBits plain_bits(Index value_bytes) {
  return value_bytes == 8 ? CompressedBits::b64 : CompressedBits::b32;
}

/// f.operator()<bits>() with the bits that packed factors of T have, few or many.
template <class T, class F>
decltype(auto) with_packed_bits(CompressedBits bits, F&& f) {
  constexpr CompressedBits kFew = few_bits(sizeof(T));
  if (bits == kFew) return std::forward<F>(f).template operator()<kFew>();
  return std::forward<F>(f).template operator()<many_bits(sizeof(T))>();
}
/// The same with those that have as many bits as T, too.
template <class T, class F>
decltype(auto) with_bits(CompressedBits bits, F&& f) {
  constexpr CompressedBits kPlain = plain_bits(sizeof(T));
  if (bits == kPlain) return std::forward<F>(f).template operator()<kPlain>();
  return with_packed_bits<T>(bits, std::forward<F>(f));
}

/// Bytes of the six numbers of a point.
constexpr Index compressed_point_bytes(CompressedBits bits) {
  return bits == CompressedBits::b16   ? 12
         : bits == CompressedBits::b21 ? 16
         : bits == CompressedBits::b32 ? 24
         : bits == CompressedBits::b42 ? 32
                                       : 48;
}

/// Bytes of a cell's header: a word for each of six entries, and padding.
inline constexpr Index kCompressedHeaderBytes = 32;

}  // namespace tessera
