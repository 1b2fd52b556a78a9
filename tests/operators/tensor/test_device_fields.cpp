// These tests hold operators whose fields the GPU evaluates to the reference.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mesh/errors.hpp"
#include "mesh/field/program_field.hpp"
#include "operators/strategy.hpp"
#include "operators/tensor/gpu/coefficient_at_points.hpp"
#include "operators/tensor/gpu/field_at_points.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/framed_program.hpp"
#include "tests/operators/problems.hpp"
#include "tests/operators/reference.hpp"
#include "tests/operators/strategy_checks.hpp"
#include "tests/operators/suitable.hpp"
#include "tests/operators/test_names.hpp"

namespace tessera::testing {
namespace {

// 2 + 0.5 sin(3 x + y) + 0.3 z^2 in the frame.
ScalarField coefficient() {
  return framed_field({{Operation::push, Operand::x, 0.0},
                       {Operation::multiply, Operand::constant, 3.0},
                       {Operation::add, Operand::y, 0.0},
                       {Operation::sin, Operand::stack, 0.0},
                       {Operation::multiply, Operand::constant, 0.5},
                       {Operation::push, Operand::z, 0.0},
                       {Operation::integer_power, Operand::stack, 2.0},
                       {Operation::multiply, Operand::constant, 0.3},
                       {Operation::add, Operand::stack, 0.0},
                       {Operation::add, Operand::constant, 2.0}},
                      2);
}

// 30 (x - 0.2)^2
ScalarField reaction() {
  return program_field({{{Operation::push, Operand::x, 0.0},
                         {Operation::subtract, Operand::constant, 0.2},
                         {Operation::integer_power, Operand::stack, 2.0},
                         {Operation::multiply, Operand::constant, 30.0}},
                        1});
}

// x - least
ScalarField positive_beyond(double least) {
  return program_field(
      {{{Operation::push, Operand::x, 0.0}, {Operation::subtract, Operand::constant, least}}, 1});
}

template <class T>
void expect_equal_to_reference(const BilinearForm& form) {
  const std::vector<double> input = random_input<T>(form.discretization->lattice.size(), 5);
  const std::vector<double> expected = Reference(form).apply(input);
  for (const StrategyName& strategy :
       variants(all_strategies(Processor::gpu), form, Processor::gpu)) {
    if (strategy.scatter == "unprotected") continue;
    const auto a = make_operator<T, Device>(strategy, form);
    EXPECT_LT(relative_difference(applied(*a, vector_of<T>(input)), expected),
              4 * tolerance_of<T>(strategy))
        << a->name();
  }
}

class DeviceFields : public ::testing::TestWithParam<DimensionAndDegree> {
 protected:
  void SetUp() override { TESSERA_REQUIRE_DEVICE(); }

  ProblemOptions options() const {
    ProblemOptions result;
    result.dimension = std::get<0>(GetParam());
    result.degree = std::get<1>(GetParam());
    result.cells = result.degree <= 3 ? IndexTriple{6, 4, 3} : IndexTriple{3, 2, 2};
    return result;
  }
};

TEST_P(DeviceFields, GiveTheOperatorsOfTheReference) {
  for (const Geometry geometry : {Geometry::cartesian, Geometry::graded, Geometry::curved}) {
    ProblemOptions of = options();
    of.geometry = geometry;
    Problem problem = make_problem(of);
    problem.form.coefficient = coefficient();
    SCOPED_TRACE(describe(of));
    if (geometry == Geometry::curved) expect_equal_to_reference<float>(problem.form);
    problem.form.reaction = reaction();
    expect_equal_to_reference<double>(problem.form);
    problem.form.coefficient = constant_field(1.3);
    expect_equal_to_reference<double>(problem.form);
  }
}

TEST_P(DeviceFields, AreNamedWhereTheyAreNotAllowed) {
  if constexpr (kHasCuda) {
    for (const Geometry geometry : {Geometry::cartesian, Geometry::curved}) {
      ProblemOptions of = options();
      of.geometry = geometry;
      Problem problem = make_problem(of);
      SCOPED_TRACE(describe(of));
      const DevicePoints points(*problem.discretization);
      const Index cells = problem.discretization->mesh.cell_count();
      const Index size = power(problem.discretization->basis.point_count(), of.dimension);
      DeviceArray<double> values(cells * size);
      const DeviceState no_state(problem.form);
      const auto message = [](auto&& evaluate) -> std::string {
        try {
          evaluate();
        } catch (const BadFieldValue& error) {
          return error.what();
        }
        return "";
      };
      // In the middle of the box, so that it is neither the first point nor the first cell.
      problem.form.coefficient = positive_beyond(-10.0);
      EXPECT_EQ(message([&] {
                  FieldAtPoints(problem.form, FormField::coefficient, points, no_state)
                      .evaluate(0, cells, values.data());
                }),
                "");
      for (const double least : {-0.1, 0.3, 10.0}) {
        problem.form.coefficient = positive_beyond(least);
        problem.form.reaction = positive_beyond(least);
        const std::string of_host = message([&] { coefficient_at_points(problem.form, 0, cells); });
        EXPECT_NE(of_host, "");
        EXPECT_EQ(message([&] {
                    FieldAtPoints(problem.form, FormField::coefficient, points, no_state)
                        .evaluate(0, cells, values.data());
                  }),
                  of_host);
        EXPECT_EQ(message([&] {
                    FieldAtPoints(problem.form, FormField::reaction, points, no_state)
                        .evaluate(0, cells, values.data());
                  }),
                  message([&] { reaction_at_points(problem.form, 0, cells); }));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Degrees, DeviceFields,
                         ::testing::Combine(::testing::Values(2, 3),
                                            ::testing::Values(1, 2, 3, 4, 6, 8, 9)),
                         name_of);

}  // namespace
}  // namespace tessera::testing
