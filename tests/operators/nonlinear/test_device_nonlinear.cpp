// These tests hold forms at a state, residuals and drifts on the GPU to those of the host.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "mesh/coarsening.hpp"
#include "mesh/errors.hpp"
#include "mesh/field/field_terms.hpp"
#include "mesh/field/program_field.hpp"
#include "operators/cells/fields/device_state.hpp"
#include "operators/form/updatable.hpp"
#include "operators/load/interpolation.hpp"
#include "operators/nonlinear/device_drift.hpp"
#include "operators/nonlinear/device_residual.hpp"
#include "operators/nonlinear/drift.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/framed_program.hpp"
#include "tests/operators/multigrid/multigrid_cases.hpp"
#include "tests/operators/strategy_checks.hpp"

namespace tessera::testing {
namespace {

// 2 + x^2 u^2 + exp(u) / 4 in the frame.
ScalarField coefficient() {
  return framed_field({{Operation::push, Operand::u, 0.0},
                       {Operation::integer_power, Operand::stack, 2.0},
                       {Operation::multiply, Operand::x, 0.0},
                       {Operation::multiply, Operand::x, 0.0},
                       {Operation::push, Operand::u, 0.0},
                       {Operation::exp, Operand::stack, 0.0},
                       {Operation::multiply, Operand::constant, 0.25},
                       {Operation::add, Operand::stack, 0.0},
                       {Operation::add, Operand::constant, 2.0}},
                      2);
}

// sin(3 u) + t y at t = 0.7.
ScalarField source() {
  FieldProgram program{{{Operation::push, Operand::u, 0.0},
                        {Operation::multiply, Operand::constant, 3.0},
                        {Operation::sin, Operand::stack, 0.0},
                        {Operation::push, Operand::t, 0.0},
                        {Operation::multiply, Operand::y, 0.0},
                        {Operation::add, Operand::stack, 0.0}},
                       2};
  program.t = 0.7;
  return program_field(std::move(program));
}

// 1 + x^2
ScalarField reaction() {
  return program_field({{{Operation::push, Operand::x, 0.0},
                         {Operation::multiply, Operand::x, 0.0},
                         {Operation::add, Operand::constant, 1.0}},
                        1});
}

// More than a thread has room for: it is evaluated on the host.
ScalarField deep(const ScalarField& field) {
  FieldProgram program = *field.program;
  program.depth = 100;
  return program_field(std::move(program));
}

std::shared_ptr<HostState> state_of(const Problem& problem, double shift) {
  HostVector<double> u(problem.size());
  interpolate(*problem.discretization, field_of([shift](double x, double y, double z) {
    return 0.4 + shift * x - 0.5 * y * y + 0.3 * z * x;
  }),
              u);
  return std::make_shared<HostState>(HostArray<double>(u.data(), u.data() + u.size()));
}

HostVector<double> vector_of_state(const FormState& state) {
  return vector_of<double>({state.data(), state.data() + state.size()});
}

DeviceVector<double> on_gpu(const HostVector<double>& values) {
  DeviceVector<double> result(values.size());
  copy(values, result);
  return result;
}

class DeviceStates : public ::testing::TestWithParam<std::tuple<int, int, Geometry>> {
 protected:
  void SetUp() override { TESSERA_REQUIRE_DEVICE(); }

