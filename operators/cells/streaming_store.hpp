// These stores write values past the cache.
#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "mesh/index.hpp"
#include "mesh/lanes/simd.hpp"

namespace tessera {

/// Whether what is written should stay in the cache: a streaming store saves reading the cache line
/// first, but the values are then in memory only.
enum class WriteTo { cache, memory };

/// For a vector of so many bytes: a longer one than 8 MiB does not stay in a cache until it is
/// needed again.
constexpr WriteTo write_to(Index bytes) {
  return bytes > Index{8} << 20 ? WriteTo::memory : WriteTo::cache;
}

/// One cache line, 64-byte aligned, past the cache where the processor can.
inline void stream_line(const void* from, void* to) {
#if defined(__AVX512F__)
  _mm512_stream_si512(static_cast<__m512i*>(to), _mm512_loadu_si512(from));
#elif defined(__SSE2__)
  for (int i = 0; i < 4; ++i) {
    _mm_stream_si128(static_cast<__m128i*>(to) + i,
                     _mm_loadu_si128(static_cast<const __m128i*>(from) + i));
  }
#else
  std::memcpy(to, from, 64);
#endif
}

/// Other threads see streamed lines from here on, once they see anything written later.
inline void finish_streaming() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

/// to[i] = from[i]. After the last of these calls a thread calls finish_streaming(), and not after
/// each: a fence waits until all lines are in memory.
template <class T>
void write_values(const T* from, Index n, WriteTo where, T* to) {
  constexpr Index kLine = kLineValues<T>;
  if (where == WriteTo::cache) {
    std::copy_n(from, n, to);
    return;
  }
  const auto offset = static_cast<Index>(reinterpret_cast<std::uintptr_t>(to) / sizeof(T) % kLine);
  Index i = std::min(n, offset == 0 ? 0 : kLine - offset);
  std::copy_n(from, i, to);
  for (; i + kLine <= n; i += kLine) stream_line(from + i, to + i);
  std::copy_n(from + i, n - i, to + i);
}

}  // namespace tessera
