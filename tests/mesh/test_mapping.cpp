// These tests look at the positions of nodes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "mesh/errors.hpp"
#include "mesh/geometry/mapping.hpp"
#include "tests/mesh/meshes.hpp"

namespace tessera::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Positions {
  std::vector<double> x, y, z;
};

// All nodes, `block` at a time, over whatever was there.
Positions positions_of(const Mapping& mapping, Index block) {
  const Index n = mapping.lattice().size();
  const auto size = static_cast<std::size_t>(n);
  Positions result{std::vector<double>(size, kNan), std::vector<double>(size, kNan),
                   std::vector<double>(size, kNan)};
  for (Index first = 0; first < n; first += block) {
    mapping.node_positions(first, std::min(block, n - first), &result.x[first], &result.y[first],
                           &result.z[first]);
  }
  return result;
}

Eigen::Vector3d box_position(const BoxMesh& mesh, const NodeLattice& lattice,
                             const std::vector<double>& nodes, Index node) {
  const IndexTriple position = lattice.node_position(node);
  IndexTriple cell{};
  Eigen::Vector3d xi = Eigen::Vector3d::Zero();
  for (int d = 0; d < mesh.dimension(); ++d) {
    cell[d] = std::min<Index>(position[d] / lattice.degree(), mesh.cells()[d] - 1);
    xi[d] = nodes[position[d] - cell[d] * lattice.degree()];
  }
  return box_point(mesh, cell, xi);
}

class Mappings : public ::testing::TestWithParam<TestedBox> {
 protected:
  int dimension_ = std::get<0>(GetParam());
  BoxMesh mesh_ = std::get<1>(GetParam())(dimension_, {9, 7, 6});
  NodeLattice lattice_{mesh_, 3};
  std::vector<double> nodes_ = make_nodes(NodeFamily::gauss_lobatto, 3);
};

TEST_P(Mappings, CartesianOnesStoreLinesOnly) {
  const Mapping mapping(mesh_, lattice_, nodes_);
  EXPECT_TRUE(mapping.is_cartesian());
  EXPECT_EQ(mapping.has_equal_cells(), mesh_.is_uniform());
  Index on_lines = 0;
  for (int d = 0; d < 3; ++d) {
    const std::vector<double>& line = mapping.line(d);
    ASSERT_EQ(static_cast<Index>(line.size()), lattice_.extents()[d]);
    EXPECT_EQ(line.front(), mesh_.lower()[d]);
    EXPECT_EQ(line.back(), mesh_.upper()[d]);
    on_lines += lattice_.extents()[d];
    if (d >= dimension_) continue;
    for (Index i = 0; i <= mesh_.cells()[d]; ++i) EXPECT_EQ(line[3 * i], mesh_.grid_line(d, i));
  }
  EXPECT_EQ(mapping.bytes(), on_lines * 8);
}

TEST_P(Mappings, NodesLieAtTheMapOfTheirBoxPositions) {
  for (const SmoothMap& map : {identity_map(), affine_map(), quadratic_map()}) {
    for (const int threads : {1, 3}) {
      const ThreadsInUse count(threads);
      const Mapping mapping(mesh_, lattice_, nodes_, components_of(map));
      EXPECT_FALSE(mapping.is_cartesian());
      EXPECT_FALSE(mapping.has_equal_cells());
      const Positions found = positions_of(mapping, lattice_.size());
      for (Index node = 0; node < lattice_.size(); ++node) {
        Eigen::Vector3d expected = map.position(box_position(mesh_, lattice_, nodes_, node));
        if (dimension_ == 2) expected[2] = 0.0;
        const Eigen::Vector3d position(found.x[node], found.y[node], found.z[node]);
        ASSERT_LT((position - expected).norm(), 1e-14) << map.name << " node " << node;
        for (int d = 0; d < dimension_; ++d) {
          ASSERT_EQ(mapping.coordinate(d)[node], position[d]);
        }
      }
      EXPECT_GE(mapping.bytes(), lattice_.size() * dimension_ * 8);
    }
  }
}

TEST_P(Mappings, TheIdentityMapIsTheCartesianMapping) {
  const Positions cartesian = positions_of(Mapping(mesh_, lattice_, nodes_), lattice_.size());
  const Positions mapped = positions_of(
      Mapping(mesh_, lattice_, nodes_, components_of(identity_map())), lattice_.size());
  EXPECT_EQ(cartesian.x, mapped.x);
  EXPECT_EQ(cartesian.y, mapped.y);
  EXPECT_EQ(cartesian.z, mapped.z);
}

TEST_P(Mappings, PositionsDoNotDependOnTheBlocksTheyAreAskedFor) {
  const Mapping cartesian(mesh_, lattice_, nodes_);
  const Mapping mapped(mesh_, lattice_, nodes_, components_of(quadratic_map()));
  for (const Mapping* mapping : {&cartesian, &mapped}) {
    const Positions whole = positions_of(*mapping, lattice_.size());
    for (const Index block : {1, 17, 28, 29, 1000}) {
      const Positions parts = positions_of(*mapping, block);
      EXPECT_EQ(parts.x, whole.x) << block;
      EXPECT_EQ(parts.y, whole.y) << block;
      EXPECT_EQ(parts.z, whole.z) << block;
    }
  }
}

// More nodes than one evaluation block a thread, and two bad nodes.
TEST_P(Mappings, ThatAreNotFiniteNameTheFirstSuchNode) {
  const BoxMesh mesh = general_box(dimension_, {30, 30, 3});
  const NodeLattice lattice(mesh, 3);
  const std::vector<double> nodes = make_nodes(NodeFamily::gauss_lobatto, 3);
  const Index first_bad = lattice.size() / 3;
  const Eigen::Vector3d at = box_position(mesh, lattice, nodes, first_bad);
  const Eigen::Vector3d later = box_position(mesh, lattice, nodes, lattice.size() - 2);
  for (int d = 0; d < dimension_; ++d) {
    for (const double bad : {kNan, kInfinity, -kInfinity}) {
      std::array<ScalarField, 3> components = components_of(affine_map());
      components[d] = field_of([=](double x, double y, double z) {
        const Eigen::Vector3d point(x, y, z);
        return (point - at).norm() < 1e-9 || (point - later).norm() < 1e-9 ? bad : 1.0;
      });
      for (const int threads : {1, 2, 3}) {
        const ThreadsInUse count(threads);
        try {
          const Mapping mapping(mesh, lattice, nodes, components);
          FAIL() << "accepted " << bad << " as component " << d;
        } catch (const BadFieldValue& error) {
          const Eigen::Vector3d where(error.where()[0], error.where()[1], error.where()[2]);
          EXPECT_LT((where - at).norm(), 1e-12);
          if (std::isnan(bad)) {
            EXPECT_TRUE(std::isnan(error.value()));
          } else {
            EXPECT_EQ(error.value(), bad);
          }
          const std::string component = std::string("component ") + "xyz"[d];
          EXPECT_NE(std::string(error.what()).find(component), std::string::npos) << error.what();
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Boxes, Mappings, tested_boxes(), name_of);

}  // namespace
}  // namespace tessera::testing