  // With the form of a Newton's step: a reaction that may be negative.
  static Problem problem() {
    const auto [dimension, degree, geometry] = GetParam();
    ProblemOptions options = options_for(Processor::gpu, dimension, degree);
    options.geometry = geometry;
    Problem problem = make_problem(options);
    problem.form.coefficient = coefficient();
    problem.form.reaction = reaction();
    problem.form.state = state_of(problem, 0.7);
    return problem;
  }
  static ScalarField of_newton() { return add_fields(reaction(), derivative_in_u(source()), -1.0); }
};

template <class T>
void expect_operators_of_the_host(const BilinearForm& form) {
  const Index n = form.discretization->lattice.size();
  const HostVector<T> x = vector_of<T>(random_input<T>(n, 17));
  const auto expected = make_operator<T>({"tensor", "coloring"}, form);
  const std::vector<double> product = values_of(applied(*expected, x));
  const std::vector<double> diagonal = values_of(diagonal_of(*expected));
  for (const StrategyName& strategy :
       variants(right_strategies(Processor::gpu), form, Processor::gpu)) {
    SCOPED_TRACE(strategy.text());
    const auto a = make_operator<T, Device>(strategy, form);
    EXPECT_LT(relative_difference(applied(*a, x), product), 8 * tolerance_of<T>(strategy));
    EXPECT_LT(relative_difference(diagonal_of(*a), diagonal), 8 * tolerance_of<T>(strategy));
  }
}

TEST_P(DeviceStates, GiveTheOperatorsOfTheHost) {
  if constexpr (kHasCuda) {
    Problem problem = DeviceStates::problem();
    problem.form.reaction = of_newton();
    problem.form.reaction_sign = ReactionSign::any;
    expect_operators_of_the_host<double>(problem.form);
    // Other fields are other programs in the same kernels.
    if (std::get<1>(GetParam()) != 2) return;
    problem.form.reaction = reaction();
    expect_operators_of_the_host<float>(problem.form);
    problem.form.reaction = magnitude_of(of_newton());
    problem.form.reaction_sign = ReactionSign::non_negative;
    expect_operators_of_the_host<double>(problem.form);
    problem.form.coefficient = deep(coefficient());
    expect_operators_of_the_host<double>(problem.form);
  }
}

TEST_P(DeviceStates, AreFollowedByOperatorsThatAreUpdated) {
  if constexpr (kHasCuda) {
    Problem problem = DeviceStates::problem();
    const auto state = state_of(problem, 0.7);
    problem.form.state = state;
    const HostVector<double> x = vector_of<double>(random_values(problem.size(), 5));
    int updated = 0;
    for (const StrategyName& strategy :
         variants(right_strategies(Processor::gpu), problem.form, Processor::gpu)) {
      // Atomic additions have other bits every time.
      if (strategy.scatter != "coloring") continue;
      SCOPED_TRACE(strategy.text());
      state->values() = state_of(problem, 0.7)->values();
      const auto a = make_operator<double, Device>(strategy, problem.form);
      state->values() = state_of(problem, -0.3)->values();
      BilinearForm next = problem.form;
      for (RobinTerm& term : next.robin) {
        term.alpha = field_of([](double x_of, double, double) { return 4.0 + x_of * x_of; });
      }
      const Updated was = update_in_place(*a, next);
      if (strategy.kernel == "tensor" && strategy.factors != FactorStorage::compressed) {
        EXPECT_EQ(was, Updated::yes);
      }
      if (was == Updated::no) continue;
      ++updated;
      const auto made = make_operator<double, Device>(strategy, next);
      EXPECT_EQ(values_of(applied(*a, x)), values_of(applied(*made, x)));
      EXPECT_EQ(values_of(diagonal_of(*a)), values_of(diagonal_of(*made)));
    }
    EXPECT_GT(updated, 0);
  }
}

TEST_P(DeviceStates, GiveTheResidualOfTheHost) {
  if constexpr (kHasCuda) {
    const Problem problem = DeviceStates::problem();
    const HostVector<double> u = vector_of_state(*problem.form.state);
    const std::vector<FluxTerm> fluxes = {{static_cast<int>(Face::bottom), constant_field(0.5)},
                                          {static_cast<int>(Face::top), reaction()}};
    BilinearForm form = problem.form;
    form.state = nullptr;
    HostVector<double> expected(problem.size());
    assemble_residual(form, source(), fluxes, u, expected);
    const DeviceVector<double> u_on_gpu = on_gpu(u);
    DeviceResidual residual(*problem.discretization);
    for (const bool is_deep : {false, true, false}) {
      BilinearForm of = form;
      if (is_deep) of.coefficient = deep(coefficient());
      DeviceVector<double> r = on_gpu(vector_of<double>(random_values(problem.size(), 3)));
      residual.compute(of, source(), fluxes, u_on_gpu, r);
      EXPECT_LT(relative_difference(on_host(r), values_of(expected)), 1e-11);
    }
    // Other fluxes.
    const std::vector<FluxTerm> others = {{static_cast<int>(Face::bottom), constant_field(-1.5)}};
    assemble_residual(form, source(), others, u, expected);
    DeviceVector<double> r(problem.size());
    residual.compute(form, source(), others, u_on_gpu, r);
    EXPECT_LT(relative_difference(on_host(r), values_of(expected)), 1e-11);
    residual.compute(form, source(), {}, u_on_gpu, r);
    const std::vector<double> first = values_of(r);
    residual.compute(form, source(), {}, u_on_gpu, r);
    EXPECT_EQ(values_of(r), first);
  }
}

TEST_P(DeviceStates, GiveTheDriftOfTheHost) {
  if constexpr (kHasCuda) {
    Problem problem = DeviceStates::problem();
    const auto state = state_of(problem, 0.7);
    problem.form.state = state;
    const HostVector<double> v = vector_of<double>(random_values(problem.size(), 5));
    const DeviceVector<double> v_on_gpu = on_gpu(v);
    const auto expect_the_same = [&](const DeviceDrift& drift) {
      HostVector<double> expected(problem.size());
      fill(expected, 1.0);
      Drift(problem.form).add(v, expected);
      DeviceVector<double> y(problem.size());
      fill(y, 1.0);
      drift.add(v_on_gpu, y);
      EXPECT_LT(relative_difference(on_host(y), values_of(expected)), 1e-12);
    };
    DeviceDrift drift(problem.form);
    expect_the_same(drift);
    EXPECT_GT(drift.bytes(), 0);
    EXPECT_EQ(drift.flops(), Drift(problem.form).flops());
    state->values() = state_of(problem, -0.2)->values();
    drift.update(problem.form);
    expect_the_same(drift);
    problem.form.coefficient = deep(coefficient());
    drift.update(problem.form);
    expect_the_same(drift);
  }
}

INSTANTIATE_TEST_SUITE_P(Degrees, DeviceStates,
                         ::testing::Combine(::testing::Values(2, 3), ::testing::Values(1, 2, 4, 9),
                                            ::testing::Values(Geometry::cartesian, Geometry::curved,
                                                              Geometry::graded)));

// Kernels by lines are compiled for each degree; with more points teams add the drift.
TEST(DeviceDrifts, AreThoseOfTheHostForOtherDegreesAndRules) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    const auto expect_the_same = [](const ProblemOptions& options) {
      SCOPED_TRACE(options.degree);
      Problem problem = make_problem(options);
      problem.form.coefficient = coefficient();
      problem.form.state = state_of(problem, 0.7);
      const HostVector<double> v = vector_of<double>(random_values(problem.size(), 5));
      HostVector<double> expected(problem.size());
      fill(expected, 1.0);
      Drift(problem.form).add(v, expected);
      DeviceVector<double> y(problem.size());
      fill(y, 1.0);
      DeviceDrift(problem.form).add(on_gpu(v), y);
      EXPECT_LT(relative_difference(on_host(y), values_of(expected)), 1e-12);
    };
    for (const int degree : {3, 5, 6, 7, 8}) {
      ProblemOptions options = options_for(Processor::gpu, 3, degree);
      options.geometry = Geometry::curved;
      options.cells = {3, 2, 3};
      expect_the_same(options);
    }
    ProblemOptions options = options_for(Processor::gpu, 3, 3);
    options.geometry = Geometry::curved;
    options.points = 5;
    expect_the_same(options);
  }
}

