// These tests update operators and preconditioners in place, and hold mass matrices to the
// reference.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <tuple>

#include "operators/fast_diagonalization/fast_diagonalization.hpp"
#include "operators/form/updatable.hpp"
#include "tests/operators/multigrid/multigrid_cases.hpp"
#include "tests/operators/strategy_checks.hpp"
#include "tests/operators/test_names.hpp"

namespace {

// Vectors and arrays of factors come from here.
std::atomic<int> aligned_allocations = 0;

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  ++aligned_allocations;
  return memalign(alignment, size);
}
#endif

namespace tessera::testing {
namespace {

/// The same fields for another time: everything is another function.
void move_on(BilinearForm& form) {
  if (form.coefficient.constant) {
    form.coefficient = constant_field(1.5 * *form.coefficient.constant);
  } else {
    form.coefficient = field_of([](double x, double y, double z) { return 2.0 + x * x + y - z; });
  }
  if (reaction_kind(form.reaction) == ReactionKind::constant) {
    form.reaction = constant_field(7.5);
  } else if (!form.reaction.constant) {
    form.reaction = field_of([](double x, double y, double) { return 1.0 + x * x * y * y; });
  }
  for (RobinTerm& term : form.robin) {
    term.alpha = field_of([](double x, double, double) { return 4.0 + x * x; });
  }
}

/// The same form with another number for reaction.
void react(BilinearForm& form) { form.reaction = constant_field(11.25); }

enum class Evaluated { fields, nothing };

/// @param expected of kronecker
/// @param evaluated where there is nothing to evaluate, nothing is allocated
template <class T>
void expect_updates(const Problem& problem, const BilinearForm& next, Updated expected,
                    Evaluated evaluated = Evaluated::fields) {
  // With more, atomic sums have other bits every time.
  const ThreadsInUse one(1);
  const HostVector<T> x = vector_of<T>(random_input<T>(problem.size(), 3));
  const bool is_of_low_degree = problem.form.discretization->lattice.degree() <= 3;
  for (const StrategyName& strategy : right_strategies(Processor::cpu)) {
    // Those that are never updated are slow to make.
    const bool is_updated = strategy.kernel == "tensor" || strategy.kernel == "kronecker";
    if (!is_updated && !is_of_low_degree) continue;
    if (!why_unsuitable(strategy, form_shape(problem.form, Processor::cpu, sizeof(T))).empty()) {
      continue;
    }
    SCOPED_TRACE(strategy.text());
    const auto a = make_operator<T>(strategy, problem.form);
    const bool is_stored = strategy.factors != FactorStorage::on_the_fly;
    if (strategy.kernel == "tensor" && is_stored) {
      EXPECT_EQ(update_in_place(*a, next), Updated::yes);
    } else if (strategy.kernel == "kronecker") {
      EXPECT_EQ(update_in_place(*a, next), expected);
      if (expected == Updated::no) continue;
    } else {
      EXPECT_EQ(update_in_place(*a, next), Updated::no);
      continue;
    }
    const auto made = make_operator<T>(strategy, next);
    EXPECT_TRUE(same_bits(applied(*a, x), applied(*made, x)));
    EXPECT_TRUE(same_bits(diagonal_of(*a), diagonal_of(*made)));
    if (evaluated == Evaluated::fields) continue;
    const auto moved = make_operator<T>(strategy, problem.form);
    const int before = aligned_allocations;
    EXPECT_EQ(update_in_place(*moved, next), Updated::yes);
    EXPECT_EQ(aligned_allocations, before);
  }
}

class Updates : public ::testing::TestWithParam<DimensionAndDegree> {
 protected:
  template <class Check>
  static void for_each_problem(Check&& check) {
    const auto [dimension, degree] = GetParam();
    ProblemOptions options = options_for(Processor::cpu, dimension, degree);
    for (const Geometry geometry : {Geometry::cartesian, Geometry::curved, Geometry::graded}) {
      for (const Coefficient coefficient : {Coefficient::constant, Coefficient::variable}) {
        for (const Reaction reaction : {Reaction::none, Reaction::constant, Reaction::variable}) {
          options.geometry = geometry;
          options.coefficient = coefficient;
          options.reaction = reaction;
          SCOPED_TRACE(describe(options));
          check(make_problem(options), options);
        }
      }
    }
  }
};

TEST_P(Updates, AreAsNewlyMade) {
  for_each_problem([](const Problem& problem, const ProblemOptions&) {
    BilinearForm next = problem.form;
    move_on(next);
    expect_updates<double>(problem, next, Updated::no);
    expect_updates<float>(problem, next, Updated::no);
  });
}

TEST_P(Updates, OfANumberAreAsNewlyMade) {
  for_each_problem([](const Problem&, const ProblemOptions& options) {
    if (options.reaction != Reaction::constant) return;
    // Only fields that are known to be the same are not evaluated.
    Problem with_numbers = make_problem(options);
    for (RobinTerm& term : with_numbers.form.robin) term.alpha = constant_field(2.0);
    BilinearForm next = with_numbers.form;
    react(next);
    const bool is_known = next.coefficient.constant.has_value();
    expect_updates<double>(with_numbers, next, is_known ? Updated::yes : Updated::no,
                           is_known ? Evaluated::nothing : Evaluated::fields);
  });
}

TEST_P(Updates, MassMatricesEqualTheReference) {
  const ThreadsInUse threads(2);
  const auto [dimension, degree] = GetParam();
  ProblemOptions options = options_for(Processor::cpu, dimension, degree);
  for (const int points : {0, degree + 2}) {
    options.points = points;
    for (const QuadratureRule rule : {QuadratureRule::gauss, QuadratureRule::gauss_lobatto}) {
      options.rule = rule;
      for (const Geometry geometry : {Geometry::cartesian, Geometry::curved, Geometry::graded}) {
        for (const Reaction reaction : {Reaction::constant, Reaction::variable}) {
          options.geometry = geometry;
          options.coefficient = Coefficient::constant;
          options.reaction = reaction;
          SCOPED_TRACE(describe(options));
          Problem problem = make_problem(options);
          problem.form.coefficient = constant_field(0.0);
          expect_equal_to_reference<double>(problem, right_strategies(Processor::cpu));
          expect_equal_to_reference<float>(problem, right_strategies(Processor::cpu));
        }
      }
    }
  }
}

TEST_P(Updates, MassMatricesAreUpdated) {
  for_each_problem([](Problem problem, const ProblemOptions& options) {
    if (options.reaction == Reaction::none || options.coefficient != Coefficient::constant) return;
    problem.form.coefficient = constant_field(0.0);
    problem.form.robin.clear();
    BilinearForm next = problem.form;
    if (options.reaction == Reaction::constant)
      react(next);
    else
      move_on(next);
    expect_updates<double>(problem, next, Updated::yes);
  });
}

INSTANTIATE_TEST_SUITE_P(Degrees, Updates,
                         ::testing::Combine(::testing::Values(2, 3), ::testing::Range(1, 9)),
                         name_of);

TEST(MassMatrices, OfEqualCellsAreInvertedByFastDiagonalization) {
  for (const int dimension : {2, 3}) {
    ProblemOptions options;
    options.dimension = dimension;
    options.degree = 3;
    options.geometry = Geometry::cartesian;
    options.reaction = Reaction::constant;
    Problem problem = make_problem(options);
    problem.form.coefficient = constant_field(0.0);
    problem.form.robin.clear();
    const auto mass = make_operator<double>({"kronecker"}, problem.form);
    const auto inverse = make_fast_diagonalization<double>(problem.form);
    EXPECT_EQ(inverse->exactness(), Exactness::exact);
    const HostVector<double> x = vector_of<double>(random_values(problem.size(), 5));
    HostVector<double> y(problem.size());
    HostVector<double> z(problem.size());
    mass->apply(x, y);
    inverse->apply(y, z);
    EXPECT_LT(relative_difference(z, values_of(x)), 1e-12);
  }
}

TEST(MassMatrices, CostLessThanStiffness) {
  ProblemOptions options;
  options.reaction = Reaction::constant;
  for (const Geometry geometry : {Geometry::cartesian, Geometry::curved}) {
    options.geometry = geometry;
    options.coefficient = Coefficient::constant;
    const Problem problem = make_problem(options);
    BilinearForm mass = problem.form;
    mass.coefficient = constant_field(0.0);
    const StrategyName tensor{"tensor", "coloring"};
    const auto stiffness = make_operator<double>(tensor, problem.form);
    const auto made = make_operator<double>(tensor, mass);
    EXPECT_LT(made->cost().flops, 0.6 * stiffness->cost().flops);
    EXPECT_LE(made->bytes(), stiffness->bytes());
  }
}

TEST(FastDiagonalization, TakesAnotherNumberForReaction) {
  ProblemOptions options;
  options.geometry = Geometry::graded;
  options.coefficient = Coefficient::constant;
  options.reaction = Reaction::constant;
  Problem problem = make_problem(options);
  for (RobinTerm& term : problem.form.robin) term.alpha = constant_field(2.0);
  BilinearForm next = problem.form;
  react(next);
  const auto updated = make_fast_diagonalization<double>(problem.form);
  const int before = aligned_allocations;
  ASSERT_EQ(updated->update(next), Updated::yes);
  EXPECT_EQ(aligned_allocations, before);
  const auto made = make_fast_diagonalization<double>(next);
  const HostVector<double> r = vector_of<double>(random_values(problem.size(), 7));
  HostVector<double> z(problem.size());
  HostVector<double> expected(problem.size());
  updated->apply(r, z);
  made->apply(r, expected);
  EXPECT_EQ(values_of(z), values_of(expected));
  EXPECT_EQ(updated->eigenvalue_range(), made->eigenvalue_range());
  move_on(next);
  next.coefficient = constant_field(9.0);
  EXPECT_EQ(updated->update(next), Updated::no);
}

template <class T>
void expect_cycle_updates(const ProblemOptions& options, Index small_enough) {
  SCOPED_TRACE(describe(options));
  const Problem problem = make_problem(options);
  BilinearForm next = problem.form;
  move_on(next);
  MultigridOptions multigrid = quick_options();
  multigrid.rules.small_enough = small_enough;
  MultigridSetup<T, Host> updated = make_multigrid<T, Host>(problem.form, multigrid, nullptr);
  ASSERT_EQ(updated.update(next), Updated::yes);
  const MultigridSetup<T, Host> made = make_multigrid<T, Host>(next, multigrid, nullptr);
  ASSERT_EQ(updated.levels.size(), made.levels.size());
  const HostVector<T> r = vector_of<T>(random_input<T>(problem.size(), 9));
  HostVector<T> z(problem.size());
  HostVector<T> expected(problem.size());
  updated.cycle->apply(r, z);
  made.cycle->apply(r, expected);
  EXPECT_EQ(values_of(z), values_of(expected));
}

TEST(MultigridUpdates, AreAsNewlyMade) {
  ProblemOptions options;
  options.degree = 4;
  options.cells = {4, 5, 3};
  for (const Geometry geometry : {Geometry::cartesian, Geometry::curved}) {
    options.geometry = geometry;
    options.coefficient = Coefficient::variable;
    options.reaction = Reaction::constant;
    expect_cycle_updates<double>(options, kSmallEnough);
    expect_cycle_updates<float>(options, kSmallEnough);
    // One level, without an inverse.
    expect_cycle_updates<double>(options, 100'000);
  }
}

TEST(MultigridUpdates, OfBlocksAreNone) {
  ProblemOptions options;
  const Problem problem = make_problem(options);
  auto multigrid = make_multigrid<double, Host>(problem.form,
                                                quick_options(SmootherKind::block_jacobi), nullptr);
  EXPECT_EQ(multigrid.update(problem.form), Updated::no);
}

}  // namespace
}  // namespace tessera::testing
