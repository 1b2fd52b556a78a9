// This file makes the meshes and the function of probes.
#include "src/studies/aggregation/probes/probed_function.hpp"

#include <array>
#include <cmath>
#include <numbers>

namespace tessera {
namespace {

constexpr int kDegree = 4;

ScalarField field_of_point(double (*at)(const Point&)) {
  return {[at](const PointBlock& points, double* values) {
            for (std::size_t i = 0; i < points.n; ++i) {
              values[i] = at({points.x[i], points.y[i], points.z[i]});
            }
          },
          std::nullopt};
}

// Its derivatives together stay below 0.4, so that the map can be inverted.
double bump(const Point& x) {
  constexpr double kPi = std::numbers::pi;
  return 0.1 * std::sin(kPi * x[0]) * std::sin(kPi * x[1]) * std::sin(kPi * x[2]);
}

template <int axis>
double moved(const Point& x) {
  return x[axis] + bump(x);
}

}  // namespace

std::string name_of(ProbedMeshKind kind) {
  return kind == ProbedMeshKind::uniform ? "uniform" : "curved";
}

Discretization probed_mesh(ProbedMeshKind kind, int cells) {
  const BoxMesh mesh(3, {cells, cells, cells}, {0.0, 0.0, 0.0}, {1.0, 1.0, 1.0});
  const Basis1D basis =
      make_basis(kDegree, NodeFamily::gauss_lobatto, QuadratureRule::gauss, kDegree + 1);
  const NodeLattice lattice(mesh, kDegree);
  if (kind == ProbedMeshKind::uniform) {
    return {mesh, basis, lattice, Mapping(mesh, lattice, basis.nodes)};
  }
  const std::array<ScalarField, 3> map = {field_of_point(moved<0>), field_of_point(moved<1>),
                                          field_of_point(moved<2>)};
  return {mesh, basis, lattice, Mapping(mesh, lattice, basis.nodes, map)};
}

double probed_function_at(const Point& x) {
  return 0.5 + x[0] * x[0] * x[0] * x[0] - 2.0 * x[0] * x[0] * x[1] * x[1] +
         3.0 * x[1] * x[2] * x[2] * x[2] + x[0] * x[1] * x[2] - x[2];
}

ScalarField probed_function() { return field_of_point(probed_function_at); }

}  // namespace tessera
