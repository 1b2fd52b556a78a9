// These tests hold mapped spaces that are made on the GPU to the host's.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "mesh/coarsening.hpp"
#include "mesh/field/program_field.hpp"
#include "mesh/geometry/cell_geometry.hpp"
#include "mesh/geometry/natural_frame.hpp"
#include "operators/cells/fields/device_map.hpp"
#include "operators/cells/fields/device_nodes.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/problems.hpp"
#include "tests/operators/test_names.hpp"

namespace tessera::testing {
namespace {

// shift + scale (x_d + bend sin(2 (x + 0.7 y - 0.4 z) + d))
ScalarField component(int d, double shift, double scale, double bend) {
  const auto axis = static_cast<Operand>(static_cast<int>(Operand::x) + d);
  return program_field({{{Operation::push, Operand::z, 0.0},
                         {Operation::multiply, Operand::constant, -0.4},
                         {Operation::push, Operand::y, 0.0},
                         {Operation::multiply, Operand::constant, 0.7},
                         {Operation::add, Operand::stack, 0.0},
                         {Operation::add, Operand::x, 0.0},
                         {Operation::multiply, Operand::constant, 2.0},
                         {Operation::add, Operand::constant, static_cast<double>(d)},
                         {Operation::sin, Operand::stack, 0.0},
                         {Operation::multiply, Operand::constant, bend},
                         {Operation::add, axis, 0.0},
                         {Operation::multiply, Operand::constant, scale},
                         {Operation::add, Operand::constant, shift}},
                        2});
}

std::array<ScalarField, 3> bent(double shift, double scale, double bend = 0.07) {
  return {component(0, shift, scale, bend), component(1, -shift, scale, bend),
          component(2, 0.0, scale, bend)};
}

BoxMesh box(int dimension) {
  return {dimension, {6, 5, 4}, {-0.5, 0.25, 0.0}, {1.0, 1.35, dimension == 2 ? 0.0 : 0.8}};
}

Discretization of_host(const BoxMesh& mesh, const Basis1D& basis,
                       const std::array<ScalarField, 3>& map) {
  const Discretization physical = make_mapped_discretization(mesh, basis, map);
  check_digits(physical);
  return to_frame(physical, natural_frame(physical));
}

void expect_equal_positions(const Discretization& a, const Discretization& b) {
  ASSERT_EQ(a.lattice.size(), b.lattice.size());
  for (int d = 0; d < a.mesh.dimension(); ++d) {
    double largest = 0.0;
    for (Index i = 0; i < a.lattice.size(); ++i) {
      largest =
          std::max(largest, std::abs(a.mapping.coordinate(d)[i] - b.mapping.coordinate(d)[i]));
    }
    EXPECT_LT(largest, 1e-13) << "axis " << d;
  }
}

class DeviceMap : public ::testing::TestWithParam<DimensionAndDegree> {
 protected:
  void SetUp() override { TESSERA_REQUIRE_DEVICE(); }
  int dimension() const { return std::get<0>(GetParam()); }
  Basis1D basis() const {
    const int degree = std::get<1>(GetParam());
    return make_basis(degree, NodeFamily::gauss_lobatto, QuadratureRule::gauss, degree + 1);
  }
};

TEST_P(DeviceMap, PlacesNodesAsTheHost) {
  for (const double scale : {1.0, 300.0, 1e-9}) {
    for (const double shift : {0.0, 40.0}) {
      SCOPED_TRACE(::testing::Message() << "scale " << scale << ", shift " << shift);
      const auto map = bent(shift * scale, scale);
      const Discretization expected = of_host(box(dimension()), basis(), map);
      const auto made = make_mapped_on_device(box(dimension()), basis(), map);
      ASSERT_TRUE(made.has_value());
      EXPECT_EQ(made->frame.length, expected.frame.length);
      for (int d = 0; d < dimension(); ++d) {
        EXPECT_NEAR(made->frame.origin[d], expected.frame.origin[d],
                    1e-14 * std::abs(expected.frame.origin[d]));
        EXPECT_EQ(made->mesh.lower()[d], expected.mesh.lower()[d]);
        EXPECT_EQ(made->mesh.upper()[d], expected.mesh.upper()[d]);
      }
      if (shift == 0.0) expect_equal_positions(*made, expected);
    }
  }
}

TEST_P(DeviceMap, GivesTheHostAFewNodesWithoutACopyOfAll) {
  const auto made = make_mapped_on_device(box(dimension()), basis(), bent(0.0, 1.0));
  ASSERT_TRUE(made.has_value());
  const Mapping& mapping = made->mapping;
  std::vector<Index> nodes = {0, made->lattice.size() / 2, made->lattice.size() - 1};
  std::array<std::vector<double>, 3> x;
  for (auto& coordinate : x) coordinate.assign(nodes.size(), NAN);
  mapping.node_positions(nodes, x[0].data(), x[1].data(), x[2].data());
  std::array<double, 3> last{};
  mapping.node_positions(nodes[2], 1, &last[0], &last[1], &last[2]);
  CellGeometry few(*made, made->basis, nullptr, AskedCells::few);
  const IndexTriple cell{3, 1, 0};
  few.evaluate({&cell, 1});
  EXPECT_FALSE(mapping.positions()->are_on_host());
  CellGeometry all(*made, made->basis);
  all.evaluate({&cell, 1});
  EXPECT_TRUE(mapping.positions()->are_on_host());
  for (int d = 0; d < 3; ++d) {
    EXPECT_EQ(x[d][2], last[d]);
    for (std::size_t i = 0; i < nodes.size() && d < dimension(); ++i) {
      EXPECT_NEAR(x[d][i], mapping.coordinate(d)[nodes[i]], 1e-14);
    }
  }
  if (dimension() == 2) {
    EXPECT_EQ(x[2][1], 0.0);
  }
  for (int q = 0; q < all.points_per_cell(); ++q) {
    EXPECT_NEAR(few.determinant()[q][0], all.determinant()[q][0], 1e-13);
  }
}

TEST_P(DeviceMap, IsCoarsenedThere) {
  const Discretization expected = of_host(box(dimension()), basis(), bent(0.0, 1.0));
  const auto made = make_mapped_on_device(box(dimension()), basis(), bent(0.0, 1.0));
  ASSERT_TRUE(made.has_value());
  const LevelShape half{std::get<1>(GetParam()), {3, 3, dimension() == 2 ? 1 : 2}};
  const LevelShape linear{1, half.cells};
  const Discretization coarse = coarsen(*made, half);
  const Discretization coarsest = coarsen(coarse, linear);
  EXPECT_FALSE(made->mapping.positions()->are_on_host());
  EXPECT_FALSE(coarse.mapping.positions()->are_on_host());
  const Discretization expected_coarse = coarsen(expected, half);
  expect_equal_positions(coarse, expected_coarse);
  expect_equal_positions(coarsest, coarsen(expected_coarse, linear));
}

TEST_P(DeviceMap, LeavesToTheHostWhatItCannotDo) {
  const auto is_made = [&](int d, const ScalarField& field) {
    auto map = bent(0.0, 1.0);
    map[d] = field;
    return make_mapped_on_device(box(dimension()), basis(), map).has_value();
  };
  // sqrt(0.9 - x) is not a number at the right end; 1 / (x + 0.5) is infinite at the left.
  const ScalarField root = program_field({{{Operation::push, Operand::x, 0.0},
                                           {Operation::reversed_subtract, Operand::constant, 0.9},
                                           {Operation::sqrt, Operand::stack, 0.0}},
                                          1});
  const ScalarField pole = program_field({{{Operation::push, Operand::x, 0.0},
                                           {Operation::add, Operand::constant, 0.5},
                                           {Operation::reversed_divide, Operand::constant, 1.0}},
                                          1});
  // Far away edges have too few digits.
  EXPECT_TRUE(is_made(0, component(0, 0.0, 1.0, 0.07)));
  EXPECT_FALSE(is_made(0, root));
  EXPECT_FALSE(is_made(1, pole));
  EXPECT_FALSE(is_made(0, component(0, 1e12, 1.0, 0.07)));
  EXPECT_FALSE(is_made(1, field_of([](double, double y, double) { return y; })));
}

INSTANTIATE_TEST_SUITE_P(Degrees, DeviceMap,
                         ::testing::Combine(::testing::Values(2, 3), ::testing::Values(1, 2, 4, 7)),
                         name_of);

}  // namespace
}  // namespace tessera::testing
