// Part probes of the study aggregation: a function at many points, in given order or sorted first.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "operators/load/interpolation.hpp"
#include "postprocess/probes/probes.hpp"
#include "src/studies/aggregation/aggregation_row.hpp"
#include "src/studies/aggregation/parts.hpp"
#include "src/studies/aggregation/probes/device_probes.hpp"
#include "src/studies/aggregation/probes/probed_function.hpp"
#include "src/studies/repeated_runs.hpp"

namespace tessera {
namespace {

struct NamedProbeOrder {
  ProbeOrder order;
  const char* name;
};
// The first is what the others are compared with.
constexpr NamedProbeOrder kOrders[] = {{ProbeOrder::given, "given-order"},
                                       {ProbeOrder::binned, "brick-order"}};

constexpr double kTolerance = 1e-12;

// Values that differ in any bit.
std::size_t differing(const std::vector<double>& a, const std::vector<double>& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::bit_cast<std::uint64_t>(a[i]) != std::bit_cast<std::uint64_t>(b[i])) ++count;
  }
  return count;
}

/// All orders on one mesh.
class MeshProbes {
 public:
  MeshProbes(StudyRecord& record, ProbedMeshKind kind, int cells, std::int64_t points)
      : record_(record),
        kind_(kind),
        discretization_(probed_mesh(kind, cells)),
        u_(discretization_.lattice.size()),
        points_(points) {
    interpolate(discretization_, probed_function(), u_);
    probes_.emplace(discretization_, std::span<const double>(u_.data(), u_.size()), points,
                    record.options().seed);
  }

  void measure() {
    for (const NamedProbeOrder& way : kOrders) {
      if (record_.options().selects(way.name)) row(way);
    }
  }

 private:
  void row(const NamedProbeOrder& way) {
    const AggregationParameters parameters = probe_parameters(name_of(kind_));
    record_.show_status(fmt::format("{}, {} mesh", way.name, parameters.mesh));
    StudyRow row{.variant = way.name, .parameters = parameters.cells()};
    row.seconds = repeat_runs(record_.options().pace, [&] { return probes_->seconds(way.order); });
    conclude_row({.billions_per_s = 1e-9 * static_cast<double>(points_) / row.seconds.median},
                 wrong(way), row);
    record_.add(std::move(row));
  }

  std::string wrong(const NamedProbeOrder& way) {
    if (const std::int64_t lost = probes_->lost(); lost > 0) {
      return fmt::format("{} points were not found", lost);
    }
    const std::vector<double> values = probes_->values();
    if (const double error = largest_error(values); !(error <= kTolerance)) {
      return fmt::format("values differ by {:.3g}", error);
    }
    if (way.order != ProbeOrder::given) {
      static_cast<void>(probes_->seconds(ProbeOrder::given));
      if (const std::size_t count = differing(values, probes_->values()); count > 0) {
        return fmt::format("{} values differ from those in given order", count);
      }
    }
    return {};
  }

  // From the function itself, where the mesh has it exactly, and of the first points from what the
  // probes of runs compute; against the largest value.
  double largest_error(const std::vector<double>& values) const {
    constexpr std::int64_t kMaxPointsOnGpu = 20'000;
    const std::uint64_t seed = record_.options().seed;
    double largest = 0.0;
    double error = 0.0;
    if (kind_ == ProbedMeshKind::uniform) {
      for (std::int64_t i = 0; i < points_; ++i) {
        const double exact = probed_function_at(DeviceProbes::point(i, seed));
        largest = std::max(largest, std::abs(exact));
        error = std::max(error, std::abs(values[i] - exact));
        // A maximum forgets what is not a number.
        if (!std::isfinite(values[i])) return values[i];
      }
    }
    std::vector<Point> points(static_cast<std::size_t>(std::min(points_, kMaxPointsOnGpu)));
    for (std::size_t i = 0; i < points.size(); ++i) {
      points[i] = DeviceProbes::point(static_cast<std::int64_t>(i), seed);
    }
    std::vector<double> expected(points.size());
    Probes(discretization_, points)
        .evaluate(std::span<const double>(u_.data(), u_.size()), expected);
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (!std::isfinite(values[i])) return values[i];
      largest = std::max(largest, std::abs(expected[i]));
      error = std::max(error, std::abs(values[i] - expected[i]));
    }
    return error / largest;
  }

  StudyRecord& record_;
  ProbedMeshKind kind_;
  Discretization discretization_;
  HostVector<double> u_;
  std::int64_t points_;
  std::optional<DeviceProbes> probes_;
};

}  // namespace

void measure_probes(StudyRecord& record) {
  const StudyOptions& options = record.options();
  if (std::none_of(std::begin(kOrders), std::end(kOrders),
                   [&](const NamedProbeOrder& way) { return options.selects(way.name); })) {
    return;
  }
  const int cells = options.is_quick() ? 13 : 54;
  const std::int64_t points = options.is_quick() ? 1'000'000 : 10'000'000;
  record.say(
      "probes: a function of degree {} on {}^3 cells at {} random points, in given order or "
      "sorted\n"
      "by bricks of cells first, which counts\n",
      DeviceProbes::degree, cells, points);
  for (const ProbedMeshKind kind : {ProbedMeshKind::uniform, ProbedMeshKind::curved}) {
    MeshProbes(record, kind, cells, points).measure();
  }
}

}  // namespace tessera
