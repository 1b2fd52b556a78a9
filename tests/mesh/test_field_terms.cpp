// These tests hold fields that are combinations to what they are made of.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "mesh/field/field_terms.hpp"
#include "mesh/field/program_field.hpp"

namespace tessera {
namespace {

const std::vector<double> kX = {0.5, -1.0, 2.0};
const std::vector<double> kU = {3.0, 0.25, -2.0};
const std::vector<double> kZero = {0.0, 0.0, 0.0};

PointBlock points() { return {kX.size(), kX.data(), kZero.data(), kZero.data(), kU.data()}; }

std::vector<double> values(const ScalarField& field) {
  std::vector<double> result(kX.size(), NAN);
  field.evaluate(points(), result.data());
  return result;
}

// x u^2
ScalarField square() {
  return program_field({{{Operation::push, Operand::u, 0.0},
                         {Operation::integer_power, Operand::stack, 2.0},
                         {Operation::multiply, Operand::x, 0.0}},
                        1});
}

// As kernels do it.
std::vector<double> sum_of(const FieldTerms& found) {
  std::vector<double> sum(kX.size());
  for (const FieldTerm& term : found.terms) {
    std::vector<double> one(kX.size());
    if (term.kind == TermKind::value) {
      evaluate(*term.program, points(), one.data());
    } else {
      evaluate_derivative(*term.program, Operand::u, points(), one.data());
    }
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += term.factor * one[i];
  }
  if (found.magnitude == Magnitude::yes) {
    for (double& value : sum) value = std::abs(value);
  }
  return sum;
}

void expect_known(const ScalarField& field, std::size_t terms) {
  const std::optional<FieldTerms> found = terms_of(field);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->terms.size(), terms);
  const std::vector<double> expected = values(field);
  const std::vector<double> sum = sum_of(*found);
  for (std::size_t i = 0; i < sum.size(); ++i) EXPECT_NEAR(sum[i], expected[i], 1e-13);
}

TEST(FieldTerms, AreKnownOfCombinations) {
  expect_known(constant_field(3.0), 1);
  expect_known(square(), 1);
  expect_known(derivative_in_u(square()), 1);
  const ScalarField sum = add_fields(constant_field(2.0), derivative_in_u(square()), -0.5);
  EXPECT_TRUE(sum.depends_on_u);
  expect_known(sum, 2);
  EXPECT_EQ(values(sum)[0], 2.0 - 0.5 * 2.0 * 3.0 * 0.5);
  const ScalarField three = add_fields(sum, square(), 4.0);
  expect_known(three, 3);
  expect_known(magnitude_of(three), 3);
  for (const double value : values(magnitude_of(three))) EXPECT_GE(value, 0.0);
  expect_known(add_fields(square(), sum, 2.0), 3);
}

TEST(FieldTerms, OfNumbersAreNumbers) {
  EXPECT_EQ(add_fields(constant_field(2.0), constant_field(3.0), -1.0).constant, -1.0);
  EXPECT_EQ(magnitude_of(constant_field(-2.0)).constant, 2.0);
}

TEST(FieldTerms, OfOtherFunctionsAreNotKnown) {
  ScalarField other;
  other.evaluate = [](const PointBlock& at, double* result) {
    for (std::size_t i = 0; i < at.n; ++i) result[i] = at.x[i];
  };
  EXPECT_FALSE(terms_of(other));
  EXPECT_FALSE(terms_of(add_fields(square(), other, 1.0)));
  EXPECT_FALSE(terms_of(derivative_field(*square().program, Operand::t)));
  // Sums of magnitudes are none.
  EXPECT_FALSE(terms_of(add_fields(magnitude_of(square()), square(), 1.0)));
  EXPECT_EQ(values(add_fields(square(), other, 2.0))[1], -1.0 * 0.0625 - 2.0);
}

}  // namespace
}  // namespace tessera
