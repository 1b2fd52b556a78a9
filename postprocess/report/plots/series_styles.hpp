// SeriesStyles give the same thing the same color in all plots of a page.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "postprocess/report/plots/plot.hpp"

namespace tessera::report {

/// Colors and dashes by name: "tensor/atomic" and "tensor/coloring" have the color of "tensor" and
/// dashes of their own. In the order in which names are asked for.
class SeriesStyles {
 public:
  Series series(const std::string& name) {
    const std::string family = name.substr(0, name.find('/'));
    const int color = position(families_, family);
    if (static_cast<std::size_t>(color) == members_.size()) members_.emplace_back();
    return {.name = name,
            .points = {},
            .color = color,
            .dash = position(members_[static_cast<std::size_t>(color)], name)};
  }

 private:
  static int position(std::vector<std::string>& names, const std::string& name) {
    const auto found = std::find(names.begin(), names.end(), name);
    const auto index = found - names.begin();
    if (found == names.end()) names.push_back(name);
    return static_cast<int>(index);
  }

  std::vector<std::string> families_;
  std::vector<std::vector<std::string>> members_;
};

}  // namespace tessera::report
