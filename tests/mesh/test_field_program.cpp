// These tests run programs for SIMD packs and for numbers with derivatives.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "mesh/field/dual.hpp"
#include "mesh/field/line_values.hpp"
#include "mesh/field/pack.hpp"
#include "mesh/field/program_field.hpp"
#include "mesh/geometry/frame.hpp"

namespace tessera::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

FieldProgram one_function(Operation operation) {
  return {{{Operation::push, Operand::x, 0.0}, {operation, Operand::stack, 3.0}}, 1};
}
FieldProgram of_two(Operation operation) {
  return {{{Operation::push, Operand::x, 0.0}, {operation, Operand::y, 0.0}}, 1};
}

/// Points where all functions have a value and a derivative: 1 < x < 2 or 0 < x < 1.
struct Points {
  explicit Points(std::size_t n, double lower, double upper) {
    std::mt19937_64 random(11);
    std::uniform_real_distribution<double> uniform(lower, upper);
    for (auto& axis : at) {
      axis.resize(n);
      for (double& value : axis) value = uniform(random);
    }
  }
  PointBlock block() const { return {at[0].size(), at[0].data(), at[1].data(), at[2].data()}; }

  std::array<std::vector<double>, 3> at;
};

Points points_of(Operation operation, std::size_t n) {
  return operation == Operation::acosh ? Points(n, 1.1, 3.0) : Points(n, 0.05, 0.95);
}

double scalar(const FieldProgram& program, double x, double y, double z) {
  std::array<double, 8> stack;
  stack.fill(kNan);
  return evaluate(view_of(program), x, y, z, [&](int i) -> double& { return stack[i]; });
}

std::vector<FieldProgram> all_functions() {
  std::vector<FieldProgram> programs;
  for (int k = 0; k < static_cast<int>(Operation::select); ++k) {
    const auto operation = static_cast<Operation>(k);
    if (has_one_argument(operation)) programs.push_back(one_function(operation));
    if (has_two_arguments(operation)) programs.push_back(of_two(operation));
  }
  return programs;
}

TEST(FieldPrograms, InPacksHaveTheValuesOfScalars) {
  // More than a pack, and not a multiple of one.
  const std::size_t n = 3 * Pack::kPoints + 5;
  for (const FieldProgram& program : all_functions()) {
    const Points points = points_of(program.code[1].operation, n);
    std::vector<double> values(n + 1, kNan);
    evaluate(program, points.block(), values.data());
    for (std::size_t i = 0; i < n; ++i) {
      const double expected = scalar(program, points.at[0][i], points.at[1][i], points.at[2][i]);
      EXPECT_NEAR(values[i], expected, 8e-16 * std::abs(expected))
          << "operation " << static_cast<int>(program.code[1].operation) << " of "
          << points.at[0][i] << ", " << points.at[1][i];
    }
    EXPECT_TRUE(std::isnan(values[n])) << "written beyond the block";
  }
}

// The value and the derivative in u of a program, at the points of a line or at one.
template <class Number>
Dual<Number, 1> with_derivative_in_u(const FieldProgram& program, const Number& x, const Number& y,
                                     const Number& u) {
  using WithDerivative = Dual<Number, 1>;
  std::array<WithDerivative, 4> stack;
  const Number zero(0.0);
  const auto other = [&](Operand operand) {
    return operand == Operand::t ? WithDerivative(Number(program.t), zero)
                                 : WithDerivative(u, Number(1.0));
  };
  return evaluate(view_of(program), WithDerivative(x, zero), WithDerivative(y, zero),
                  WithDerivative(x, zero), other,
                  [&](int i) -> WithDerivative& { return stack[i]; });
}

TEST(FieldPrograms, OnLinesHaveTheValuesAndDerivativesOfScalars) {
  constexpr int kPoints = 3;
  std::vector<FieldProgram> programs = all_functions();
  // x < y ? u : t
  programs.push_back({{{Operation::push, Operand::x, 0.0},
                       {Operation::less, Operand::y, 0.0},
                       {Operation::push, Operand::u, 0.0},
                       {Operation::push, Operand::t, 0.0},
                       {Operation::select, Operand::stack, 0.0}},
                      3});
  for (FieldProgram program : programs) {
    const Operation operation = program.code[1].operation;
    const Points points = points_of(operation, kPoints);
    // Of the function, multiplied by u and added to its square.
    program.code.push_back({Operation::multiply, Operand::u, 0.0});
    program.code.push_back({Operation::push, Operand::u, 0.0});
    program.code.push_back({Operation::integer_power, Operand::stack, 2.0});
    program.code.push_back({Operation::add, Operand::stack, 0.0});
    program.t = 0.3;
    LineValues<kPoints> x;
    LineValues<kPoints> y;
    LineValues<kPoints> u;
    for (int q = 0; q < kPoints; ++q) {
      x.v[q] = points.at[0][q];
      y.v[q] = points.at[1][q];
      u.v[q] = points.at[2][q];
    }
    const Dual<LineValues<kPoints>, 1> found = with_derivative_in_u(program, x, y, u);
    for (int q = 0; q < kPoints; ++q) {
      const Dual<double, 1> expected = with_derivative_in_u(program, x.v[q], y.v[q], u.v[q]);
      SCOPED_TRACE(static_cast<int>(operation));
      EXPECT_NEAR(found.value.v[q], expected.value, 1e-15 * std::abs(expected.value));
      EXPECT_NEAR(found.d[0].v[q], expected.d[0], 1e-15 * std::abs(expected.d[0]));
      EXPECT_NE(expected.d[0], 0.0);
    }
  }
}

