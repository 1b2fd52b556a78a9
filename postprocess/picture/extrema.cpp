// This file finds extrema in parallel.
#include "postprocess/picture/extrema.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "mesh/partition.hpp"

namespace tessera {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Extrema kNothing = {{kInfinity, 0, false}, {-kInfinity, 0, false}, 0};

// The better of two, by its lower node where they are alike.
template <class IsBetter>
Extremum better(const Extremum& first, const Extremum& second, IsBetter&& is_better) {
  if (first.value == second.value) return {first.value, std::min(first.node, second.node), false};
  return is_better(second.value, first.value) ? second : first;
}

struct BlockRange {
  double min;
  double max;
  double zero;  // NaN if a value is not finite
};

BlockRange range_of(std::span<const double> values) {
  double min = kInfinity;
  double max = -kInfinity;
  double zero = 0.0;
#pragma omp simd reduction(min : min) reduction(max : max) reduction(+ : zero)
  for (std::size_t i = 0; i < values.size(); ++i) {
    min = values[i] < min ? values[i] : min;
    max = values[i] > max ? values[i] : max;
    zero += values[i] - values[i];
  }
  return {min, max, zero};
}

void add_values(std::span<const double> values, Index first, Extrema& extrema) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    const Index node = first + static_cast<Index>(i);
    if (!std::isfinite(value)) {
      ++extrema.not_finite;
      continue;
    }
    if (value < extrema.min.value) {
      extrema.min = {value, node, true};
    } else if (value == extrema.min.value) {
      extrema.min.is_unique = false;
    }
    if (value > extrema.max.value) {
      extrema.max = {value, node, true};
    } else if (value == extrema.max.value) {
      extrema.max.is_unique = false;
    }
  }
}

}  // namespace

Extrema find_extrema(std::span<const double> values) {
  // Few blocks have values that matter; what the others have is found out by SIMD.
  constexpr Index kBlock = 2048;
  Extrema all = kNothing;
  std::mutex mutex;
  parallel_ranges(static_cast<Index>(values.size()), [&](Range range) {
    Extrema mine = kNothing;
    for (Index first = range.begin; first < range.end; first += kBlock) {
      const auto count = static_cast<std::size_t>(std::min(kBlock, range.end - first));
      const auto block = values.subspan(static_cast<std::size_t>(first), count);
      const BlockRange found = range_of(block);
      const bool min_is_known =
          found.min > mine.min.value || (found.min == mine.min.value && !mine.min.is_unique);
      const bool max_is_known =
          found.max < mine.max.value || (found.max == mine.max.value && !mine.max.is_unique);
      if (found.zero == 0.0 && min_is_known && max_is_known) continue;
      add_values(block, first, mine);
    }
    const std::scoped_lock lock(mutex);
    all.min = better(all.min, mine.min, [](double a, double b) { return a < b; });
    all.max = better(all.max, mine.max, [](double a, double b) { return a > b; });
    all.not_finite += mine.not_finite;
  });
  return all;
}

}  // namespace tessera
