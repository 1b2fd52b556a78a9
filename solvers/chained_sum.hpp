#pragma once

#include <cstdint>

namespace tessera {

/// sum over begin <= i < end of term(i): kChains sums run side by side and are added in order, so
/// that the compiler vectorizes without reordering. Terms take plain pointers. (GCC 12 leaves
/// `omp simd reduction` scalar in OpenMP loops.)
template <class Term>
double chained_sum(std::int64_t begin, std::int64_t end, Term term) {
  constexpr int kChains = 32;
  double sums[kChains] = {};
  std::int64_t i = begin;
  for (; i + kChains <= end; i += kChains) {
    for (int chain = 0; chain < kChains; ++chain) sums[chain] += term(i + chain);
  }
  for (; i < end; ++i) sums[0] += term(i);
  double total = 0.0;
  for (const double sum : sums) total += sum;
  return total;
}

}  // namespace tessera
