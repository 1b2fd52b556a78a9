// These tests relax in all orders and compare with block Gauss-Seidel, written out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mesh/threads_in_use.hpp"
#include "operators/csr/csr.hpp"
#include "src/studies/update_order/jacobi_radius.hpp"
#include "src/studies/update_order/relaxation.hpp"
#include "src/studies/update_order/relaxation_problems.hpp"
#include "src/studies/update_order/update_order_table.hpp"
#include "tests/everywhere.hpp"
#include "tests/src/studies/made_up.hpp"

namespace tessera::testing {
namespace {

const std::string kStudy = "update-order";
const RelaxationProblem kSmall = {
    .name = "small", .degree = 2, .cells = 4, .shape = RelaxationProblem::Shape::curved};

/// One pass of block Gauss-Seidel over these blocks with the local sweeps of `sweep`.
void relax_blocks(const SparseRows<double>& matrix, const RowBlocks& blocks,
                  const std::vector<std::int32_t>& order, const BlockSweep& sweep,
                  const HostVector<double>& b, std::vector<double>& x) {
  std::vector<Index> columns(x.size());
  std::vector<double> values(x.size());
  for (const std::int32_t block : order) {
    const std::vector<std::int32_t> rows(blocks.rows.begin() + blocks.begin[block],
                                         blocks.rows.begin() + blocks.begin[block + 1]);
    std::vector<double> residual;
    std::vector<double> e(x.size(), 0.0);
    for (const std::int32_t row : rows) {
      const Index length = matrix.row_length(row);
      matrix.read_row(row, columns.data(), values.data());
      double r = b[row];
      for (Index k = 0; k < length; ++k) r -= values[k] * x[columns[k]];
      residual.push_back(r);
    }
    for (int local = 0; local < sweep.local_sweeps; ++local) {
      std::vector<double> next = e;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const Index length = matrix.row_length(rows[i]);
        matrix.read_row(rows[i], columns.data(), values.data());
        double r = residual[i];
        double diagonal = 0.0;
        for (Index k = 0; k < length; ++k) {
          // e is 0 outside of the block.
          r -= values[k] * e[columns[k]];
          if (columns[k] == rows[i]) diagonal = values[k];
        }
        next[rows[i]] += sweep.damping / diagonal * r;
      }
      e = next;
    }
    for (const std::int32_t row : rows) x[row] += sweep.factor * e[row];
  }
}

/// A problem with blocks in a space; the host's assembled matrix beside it.
template <class Space>
struct Relaxed {
  explicit Relaxed(BlockShape shape)
      : problem(discretize(kSmall)),
        matrix(make_csr_matrix<double>(problem.form)),
        blocks(make_blocks(problem.discretization->lattice, shape)),
        system(assemble_in_blocks<Space>(problem.form,
                                         make_blocks(problem.discretization->lattice, shape))),
        relaxation(system, problem.load) {}

  std::vector<double> after(RelaxationOrder order, int sweeps) {
    std::mt19937_64 random(5);
    relaxation.start();
    EXPECT_GT(relaxation.relax(order, sweeps, random), 0.0);
    HostVector<double> x(problem.load.size());
    copy(relaxation.solution(), x);
    return {x.data(), x.data() + x.size()};
  }

  std::vector<double> expected(RelaxationOrder order, int sweeps) const {
    std::mt19937_64 random(5);
    std::vector<double> x(problem.load.size(), 0.0);
    relax_blocks(*matrix, blocks, queued_blocks(order, blocks.count(), sweeps, random),
                 system.jacobi->sweep(), problem.load, x);
    return x;
  }

  DiscreteProblem problem;
  std::unique_ptr<CsrMatrix<double>> matrix;
  RowBlocks blocks;
  AssembledSystem<Space> system;
  Relaxation<Space> relaxation;
};

void expect_near(const std::vector<double>& x, const std::vector<double>& expected) {
  ASSERT_EQ(x.size(), expected.size());
  double largest = 0.0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  ASSERT_GT(largest, 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], expected[i], 1e-12 * largest);
}

