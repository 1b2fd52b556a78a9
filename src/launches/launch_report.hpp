// A LaunchReport tells which kernels a piece of work launches on the GPU, and how well they fill
// it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "src/launches/occupancy.hpp"

namespace tessera {

/// Blocks along x, y and z.
using LaunchGrid = std::array<std::int64_t, 3>;

[[nodiscard]] std::int64_t block_count(const LaunchGrid& grid);

/// The largest part of a grid, whole along the axes before the one that is cut, that has at most so
/// many blocks; at least one block.
[[nodiscard]] LaunchGrid first_blocks(const LaunchGrid& grid, std::int64_t most);

/// Launches of one kernel that are alike.
struct LaunchRecord {
  std::string kernel;     ///< its name alone, as in a table
  std::string full_name;  ///< with namespaces and template arguments
  /// How often it is launched so.
  int count = 1;
  LaunchGrid grid = {1, 1, 1};
  KernelResources resources;
  /// Blocks that a multiprocessor holds, as CUDA says, and as occupancy() does.
  int blocks_per_multiprocessor = 0;
  Occupancy foreseen = {};
  int multiprocessors = 0;
  /// Of one launch, with the data of the one before it still in the cache; a mean of several.
  double seconds = 0.0;
  /// Of the first `wave_blocks` blocks alone, which the GPU holds at a time, with nothing in the
  /// cache.
  std::int64_t wave_blocks = 0;
  double wave_seconds = 0.0;
  /// What one block more than whole waves takes, as a share of the time of a wave; where it was
  /// asked for and there is more than a wave.
  std::optional<double> step = {};

  [[nodiscard]] std::int64_t blocks() const { return block_count(grid); }
  /// Blocks that the GPU holds at a time.
  [[nodiscard]] std::int64_t slots() const {
    return std::int64_t{blocks_per_multiprocessor} * multiprocessors;
  }
  /// blocks / slots.
  [[nodiscard]] double waves() const;
  /// How full the last wave is, in (0, 1].
  [[nodiscard]] double last_fill() const;
  /// 1 - waves / ceil(waves): what is lost by the last wave if all blocks take as long, an upper
  /// estimate.
  [[nodiscard]] double idle() const;
  /// ceil(blocks / wave_blocks) wave_seconds: what a launch takes at most, if its waves run one
  /// after another and find nothing in the cache.
  [[nodiscard]] double upper_seconds() const;
};

/// What a piece of work launches.
struct LaunchReport {
  /// "apply" or "multigrid cycle".
  std::string work;
  /// Why there is nothing to tell; the rest is meaningless unless this is empty.
  std::string not_measured = {};
  /// Of all of it, launched as one graph.
  double seconds = 0.0;
  /// The least traffic of the work; 0 where it is not known.
  double min_bytes = 0.0;
  /// What is queued beside kernels: copies and fills.
  int other_nodes = 0;
  std::vector<LaunchRecord> launches = {};

  /// Share of the work's time that all launches of a record take.
  [[nodiscard]] double share(const LaunchRecord& record) const;
  /// Least bytes over the bandwidth of a copy: what the work takes at least. Where it is launches
  /// of one kernel, each has the share of its blocks. 0 where it is not known.
  [[nodiscard]] double lower_seconds(double copy_bytes_per_second) const;
  [[nodiscard]] double lower_seconds(const LaunchRecord& record,
                                     double copy_bytes_per_second) const;
};

/// Whether a report times one block more than whole waves, too.
enum class WaveStep { leave, measure };

/// "tensor_cells" of "void tessera::(anonymous namespace)::tensor_cells<3, double>(double*)".
[[nodiscard]] std::string short_kernel_name(const std::string& full_name);

/// The launches of `work`, which queues on device_stream() and does not wait. What it writes is
/// written again, often, and not as it should be: kernels are repeated and cut short to be timed.
/// Failures of the GPU become `not_measured`. Builds without CUDA must not call it.
[[nodiscard]] LaunchReport report_launches(const std::string& name, double min_bytes,
                                           const std::function<void()>& work,
                                           WaveStep step = WaveStep::leave);

/// The reports as tables for a terminal. @param copy_bytes_per_second 0 where it is not known
[[nodiscard]] std::string launch_table(const std::vector<LaunchReport>& reports,
                                       double copy_bytes_per_second);

/// The columns of a CSV file, and a report's rows under them.
[[nodiscard]] const std::vector<std::string>& launch_columns();
[[nodiscard]] std::vector<std::vector<std::string>> launch_rows(const LaunchReport& report,
                                                                double copy_bytes_per_second);

/// A CSV file of them.
[[nodiscard]] std::string launch_csv(const std::vector<LaunchReport>& reports,
                                     double copy_bytes_per_second);

/// The reports as result.json has them.
[[nodiscard]] nlohmann::ordered_json launch_json(const std::vector<LaunchReport>& reports,
                                                 double copy_bytes_per_second);

}  // namespace tessera
