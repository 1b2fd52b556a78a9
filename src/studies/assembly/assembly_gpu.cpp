// This file measures assemblies on a GPU.
#include "src/studies/assembly/assembly_gpu.hpp"

#include <fmt/format.h>

#include <utility>

#include "solvers/configuration.hpp"
#include "src/studies/assembly/assembly_check.hpp"
#include "src/studies/repeated_runs.hpp"

namespace tessera {
namespace {

// Where the metrics of assembly_layout() stand that a GPU has; those of transactions come before.
constexpr std::size_t kExtraFromEnd = 5;
constexpr std::size_t kColorsFromEnd = 4;
constexpr std::size_t kDegreeFromEnd = 3;
constexpr std::size_t kRateFromEnd = 2;
constexpr std::size_t kCopyFromEnd = 1;

}  // namespace

StudyRow GpuAssemblyRows::measured(const AssemblyInfo& info, int operations,
                                   std::vector<std::string> parameters) const {
  StudyRow row{.variant = std::string(info.name),
               .parameters = std::move(parameters),
               .shown_per_second = 1e3};
  if constexpr (kHasCuda) {
    record_.show_status(fmt::format("{}, {} operations", row.variant, operations));
    DeviceAssembly assembly(task_.mesh, task_.target, task_.colors, info.on_gpu.value());
    row.seconds = repeat_runs(record_.options().pace, [&] {
      return assembly.assemble({Contribution::Kind::stiffness, operations});
    });
    row.metrics = metrics(info, row, assembly.extra_bytes());
    const std::string fault = stiffness_fault(task_.target, assembly.values(), serial_);
    const bool races = info.sharing == Sharing::unprotected;
    judge_assembly(row, races ? Races::yes : Races::no, fault, [&] {
      assembly.assemble({Contribution::Kind::ones});
      return counting_result(task_.target, counts_, assembly.values());
    });
  }
  return row;
}

std::vector<StudyCell> GpuAssemblyRows::metrics(const AssemblyInfo& info, const StudyRow& row,
                                                Index extra_bytes) const {
  const std::size_t count = record_.table().layout().metrics.size();
  std::vector<StudyCell> metrics(count);
  metrics[0] = record_.table().times_faster("serial", row);
  metrics[count - kExtraFromEnd] = static_cast<double>(extra_bytes) / double(1U << 20U);
  if (info.on_gpu == DeviceAssemblyWay::coloring) {
    metrics[count - kColorsFromEnd] = static_cast<double>(task_.colors.size());
    metrics[count - kDegreeFromEnd] = static_cast<double>(largest_degree(task_.mesh));
  }
  const double seconds = row.seconds.median;
  metrics[count - kRateFromEnd] =
      1e-9 * static_cast<double>(kLocalEntries * task_.triangle_count()) / seconds;
  metrics[count - kCopyFromEnd] = 100.0 * min_bytes() / seconds / copy_bandwidth_;
  return metrics;
}

/// Corners, places and points are read, and nonzeros read and written.
double GpuAssemblyRows::min_bytes() const {
  constexpr Index kNumber = sizeof(std::int32_t);
  constexpr Index kValue = sizeof(double);
  return static_cast<double>((3 + kLocalEntries) * kNumber * task_.triangle_count() +
                             2 * kValue * task_.target.rows +
                             2 * kValue * std::ssize(task_.target.nonzeros));
}

}  // namespace tessera
