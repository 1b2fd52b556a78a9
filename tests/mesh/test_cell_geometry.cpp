// These tests compare positions and Jacobians with those of known maps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "mesh/geometry/cell_geometry.hpp"
#include "tests/mesh/meshes.hpp"

namespace tessera::testing {
namespace {

// Calls f(first cells of a batch, the cell of each lane) until every cell was in a batch.
template <class F>
void for_each_group(const BoxMesh& mesh, int size, F&& f) {
  for (Index first = 0; first < mesh.cell_count(); first += size) {
    std::vector<IndexTriple> cells;
    for (Index c = first; c < std::min<Index>(first + size, mesh.cell_count()); ++c) {
      cells.push_back(mesh.cell_position(c));
    }
    f(cells);
  }
}

void expect_geometry(const Discretization& discretization, const Basis1D& basis,
                     const SmoothMap& map) {
  const BoxMesh& mesh = discretization.mesh;
  const int dimension = mesh.dimension();
  CellGeometry geometry(discretization, basis);
  // Fewer cells than lanes, so that some groups repeat their last cell.
  for (const int size : {1, kLanes<double> - 1, kLanes<double>}) {
    for_each_group(mesh, size, [&](const std::vector<IndexTriple>& cells) {
      geometry.evaluate(cells);
      for (int q = 0; q < geometry.points_per_cell(); ++q) {
        const Eigen::Vector3d xi = reference_point(basis.quadrature.points, dimension, q);
        for (int lane = 0; lane < kLanes<double>; ++lane) {
          const IndexTriple& cell = cells[std::min<std::size_t>(lane, cells.size() - 1)];
          const Eigen::Vector3d X = box_point(mesh, cell, xi);
          const Eigen::Vector3d x = map.position(X);
          Eigen::Matrix3d J = map.jacobian_of(dimension, X);
          for (int b = 0; b < dimension; ++b) J.col(b) *= mesh.cell_width(b, cell[b]);
          for (int a = 0; a < dimension; ++a) {
            ASSERT_NEAR(geometry.position(a)[q][lane], x[a], 1e-13);
            for (int b = 0; b < dimension; ++b) {
              ASSERT_NEAR(geometry.jacobian(a, b)[q][lane], J(a, b), 1e-12) << a << b;
            }
          }
          if (dimension == 2) {
            ASSERT_EQ(geometry.position(2)[q][lane], 0.0);
          }
          ASSERT_NEAR(geometry.determinant()[q][lane], J.determinant(), 1e-12);
        }
      }
    });
  }
}

class Geometries : public ::testing::TestWithParam<TestedBox> {
 protected:
  int dimension_ = std::get<0>(GetParam());
  BoxMesh mesh_ = std::get<1>(GetParam())(dimension_, {3, 4, 2});
};

TEST_P(Geometries, OfMapsInTheSpaceAreExact) {
  for (const NodeFamily family : {NodeFamily::gauss_lobatto, NodeFamily::equidistant}) {
    for (const int p : {1, 2, 3, 6}) {
      const Basis1D basis = make_basis(p, family, QuadratureRule::gauss, p + 1);
      for (const SmoothMap& map : {identity_map(), affine_map(), quadratic_map()}) {
        if (map.name == "quadratic" && p < 2) continue;
        SCOPED_TRACE(::testing::Message() << map.name << " map, p = " << p);
        expect_geometry(make_mapped(mesh_, basis, components_of(map)), basis, map);
      }
      expect_geometry(make_cartesian(mesh_, basis), basis, identity_map());
    }
  }
}

TEST_P(Geometries, CanHaveAnotherQuadratureThanTheDiscretization) {
  const Basis1D basis = make_basis(2, NodeFamily::gauss_lobatto, QuadratureRule::gauss, 3);
  for (const QuadratureRule rule : {QuadratureRule::gauss, QuadratureRule::gauss_lobatto}) {
    const Basis1D finer = make_basis(2, NodeFamily::gauss_lobatto, rule, 6);
    expect_geometry(make_mapped(mesh_, basis, components_of(quadratic_map())), finer,
                    quadratic_map());
    expect_geometry(make_cartesian(mesh_, basis), finer, identity_map());
  }
}

double volume_of(const Discretization& discretization, const Basis1D& basis) {
  CellGeometry geometry(discretization, basis);
  double volume = 0.0;
  for (Index c = 0; c < discretization.mesh.cell_count(); ++c) {
    const IndexTriple cell = discretization.mesh.cell_position(c);
    geometry.evaluate({&cell, 1});
    for (int q = 0; q < geometry.points_per_cell(); ++q) {
      volume += geometry.weights()[q] * geometry.determinant()[q][0];
    }
  }
  return volume;
}

double volume_of(const Discretization& discretization) {
  return volume_of(discretization, discretization.basis);
}

TEST_P(Geometries, SumUpToTheVolume) {
  double box = 1.0;
  for (int d = 0; d < dimension_; ++d) box *= mesh_.upper()[d] - mesh_.lower()[d];
  for (const int p : {1, 2, 4}) {
    for (const QuadratureRule rule : {QuadratureRule::gauss, QuadratureRule::gauss_lobatto}) {
      const Basis1D basis = make_basis(p, NodeFamily::gauss_lobatto, rule, p + 1);
      EXPECT_NEAR(volume_of(make_cartesian(mesh_, basis)), box, 1e-13 * box);
      const double stretch = affine_map().jacobian_of(dimension_, {0, 0, 0}).determinant();
      EXPECT_NEAR(volume_of(make_mapped(mesh_, basis, components_of(affine_map()))), stretch * box,
                  1e-13 * stretch * box);
    }
  }
}

// Quarter ring 1 < r < 2, times [0, 1.5] in 3D: the error falls as fast as the degree promises.
TEST_P(Geometries, OfDegreePApproachACurvedDomain) {
  const double depth = 1.5;
  const BoxMesh mesh(dimension_, {2, 2, 1}, {1, 0, 0}, {2, std::numbers::pi / 2, depth});
  const std::array<ScalarField, 3> ring = {
      field_of([](double r, double phi, double) { return r * std::cos(phi); }),
      field_of([](double r, double phi, double) { return r * std::sin(phi); }),
      field_of([](double, double, double z) { return z; })};
  const double exact = 0.75 * std::numbers::pi * (dimension_ == 3 ? depth : 1.0);
  const auto error = [&](int p) {
    const Basis1D basis = make_basis(p, NodeFamily::gauss_lobatto, QuadratureRule::gauss, p + 2);
    return std::abs(volume_of(make_mapped(mesh, basis, ring)) - exact) / exact;
  };
  // Two chords an arc: the polygon has sin(phi) / phi of the sector, phi = pi / 4.
  EXPECT_NEAR(error(1), 1.0 - std::sin(std::numbers::pi / 4) / (std::numbers::pi / 4), 1e-12);
  EXPECT_LT(error(2), 2e-3);
  EXPECT_LT(error(3), 1e-4);
  EXPECT_LT(error(5), 1e-7);
  EXPECT_LT(error(8), 1e-12);
}

TEST_P(Geometries, PositionsAreOneBlockOfAllPointsAndLanes) {
  const Basis1D basis = make_basis(2, NodeFamily::gauss_lobatto, QuadratureRule::gauss, 3);
  const Discretization discretization = make_mapped(mesh_, basis, components_of(quadratic_map()));
  CellGeometry geometry(discretization, basis);
  const std::vector<IndexTriple> cells = {{1, 2, 0}, {2, 0, 0}};
  geometry.evaluate(cells);
  const PointBlock block = geometry.positions();
  ASSERT_EQ(block.n, static_cast<std::size_t>(geometry.points_per_cell() * kLanes<double>));
  for (int q = 0; q < geometry.points_per_cell(); ++q) {
    for (int lane = 0; lane < kLanes<double>; ++lane) {
      const int at = q * kLanes<double> + lane;
      EXPECT_EQ(block.x[at], geometry.position(0)[q][lane]);
      EXPECT_EQ(block.y[at], geometry.position(1)[q][lane]);
      EXPECT_EQ(block.z[at], geometry.position(2)[q][lane]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Boxes, Geometries, tested_boxes(), name_of);

}  // namespace
}  // namespace tessera::testing
