// These tests integrate over faces of straight and curved boxes.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "mesh/element/face_quadrature.hpp"
#include "mesh/geometry/cell_geometry.hpp"
#include "tests/mesh/meshes.hpp"

namespace tessera::testing {
namespace {

double area_of(const FaceQuadrature& face) {
  return std::accumulate(face.measure.begin(), face.measure.end(), 0.0);
}

// The cell of the box that a face cell belongs to.
IndexTriple box_cell(const BoxMesh& mesh, int face, Index face_cell) {
  IndexTriple position{0, 0, 0};
  for (int d = 0; d < mesh.dimension(); ++d) {
    if (d == face / 2) {
      position[d] = face % 2 == 1 ? mesh.cells()[d] - 1 : 0;
      continue;
    }
    position[d] = face_cell % mesh.cells()[d];
    face_cell /= mesh.cells()[d];
  }
  return position;
}

// The box point of point q of a face cell.
Eigen::Vector3d face_box_point(const BoxMesh& mesh, const Basis1D& basis,
                               const FaceQuadrature& face, Index cell, int q) {
  const int n = basis.point_count();
  Eigen::Vector3d xi = Eigen::Vector3d::Zero();
  for (int d = 0; d < mesh.dimension(); ++d) {
    if (d == face.face / 2) {
      xi[d] = face.face % 2;
      continue;
    }
    xi[d] = basis.quadrature.points[q % n];
    q /= n;
  }
  return box_point(mesh, box_cell(mesh, face.face, cell), xi);
}

// Weight of point q on the reference face.
double face_weight(const Basis1D& basis, int dimension, int q) {
  const int n = basis.point_count();
  const double first = basis.quadrature.weights[q % n];
  return dimension == 3 ? first * basis.quadrature.weights[q / n] : first;
}

// The outward normal times the surface element of the map, by Nanson's formula |J| J^-T N.
Eigen::Vector3d scaled_normal(const BoxMesh& mesh, const SmoothMap& map, int face, Index face_cell,
                              const Eigen::Vector3d& X) {
  const IndexTriple cell = box_cell(mesh, face, face_cell);
  Eigen::Vector3d N = Eigen::Vector3d::Zero();
  N[face / 2] = face % 2 == 1 ? 1.0 : -1.0;
  for (int d = 0; d < mesh.dimension(); ++d) {
    if (d != face / 2) N *= mesh.cell_width(d, cell[d]);
  }
  const Eigen::Matrix3d J = map.jacobian_of(mesh.dimension(), X);
  return J.determinant() * J.inverse().transpose() * N;
}

class FaceRules : public ::testing::TestWithParam<TestedBox> {
 protected:
  int dimension_ = std::get<0>(GetParam());
  BoxMesh mesh_ = std::get<1>(GetParam())(dimension_, {3, 4, 2});
  Basis1D basis_ = make_basis(2, NodeFamily::gauss_lobatto, QuadratureRule::gauss, 4);

