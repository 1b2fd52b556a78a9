// These tests look at planned levels and at coarser spaces.
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "mesh/coarsening.hpp"
#include "tests/mesh/meshes.hpp"

namespace tessera {

// Prints in messages of failed tests.
void PrintTo(const LevelShape& shape, std::ostream* out) {
  *out << "degree " << shape.degree << " cells " << shape.cells[0] << " x " << shape.cells[1]
       << " x " << shape.cells[2];
}

}  // namespace tessera

namespace tessera::testing {
namespace {

using Shapes = std::vector<LevelShape>;

Shapes planned(int degree, const IndexTriple& cells, int dimension, const Point& widths,
               const CoarseningRules& rules) {
  return plan_levels({degree, cells}, dimension, widths, rules);
}

CoarseningRules all_the_way(CoarseningOrder order) { return {order, 1, 64}; }

TEST(PlannedLevels, HalveTheDegreeFirst) {
  const Shapes expected = {{5, {7, 4, 3}}, {2, {7, 4, 3}}, {1, {7, 4, 3}},
                           {1, {4, 2, 2}}, {1, {2, 1, 1}}, {1, {1, 1, 1}}};
  EXPECT_EQ(planned(5, {7, 4, 3}, 3, {1, 1, 1}, all_the_way(CoarseningOrder::degree_first)),
            expected);
}

TEST(PlannedLevels, HalveTheCellsFirst) {
  const Shapes expected = {{5, {7, 4, 3}}, {5, {4, 2, 2}}, {5, {2, 1, 1}},
                           {5, {1, 1, 1}}, {2, {1, 1, 1}}, {1, {1, 1, 1}}};
  EXPECT_EQ(planned(5, {7, 4, 3}, 3, {1, 1, 1}, all_the_way(CoarseningOrder::cells_first)),
            expected);
}

TEST(PlannedLevels, LookAtTwoAxesIn2D) {
  const Shapes expected = {
      {2, {6, 5, 1}}, {1, {6, 5, 1}}, {1, {3, 3, 1}}, {1, {2, 2, 1}}, {1, {1, 1, 1}}};
  EXPECT_EQ(planned(2, {6, 5, 1}, 2, {1, 1, 0}, all_the_way(CoarseningOrder::degree_first)),
            expected);
}

// Their grid lines would be stored only to say what a case needs.
TEST(PlannedLevels, DoNotHalveAnOddNumberThatNoMemoryHolds) {
  const CoarseningRules rules = all_the_way(CoarseningOrder::cells_first);
  const Index even = Index{1} << 27;
  EXPECT_EQ(planned(1, {even, 1, 1}, 2, {1, 1, 0}, rules).size(), 28U);
  EXPECT_EQ(planned(1, {even + 1, 1, 1}, 2, {1, 1, 0}, rules), Shapes({{1, {even + 1, 1, 1}}}));
}

// Cells 20 times as wide along x: y and z are halved alone until the cells are nearly alike, then
// the degree is; once more alone, since they are then still shorter.
TEST(PlannedLevels, SemiCoarsenLongCells) {
  const Shapes expected = {{2, {8, 64, 64}}, {2, {8, 32, 32}}, {2, {8, 16, 16}},
                           {2, {8, 8, 8}},   {1, {8, 8, 8}},   {1, {8, 4, 4}},
                           {1, {4, 2, 2}},   {1, {2, 1, 1}},   {1, {1, 1, 1}}};
  EXPECT_EQ(planned(2, {8, 64, 64}, 3, {20, 1, 1}, all_the_way(CoarseningOrder::degree_first)),
            expected);
}

TEST(PlannedLevels, SemiCoarsenLayersAlongOneAxis) {
  const Shapes expected = {{1, {16, 16, 16}}, {1, {16, 16, 8}}, {1, {16, 16, 4}},
                           {1, {16, 16, 2}},  {1, {16, 16, 1}}, {1, {8, 8, 1}},
                           {1, {4, 4, 1}},    {1, {2, 2, 1}},   {1, {1, 1, 1}}};
  for (const CoarseningOrder order :
       {CoarseningOrder::degree_first, CoarseningOrder::cells_first}) {
    EXPECT_EQ(planned(1, {16, 16, 16}, 3, {20, 20, 1}, all_the_way(order)), expected);
  }
}

TEST(PlannedLevels, EndWhereALevelIsSmallOrThereAreEnough) {
  const CoarseningOrder order = CoarseningOrder::degree_first;
  const LevelShape finest{2, {8, 8, 8}};
  ASSERT_EQ(node_count(finest, 3), 17 * 17 * 17);
  EXPECT_EQ(node_count(finest, 2), 17 * 17);
  EXPECT_EQ(plan_levels(finest, 3, {1, 1, 1}, {order, 17 * 17 * 17, 64}).size(), 1U);
  EXPECT_EQ(plan_levels(finest, 3, {1, 1, 1}, {order, 17 * 17 * 17 - 1, 64}).size(), 2U);
  EXPECT_EQ(plan_levels(finest, 3, {1, 1, 1}, {order, 9 * 9 * 9, 64}).size(), 2U);
  EXPECT_EQ(plan_levels(finest, 3, {1, 1, 1}, {order, 9 * 9 * 9 - 1, 64}).size(), 3U);
  for (const int most : {1, 2, 3}) {
    EXPECT_EQ(plan_levels(finest, 3, {1, 1, 1}, {order, 1, most}).size(),
              static_cast<std::size_t>(most));
  }
}

TEST(MeanCellWidths, AreThoseOfTheMapsEdges) {
  const IndexTriple cells = {20, 3, 5};
  const BoxMesh box = general_box(3, cells);
  const Point widths = mean_cell_widths(box);
  for (int d = 0; d < 3; ++d) EXPECT_NEAR(widths[d], box.cell_width(d, 0), 1e-14);
  // Columns of the map's matrix are how long edges become.
  const SmoothMap map = affine_map();
  const Eigen::Matrix3d J = map.jacobian(Eigen::Vector3d::Zero());
  const Basis1D basis = make_basis(3, NodeFamily::gauss_lobatto, QuadratureRule::gauss, 4);
  const Point mapped = mean_cell_widths(make_mapped(box, basis, components_of(map)));
  const Point foreseen = mean_cell_widths(box, components_of(map));
  for (int d = 0; d < 3; ++d) {
    EXPECT_NEAR(mapped[d], J.col(d).norm() * box.cell_width(d, 0), 1e-13);
    EXPECT_NEAR(foreseen[d], mapped[d], 1e-13);
  }
}

TEST(MeanCellWidths, OfGradedLinesAreGeometricMeans) {
  const BoxMesh mesh(2, {4, 2, 1}, {0, 0, 0}, {15, 1, 0}, {GridLines{0, 1, 3, 7, 15}});
  EXPECT_NEAR(mean_cell_widths(mesh)[0], std::pow(2.0, 1.5), 1e-14);
  EXPECT_NEAR(mean_cell_widths(mesh)[1], 0.5, 1e-14);
}

TEST(MergedCells, TakeEverySecondLineAndTheLast) {
  for (const int dimension : {2, 3}) {
    for (auto* const box : {general_box, graded_box}) {
      const IndexTriple cells = {7, 4, dimension == 3 ? 1 : 1};
      const BoxMesh fine = box(dimension, cells);
      const BoxMesh coarse = merge_cells(fine, {4, 2, 1});
      EXPECT_EQ(coarse.dimension(), dimension);
      EXPECT_EQ(coarse.cells(), (IndexTriple{4, 2, 1}));
      EXPECT_EQ(coarse.lower(), fine.lower());
      EXPECT_EQ(coarse.upper(), fine.upper());
      for (Index c = 0; c <= 4; ++c) {
        EXPECT_NEAR(coarse.grid_line(0, c), fine.grid_line(0, std::min<Index>(2 * c, 7)), 1e-15);
      }
      for (Index c = 0; c <= 2; ++c) {
        EXPECT_NEAR(coarse.grid_line(1, c), fine.grid_line(1, 2 * c), 1e-15);
      }
      EXPECT_FALSE(coarse.is_uniform(0));
      EXPECT_EQ(coarse.is_uniform(1), box == general_box);
    }
  }
}

TEST(MergedCells, AreKeptAlongTheOtherAxes) {
  for (auto* const box : {general_box, graded_box}) {
    const BoxMesh fine = box(3, {7, 4, 5});
    const BoxMesh coarse = merge_cells(fine, {7, 4, 3});
    for (const int d : {0, 1}) {
      EXPECT_EQ(coarse.is_uniform(d), fine.is_uniform(d));
      for (Index c = 0; c <= fine.cells()[d]; ++c) {
        EXPECT_EQ(coarse.grid_line(d, c), fine.grid_line(d, c));
      }
    }
  }
}

TEST(MergedCells, RefuseOtherCounts) {
  const BoxMesh fine = general_box(3, {7, 4, 5});
  for (const IndexTriple& cells :
       {IndexTriple{3, 4, 5}, IndexTriple{7, 3, 5}, IndexTriple{7, 4, 2}, IndexTriple{14, 4, 5},
        IndexTriple{2, 4, 5}, IndexTriple{7, 1, 5}}) {
    EXPECT_THROW(merge_cells(fine, cells), std::invalid_argument);
    EXPECT_THROW(coarsen(make_cartesian(fine, make_basis(1, NodeFamily::equidistant,
                                                         QuadratureRule::gauss, 2)),
                         {1, cells}),
                 std::invalid_argument);
  }
  EXPECT_NO_THROW(merge_cells(fine, {4, 2, 3}));
}

Point position_of(const Discretization& space, const IndexTriple& node) {
  Point point{};
  space.mapping.node_positions(space.lattice.node_index(node), 1, point.data(), point.data() + 1,
                               point.data() + 2);
  return point;
}

template <class F>
void for_each_node(const NodeLattice& lattice, F&& f) {
  for (Index node = 0; node < lattice.size(); ++node) f(lattice.node_position(node));
}

TEST(CoarserSpaces, KeepFamilyRuleAndPointsBeyondTheNodes) {
  for (const int points : {5, 6}) {
    const Basis1D basis =
        make_basis(4, NodeFamily::equidistant, QuadratureRule::gauss_lobatto, points);
    const Discretization fine = make_cartesian(graded_box(3, {4, 3, 2}), basis);
    const Discretization coarse = coarsen(fine, {2, {4, 3, 2}});
    EXPECT_EQ(coarse.basis.degree, 2);
    EXPECT_EQ(coarse.basis.point_count(), points - 2);
    EXPECT_EQ(coarse.basis.family, NodeFamily::equidistant);
    EXPECT_EQ(coarse.basis.rule, QuadratureRule::gauss_lobatto);
    EXPECT_TRUE(coarse.mapping.is_cartesian());
    EXPECT_EQ(coarse.lattice.size(), 9 * 7 * 5);
  }
}

// Of degree 1 every node of the coarser mesh is one of the finer.
TEST(CoarserSpaces, OfMergedCellsHaveExactlyTheFinerNodes) {
  for (const int dimension : {2, 3}) {
    for (auto* const box : {general_box, graded_box}) {
      const Basis1D basis = make_basis(1, NodeFamily::gauss_lobatto, QuadratureRule::gauss, 2);
      const Discretization fine = make_mapped(box(dimension, {7, 4, dimension == 3 ? 3 : 1}), basis,
                                              components_of(quadratic_map()));
      const Discretization coarse = coarsen(fine, {1, {4, 2, dimension == 3 ? 2 : 1}});
      for_each_node(coarse.lattice, [&](const IndexTriple& node) {
        IndexTriple finer{};
        for (int d = 0; d < dimension; ++d) {
          finer[d] = std::min(2 * node[d], fine.lattice.extents()[d] - 1);
        }
        EXPECT_EQ(position_of(coarse, node), position_of(fine, finer));
      });
    }
  }
}

// The finer map is of degree 2, so that it is the smooth map itself; nodes of coarser spaces of any
// degree lie on it, whose box positions are theirs.
TEST(CoarserSpaces, HaveTheirNodesOnTheFinerMap) {
  for (const int dimension : {2, 3}) {
    for (auto* const box : {general_box, graded_box}) {
      for (const int degree : {2, 5}) {
        const SmoothMap map = quadratic_map();
        const Basis1D basis =
            make_basis(degree, NodeFamily::gauss_lobatto, QuadratureRule::gauss, degree + 1);
        const IndexTriple cells = {5, 4, dimension == 3 ? 3 : 1};
        const Discretization fine = make_mapped(box(dimension, cells), basis, components_of(map));
        for (const LevelShape& shape :
             {LevelShape{degree / 2, cells}, LevelShape{degree, {3, 2, dimension == 3 ? 2 : 1}},
              LevelShape{degree, {5, 2, cells[2]}}}) {
          const Discretization coarse = coarsen(fine, shape);
          ASSERT_FALSE(coarse.mapping.is_cartesian());
          const Discretization box_of = make_cartesian(coarse.mesh, coarse.basis);
          for_each_node(coarse.lattice, [&](const IndexTriple& node) {
            const Point at = position_of(box_of, node);
            const Eigen::Vector3d expected = map.position({at[0], at[1], at[2]});
            const Point found = position_of(coarse, node);
            for (int d = 0; d < dimension; ++d) EXPECT_NEAR(found[d], expected[d], 1e-13);
          });
        }
      }
    }
  }
}

}  // namespace
}  // namespace tessera::testing
