// These meshes, maps and fields are shared by the tests of mesh/.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "mesh/discretization.hpp"
#include "mesh/scalar_field.hpp"
#include "mesh/threads_in_use.hpp"
#include "tests/random_values.hpp"

namespace tessera::testing {

using PointFunction = std::function<double(double x, double y, double z)>;

/// A field from a function of one point; never known to be constant.
inline ScalarField field_of(PointFunction function) {
  return {[function = std::move(function)](const PointBlock& points, double* values) {
            for (std::size_t i = 0; i < points.n; ++i) {
              values[i] = function(points.x[i], points.y[i], points.z[i]);
            }
          },
          std::nullopt};
}

/// A box in general position: unequal, non-unit edges and a lower corner that is not the origin.
inline BoxMesh general_box(int dimension, const IndexTriple& cells) {
  return {dimension, cells, {-0.5, 0.25, 1.0}, {1.0, 1.35, 1.8}};
}

/// The same box with irregular grid lines along x, those of widths 1, 2, 3, ... along y and widths
/// halved from cell to cell along z.
inline BoxMesh graded_box(int dimension, const IndexTriple& cells) {
  const BoxMesh box = general_box(dimension, cells);
  std::array<GridLines, 3> lines;
  for (int d = 0; d < dimension; ++d) {
    std::mt19937 generator(7);
    GridLines line = {0.0};
    for (Index c = 0; c < cells[d]; ++c) {
      const std::array<double, 3> widths = {0.5 + static_cast<double>(generator()) * 0x1p-32,
                                            1.0 + static_cast<double>(c),
                                            std::ldexp(1.0, -static_cast<int>(c))};
      line.push_back(line.back() + widths[d]);
    }
    const double scale = (box.upper()[d] - box.lower()[d]) / line.back();
    for (double& position : line) position = box.lower()[d] + scale * position;
    line.back() = box.upper()[d];
    lines[d] = std::move(line);
  }
  return {dimension, cells, box.lower(), box.upper(), std::move(lines)};
}

/// A dimension and one of the two boxes above, for tests that run on all of them.
using TestedBox = std::tuple<int, BoxMesh (*)(int, const IndexTriple&)>;

inline auto tested_boxes() {
  return ::testing::Combine(::testing::Values(2, 3), ::testing::Values(general_box, graded_box));
}

/// "3d", "3dGraded".
inline std::string name_of(const ::testing::TestParamInfo<TestedBox>& tested) {
  const auto [dimension, box] = tested.param;
  return std::to_string(dimension) + (box == graded_box ? "dGraded" : "d");
}

/// A map of box points with its derivatives, J(a, b) = dx_a / dX_b.
struct SmoothMap {
  std::string name;
  std::function<Eigen::Vector3d(const Eigen::Vector3d&)> position;
  std::function<Eigen::Matrix3d(const Eigen::Vector3d&)> jacobian;

  /// In 2D the third row and column are those of the identity.
  Eigen::Matrix3d jacobian_of(int dimension, const Eigen::Vector3d& point) const {
    Eigen::Matrix3d J = jacobian(point);
    if (dimension == 2) {
      J.row(2) = Eigen::RowVector3d(0, 0, 1);
      J.col(2) = Eigen::Vector3d(0, 0, 1);
    }
    return J;
  }
};

inline SmoothMap identity_map() {
  return {"identity", [](const Eigen::Vector3d& X) { return X; },
          [](const Eigen::Vector3d&) -> Eigen::Matrix3d { return Eigen::Matrix3d::Identity(); }};
}

/// Rotates, shears and stretches; in 2D the upper left block does.
inline SmoothMap affine_map() {
  Eigen::Matrix3d M;
  M << 1.2, -0.7, 0.3, 0.5, 0.9, -0.2, -0.1, 0.4, 1.4;
  return {"affine",
          [M](const Eigen::Vector3d& X) -> Eigen::Vector3d {
            return M * X + Eigen::Vector3d(0.3, -2.0, 1.0);
          },
          [M](const Eigen::Vector3d&) { return M; }};
}

/// Curved, and of degree 2 in each variable: isoparametric elements of degree >= 2 have it exactly.
inline SmoothMap quadratic_map() {
  return {"quadratic",
          [](const Eigen::Vector3d& X) {
            const double x = X[0];
            const double y = X[1];
            const double z = X[2];
            return Eigen::Vector3d(x + 0.05 * x * x + 0.1 * y * y * (1 + z),
                                   y + 0.08 * x * x * (1 + z), z + 0.06 * x * y * y);
          },
          [](const Eigen::Vector3d& X) {
            const double x = X[0];
            const double y = X[1];
            const double z = X[2];
            Eigen::Matrix3d J;
            J << 1 + 0.1 * x, 0.2 * y * (1 + z), 0.1 * y * y, 0.16 * x * (1 + z), 1, 0.08 * x * x,
                0.06 * y * y, 0.12 * x * y, 1;
            return J;
          }};
}

inline std::array<ScalarField, 3> components_of(const SmoothMap& map) {
  std::array<ScalarField, 3> components;
  for (int d = 0; d < 3; ++d) {
    components[d] = field_of([position = map.position, d](double x, double y, double z) {
      return position({x, y, z})[d];
    });
  }
  return components;
}

inline Discretization make_cartesian(const BoxMesh& mesh, const Basis1D& basis) {
  const NodeLattice lattice(mesh, basis.degree);
  return {mesh, basis, lattice, Mapping(mesh, lattice, basis.nodes)};
}

inline Discretization make_mapped(const BoxMesh& mesh, const Basis1D& basis,
                                  const std::array<ScalarField, 3>& components) {
  const NodeLattice lattice(mesh, basis.degree);
  return {mesh, basis, lattice, Mapping(mesh, lattice, basis.nodes, components)};
}

/// The box point at reference point xi of a cell; z = 0 in 2D.
inline Eigen::Vector3d box_point(const BoxMesh& mesh, const IndexTriple& cell,
                                 const Eigen::Vector3d& xi) {
  Eigen::Vector3d X = Eigen::Vector3d::Zero();
  for (int d = 0; d < mesh.dimension(); ++d) {
    X[d] = mesh.grid_line(d, cell[d]) + xi[d] * mesh.cell_width(d, cell[d]);
  }
  return X;
}

/// Reference point q of the tensor product of 1D points, x fastest; 0 along unused axes.
inline Eigen::Vector3d reference_point(const std::vector<double>& points, int dimension, int q) {
  const int n = static_cast<int>(points.size());
  Eigen::Vector3d xi = Eigen::Vector3d::Zero();
  for (int d = 0; d < dimension; ++d, q /= n) xi[d] = points[q % n];
  return xi;
}

}  // namespace tessera::testing
