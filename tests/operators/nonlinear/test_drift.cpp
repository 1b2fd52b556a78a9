// These tests hold the drift to differences of the form that it is the derivative of.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <stdexcept>
#include <vector>

#include "mesh/errors.hpp"
#include "mesh/field/program_field.hpp"
#include "operators/form/constrained_rows.hpp"
#include "operators/nonlinear/drift.hpp"
#include "operators/strategy.hpp"
#include "tests/operators/problems.hpp"

namespace tessera::testing {
namespace {

// k = 2 + x^2 u^3 + exp(u).
ScalarField coefficient() {
  return program_field({{{Operation::push, Operand::u, 0.0},
                         {Operation::integer_power, Operand::stack, 3.0},
                         {Operation::multiply, Operand::x, 0.0},
                         {Operation::multiply, Operand::x, 0.0},
                         {Operation::push, Operand::u, 0.0},
                         {Operation::exp, Operand::stack, 0.0},
                         {Operation::add, Operand::stack, 0.0},
                         {Operation::add, Operand::constant, 2.0}},
                        2});
}

std::shared_ptr<const FormState> state_of(const std::vector<double>& u) {
  HostArray<double> values(u.size());
  for (std::size_t i = 0; i < u.size(); ++i) values[i] = u[i];
  return std::make_shared<const HostState>(std::move(values));
}

std::vector<double> combined(const std::vector<double>& u, double factor,
                             const std::vector<double>& v) {
  std::vector<double> sum = u;
  for (std::size_t i = 0; i < u.size(); ++i) sum[i] += factor * v[i];
  return sum;
}

// A(at) x.
HostVector<double> applied_at(BilinearForm form, const std::vector<double>& at,
                              const std::vector<double>& x) {
  form.state = state_of(at);
  return applied(*make_operator<double>({"tensor", "coloring"}, form), vector_of<double>(x));
}

std::vector<double> drift_of(const Drift& drift, const std::vector<double>& v) {
  HostVector<double> y(static_cast<Index>(v.size()));
  drift.add(vector_of<double>(v), y);
  return {y.data(), y.data() + y.size()};
}

std::vector<double> drift_of(BilinearForm form, const std::vector<double>& u,
                             const std::vector<double>& v) {
  form.state = state_of(u);
  return drift_of(Drift(form), v);
}

std::vector<double> smooth_values(const Problem& problem, unsigned seed) {
  std::vector<double> u = random_values(problem.size(), seed);
  for (double& value : u) value = 0.3 + 0.2 * value;
  return u;
}

ProblemOptions options_of(int dimension, int degree, Geometry geometry) {
  ProblemOptions options;
  options.dimension = dimension;
  options.degree = degree;
  options.cells = {9, 2, dimension == 3 ? 2 : 1};
  options.geometry = geometry;
  options.boundary = Boundary::none;
  return options;
}

class Drifts : public ::testing::TestWithParam<std::tuple<int, int, Geometry>> {
 protected:
  static ProblemOptions options() {
    const auto [dimension, degree, geometry] = GetParam();
    return options_of(dimension, degree, geometry);
  }
};

// F(u) = A(u) u, J(u) v = A(u) v + drift.
TEST_P(Drifts, MakeTheDerivativeOfTheForm) {
  constexpr double kStep = 1e-5;
  ProblemOptions options = Drifts::options();
  for (const int extra_points : {0, 2}) {
    options.points = options.degree + 1 + extra_points;
    Problem problem = make_problem(options);
    problem.form.coefficient = coefficient();
    const std::vector<double> u = smooth_values(problem, 3);
    const std::vector<double> v = smooth_values(problem, 4);
    const std::vector<double> before = combined(u, -kStep, v);
    const std::vector<double> after = combined(u, kStep, v);
    const HostVector<double> left = applied_at(problem.form, before, before);
    const HostVector<double> right = applied_at(problem.form, after, after);
    const HostVector<double> symmetric = applied_at(problem.form, u, v);
    const std::vector<double> drift = drift_of(problem.form, u, v);
    HostVector<double> jacobian(problem.size());
    std::vector<double> difference;
    for (Index i = 0; i < problem.size(); ++i) {
      jacobian[i] = symmetric[i] + drift[i];
      difference.push_back((right[i] - left[i]) / (2.0 * kStep));
    }
    EXPECT_LT(relative_difference(jacobian, difference), 1e-8);
    EXPECT_GT(relative_difference(symmetric, difference), 1e-3) << "the drift is not seen";
  }
}

// Without constrained rows, with those rows and columns taken out.
TEST_P(Drifts, LeaveConstrainedRowsAlone) {
  ProblemOptions options = Drifts::options();
  options.boundary = Boundary::mixed;
  Problem problem = make_problem(options);
  problem.form.coefficient = coefficient();
  const std::vector<double> u = smooth_values(problem, 5);
  const std::vector<double> v = smooth_values(problem, 6);
  std::vector<double> free = v;
  for_each_face_node(problem.discretization->lattice, problem.form.dirichlet,
                     [&](Index node) { free[static_cast<std::size_t>(node)] = 0.0; });
  BilinearForm without_faces = problem.form;
  without_faces.dirichlet.reset();
  std::vector<double> expected = drift_of(without_faces, u, free);
  for_each_face_node(problem.discretization->lattice, problem.form.dirichlet,
                     [&](Index node) { expected[static_cast<std::size_t>(node)] = 0.0; });
  EXPECT_EQ(drift_of(problem.form, u, v), expected);
}

INSTANTIATE_TEST_SUITE_P(Degrees, Drifts,
                         ::testing::Combine(::testing::Values(2, 3), ::testing::Values(1, 2, 4, 9),
                                            ::testing::Values(Geometry::cartesian, Geometry::curved,
                                                              Geometry::graded)));

// As steps in time do, whose coefficient is another one at every time.
TEST(Drift, IsUpdatedToAnotherCoefficient) {
  Problem problem = make_problem(options_of(2, 3, Geometry::curved));
  problem.form.coefficient = coefficient();
  const std::vector<double> u = smooth_values(problem, 9);
  const std::vector<double> v = smooth_values(problem, 10);
  problem.form.state = state_of(u);
  Drift drift(problem.form);
  problem.form.coefficient = program_field({{{Operation::push, Operand::u, 0.0},
                                             {Operation::integer_power, Operand::stack, 2.0},
                                             {Operation::add, Operand::constant, 1.0}},
                                            2});
  drift.update(problem.form);
  EXPECT_EQ(drift_of(drift, v), drift_of(problem.form, u, v));
}

TEST(Drift, HasTheSameBitsForAnyNumberOfThreadsAndAddsToY) {
  Problem problem = make_problem(options_of(3, 3, Geometry::curved));
  problem.form.coefficient = coefficient();
  const std::vector<double> u = smooth_values(problem, 7);
  const std::vector<double> v = smooth_values(problem, 8);
  std::vector<double> expected;
  for (const int count : {1, 2, 3}) {
    const ThreadsInUse threads(count);
    const std::vector<double> drift = drift_of(problem.form, u, v);
    if (expected.empty()) expected = drift;
    EXPECT_EQ(drift, expected);
  }
  problem.form.state = state_of(u);
  const Drift drift(problem.form);
  HostVector<double> y(problem.size());
  fill(y, 1.0);
  drift.add(vector_of<double>(v), y);
  for (Index i = 0; i < y.size(); ++i) {
    EXPECT_NEAR(y[i], 1.0 + expected[static_cast<std::size_t>(i)], 1e-12);
  }
}

TEST(Drift, IsUpdatedInPlace) {
  Problem problem = make_problem(options_of(2, 2, Geometry::curved));
  problem.form.coefficient = coefficient();
  const std::vector<double> u = smooth_values(problem, 9);
  const std::vector<double> other = smooth_values(problem, 10);
  problem.form.state = state_of(other);
  Drift drift(problem.form);
  problem.form.state = state_of(u);
  drift.update(problem.form);
  EXPECT_EQ(drift_of(drift, other), drift_of(problem.form, u, other));
}

TEST(Drift, IsZeroWithoutUInTheCoefficientAndNeedsAState) {
  Problem problem = make_problem(options_of(2, 2, Geometry::curved));
  EXPECT_THROW(Drift{problem.form}, std::invalid_argument);
  const std::vector<double> u = smooth_values(problem, 11);
  for (const double value : drift_of(problem.form, u, u)) EXPECT_EQ(value, 0.0);
}

TEST(Drift, RefusesDerivativesThatAreNotFinite) {
  Problem problem = make_problem(options_of(2, 2, Geometry::cartesian));
  // 1 + sqrt(u), at u = 0.
  problem.form.coefficient = program_field({{{Operation::push, Operand::u, 0.0},
                                             {Operation::sqrt, Operand::stack, 0.0},
                                             {Operation::add, Operand::constant, 1.0}},
                                            1});
  problem.form.state = state_of(std::vector<double>(static_cast<std::size_t>(problem.size())));
  EXPECT_THROW(Drift{problem.form}, BadFieldValue);
}

}  // namespace
}  // namespace tessera::testing
