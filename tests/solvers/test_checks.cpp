// These tests check that errors of the program end it.
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "solvers/check.hpp"
#include "solvers/preconditioners/chebyshev.hpp"
#include "solvers/preconditioners/dense_inverse.hpp"
#include "solvers/preconditioners/multigrid.hpp"
#include "tests/device_test.hpp"
#include "tests/solvers/diagonal_systems.hpp"
#include "tests/solvers/operators_to_solve.hpp"
#include "tests/solvers/solve_once.hpp"

namespace tessera::testing {
namespace {

class Checks : public ::testing::Test {
 protected:
  // Threads of OpenMP do not survive a plain fork.
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  DiagonalOperator<double> a_{{1.0, 2.0, 3.0}};
  HostVector<double> three_{3};
  HostVector<double> also_three_{3};
  HostVector<double> four_{4};
};

using ChecksDeathTest = Checks;

TEST_F(Checks, HoldWithoutAWord) {
  TESSERA_CHECK(1 + 1 == 2);
  HostVector<double> x(3);
  HostVector<double> y(3);
  a_.apply(x, y);
  a_.apply(y, x);
  a_.diagonal(y);
}

TEST_F(ChecksDeathTest, SayWhatDoesNotHoldAndWhere) {
  const int least = 3;
  EXPECT_DEATH(TESSERA_CHECK(least < 2), "internal error.*not least < 2, at .*test_checks.cpp:");
}

TEST_F(ChecksDeathTest, VectorsOfAnotherSizeAreRefused) {
  EXPECT_DEATH(a_.apply(four_, three_), "x.size\\(\\) == size\\(\\)");
  EXPECT_DEATH(a_.apply(three_, four_), "y.size\\(\\) == size\\(\\)");
  EXPECT_DEATH(a_.diagonal(four_), "d.size\\(\\) == size\\(\\)");
  const WithFusedForms<double> fused(a_);
  double sums[2];
  EXPECT_DEATH(fused.apply_dot(four_, three_, sums), "x.size\\(\\) == y.size\\(\\)");
  HostVector<double> r(3);
  EXPECT_DEATH(fused.residual(four_, three_, r, sums), "b.size\\(\\) == r.size\\(\\)");
}

TEST_F(ChecksDeathTest, VectorOperationsOfTwoSizesAreRefused) {
  EXPECT_DEATH(copy(three_, four_), "x.size\\(\\) == y.size\\(\\)");
  EXPECT_DEATH(axpy(1.0, three_, four_), "x.size\\(\\) == y.size\\(\\)");
  EXPECT_DEATH(dot(three_, four_), "x.layout\\(\\) == y.layout\\(\\)");
  EXPECT_DEATH(multiply(three_, three_, four_), "x.size\\(\\) == z.size\\(\\)");
  EXPECT_DEATH(subtract_from(three_, four_), "b.size\\(\\) == r.size\\(\\)");
}

// A vector made without the operator's layout would be summed on one rank only.
TEST_F(ChecksDeathTest, SumsOfVectorsOfTwoLayoutsAreRefused) {
  const auto shared = std::make_shared<const SharedEntries>(
      single_rank(), std::vector<EntryPlane>(), WholeNumbers{0, 3, 1, {3, 3}, 3});
  const HostVector<double> x(VectorLayout(3, shared));
  EXPECT_EQ(dot(x, x), 0.0);
  EXPECT_DEATH(dot(x, three_), "x.layout\\(\\) == y.layout\\(\\)");
  EXPECT_DEATH(dot(three_, x), "x.layout\\(\\) == y.layout\\(\\)");
}

TEST_F(ChecksDeathTest, OutputsThatAreInputsAreRefused) {
  HostVector<double> x(3);
  EXPECT_DEATH(a_.apply(x, x), "&x != &y");
  const WithFusedForms<double> fused(a_);
  double sums[2];
  EXPECT_DEATH(fused.apply_dot(x, x, sums), "&x != &y");
  HostVector<double> b(3);
  EXPECT_DEATH(fused.residual(b, x, x, sums), "&x != &r");
  // The residual may replace the right-hand side.
  fused.residual(b, x, b, sums);
}

TEST_F(ChecksDeathTest, PreconditionersRefuseTheSame) {
  const Jacobi<double> jacobi(a_);
  HostVector<double> ones(3);
  fill(ones, 1.0);
  const Chebyshev<double, Host> chebyshev(a_, std::move(ones), chebyshev_steps(2, 0.3, 3.0));
  const DenseMatrix<double, Host> dense(dense_inverse(a_, NullSpace::none));
  const InSinglePrecision<Host> rounded(
      3, std::make_unique<DenseMatrix<float, Host>>(std::vector<double>(9, 1.0)));
  for (const Preconditioner<double, Host>* m :
       {static_cast<const Preconditioner<double, Host>*>(&jacobi),
        static_cast<const Preconditioner<double, Host>*>(&chebyshev),
        static_cast<const Preconditioner<double, Host>*>(&dense),
        static_cast<const Preconditioner<double, Host>*>(&rounded)}) {
    EXPECT_EQ(m->size(), 3);
    m->apply(three_, also_three_);
    EXPECT_DEATH(m->apply(four_, three_), "r.size\\(\\) == size\\(\\)");
    EXPECT_DEATH(m->apply(three_, four_), "z.size\\(\\) == size\\(\\)");
    EXPECT_DEATH(m->apply(three_, three_), "&r != &z");
  }
}

/// Says that it is for more rows than its diagonal has.
class WrongDiagonal final : public Preconditioner<double, Host> {
 public:
  std::int64_t size() const override { return 4; }
  void do_apply(const HostVector<double>&, HostVector<double>&) const override {}
  const HostVector<double>* do_as_diagonal() const override { return &entries_; }

