// These sums over all threads have the same bits for any number of threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "solvers/memory/chained_sum.hpp"

namespace tessera {

/// The number of entries in a block. One thread sums a block, and the sums of blocks are added in
/// order.
inline constexpr std::int64_t kReductionBlock = 4096;

/// sum over i < n of term(i), on OpenMP threads; the bits are the same for any number of threads.
template <class Term>
double block_sum(std::int64_t n, Term term) {
  const std::int64_t blocks = (n + kReductionBlock - 1) / kReductionBlock;
  std::vector<double> partial(static_cast<std::size_t>(blocks));
#pragma omp parallel for schedule(static)
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::int64_t end = std::min(n, (b + 1) * kReductionBlock);
    partial[b] = chained_sum(b * kReductionBlock, end, term);
  }
  double sum = 0.0;
  for (const double value : partial) sum += value;
  return sum;
}

/// N such sums in one pass: term(i) returns an array of N, and may write to entry i of vectors.
template <int N, class Term>
std::array<double, N> block_sums(std::int64_t n, Term term) {
  const std::int64_t blocks = (n + kReductionBlock - 1) / kReductionBlock;
  std::vector<std::array<double, N>> partial(static_cast<std::size_t>(blocks));
#pragma omp parallel for schedule(static)
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::int64_t end = std::min(n, (b + 1) * kReductionBlock);
    partial[b] = chained_sums<N>(b * kReductionBlock, end, term);
  }
  std::array<double, N> sums{};
  for (const std::array<double, N>& values : partial) {
    for (int k = 0; k < N; ++k) sums[k] += values[k];
  }
  return sums;
}

}  // namespace tessera