TEST(RelaxationOrders, QueuesHoldEveryBlockOnceASweep) {
  std::mt19937_64 random(3);
  EXPECT_EQ(queued_blocks(RelaxationOrder::queue, 3, 2, random),
            (std::vector<std::int32_t>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(queued_blocks(RelaxationOrder::queue_reversed, 3, 2, random),
            (std::vector<std::int32_t>{2, 1, 0, 2, 1, 0}));
  constexpr Index kBlocks = 50;
  std::vector<std::int32_t> shuffled =
      queued_blocks(RelaxationOrder::queue_random, kBlocks, 2, random);
  const auto middle = shuffled.begin() + kBlocks;
  EXPECT_FALSE(std::equal(shuffled.begin(), middle, middle));
  for (const auto first : {shuffled.begin(), middle}) {
    EXPECT_FALSE(std::is_sorted(first, first + kBlocks));
    std::sort(first, first + kBlocks);
    for (int i = 0; i < kBlocks; ++i) EXPECT_EQ(first[i], i);
  }
  // The same seed, the same order.
  std::mt19937_64 a(7);
  std::mt19937_64 b(7);
  EXPECT_EQ(queued_blocks(RelaxationOrder::queue_random, kBlocks, 3, a),
            queued_blocks(RelaxationOrder::queue_random, kBlocks, 3, b));
}

TEST(RelaxationProblems, BlocksHaveEveryRowOnce) {
  const ThreadsInUse one(1);
  const DiscreteProblem problem = discretize(kSmall);
  for (const NamedBlockShape& shape : block_shapes()) {
    RowBlocks blocks = make_blocks(problem.discretization->lattice, shape.shape);
    EXPECT_LE(blocks.max_rows(), shape.shape == BlockShape::runs ? 32 : 256);
    EXPECT_EQ(blocks.begin.back(), problem.load.size());
    std::sort(blocks.rows.begin(), blocks.rows.end());
    for (Index row = 0; row < problem.load.size(); ++row) EXPECT_EQ(blocks.rows[row], row);
  }
}

/// Every order whose result is known: with one thread, or alone.
TEST(Relaxation, OneThreadIsBlockGaussSeidelInTheOrderAskedFor) {
  const ThreadsInUse one(1);
  for (const BlockShape shape : {BlockShape::bricks, BlockShape::runs}) {
    Relaxed<Host> relaxed(shape);
    for (const RelaxationOrder order :
         {RelaxationOrder::queue, RelaxationOrder::queue_reversed, RelaxationOrder::queue_random,
          RelaxationOrder::sequential}) {
      expect_near(relaxed.after(order, 3), relaxed.expected(order, 3));
    }
    expect_near(relaxed.after(RelaxationOrder::hardware, 3),
                relaxed.expected(RelaxationOrder::queue, 3));
  }
}

/// Only what is asked for runs on several threads of the host: where cores are busy, each parallel
/// loop of theirs takes its time.
template <class Space>
void expect_orders_as_they_should(int threads) {
  const ThreadsInUse one(1);
  Relaxed<Space> relaxed(BlockShape::bricks);
  // Alone, whatever the number of threads.
  std::vector<double> alone;
  {
    const ThreadsInUse several(threads);
    alone = relaxed.after(RelaxationOrder::sequential, 3);
  }
  expect_near(alone, relaxed.expected(RelaxationOrder::sequential, 3));
  // As the smoother does it.
  Vector<double, Space> b(relaxed.problem.load.size());
  Vector<double, Space> x(relaxed.problem.load.size());
  copy(relaxed.problem.load, b);
  for (int sweep = 0; sweep < 4; ++sweep) relaxed.system.jacobi->smooth(b, x);
  HostVector<double> smoothed(x.size());
  copy(x, smoothed);
  expect_near(relaxed.after(RelaxationOrder::synchronous, 4),
              {smoothed.data(), smoothed.data() + smoothed.size()});
  // All converge, whoever comes first.
  for (const RelaxationOrderInfo& info : relaxation_orders()) {
    std::mt19937_64 random(1);
    relaxed.relaxation.start();
    EXPECT_NEAR(relaxed.relaxation.residual(), 1.0, 1e-14);
    {
      const ThreadsInUse several(threads);
      // Where all blocks run at a time, sweeps that overlap are worth one.
      relaxed.relaxation.relax(info.order, 3, random);
    }
    const double early = relaxed.relaxation.residual();
    EXPECT_LT(early, 1.0) << info.name;
    {
      const ThreadsInUse several(threads);
      for (int sweep = 0; sweep < 9; ++sweep) relaxed.relaxation.relax(info.order, 1, random);
    }
    EXPECT_LT(relaxed.relaxation.residual(), 0.8 * early) << info.name;
  }
}

TEST(Relaxation, OrdersOfSeveralThreadsConverge) { expect_orders_as_they_should<Host>(2); }

TEST(Relaxation, OrdersConvergeOnTheGpu) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) expect_orders_as_they_should<Device>(1);
}

