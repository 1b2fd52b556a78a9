// A Prefetch asks for memory a few cache lines at a time, ahead of its use.
#pragma once

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

}  // namespace tessera
