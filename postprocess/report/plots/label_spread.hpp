// Labels beside the ends of lines, moved apart.
#pragma once

#include <vector>

namespace tessera::report {

/// Places for labels that want to be at `wanted`, at least `gap` apart and within [low, high]; in
/// the order of `wanted`. Labels keep their order, and groups that touch are centered on what they
/// want. Where [low, high] is too short for all, they overlap evenly.
std::vector<double> spread_labels(const std::vector<double>& wanted, double gap, double low,
                                  double high);

}  // namespace tessera::report
