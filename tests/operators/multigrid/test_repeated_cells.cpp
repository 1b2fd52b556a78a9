// These tests say which prolongations are one cell's matrix again and again.
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>

#include "operators/multigrid/repeated_cells.hpp"
#include "tests/operators/multigrid/transfer_pairs.hpp"

namespace tessera::testing {
namespace {

std::string name_of(const Pair& pair) {
  return std::to_string(pair.fine.basis.degree) + " -> " +
         std::to_string(pair.coarse.basis.degree) + ", " +
         std::to_string(pair.fine.lattice.size()) + " nodes";
}

// Entry (row, column) of the matrix that repeats this cell's.
double repeated_entry(const RepeatedCells& cells, int d, Index row, Index column) {
  const int p = cells.p;
  const Index cell = row / (2 * p);
  const Index k = column - cell * p;
  if (k < 0 || k > p) return 0.0;
  if (column == 0 && cells.masked[2 * d]) return 0.0;
  if (column == cells.cells[d] * p && cells.masked[2 * d + 1]) return 0.0;
  return cells.entries[(row - cell * 2 * p) * (p + 1) + k];
}

double entry_of(const AxisMatrix& matrix, Index row, Index column) {
  const Index k = column - matrix.first[row];
  return k >= 0 && k < matrix.width ? matrix.entries[row * matrix.width + k] : 0.0;
}

TEST(RepeatedCells, AreFoundInPairsOfEqualCells) {
  for (const Pair& pair : pairs_of_equal_cells()) {
    for (const FaceSet dirichlet : {FaceSet{}, FaceSet{0b001001}, FaceSet{0b111111}}) {
      SCOPED_TRACE(name_of(pair));
      const std::array<AxisMatrix, 3> axes = factors(pair, dirichlet);
      const std::optional<RepeatedCells> cells = repeated_cells(axes);
      ASSERT_TRUE(cells);
      EXPECT_EQ(cells->p, pair.coarse.basis.degree);
      EXPECT_EQ(cells->masked, dirichlet);
      for (int d = 0; d < 3; ++d) {
        ASSERT_EQ(cells->cells[d], pair.coarse.mesh.cells()[d]);
        for (Index row = 0; row < axes[d].rows; ++row) {
          for (Index column = 0; column < axes[d].columns; ++column) {
            ASSERT_EQ(repeated_entry(*cells, d, row, column), entry_of(axes[d], row, column));
          }
        }
      }
      for (int r = 0; r < 2 * cells->p; ++r) {
        const int node = coarser_node(cells->p, r);
        if (node < 0) continue;
        EXPECT_EQ(cells->entries[r * (cells->p + 1) + node], 1.0);
      }
    }
  }
}

TEST(RepeatedCells, AreNotThereWhereAnEntryIsAnother) {
  const std::array<AxisMatrix, 3> axes = factors(pairs_of_equal_cells().front(), FaceSet{});
  for (std::size_t d = 0; d < 3; ++d) {
    for (const std::size_t entry : {std::size_t{0}, axes[d].entries.size() / 2}) {
      std::array<AxisMatrix, 3> others = axes;
      others[d].entries[entry] += 0.125;
      EXPECT_FALSE(repeated_cells(others)) << d << " " << entry;
    }
  }
}

TEST(RepeatedCells, AreNotThereWithGradedOrOddCellsOrCoarserDegreesOfOddOnes) {
  ProblemOptions options;
  options.degree = 2;
  options.cells = {8, 8, 8};
  const auto has_cells = [&](const LevelShape& shape) {
    const Problem problem = make_problem(options);
    const Discretization& fine = *problem.discretization;
    return repeated_cells(factors({fine, coarsen(fine, shape)}, FaceSet{})).has_value();
  };
  EXPECT_TRUE(has_cells({2, {4, 4, 4}}));
  EXPECT_TRUE(has_cells({1, {8, 8, 8}}));
  EXPECT_FALSE(has_cells({2, {4, 4, 8}}));
  options.geometry = Geometry::graded;
  EXPECT_FALSE(has_cells({2, {4, 4, 4}}));
  options.geometry = Geometry::cartesian;
  options.cells = {8, 7, 8};
  EXPECT_FALSE(has_cells({2, {4, 4, 4}}));
  options.cells = {8, 8, 8};
  options.degree = 3;
  EXPECT_FALSE(has_cells({1, {8, 8, 8}}));
}

}  // namespace
}  // namespace tessera::testing
