// This file finds extrema in parallel.
#include "postprocess/picture/extrema.hpp"

#include <cmath>
#include <limits>
#include <mutex>

#include "mesh/partition.hpp"

namespace tessera {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Extrema kNothing = {{kInfinity, 0, false}, {-kInfinity, 0, false}, 0};

// The better of two, of which `first` has the lower nodes.
template <class IsBetter>
Extremum better(const Extremum& first, const Extremum& second, IsBetter&& is_better) {
  if (first.value == second.value) return {first.value, std::min(first.node, second.node), false};
  return is_better(second.value, first.value) ? second : first;
}

}  // namespace

Extrema find_extrema(std::span<const double> values) {
  Extrema all = kNothing;
  std::mutex mutex;
  parallel_ranges(static_cast<Index>(values.size()), [&](Range range) {
    Extrema mine = kNothing;
    for (Index i = range.begin; i < range.end; ++i) {
      const double value = values[i];
      if (!std::isfinite(value)) {
        ++mine.not_finite;
        continue;
      }
      if (value < mine.min.value) {
        mine.min = {value, i, true};
      } else if (value == mine.min.value) {
        mine.min.is_unique = false;
      }
      if (value > mine.max.value) {
        mine.max = {value, i, true};
      } else if (value == mine.max.value) {
        mine.max.is_unique = false;
      }
    }
    const std::scoped_lock lock(mutex);
    all.min = better(all.min, mine.min, [](double a, double b) { return a < b; });
    all.max = better(all.max, mine.max, [](double a, double b) { return a > b; });
    all.not_finite += mine.not_finite;
  });
  return all;
}

}  // namespace tessera
