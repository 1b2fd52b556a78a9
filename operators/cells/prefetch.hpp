// A Prefetch asks for memory a few cache lines at a time, ahead of its use.
#pragma once

#include "mesh/index.hpp"
#include "mesh/lanes/simd.hpp"

namespace tessera {

/// Asks for memory to be brought into the L2 cache, this many cache lines at a time, so that
/// reading it goes on while a thread computes.
template <int lines>
class Prefetch {
 public:
  explicit Prefetch(const void* first) : next_(static_cast<const char*>(first)) {}

  [[gnu::always_inline]] void advance() {
#pragma GCC unroll 16
    for (int i = 0; i < lines; ++i) {
      __builtin_prefetch(next_ + i * 64, 0, 2);
    }
    next_ += lines * 64;
  }

 private:
  const char* next_;  // may point beyond the array: a prefetch of such an address is ignored
};

/// How many lines each of so many Prefetches asks for, if all of them ask for so many vectors.
constexpr int lines_ahead(int vectors, int calls) {
  constexpr int kLine = 64;
  const int bytes = vectors * static_cast<int>(kSimdBytes);
  return (bytes + calls * kLine - 1) / (calls * kLine);
}

/// The lowest degree that has enough work a batch to ask for rows meanwhile.
inline constexpr int kMinDegreeToAsk = 2;

/// Rows that are soon read and written, (p + 1)^2 of p w + 1 values for w lanes: those of x that
/// the next batch gathers, and those of y that this one adds to.
template <class T>
struct RowsAhead {
  const T* x = nullptr;  ///< the first row of x; null: there is nothing to ask for
  const T* y = nullptr;
  const Index* offsets = nullptr;  ///< how many values after the first each row begins

  /// Asks for part `part` of `parts` of a row of each to be brought into the L2 cache.
  template <int p, int part, int parts>
  [[gnu::always_inline]] void ask(int row) const {
    constexpr int kLines = (p * static_cast<int>(kSimdBytes) + 63) / 64 + 1;
    constexpr int kBegin = kLines * part / parts;
    constexpr int kEnd = kLines * (part + 1) / parts;
    if (x == nullptr) return;
    const char* from = reinterpret_cast<const char*>(x + offsets[row]);
    const char* to = reinterpret_cast<const char*>(y + offsets[row]);
#pragma GCC unroll 16
    for (int line = kBegin; line < kEnd; ++line) {
      __builtin_prefetch(from + line * 64, 0, 2);
      __builtin_prefetch(to + line * 64, 1, 2);
    }
  }
};

}  // namespace tessera
