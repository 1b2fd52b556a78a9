// These are the words of compressed factors of a batch of cells on the host, and how they are read.
#pragma once

#include <cstring>

#include "mesh/lanes/simd.hpp"
#include "operators/tensor/compressed/bits.hpp"
#include "operators/tensor/compressed/fixed_point.hpp"

namespace tessera {

template <class T>
struct WordLanesOf {
  typedef typename NumberBits<T>::Word type __attribute__((vector_size(kSimdBytes)));
};
/// A word of the size of T of each of kLanes<T> cells.
template <class T>
using WordLanes = typename WordLanesOf<T>::type;

/// Where the bits of numbers lie in words. A word has a number in its upper kUpper bits. With few
/// bits the others are a second number, and a point has three such pairs. With many bits a point
/// has two triples, of two words each: the third number is in what is left of them, its upper half
/// in the first word. Behind a number's own bits its mantissa has some of the other bits of its
/// word, which the number is rounded with.
template <class T, CompressedBits bits>
struct WordBits {
  static constexpr int kWord = 8 * static_cast<int>(sizeof(T));
  static constexpr int kMantissa = NumberBits<T>::kMantissa;
  static constexpr int kUpper = static_cast<int>(bits);
  static constexpr int kLower = kWord - kUpper;
};

/// Vectors of words of a batch: a header of 32 bits [entry][lane], then words [point][vector].
template <class T>
inline constexpr int kHeaderVectors = 24 / static_cast<int>(sizeof(T));
template <class T, CompressedBits bits>
inline constexpr int kPointVectors = static_cast<int>(compressed_point_bytes(bits) / sizeof(T));

/// The fixed point of the six entries in the cells of a batch.
template <class T>
struct BatchHeader {
  WordLanes<T> exponent[6];  ///< at its place in a number
  Lanes<T> offset[6];

  /// @param batch first vector of the batch
  [[gnu::always_inline]] explicit BatchHeader(const WordLanes<T>* batch) {
    using Word = typename NumberBits<T>::Word;
    typedef unsigned Words __attribute__((vector_size(4 * kLanes<T>)));
    constexpr int kLower = 8 * static_cast<int>(sizeof(T)) - 32;
    for (int e = 0; e < 6; ++e) {
      Words words;
      std::memcpy(&words, reinterpret_cast<const char*>(batch) + e * sizeof(words), sizeof(words));
      const auto wide = __builtin_convertvector(words, WordLanes<T>);
      exponent[e] = (wide & Word{kExponentBits}) << NumberBits<T>::kMantissa;
      offset[e] = reinterpret_cast<Lanes<T>>((wide & ~Word{kExponentBits}) << kLower);
    }
  }
};

/// Entry `entry` of D / w, which is in the upper bits of a word: two integer operations and an
/// addition of a vector.
template <int entry, class T>
[[gnu::always_inline]] inline Lanes<T> read_upper(WordLanes<T> word, const BatchHeader<T>& header) {
  constexpr int kShift = 8 * static_cast<int>(sizeof(T)) - NumberBits<T>::kMantissa;
  return reinterpret_cast<Lanes<T>>((word >> kShift) | header.exponent[entry]) +
         header.offset[entry];
}

/// The two numbers of a word: entries `first` and `first` + 1 of D / w at a point, which take 4
/// integer operations (5 where none has three operands) and two additions of a vector.
template <int first, CompressedBits bits, class T>
[[gnu::always_inline]] inline void read_pair(WordLanes<T> word, const BatchHeader<T>& header,
                                             Lanes<T>* entries) {
  using Word = typename NumberBits<T>::Word;
  using Bits = WordBits<T, bits>;
  constexpr int kUp = Bits::kMantissa - Bits::kLower;
  constexpr Word kMask = ((Word{1} << Bits::kLower) - 1) << kUp;
  const WordLanes<T> second = ((word << kUp) & kMask) | header.exponent[first + 1];
  entries[first] = read_upper<first, T>(word, header);
  entries[first + 1] = reinterpret_cast<Lanes<T>>(second) + header.offset[first + 1];
}

/// The three numbers of two words: entries `first` .. first + 2 of D / w at a point, which take 8
/// integer operations (10) and three additions of a vector.
template <int first, CompressedBits bits, class T>
[[gnu::always_inline]] inline void read_triple(const WordLanes<T>* words,
                                               const BatchHeader<T>& header, Lanes<T>* entries) {
  using Word = typename NumberBits<T>::Word;
  using Bits = WordBits<T, bits>;
  constexpr int kHigh = Bits::kMantissa - Bits::kLower;
  constexpr int kLow = kHigh - Bits::kLower;
  constexpr Word kMask = (Word{1} << Bits::kLower) - 1;
  const WordLanes<T> third =
      (((words[0] << kHigh) & (kMask << kHigh)) | header.exponent[first + 2]) |
      ((words[1] << kLow) & (kMask << kLow));
  entries[first] = read_upper<first, T>(words[0], header);
  entries[first + 1] = read_upper<first + 1, T>(words[1], header);
  entries[first + 2] = reinterpret_cast<Lanes<T>>(third) + header.offset[first + 2];
}

/// All six entries of D / w at a point, xx xy xz yy yz zz.
template <CompressedBits bits, class T>
[[gnu::always_inline]] inline void read_entries(const WordLanes<T>* words,
                                                const BatchHeader<T>& header,
                                                Lanes<T> (&entries)[6]) {
  if constexpr (bits == few_bits(sizeof(T))) {
    read_pair<0, bits>(words[0], header, entries);
    read_pair<2, bits>(words[1], header, entries);
    read_pair<4, bits>(words[2], header, entries);
  } else {
    read_triple<0, bits>(words, header, entries);
    read_triple<3, bits>(words + 2, header, entries);
  }
}

}  // namespace tessera
