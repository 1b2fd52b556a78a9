// These tests exchange boxes of nodes between ranks, which are threads, and hold the arrays that
// GPUs exchange without packing to the nodes that they have.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "mesh/partition.hpp"
#include "operators/fast_diagonalization/device_lines.hpp"
#include "solvers/ranks/gpu/device_carrier.hpp"
#include "solvers/ranks/thread_ranks.hpp"
#include "tests/everywhere.hpp"
#include "tests/operators/test_names.hpp"

namespace tessera::testing {
namespace {

// Of some nodes of a box, numbered among all nodes by a formula.
double value_at(const IndexTriple& i) {
  return static_cast<double>(i[0] + 100 * i[1] + 10000 * i[2]) + 0.5;
}

template <class F>
void for_each(const NodeBox& box, F f) {
  for (Index k = box.first[2]; k < box.end[2]; ++k) {
    for (Index j = box.first[1]; j < box.end[1]; ++j) {
      for (Index i = box.first[0]; i < box.end[0]; ++i) f(IndexTriple{i, j, k});
    }
  }
}

// An exchange with values on the host, in whatever memory it is.
template <class Space>
class Exchange {
 public:
  Exchange(const Communicator& ranks, const std::vector<NodeBox>& from,
           const std::vector<NodeBox>& to)
      : exchange_(ranks, from, to) {}

  void run(const std::vector<double>& in, const BoxPlaces& in_places, std::vector<double>& out,
           const BoxPlaces& out_places) const {
    exchange_.run(in.data(), in_places, out.data(), out_places);
  }
  Index bytes() const { return exchange_.bytes(); }

 private:
  BoxExchange<double, Space> exchange_;
};

template <>
class Exchange<Device> {
 public:
  Exchange(const Communicator& ranks, const std::vector<NodeBox>& from,
           const std::vector<NodeBox>& to)
      : exchange_(ranks, make_staged_carrier(ranks), from, to) {}

  void run(const std::vector<double>& in, const BoxPlaces& in_places, std::vector<double>& out,
           const BoxPlaces& out_places) const {
    const DeviceArray<double> from(in);
    DeviceArray<double> to(out);
    exchange_.run(from.data(), in_places, to.data(), out_places);
    out = to_host(to);
  }
  Index bytes() const { return exchange_.bytes(); }

