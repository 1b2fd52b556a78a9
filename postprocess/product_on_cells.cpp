// This file evaluates factors along axes.
#include "postprocess/product_on_cells.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "mesh/field/program_field.hpp"
#include "mesh/geometry/axis_points.hpp"

namespace tessera {
namespace {

bool is_known(const ScalarField& factor) {
  return factor.constant.has_value() || factor.program != nullptr;
}

bool are_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](double value) { return std::isfinite(value); });
}

std::vector<double> slope_along(int d, const ScalarField& factor, const PointBlock& block) {
  std::array<std::vector<double>, 3> gradient;
  for (std::vector<double>& component : gradient) component.resize(block.n, 0.0);
  if (!factor.constant) {
    evaluate_gradient(*factor.program, block,
                      {gradient[0].data(), gradient[1].data(), gradient[2].data()});
  }
  return std::move(gradient[d]);
}

}  // namespace

std::optional<ProductOnCells> ProductOnCells::of(const Discretization& discretization,
                                                 std::span<const double> points,
                                                 const ScalarField& field) {
  if (!discretization.mapping.is_cartesian() || field.factors == nullptr) return std::nullopt;
  const std::array<ScalarField, 3>& factors = *field.factors;
  if (!std::all_of(factors.begin(), factors.end(), is_known)) return std::nullopt;
  const BoxMesh& mesh = discretization.mesh;
  constexpr std::array<double, 1> one_point = {0.0};
  ProductOnCells product;
  for (int d = 0; d < 3; ++d) {
    // In 2D there is one point along z.
    const std::span<const double> of_cell = d < mesh.dimension() ? points : one_point;
    const AxisPoints along = axis_points(mesh, of_cell, d);
    const PointBlock block = along.block();
    Axis& axis = product.axes_[d];
    axis.points = of_cell.size();
    axis.value.resize(block.n);
    factors[d].evaluate(block, axis.value.data());
    axis.slope = slope_along(d, factors[d], block);
    if (!are_finite(axis.value) || !are_finite(axis.slope)) return std::nullopt;
  }
  return product;
}

void ProductOnCells::gather(const std::array<IndexTriple, kLanes<double>>& cells,
                            Lines& lines) const {
  for (int d = 0; d < 3; ++d) {
    const Axis& axis = axes_[d];
    lines.value[d].resize(axis.points);
    lines.slope[d].resize(axis.points);
    for (int lane = 0; lane < kLanes<double>; ++lane) {
      const std::size_t first = static_cast<std::size_t>(cells[lane][d]) * axis.points;
      for (std::size_t q = 0; q < axis.points; ++q) {
        lines.value[d][q][lane] = axis.value[first + q];
        lines.slope[d][q][lane] = axis.slope[first + q];
      }
    }
  }
}

}  // namespace tessera
