// These tests hold non-linear cases on ranks, which are threads, to those on one rank: on the host,
// and on a GPU that the ranks share.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "solvers/ranks/thread_ranks.hpp"
#include "src/solve/nonlinear/nonlinear_solve.hpp"
#include "tests/everywhere.hpp"
#include "tests/src/ranks/case_on_rank.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;

const SolveListeners kNoListeners = {
    [](int, double) { return Continue::yes; },
    [](const std::vector<LevelSummary>&, const std::vector<std::string>&) {}};

struct Solved {
  NonlinearReport report;
  std::vector<double> u;
};

class NonlinearCasesOnRanks : public EveryProcessorTest<std::tuple<Processor>> {
 protected:
  static Solved solve(const std::string& text, const RankGrid& grid) {
    const ThreadsInUse threads(1);
    const CaseParameters parameters = resolved(text, processor());
    Solved of_first;
    run_on_threads(grid[0] * grid[1] * grid[2], [&](const Communicator& ranks) {
      const CaseOnRank mine(ranks, parameters, grid);
      HostVector<double> u = nonlinear_start(mine.model(), make_initial(parameters));
      TimerTree timers;
      const SolveOutcome outcome =
          solve_nonlinear_case(parameters, mine.model(), u, timers, kNoListeners);
      Solved solved{outcome.nonlinear->report, mine.on_rank().gathered(u)};
      // All ranks went the same way, for the same reason.
      for (const double last : ranks.all_gather(solved.report.history.back())) {
        EXPECT_EQ(last, solved.report.history.back());
      }
      EXPECT_EQ(ranks.broadcast(solved.report.failure), solved.report.failure);
      EXPECT_TRUE(mine.on_rank().agrees(u));
      if (ranks.rank() == 0) of_first = std::move(solved);
    });
    return of_first;
  }

  static void expect_the_solve_of_one_rank(const std::string& text) {
    SCOPED_TRACE(text);
    const Solved one = solve(text, {1, 1, 1});
    EXPECT_EQ(one.report.status, NonlinearStatus::converged) << one.report.failure;
    EXPECT_GE(one.report.iterations, 3);
    for (const RankGrid& grid : {RankGrid{1, 2, 1}, RankGrid{3, 1, 1}, RankGrid{2, 2, 1}}) {
      // Ranks that share a GPU wait for each other at every sum.
      if (processor() == Processor::gpu && grid == RankGrid{2, 2, 1}) continue;
      const Solved several = solve(text, grid);
      EXPECT_EQ(several.report.status, NonlinearStatus::converged) << several.report.failure;
      EXPECT_EQ(several.report.iterations, one.report.iterations);
      ASSERT_EQ(several.u.size(), one.u.size());
      for (std::size_t i = 0; i < one.u.size(); ++i) EXPECT_NEAR(several.u[i], one.u[i], 1e-9);
      const Solved again = solve(text, grid);
      EXPECT_EQ(again.report.history, several.report.history);
      EXPECT_EQ(again.u, several.u);
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Places, NonlinearCasesOnRanks,
                         ::testing::Combine(::testing::ValuesIn(every_processor())),
                         [](const auto& tested) {
                           return place_name(std::get<Processor>(tested.param));
                         });

std::string text_of(const std::string& tables) {
  return "[mesh]\ndimension = 2\ncells = [5, 4]\n[space]\ndegree = 2\n[problem]\n"
         "coefficient = \"1 + u^2\"\nsource = \"4 - u^3 + x\"\n[boundary]\n"
         "left = { type = \"dirichlet\", value = \"y\" }\n"
         "bottom = { type = \"robin\", value = \"x\", alpha = \"1 + x\" }\n"
         "right = { type = \"neumann\", value = \"y\" }\n" +
         tables;
}

TEST_P(NonlinearCasesOnRanks, OfNewtonAreThoseOfOneRank) {
  const std::string newton = "[nonlinear]\nrelative_tolerance = 1e-12\n";
  const std::string rows = "[operator]\nkernel = \"csr\"\n";
  for (const std::string& solver :
       {std::string("[solver]\npreconditioner = \"jacobi\"\n"),
        "[solver]\npreconditioner = \"chebyshev\"\n" + rows,
        std::string("[solver]\nmethod = \"bicgstab\"\npreconditioner = \"multigrid\"\n")}) {
    expect_the_solve_of_one_rank(text_of(newton + solver));
  }
}

// Without a line search, and with a source alone that depends on u: the matrix is symmetric.
TEST_P(NonlinearCasesOnRanks, OfASourceAreThoseOfOneRank) {
  expect_the_solve_of_one_rank(
      "[mesh]\ncells = [6, 6, 8]\nmap = [\"x + 0.1*y*z\", \"y\", \"z\"]\n[space]\ndegree = 2\n"
      "[problem]\nsource = \"exp(u) + z\"\n[boundary]\ntop = { type = \"dirichlet\", "
      "value = \"x\" }\n[nonlinear]\nrelative_tolerance = 1e-12\nline_search = false\n[solver]\n"
      "preconditioner = \"multigrid\"\n");
}

TEST_P(NonlinearCasesOnRanks, OfPicardAreThoseOfOneRank) {
  const std::string picard = "[nonlinear]\nmethod = \"picard\"\nrelative_tolerance = 1e-11\n";
  expect_the_solve_of_one_rank(text_of(picard + "[solver]\npreconditioner = \"jacobi\"\n"));
}

// The iteration tries shorter steps on all ranks where the coefficient is bad on one, or ends on
// all with the same words.
TEST_P(NonlinearCasesOnRanks, NameTheValueThatIsNotAllowedOnAll) {
  const std::string text =
      "[mesh]\ndimension = 2\ncells = [6, 6]\n[space]\ndegree = 2\n[problem]\nsource = \"3\"\n"
      "coefficient = \"1 - 20*u*(x > 0.5)\"\n[nonlinear]\nrelative_tolerance = 1e-12\n"
      "[solver]\npreconditioner = \"jacobi\"\n";
  const Solved one = solve(text, {1, 1, 1});
  EXPECT_NE(one.report.status, NonlinearStatus::converged);
  const Solved several = solve(text, {3, 1, 1});
  EXPECT_EQ(several.report.status, one.report.status);
  EXPECT_EQ(several.report.iterations, one.report.iterations);
  EXPECT_THAT(one.report.failure, HasSubstr("problem.coefficient is -"));
  EXPECT_THAT(several.report.failure, HasSubstr("problem.coefficient is -"));
  // At the start it is a mistake of the case.
  const CaseParameters parameters = resolved(text, processor());
  run_on_threads(3, [&](const Communicator& ranks) {
    const CaseOnRank mine(ranks, parameters, {3, 1, 1});
    HostVector<double> u = nonlinear_start(mine.model(), constant_field(1.0));
    TimerTree timers;
    try {
      solve_nonlinear_case(parameters, mine.model(), u, timers, kNoListeners);
      ADD_FAILURE() << "nothing is thrown";
    } catch (const BadFieldValue& error) {
      EXPECT_THAT(error.text(), HasSubstr("problem.coefficient is -"));
    }
  });
}

}  // namespace
}  // namespace tessera::testing