TEST(FieldPrograms, GiveTheSameBitsWhereverAPointStands) {
  const std::size_t n = 2 * Pack::kPoints + 3;
  for (const FieldProgram& program : all_functions()) {
    const Points points = points_of(program.code[1].operation, n);
    std::vector<double> together(n, kNan);
    evaluate(program, points.block(), together.data());
    for (std::size_t i = 0; i < n; ++i) {
      double alone = kNan;
      evaluate(program, {1, &points.at[0][i], &points.at[1][i], &points.at[2][i]}, &alone);
      EXPECT_EQ(alone, together[i]);
    }
  }
}

// Against central differences of a double, whose error is about h^2 and epsilon / h.
TEST(FieldPrograms, HaveTheDerivativesOfTheirFunctions) {
  constexpr double kStep = 1e-5;
  const std::size_t n = Pack::kPoints + 1;
  for (const FieldProgram& program : all_functions()) {
    const Operation operation = program.code[1].operation;
    // Steps have no derivative at the step, and points may be close to it.
    if (operation == Operation::rint || operation == Operation::minimum ||
        operation == Operation::maximum) {
      continue;
    }
    const Points points = points_of(operation, n);
    std::array<std::vector<double>, 3> gradient;
    for (auto& component : gradient) component.assign(n, kNan);
    evaluate_gradient(program, points.block(),
                      {gradient[0].data(), gradient[1].data(), gradient[2].data()});
    for (std::size_t i = 0; i < n; ++i) {
      const double x = points.at[0][i];
      const double y = points.at[1][i];
      const double by_x =
          (scalar(program, x + kStep, y, 0.0) - scalar(program, x - kStep, y, 0.0)) / (2.0 * kStep);
      const double by_y =
          (scalar(program, x, y + kStep, 0.0) - scalar(program, x, y - kStep, 0.0)) / (2.0 * kStep);
      if (std::abs(x - y) > 2.0 * kStep) {
        EXPECT_NEAR(gradient[0][i], by_x, 2e-6 * (1.0 + std::abs(by_x)))
            << "operation " << static_cast<int>(operation) << " of " << x << ", " << y;
        EXPECT_NEAR(gradient[1][i], by_y, 2e-6 * (1.0 + std::abs(by_y)))
            << "operation " << static_cast<int>(operation) << " of " << x << ", " << y;
      }
      EXPECT_EQ(gradient[2][i], 0.0);
    }
  }
}

TEST(FieldPrograms, DeriveMinimaAndConditionsOnTheSideThatIsTaken) {
  // x < 0.5 ? x^3 : min(x, y)
  const FieldProgram program = {{{Operation::push, Operand::x, 0.0},
                                 {Operation::less, Operand::constant, 0.5},
                                 {Operation::push, Operand::x, 0.0},
                                 {Operation::integer_power, Operand::stack, 3.0},
                                 {Operation::push, Operand::x, 0.0},
                                 {Operation::minimum, Operand::y, 0.0},
                                 {Operation::select, Operand::stack, 0.0}},
                                3};
  const std::vector<double> x = {0.25, 0.75, 0.75};
  const std::vector<double> y = {9.0, 9.0, 0.5};
  const std::vector<double> z(3, 0.0);
  std::array<std::vector<double>, 3> gradient;
  for (auto& component : gradient) component.assign(3, kNan);
  evaluate_gradient(program, {3, x.data(), y.data(), z.data()},
                    {gradient[0].data(), gradient[1].data(), gradient[2].data()});
  EXPECT_EQ(gradient[0], (std::vector<double>{3.0 * 0.0625, 1.0, 0.0}));
  EXPECT_EQ(gradient[1], (std::vector<double>{0.0, 0.0, 1.0}));
  EXPECT_EQ(gradient[2], (std::vector<double>{0.0, 0.0, 0.0}));
}

TEST(FieldPrograms, OfPowersOfNegativeNumbersHaveDerivatives) {
  FieldProgram program = {
      {{Operation::push, Operand::x, 0.0}, {Operation::power, Operand::constant, 9.0}}, 1};
  const double x = -1.5;
  const double zero = 0.0;
  std::array<double, 3> gradient = {kNan, kNan, kNan};
  evaluate_gradient(program, {1, &x, &zero, &zero}, {&gradient[0], &gradient[1], &gradient[2]});
  EXPECT_DOUBLE_EQ(gradient[0], 9.0 * std::pow(x, 8.0));
}

