// Groups of labels that touch grow and are centered until none touch.
#include "postprocess/report/plots/label_spread.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tessera::report {
namespace {

struct Group {
  double sum = 0.0;  // of the places that the first label would have for each one's sake
  int count = 0;
  double first(double gap, double low, double high) const {
    const double last = std::max(low, high - (count - 1) * gap);
    return std::clamp(sum / count, low, last);
  }
};

}  // namespace

std::vector<double> spread_labels(const std::vector<double>& wanted, double gap, double low,
                                  double high) {
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });
  const double gaps = static_cast<double>(wanted.size()) - 1.0;
  if (gaps * gap > high - low) gap = (high - low) / gaps;
  std::vector<Group> groups;
  for (const std::size_t i : order) {
    groups.push_back({wanted[i], 1});
    while (groups.size() > 1) {
      const Group& below = groups[groups.size() - 2];
      const double end = below.first(gap, low, high) + below.count * gap;
      const Group& last = groups.back();
      if (last.first(gap, low, high) >= end) break;
      const Group joined = {below.sum + last.sum - below.count * gap * last.count,
                            below.count + last.count};
      groups.pop_back();
      groups.back() = joined;
    }
  }
  std::vector<double> places(wanted.size());
  std::size_t next = 0;
  for (const Group& group : groups) {
    const double first = group.first(gap, low, high);
    for (int n = 0; n < group.count; ++n) places[order[next++]] = first + n * gap;
  }
  return places;
}

}  // namespace tessera::report