TEST_P(DeviceStates, MayLieInGpuMemory) {
  if constexpr (kHasCuda) {
    Problem problem = DeviceStates::problem();
    const std::shared_ptr<HostState> on_host = state_of(problem, 0.7);
    const auto here = std::make_shared<StateOnDevice>(on_gpu(vector_of_state(*on_host)));
    EXPECT_EQ(here->size(), problem.size());
    EXPECT_EQ(values_of(vector_of_state(*here)), values_of(vector_of_state(*on_host)));
    const HostVector<double> other = vector_of_state(*state_of(problem, -0.2));
    here->set(on_gpu(other));
    EXPECT_EQ(values_of(vector_of_state(*here)), values_of(other));
    // Coarser, as on the host.
    const Discretization& fine = *problem.discretization;
    const Discretization coarse = coarsen(fine, {1, fine.mesh.cells()});
    const std::shared_ptr<const FormState> level = here->coarsened(fine, coarse);
    ASSERT_NE(level->on_device(), nullptr);
    const HostArray<double> expected = coarsen(fine, other.data(), coarse);
    ASSERT_EQ(level->size(), static_cast<Index>(expected.size()));
    for (Index i = 0; i < level->size(); ++i) {
      EXPECT_NEAR(level->data()[i], expected[static_cast<std::size_t>(i)], 1e-14);
    }
    // What is made at it has the bits of what is made at a state of the host.
    const StrategyName tensor{"tensor", "coloring"};
    const DeviceVector<double> x = on_gpu(vector_of<double>(random_values(problem.size(), 5)));
    DeviceVector<double> y(problem.size());
    std::vector<std::vector<double>> results;
    const std::vector<std::shared_ptr<const FormState>> states = {
        std::make_shared<HostState>(HostArray<double>(other.data(), other.data() + other.size())),
        here};
    for (const std::shared_ptr<const FormState>& state : states) {
      problem.form.state = state;
      make_operator<double, Device>(tensor, problem.form)->apply(x, y);
      DeviceDrift(problem.form).add(x, y);
      results.push_back(values_of(y));
    }
    EXPECT_EQ(results[0], results[1]);
  }
}

