// These tests compare multigrid cycles with their formula, on small matrices.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "solvers/preconditioners/dense_inverse.hpp"
#include "solvers/preconditioners/full_multigrid.hpp"
#include "solvers/preconditioners/multigrid.hpp"
#include "tests/solvers/operators_to_solve.hpp"
#include "tests/solvers/solve_once.hpp"

namespace tessera::testing {
namespace {

using Matrix = Eigen::MatrixXd;
using Values = Eigen::VectorXd;

class DenseTransfer final : public Transfer<double, Host> {
 public:
  explicit DenseTransfer(Matrix P) : P_(std::move(P)) {}
  std::int64_t coarse_size() const override { return P_.cols(); }
  std::int64_t fine_size() const override { return P_.rows(); }
  void do_restrict_to_coarse(const HostVector<double>& fine,
                             HostVector<double>& coarse) const override {
    const Values r = P_.transpose() * eigen_of(fine);
    for (int i = 0; i < r.size(); ++i) coarse[i] = r[i];
  }
  void do_add_prolonged(const HostVector<double>& coarse, HostVector<double>& fine) const override {
    const Values x = P_ * eigen_of(coarse);
    for (int i = 0; i < x.size(); ++i) fine[i] += x[i];
  }
  std::int64_t bytes() const override { return 0; }

 private:
  Matrix P_;
};

// One step of x += S (b - A x).
class DenseSmoother final : public Smoother<double, Host> {
 public:
  DenseSmoother(Matrix A, Matrix S) : A_(std::move(A)), S_(std::move(S)) {}
  std::int64_t size() const override { return A_.rows(); }
  void do_smooth_from_zero(const V& b, V& x) const override {
    fill(x, 0.0);
    do_smooth(b, x);
  }
  void do_smooth(const V& b, V& x) const override {
    const Values step = S_ * (eigen_of(b) - A_ * eigen_of(x));
    for (int i = 0; i < step.size(); ++i) x[i] += step[i];
  }

 private:
  Matrix A_;
  Matrix S_;
};

// Second differences on n = 2^l - 1 points, with linear interpolation between levels.
Matrix difference_matrix(int n) {
  Matrix A = Matrix::Zero(n, n);
  for (int i = 0; i < n; ++i) {
    A(i, i) = 2.0 * (n + 1);
    if (i > 0) A(i, i - 1) = A(i - 1, i) = -(n + 1.0);
  }
  return A;
}
Matrix interpolation_matrix(int fine) {
  const int coarse = (fine - 1) / 2;
  Matrix P = Matrix::Zero(fine, coarse);
  for (int c = 0; c < coarse; ++c) {
    P(2 * c, c) = P(2 * c + 2, c) = 0.5;
    P(2 * c + 1, c) = 1.0;
  }
  return P;
}

enum class Fused { no, yes };

class CycleOfMatrices {
 public:
  CycleOfMatrices(int level_count, Fused fused) {
    std::vector<MultigridLevel<double, Host>> levels(level_count);
    int n = 31;
    for (int l = 0; l < level_count; ++l) {
      As_.push_back(difference_matrix(n));
      const auto plain = std::make_shared<DenseOperator<double>>(As_[l]);
      plains_.push_back(plain);
      if (fused == Fused::yes) {
        levels[l].a = std::make_shared<WithFusedForms<double>>(*plain);
      } else {
        levels[l].a = plain;
      }
      if (l + 1 == level_count) {
        levels[l].coarse =
            std::make_unique<DenseMatrix<double, Host>>(dense_inverse(*plain, NullSpace::none));
      } else {
        // Not a multiple of 1 / D, and different on each level.
        Ss_.push_back(
            0.3 * (As_[l] + (1.0 + l) * Matrix(As_[l].diagonal().asDiagonal())).inverse() * 2.0);
        Ps_.push_back(interpolation_matrix(n));
        levels[l].smoother = std::make_unique<DenseSmoother>(As_[l], Ss_[l]);
        levels[l].to_coarser = std::make_unique<DenseTransfer>(Ps_[l]);
      }
      n = (n - 1) / 2;
    }
    cycle_ = std::make_unique<Multigrid<double, Host>>(std::move(levels));
  }

  const Multigrid<double, Host>& cycle() const { return *cycle_; }
  Multigrid<double, Host>& cycle() { return *cycle_; }
  const Matrix& A(std::size_t l) const { return As_[l]; }
  const Matrix& P(std::size_t l) const { return Ps_[l]; }
  const LinearOperator<double, Host>& plain(std::size_t l) const { return *plains_[l]; }

