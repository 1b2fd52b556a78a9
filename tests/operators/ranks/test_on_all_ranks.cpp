// These tests let work fail on some ranks, which are threads, and look at what the others throw.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include "mesh/errors.hpp"
#include "operators/form/on_all_ranks.hpp"
#include "operators/form/updatable.hpp"
#include "operators/load/load_vector.hpp"
#include "solvers/errors.hpp"
#include "solvers/interruption.hpp"
#include "solvers/memory/device.hpp"
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

TEST(OnAllRanks, ThatGoesWellIsDoneOnAll) {
  std::atomic<int> done = 0;
  on_three_ranks([&](const RankProblem& mine) { on_all_ranks(mine.form(), [&] { ++done; }); });
  EXPECT_EQ(done, 3);
  EXPECT_THROW(on_all_ranks(nullptr, [] { throw std::bad_alloc(); }), std::bad_alloc);
}

TEST(OnAllRanks, FailsOnAllWithTheReasonOfTheLowest) {
  on_three_ranks([&](const RankProblem& mine) {
    const int rank = mine.part().ranks().rank();
    const auto work = [&] {
      if (rank == 1)
        throw BadFieldValue(BadFieldValue::WholeText{"is bad", "key"}, {1.0, 2.0, 3.0}, -7.0);
      if (rank == 2) throw std::runtime_error("that of another");
    };
    try {
      on_all_ranks(mine.form(), work);
      ADD_FAILURE() << "nothing is thrown";
    } catch (const BadFieldValue& error) {
      EXPECT_EQ(error.key(), "key");
      EXPECT_EQ(error.text(), "key is bad");
      EXPECT_EQ(error.where(), (Point{1.0, 2.0, 3.0}));
      EXPECT_EQ(error.value(), -7.0);
    }
  });
}

template <class Error>
std::string text_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing is thrown";
}

TEST(OnAllRanks, FailsWithTheSameError) {
  on_three_ranks([&](const RankProblem& mine) {
    const bool fails = mine.part().ranks().rank() == 2;
    const auto throw_of = [&](const auto& error) {
      return [&] {
        if (fails) throw error;
      };
    };
    EXPECT_THROW(on_all_ranks(mine.form(), throw_of(Interrupted())), Interrupted);
    EXPECT_THROW(on_all_ranks(mine.form(), throw_of(std::bad_alloc())), std::bad_alloc);
    try {
      on_all_ranks(mine.form(), throw_of(InvertedCell({1, 2, 3}, 3, -1.0, {})));
      ADD_FAILURE() << "nothing is thrown";
    } catch (const InvertedCell& error) {
      EXPECT_EQ(error.cell(), (IndexTriple{1, 2, 3}));
      EXPECT_THAT(error.what(), HasSubstr("cell (1, 2, 3) has Jacobian determinant -1"));
    }
    EXPECT_THROW(on_all_ranks(mine.form(), throw_of(std::length_error("too long"))),
                 std::bad_alloc);
    EXPECT_EQ(
        text_of<LostDigits>([&] { on_all_ranks(mine.form(), throw_of(LostDigits("none left"))); }),
        "none left");
    EXPECT_EQ(text_of<NumericalBreakdown>(
                  [&] { on_all_ranks(mine.form(), throw_of(NumericalBreakdown("it overflows"))); }),
              "it overflows");
    try {
      on_all_ranks(mine.form(), throw_of(UnsuitableChoice(Choice::factors, "they are too many")));
      ADD_FAILURE() << "nothing is thrown";
    } catch (const UnsuitableChoice& error) {
      EXPECT_EQ(error.choice(), Choice::factors);
      EXPECT_STREQ(error.what(), "they are too many");
    }
    EXPECT_EQ(text_of<DeviceOutOfMemory>(
                  [&] { on_all_ranks(mine.form(), throw_of(DeviceOutOfMemory("3 GiB"))); }),
              "3 GiB");
    // Also on the rank that has thrown another type.
    EXPECT_EQ(text_of<std::runtime_error>(
                  [&] { on_all_ranks(mine.form(), throw_of(std::logic_error("no"))); }),
              "no");
    EXPECT_EQ(text_of<std::runtime_error>([&] { on_all_ranks(mine.form(), throw_of(7)); }),
              "an unknown exception");
  });
}

TEST(OnAllRanks, ReturnsWhatEachHasComputed) {
  on_three_ranks([](const RankProblem& mine) {
    const int rank = mine.part().ranks().rank();
    const std::unique_ptr<int> found =
        on_all_ranks(mine.form(), [&] { return std::make_unique<int>(rank); });
    EXPECT_EQ(*found, rank);
  });
}

// Values that only the part of one rank has.
ScalarField bad_above(double z) {
  return field_of([z](double, double, double at) {
    return at > z ? std::numeric_limits<double>::quiet_NaN() : 1.0;
  });
}

TEST(OnAllRanks, IsThatOfLoadsAndOperators) {
  on_three_ranks([&](const RankProblem& mine) {
    const BoxMesh& mesh = mine.discretization().mesh;
    const double z = mine.part().ranks().sum(
        mine.part().ranks().rank() == 2 ? 0.5 * (mesh.lower()[2] + mesh.upper()[2]) : 0.0);
    const ScalarField bad = bad_above(z);
    HostVector<double> u(mine.layout());
    HostVector<double> b(mine.layout());
    EXPECT_THROW(assemble_load(mine.form(), bad, {}, {}, b), BadFieldValue);
    EXPECT_THROW(assemble_residual(mine.form(), bad, {}, u, b), BadFieldValue);
    EXPECT_THROW(DirichletValues(mine.form(), std::vector<ScalarField>(6, bad)), BadFieldValue);
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
