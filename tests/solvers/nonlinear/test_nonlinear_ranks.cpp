// These tests solve non-linear systems whose vectors ranks share, which are threads.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "mesh/threads_in_use.hpp"
#include "solvers/nonlinear/nonlinear_solver.hpp"
#include "solvers/ranks/thread_ranks.hpp"
#include "tests/solvers/ranks/chain.hpp"

namespace tessera::testing {
namespace {

constexpr std::int64_t kSize = 29;

/// F_i(u) = a_i u_i - exp(-u_i) - 0.3 mean(u^2): entries know each other by a sum, which the
/// derivative leaves out.
class Coupled final : public NonlinearSystem<Host> {
 public:
  Coupled(const Chain& chain, NonlinearMethod method)
      : layout_(chain.layout()),
        method_(method),
        a_(chain.vector([](std::int64_t i) { return 2.0 + std::sin(static_cast<double>(i)); })),
        slope_(layout_) {}

  std::int64_t size() const override { return layout_.size; }
  VectorLayout layout() const override { return layout_; }
  void residual(const V& u, V& r) override {
    const double mean = dot(u, u) / static_cast<double>(layout_.whole_size());
    for (std::int64_t i = 0; i < u.size(); ++i) {
      r[i] = a_[i] * u[i] - std::exp(-u[i]) - 0.3 * mean;
    }
  }
  void linearize(const V& u) override {
    const double share = method_ == NonlinearMethod::newton ? 1.0 : 0.0;
    for (std::int64_t i = 0; i < u.size(); ++i) slope_[i] = a_[i] + share * std::exp(-u[i]);
  }
  SolveReport solve(double /*tolerance*/, const V& b, V& x) override {
    for (std::int64_t i = 0; i < x.size(); ++i) x[i] = b[i] / slope_[i];
    SolveReport report;
    report.status = SolveStatus::converged;
    report.iterations = 1;
    return report;
  }

 private:
  VectorLayout layout_;
  NonlinearMethod method_;
  HostVector<double> a_;
  HostVector<double> slope_;
};

struct Solved {
  NonlinearReport report;
  std::vector<double> u;
};

Solved solved(const NonlinearOptions& options, int count) {
  const ThreadsInUse threads(1);
  Solved of_first;
  run_on_threads(count, [&](const Communicator& ranks) {
    const Chain chain(ranks, kSize);
    Coupled system(chain, options.method);
    HostVector<double> u =
        chain.vector([](std::int64_t i) { return 0.1 * static_cast<double>(i); });
    Solved mine{solve_nonlinear<Host>(system, options, u), {}};
    for (const int iterations : ranks.all_gather(mine.report.iterations)) {
      EXPECT_EQ(iterations, mine.report.iterations);
    }
    for (const double last : ranks.all_gather(mine.report.history.back())) {
      EXPECT_EQ(last, mine.report.history.back());
    }
    EXPECT_TRUE(chain.agrees(u));
    mine.u = chain.gathered(u);
    if (ranks.rank() == 0) of_first = std::move(mine);
  });
  return of_first;
}

void expect_the_solve_of_one_rank(const NonlinearOptions& options) {
  const Solved one = solved(options, 1);
  EXPECT_EQ(one.report.status, NonlinearStatus::converged) << one.report.failure;
  EXPECT_GT(one.report.iterations, 2);
  for (const int count : {2, 3, 4}) {
    const Solved several = solved(options, count);
    EXPECT_EQ(several.report.status, NonlinearStatus::converged) << several.report.failure;
    EXPECT_EQ(several.report.iterations, one.report.iterations);
    for (std::size_t i = 0; i < one.u.size(); ++i) EXPECT_NEAR(several.u[i], one.u[i], 1e-9);
    const Solved again = solved(options, count);
    EXPECT_EQ(again.report.history, several.report.history);
    EXPECT_EQ(again.u, several.u);
  }
}

TEST(NonlinearOnRanks, OfNewtonAreThoseOfOneRank) {
  expect_the_solve_of_one_rank({.relative_tolerance = 1e-11});
  expect_the_solve_of_one_rank({.relative_tolerance = 1e-11, .line_search = LineSearch::off});
}

TEST(NonlinearOnRanks, OfPicardAreThoseOfOneRank) {
  for (const int acceleration : {0, 1, 5}) {
    expect_the_solve_of_one_rank({.method = NonlinearMethod::picard,
                                  .relative_tolerance = 1e-11,
                                  .acceleration = acceleration});
  }
}

// The system has as many unknowns as all ranks have, and not as this one has.
TEST(NonlinearOnRanks, AccelerateByMoreIteratesThanARankHasEntries) {
  expect_the_solve_of_one_rank(
      {.method = NonlinearMethod::picard, .relative_tolerance = 1e-11, .acceleration = 15});
}

TEST(NonlinearOnRanks, EndTogetherWhenOneIsInterrupted) {
  for (int culprit = 0; culprit < 3; ++culprit) {
    run_on_threads(3, [&](const Communicator& ranks) {
      const Chain chain(ranks, kSize);
      Coupled system(chain, NonlinearMethod::newton);
      HostVector<double> u =
          chain.vector([](std::int64_t i) { return 0.1 * static_cast<double>(i); });
      NonlinearOptions options;
      options.observer = [&](int iteration, double) {
        return ranks.rank() == culprit && iteration == 2 ? Continue::no : Continue::yes;
      };
      const NonlinearReport report = solve_nonlinear<Host>(system, options, u);
      EXPECT_EQ(report.status, NonlinearStatus::interrupted);
      EXPECT_EQ(report.iterations, 2);
    });
  }
}

}  // namespace
}  // namespace tessera::testing
