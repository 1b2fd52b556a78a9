// These tests hold forms whose data depend on u, taken at a state, to forms with the same data as
// functions of position.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "mesh/errors.hpp"
#include "mesh/field/field_program.hpp"
#include "mesh/geometry/geometric_factors.hpp"
#include "operators/fast_diagonalization/fast_diagonalization.hpp"
#include "operators/form/constrained_rows.hpp"
#include "operators/form/updatable.hpp"
#include "operators/load/interpolation.hpp"
#include "operators/load/load_vector.hpp"
#include "operators/multigrid/multigrid.hpp"
#include "solvers/errors.hpp"
#include "tests/operators/strategy_checks.hpp"
#include "tests/operators/test_names.hpp"

namespace tessera::testing {
namespace {

using FunctionOfU = std::function<double(double x, double y, double z, double u)>;

ScalarField field_of_u(FunctionOfU function) {
  ScalarField field;
  field.depends_on_u = true;
  field.evaluate = [function = std::move(function)](const PointBlock& points, double* values) {
    if (points.u == nullptr) throw std::invalid_argument("u is not known");
    for (std::size_t i = 0; i < points.n; ++i) {
      values[i] = function(points.x[i], points.y[i], points.z[i], points.u[i]);
    }
  };
  return field;
}

double coefficient(double x, double y, double, double u) {
  return 1.5 + 0.3 * std::sin(2.0 * u + x) + 0.1 * u * u + 0.2 * y * y;
}
double reaction(double, double, double z, double u) { return 3.0 + std::cos(3.0 * u) + z * z; }
double source(double x, double, double, double u) { return u * u - x; }

// What the space has in it: of degree 1 in physical space on a curved mesh, else of its degree.
double known_u(Geometry geometry, int degree, double x, double y, double z) {
  if (geometry == Geometry::curved) return 0.4 + 0.7 * x - 0.5 * y + 0.3 * z;
  return std::pow(0.6 * x - 0.2, degree) - std::pow(y, degree) * 0.5 * z + 0.3 * x * y * z;
}

/// A form with data that depend on u at a known state, and the same without u.
struct Twins {
  Problem of_u;
  Problem of_position;
  ScalarField source_of_u;
  ScalarField source_of_position;
};

enum class Dependence { coefficient, reaction, both };

Twins make_twins(const ProblemOptions& options, Dependence dependence) {
  Twins twins{make_problem(options), make_problem(options), {}, {}};
  const auto u = [geometry = options.geometry, degree = options.degree](
                     double x, double y, double z) { return known_u(geometry, degree, x, y, z); };
  const auto at_u = [u](FunctionOfU f) {
    return field_of(
        [f = std::move(f), u](double x, double y, double z) { return f(x, y, z, u(x, y, z)); });
  };
  if (dependence != Dependence::reaction) {
    twins.of_u.form.coefficient = field_of_u(coefficient);
    twins.of_position.form.coefficient = at_u(coefficient);
  }
  if (dependence != Dependence::coefficient) {
    twins.of_u.form.reaction = field_of_u(reaction);
    twins.of_position.form.reaction = at_u(reaction);
  }
  twins.source_of_u = field_of_u(source);
  twins.source_of_position = at_u(source);
  HostVector<double> state(twins.of_u.size());
  interpolate(*twins.of_u.discretization, field_of(u), state);
  HostArray<double> values(static_cast<std::size_t>(state.size()));
  for (Index i = 0; i < state.size(); ++i) values[i] = state[i];
  twins.of_u.form.state = std::make_shared<const HostState>(std::move(values));
  return twins;
}

std::vector<double> state_of(const Twins& twins) {
  const FormState& state = *twins.of_u.form.state;
  return {state.data(), state.data() + state.size()};
}

std::vector<double> to_double(const auto& values) {
  std::vector<double> result(static_cast<std::size_t>(values.size()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = static_cast<double>(values[static_cast<Index>(i)]);
  }
  return result;
}

template <class T>
void expect_equal_operators(const BilinearForm& of_u, const BilinearForm& of_position) {
  const Index n = of_u.discretization->lattice.size();
  const HostVector<T> x = vector_of<T>(random_input<T>(n, 17));
  const std::vector<StrategyName> strategies =
      variants(right_strategies(Processor::cpu), of_u, Processor::cpu);
  EXPECT_FALSE(strategies.empty());
  for (const StrategyName& strategy : strategies) {
    SCOPED_TRACE(strategy.text());
    const auto a = make_operator<T>(strategy, of_u);
    const auto expected = make_operator<T>(strategy, of_position);
    EXPECT_LT(relative_difference(applied(*a, x), to_double(applied(*expected, x))),
              tolerance<T>());
    EXPECT_LT(relative_difference(diagonal_of(*a), to_double(diagonal_of(*expected))),
              tolerance<T>());
  }
}

class States : public ::testing::TestWithParam<std::tuple<int, int, Geometry>> {
 protected:
  static ProblemOptions options() {
    const auto [dimension, degree, geometry] = GetParam();
    ProblemOptions options = options_for(Processor::cpu, dimension, degree);
    options.geometry = geometry;
    return options;
  }
};

TEST_P(States, GiveEveryStrategyTheFormAtThem) {
  const ThreadsInUse threads(2);
  ProblemOptions options = States::options();
  for (const Dependence dependence :
       {Dependence::coefficient, Dependence::reaction, Dependence::both}) {
    const Twins twins = make_twins(options, dependence);
    expect_equal_operators<double>(twins.of_u.form, twins.of_position.form);
  }
  const Twins twins = make_twins(options, Dependence::both);
  expect_equal_operators<float>(twins.of_u.form, twins.of_position.form);
  options.points = options.degree + 2;
  const Twins with_more_points = make_twins(options, Dependence::both);
  expect_equal_operators<double>(with_more_points.of_u.form, with_more_points.of_position.form);
}

TEST_P(States, GiveTheLoadOfTheSourceAtThem) {
  const Twins twins = make_twins(States::options(), Dependence::both);
  const Index n = twins.of_u.size();
  const std::vector<FluxTerm> fluxes = {{static_cast<int>(Face::bottom), constant_field(0.5)}};
  // With Dirichlet values to lift, and without.
  for (const double scale : {0.0, 1.0}) {
    const DirichletValues g(twins.of_u.form, std::vector<ScalarField>(
                                                 6, field_of([scale](double x, double y, double z) {
                                                   return scale * (0.3 + std::sin(5 * x + y) * z);
                                                 })));
    HostVector<double> b(n);
    HostVector<double> expected(n);
    assemble_load(twins.of_u.form, twins.source_of_u, fluxes, g, b);
    assemble_load(twins.of_position.form, twins.source_of_position, fluxes, g, expected);
    EXPECT_LT(relative_difference(b, to_double(expected)), 1e-12);
  }
}

// A(u) u - f(u), at a u with values on Dirichlet faces as well.
TEST_P(States, GiveTheResidualOfTheProblemAtThem) {
  const Twins twins = make_twins(States::options(), Dependence::both);
  const Index n = twins.of_u.size();
  BilinearForm form = twins.of_position.form;
  const FaceSet dirichlet = form.dirichlet;
  form.dirichlet.reset();
  const std::vector<FluxTerm> fluxes = {{static_cast<int>(Face::bottom), constant_field(0.5)}};
  const HostVector<double> u = vector_of<double>(state_of(twins));
  HostVector<double> expected(n);
  assemble_load(form, twins.source_of_position, fluxes, {}, expected);
  aypx(applied(*make_operator<double>({"tensor", "coloring"}, form), u), -1.0, expected);
  for_each_face_node(form.discretization->lattice, dirichlet,
                     [&](Index node) { expected[node] = 0.0; });
  BilinearForm without_state = twins.of_u.form;
  without_state.state = nullptr;
  std::vector<double> first;
  for (const int count : {1, 2}) {
    const ThreadsInUse threads(count);
    HostVector<double> r = poisoned<double, Host>(n);
    assemble_residual(without_state, twins.source_of_u, fluxes, u, r);
    EXPECT_LT(relative_difference(r, to_double(expected)), 1e-11);
    if (first.empty()) first = to_double(r);
    EXPECT_EQ(to_double(r), first);
  }
}

// A state that has changed in place is seen, whatever the fields are.
TEST_P(States, AreFollowedByOperatorsThatAreUpdated) {
  for (const Dependence dependence : {Dependence::coefficient, Dependence::both}) {
    Twins twins = make_twins(States::options(), dependence);
    BilinearForm form = twins.of_u.form;
    const auto program = std::make_shared<const FieldProgram>();
    // As fields of cases have: by it they look the same at all states.
    form.coefficient.program = program;
    const std::vector<double> values = state_of(twins);
    const auto state = std::make_shared<HostState>(HostArray<double>(values.begin(), values.end()));
    form.state = state;
    const StrategyName tensor{"tensor", "coloring"};
    const auto a = make_operator<double>(tensor, form);
    for (double& value : state->values()) value = 0.3 - value;
    if (update_in_place(*a, form) == Updated::no) continue;
    const HostVector<double> x = vector_of<double>(random_values(twins.of_u.size(), 23));
    EXPECT_EQ(to_double(applied(*a, x)),
              to_double(applied(*make_operator<double>(tensor, form), x)));
  }
}

std::string name_with_geometry(const ::testing::TestParamInfo<States::ParamType>& tested) {
  static constexpr std::array kNames = {"Cartesian", "Curved", "Graded"};
  const auto [dimension, degree, geometry] = tested.param;
  return name_of({DimensionAndDegree{dimension, degree}, tested.index}) +
         kNames[static_cast<std::size_t>(geometry)];
}

INSTANTIATE_TEST_SUITE_P(Degrees, States,
                         ::testing::Combine(::testing::Values(2, 3), ::testing::Values(1, 2, 3, 5),
                                            ::testing::Values(Geometry::cartesian, Geometry::curved,
                                                              Geometry::graded)),
                         name_with_geometry);

TEST(StatesOfLevels, AreInterpolantsOfTheFiner) {
  for (const int dimension : {2, 3}) {
    ProblemOptions options;
    options.dimension = dimension;
    options.degree = 3;
    options.cells = {5, 4, dimension == 3 ? 3 : 1};
    SCOPED_TRACE(describe(options));
    // Of degree 1: it is in the spaces of all levels.
    const Twins twins = make_twins(options, Dependence::both);
    for (const CoarseningOrder order :
         {CoarseningOrder::degree_first, CoarseningOrder::cells_first}) {
      const CoarseningRules rules{.order = order, .small_enough = 20};
      const Hierarchy of_u(twins.of_u.form, rules);
      const Hierarchy of_position(twins.of_position.form, rules);
      ASSERT_EQ(of_u.size(), of_position.size());
      ASSERT_GE(of_u.size(), 3U);
      for (std::size_t l = 0; l < of_u.size(); ++l) {
        expect_equal_operators<double>(of_u.form(l), of_position.form(l));
      }
    }
    Hierarchy whole(twins.of_u.form, {});
    EXPECT_EQ(drop_unresolved(whole), "");
    // A cycle is the same.
    MultigridOptions multigrid;
    multigrid.rules.small_enough = 50;
    const auto cycle = make_multigrid<double, Host>(twins.of_u.form, multigrid, nullptr);
    const auto expected = make_multigrid<double, Host>(twins.of_position.form, multigrid, nullptr);
    ASSERT_EQ(cycle.levels.size(), expected.levels.size());
    const HostVector<double> r = vector_of<double>(random_values(twins.of_u.size(), 3));
    HostVector<double> x(r.size());
    HostVector<double> y(r.size());
    cycle.cycle->apply(r, x);
    expected.cycle->apply(r, y);
    EXPECT_LT(relative_difference(x, to_double(y)), 1e-10);
  }
}

TEST(StatesOfLevels, AreFollowedByACycleThatIsUpdated) {
  ProblemOptions options;
  options.dimension = 2;
  options.degree = 3;
  options.cells = {8, 6, 1};
  Twins twins = make_twins(options, Dependence::both);
  BilinearForm form = twins.of_u.form;
  const std::vector<double> values = state_of(twins);
  const auto state = std::make_shared<HostState>(HostArray<double>(values.begin(), values.end()));
  form.state = state;
  MultigridOptions multigrid;
  multigrid.rules.small_enough = 50;
  const auto cycle = make_multigrid<double, Host>(form, multigrid, nullptr);
  ASSERT_GE(cycle.levels.size(), 2U);
  const HostVector<double> r = vector_of<double>(random_values(twins.of_u.size(), 3));
  HostVector<double> before(r.size());
  cycle.cycle->apply(r, before);
  for (double& value : state->values()) value = 2.0 * value - 0.7;
  ASSERT_EQ(cycle.update(form), Updated::yes);
  HostVector<double> x(r.size());
  HostVector<double> expected(r.size());
  cycle.cycle->apply(r, x);
  make_multigrid<double, Host>(form, multigrid, nullptr).cycle->apply(r, expected);
  EXPECT_EQ(to_double(x), to_double(expected));
  EXPECT_GT(relative_difference(before, to_double(x)), 1e-3) << "the change is not seen";
}

TEST(FormsThatDependOnU, NeedAState) {
  for (const Geometry geometry : {Geometry::cartesian, Geometry::curved}) {
    ProblemOptions options;
    options.geometry = geometry;
    Twins twins = make_twins(options, Dependence::both);
    BilinearForm& form = twins.of_u.form;
    EXPECT_EQ(form_shape(form, Processor::cpu, 8).state, StateKind::given);
    EXPECT_EQ(form_shape(twins.of_position.form, Processor::cpu, 8).state, StateKind::none);
    form.state = nullptr;
    EXPECT_THROW(make_operator<double>({"tensor", "coloring"}, form), std::invalid_argument);
    EXPECT_THROW(check_geometry(*form.discretization, form.coefficient, form.reaction),
                 std::invalid_argument);
    HostVector<double> b(twins.of_u.size());
    EXPECT_THROW(assemble_load(form, twins.source_of_u, {}, {}, b), std::invalid_argument);
  }
}

TEST(FormsThatDependOnU, AreNotForProductsOfAxes) {
  ProblemOptions options;
  options.geometry = Geometry::cartesian;
  const Twins twins = make_twins(options, Dependence::both);
  const BilinearForm& form = twins.of_u.form;
  for (const Processor processor : {Processor::cpu, Processor::gpu}) {
    EXPECT_NE(why_unsuitable({"kronecker"}, form_shape(form, processor, 8)), "");
    EXPECT_EQ(why_unsuitable({"tensor"}, form_shape(form, processor, 8)), "");
  }
}

TEST(FormsOfJacobians, MayHaveANegativeReaction) {
  for (const Geometry geometry : {Geometry::cartesian, Geometry::curved}) {
    for (const bool is_constant : {true, false}) {
      ProblemOptions options;
      options.geometry = geometry;
      options.coefficient = Coefficient::constant;
      Problem problem = make_problem(options);
      problem.form.reaction = is_constant
                                  ? constant_field(-2.0)
                                  : field_of([](double x, double, double) { return x - 1.5; });
      const StrategyName tensor{"tensor", "coloring"};
      EXPECT_THROW(make_operator<double>(tensor, problem.form), BadFieldValue);
      problem.form.reaction_sign = ReactionSign::any;
      expect_equal_to_reference<double>(problem, {tensor});
      problem.form.reaction = constant_field(std::nan(""));
      EXPECT_THROW(make_operator<double>(tensor, problem.form), BadFieldValue);
    }
  }
}

}  // namespace
}  // namespace tessera::testing
