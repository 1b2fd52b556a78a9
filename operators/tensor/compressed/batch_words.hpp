// These are the words of compressed factors of a batch of cells on the host, and how they are read.
#pragma once

#include <cstring>

#include "mesh/lanes/simd.hpp"
#include "operators/tensor/compressed/fixed_point.hpp"

namespace tessera {

template <class T>
struct WordLanesOf {
  typedef typename NumberBits<T>::Word type __attribute__((vector_size(kSimdBytes)));
};
/// A word of the size of T of each of kLanes<T> cells.
template <class T>
using WordLanes = typename WordLanesOf<T>::type;

/// Where the six numbers of a point lie in four words, a triple in two of them: two numbers in the
/// upper kUpper bits of a word each, the third in what is left, its upper half in the first word.
/// Behind a number's own bits its mantissa has bits of the third one, which the number is rounded
/// with.
template <class T>
struct TripleBits {
  static constexpr int kWord = 8 * static_cast<int>(sizeof(T));
  static constexpr int kMantissa = NumberBits<T>::kMantissa;
  static constexpr int kUpper = sizeof(T) == 8 ? 42 : 21;
  static constexpr int kHalf = kWord - kUpper;  // of the third number
};

/// Vectors of words of a batch: a header of 32 bits [entry][lane], then words [point][4].
template <class T>
inline constexpr int kHeaderVectors = 24 / static_cast<int>(sizeof(T));
inline constexpr int kPointVectors = 4;

/// The fixed point of the six entries in the cells of a batch.
template <class T>
struct BatchHeader {
  WordLanes<T> exponent[6];  ///< at its place in a number
  Lanes<T> offset[6];

  /// @param batch first vector of the batch
  [[gnu::always_inline]] explicit BatchHeader(const WordLanes<T>* batch) {
    using Word = typename NumberBits<T>::Word;
    typedef unsigned Words __attribute__((vector_size(4 * kLanes<T>)));
    constexpr int kLower = TripleBits<T>::kWord - 32;
    for (int e = 0; e < 6; ++e) {
      Words words;
      std::memcpy(&words, reinterpret_cast<const char*>(batch) + e * sizeof(words), sizeof(words));
      const auto wide = __builtin_convertvector(words, WordLanes<T>);
      exponent[e] = (wide & Word{kExponentBits}) << TripleBits<T>::kMantissa;
      offset[e] = reinterpret_cast<Lanes<T>>((wide & ~Word{kExponentBits}) << kLower);
    }
  }
};

/// The three numbers of two words: entries `first` .. first + 2 of D / w at a point, which take 8
/// integer operations and three additions of a vector.
template <int first, class T>
[[gnu::always_inline]] inline void read_triple(const WordLanes<T>* words,
                                               const BatchHeader<T>& header, Lanes<T>* entries) {
  using Word = typename NumberBits<T>::Word;
  using Bits = TripleBits<T>;
  constexpr int kShift = Bits::kWord - Bits::kMantissa;
  constexpr int kHigh = Bits::kMantissa - Bits::kHalf;
  constexpr int kLow = kHigh - Bits::kHalf;
  constexpr Word kMask = (Word{1} << Bits::kHalf) - 1;
  const WordLanes<T> a = words[0];
  const WordLanes<T> b = words[1];
  const WordLanes<T> third = (((a << kHigh) & (kMask << kHigh)) | header.exponent[first + 2]) |
                             ((b << kLow) & (kMask << kLow));
  const auto number = [](WordLanes<T> bits) { return reinterpret_cast<Lanes<T>>(bits); };
  entries[first] = number((a >> kShift) | header.exponent[first]) + header.offset[first];
  entries[first + 1] =
      number((b >> kShift) | header.exponent[first + 1]) + header.offset[first + 1];
  entries[first + 2] = number(third) + header.offset[first + 2];
}

/// All six entries of D / w at a point, xx xy xz yy yz zz.
template <class T>
[[gnu::always_inline]] inline void read_entries(const WordLanes<T>* words,
                                                const BatchHeader<T>& header,
                                                Lanes<T> (&entries)[6]) {
  read_triple<0>(words, header, entries);
  read_triple<3>(words + 2, header, entries);
}

}  // namespace tessera
