// These tests check that bricks and batches hold every cell once.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "mesh/lanes/cell_batches.hpp"
#include "mesh/lanes/padded_cells.hpp"
#include "tests/mesh/meshes.hpp"

namespace tessera::testing {
namespace {

struct Shape {
  int dimension;
  IndexTriple cells;
  Index bytes_per_cell;  // large: small bricks
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {
      {2, {1, 1, 1}, 100},    {2, {7, 5, 1}, 100},     {2, {40, 33, 1}, 20000},
      {2, {3, 200, 1}, 400},  {2, {300, 1, 1}, 400},   {2, {65, 64, 1}, 9'000'000},
      {3, {1, 1, 1}, 100},    {3, {9, 5, 4}, 100},     {3, {20, 9, 7}, 20000},
      {3, {17, 6, 5}, 60000}, {3, {1, 4, 25}, 500000}, {3, {35, 2, 2}, 500000},
      {3, {33, 16, 15}, 1}};
  return all;
}

template <class F>
void for_each_division(F&& check) {
  for (const Shape& shape : shapes()) {
    const BoxMesh mesh = general_box(shape.dimension, shape.cells);
    for (const int threads : {1, 2, 3, 16}) {
      for (const int lanes : {1, 2, 3, 8, kMaxLanes}) {
        SCOPED_TRACE(::testing::Message()
                     << shape.dimension << "D cells " << shape.cells[0] << "x" << shape.cells[1]
                     << "x" << shape.cells[2] << ", " << threads << " threads, " << lanes
                     << " lanes, " << shape.bytes_per_cell << " bytes a cell");
        check(mesh, CellBatches(mesh, lanes, shape.bytes_per_cell, threads));
      }
    }
  }
}

TEST(CellBatchesOfABox, VisitEveryCellOnce) {
  for_each_division([](const BoxMesh& mesh, const CellBatches& batches) {
    std::vector<int> visits(static_cast<std::size_t>(mesh.cell_count()), 0);
    Index next_batch = 0;
    for (const Brick& brick : batches.bricks()) {
      batches.for_each_batch(brick, [&](const CellBatch& batch) {
        ASSERT_EQ(batch.index, next_batch++);
        ASSERT_GE(batch.active, 1);
        ASSERT_LE(batch.active, batches.lanes());
        for (int lane = 0; lane < batch.active; ++lane) {
          for (int d = 0; d < 3; ++d) {
            ASSERT_GE(batch.cells[lane][d], brick.first[d]);
            ASSERT_LT(batch.cells[lane][d], brick.first[d] + brick.count[d]);
          }
          ++visits[mesh.cell_index(batch.cells[lane])];
        }
      });
    }
    EXPECT_EQ(next_batch, batches.batch_count());
    EXPECT_EQ(visits, std::vector<int>(visits.size(), 1));
  });
}

TEST(CellBatchesOfABox, FillAllLanesButThoseOfABricksLastBatch) {
  for_each_division([](const BoxMesh&, const CellBatches& batches) {
    for (const Brick& brick : batches.bricks()) {
      const Index cells = brick.count[0] * brick.count[1] * brick.count[2];
      EXPECT_EQ(brick.batch_count, ceil_div(cells, batches.lanes()));
      batches.for_each_batch(brick, [&](const CellBatch& batch) {
        const Index before = (batch.index - brick.first_batch) * batches.lanes();
        ASSERT_EQ(batch.active, std::min<Index>(batches.lanes(), cells - before));
        for (int lane = batch.active; lane < batches.lanes(); ++lane) {
          ASSERT_EQ(batch.cells[lane], batch.cells[batch.active - 1]);
        }
      });
    }
  });
}

// Cells of a row batch are neighbors along x; a brick has as many such batches as its rows hold.
TEST(CellBatchesOfABox, AreRowsAsFarAsRowsGo) {
  for_each_division([](const BoxMesh&, const CellBatches& batches) {
    for (const Brick& brick : batches.bricks()) {
      Index rows = 0;
      bool ended = false;
      batches.for_each_batch(brick, [&](const CellBatch& batch) {
        ended = ended || !batch.is_row;
        ASSERT_EQ(batch.is_row, !ended);
        if (!batch.is_row) return;
        ++rows;
        ASSERT_EQ(batch.active, batches.lanes());
        for (int lane = 0; lane < batches.lanes(); ++lane) {
          IndexTriple expected = batch.cells[0];
          expected[0] += lane;
          ASSERT_EQ(batch.cells[lane], expected);
        }
      });
      EXPECT_EQ(rows, brick.count[0] / batches.lanes() * brick.count[1] * brick.count[2]);
    }
  });
}

TEST(BricksOfABox, AreListedOnceUnderTheirColor) {
  for_each_division([](const BoxMesh& mesh, const CellBatches& batches) {
    EXPECT_EQ(batches.color_count(), mesh.dimension() == 2 ? 4 : 8);
    std::vector<int> listed(batches.bricks().size(), 0);
    for (int color = 0; color < batches.color_count(); ++color) {
      Index last = -1;
      for (const Index brick : batches.bricks_of_color(color)) {
        EXPECT_EQ(batches.bricks()[brick].color, color);
        EXPECT_GT(brick, last);
        last = brick;
        ++listed[brick];
      }
    }
    EXPECT_EQ(listed, std::vector<int>(listed.size(), 1));
  });
}

// Bricks that touch, at a corner even, differ in color.
TEST(PaddedCells, AreThoseOfTheBatches) {
  for (const Shape& shape : shapes()) {
    const BoxMesh mesh = general_box(shape.dimension, shape.cells);
    for (const int threads : {1, 3, 16}) {
      for (const int lanes : {1, 3, 8, kMaxLanes}) {
        const CellBatches batches(mesh, lanes, shape.bytes_per_cell, threads);
        EXPECT_EQ(padded_cells(mesh, lanes, shape.bytes_per_cell, threads),
                  batches.batch_count() * lanes)
            << shape.cells[0] << " x " << shape.cells[1] << " x " << shape.cells[2];
      }
    }
  }
}

TEST(BricksOfABox, DifferInColorFromTheirNeighbors) {
  for_each_division([](const BoxMesh&, const CellBatches& batches) {
    const auto bricks = batches.bricks();
    // Quadratic in the number of bricks.
    if (bricks.size() > 400) return;
    for (std::size_t a = 0; a < bricks.size(); ++a) {
      for (std::size_t b = a + 1; b < bricks.size(); ++b) {
        bool touch = true;
        for (int d = 0; d < 3; ++d) {
          touch = touch && bricks[a].first[d] <= bricks[b].first[d] + bricks[b].count[d] &&
                  bricks[b].first[d] <= bricks[a].first[d] + bricks[a].count[d];
        }
        if (touch) {
          ASSERT_NE(bricks[a].color, bricks[b].color) << a << " and " << b;
        }
      }
    }
  });
}

TEST(BricksOfABox, FitHalfAMebibyteOrHoldFewCellsInTwo) {
  const Index mebibyte = Index{1} << 20;
  for (const Index bytes_per_cell :
       {Index{16}, Index{128}, Index{500}, Index{5000}, Index{50000}}) {
    for (const int dimension : {2, 3}) {
      const BoxMesh mesh = general_box(dimension, {90, 80, 70});
      const CellBatches batches(mesh, 8, bytes_per_cell, 1);
      for (const Brick& brick : batches.bricks()) {
        const Index cells = brick.count[0] * brick.count[1] * brick.count[2];
        if (cells > 4096) {
          ASSERT_LE(cells * bytes_per_cell, mebibyte / 2);
        }
        ASSERT_LE(cells * bytes_per_cell, 2 * mebibyte);
      }
    }
  }
}

// One brick would hold this mesh, but threads would wait for its only worker. Where an axis is not
// cut, half of the colors have no bricks.
TEST(BricksOfABox, AreEnoughForEveryThreadToGetSomeOfEachColorInUse) {
  const BoxMesh mesh = general_box(3, {32, 32, 32});
  for (const int threads : {1, 2, 8}) {
    const CellBatches batches(mesh, 8, 1, threads);
    for (int color = 0; color < batches.color_count(); ++color) {
      const std::size_t bricks = batches.bricks_of_color(color).size();
      EXPECT_TRUE(bricks == 0 || bricks >= static_cast<std::size_t>(threads)) << bricks;
    }
  }
}

// Batches of the thread with the most work, beside those that there would be with full lanes only.
double share_of_full_lanes(const BoxMesh& mesh, int lanes, int threads) {
  const CellBatches batches(mesh, lanes, 1, threads);
  Index longest = 0;
  for (int color = 0; color < batches.color_count(); ++color) {
    std::vector<Index> of_thread(threads);
    const auto numbers = batches.bricks_of_color(color);
    const Index each = ceil_div(static_cast<Index>(numbers.size()), threads);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      of_thread[i / each] += batches.bricks()[numbers[i]].batch_count;
    }
    longest += *std::max_element(of_thread.begin(), of_thread.end());
  }
  return static_cast<double>(mesh.cell_count()) / static_cast<double>(longest * lanes * threads);
}

TEST(BricksOfABox, OfSmallMeshesFillTheLanes) {
  for (const IndexTriple& cells :
       {IndexTriple{3, 16, 3}, IndexTriple{5, 5, 5}, IndexTriple{8, 8, 8}, IndexTriple{4, 30, 1}}) {
    for (const int lanes : {8, 16}) {
      const BoxMesh mesh = general_box(cells[2] == 1 ? 2 : 3, cells);
      EXPECT_GT(share_of_full_lanes(mesh, lanes, 1), 0.9);
      EXPECT_GT(share_of_full_lanes(mesh, lanes, 2), 0.45);
    }
  }
}

}  // namespace
}  // namespace tessera::testing
