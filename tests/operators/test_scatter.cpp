// These tests check that bricks of one color share no node, and that policies agree.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <new>
#include <stdexcept>

#include "mesh/lanes/simd.hpp"
#include "operators/cells/scatter.hpp"
#include "operators/strategy.hpp"
#include "tests/operators/problems.hpp"
#include "tests/operators/suitable.hpp"

namespace tessera::testing {
namespace {

struct Shape {
  int dimension;
  IndexTriple cells;
  int degree;
  Index bytes_per_cell;  // large: small bricks
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {
      {2, {1, 1, 1}, 3, 100},     {2, {7, 5, 1}, 1, 100},     {2, {40, 33, 1}, 2, 20000},
      {2, {33, 40, 1}, 1, 60000}, {2, {3, 200, 1}, 1, 400},   {3, {1, 1, 1}, 2, 100},
      {3, {9, 5, 4}, 2, 100},     {3, {20, 9, 7}, 1, 20000},  {3, {17, 6, 5}, 2, 60000},
      {3, {2, 11, 3}, 3, 500},    {3, {1, 4, 25}, 1, 500000}, {3, {35, 2, 2}, 1, 500000}};
  return all;
}

// Lattice numbers of the nodes of a brick's cells, from the cells that its batches have.
std::vector<Index> nodes_of(const CellBatches& batches, const Brick& brick,
                            const NodeLattice& lattice) {
  const Index p = lattice.degree();
  std::vector<Index> nodes;
  batches.for_each_batch(brick, [&](const CellBatch& batch) {
    for (int lane = 0; lane < batch.active; ++lane) {
      const IndexTriple& cell = batch.cells[lane];
      for (Index k = 0; k <= (lattice.dimension() == 3 ? p : 0); ++k) {
        for (Index j = 0; j <= p; ++j) {
          for (Index i = 0; i <= p; ++i) {
            nodes.push_back(cell[0] * p + i +
                            lattice.extents()[0] *
                                (cell[1] * p + j + lattice.extents()[1] * (cell[2] * p + k)));
          }
        }
      }
    }
  });
  return nodes;
}

TEST(Coloring, BricksOfOneColorShareNoNode) {
  for (const Shape& shape : shapes()) {
    const BoxMesh mesh(shape.dimension, shape.cells, {0, 0, 0}, {1, 1, 1});
    const NodeLattice lattice(mesh, shape.degree);
    for (const int threads : {1, 2, 3, 16}) {
      for (const int lanes : {2, 8, 16}) {
        const CellBatches batches(mesh, lanes, shape.bytes_per_cell, threads);
        for (int color = 0; color < batches.color_count(); ++color) {
          std::vector<Index> owner(static_cast<std::size_t>(lattice.size()), -1);
          for (const Index brick : batches.bricks_of_color(color)) {
            for (const Index node : nodes_of(batches, batches.bricks()[brick], lattice)) {
              ASSERT_TRUE(owner[node] == -1 || owner[node] == brick)
                  << "bricks " << owner[node] << " and " << brick << " of color " << color
                  << " share node " << node;
              owner[node] = brick;
            }
          }
        }
      }
    }
  }
}

class Policies : public ::testing::TestWithParam<std::string> {};

// Every brick adds 1 for each of its cells' nodes: sums of small integers are exact in any order.
TEST_P(Policies, SumEveryBrickOnceOverWhateverWasThere) {
  for (const Shape& shape : shapes()) {
    const BoxMesh mesh(shape.dimension, shape.cells, {0, 0, 0}, {1, 1, 1});
    const NodeLattice lattice(mesh, shape.degree);
    for (const int threads : {1, 2, 3, 5}) {
      const ThreadsInUse count(threads);
      const CellBatches batches(mesh, 8, shape.bytes_per_cell, threads);
      std::vector<double> expected(static_cast<std::size_t>(lattice.size()), 0.0);
      for (const Brick& brick : batches.bricks()) {
        for (const Index node : nodes_of(batches, brick, lattice)) expected[node] += 1.0;
      }
      const auto scatter = make_scatter<double>(GetParam(), batches, lattice);
      for (int repetition = 0; repetition < 2; ++repetition) {
        HostVector<double> y = poisoned<double>(lattice.size());
        const auto add_brick = [&](const Brick& brick, const AddTarget<double>& target) {
          clear_nodes(target.unset, lattice, target);
          for (const Index node : nodes_of(batches, brick, lattice)) {
            double& entry = target.values[node - target.first_node];
            if (target.mode == AddMode::atomic) {
              std::atomic_ref<double>(entry).fetch_add(1.0);
            } else {
              entry += 1.0;
            }
          }
        };
        if (repetition == 0) {
          scatter->run(add_brick, y);
        } else {
          scatter->run_unset(add_brick, y);
        }
        for (Index i = 0; i < y.size(); ++i) {
          ASSERT_EQ(y[i], expected[i]) << "node " << i << ", " << threads << " threads";
        }
      }
    }
  }
}

// Plain additions must not meet: every entry is claimed while its brick is at work.
TEST_P(Policies, PlainAdditionsOfRunningBricksNeverShareAnEntry) {
  const ThreadsInUse count(3);
  const BoxMesh mesh(3, {20, 9, 7}, {0, 0, 0}, {1, 1, 1});
  const NodeLattice lattice(mesh, 1);
  const CellBatches batches(mesh, 8, 20000, 3);
  ASSERT_GT(batches.bricks().size(), 20u);
  const auto scatter = make_scatter<double>(GetParam(), batches, lattice);
  std::atomic<int> bricks = 0;
  std::atomic<int> collisions = 0;
  HostVector<double> y(lattice.size());
  scatter->run(
      [&](const Brick& brick, const AddTarget<double>& target) {
        ++bricks;
        if (target.mode == AddMode::atomic) return;
        std::vector<Index> nodes = nodes_of(batches, brick, lattice);
        std::sort(nodes.begin(), nodes.end());
        nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
        // Entries start at 0 and are 0 again when nobody is at work.
        for (const Index node : nodes) {
          if (std::atomic_ref<double>(target.values[node - target.first_node]).exchange(1.0) !=
              0.0) {
            ++collisions;
          }
        }
        for (const Index node : nodes) {
          std::atomic_ref<double>(target.values[node - target.first_node]).store(0.0);
        }
      },
      y);
  EXPECT_EQ(bricks.load(), static_cast<int>(batches.bricks().size()));
  EXPECT_EQ(collisions.load(), 0);
}

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const ScatterInfo& info : scatter_table()) {
    if (info.runs_on(Processor::cpu)) names.emplace_back(info.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Table, Policies, ::testing::ValuesIn(policy_names()),
                         [](const auto& tested) { return tested.param; });

TEST(PolicyTable, HasThePoliciesOfTheCaseFile) {
  EXPECT_EQ(policy_names(), (std::vector<std::string>{"serial", "atomic", "coloring", "private"}));
  const BoxMesh mesh(2, {2, 2, 1}, {0, 0, 0}, {1, 1, 1});
  const CellBatches batches(mesh, 8, 100, 1);
  EXPECT_THROW(make_scatter<double>("none", batches, NodeLattice(mesh, 1)), std::invalid_argument);
}

bool is_deterministic(const StrategyName& strategy) {
  for (const ScatterInfo& info : scatter_table()) {
    if (info.name == strategy.scatter) return info.deterministic == Deterministic::yes;
  }
  return true;
}

TEST(Determinism, StrategiesSaidToBeDeterministicGiveTheSameBits) {
  const ThreadsInUse count(2);
  ProblemOptions options;
  options.cells = {35, 9, 8};
  options.coefficient = Coefficient::constant;
  int checked = 0;
  for (const Geometry geometry : {Geometry::cartesian, Geometry::curved}) {
    options.geometry = geometry;
    const Problem problem = make_problem(options);
    const HostVector<double> x = vector_of<double>(random_values(problem.size(), 29));
    for (const StrategyName& strategy : suitable_strategies(problem.form)) {
      if (!is_deterministic(strategy)) continue;
      ++checked;
      const auto a = make_operator<double>(strategy, problem.form);
      HostVector<double> first = poisoned<double>(problem.size());
      a->apply(x, first);
      const auto remade = make_operator<double>(strategy, problem.form);
      for (int repetition = 0; repetition < 20; ++repetition) {
        HostVector<double> y = poisoned<double>(problem.size());
        (repetition % 2 == 0 ? a : remade)->apply(x, y);
        ASSERT_TRUE(same_bits(first, y)) << strategy.text();
      }
    }
  }
  EXPECT_GE(checked, 15);
}

// An exception must not leave an OpenMP region, which would end the program.
TEST(Scatter, ThrowsWhatABrickThrows) {
  const ThreadsInUse threads(3);
  const BoxMesh mesh(3, {20, 9, 7}, {0, 0, 0}, {1, 1, 1});
  const NodeLattice lattice(mesh, 1);
  const CellBatches batches(mesh, kLanes<double>, 20000, 3);
  HostVector<double> y(lattice.size());
  for (const ScatterInfo& info : scatter_table()) {
    if (!info.runs_on(Processor::cpu)) continue;
    const auto scatter = make_scatter<double>(info.name, batches, lattice);
    EXPECT_THROW(
        scatter->run([](const Brick&, const AddTarget<double>&) { throw std::bad_alloc(); }, y),
        std::bad_alloc)
        << info.name;
    const Brick& last = batches.bricks().back();
    EXPECT_THROW(scatter->run(
                     [&](const Brick& brick, const AddTarget<double>&) {
                       if (&brick == &last) throw std::bad_alloc();
                     },
                     y),
                 std::bad_alloc)
        << info.name;
  }
}

}  // namespace
}  // namespace tessera::testing