  // (I - S A)(I - P M_coarse P^T A)(I - S A) = I - M A.
  Matrix expected(std::size_t l) const {
    const Matrix inverse = As_[l].inverse();
    if (l + 1 == As_.size()) return inverse;
    const Matrix one = Matrix::Identity(As_[l].rows(), As_[l].cols());
    const Matrix smooth = one - Ss_[l] * As_[l];
    const Matrix coarse = one - Ps_[l] * expected(l + 1) * Ps_[l].transpose() * As_[l];
    return (one - smooth * coarse * smooth) * inverse;
  }

 private:
  std::vector<Matrix> As_;
  std::vector<Matrix> Ss_;
  std::vector<Matrix> Ps_;
  std::vector<std::shared_ptr<const LinearOperator<double, Host>>> plains_;
  std::unique_ptr<Multigrid<double, Host>> cycle_;
};

Matrix matrix_of(const Multigrid<double, Host>& cycle, std::size_t l) {
  const std::int64_t n = cycle.level_operator(l).size();
  Matrix M(n, n);
  HostVector<double> unit(n);
  for (int j = 0; j < n; ++j) {
    fill(unit, 0.0);
    unit[j] = 1.0;
    HostVector<double> column = poisoned<double>(n);
    cycle.cycle(l, unit, column);
    M.col(j) = eigen_of(column);
  }
  return M;
}

TEST(MultigridCycles, AreTheProductOfTheirParts) {
  for (const Fused fused : {Fused::no, Fused::yes}) {
    for (const int level_count : {1, 2, 3, 4}) {
      const CycleOfMatrices levels(level_count, fused);
      EXPECT_EQ(levels.cycle().level_count(), static_cast<std::size_t>(level_count));
      for (int l = 0; l < level_count; ++l) {
        const Matrix M = matrix_of(levels.cycle(), l);
        const Matrix expected = levels.expected(l);
        EXPECT_LT((M - expected).norm(), 1e-12 * expected.norm()) << level_count << " at " << l;
        EXPECT_LT((M - M.transpose()).norm(), 1e-12 * M.norm());
        EXPECT_GT(Eigen::SelfAdjointEigenSolver<Matrix>(M).eigenvalues()[0], 0.0);
      }
    }
  }
}

// Writes down who is told what.
class Diary final : public CycleObserver {
 public:
  void begin(int level, CyclePart part) override {
    EXPECT_FALSE(is_open_);
    is_open_ = true;
    entries.emplace_back(level, part);
  }
  void end() override {
    EXPECT_TRUE(is_open_);
    is_open_ = false;
  }
  std::vector<std::pair<int, CyclePart>> entries;

 private:
  bool is_open_ = false;
};

TEST(MultigridCycles, TellTheirWatchOfEachPart) {
  CycleOfMatrices levels(3, Fused::no);
  Diary diary;
  levels.cycle().set_observer(&diary);
  const HostVector<double> b = vector_of<double>(random_values(31, 3));
  HostVector<double> x(31);
  levels.cycle().apply(b, x);
  using enum CyclePart;
  const std::vector<std::pair<int, CyclePart>> expected = {
      {0, smooth}, {0, residual}, {0, transfer}, {1, smooth},   {1, residual}, {1, transfer},
      {2, coarse}, {1, transfer}, {1, smooth},   {0, transfer}, {0, smooth}};
  EXPECT_EQ(diary.entries, expected);
  levels.cycle().set_observer(nullptr);
  levels.cycle().apply(b, x);
  EXPECT_EQ(diary.entries, expected);
}

// z_i = r_i / (i + 1).
class DivideByIndex final : public Preconditioner<float, Host> {
 public:
  explicit DivideByIndex(int size) : size_(size) {}
  std::int64_t size() const override { return size_; }
  void do_apply(const HostVector<float>& r, HostVector<float>& z) const override {
    for (std::int64_t i = 0; i < r.size(); ++i) z[i] = r[i] / static_cast<float>(i + 1);
  }

