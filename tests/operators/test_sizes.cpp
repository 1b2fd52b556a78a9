// These tests compare foreseen bytes with those that operators hold.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "operators/cells/batching.hpp"
#include "operators/cells/scatter.hpp"
#include "operators/csr/csr.hpp"
#include "operators/local/local.hpp"
#include "operators/strategy.hpp"
#include "tests/operators/problems.hpp"
#include "tests/operators/suitable.hpp"

namespace tessera::testing {
namespace {

template <class T, class F>
void for_each_problem(const IndexTriple& cells, F&& check) {
  for (const int dimension : {2, 3}) {
    for (const Geometry geometry : {Geometry::cartesian, Geometry::curved, Geometry::graded}) {
      for (const Coefficient coefficient : {Coefficient::constant, Coefficient::variable}) {
        for (const int degree : {1, 2, 3}) {
          ProblemOptions options;
          options.dimension = dimension;
          options.geometry = geometry;
          options.coefficient = coefficient;
          options.degree = degree;
          options.points = degree + 2;
          options.cells = cells;
          SCOPED_TRACE(describe(options));
          const Problem problem = make_problem(options);
          for (const StrategyName& variant : host_variants(problem.form)) {
            SCOPED_TRACE(variant.text());
            const FormShape shape = form_shape(problem.form, Processor::cpu, sizeof(T));
            const Index predicted = operator_bytes(variant, shape).held;
            const Index held = make_operator<T>(variant, problem.form)->bytes();
            check(problem, variant, predicted, held);
            EXPECT_GE(operator_bytes(variant, shape).peak, predicted);
          }
        }
      }
    }
  }
}

// One thread and rows of whole batches: nothing is padded and nothing is held twice.
TEST(OperatorBytes, AreWhatTheOperatorHolds) {
  const ThreadsInUse count(1);
  const auto equal = [](const Problem&, const StrategyName&, Index predicted, Index held) {
    EXPECT_EQ(predicted, held);
  };
  for_each_problem<double>({16, 2, 3}, equal);
  for_each_problem<float>({16, 2, 3}, equal);
}

TEST(OperatorBytes, AreThoseOfMassMatrices) {
  const ThreadsInUse count(1);
  for (const int dimension : {2, 3}) {
    for (const Geometry geometry : {Geometry::cartesian, Geometry::curved, Geometry::graded}) {
      for (const Reaction reaction : {Reaction::constant, Reaction::variable}) {
        ProblemOptions options;
        options.dimension = dimension;
        options.geometry = geometry;
        options.reaction = reaction;
        options.cells = {16, 2, 3};
        options.boundary = Boundary::dirichlet;
        Problem problem = make_problem(options);
        problem.form.coefficient = constant_field(0.0);
        SCOPED_TRACE(describe(options));
        for (const std::string kernel : {"tensor", "local"}) {
          for (const StrategyName& variant : host_variants(problem.form)) {
            if (variant.kernel != kernel || variant.factors == FactorStorage::on_the_fly) continue;
            SCOPED_TRACE(variant.text());
            const FormShape shape = form_shape(problem.form, Processor::cpu, sizeof(double));
            EXPECT_EQ(operator_bytes(variant, shape).held,
                      make_operator<double>(variant, problem.form)->bytes());
          }
        }
      }
    }
  }
}

// Otherwise batches are padded to whole SIMD vectors.
TEST(OperatorBytes, AreALowerBoundOnOddMeshes) {
  const ThreadsInUse count(2);
  for_each_problem<double>({11, 3, 2},
                           [](const Problem&, const StrategyName&, Index predicted, Index held) {
                             EXPECT_LE(predicted, held);
                             EXPECT_LE(held, kLanes<double> * predicted);
                           });
}

// Threads whose bricks begin in one layer have most of it each.
TEST(OperatorBytes, CountTheBuffersOfManyThreads) {
  for (const int threads : {1, 2, 7, 64}) {
    const ThreadsInUse count(threads);
    for (const int dimension : {2, 3}) {
      for (const int degree : {1, 4}) {
        ProblemOptions options;
        options.dimension = dimension;
        options.degree = degree;
        options.cells = {37, 21, dimension == 3 ? 11 : 1};
        SCOPED_TRACE(describe(options) + ", threads " + std::to_string(threads));
        const Problem problem = make_problem(options);
        const Discretization& discretization = *problem.form.discretization;
        const auto batches = make_batches<double>(discretization);
        const Index held =
            make_scatter<double>("private", *batches, discretization.lattice)->bytes();
        EXPECT_EQ(
            scatter_bytes("private", form_shape(problem.form, Processor::cpu, sizeof(double))),
            held);
        const Index least = threads == 64 ? 2 * problem.size() : problem.size();
        EXPECT_GE(held, least * Index{sizeof(double)});
      }
    }
  }
}

// Pairs of free nodes that share a cell, and one entry for each constrained row, by counting.
Index count_nonzeros(const NodeLattice& lattice, FaceSet dirichlet) {
  const IndexTriple counts = lattice.extents();
  const Index p = lattice.degree();
  const auto position = [&](Index node) {
    return IndexTriple{node % counts[0], node / counts[0] % counts[1],
                       node / (counts[0] * counts[1])};
  };
  const auto constrained = [&](const IndexTriple& node) {
    for (int d = 0; d < lattice.dimension(); ++d) {
      if (dirichlet[2 * d] && node[d] == 0) return true;
      if (dirichlet[2 * d + 1] && node[d] == counts[d] - 1) return true;
    }
    return false;
  };
  // Along an axis two nodes share a cell if a grid line interval [c p, (c + 1) p] has both.
  const auto share = [&](Index a, Index b) {
    for (Index c = 0; c * p <= std::max(counts[0], std::max(counts[1], counts[2])); ++c) {
      if (std::min(a, b) >= c * p && std::max(a, b) <= (c + 1) * p) return true;
    }
    return false;
  };
  Index nonzeros = 0;
  for (Index i = 0; i < lattice.size(); ++i) {
    const IndexTriple row = position(i);
    if (constrained(row)) {
      ++nonzeros;
      continue;
    }
    for (Index j = 0; j < lattice.size(); ++j) {
      const IndexTriple column = position(j);
      if (constrained(column)) continue;
      const bool coupled = share(row[0], column[0]) && share(row[1], column[1]) &&
                           (lattice.dimension() == 2 || share(row[2], column[2]));
      if (coupled) ++nonzeros;
    }
  }
  return nonzeros;
}

TEST(CsrNonzeros, AreTheCountedOnes) {
  for (const int dimension : {2, 3}) {
    for (const int degree : {1, 2, 3}) {
      for (const IndexTriple& cells :
           {IndexTriple{1, 1, 1}, IndexTriple{2, 1, 1}, IndexTriple{3, 2, 1}}) {
        const BoxMesh mesh(dimension, cells, {0, 0, 0}, {1, 1, 1});
        const NodeLattice lattice(mesh, degree);
        for (unsigned set = 0; set < 1u << (2 * dimension); set += dimension == 2 ? 1 : 3) {
          ASSERT_EQ(csr_nonzeros(lattice, FaceSet(set)), count_nonzeros(lattice, FaceSet(set)))
              << dimension << "D p=" << degree << " cells " << cells[0] << "x" << cells[1]
              << " faces " << FaceSet(set);
        }
      }
    }
  }
}

// 360^3 cells of degree 4: 1441^3 = 2,992,209,121 nodes. Nothing of that size is allocated.
TEST(LargeSizes, NeedMoreThan32BitsAndHaveThem) {
  const Index n = 360;
  const Index p = 4;
  const BoxMesh mesh(3, {n, n, n}, {0, 0, 0}, {1, 1, 1});
  const NodeLattice lattice(mesh, static_cast<int>(p));
  EXPECT_EQ(lattice.size(), Index{2992209121});
  const Index last = lattice.size() - 1;
  EXPECT_EQ(lattice.node_position(last), (IndexTriple{1440, 1440, 1440}));
  EXPECT_EQ(lattice.node_index({1440, 1440, 1440}), last);
  EXPECT_EQ(
      lattice.first_node({n - 1, n - 1, n - 1}) + p * (1 + lattice.stride(1) + lattice.stride(2)),
      last);
  EXPECT_EQ(face_nodes(lattice, static_cast<int>(Face::front)).first, last - 1441 * 1441 + 1);

  // Along an axis: 2 ends and the nodes inside cells couple to p + 1, inner grid lines to 2 p + 1.
  const Index along = (2 + n * (p - 1)) * (p + 1) + (n - 1) * (2 * p + 1);
  EXPECT_EQ(csr_nonzeros(lattice, {}), along * along * along);
  EXPECT_GT(along * along * along, Index{600'000'000'000});
  EXPECT_EQ(csr_bytes(lattice, {}, 8), along * along * along * 16 + (lattice.size() + 1) * 8);

  const Index cells = n * n * n;
  EXPECT_EQ(mesh.cell_count(), cells);
  EXPECT_EQ(geometric_factor_bytes(FactorKind::general, ReactionKind::none, 3, cells, 5, 8),
            cells * 125 * 6 * 8);
  EXPECT_EQ(geometric_factor_bytes(FactorKind::scaled, ReactionKind::none, 3, cells, 5, 8),
            cells * 125 * 8);
  EXPECT_EQ(geometric_factor_bytes(FactorKind::constant, ReactionKind::none, 3, cells, 5, 8),
            125 * 8);
  EXPECT_EQ(local_matrix_bytes(FactorKind::general, 3, cells, 4, 8), cells * (125 * 126 / 2) * 8);
  const FormShape shape = mapped_shape(Processor::cpu, mesh, 4);
  EXPECT_EQ(operator_bytes({"tensor", "serial"}, shape).held, cells * 125 * 6 * 8);
  const ThreadsInUse one(1);
  EXPECT_EQ(operator_bytes({"tensor", "private"}, shape).held,
            cells * 125 * 6 * 8 + lattice.size() * 8);
}

TEST(LargeSizes, CellNumbersNeedMoreThan32BitsAndHaveThem) {
  const BoxMesh mesh(2, {100000, 90000, 1}, {0, 0, 0}, {1, 1, 1});
  EXPECT_EQ(mesh.cell_count(), Index{9'000'000'000});
  EXPECT_EQ(mesh.cell_index({99999, 89999, 0}), Index{8'999'999'999});
  EXPECT_EQ(mesh.cell_position(8'999'999'999), (IndexTriple{99999, 89999, 0}));
}

// Sizes beyond 64 bits are the largest Index, and no pattern is made to count them.
TEST(LargeSizes, StayAtTheLargestIndex) {
  constexpr Index kLargest = std::numeric_limits<Index>::max();
  const BoxMesh mesh(3, {200000, 200000, 200000}, {0, 0, 0}, {1, 1, 1});
  for (const Processor processor : {Processor::cpu, Processor::gpu}) {
    for (const StrategyName& strategy : all_strategies(processor)) {
      const OperatorBytes bytes = operator_bytes(strategy, mapped_shape(processor, mesh, 2));
      EXPECT_GT(bytes.held, 0) << strategy.text();
      EXPECT_GE(bytes.peak, bytes.held) << strategy.text();
    }
  }
  const BoxMesh fewer(3, {10000, 10000, 10000}, {0, 0, 0}, {1, 1, 1});
  const NodeLattice high(fewer, 32);
  const FormShape beyond = mapped_shape(Processor::cpu, fewer, 32);
  EXPECT_EQ(csr_nonzeros(high, {}), kLargest);
  EXPECT_EQ(operator_bytes({"csr"}, beyond).held, kLargest);
  EXPECT_EQ(operator_bytes({"local", "serial"}, beyond).held, kLargest);
}

TEST(LargeSizes, OfAStripNeedNoMemory) {
  const BoxMesh mesh(2, {2000000000, 1, 1}, {0, 0, 0}, {1, 1, 1});
  const NodeLattice lattice(mesh, 1);
  EXPECT_EQ(csr_nonzeros(lattice, {}), (3 * Index{2000000000} + 1) * 4);
}

// The first matrix whose nonzeros do not fit 4-byte indices has 8-byte ones.
TEST(CsrBytes, HaveWiderIndicesBeyond31Bits) {
  const auto bytes_per_nonzero = [](Index n) {
    const BoxMesh mesh(2, {n, n, 1}, {0, 0, 0}, {1, 1, 1});
    const NodeLattice lattice(mesh, 1);
    const Index nonzeros = csr_nonzeros(lattice, {});
    EXPECT_EQ(nonzeros, (3 * n + 1) * (3 * n + 1));
    return (csr_bytes(lattice, {}, 8)) / nonzeros;
  };
  // (3 n + 1)^2 = 2147476921 and 2147754961 on either side of 2^31 - 1.
  EXPECT_EQ(bytes_per_nonzero(15446), 12);
  EXPECT_EQ(bytes_per_nonzero(15447), 16);
}

}  // namespace
}  // namespace tessera::testing
