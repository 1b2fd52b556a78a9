// These tests check properties of operators on random cases.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "mesh/threads_in_use.hpp"
#include "operators/cells/scatter.hpp"
#include "operators/tensor/compressed/fixed_point.hpp"
#include "src/case/choices.hpp"
#include "src/case/shape.hpp"
#include "src/case/strategy.hpp"
#include "tests/operators/problems.hpp"
#include "tests/operators/reference.hpp"
#include "tests/operators/suitable.hpp"
#include "tests/properties/random_case.hpp"

namespace tessera::testing {
namespace {

// Roundings of a sum are fewer than its terms. An entry of A x takes 2 d contractions of n nodes or
// points each, and the sum over 2^d cells; each kernel has a different order, so that two of them
// may differ by both bounds.
double roundings(const Discretization& discretization) {
  const int d = discretization.mesh.dimension();
  const int n = discretization.basis.degree + 1 + discretization.basis.point_count();
  return 2.0 * (2.0 * d * n + std::pow(2.0, d));
}

// Jacobians are differences of positions, and lose what these share: relative to them, the error of
// their entries is that of a position over the least extent of a cell, times the basis'
// derivatives. It is the same in both precisions, as geometry is computed in double.
double geometry_error(const Discretization& discretization) {
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  const BoxMesh& mesh = discretization.mesh;
  double largest = 0.0;
  double least = std::numeric_limits<double>::infinity();
  double widest = 0.0;
  for (int d = 0; d < mesh.dimension(); ++d) {
    largest = std::max({largest, std::abs(mesh.lower()[d]), std::abs(mesh.upper()[d])});
    for (Index c = 0; c < mesh.cells()[d]; ++c) {
      least = std::min(least, mesh.cell_width(d, c));
      widest = std::max(widest, mesh.cell_width(d, c));
    }
  }
  const double p = discretization.basis.degree;
  return 16.0 * kEpsilon * p * p * (largest / least) * (widest / least);
}

/// A random case as an operator sees it.
struct CaseForm {
  explicit CaseForm(const CaseParameters& parameters)
      : discretization(make_discretization(parameters)),
        problem(tessera::make_problem(parameters)),
        form(stiffness_form(problem, discretization)) {}

  Discretization discretization;
  PoissonProblem problem;
  BilinearForm form;
};

// What every operator of the form must be, in this precision.
template <class T>
struct Expected {
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> magnitude;
  std::vector<double> diagonal;
  double tolerance;

  Expected(const Reference& reference, const Discretization& discretization)
      : x(random_input<T>(reference.size(), 11)),
        y(reference.apply(x)),
        magnitude(reference.magnitude(x)),
        diagonal(reference.diagonal()),
        tolerance(roundings(discretization) * std::numeric_limits<T>::epsilon() +
                  geometry_error(discretization)) {}
};

// The largest of |a_i - b_i| / size_i, NaN or infinite if an a_i is.
template <class T>
double worst(const HostVector<T>& a, const std::vector<double>& b,
             const std::vector<double>& size) {
  double largest = 0.0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[static_cast<Index>(i)]) - b[i]);
    if (difference == 0.0) continue;
    // Not std::max, which loses a NaN.
    if (!(difference / size[i] <= largest)) largest = difference / size[i];
    if (std::isnan(largest)) break;
  }
  return largest;
}

template <class T>
HostVector<T> applied(const LinearOperator<T, Host>& a, const HostVector<T>& x) {
  HostVector<T> y = poisoned<T>(x.size());
  a.apply(x, y);
  return y;
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i]) * std::abs(b[i]);
  return sum;
}

template <class T>
double exact_dot(const HostVector<T>& a, const std::vector<double>& b) {
  long double sum = 0.0L;
  for (std::size_t i = 0; i < b.size(); ++i) {
    sum += static_cast<long double>(a[static_cast<Index>(i)]) * b[i];
  }
  return static_cast<double>(sum);
}