  template <class F>
  void for_each_face(F&& f) const {
    for (int face = 0; face < face_count(dimension_); ++face) {
      SCOPED_TRACE(::testing::Message() << "face " << kFaceNames[face]);
      f(face);
    }
  }
  std::vector<std::pair<SmoothMap, Discretization>> mapped() const {
    std::vector<std::pair<SmoothMap, Discretization>> all;
    all.emplace_back(identity_map(), make_cartesian(mesh_, basis_));
    for (const SmoothMap& map : {identity_map(), affine_map(), quadratic_map()}) {
      all.emplace_back(map, make_mapped(mesh_, basis_, components_of(map)));
    }
    return all;
  }
};

TEST_P(FaceRules, PositionsAndSurfaceElementsOfMapsInTheSpaceAreExact) {
  for (const auto& [map, discretization] : mapped()) {
    for_each_face([&, &map = map, &discretization = discretization](int face) {
      for (const int threads : {1, 3}) {
        const ThreadsInUse count(threads);
        const FaceQuadrature quadrature = make_face_quadrature(discretization, face);
        ASSERT_EQ(quadrature.face, face);
        ASSERT_EQ(quadrature.dimension, dimension_);
        ASSERT_EQ(quadrature.points_per_cell, power(4, dimension_ - 1));
        ASSERT_EQ(quadrature.cell_count(), mesh_.cell_count() / mesh_.cells()[face / 2]);
        const PointBlock block = quadrature.positions();
        ASSERT_EQ(block.n, static_cast<std::size_t>(quadrature.cell_count()) *
                               static_cast<std::size_t>(quadrature.points_per_cell));
        ASSERT_EQ(quadrature.measure.size(), block.n);
        for (Index cell = 0; cell < quadrature.cell_count(); ++cell) {
          for (int q = 0; q < quadrature.points_per_cell; ++q) {
            const Index at = cell * quadrature.points_per_cell + q;
            const Eigen::Vector3d X = face_box_point(mesh_, basis_, quadrature, cell, q);
            Eigen::Vector3d x = map.position(X);
            if (dimension_ == 2) x[2] = 0.0;
            ASSERT_LT((Eigen::Vector3d(block.x[at], block.y[at], block.z[at]) - x).norm(), 1e-13)
                << map.name;
            const double surface = scaled_normal(mesh_, map, face, cell, X).norm();
            ASSERT_NEAR(quadrature.measure[at], face_weight(basis_, dimension_, q) * surface, 1e-13)
                << map.name;
          }
        }
      }
    });
  }
}

// The integral of x . n over the boundary is the dimension times the volume.
TEST_P(FaceRules, SatisfyTheDivergenceTheorem) {
  for (const auto& [map, discretization] : mapped()) {
    double flux = 0.0;
    Eigen::Vector3d closed = Eigen::Vector3d::Zero();
    for_each_face([&, &map = map, &discretization = discretization](int face) {
      const FaceQuadrature quadrature = make_face_quadrature(discretization, face);
      for (Index cell = 0; cell < quadrature.cell_count(); ++cell) {
        for (int q = 0; q < quadrature.points_per_cell; ++q) {
          const Index at = cell * quadrature.points_per_cell + q;
          const Eigen::Vector3d X = face_box_point(mesh_, basis_, quadrature, cell, q);
          const Eigen::Vector3d n = scaled_normal(mesh_, map, face, cell, X).normalized();
          const Eigen::Vector3d x(quadrature.x[at], quadrature.y[at], quadrature.z[at]);
          flux += quadrature.measure[at] * x.dot(n);
          closed += quadrature.measure[at] * n;
        }
      }
    });
    double volume = 0.0;
    CellGeometry geometry(discretization, basis_);
    for (Index c = 0; c < mesh_.cell_count(); ++c) {
      const IndexTriple cell = mesh_.cell_position(c);
      geometry.evaluate({&cell, 1});
      for (int q = 0; q < geometry.points_per_cell(); ++q) {
        volume += geometry.weights()[q] * geometry.determinant()[q][0];
      }
    }
    EXPECT_GT(volume, 0.1);
    EXPECT_NEAR(flux, dimension_ * volume, 1e-12) << map.name;
    EXPECT_LT(closed.norm(), 1e-12) << map.name;
  }
}

TEST_P(FaceRules, AreasOfABoxAreProductsOfItsEdges) {
  for (const QuadratureRule rule : {QuadratureRule::gauss, QuadratureRule::gauss_lobatto}) {
    const Basis1D basis = make_basis(3, NodeFamily::equidistant, rule, 4);
    const Discretization discretization = make_cartesian(mesh_, basis);
    for_each_face([&](int face) {
      double area = 1.0;
      for (int d = 0; d < dimension_; ++d) {
        if (d != face / 2) area *= mesh_.upper()[d] - mesh_.lower()[d];
      }
      EXPECT_NEAR(area_of(make_face_quadrature(discretization, face)), area, 1e-14);
    });
  }
}

TEST_P(FaceRules, AreasOfAQuarterRingAreThoseOfGeometry) {
  const double depth = dimension_ == 3 ? 1.5 : 1.0;
  const BoxMesh mesh(dimension_, {2, 2, 1}, {1, 0, 0}, {2, std::numbers::pi / 2, 1.5});
  const Basis1D basis = make_basis(8, NodeFamily::gauss_lobatto, QuadratureRule::gauss, 10);
  const Discretization ring =
      make_mapped(mesh, basis,
                  {field_of([](double r, double phi, double) { return r * std::cos(phi); }),
                   field_of([](double r, double phi, double) { return r * std::sin(phi); }),
                   field_of([](double, double, double z) { return z; })});
  const double quarter = std::numbers::pi / 2;
  const std::array<double, 6> areas = {quarter * depth, 2 * quarter * depth, depth,
                                       depth,           1.5 * quarter,       1.5 * quarter};
  for_each_face([&](int face) {
    EXPECT_NEAR(area_of(make_face_quadrature(ring, face)), areas[face], 1e-11);
  });
}

TEST_P(FaceRules, NodesOfFaceCellsAreThoseOfTheLattice) {
  const Discretization discretization = make_cartesian(mesh_, basis_);
  const NodeLattice& lattice = discretization.lattice;
  for_each_face([&](int face) {
    const int normal = face / 2;
    const FaceQuadrature quadrature = make_face_quadrature(discretization, face);
    ASSERT_EQ(quadrature.nodes_per_cell, power(3, dimension_ - 1));
    for (Index cell = 0; cell < quadrature.cell_count(); ++cell) {
      std::vector<Index> indices(static_cast<std::size_t>(quadrature.nodes_per_cell), -1);
      quadrature.cell_nodes(cell, 2, indices.data());
      for (int i = 0; i < quadrature.nodes_per_cell; ++i) {
        IndexTriple expected{0, 0, 0};
        Index rest_cell = cell;
        int rest_node = i;
        for (int d = 0; d < dimension_; ++d) {
          if (d == normal) {
            expected[d] = face % 2 == 1 ? lattice.extents()[d] - 1 : 0;
            continue;
          }
          expected[d] = 2 * (rest_cell % mesh_.cells()[d]) + rest_node % 3;
          rest_cell /= mesh_.cells()[d];
          rest_node /= 3;
        }
        ASSERT_EQ(indices[i], lattice.node_index(expected)) << "cell " << cell << " node " << i;
      }
    }
  });
}

TEST_P(FaceRules, ShapeInterpolatesFromTheNodesOfAFaceCell) {
  for (const auto& [map, discretization] : mapped()) {
    for_each_face([&, &map = map, &discretization = discretization](int face) {
      const FaceQuadrature quadrature = make_face_quadrature(discretization, face);
      const int n = quadrature.nodes_per_cell;
      std::vector<Index> indices(static_cast<std::size_t>(n));
      for (Index cell = 0; cell < quadrature.cell_count(); ++cell) {
        quadrature.cell_nodes(cell, 2, indices.data());
        for (int q = 0; q < quadrature.points_per_cell; ++q) {
          Eigen::Vector3d interpolated = Eigen::Vector3d::Zero();
          double one = 0.0;
          for (int i = 0; i < n; ++i) {
            double node[3];
            discretization.mapping.node_positions(indices[i], 1, node, node + 1, node + 2);
            interpolated += quadrature.shape[q * n + i] * Eigen::Vector3d(node);
            one += quadrature.shape[q * n + i];
          }
          const Index at = cell * quadrature.points_per_cell + q;
          const Eigen::Vector3d x(quadrature.x[at], quadrature.y[at], quadrature.z[at]);
          ASSERT_LT((interpolated - x).norm(), 1e-13) << map.name;
          ASSERT_NEAR(one, 1.0, 1e-13);
        }
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Boxes, FaceRules, tested_boxes(), name_of);

}  // namespace
}  // namespace tessera::testing