 private:
  BoxExchange<double, Device> exchange_;
};

class BoxExchangeTest : public EveryProcessorTest<std::tuple<Processor>> {};

// Boxes that overlap, are empty, or are a rank's own: each gets the values of all of its nodes.
TEST_P(BoxExchangeTest, BringsEveryBoxItsValues) {
  const NodeBox all{{1, 0, 2}, {6, 7, 11}};
  const std::vector<NodeBox> slabs = {
      {{1, 0, 2}, {6, 7, 5}}, {{1, 0, 5}, {6, 7, 5}}, {{1, 0, 5}, {6, 7, 11}}};
  const std::vector<std::vector<NodeBox>> targets = {
      {{{1, 0, 2}, {6, 2, 11}}, {{1, 2, 2}, {6, 3, 11}}, {{1, 3, 2}, {6, 7, 11}}},
      {{{1, 0, 2}, {4, 7, 7}}, {{3, 0, 4}, {6, 7, 11}}, {{1, 1, 1}, {1, 1, 1}}},
      slabs,
      {all, all, all}};
  in_space_of_processor([&]<class Space>() {
    for (const std::vector<NodeBox>& to : targets) {
      run_on_threads(3, [&](const Communicator& ranks) {
        const auto mine = static_cast<std::size_t>(ranks.rank());
        const Exchange<Space> exchange(ranks, slabs, to);
        EXPECT_EQ(exchange.bytes(),
                  8 * exchanged_values(ranks.rank(), slabs, to, kProcessorOf<Space>));
        // Not packed: rows of 9, planes of 80.
        const BoxPlaces in{3, {9, 80}};
        std::vector<double> from(1000, std::numeric_limits<double>::quiet_NaN());
        for_each(slabs[mine], [&](const IndexTriple& i) { from[in.of(i)] = value_at(i); });
        std::vector<double> out(static_cast<std::size_t>(to[mine].size()), -1.0);
        for (int time = 0; time < 2; ++time) {
          exchange.run(from, in, out, packed(to[mine]));
          for_each(to[mine], [&](const IndexTriple& i) {
            EXPECT_EQ(out[packed(to[mine]).of(i)], value_at(i));
          });
        }
      });
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Processors, BoxExchangeTest,
                         ::testing::Combine(::testing::ValuesIn(every_processor())),
                         name_of_processor);

// What a rank holds of places m and outer nodes o, each with a row.
std::vector<double> planes_of(const DeviceLines& lines, const NodeBox& planes, int outer_axis) {
  std::vector<double> values;
  for (Index m = 0; m < lines.places; ++m) {
    for (Index o = planes.first[outer_axis]; o < planes.end[outer_axis]; ++o) {
      for (Index i = 0; i < lines.row; ++i) values.push_back(value_at({i, m, o}));
    }
  }
  return values;
}

struct LinesCase {
  int dimension;
  int degree;
  IndexTriple cells;
  RankGrid grid;
  FaceSet dirichlet;
};

// Every message is as long as its receiver expects, arrays are covered without gaps, and a line has
// all of its outer nodes: what a rank sends of its planes is the other's line.
void expect_lines_of_planes(const LinesCase& of) {
  const BoxMesh mesh(of.dimension, of.cells, {0, 0, 0}, {1, 1, 1});
  const BoxPartition partition(mesh, of.grid);
  const NodeLattice lattice(mesh, of.degree);
  const int outer_axis = of.dimension - 1;
  NodeBox free{{0, 0, 0}, lattice.extents()};
  for (int d = 0; d < of.dimension; ++d) {
    free.first[d] += of.dirichlet[2 * d] ? 1 : 0;
    free.end[d] -= of.dirichlet[2 * d + 1] ? 1 : 0;
  }
  const InverseBoxes boxes = inverse_boxes(partition, of.degree, free);
  const auto count = static_cast<std::size_t>(partition.rank_count());
  std::vector<DeviceLines> lines;
  for (std::size_t rank = 0; rank < count; ++rank) {
    lines.push_back(device_lines(boxes, of.dimension, static_cast<int>(rank), 3));
  }
  Index places = 0;
  for (std::size_t mine = 0; mine < count; ++mine) {
    SCOPED_TRACE(mine);
    const DeviceLines& own = lines[mine];
    EXPECT_EQ(own.places, free.extent(outer_axis - 1));
    EXPECT_EQ(own.outer, free.extent(outer_axis));
    EXPECT_EQ(own.first_place, places);
    places += own.own_places;
    std::vector<double> received(static_cast<std::size_t>(own.lines_size()),
                                 std::numeric_limits<double>::quiet_NaN());
    Index in_planes = 0;
    Index in_lines = 0;
    for (std::size_t other = 0; other < count; ++other) {
      const LineBlock& block = own.blocks[other];
      const LineBlock& theirs = lines[other].blocks[mine];
      EXPECT_EQ(block.in_planes, in_planes);
      EXPECT_EQ(block.in_lines, in_lines);
      in_planes += block.planes_size;
      in_lines += block.lines_size;
      ASSERT_EQ(theirs.planes_size, block.lines_size);
      // What a rank keeps is not sent.
      if (other == mine) continue;
      const std::vector<double> sent = planes_of(lines[other], boxes.planes[other], outer_axis);
      ASSERT_EQ(static_cast<Index>(sent.size()), lines[other].planes_size());
      std::copy_n(sent.begin() + theirs.in_planes, theirs.planes_size,
                  received.begin() + block.in_lines);
    }
    EXPECT_EQ(in_planes, own.planes_size());
    EXPECT_EQ(in_lines, own.lines_size());
    const std::vector<double> kept = planes_of(own, boxes.planes[mine], outer_axis);
    const std::vector<OuterPlace> outer = outer_places(own, static_cast<int>(mine));
    ASSERT_EQ(static_cast<Index>(outer.size()), own.own_places > 0 ? own.outer : 0);
    for (Index o = 0; o < static_cast<Index>(outer.size()); ++o) {
      const std::vector<double>& from = outer[o].rank == static_cast<int>(mine) ? kept : received;
      for (Index m = 0; m < own.own_places; ++m) {
        for (Index i = 0; i < own.row; ++i) {
          ASSERT_EQ(from[outer[o].first + m * outer[o].step + i],
                    value_at({i, own.first_place + m, free.first[outer_axis] + o}));
        }
      }
    }
    EXPECT_GE(device_entries(own, of.dimension, 16), std::max(own.planes_size(), own.lines_size()));
  }
  EXPECT_EQ(places, free.extent(outer_axis - 1));
}

TEST(DeviceLines, HaveAllOuterNodesOfTheirPlaces) {
  const FaceSet none;
  const FaceSet all(0b111111);
  const FaceSet ends(0b110000);
  for (const FaceSet& dirichlet : {none, all, ends}) {
    for (const RankGrid& grid :
         {RankGrid{1, 1, 1}, RankGrid{1, 1, 2}, RankGrid{1, 1, 3}, RankGrid{1, 1, 4},
          RankGrid{2, 1, 1}, RankGrid{1, 2, 2}, RankGrid{3, 2, 1}}) {
      SCOPED_TRACE(::testing::Message() << grid[0] << "x" << grid[1] << "x" << grid[2]);
      expect_lines_of_planes({3, 2, {3, 2, 5}, grid, dirichlet});
      // One free place along y, and ranks without planes.
      expect_lines_of_planes({3, 1, {3, 2, 4}, grid, dirichlet});
    }
    for (const RankGrid& grid : {RankGrid{1, 1, 1}, RankGrid{1, 3, 1}, RankGrid{2, 2, 1}}) {
      SCOPED_TRACE(::testing::Message() << grid[0] << "x" << grid[1]);
      expect_lines_of_planes({2, 3, {2, 4, 1}, grid, FaceSet(dirichlet.to_ulong() & 0b1111U)});
    }
  }
}

// The same number on all ranks, although they have not as many places.
TEST(DeviceLines, AreOfPiecesThatAreWorthAMessage) {
  const BoxMesh mesh(3, {128, 128, 127}, {0, 0, 0}, {1, 1, 1});
  const auto pieces = [&](int degree, int ranks, int rank, Index value_bytes) {
    const NodeLattice lattice(mesh, degree);
    const InverseBoxes boxes =
        inverse_boxes(BoxPartition(mesh, {1, 1, ranks}), degree, {{0, 0, 0}, lattice.extents()});
    return line_pieces(device_lines(boxes, 3, rank, lattice.extents()[0]), value_bytes);
  };
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(pieces(1, 3, rank, sizeof(double)), 1);
    // 257 * 257 * 255 * 8 / 3 bytes are 5 times 8 MiB and a bit.
    EXPECT_EQ(pieces(2, 3, rank, sizeof(double)), 5);
    EXPECT_EQ(pieces(2, 3, rank, sizeof(float)), 2);
    EXPECT_EQ(pieces(4, 3, rank, sizeof(double)), 8);
  }
}

}  // namespace
}  // namespace tessera::testing
