// A NumberedWord takes 8 bytes to another GPU with the number by which that knows them.
#pragma once

#include <cuda_runtime.h>

namespace tessera {
namespace {

// For the kernels of peer_carrier.cu, which alone includes this.

using Counter = unsigned long long;

/// Who waits asks once in so many looks whether all was given up.
constexpr unsigned kLooksBetween = 1024;

/// It arrives as a whole, so that whoever finds the number has the bits as well: no flag is stored
/// after it, and no store waits for those before. It is twice as long as what it takes.
struct alignas(16) NumberedWord {
  Counter bits;
  Counter number;
};

__device__ void store_word(NumberedWord* place, const NumberedWord& word) {
  asm volatile(
      "{\n"
      ".reg .b128 word;\n"
      "mov.b128 word, {%1, %2};\n"
      "st.relaxed.sys.global.b128 [%0], word;\n"
      "}"
      :
      : "l"(place), "l"(word.bits), "l"(word.number)
      : "memory");
}

__device__ NumberedWord load_word(const NumberedWord* place) {
  NumberedWord word;
  asm volatile(
      "{\n"
      ".reg .b128 word;\n"
      "ld.relaxed.sys.global.b128 word, [%2];\n"
      "mov.b128 {%0, %1}, word;\n"
      "}"
      : "=l"(word.bits), "=l"(word.number)
      : "l"(place)
      : "memory");
  return word;
}

// words[k] = places[k stride], k < count, when they have this number; whatever they are when all is
// given up. All of them are looked for at the same time.
template <int most>
__device__ void load_words(NumberedWord (&words)[most], const NumberedWord* places, int stride,
                           int count, Counter number, const volatile int* is_given_up) {
  for (unsigned looks = 1;; ++looks) {
    bool has_all = true;
#pragma unroll
    for (int k = 0; k < most; ++k) {
      if (k < count) words[k] = load_word(places + k * stride);
    }
#pragma unroll
    for (int k = 0; k < most; ++k) has_all = has_all && (k >= count || words[k].number == number);
    if (has_all || (looks % kLooksBetween == 0 && *is_given_up != 0)) return;
  }
}

}  // namespace
}  // namespace tessera
