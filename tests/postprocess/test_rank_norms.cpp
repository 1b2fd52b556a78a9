// These tests hold the numbers of a solution on ranks, which are threads, to those of one rank.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <new>
#include <tuple>

#include "mesh/errors.hpp"
#include "mesh/field/program_field.hpp"
#include "postprocess/device_error_norms.hpp"
#include "postprocess/files/atomic_file.hpp"
#include "postprocess/ranks/output_on_all_ranks.hpp"
#include "postprocess/ranks/rank_norms.hpp"
#include "solvers/interruption.hpp"
#include "tests/device_test.hpp"
#include "tests/postprocess/rank_cases.hpp"

namespace tessera::testing {
namespace {

class RankNormsOf : public OnRanks {};

std::vector<double> numbers_of(const SolutionNorms& u, const ScalarField& coefficient,
                               const ScalarField& exact, double unit) {
  const SolutionNumbers numbers = u.solution_numbers(coefficient, unit);
  const ErrorNorms error = u.error_norms(exact, unit);
  return {numbers.integral,          numbers.energy,     numbers.volume,
          u.integral(unit),          u.mean_value(unit), u.mean_value(exact),
          u.mean_parts(unit).volume, error.l2,           error.h1_seminorm};
}

std::vector<double> exact_numbers_of(const SolutionNorms& u, const ScalarField& coefficient,
                                     const ScalarField& exact, double unit) {
  const SolutionNumbers numbers = u.solution_numbers(coefficient, unit);
  const auto [min, max] = u.extrema();
  return {
      numbers.min, numbers.max, min, max, u.error_norms(exact, unit).max, u.max_error(exact, unit)};
}

ScalarField exact_solution() {
  return field_of([](double x, double y, double z) { return std::sin(2 * x - y) + 0.3 * z; });
}

// 1 + x^2
ScalarField program_coefficient() {
  return program_field({{{Operation::push, Operand::x, 0.0},
                         {Operation::integer_power, Operand::stack, 2.0},
                         {Operation::add, Operand::constant, 1.0}},
                        1});
}

// sin(2 x) y
ScalarField program_exact() {
  return program_field({{{Operation::push, Operand::x, 0.0},
                         {Operation::multiply, Operand::constant, 2.0},
                         {Operation::sin, Operand::stack, 0.0},
                         {Operation::multiply, Operand::y, 0.0}},
                        1});
}

TEST_P(RankNormsOf, AreThoseOfOneRank) {
  for_each_case([](const Communicator& ranks, const RankCase& ours) {
    HostVector<double> whole_u = vector_of<double>(random_values(ours.whole.size(), 7));
    HostVector<double> u = ours.mine.taken<double>(random_values(ours.whole.size(), 7));
    HostSolutionNorms one(*ours.whole.discretization, whole_u);
    RankNorms several(ranks, std::make_unique<HostSolutionNorms>(ours.mine.discretization(), u));
    const ScalarField& k = ours.whole.form.coefficient;
    for (const double unit : {1.0, 0.5}) {
      EXPECT_EQ(exact_numbers_of(several, k, exact_solution(), unit),
                exact_numbers_of(one, k, exact_solution(), unit));
      const std::vector<double> expected = numbers_of(one, k, exact_solution(), unit);
      const std::vector<double> found = numbers_of(several, k, exact_solution(), unit);
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_NEAR(found[i], expected[i], 1e-13 * (1.0 + std::abs(expected[i]))) << i;
        for (const double other : ranks.all_gather(found[i])) EXPECT_EQ(other, found[i]) << i;
      }
      one.subtract(0.375);
      several.subtract(0.375);
    }
    EXPECT_TRUE(
        same_bits(u, ours.mine.taken<double>({whole_u.data(), whole_u.data() + whole_u.size()})));
  });
}

TEST_P(RankNormsOf, AreNotNumbersWhereOneRankHasNone) {
  for_each_case([](const Communicator& ranks, const RankCase& ours) {
    HostVector<double> u = ours.mine.taken<double>(random_values(ours.whole.size(), 7));
    if (ranks.rank() == ranks.size() - 1) u[u.size() - 1] = std::nan("");
    const RankNorms norms(ranks,
                          std::make_unique<HostSolutionNorms>(ours.mine.discretization(), u));
    for (const double bound : norms.extrema()) EXPECT_TRUE(std::isnan(bound));
    const ErrorNorms error = norms.error_norms(exact_solution(), 1.0);
    EXPECT_TRUE(std::isnan(error.l2) && std::isnan(error.h1_seminorm) && std::isnan(error.max));
    EXPECT_TRUE(std::isnan(norms.integral(1.0)));
  });
}

// Ranks that share a GPU have the numbers that they have on the host.
TEST_P(RankNormsOf, OnTheGpuAreThoseOfTheHost) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    for_each_case([](const Communicator& ranks, const RankCase& ours) {
      const std::vector<double> values = random_values(ours.whole.size(), 7);
      HostVector<double> u_on_host = ours.mine.taken<double>(values);
      HostVector<double> u = ours.mine.taken<double>(values);
      RankNorms host(ranks,
                     std::make_unique<HostSolutionNorms>(ours.mine.discretization(), u_on_host));
      RankNorms gpu(ranks, std::make_unique<DeviceErrorNorms>(ours.mine.discretization(), u));
      const ScalarField k = program_coefficient();
      const ScalarField exact = program_exact();
      for (const double unit : {1.0, 0.5}) {
        const std::vector<double> expected = numbers_of(host, k, exact, unit);
        const std::vector<double> found = numbers_of(gpu, k, exact, unit);
        for (std::size_t i = 0; i < found.size(); ++i) {
          EXPECT_NEAR(found[i], expected[i], 1e-12 * (1.0 + std::abs(expected[i]))) << i;
          for (const double other : ranks.all_gather(found[i])) EXPECT_EQ(other, found[i]) << i;
        }
        const std::vector<double> expected_bounds = exact_numbers_of(host, k, exact, unit);
        const std::vector<double> bounds = exact_numbers_of(gpu, k, exact, unit);
        for (std::size_t i = 0; i < bounds.size(); ++i) {
          EXPECT_NEAR(bounds[i], expected_bounds[i], 1e-14 * (1.0 + std::abs(bounds[i]))) << i;
        }
        host.subtract(0.375);
        gpu.subtract(0.375);
      }
      EXPECT_TRUE(same_bits(u, u_on_host));
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Grids, RankNormsOf, ::testing::ValuesIn(rank_grids()), grid_name);

// Fails where the rank's part does: right of x.
ScalarField failing_beyond(double x_bound) {
  return field_of([x_bound](double x, double y, double z) {
    if (x > x_bound) throw BadFieldValue("coefficient is not positive", {x, y, z}, -1.0);
    return 1.0;
  });
}

TEST(RankNormsFail, OnAllRanksWithTheWordsOfTheLowest) {
  run_on_threads(3, [](const Communicator& ranks) {
    ProblemOptions options;
    options.dimension = 2;
    options.cells = {6, 2, 1};
    options.geometry = Geometry::cartesian;
    const RankCase ours(ranks, {3, 1, 1}, options);
    const BoxMesh& mesh = ours.whole.discretization->mesh;
    HostVector<double> u = ours.mine.taken<double>(random_values(ours.whole.size(), 7));
    const RankNorms norms(ranks,
                          std::make_unique<HostSolutionNorms>(ours.mine.discretization(), u));
    const auto failure_of = [&](const ScalarField& field) -> std::pair<std::string, double> {
      try {
        norms.error_norms(field, 1.0);
      } catch (const BadFieldValue& error) {
        return {error.what(), error.where()[0]};
      }
      return {};
    };
    // Ranks 1 and 2 fail, each at a place of its own.
    const auto [message, x] = failure_of(failing_beyond(mesh.grid_line(0, 2)));
    EXPECT_GT(x, mesh.grid_line(0, 2));
    EXPECT_LT(x, mesh.grid_line(0, 4));
    EXPECT_TRUE(message.starts_with("coefficient is not positive")) << message;
    for (const std::string& text :
         {ranks.broadcast(message, 0), ranks.broadcast(message, 1), ranks.broadcast(message, 2)}) {
      EXPECT_EQ(text, message);
    }
    EXPECT_GT(failure_of(failing_beyond(mesh.grid_line(0, 4))).second, mesh.grid_line(0, 4));
    // And what follows is as if nothing had been.
    EXPECT_NEAR(norms.mean_parts(1.0).volume, norms.mean_parts(constant_field(1.0)).integral,
                1e-13);
  });
}

TEST(RankNormsFail, NamesTheCellOfTheWholeMesh) {
  ProblemOptions options;
  options.dimension = 2;
  options.cells = {4, 3, 1};
  const Problem problem = make_problem(options);
  const BoxMesh& mesh = problem.discretization->mesh;
  // The third cell along x has no width.
  const double x2 = mesh.grid_line(0, 2);
  const Discretization folded = make_mapped_discretization(
      mesh, problem.discretization->basis,
      {field_of([=](double x, double, double) { return x > x2 ? 2.0 * x2 - x : x; }),
       field_of([](double, double y, double) { return y; }),
       field_of([](double, double, double) { return 0.0; })});
  HostVector<double> u = vector_of<double>(random_values(folded.lattice.size(), 1));
  std::string expected;
  try {
    HostSolutionNorms(folded, u).integral(1.0);
  } catch (const InvertedCell& error) {
    EXPECT_EQ(error.cell(), (IndexTriple{2, 0, 0}));
    expected = error.what();
  }
  ASSERT_FALSE(expected.empty());
  run_on_threads(2, [&](const Communicator& ranks) {
    Problem whole = make_problem(options);
    whole.discretization = std::make_unique<const Discretization>(folded);
    whole.form.discretization = whole.discretization.get();
    const RankCase ours(ranks, {2, 1, 1}, std::move(whole));
    HostVector<double> mine = ours.mine.taken<double>(random_values(folded.lattice.size(), 1));
    const RankNorms norms(ranks,
                          std::make_unique<HostSolutionNorms>(ours.mine.discretization(), mine));
    std::string found;
    try {
      norms.integral(1.0);
    } catch (const InvertedCell& error) {
      EXPECT_EQ(error.cell(), (IndexTriple{2, 0, 0}));
      found = error.what();
    }
    EXPECT_EQ(found, expected);
  });
}

template <class Error>
bool all_throw(const Communicator& ranks, int failing, const Error& error) {
  try {
    const int value = output_on_all_ranks(ranks, [&] {
      if (ranks.rank() >= failing) throw error;
      return 3;
    });
    EXPECT_EQ(value, 3);
    return false;
  } catch (const Error& caught) {
    EXPECT_STREQ(caught.what(), error.what());
    return true;
  }
}

TEST(OutputOnAllRanks, ThrowsTheSameEverywhere) {
  for (const int count : {1, 2, 3}) {
    run_on_threads(count, [&](const Communicator& ranks) {
      for (int failing = 0; failing < count; ++failing) {
        EXPECT_TRUE(all_throw(ranks, failing, Interrupted()));
        EXPECT_TRUE(all_throw(ranks, failing, std::bad_alloc()));
        EXPECT_TRUE(all_throw(ranks, failing, std::runtime_error("something else")));
        const OutputError error("/some/where.vtu", "the disk is full");
        EXPECT_TRUE(all_throw(ranks, failing, error));
        try {
          output_on_all_ranks(ranks, [&] {
            if (ranks.rank() == failing) throw error;
          });
          ADD_FAILURE();
        } catch (const OutputError& caught) {
          EXPECT_EQ(caught.path(), error.path());
          EXPECT_EQ(caught.cause(), error.cause());
        }
      }
      EXPECT_FALSE(all_throw(ranks, count, Interrupted()));
      // The lowest rank that failed says what is thrown.
      if (count < 2) return;
      EXPECT_THROW(output_on_all_ranks(ranks,
                                       [&] {
                                         if (ranks.rank() == 0) throw std::length_error("too long");
                                         throw Interrupted();
                                       }),
                   std::bad_alloc);
    });
  }
}

}  // namespace
}  // namespace tessera::testing
