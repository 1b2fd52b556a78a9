// These functions put the values that an entry of D_q has in a cell into fixed point.
#pragma once

#include <cstdint>

namespace tessera {

/// The bits of a number, the lowest ones being its mantissa and those above its exponent.
template <class T>
struct NumberBits;
template <>
struct NumberBits<double> {
  using Word = std::uint64_t;
  static constexpr int kMantissa = 52;
  static constexpr int kBias = 1023;
};
template <>
struct NumberBits<float> {
  using Word = std::uint32_t;
  static constexpr int kMantissa = 23;
  static constexpr int kBias = 127;
};

/// 2^x of -1022 <= x <= 1023.
constexpr double power_of_two(int x) {
  return __builtin_bit_cast(double, static_cast<std::uint64_t>(x + 1023) << 52);
}
/// x of the largest 2^x that is not above |value|; -1023 where there is none, 1024 if it is no
/// finite number.
constexpr int exponent_of(double value) {
  return static_cast<int>(__builtin_bit_cast(std::uint64_t, value) >> 52 & 0x7ffU) - 1023;
}

/// The upper 32 bits of a number of T.
template <class T>
constexpr unsigned upper_word(double value) {
  if constexpr (sizeof(T) == 8) {
    return static_cast<unsigned>(__builtin_bit_cast(std::uint64_t, value) >> 32);
  } else {
    return __builtin_bit_cast(unsigned, static_cast<float>(value));
  }
}
/// The number whose upper 32 bits these are.
template <class T>
constexpr T from_upper_word(unsigned word) {
  if constexpr (sizeof(T) == 8) {
    return __builtin_bit_cast(double, static_cast<std::uint64_t>(word) << 32);
  } else {
    return __builtin_bit_cast(float, word);
  }
}

/// The lower 12 bits of an entry's word in the header of a cell, which are its exponent with its
/// bias; the upper 20 are those of its offset.
inline constexpr unsigned kExponentBits = 0xfffU;

/// How an entry of D is held in a cell: 2^exponent (1 + f) + offset with 0 <= f < 1.
struct FixedPoint {
  int exponent;
  double offset;
  unsigned word;  ///< both in 32 bits
};

/// The exponent of an entry whose values none suits.
inline constexpr int kNoExponent = 1 << 20;

/// The fixed point for values from `low` to `high` with so many bits of f: with the least exponent
/// by which all of them, less the offset, lie in [2^x, 2^(x + 1)).
/// @param least sqrt(D_aa D_bb) of the entry D_ab at least
template <class T>
constexpr FixedPoint find_fixed_point(double low, double high, double least, int bits) {
  using Bits = NumberBits<T>;
  const auto larger = [](auto a, auto b) { return a < b ? b : a; };
  // Never finer than the number itself.
  const double finest =
      larger(least, low < 0.0 ? -low : low) * power_of_two(bits - Bits::kMantissa);
  constexpr double kRoom = 1e-6;
  constexpr int kLargest = Bits::kBias - 2;  // ends the search for cells that are not valid, too
  constexpr unsigned kUnit = kExponentBits + 1;
  for (int x = larger(exponent_of(larger(high - low, finest)), -kLargest); x < kLargest; ++x) {
    const double one = power_of_two(x);
    const double wanted = low - one * (1.0 + kRoom);
    unsigned word = upper_word<T>(wanted) & ~kExponentBits;
    if (from_upper_word<T>(word) > wanted) word += wanted < 0.0 ? kUnit : -kUnit;
    const double offset = from_upper_word<T>(word);
    if (offset <= low - one && high - offset < 2.0 * one * (1.0 - kRoom)) {
      return {x, offset, word | static_cast<unsigned>(x + Bits::kBias)};
    }
  }
  // No number of T is large enough, or the cell is not valid.
  return {kNoExponent, 0.0, 0};
}

/// The error that a D_ab in this fixed point may have, as a share of `least` = sqrt(D_aa D_bb).
constexpr double fixed_point_error(const FixedPoint& entry, double least, int bits) {
  return entry.exponent == kNoExponent
             ? __builtin_huge_val()
             : power_of_two(entry.exponent) * power_of_two(-bits - 1) / least;
}

/// The error that an entry D_ab of packed factors may have, as a share of sqrt(D_aa D_bb): with
/// more, they are not packed.
template <class T>
constexpr double compressed_tolerance() {
  return sizeof(T) == sizeof(double) ? 1e-11 : 1e-6;
}

/// The entries D_aa and D_bb of D_ab, of xx xy xz yy yz zz.
struct EntryDiagonal {
  int a;
  int b;
};
constexpr EntryDiagonal diagonal_of_entry(int entry) {
  constexpr EntryDiagonal kDiagonal[6] = {{0, 0}, {0, 3}, {0, 5}, {3, 3}, {3, 5}, {5, 5}};
  return kDiagonal[entry];
}

}  // namespace tessera