TEST(DeviceStatesOfLevels, GiveTheCycleOfTheHostAndAreFollowed) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    ProblemOptions options;
    options.degree = 4;
    options.cells = {4, 5, 3};
    options.geometry = Geometry::curved;
    Problem problem = make_problem(options);
    problem.form.coefficient = coefficient();
    const auto state = state_of(problem, 0.7);
    problem.form.state = state;
    const MultigridOptions multigrid = quick_options();
    MultigridSetup<double, Device> cycle =
        make_multigrid<double, Device>(problem.form, multigrid, nullptr);
    const HostVector<double> r = vector_of<double>(random_values(problem.size(), 9));
    const DeviceVector<double> r_on_gpu = on_gpu(r);
    const auto expect_the_same = [&](const MultigridSetup<double, Device>& of_gpu) {
      const auto of_host = make_multigrid<double, Host>(problem.form, multigrid, nullptr);
      ASSERT_EQ(of_gpu.levels.size(), of_host.levels.size());
      HostVector<double> expected(problem.size());
      of_host.cycle->apply(r, expected);
      DeviceVector<double> z(problem.size());
      of_gpu.cycle->apply(r_on_gpu, z);
      // Smoothers go by estimates of spectra.
      EXPECT_LT(relative_difference(on_host(z), values_of(expected)), 1e-6);
    };
    expect_the_same(cycle);
    state->values() = state_of(problem, -0.3)->values();
    ASSERT_EQ(cycle.update(problem.form), Updated::yes);
    expect_the_same(cycle);
  }
}

TEST(DeviceForms, OfJacobiansMayHaveANegativeReaction) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    for (const Geometry geometry : {Geometry::cartesian, Geometry::curved}) {
      for (const bool is_constant : {true, false}) {
        ProblemOptions options;
        options.geometry = geometry;
        options.coefficient = Coefficient::constant;
        Problem problem = make_problem(options);
        problem.form.reaction =
            is_constant ? constant_field(-2.0)
                        : program_field({{{Operation::push, Operand::x, 0.0},
                                          {Operation::subtract, Operand::constant, 1.5}},
                                         1});
        const StrategyName tensor{"tensor", "coloring"};
        EXPECT_THROW((make_operator<double, Device>(tensor, problem.form)), BadFieldValue);
        problem.form.reaction_sign = ReactionSign::any;
        expect_equal_to_reference<double, Device>(problem, {tensor});
        problem.form.reaction = constant_field(std::nan(""));
        EXPECT_THROW((make_operator<double, Device>(tensor, problem.form)), BadFieldValue);
      }
    }
  }
}

TEST(DeviceResiduals, AndDriftsThatAreNotFiniteAreRefusedAsOnTheHost) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    ProblemOptions options;
    options.dimension = 2;
    Problem problem = make_problem(options);
    // 1 + sqrt(u), at u = 0.
    problem.form.coefficient = program_field({{{Operation::push, Operand::u, 0.0},
                                               {Operation::sqrt, Operand::stack, 0.0},
                                               {Operation::add, Operand::constant, 1.0}},
                                              1});
    problem.form.state = std::make_shared<const HostState>(
        HostArray<double>(static_cast<std::size_t>(problem.size()), 0.0));
    EXPECT_THROW(DeviceDrift{problem.form}, BadFieldValue);
    const ScalarField infinite = program_field(
        {{{Operation::push, Operand::u, 0.0}, {Operation::log, Operand::stack, 0.0}}, 1});
    DeviceResidual residual(*problem.discretization);
    const DeviceVector<double> u(problem.size());
    DeviceVector<double> r(problem.size());
    problem.form.state = nullptr;
    EXPECT_THROW(residual.compute(problem.form, infinite, {}, u, r), BadFieldValue);
  }
}

}  // namespace
}  // namespace tessera::testing
