// These sums of one thread vectorize without a change of their order.
#pragma once

#include <array>
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

/// The same for N sums at once: term(i) returns an array of N. It may write to entry i of any
/// vectors; entries of different i must not depend on each other.
template <int N, class Term>
std::array<double, N> chained_sums(std::int64_t begin, std::int64_t end, Term term) {
  constexpr int kChains = 16;
  double sums[N][kChains] = {};
  std::int64_t i = begin;
  for (; i + kChains <= end; i += kChains) {
    // There may be many vectors: with `simd` the compiler does not test at run time whether they
    // overlap.
#pragma omp simd
    for (int chain = 0; chain < kChains; ++chain) {
      const std::array<double, N> terms = term(i + chain);
      for (int k = 0; k < N; ++k) sums[k][chain] += terms[k];
    }
  }
  for (; i < end; ++i) {
    const std::array<double, N> terms = term(i);
    for (int k = 0; k < N; ++k) sums[k][0] += terms[k];
  }
  std::array<double, N> totals{};
  for (int k = 0; k < N; ++k) {
    for (const double sum : sums[k]) totals[k] += sum;
  }
  return totals;
}

}  // namespace tessera
