// These tests check that timed operators do what the operators do.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>

#include "mesh/index.hpp"
#include "mesh/threads_in_use.hpp"
#include "solvers/krylov/methods.hpp"
#include "src/parameters/choices.hpp"
#include "src/parameters/codec.hpp"
#include "src/solve/timed.hpp"

namespace tessera::testing {
namespace {

/// y_i = d_i x_i, with fused forms where they are asked for; counts its passes over memory.
class CountingOperator final : public LinearOperator<double, Host>,
                               public FusedOperations<double, Host> {
 public:
  enum class Forms { plain, fused };

  CountingOperator(Index n, Forms forms) : entries_(n), forms_(forms) {
    for (Index i = 0; i < n; ++i) entries_[i] = 1.0 + static_cast<double>(i % 37);
  }

  Index size() const override { return entries_.size(); }
  std::string name() const override { return "counting"; }
  void do_apply(const HostVector<double>& x, HostVector<double>& y) const override {
    ++passes[0];
    multiply(entries_, x, y);
  }
  void do_diagonal(HostVector<double>& d) const override { copy(entries_, d); }
  Cost cost() const override { return {}; }
  Index bytes() const override { return 0; }
  const FusedOperations<double, Host>* fused() const override {
    return forms_ == Forms::fused ? this : nullptr;
  }
  void do_apply_dot(const HostVector<double>& x, HostVector<double>& y,
                    double* sums) const override {
    ++passes[1];
    multiply(entries_, x, y);
    sums[0] = dot(x, y);
    sums[1] = dot(y, y);
  }
  bool takes_sums_along() const override { return true; }
  // As if two ranks had the same number.
  void do_apply_dot_and_sum(const HostVector<double>& x, HostVector<double>& y, const double* mine,
                            double* sums) const override {
    do_apply_dot(x, y, sums);
    sums[2] = 2.0 * *mine;
  }
  void do_residual(const HostVector<double>& b, const HostVector<double>& x, HostVector<double>& r,
                   double* rr) const override {
    ++passes[2];
    for (Index i = 0; i < size(); ++i) r[i] = b[i] - entries_[i] * x[i];
    if (rr != nullptr) *rr = dot(r, r);
  }

  /// Calls of apply(), apply_dot() and residual().
  mutable std::array<int, 3> passes{};

 private:
  HostVector<double> entries_;
  Forms forms_;
};

/// A diagonal preconditioner that counts its applications, and may keep to itself what it is.
class CountingScaling final : public Preconditioner<double, Host> {
 public:
  enum class Says { diagonal, nothing };

  CountingScaling(Index n, Says says) : entries_(n), says_(says) {
    for (Index i = 0; i < n; ++i) entries_[i] = 1.0 / (1.5 + static_cast<double>(i % 11));
  }
  Index size() const override { return entries_.size(); }
  void do_apply(const HostVector<double>& r, HostVector<double>& z) const override {
    ++passes;
    multiply(entries_, r, z);
  }
  const HostVector<double>* do_as_diagonal() const override {
    return says_ == Says::diagonal ? &entries_ : nullptr;
  }

  mutable int passes = 0;

 private:
  HostVector<double> entries_;
  Says says_;
};

struct Outcome {
  HostVector<double> x;
  int iterations = 0;
  std::array<int, 3> passes{};
  int preconditioned = 0;
};

constexpr Index kSize = 300;

enum class Timing { none, timed };

Outcome outcome_of(SolverMethod method, CountingOperator::Forms forms,
                   std::optional<CountingScaling::Says> says, Timing timing) {
  const CountingOperator a(kSize, forms);
  std::optional<CountingScaling> m;
  if (says) m.emplace(kSize, *says);
  TimerTree timers;
  const TimedOperator<double, Host> timed_a(a, timers);
  std::optional<TimedPreconditioner<double, Host>> timed_m;
  if (m) timed_m.emplace(*m, timers);
  HostVector<double> b(kSize);
  for (Index i = 0; i < kSize; ++i) b[i] = std::sin(0.1 * static_cast<double>(i));
  Outcome outcome{HostVector<double>(kSize)};
  SolveOptions options;
  options.max_iterations = 25;
  const auto solve = [&](const LinearOperator<double, Host>& used,
                         const Preconditioner<double, Host>* with) {
    outcome.iterations =
        make_solver(method, used, with, 0.05)->solve(b, outcome.x, options).iterations;
  };
  if (timing == Timing::timed) {
    solve(timed_a, timed_m ? &*timed_m : nullptr);
  } else {
    solve(a, m ? &*m : nullptr);
  }
  outcome.passes = a.passes;
  outcome.preconditioned = m ? m->passes : 0;
  return outcome;
}

TEST(Timing, TakesSumsAlongWhereTheOperatorDoes) {
  TimerTree timers;
  const CountingOperator a(3, CountingOperator::Forms::fused);
  const TimedOperator<double, Host> timed(a, timers);
  ASSERT_TRUE(timed.fused()->takes_sums_along());
  HostVector<double> x(3);
  fill(x, 1.0);
  HostVector<double> y(3);
  const double mine = 0.25;
  std::array<double, 3> sums{};
  timed.fused()->apply_dot_and_sum(x, y, &mine, sums.data());
  EXPECT_EQ(sums[0], 1.0 + 2.0 + 3.0);
  EXPECT_EQ(sums[1], 1.0 + 4.0 + 9.0);
  EXPECT_EQ(sums[2], 0.5);
  EXPECT_EQ(a.passes[1], 1);
}

// A run times its parts, a comparison does not: both must be the same computation.
TEST(Timing, ChangesNeitherBitsNorPasses) {
  const ThreadsInUse one(1);
  for (const SolverMethod method :
       {SolverMethod::cg, SolverMethod::single_reduction_cg, SolverMethod::pipelined_cg,
        SolverMethod::flexible_cg, SolverMethod::richardson, SolverMethod::flexible_gmres,
        SolverMethod::bicgstab}) {
    for (const auto forms : {CountingOperator::Forms::plain, CountingOperator::Forms::fused}) {
      for (const std::optional<CountingScaling::Says> says :
           {std::optional<CountingScaling::Says>(), std::optional(CountingScaling::Says::diagonal),
            std::optional(CountingScaling::Says::nothing)}) {
        SCOPED_TRACE(::testing::Message()
                     << name_of(method) << ", forms " << static_cast<int>(forms)
                     << ", preconditioner " << (says ? static_cast<int>(*says) : -1));
        const Outcome plain = outcome_of(method, forms, says, Timing::none);
        const Outcome timed = outcome_of(method, forms, says, Timing::timed);
        EXPECT_GT(plain.iterations, 3);
        EXPECT_EQ(timed.iterations, plain.iterations);
        EXPECT_EQ(timed.passes, plain.passes);
        EXPECT_EQ(timed.preconditioned, plain.preconditioned);
        EXPECT_EQ(std::memcmp(timed.x.data(), plain.x.data(), kSize * sizeof(double)), 0);
        // A diagonal is multiplied by in passing, but for what pipelined CG sets up.
        if (says == CountingScaling::Says::diagonal) {
          EXPECT_LE(timed.preconditioned, 4);
        }
      }
    }
  }
}

TEST(Timing, KeepsTheName) {
  const CountingOperator a(3, CountingOperator::Forms::plain);
  TimerTree timers;
  EXPECT_EQ((TimedOperator<double, Host>(a, timers).name()), "counting");
}

}  // namespace
}  // namespace tessera::testing
