// This file discretizes the problems that block Jacobi is run on.
#include "src/studies/update_order/relaxation_problems.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>

#include "operators/block_jacobi/node_bricks.hpp"
#include "operators/load/load_vector.hpp"
#include "src/studies/update_order/order_probe.hpp"

namespace tessera {
namespace {

using PositionFunction = double (*)(double x, double y, double z);

template <PositionFunction position>
ScalarField field_of() {
  return {[](const PointBlock& points, double* values) {
            for (std::size_t i = 0; i < points.n; ++i) {
              values[i] = position(points.x[i], points.y[i], points.z[i]);
            }
          },
          std::nullopt};
}

// Faces bend along both other axes.
double curved_x(double x, double y, double z) {
  return x + 0.08 * std::sin(std::numbers::pi * (y + 0.5 * z));
}
double curved_y(double x, double y, double z) {
  return y + 0.06 * std::sin(std::numbers::pi * (z + x));
}
double curved_z(double x, double y, double z) {
  return z + 0.07 * std::sin(std::numbers::pi * (x - 0.5 * y));
}

Mapping mapping_of(RelaxationProblem::Shape shape, const BoxMesh& mesh, const NodeLattice& lattice,
                   const Basis1D& basis) {
  if (shape == RelaxationProblem::Shape::cube) return {mesh, lattice, basis.nodes};
  return {mesh,
          lattice,
          basis.nodes,
          {field_of<curved_x>(), field_of<curved_y>(), field_of<curved_z>()}};
}

RowBlocks runs_of_rows(Index rows, Index length) {
  RowBlocks blocks;
  blocks.rows.resize(static_cast<std::size_t>(rows));
  std::iota(blocks.rows.begin(), blocks.rows.end(), std::int32_t{0});
  for (Index first = 0; first < rows; first += length) blocks.begin.push_back(first);
  blocks.begin.push_back(rows);
  return blocks;
}

}  // namespace

const std::vector<RelaxationProblem>& relaxation_problems() {
  static const std::vector<RelaxationProblem> all = {{.name = "p1-16", .degree = 1, .cells = 16},
                                                     {.name = "p1-128", .degree = 1, .cells = 128},
                                                     {.name = "p2-64", .degree = 2, .cells = 64},
                                                     {.name = "p4-16-curved",
                                                      .degree = 4,
                                                      .cells = 16,
                                                      .shape = RelaxationProblem::Shape::curved}};
  return all;
}

DiscreteProblem discretize(const RelaxationProblem& problem) {
  const Index n = problem.cells;
  const BoxMesh mesh(3, {n, n, n}, {0.0, 0.0, 0.0}, {1.0, 1.0, 1.0});
  const Basis1D basis = make_basis(problem.degree, NodeFamily::gauss_lobatto, QuadratureRule::gauss,
                                   problem.degree + 1);
  const NodeLattice lattice(mesh, problem.degree);
  DiscreteProblem discrete;
  discrete.discretization = std::make_unique<const Discretization>(
      Discretization{mesh, basis, lattice, mapping_of(problem.shape, mesh, lattice, basis)});
  discrete.form = {.discretization = discrete.discretization.get(),
                   .coefficient = constant_field(1.0),
                   .dirichlet = FaceSet().set(),
                   .robin = {}};
  discrete.load = HostVector<double>(lattice.size());
  assemble_load(discrete.form, constant_field(1.0), {}, {}, discrete.load);
  return discrete;
}

const std::vector<NamedBlockShape>& block_shapes() {
  static const std::vector<NamedBlockShape> all = {{BlockShape::bricks, "8x8x4"},
                                                   {BlockShape::runs, "32 rows"}};
  return all;
}

RowBlocks make_blocks(const NodeLattice& lattice, BlockShape shape) {
  if (shape == BlockShape::runs) return runs_of_rows(lattice.size(), kWarpSize);
  return make_node_bricks(lattice, default_node_brick(lattice.dimension()));
}

}  // namespace tessera
