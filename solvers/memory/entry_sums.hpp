// These sums over the entries of vectors are sums over all ranks: the one place where they are.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "solvers/memory/block_sum.hpp"
#include "solvers/memory/vector_layout.hpp"

namespace tessera {

/// sums_k = sum over the entries i of the plane of value(i)_k, rows on OpenMP threads; the bits are
/// the same for any number of threads.
template <int N, class Value>
std::array<double, N> plane_sums(const EntryPlane& plane, Value value) {
  std::vector<std::array<double, N>> partial(static_cast<std::size_t>(plane.counts[1]));
#pragma omp parallel for schedule(static)
  for (std::int64_t b = 0; b < plane.counts[1]; ++b) {
    partial[b] = chained_sums<N>(0, plane.counts[0],
                                 [&](std::int64_t a) { return value(plane.entry(a, b)); });
  }
  std::array<double, N> sums{};
  for (const std::array<double, N>& row : partial) {
    for (int k = 0; k < N; ++k) sums[k] += row[k];
  }
  return sums;
}

/// Sums over all ranks from sums over all entries of this one, given value(i) as an array of N:
/// takes those off that other ranks own. They are few, so that the difference cancels nothing.
template <int N, class Value>
void finish_sums(const VectorLayout& layout, std::span<double, N> sums, Value value) {
  if (layout.shared == nullptr) return;
  for (const EntryPlane& plane : layout.shared->not_owned()) {
    const std::array<double, N> others = plane_sums<N>(plane, value);
    for (int k = 0; k < N; ++k) sums[k] -= others[k];
  }
  layout.shared->ranks().sum(sums);
}

/// sum over all entries of all ranks of term(i), each counted once. The bits are the same in every
/// run, for any number of threads and on all ranks, and of one rank those of block_sum().
/// @param term may write to entry i of vectors
/// @param value gives the number that term(i) gave, and writes nothing
template <class Term, class Value>
double entry_sum(const VectorLayout& layout, Term term, Value value) {
  double sum = block_sum(layout.size, term);
  finish_sums<1>(layout, std::span<double, 1>(&sum, 1),
                 [value](std::int64_t i) { return std::array<double, 1>{value(i)}; });
  return sum;
}
/// The same of a term that writes nothing.
template <class Value>
double entry_sum(const VectorLayout& layout, Value value) {
  return entry_sum(layout, value, value);
}

/// N such sums in one pass: term(i) and value(i) return arrays of N.
template <int N, class Term, class Value>
std::array<double, N> entry_sums(const VectorLayout& layout, Term term, Value value) {
  std::array<double, N> sums = block_sums<N>(layout.size, term);
  finish_sums<N>(layout, std::span<double, N>(sums), value);
  return sums;
}
template <int N, class Value>
std::array<double, N> entry_sums(const VectorLayout& layout, Value value) {
  return entry_sums<N>(layout, value, value);
}

}  // namespace tessera
