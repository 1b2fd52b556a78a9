#include "src/launches/launch_report.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace tessera {

std::int64_t block_count(const LaunchGrid& grid) { return grid[0] * grid[1] * grid[2]; }

LaunchGrid first_blocks(const LaunchGrid& grid, std::int64_t most) {
  LaunchGrid part = {1, 1, 1};
  std::int64_t blocks = 1;
  for (std::size_t axis = 0; axis < grid.size(); ++axis) {
    part[axis] = std::min(grid[axis], std::max<std::int64_t>(most / blocks, 1));
    if (part[axis] < grid[axis]) break;
    blocks *= grid[axis];
  }
  return part;
}

double LaunchRecord::waves() const {
  return static_cast<double>(blocks()) / static_cast<double>(slots());
}

double LaunchRecord::last_fill() const {
  const std::int64_t rest = blocks() % slots();
  return rest == 0 ? 1.0 : static_cast<double>(rest) / static_cast<double>(slots());
}

double LaunchRecord::idle() const { return 1.0 - waves() / std::ceil(waves()); }

double LaunchRecord::upper_seconds() const {
  const std::int64_t parts = (blocks() + wave_blocks - 1) / wave_blocks;
  return static_cast<double>(parts) * wave_seconds;
}

double LaunchReport::share(const LaunchRecord& record) const {
  return record.count * record.seconds / seconds;
}

double LaunchReport::lower_seconds(double copy_bytes_per_second) const {
  return copy_bytes_per_second > 0.0 ? min_bytes / copy_bytes_per_second : 0.0;
}

double LaunchReport::lower_seconds(const LaunchRecord& record, double copy_bytes_per_second) const {
  std::set<std::string> kernels;
  std::int64_t blocks = 0;
  for (const LaunchRecord& each : launches) {
    kernels.insert(each.full_name);
    blocks += each.count * each.blocks();
  }
  // What each of several kernels moves is not known.
  if (kernels.size() != 1) return 0.0;
  return lower_seconds(copy_bytes_per_second) * static_cast<double>(record.blocks()) /
         static_cast<double>(blocks);
}

std::string short_kernel_name(const std::string& full_name) {
  static const std::string kUnnamed = "(anonymous namespace)::";
  std::string name = full_name;
  for (auto at = name.find(kUnnamed); at != std::string::npos; at = name.find(kUnnamed)) {
    name.erase(at, kUnnamed.size());
  }
  // What is outside of template arguments, up to the parameters.
  std::string outside;
  int depth = 0;
  for (const char letter : name) {
    if (letter == '(' && depth == 0) break;
    if (letter == '<') ++depth;
    if (depth == 0) outside += letter;
    if (letter == '>') --depth;
  }
  const std::size_t start = outside.find_last_of(": ");
  return start == std::string::npos ? outside : outside.substr(start + 1);
}

}  // namespace tessera
