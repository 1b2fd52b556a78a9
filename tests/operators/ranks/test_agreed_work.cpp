// These tests let work fail on some ranks, which are threads, and look at what the others throw.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>

#include "mesh/errors.hpp"
#include "operators/form/agreed_work.hpp"
#include "operators/form/updatable.hpp"
#include "operators/load/load_vector.hpp"
#include "solvers/interruption.hpp"
#include "solvers/ranks/thread_ranks.hpp"
#include "tests/operators/ranks/rank_problem.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;

const ProblemOptions kOptions = {.cells = {3, 3, 5}};

void on_three_ranks(const std::function<void(const RankProblem&)>& f) {
  run_on_threads(3, [&](const Communicator& ranks) {
    const Problem whole = make_problem(kOptions);
    f(RankProblem(ranks, BoxPartition(whole.discretization->mesh, {1, 1, 3}), whole));
    // All have come to their end, and together.
    EXPECT_EQ(ranks.sum(1.0), 3.0);
  });
}

TEST(AgreedWork, ThatGoesWellIsDoneOnAll) {
  std::atomic<int> done = 0;
  on_three_ranks(
      [&](const RankProblem& mine) { work_or_fail_together(mine.form(), [&] { ++done; }); });
  EXPECT_EQ(done, 3);
  EXPECT_THROW(work_or_fail_together(nullptr, [] { throw std::bad_alloc(); }), std::bad_alloc);
}

TEST(AgreedWork, FailsOnAllWithTheReasonOfTheLowest) {
  on_three_ranks([&](const RankProblem& mine) {
    const int rank = mine.part().ranks().rank();
    const auto work = [&] {
      if (rank == 1) throw BadFieldValue({"is bad", "key"}, {1.0, 2.0, 3.0}, -7.0);
      if (rank == 2) throw std::runtime_error("that of another");
    };
    try {
      work_or_fail_together(mine.form(), work);
      ADD_FAILURE() << "nothing is thrown";
    } catch (const BadFieldValue& error) {
      EXPECT_EQ(error.key(), "key");
      EXPECT_EQ(error.text(), "key is bad");
      EXPECT_EQ(error.where(), (Point{1.0, 2.0, 3.0}));
      EXPECT_EQ(error.value(), -7.0);
    }
  });
}

TEST(AgreedWork, FailsWithTheSameError) {
  on_three_ranks([&](const RankProblem& mine) {
    const bool fails = mine.part().ranks().rank() == 2;
    const auto throw_of = [&](const auto& error) {
      return [&] {
        if (fails) throw error;
      };
    };
    EXPECT_THROW(work_or_fail_together(mine.form(), throw_of(Interrupted())), Interrupted);
    EXPECT_THROW(work_or_fail_together(mine.form(), throw_of(std::bad_alloc())), std::bad_alloc);
    try {
      work_or_fail_together(mine.form(), throw_of(InvertedCell({1, 2, 3}, 3, -1.0, {})));
      ADD_FAILURE() << "nothing is thrown";
    } catch (const InvertedCell& error) {
      EXPECT_EQ(error.cell(), (IndexTriple{1, 2, 3}));
      EXPECT_THAT(error.what(), HasSubstr("cell (1, 2, 3) has Jacobian determinant -1"));
    }
    EXPECT_THROW(work_or_fail_together(mine.form(), throw_of(std::logic_error("no"))),
                 std::exception);
  });
}

// Values that only the part of one rank has.
ScalarField bad_above(double z) {
  return field_of([z](double, double, double at) {
    return at > z ? std::numeric_limits<double>::quiet_NaN() : 1.0;
  });
}

TEST(AgreedWork, IsThatOfLoadsAndOperators) {
  on_three_ranks([&](const RankProblem& mine) {
    const BoxMesh& mesh = mine.discretization().mesh;
    const double z = mine.part().ranks().sum(
        mine.part().ranks().rank() == 2 ? 0.5 * (mesh.lower()[2] + mesh.upper()[2]) : 0.0);
    const ScalarField bad = bad_above(z);
    HostVector<double> u(mine.layout());
    HostVector<double> b(mine.layout());
    EXPECT_THROW(assemble_load(mine.form(), bad, {}, u, b), BadFieldValue);
    EXPECT_THROW(assemble_residual(mine.form(), bad, {}, u, b), BadFieldValue);
    EXPECT_THROW(set_dirichlet_values(mine.form(), std::vector<ScalarField>(6, bad), u),
                 BadFieldValue);
    BilinearForm form = mine.form();
    form.coefficient = bad;
    EXPECT_THROW(make_operator<double>({"tensor", "coloring"}, form), BadFieldValue);
    const auto a = mine.distributed<double>({"tensor", "coloring"});
    EXPECT_THROW(update_in_place(*a, form), BadFieldValue);
    // What is made anew has nothing of it.
    const auto again = mine.distributed<double>({"tensor", "coloring"});
    fill(u, 1.0);
    again->apply(u, b);
    EXPECT_TRUE(std::isfinite(norm(b)));
  });
}

}  // namespace
}  // namespace tessera::testing
