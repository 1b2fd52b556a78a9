// These tests compare block Jacobi with its reference, and use it in CG.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "operators/block_jacobi/block_jacobi.hpp"
#include "operators/csr/csr.hpp"
#include "operators/strategy.hpp"
#include "tests/everywhere.hpp"
#include "tests/operators/block_jacobi/block_reference.hpp"
#include "tests/operators/block_jacobi/convergence_spread.hpp"
#include "tests/operators/problems.hpp"
#include "tests/operators/test_names.hpp"
#include "tests/solvers/solve_once.hpp"

namespace tessera::testing {
namespace {

ProblemOptions small_options(int dimension, int degree) {
  ProblemOptions options;
  options.dimension = dimension;
  options.degree = degree;
  options.cells = cells_of_few_nodes(dimension, degree);
  return options;
}

template <class F>
void for_each_boundary(ProblemOptions options, F&& f) {
  for (const Boundary boundary : {Boundary::none, Boundary::mixed, Boundary::dirichlet}) {
    options.boundary = boundary;
    SCOPED_TRACE(describe(options));
    f(make_problem(options));
  }
}

// M e_j, column by column.
std::vector<double> dense_preconditioner(const Preconditioner<double, Host>& m, Index n) {
  std::vector<double> dense(static_cast<std::size_t>(n * n));
  HostVector<double> unit(n);
  for (Index j = 0; j < n; ++j) {
    unit[j] = 1.0;
    const HostVector<double> z = applied(m, unit);
    unit[j] = 0.0;
    for (Index i = 0; i < n; ++i) dense[i * n + j] = z[i];
  }
  return dense;
}

// Whether Cholesky's factorization exists: the matrix, of which the lower triangle is read, is
// positive definite.
bool is_positive_definite(std::vector<double> a, Index n) {
  for (Index j = 0; j < n; ++j) {
    for (Index k = 0; k < j; ++k) {
      for (Index i = j; i < n; ++i) a[i * n + j] -= a[i * n + k] * a[j * n + k];
    }
    if (!(a[j * n + j] > 0.0)) return false;
    const double root = std::sqrt(a[j * n + j]);
    for (Index i = j; i < n; ++i) a[i * n + j] /= root;
  }
  return true;
}

TEST(NodeBricks, HaveEveryNodeOnceAndAreNotTooLarge) {
  for (const int dimension : {2, 3}) {
    for (const IndexTriple& cells : {IndexTriple{1, 1, 1}, IndexTriple{40, 9, 3}}) {
      const BoxMesh mesh(dimension, cells, {0, 0, 0}, {1, 1, 1});
      const NodeLattice lattice(mesh, 2);
      const IndexTriple brick = default_node_brick(dimension);
      const RowBlocks blocks = make_node_bricks(lattice, brick);
      EXPECT_EQ(blocks.count(), node_brick_count(lattice, brick));
      EXPECT_EQ(blocks.begin.front(), 0);
      EXPECT_EQ(blocks.begin.back(), lattice.size());
      EXPECT_LE(blocks.max_rows(), brick[0] * brick[1] * brick[2]);
      std::vector<int> met(static_cast<std::size_t>(lattice.size()));
      for (Index block = 0; block < blocks.count(); ++block) {
        ASSERT_LT(blocks.begin[block], blocks.begin[block + 1]);
        const IndexTriple first = lattice.node_position(blocks.rows[blocks.begin[block]]);
        for (Index q = blocks.begin[block]; q < blocks.begin[block + 1]; ++q) {
          ++met[blocks.rows[q]];
          const IndexTriple node = lattice.node_position(blocks.rows[q]);
          for (int d = 0; d < 3; ++d) {
            ASSERT_GE(node[d], first[d]);
            ASSERT_LT(node[d], first[d] + brick[d]);
          }
        }
      }
      EXPECT_EQ(met, std::vector<int>(met.size(), 1));
    }
  }
}

template <class T, class Space>
void expect_equal_to_reference(const Problem& problem) {
  const IndexTriple brick = small_brick(problem.form.discretization->lattice.dimension());
  const DenseBlockJacobi reference(problem.form, brick);
  const std::vector<double> b = random_input<T>(problem.size(), 51);
  const std::vector<double> guess = random_input<T>(problem.size(), 53);
  const std::vector<double> zero(b.size());
  for (const int sweeps : {1, 2, 3}) {
    for (const int local_sweeps : {1, 4}) {
      SCOPED_TRACE(::testing::Message() << sweeps << " sweeps of " << local_sweeps);
      const auto m = make_block_jacobi<T, Space>(problem.form, {sweeps, local_sweeps}, brick);
      const BlockSweep sweep{local_sweeps, m->damping(), m->relaxation()};
      EXPECT_LT(relative_difference(applied(*m, vector_of<T>(b)),
                                    reference.smooth(b, zero, sweeps, sweep)),
                tolerance<T>());
      auto x = vector_in<T, Space>(guess);
      m->smooth(vector_in<T, Space>(b), x);
      EXPECT_LT(relative_difference(on_host(x), reference.smooth(b, guess, sweeps, sweep)),
                tolerance<T>())
          << "from a guess";
    }
  }
}

class BlockJacobiTest : public EveryProcessorTest<DegreeAndProcessor> {
 protected:
  static ProblemOptions options() {
    return small_options(std::get<0>(GetParam()), std::get<1>(GetParam()));
  }
  /// Numbers of threads to run with; on the GPU it is all the same.
  static std::vector<int> thread_counts(std::vector<int> on_the_host) {
    return processor() == Processor::cpu ? std::move(on_the_host) : std::vector<int>{1};
  }
};

TEST_P(BlockJacobiTest, EqualsTheReference) {
  for (const int threads : thread_counts({1, 3})) {
    const ThreadsInUse count(threads);
    for_each_boundary(options(), [](const Problem& problem) {
      in_space_of_processor([&]<class Space>() {
        expect_equal_to_reference<double, Space>(problem);
        expect_equal_to_reference<float, Space>(problem);
      });
    });
  }
}

TEST_P(BlockJacobiTest, AsynchronousSweepsConvergeToTheSolutionOfCg) {
  const Problem problem = make_problem(options());
  const auto a = make_csr_matrix<double>(problem.form);
  const HostVector<double> b = vector_of<double>(random_values(problem.size(), 59));
  HostVector<double> expected(problem.size());
  SolveOptions exact;
  exact.relative_tolerance = 1e-13;
  const SolveReport report = cg(*a, nullptr, b, expected, exact);
  ASSERT_LT(report.true_relative_residual, 1e-11);
  // Blocks that run at the same time see less of each other than those of few threads.
  const int calls = processor() == Processor::cpu ? 400 : 2000;
  in_space_of_processor([&]<class Space>() {
    const auto m = make_block_jacobi<double, Space>(
        problem.form, {8, 4, 0.0, BlockExchange::asynchronous},
        small_brick(problem.form.discretization->lattice.dimension()));
    const auto rhs = in_space<Space>(b);
    for (const int threads : thread_counts({1, 2, 4})) {
      const ThreadsInUse count(threads);
      for (int run = 0; run < 3; ++run) {
        auto x = poisoned<double, Space>(problem.size());
        m->smooth_from_zero(rhs, x);
        for (int call = 0; call < calls; ++call) m->smooth(rhs, x);
        EXPECT_LT(relative_difference(on_host(x), values_of(expected)), 1e-9)
            << threads << " threads";
      }
    }
  });
}

// A form without boundary terms has the constants in its kernel. Asynchronous sweeps are others in
// every run.
TEST_P(BlockJacobiTest, StaysFiniteWhereTheMatrixIsSingular) {
  ProblemOptions options = BlockJacobiTest::options();
  options.boundary = Boundary::none;
  const Problem problem = make_problem(options);
  in_space_of_processor([&]<class Space>() {
    const auto a = make_operator<double, Space>({"csr", "none"}, problem.form);
    const auto b =
        in_space<Space>(applied(*a, vector_of<double>(random_values(problem.size(), 61))));
    for (const BlockExchange exchange : {BlockExchange::synchronous, BlockExchange::asynchronous}) {
      const auto m = make_block_jacobi<double, Space>(
          problem.form, {2, 4, 0.0, exchange},
          small_brick(problem.form.discretization->lattice.dimension()));
      EXPECT_GT(m->damping(), 0.0);
      EXPECT_LE(m->relaxation(), 1.0);
      for (int run = 0; run < 3; ++run) {
        EXPECT_LT(residuals_of_iteration(*a, *m, b, 50).back(), 0.2);
      }
    }
  });
}

// CG takes at most this share of the iterations that it takes with Jacobi, to the plain solution.
template <class Space>
void expect_fewer_iterations_than_jacobi(const ProblemOptions& options, double share,
                                         const std::vector<int>& sweep_counts) {
  const Problem problem = make_problem(options);
  const auto a = make_operator<double, Space>({"csr", "none"}, problem.form);
  const auto b = vector_in<double, Space>(random_values(problem.size(), 67));
  SolveOptions tight;
  tight.relative_tolerance = 1e-12;
  Vector<double, Space> plain(problem.size());
  ASSERT_EQ(cg(*a, nullptr, b, plain, tight).status, SolveStatus::converged);
  const Jacobi<double, Space> jacobi(*a);
  Vector<double, Space> x(problem.size());
  const int of_jacobi = cg(*a, &jacobi, b, x, tight).iterations;
  for (const int sweeps : sweep_counts) {
    const auto m = make_block_jacobi<double, Space>(problem.form, {sweeps, 4});
    fill(x, 0.0);
    const SolveReport report = cg(*a, m.get(), b, x, tight);
    EXPECT_EQ(report.status, SolveStatus::converged);
    EXPECT_LT(report.iterations, share * of_jacobi) << sweeps << " sweeps";
    EXPECT_LT(relative_difference(on_host(x), values_of(plain)), 1e-9);
  }
}

// On the GPU CG replays what apply() launches as a CUDA graph.
TEST_P(BlockJacobiTest, WithCgHasThePlainSolutionInFewerIterationsThanJacobi) {
  ProblemOptions options = BlockJacobiTest::options();
  const int p = options.degree;
  options.cells =
      options.dimension == 2 ? IndexTriple{48 / p, 36 / p, 1} : IndexTriple{20 / p, 16 / p, 12 / p};
  in_space_of_processor([&]<class Space>() {
    expect_fewer_iterations_than_jacobi<Space>(options, 0.8, {1, 2, 3});
  });
}

INSTANTIATE_TEST_SUITE_P(Degrees, BlockJacobiTest,
                         ::testing::Combine(::testing::Values(2, 3), ::testing::Values(1, 2, 3, 4),
                                            ::testing::ValuesIn(every_processor())),
                         name_with_processor);

TEST(BlockJacobiWithCg, HasThePlainSolutionInFewerIterationsThanJacobi) {
  for (const int degree : {1, 3}) {
    ProblemOptions options;
    options.degree = degree;
    options.cells = degree == 1 ? IndexTriple{20, 14, 11} : IndexTriple{7, 5, 4};
    expect_fewer_iterations_than_jacobi<Host>(options, 0.7, {1, 2});
  }
}

class HostBlockJacobi : public ::testing::TestWithParam<DimensionAndDegree> {
 protected:
  static ProblemOptions options() {
    return small_options(std::get<0>(GetParam()), std::get<1>(GetParam()));
  }
};

TEST_P(HostBlockJacobi, IsSymmetricAndPositiveDefinite) {
  for_each_boundary(options(), [](const Problem& problem) {
    const Index n = problem.size();
    const IndexTriple brick = small_brick(problem.form.discretization->lattice.dimension());
    for (const int sweeps : {1, 2, 3}) {
      for (const int local_sweeps : {1, 2, 3, 4}) {
        const auto m = make_block_jacobi<double>(problem.form, {sweeps, local_sweeps}, brick);
        const std::vector<double> dense = dense_preconditioner(*m, n);
        double most = 0.0;
        double difference = 0.0;
        for (Index i = 0; i < n; ++i) {
          for (Index j = 0; j < n; ++j) {
            ASSERT_TRUE(std::isfinite(dense[i * n + j]));
            most = std::max(most, std::abs(dense[i * n + j]));
            difference = std::max(difference, std::abs(dense[i * n + j] - dense[j * n + i]));
          }
        }
        EXPECT_LT(difference, 1e-13 * most);
        EXPECT_TRUE(is_positive_definite(dense, n)) << sweeps << " sweeps of " << local_sweeps;
      }
    }
    const double damping = make_block_jacobi<double>(problem.form, {1, 2}, brick)->damping();
    const auto wild = make_block_jacobi<double>(problem.form, {1, 2, 3.0 * damping}, brick);
    EXPECT_FALSE(is_positive_definite(dense_preconditioner(*wild, n), n));
  });
}

TEST_P(HostBlockJacobi, OneBlockOfEverythingSolvesTheSystem) {
  ProblemOptions options = HostBlockJacobi::options();
  options.cells = {3, 2, 1};
  const Problem problem = make_problem(options);
  const auto a = make_csr_matrix<double>(problem.form);
  const std::vector<double> solution = random_values(problem.size(), 57);
  const HostVector<double> b = applied(*a, vector_of<double>(solution));
  for (const BlockExchange exchange : {BlockExchange::synchronous, BlockExchange::asynchronous}) {
    const auto m = make_block_jacobi<double>(problem.form, {1, 3000, 0.0, exchange},
                                             problem.form.discretization->lattice.extents());
    EXPECT_LT(relative_difference(applied(*m, b), solution), 1e-9);
  }
}

TEST_P(HostBlockJacobi, BytesAreForeseen) {
  for_each_boundary(options(), [](const Problem& problem) {
    const FormShape shape = form_shape(problem.form, Processor::cpu, sizeof(float));
    for (const BlockExchange exchange : {BlockExchange::synchronous, BlockExchange::asynchronous}) {
      const auto m = make_block_jacobi<float>(problem.form, {1, 1, 1.0, exchange});
      EXPECT_EQ(m->bytes(), block_jacobi_bytes(shape, exchange).held);
      EXPECT_GT(block_jacobi_bytes(shape, exchange).peak, m->bytes());
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Degrees, HostBlockJacobi,
                         ::testing::Combine(::testing::Values(2, 3), ::testing::Values(1, 2, 3, 4)),
                         name_of);

TEST(ResidualSpreads, AreThoseOfGivenRuns) {
  const std::vector<IterationSpread> spreads =
      iteration_spreads({{1.0, 0.5}, {3.0, 0.5}}, {2.5, 0.25});
  ASSERT_EQ(spreads.size(), 2);
  EXPECT_EQ(spreads[0].iteration, 1);
  EXPECT_EQ(spreads[0].min, 1.0);
  EXPECT_EQ(spreads[0].mean, 2.0);
  EXPECT_EQ(spreads[0].max, 3.0);
  EXPECT_EQ(spreads[0].deviation, 1.0);
  EXPECT_EQ(spreads[0].synchronous, 2.5);
  EXPECT_EQ(spreads[1].iteration, 2);
  EXPECT_EQ(spreads[1].deviation, 0.0);
}

TEST(ResidualSpreads, AreZeroForTheSynchronousMethodAndResidualsFall) {
  const Problem problem = make_problem(small_options(3, 1));
  const auto a = make_csr_matrix<double>(problem.form);
  const HostVector<double> b = vector_of<double>(random_values(problem.size(), 71));
  const IndexTriple brick = small_brick(3);
  const auto synchronous = make_block_jacobi<double>(problem.form, {2, 3}, brick);
  const auto asynchronous =
      make_block_jacobi<double>(problem.form, {2, 3, 0.0, BlockExchange::asynchronous}, brick);
  for (const IterationSpread& spread :
       convergence_spread<double, Host>(*a, *synchronous, *synchronous, b, 5, 3)) {
    EXPECT_EQ(spread.min, spread.max);
    EXPECT_EQ(spread.min, spread.synchronous);
  }
  const ThreadsInUse count(2);
  const auto spreads = convergence_spread<double, Host>(*a, *asynchronous, *synchronous, b, 40, 5);
  ASSERT_EQ(spreads.size(), 40);
  for (const IterationSpread& spread : spreads) {
    EXPECT_LE(spread.min, spread.mean * (1.0 + 1e-12));
    EXPECT_LE(spread.mean, spread.max * (1.0 + 1e-12));
  }
  EXPECT_LT(spreads.back().max, 0.5 * spreads.front().min);
}

}  // namespace
}  // namespace tessera::testing
