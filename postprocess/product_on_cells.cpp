// This file evaluates factors along axes.
#include "postprocess/product_on_cells.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "mesh/field/program_field.hpp"

namespace tessera {
namespace {

bool is_known(const ScalarField& factor) {
  return factor.constant.has_value() || factor.program != nullptr;
}

bool are_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](double value) { return std::isfinite(value); });
}

// Of the points of all cells along axis d, [cell][point].
std::vector<double> positions_along(const BoxMesh& mesh, int d, std::span<const double> points) {
  std::vector<double> positions;
  for (Index cell = 0; cell < mesh.cells()[d]; ++cell) {
    for (const double point : points) {
      positions.push_back(mesh.grid_line(d, cell) + mesh.cell_width(d, cell) * point);
    }
  }
  return positions;
}

// The positions as coordinate d of points whose others are zeros.
PointBlock block_along(int d, const std::vector<double>& positions,
                       const std::vector<double>& zeros) {
  std::array<const double*, 3> at = {zeros.data(), zeros.data(), zeros.data()};
  at[d] = positions.data();
  return {positions.size(), at[0], at[1], at[2]};
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
  ProductOnCells product;
  for (int d = 0; d < 3; ++d) {
    // In 2D there is one point along z, at 0.
    const std::vector<double> positions =
        d < mesh.dimension() ? positions_along(mesh, d, points) : std::vector<double>{0.0};
    const std::vector<double> zeros(positions.size(), 0.0);
    const PointBlock block = block_along(d, positions, zeros);
    Axis& axis = product.axes_[d];
    axis.points = d < mesh.dimension() ? points.size() : 1;
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
