// A CompressedPoint holds the six factors of a point in fixed point.
#pragma once

#include "operators/tensor/compressed/bits.hpp"
#include "operators/tensor/compressed/fixed_point.hpp"

namespace tessera {

/// A word for each of six entries: 16 bytes of a first array, 8 of a second.
struct SixWords {
  uint4 first;
  uint2 second;

  __device__ __forceinline__ unsigned operator[](int e) const {
    const unsigned words[6] = {first.x, first.y, first.z, first.w, second.x, second.y};
    return words[e];
  }
};

/// The words of point `at` of `count` points, which are read once.
__device__ __forceinline__ SixWords load_six_words(const char* points, int count, int at) {
  return {__ldcs(reinterpret_cast<const uint4*>(points) + at),
          __ldcs(reinterpret_cast<const uint2*>(points + 16 * count) + at)};
}

/// The six entries xx xy xz yy yz zz of D at a point, without quadrature weights, in fixed point:
///
///   D_e = 2^x_e (1 + f) + o_e,   0 <= f < 1 of so many bits,
///
/// with the exponent x_e and offset o_e of the cell (CompressedHeader), so that the error is
/// 2^(x_e - bits - 1), relative to the range of D_e in the cell. Reading it needs no conversion: f
/// is shifted into the mantissa of a number with exponent x_e. 32 bits: a word a number; 16 bits:
/// two in a word. 42 bits: three numbers in 128 bits, the upper 32 of each and a word of the rest.
/// 21 bits: the same in 64. As many bits as T has: D_e itself, and the header is zero.
template <class T, CompressedBits bits>
struct CompressedPoint;

template <>
struct CompressedPoint<double, CompressedBits::b42> {
  uint4 first, second;

  __device__ __forceinline__ void load(const char* points, int count, int at) {
    const uint4* from = reinterpret_cast<const uint4*>(points) + at;
    first = __ldcs(from);
    second = __ldcs(from + count);
  }
  /// 2^x (1 + f) of entry e.
  __device__ __forceinline__ double number(int e, unsigned exponent) const {
    const uint4& w = e < 3 ? first : second;
    const unsigned high = e % 3 == 0 ? w.x : e % 3 == 1 ? w.y : w.z;
    const unsigned low = w.w << (10 * (e % 3));
    return __hiloint2double(static_cast<int>(__funnelshift_r(high, exponent, 12)),
                            static_cast<int>(__funnelshift_r(low, high, 12)));
  }
};

template <>
struct CompressedPoint<float, CompressedBits::b21> {
  uint4 words;

  __device__ __forceinline__ void load(const char* points, int, int at) {
    words = __ldcs(reinterpret_cast<const uint4*>(points) + at);
  }
  __device__ __forceinline__ float number(int e, unsigned exponent) const {
    const unsigned a = e < 3 ? words.x : words.z;
    const unsigned b = e < 3 ? words.y : words.w;
    const unsigned f = e % 3 == 0 ? a : e % 3 == 1 ? b : (a << 21) | ((b & 0x7ffU) << 10);
    return __uint_as_float(__funnelshift_r(f, exponent, 9));
  }
};

template <>
struct CompressedPoint<double, CompressedBits::b32> {
  SixWords words;

  __device__ __forceinline__ void load(const char* points, int count, int at) {
    words = load_six_words(points, count, at);
  }
  __device__ __forceinline__ double number(int e, unsigned exponent) const {
    return __hiloint2double(static_cast<int>(__funnelshift_r(words[e], exponent, 12)),
                            static_cast<int>(words[e] << 20));
  }
};

template <>
struct CompressedPoint<float, CompressedBits::b16> {
  uint2 first;
  unsigned second;

  __device__ __forceinline__ void load(const char* points, int count, int at) {
    first = __ldcs(reinterpret_cast<const uint2*>(points) + at);
    second = __ldcs(reinterpret_cast<const unsigned*>(points + 8 * count) + at);
  }
  __device__ __forceinline__ float number(int e, unsigned exponent) const {
    const unsigned word = e < 2 ? first.x : e < 4 ? first.y : second;
    const unsigned f = e % 2 == 0 ? word & 0xffff0000U : word << 16;
    return __uint_as_float(__funnelshift_r(f, exponent, 9));
  }
};

template <>
struct CompressedPoint<double, CompressedBits::b64> {
  double2 pairs[3];

  __device__ __forceinline__ void load(const char* points, int count, int at) {
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      pairs[i] = __ldcs(reinterpret_cast<const double2*>(points) + at + i * count);
    }
  }
  __device__ __forceinline__ double number(int e, unsigned) const {
    return e % 2 == 0 ? pairs[e / 2].x : pairs[e / 2].y;
  }
};

template <>
struct CompressedPoint<float, CompressedBits::b32> {
  SixWords words;

  __device__ __forceinline__ void load(const char* points, int count, int at) {
    words = load_six_words(points, count, at);
  }
  __device__ __forceinline__ float number(int e, unsigned) const {
    return __uint_as_float(words[e]);
  }
};

/// The header of a cell: the word of each entry's fixed point.
struct CompressedHeader {
  SixWords words;

  __device__ __forceinline__ explicit CompressedHeader(const char* header)
      : words{*reinterpret_cast<const uint4*>(header),
              *reinterpret_cast<const uint2*>(header + sizeof(uint4))} {}

  __device__ __forceinline__ unsigned exponent(int e) const { return words[e] & kExponentBits; }
  template <class T>
  __device__ __forceinline__ T offset(int e) const {
    return from_upper_word<T>(words[e] & ~kExponentBits);
  }
};

}  // namespace tessera