TEST(FieldPrograms, FollowTheFrameTheyAreSeenFrom) {
  // x^3 y in the frame with origin (1, 2, 3) and length 4, minus 5, in units of 7.
  FieldProgram program = {{{Operation::push, Operand::x, 0.0},
                           {Operation::integer_power, Operand::stack, 3.0},
                           {Operation::multiply, Operand::y, 0.0}},
                          1,
                          {1.0, 2.0, 3.0},
                          4.0,
                          5.0,
                          7.0};
  const double x = 0.25;
  const double y = -0.5;
  const double z = 0.125;
  double value = kNan;
  evaluate(program, {1, &x, &y, &z}, &value);
  EXPECT_DOUBLE_EQ(value, (8.0 * 0.0 - 5.0) / 7.0);
  std::array<double, 3> gradient = {kNan, kNan, kNan};
  evaluate_gradient(program, {1, &x, &y, &z}, {&gradient[0], &gradient[1], &gradient[2]});
  EXPECT_DOUBLE_EQ(gradient[0], 3.0 * 4.0 * 0.0 * 4.0 / 7.0);
  EXPECT_DOUBLE_EQ(gradient[1], 8.0 * 4.0 / 7.0);
  EXPECT_EQ(gradient[2], 0.0);
}

// x of the program with t in its place, at one time for all points.
FieldProgram in_time(FieldProgram program, double t) {
  for (Instruction& instruction : program.code) {
    if (instruction.operand == Operand::x) instruction.operand = Operand::t;
  }
  program.t = t;
  return program;
}

TEST(FieldPrograms, InTimeAreThoseOfTheirTime) {
  const std::size_t n = Pack::kPoints + 3;
  for (const FieldProgram& program : all_functions()) {
    const Operation operation = program.code[1].operation;
    const Points points = points_of(operation, n);
    for (const double t : {points.at[0][0], points.at[0][1]}) {
      const std::vector<double> x(n, t);
      const PointBlock block = points.block();
      const PointBlock same_x = {n, x.data(), block.y, block.z};
      std::vector<double> expected(n, kNan);
      std::vector<double> values(n, kNan);
      evaluate(program, same_x, expected.data());
      evaluate(in_time(program, t), block, values.data());
      EXPECT_EQ(values, expected) << "operation " << static_cast<int>(operation);
      // As the derivative in x.
      std::array<std::vector<double>, 3> gradient;
      for (auto& component : gradient) component.assign(n, kNan);
      evaluate_gradient(program, same_x,
                        {gradient[0].data(), gradient[1].data(), gradient[2].data()});
      std::vector<double> rates(n + 1, kNan);
      evaluate_derivative(in_time(program, t), Operand::t, block, rates.data());
      for (std::size_t i = 0; i < n; ++i) {
        EXPECT_DOUBLE_EQ(rates[i], gradient[0][i]) << "operation " << static_cast<int>(operation);
      }
      EXPECT_TRUE(std::isnan(rates[n])) << "written beyond the block";
      EXPECT_DOUBLE_EQ(scalar(in_time(program, t), kNan, block.y[0], block.z[0]),
                       scalar(program, t, block.y[0], block.z[0]));
    }
  }
}

// sqrt(x), log(x) and x^0.5 have no derivative at 0, but do not change in time.
TEST(FieldPrograms, HaveRatesWherePositionsHaveNoDerivative) {
  const std::vector<double> x = {0.0, 4.0};
  const std::vector<double> other(2, 0.0);
  for (const Instruction& root : {Instruction{Operation::sqrt, Operand::stack, 0.0},
                                  Instruction{Operation::power, Operand::constant, 0.5}}) {
    const FieldProgram program = {
        {{Operation::push, Operand::x, 0.0}, root, {Operation::multiply, Operand::t, 0.0}}, 1};
    std::vector<double> rates(2, kNan);
    evaluate_derivative(program, Operand::t, {2, x.data(), other.data(), other.data()},
                        rates.data());
    EXPECT_EQ(rates, (std::vector<double>{0.0, 2.0}));
  }
}

TEST(FieldPrograms, HaveRatesInTheirFrameAndUnit) {
  // x t^3 in the frame with origin 1 and length 4, minus 5, in units of 8, at t = 2.
  const FieldProgram program = {{{Operation::push, Operand::t, 0.0},
                                 {Operation::integer_power, Operand::stack, 3.0},
                                 {Operation::multiply, Operand::x, 0.0}},
                                1,
                                {1.0, 2.0, 3.0},
                                4.0,
                                5.0,
                                8.0,
                                2.0};
  const double x = 0.25;
  const double zero = 0.0;
  double value = kNan;
  double rate = kNan;
  evaluate(program, {1, &x, &zero, &zero}, &value);
  evaluate_derivative(program, Operand::t, {1, &x, &zero, &zero}, &rate);
  EXPECT_EQ(value, (2.0 * 8.0 - 5.0) / 8.0);
  EXPECT_EQ(rate, 2.0 * 12.0 / 8.0);
}

}  // namespace
}  // namespace tessera::testing