template <class T>
void check_operator(const StrategyName& variant, const BilinearForm& form,
                    const Expected<T>& expected) {
  const std::string name =
      fmt::format("{}, {}", variant.text(), sizeof(T) == sizeof(double) ? "double" : "single");
  const auto require_below = [&](double tolerance, const char* what, double difference) {
    if (difference <= tolerance) return;
    RC_FAIL(
        fmt::format("{}: {} is {:.3g} off, relative to the size of its terms; {:.3g} is allowed",
                    name, what, difference, tolerance));
  };
  // Factors that would err by more are not packed.
  const double packing =
      variant.factors == FactorStorage::compressed ? compressed_tolerance<T>() : 0.0;
  const auto require_near = [&](const char* what, double difference) {
    require_below(expected.tolerance + packing, what, difference);
  };
  const ThreadsInUse one(1);
  const auto a = make_operator<T>(variant, form);
  const HostVector<T> x = vector_of<T>(expected.x);
  const HostVector<T> y = applied(*a, x);
  require_near("A x", worst(y, expected.y, expected.magnitude));

  HostVector<T> diagonal = poisoned<T>(x.size());
  a->diagonal(diagonal);
  require_near("the diagonal", worst(diagonal, expected.diagonal, expected.diagonal));

  const std::vector<double> other = random_input<T>(x.size(), 12);
  const double asymmetry =
      exact_dot(y, other) - exact_dot(applied(*a, vector_of<T>(other)), expected.x);
  require_below(expected.tolerance, "symmetry",
                std::abs(asymmetry) / (2.0 * product(other, expected.magnitude)));

  const ThreadsInUse two(2);
  const HostVector<T> again = applied(*a, x);
  require_near("A x of two threads", worst(again, expected.y, expected.magnitude));
  const ScatterInfo* scatter = find_scatter(variant.scatter);
  if (scatter != nullptr && scatter->deterministic == Deterministic::no) return;
  if (!same_bits(again, applied(*a, x)))
    RC_FAIL(name + ": another run of two threads has other bits");
}

// Decisions are functions of the shape, so what `check` foresees is what `run` does.
void require_same_shape(const CaseParameters& parameters, const BilinearForm& form) {
  const FormShape foreseen = case_shape(parameters);
  const FormShape made = form_shape(form, foreseen.processor, foreseen.value_bytes);
  const bool same =
      foreseen.mesh.dimension() == made.mesh.dimension() &&
      foreseen.mesh.cells() == made.mesh.cells() && foreseen.degree() == made.degree() &&
      foreseen.lattice.extents() == made.lattice.extents() && foreseen.points == made.points &&
      foreseen.mesh_kind == made.mesh_kind && foreseen.coefficient == made.coefficient &&
      foreseen.factors() == made.factors() && foreseen.dirichlet == made.dirichlet;
  if (!same) RC_FAIL("the shape of the case is not that of its form");
  for (const StrategyName& strategy : all_strategies(foreseen.processor)) {
    if (why_unsuitable(strategy, foreseen) != why_unsuitable(strategy, made)) {
      RC_FAIL(strategy.text() + " suits the case, or its form, but not both");
    }
    const OperatorBytes bytes = operator_bytes(with_chosen_factors(strategy, foreseen), foreseen);
    const OperatorBytes of_form = operator_bytes(with_chosen_factors(strategy, made), made);
    if (bytes.held != of_form.held || bytes.peak != of_form.peak) {
      RC_FAIL(strategy.text() + " has other bytes in the case than in its form");
    }
  }
  if (choose_strategy(foreseen, "coloring").text() != choose_strategy(made, "coloring").text()) {
    RC_FAIL("another strategy is chosen for the case than for its form");
  }
}

// All strategies and geometries that the form has, in both precisions where units let single be.
void check_case(const LoadedCase& loaded) {
  const CaseParameters& parameters = loaded.parameters;
  const CaseForm made(parameters);
  require_same_shape(parameters, made.form);
  const Reference reference(made.form);
  const Expected<double> in_double(reference, made.discretization);
  const bool single = parameters.operation.precision == Precision::single_precision;
  std::optional<Expected<float>> in_single;
  if (single) in_single.emplace(reference, made.discretization);
  int of_the_case = 0;
  CaseParameters resolved = parameters;
  resolved.run.device = RunDevice::cpu;
  resolve_choices(resolved);
  const StrategyName of_case = case_strategy(resolved);
  for (const StrategyName& variant : host_variants(made.form)) {
    const ScatterInfo* scatter = find_scatter(variant.scatter);
    if (scatter != nullptr && scatter->use == ScatterUse::comparison) continue;
    if (single) {
      check_operator<float>(variant, made.form, *in_single);
    } else {
      check_operator<double>(variant, made.form, in_double);
    }
    of_the_case += variant.text() == of_case.text() ? 1 : 0;
  }
  if (of_the_case != 1) {
    RC_FAIL(fmt::format("the strategy of the case, {}, is {} of those that suit its form",
                        of_case.text(), of_the_case));
  }
}

TEST(Operators, AreThoseOfTheReferenceInRandomCases) {
  Refusals refusals;
  expect_for_all(random_cases({}), 120, [&](const RandomCase& random_case) {
    const auto loaded = refusals.load(random_case);
    if (loaded) check_case(*loaded);
  });
  refusals.expect_at_most(0.2);
}

}  // namespace
}  // namespace tessera::testing
