// These tests cut random boxes into parts, and hold the parts to the whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>

#include "mesh/coarsening.hpp"
#include "mesh/partition/box_partition.hpp"
#include "tests/mesh/meshes.hpp"
#include "tests/mesh/partition/random_partition.hpp"

namespace tessera::testing {
namespace {

TEST(AxisCuts, AreTheMultiplesOfTheDocumentedFormula) {
  // round(r 102 / 2) = 51 is no multiple of 2; of 4 it is 52, which is within 5 % of the mean.
  EXPECT_EQ(cut_axis(102, 2, 2).starts, (std::vector<Index>{0, 52, 102}));
  EXPECT_EQ(cut_axis(102, 2, 2).halvings, 2);
  EXPECT_EQ(cut_axis(102, 2, 0).starts, (std::vector<Index>{0, 51, 102}));
  // 8 * round(102 / 16) = 48 leaves 54, more than 1.05 times 51.
  EXPECT_EQ(cut_axis(102, 2, 9).halvings, 2);
  EXPECT_EQ(cut_axis(64, 4, 9).halvings, 4);
  EXPECT_EQ(cut_axis(7, 7, 3).starts, (std::vector<Index>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(cut_axis(5, 1, 3).halvings, 3);
}

TEST(AxisCuts, LeaveNoPartEmptyAndAreBalancedWhereverTheyAreAligned) {
  std::mt19937 generator(11);
  for (int trial = 0; trial < 4000; ++trial) {
    const int parts = std::uniform_int_distribution(1, 60)(generator);
    const Index cells = parts + std::uniform_int_distribution(0, 400)(generator);
    const int most = std::uniform_int_distribution(0, 6)(generator);
    const AxisCuts cuts = cut_axis(cells, parts, most);
    ASSERT_EQ(cuts.starts.size(), static_cast<std::size_t>(parts) + 1);
    EXPECT_EQ(cuts.starts.front(), 0);
    EXPECT_EQ(cuts.starts.back(), cells);
    EXPECT_LE(cuts.halvings, most);
    Index largest = 0;
    for (int r = 0; r < parts; ++r) {
      EXPECT_LT(cuts.starts[r], cuts.starts[r + 1]) << cells << " cells, " << parts << " parts";
      EXPECT_EQ(cuts.starts[r] % (Index{1} << cuts.halvings), 0);
      largest = std::max(largest, cuts.starts[r + 1] - cuts.starts[r]);
    }
    const double imbalance = static_cast<double>(largest * parts) / static_cast<double>(cells);
    if (cuts.halvings == 1) {
      EXPECT_LE(imbalance, 2.0);
    } else if (cuts.halvings > 1) {
      const double best = static_cast<double>((cells + parts - 1) / parts * parts);
      EXPECT_LE(imbalance, std::max(1.05, best / static_cast<double>(cells)));
    }
    if (cuts.halvings == 0) {
      EXPECT_LE(largest, cells / parts + 1);
    }
  }
}

TEST(AxisCuts, AreWhereTheFirstCoarserMeshIsCutIfPartsKeepCells) {
  // The best cut of 9 cells has 5 and 4: so has one at an even number.
  EXPECT_EQ(cut_axis(9, 2, 1).starts, (std::vector<Index>{0, 4, 9}));
  // 11, 10 and 11 cells would be better, but there would be no coarser mesh.
  EXPECT_EQ(cut_axis(32, 3, 4).starts, (std::vector<Index>{0, 10, 22, 32}));
  EXPECT_EQ(cut_axis(32, 3, 4).halvings, 1);
  // Two cells for each of four.
  EXPECT_EQ(cut_axis(8, 4, 4).halvings, 1);
  EXPECT_EQ(cut_axis(6, 4, 4).halvings, 0);
}

TEST(AxisCuts, RefusePartsWithoutCells) {
  EXPECT_THROW(cut_axis(3, 4, 0), std::invalid_argument);
  EXPECT_THROW(cut_axis(3, 0, 0), std::invalid_argument);
  EXPECT_THROW(cut_axis(3, 1, -1), std::invalid_argument);
}

TEST(BoxPartitions, TileTheBoxExactly) {
  std::mt19937 generator(23);
  for (int trial = 0; trial < 200; ++trial) {
    const RandomPartition random(generator);
    const BoxPartition& partition = random.partition;
    std::vector<int> owners(static_cast<std::size_t>(random.mesh.cell_count()), 0);
    for (int rank = 0; rank < partition.rank_count(); ++rank) {
      EXPECT_EQ(partition.rank_at(partition.place(rank)), rank);
      const CellBox box = partition.cells(rank);
      const BoxMesh part = random.mesh.part(box);
      EXPECT_EQ(part.cells(), box.counts);
      for (Index cell = 0; cell < part.cell_count(); ++cell) {
        IndexTriple at = part.cell_position(cell);
        for (int d = 0; d < 3; ++d) at[d] += box.first[d];
        ++owners[random.mesh.cell_index(at)];
      }
    }
    EXPECT_TRUE(std::all_of(owners.begin(), owners.end(), [](int count) { return count == 1; }));
  }
}

TEST(BoxPartitions, HaveNeighborsOnBothSidesAndTheDomainsFacesElsewhere) {
  std::mt19937 generator(29);
  for (int trial = 0; trial < 100; ++trial) {
    const RandomPartition random(generator);
    const BoxPartition& partition = random.partition;
    for (int rank = 0; rank < partition.rank_count(); ++rank) {
      const CellBox box = partition.cells(rank);
      for (int face = 0; face < face_count(random.mesh.dimension()); ++face) {
        const int d = face_axis(face);
        const bool is_outer = is_upper_face(face)
                                  ? box.first[d] + box.counts[d] == random.mesh.cells()[d]
                                  : box.first[d] == 0;
        EXPECT_EQ(partition.domain_faces(rank)[face], is_outer);
        const std::optional<int> neighbor = partition.neighbor(rank, face);
        EXPECT_EQ(neighbor.has_value(), !is_outer);
        if (!neighbor) continue;
        EXPECT_EQ(partition.neighbor(*neighbor, face ^ 1), rank);
        EXPECT_EQ(*neighbor < rank, !is_upper_face(face));
        const CellBox other = partition.cells(*neighbor);
        for (int e = 0; e < 3; ++e) {
          if (e == d) continue;
          EXPECT_EQ(other.first[e], box.first[e]);
          EXPECT_EQ(other.counts[e], box.counts[e]);
        }
      }
    }
  }
}

// Equal, not nearly equal: what ranks compute at a shared node has to be the same bits.
TEST(BoxPartitions, PartsHaveTheBitsOfTheWhole) {
  std::mt19937 generator(31);
  for (int trial = 0; trial < 200; ++trial) {
    const RandomPartition random(generator);
    for (int rank = 0; rank < random.partition.rank_count(); ++rank) {
      const CellBox box = random.partition.cells(rank);
      const BoxMesh part = random.mesh.part(box);
      for (int d = 0; d < random.mesh.dimension(); ++d) {
        EXPECT_EQ(part.is_uniform(d), random.mesh.is_uniform(d));
        EXPECT_EQ(part.lower()[d], random.mesh.grid_line(d, box.first[d]));
        EXPECT_EQ(part.upper()[d], random.mesh.grid_line(d, box.first[d] + box.counts[d]));
        for (Index c = 0; c < box.counts[d]; ++c) {
          EXPECT_EQ(part.grid_line(d, c), random.mesh.grid_line(d, box.first[d] + c));
          EXPECT_EQ(part.cell_width(d, c), random.mesh.cell_width(d, box.first[d] + c));
        }
      }
    }
  }
}

TEST(BoxPartitions, PartsOfPartsArePartsOfTheWhole) {
  for (BoxMesh (*box)(int, const IndexTriple&) : {general_box, graded_box}) {
    const BoxMesh mesh = box(3, {9, 7, 5});
    const BoxMesh once = mesh.part({{3, 2, 1}, {4, 3, 2}});
    const BoxMesh twice = mesh.part({{2, 1, 0}, {6, 5, 4}}).part({{1, 1, 1}, {4, 3, 2}});
    EXPECT_EQ(twice.place().first_cell, (IndexTriple{3, 2, 1}));
    for (int d = 0; d < 3; ++d) {
      for (Index i = 0; i <= once.cells()[d]; ++i) {
        EXPECT_EQ(once.grid_line(d, i), twice.grid_line(d, i));
      }
    }
  }
}

// The part of the coarser mesh is the coarser mesh of the part, as often as the cuts say.
TEST(BoxPartitions, AreAlignedWithCoarserMeshes) {
  std::mt19937 generator(37);
  int merged = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const RandomPartition random(generator, 40);
    for (int rank = 0; rank < random.partition.rank_count(); ++rank) {
      BoxMesh whole = random.mesh;
      BoxPartition partition = random.partition;
      CellBox box = random.partition.cells(rank);
      BoxMesh part = whole.part(box);
      for (int level = 0; level < 4; ++level) {
        IndexTriple cells = whole.cells();
        for (int d = 0; d < whole.dimension(); ++d) {
          if (level >= random.partition.cuts(d).halvings) continue;
          cells[d] = ceil_div(cells[d], 2);
          box = {box.first, box.counts};
          box.first[d] /= 2;
          box.counts[d] = ceil_div(box.counts[d], 2);
          merged += random.partition.grid()[d] > 1 ? 1 : 0;
        }
        partition = partition.merged(cells);
        EXPECT_EQ(partition.cells(rank), box);
        whole = merge_cells(whole, cells);
        part = merge_cells(part, cells);
        ASSERT_EQ(part.cells(), box.counts);
        for (int d = 0; d < whole.dimension(); ++d) {
          EXPECT_EQ(part.is_uniform(d), whole.is_uniform(d));
          for (Index i = 0; i <= part.cells()[d]; ++i) {
            EXPECT_EQ(part.grid_line(d, i), whole.grid_line(d, box.first[d] + i));
          }
        }
      }
    }
  }
  EXPECT_GT(merged, 100);
}

TEST(BoxPartitions, RefuseToMergeAcrossACut) {
  const BoxMesh mesh = general_box(2, {6, 4, 1});
  EXPECT_THROW(merge_cells(mesh.part({{3, 0, 0}, {3, 4, 1}}), {3, 2, 1}), std::invalid_argument);
  EXPECT_THROW(merge_cells(mesh.part({{0, 0, 0}, {3, 4, 1}}), {3, 2, 1}), std::invalid_argument);
  EXPECT_THROW((void)BoxPartition(mesh, {2, 1, 1}).merged({3, 2, 1}), std::invalid_argument);
  EXPECT_THROW((void)BoxPartition(mesh, {1, 1, 1}).merged({2, 2, 1}), std::invalid_argument);
}

std::string refusal_of(const BoxMesh& mesh, const RankGrid& grid) {
  try {
    const BoxPartition partition(mesh, grid);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(BoxPartitions, SayWhatIsWrongWithAGrid) {
  EXPECT_EQ(
      refusal_of(general_box(3, {4, 4, 3}), {1, 1, 5}),
      "5 ranks along z, but only 3 cells there: each rank needs one, so 3 ranks are the most");
  EXPECT_EQ(refusal_of(general_box(2, {4, 4, 1}), {1, 2, 2}),
            "2 ranks along z, but the mesh is 2D: 1 is allowed");
  EXPECT_NE(refusal_of(general_box(2, {4, 4, 1}), {0, 2, 1}), "accepted");
}

TEST(BoxPartitions, RefusePartsOutsideTheMesh) {
  const BoxMesh mesh = general_box(3, {4, 4, 4});
  EXPECT_THROW((void)mesh.part({{0, 0, 0}, {5, 1, 1}}), std::invalid_argument);
  EXPECT_THROW((void)mesh.part({{0, -1, 0}, {1, 1, 1}}), std::invalid_argument);
  EXPECT_THROW((void)mesh.part({{0, 0, 4}, {1, 1, 1}}), std::invalid_argument);
  EXPECT_THROW((void)mesh.part({{0, 0, 0}, {1, 0, 1}}), std::invalid_argument);
}

}  // namespace
}  // namespace tessera::testing