 private:
  int size_;
};

TEST(InSinglePrecisions, WorkOnResidualsOfAnySize) {
  const int n = 100;
  InSinglePrecision<Host> rounded(n, std::make_unique<DivideByIndex>(n));
  for (const double size : {1.0, 1e-60, 1e60, 1e-290, 1e290}) {
    const double scale = std::exp2(std::round(std::log2(size)));
    rounded.set_scale(scale);
    std::vector<double> values = random_values(n, 3);
    for (double& value : values) value *= size;
    HostVector<double> z = poisoned<double>(n);
    rounded.apply(vector_of<double>(values), z);
    for (int i = 0; i < n; ++i) {
      const double expected = values[i] / (i + 1);
      EXPECT_NEAR(z[i], expected, 2e-7 * std::abs(expected)) << size;
    }
  }
}

// Residuals fall by twenty orders of magnitude from where they start, both in CG.
TEST(InSinglePrecisions, PreconditionCgWhateverTheSizeOfTheData) {
  const int n = 60;
  const DenseOperator<double> a(random_spd_matrix(n, 1e4, 3));
  const std::vector<double> inverse = dense_inverse(a, NullSpace::none);
  for (const double size : {1.0, 1e-60, 1e60}) {
    InSinglePrecision<Host> rounded(n, std::make_unique<DenseMatrix<float, Host>>(inverse));
    rounded.set_scale(std::exp2(std::round(std::log2(size))));
    std::vector<double> b = random_values(n, 5);
    for (double& value : b) value *= size;
    HostVector<double> x(n);
    SolveOptions options;
    options.relative_tolerance = 1e-12;
    options.reference_norm = norm(vector_of<double>(b));
    const SolveReport report = cg<double, Host>(a, &rounded, vector_of<double>(b), x, options);
    EXPECT_EQ(report.status, SolveStatus::converged) << size;
    EXPECT_LE(report.iterations, 5) << size;
  }
}

class FullMultigridOnMatrices : public ::testing::Test {
 protected:
  struct OfLevel {
    HostVector<double> b;
    HostVector<double> given;
    HostVector<double> is_given;
  };
  FullMultigridOnMatrices() : levels_(3, Fused::no), held_(3) {
    for (std::size_t l = 0; l < 3; ++l) {
      const std::int64_t n = levels_.A(l).rows();
      held_[l].b = vector_of<double>(random_values(n, 7 + static_cast<unsigned>(l)));
      held_[l].given = HostVector<double>(n);
      held_[l].is_given = HostVector<double>(n);
      for (std::int64_t i = 0; i < n; ++i) held_[l].given[i] = 100.0 + static_cast<double>(i);
    }
  }

  // The start with a cycle; x of the finest level.
  template <class Cycle>
  HostVector<double> start(int cycles, Cycle&& cycle) const {
    std::vector<StartLevel<double, Host>> levels;
    for (std::size_t l = 0; l < 3; ++l) {
      StartLevel<double, Host> level;
      level.a = std::shared_ptr<const LinearOperator<double, Host>>(&levels_.plain(l),
                                                                    [](const void*) {});
      level.b = copy_of(held_[l].b);
      level.given = copy_of(held_[l].given);
      level.is_given = copy_of(held_[l].is_given);
      if (l < 2) level.from_coarser = std::make_unique<DenseTransfer>(levels_.P(l));
      levels.push_back(std::move(level));
    }
    HostVector<double> x = copy_of(held_[0].given);
    FullMultigrid<double, Host>(std::move(levels), cycles).run(cycle, held_[0].b, x);
    return x;
  }

  static HostVector<double> copy_of(const HostVector<double>& values) {
    HostVector<double> result(values.size());
    copy(values, result);
    return result;
  }

  CycleOfMatrices levels_;
  std::vector<OfLevel> held_;
};

TEST_F(FullMultigridOnMatrices, CorrectsWhatComesFromTheCoarserLevel) {
  for (const int cycles : {1, 2, 3}) {
    Values expected;
    for (std::size_t l = 3; l-- > 0;) {
      const Values b = eigen_of(held_[l].b);
      const Matrix M = levels_.expected(l);
      expected = l == 2 ? Values(Values::Zero(b.size())) : Values(levels_.P(l) * expected);
      for (int c = 0; c < cycles; ++c) expected += M * (b - levels_.A(l) * expected);
    }
    const HostVector<double> x = start(
        cycles, [&](std::size_t l, const auto& r, auto& z) { levels_.cycle().cycle(l, r, z); });
    EXPECT_LT((eigen_of(x) - expected).norm(), 1e-12 * expected.norm());
  }
}

// No cycle changes anything: interpolation alone, with what is given put in on each level.
TEST_F(FullMultigridOnMatrices, TakesGivenValuesOnEachLevel) {
  held_[2].is_given[3] = 1.0;
  held_[1].is_given[0] = 1.0;
  held_[0].is_given[30] = 1.0;
  Values coarse = Values::Zero(7);
  coarse[3] = 103.0;
  Values middle = levels_.P(1) * coarse;
  middle[0] = 100.0;
  Values expected = levels_.P(0) * middle;
  expected[30] = 130.0;
  const HostVector<double> x = start(1, [](std::size_t, const auto&, auto& z) { fill(z, 0.0); });
  EXPECT_LT((eigen_of(x) - expected).norm(), 1e-12 * expected.norm());
}

}  // namespace
}  // namespace tessera::testing
