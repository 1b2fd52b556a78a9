#pragma once

#include "operators/packed_layout.hpp"

namespace tessera {

/// The six entries xx xy xz yy yz zz of D at a point, without quadrature weights, in fixed point:
///
///   D_e = 2^x_e (1 + f) + o_e + s_e . xi,   0 <= f < 1 of so many bits,
///
/// with the exponent x_e, offset o_e and slopes s_e of the cell (PackedHeader) and the position xi
/// in the unit cell. What is packed is so the deviation from a linear function, and its error is
/// 2^(x_e - bits - 1). Reading it needs no conversion: f is shifted into the mantissa of a number
/// with exponent x_e. 42 bits: three numbers in 128 bits, the upper 32 of each and a word of the
/// rest. 21 bits: the same in 64. As many bits as T has: D_e itself, and the header is zero.
template <class T, PackedBits bits>
struct PackedPoint;

template <>
struct PackedPoint<double, PackedBits::b42> {
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
struct PackedPoint<double, PackedBits::b32> {
  uint4 first;
  uint2 second;

  __device__ __forceinline__ void load(const char* points, int count, int at) {
    first = __ldcs(reinterpret_cast<const uint4*>(points) + at);
    second = __ldcs(reinterpret_cast<const uint2*>(points + 16 * count) + at);
  }
  __device__ __forceinline__ double number(int e, unsigned exponent) const {
    const unsigned word[6] = {first.x, first.y, first.z, first.w, second.x, second.y};
    return __hiloint2double(static_cast<int>(__funnelshift_r(word[e], exponent, 12)),
                            static_cast<int>(word[e] << 20));
  }
};

template <>
struct PackedPoint<float, PackedBits::b21> {
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
struct PackedPoint<double, PackedBits::b64> {
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
struct PackedPoint<float, PackedBits::b32> {
  float4 first;
  float2 second;

  __device__ __forceinline__ void load(const char* points, int count, int at) {
    first = __ldcs(reinterpret_cast<const float4*>(points) + at);
    second = __ldcs(reinterpret_cast<const float2*>(points + 16 * count) + at);
  }
  __device__ __forceinline__ float number(int e, unsigned) const {
    const float value[6] = {first.x, first.y, first.z, first.w, second.x, second.y};
    return value[e];
  }
};

/// The number whose upper 32 bits these are.
template <class T>
__device__ __forceinline__ T from_upper_word(unsigned word) {
  if constexpr (sizeof(T) == 8) {
    return __hiloint2double(static_cast<int>(word), 0);
  } else {
    return __uint_as_float(word);
  }
}

/// Entry e of a cell's header: offset, slopes along x, y, z as upper words. The four lowest bits of
/// the slopes are the exponent, x lowest; they belong to the slopes as well.
__device__ __forceinline__ unsigned header_exponent(const uint4& entry) {
  return (entry.y & 15U) | (entry.z & 15U) << 4 | (entry.w & 15U) << 8;
}

}  // namespace tessera
