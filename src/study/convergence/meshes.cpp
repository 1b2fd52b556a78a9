// This file refines and coarsens the mesh of a case.
#include "src/study/convergence/meshes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/parameters/limits.hpp"

namespace tessera {
namespace {

AxisSpacing refined(const AxisSpacing& spacing) {
  AxisSpacing result{.ratio = std::sqrt(spacing.ratio)};
  for (std::size_t i = 0; i < spacing.lines.size(); ++i) {
    if (i > 0) result.lines.push_back(0.5 * (spacing.lines[i - 1] + spacing.lines[i]));
    result.lines.push_back(spacing.lines[i]);
  }
  return result;
}

AxisSpacing coarsened(const AxisSpacing& spacing) {
  AxisSpacing result{.ratio = spacing.ratio * spacing.ratio};
  for (std::size_t i = 0; i < spacing.lines.size(); i += 2) {
    result.lines.push_back(spacing.lines[i]);
  }
  return result;
}

Override as_override(std::string_view key, const TomlValue& value, std::string shown_as) {
  return {.assignment = fmt::format("{}={}", key, toml_text(value)),
          .shown_as = std::move(shown_as)};
}

}  // namespace

double convergence_tolerance(const CaseParameters& parameters) {
  const bool is_single = parameters.operation.precision == Precision::single_precision;
  return std::min(parameters.solver.relative_tolerance, is_single ? kMinSingleTolerance : 1e-13);
}

int coarsenings(const MeshParameters& mesh, int levels) {
  std::vector<std::int64_t> cells = mesh.cells;
  int count = 0;
  const auto are_even = [&] {
    return std::all_of(cells.begin(), cells.end(), [](std::int64_t n) { return n % 2 == 0; });
  };
  while (count < levels - 1 && are_even()) {
    for (std::int64_t& n : cells) n /= 2;
    ++count;
  }
  return count;
}

std::vector<Override> degree_overrides(const CaseParameters& parameters, int degree,
                                       const std::string& shown_as) {
  const int more_points = parameters.space.points - parameters.space.degree;
  std::vector<Override> overrides = {
      as_override("space.degree", {std::int64_t{degree}}, shown_as),
      as_override("space.points", {std::int64_t{degree + more_points}}, shown_as),
      as_override("solver.relative_tolerance", {convergence_tolerance(parameters)}, shown_as),
      as_override("output.vtk", {false}, shown_as),
      as_override("output.vtk_degree", {std::int64_t{0}}, shown_as),
      as_override("output.picture", {false}, shown_as)};
  if (parameters.nonlinear) {
    constexpr double kTolerance = 1e-12;
    const double tolerance = std::min(parameters.nonlinear->relative_tolerance, kTolerance);
    overrides.push_back(as_override("nonlinear.relative_tolerance", {tolerance}, shown_as));
  }
  return overrides;
}

std::vector<Override> level_overrides(const CaseParameters& parameters, int degree, int level,
                                      int coarsenings) {
  std::vector<std::int64_t> cells = parameters.mesh.cells;
  std::vector<AxisSpacing> spacing = parameters.mesh.spacing;
  for (int i = level; i < coarsenings; ++i) {
    for (std::int64_t& n : cells) n /= 2;
    for (AxisSpacing& axis : spacing) axis = coarsened(axis);
  }
  for (int i = coarsenings; i < level; ++i) {
    for (std::int64_t& n : cells) n *= 2;
    for (AxisSpacing& axis : spacing) axis = refined(axis);
  }
  const std::string shown =
      fmt::format("tessera convergence: degree {}, {} cells", degree, fmt::join(cells, " x "));
  std::vector<Override> overrides = degree_overrides(parameters, degree, shown);
  overrides.push_back(
      as_override("mesh.cells", *Codec<std::vector<std::int64_t>>::to(cells), shown));
  overrides.push_back(
      as_override("mesh.spacing", *Codec<std::vector<AxisSpacing>>::to(spacing), shown));
  return overrides;
}

double mean_cell_size(const BoxMesh& mesh, double volume) {
  return std::pow(volume / static_cast<double>(mesh.cell_count()), 1.0 / mesh.dimension());
}

double cell_size(const BoxMesh& mesh, double volume) {
  double stretch = 1.0;
  for (int d = 0; d < mesh.dimension(); ++d) {
    if (mesh.is_uniform(d)) continue;
    const double mean = (mesh.upper()[d] - mesh.lower()[d]) / static_cast<double>(mesh.cells()[d]);
    for (Index c = 0; c < mesh.cells()[d]; ++c) {
      stretch = std::max(stretch, mesh.cell_width(d, c) / mean);
    }
  }
  return stretch * mean_cell_size(mesh, volume);
}

std::vector<int> default_degrees(int degree) {
  std::vector<int> degrees;
  for (int p = std::max(1, degree - 1); p <= std::min(degree + 1, kMaxDegree); ++p) {
    degrees.push_back(p);
  }
  return degrees;
}

}  // namespace tessera