 private:
  HostVector<double> entries_{3};
};

TEST_F(ChecksDeathTest, DiagonalsOfAnotherSizeAreRefused) {
  EXPECT_DEATH(WrongDiagonal().as_diagonal(), "entries->size\\(\\) == size\\(\\)");
  // Solvers multiply by the entries without their number.
  const DiagonalOperator<double> larger({1.0, 2.0, 3.0, 4.0});
  const Jacobi<double> m(larger);
  HostVector<double> b(3);
  fill(b, 1.0);
  HostVector<double> x(3);
  // By the solver, or by the first product.
  const char* const message = "m->size\\(\\) == a.size\\(\\)|x.size\\(\\) == z.size\\(\\)";
  EXPECT_DEATH((cg<double, Host>(a_, &m, b, x, {})), message);
  EXPECT_DEATH((pipelined_cg<double, Host>(a_, &m, b, x, {})), message);
  EXPECT_DEATH((single_reduction_cg<double, Host>(a_, &m, b, x, {})), message);
  EXPECT_DEATH((richardson<double, Host>(a_, &m, b, x, 0.5, {})), message);
}

TEST_F(ChecksDeathTest, SmoothersRefuseTheSame) {
  HostVector<double> ones(3);
  fill(ones, 1.0);
  const Chebyshev<double, Host> chebyshev(a_, std::move(ones), chebyshev_steps(2, 0.3, 3.0));
  const Smoother<double, Host>& smoother = chebyshev;
  smoother.smooth_from_zero(three_, also_three_);
  smoother.smooth(three_, also_three_);
  EXPECT_DEATH(smoother.smooth_from_zero(four_, three_), "b.size\\(\\) == size\\(\\)");
  EXPECT_DEATH(smoother.smooth_from_zero(three_, four_), "x.size\\(\\) == size\\(\\)");
  EXPECT_DEATH(smoother.smooth_from_zero(three_, three_), "&b != &x");
  EXPECT_DEATH(smoother.smooth(four_, three_), "b.size\\(\\) == size\\(\\)");
  EXPECT_DEATH(smoother.smooth(three_, four_), "x.size\\(\\) == size\\(\\)");
  EXPECT_DEATH(smoother.smooth(three_, three_), "&b != &x");
}

/// From two values to three: the first two stay.
class FirstTwo final : public Transfer<double, Host> {
 public:
  std::int64_t coarse_size() const override { return 2; }
  std::int64_t fine_size() const override { return 3; }
  std::int64_t bytes() const override { return 0; }
  void do_restrict_to_coarse(const HostVector<double>& fine,
                             HostVector<double>& coarse) const override {
    for (int i = 0; i < 2; ++i) coarse[i] = fine[i];
  }
  void do_add_prolonged(const HostVector<double>& coarse, HostVector<double>& fine) const override {
    for (int i = 0; i < 2; ++i) fine[i] += coarse[i];
  }
};

TEST_F(ChecksDeathTest, TransfersRefuseVectorsOfAnotherSize) {
  const FirstTwo transfer;
  HostVector<double> two(2);
  transfer.restrict_to_coarse(three_, two);
  transfer.add_prolonged(two, three_);
  EXPECT_DEATH(transfer.restrict_to_coarse(two, two), "fine.size\\(\\) == fine_size\\(\\)");
  EXPECT_DEATH(transfer.restrict_to_coarse(three_, three_),
               "coarse.size\\(\\) == coarse_size\\(\\)");
  EXPECT_DEATH(transfer.add_prolonged(three_, three_), "coarse.size\\(\\) == coarse_size\\(\\)");
  EXPECT_DEATH(transfer.add_prolonged(two, two), "fine.size\\(\\) == fine_size\\(\\)");
}

TEST_F(ChecksDeathTest, OneApplicationAtATime) {
  HostVector<double> x(3);
  HostVector<double> y(3);
  const TamperedOperator<double>* self = nullptr;
  const TamperedOperator<double> nested(a_, [&](int application, HostVector<double>& result) {
    HostVector<double> again(3);
    if (application == 1) self->apply(result, again);
  });
  self = &nested;
  EXPECT_DEATH(nested.apply(x, y), "is_used_already");
  const TamperedOperator<double> diagonal(
      a_, [&](int, HostVector<double>& result) { diagonal.diagonal(result); });
  EXPECT_DEATH(diagonal.apply(x, y), "is_used_already");
}

TEST_F(Checks, AnApplicationThatThrowsIsOver) {
  const TamperedOperator<double> throws(a_, [](int application, HostVector<double>&) {
    if (application == 1) throw std::runtime_error("no");
  });
  const HostVector<double> x(3);
  HostVector<double> y(3);
  EXPECT_THROW(throws.apply(x, y), std::runtime_error);
  throws.apply(x, y);
}

#ifndef NDEBUG
TEST_F(ChecksDeathTest, IndicesOutOfAVectorAreRefused) {
  HostVector<double> x(3);
  EXPECT_DEATH(x[3] = 1.0, "i < size\\(\\)");
  EXPECT_DEATH(x[-1] = 1.0, "0 <= i");
}
#endif

using DeviceDiagonal = DiagonalOperator<double, Device>;
using DeviceJacobi = Jacobi<double, Device>;

TEST_F(ChecksDeathTest, DeviceOperatorsRefuseTheSame) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    EXPECT_DEATH(
        {
          const DeviceDiagonal a({1, 2, 3});
          DeviceVector<double> x(3);
          DeviceVector<double> y(4);
          a.apply(x, y);
        },
        "y.size\\(\\) == size\\(\\)");
    EXPECT_DEATH(
        {
          const DeviceDiagonal a({1, 2, 3});
          DeviceVector<double> x(3);
          a.apply(x, x);
        },
        "&x != &y");
    EXPECT_DEATH(
        {
          const DeviceJacobi m(DeviceDiagonal({1, 2, 3}));
          DeviceVector<double> r(3);
          DeviceVector<double> z(4);
          m.apply(r, z);
        },
        "z.size\\(\\) == size\\(\\)");
    EXPECT_DEATH(
        {
          const DeviceDiagonal a({1, 2, 3});
          const DeviceJacobi m(DeviceDiagonal({1, 2, 3, 4}));
          const DeviceVector<double> b(3);
          DeviceVector<double> x(3);
          cg(a, &m, b, x, {});
        },
        "m->size\\(\\) == a.size\\(\\)");
  }
}

}  // namespace
}  // namespace tessera::testing