/// The definition, row by row.
TEST(JacobiRadius, IsThatOfAbsoluteValues) {
  const ThreadsInUse one(1);
  for (const BlockShape shape : {BlockShape::bricks, BlockShape::runs}) {
    const Relaxed<Host> relaxed(shape);
    const Index n = relaxed.problem.load.size();
    HostVector<double> x(n);
    for (Index i = 0; i < n; ++i) x[i] = std::sin(0.1 * static_cast<double>(i)) + 0.3;
    HostVector<double> y(n);
    fill(y, std::nan(""));
    multiply_absolute(relaxed.system.jacobi->rows(), x, y);
    std::vector<Index> columns(n);
    std::vector<double> values(n);
    for (Index row = 0; row < n; ++row) {
      relaxed.matrix->read_row(row, columns.data(), values.data());
      double sum = 0.0;
      double diagonal = 0.0;
      for (Index k = 0; k < relaxed.matrix->row_length(row); ++k) {
        if (columns[k] == row) diagonal = values[k];
        if (columns[k] != row) sum += std::abs(values[k]) * x[columns[k]];
      }
      ASSERT_NEAR(y[row], sum / std::abs(diagonal), 1e-12);
    }
  }
  // Trilinear elements on cubes make an M-matrix, curved quadratic ones do not.
  const DiscreteProblem cube = discretize({.name = "cube", .degree = 1, .cells = 6});
  const auto system = assemble_in_blocks<Host>(
      cube.form, make_blocks(cube.discretization->lattice, BlockShape::runs));
  const double radius = jacobi_radius(system.jacobi->rows());
  EXPECT_GT(radius, 0.5);
  EXPECT_LT(radius, 1.0);
  const Relaxed<Host> curved(BlockShape::bricks);
  EXPECT_GT(jacobi_radius(curved.system.jacobi->rows()), 1.0);
}

TEST(JacobiRadius, IsTheSameOnTheGpu) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    const Relaxed<Host> host(BlockShape::bricks);
    const Relaxed<Device> device(BlockShape::bricks);
    EXPECT_NEAR(jacobi_radius(device.system.jacobi->rows()),
                jacobi_radius(host.system.jacobi->rows()), 1e-9);
  }
}

TEST(UpdateOrderStudy, RelaxesInEveryOrderOnTheCpu) {
  const StudyInfo& study = find_study(kStudy);
  StudyOptions options = options_of(kStudy, {"--problem", "p1-16"});
  options.threads = {1, 4000};
  StudyRecord record(study, options, "a CPU", Verbosity::quiet);
  study.measure(record);
  EXPECT_EQ(record.wrong_rows(), 0);
  const StudyTable& table = record.table();
  // Two ways to cut; three orders one and ten at a time, three one at a time.
  EXPECT_EQ(table.rows().size(), 2U * (3U * (12U + 11U) + 3U * 12U));
  for (const NamedBlockShape& blocks : block_shapes()) {
    for (const RelaxationOrderInfo& info : relaxation_orders()) {
      const StudyRow& row =
          table.at(info.name, 1, relaxation_parameters("p1-16", blocks.name, 1, 1));
      EXPECT_GT(table.metric(row, "mean"), 0.0);
      EXPECT_LT(table.metric(row, "most"), 1.0) << info.name;
      EXPECT_EQ(row.seconds.count, info.runs == RelaxationOrderInfo::Runs::same ? 1 : 5);
      EXPECT_LT(table.metric(row, "radius"), 1.0);
    }
  }
  EXPECT_EQ(verdict(kStudy, "U1", table),
            "not measured: no row of kernel1, part probe, path l2, "
            "block 8, 1 thread");
}

}  // namespace
}  // namespace tessera::testing
