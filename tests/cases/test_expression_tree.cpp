// These tests compare programs of random expressions with muParser.
#include <gtest/gtest.h>
#include <muParser.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <random>
#include <string>

#include "cases/expression/expression.hpp"
#include "cases/expression/tree.hpp"
#include "mesh/field/evaluate_program.hpp"
#include "mesh/field/program_field.hpp"

namespace tessera::testing {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// A number with a bound of its rounding errors, by which two evaluations of one expression may
/// differ: each function adds a few units in the last place, and what it makes of the errors of its
/// arguments.
struct Bounded {
  double value = 0.0;
  double error = 0.0;

  Bounded() = default;
  // A number of a program may be computed from others, except where it is small and whole.
  explicit Bounded(double constant)
      : value(constant),
        error(constant == std::round(constant) && std::abs(constant) < 4.0
                  ? 0.0
                  : 64.0 * kEpsilon * std::abs(constant)) {}
  Bounded(double v, double e) : value(v), error(e) {}
};

template <class F>
Bounded bounded(const Bounded& a, F&& f) {
  const double value = f(a.value);
  double error = 16.0 * kEpsilon * std::abs(value);
  if (a.error != 0.0) {
    for (const double moved : {f(a.value - a.error), f(a.value + a.error)}) {
      const double by = std::abs(moved - value);
      error += std::isnan(by) ? std::numeric_limits<double>::infinity() : by;
    }
  }
  return {value, error};
}
template <class F>
Bounded bounded(const Bounded& a, const Bounded& b, F&& f) {
  const Bounded by_a = bounded(a, [&](double v) { return f(v, b.value); });
  const Bounded by_b = bounded(b, [&](double v) { return f(a.value, v); });
  return {by_a.value, by_a.error + by_b.error};
}

Bounded operator-(const Bounded& a) { return {-a.value, a.error}; }
Bounded operator+(const Bounded& a, const Bounded& b) {
  return bounded(a, b, [](double v, double w) { return v + w; });
}
Bounded operator-(const Bounded& a, const Bounded& b) {
  return bounded(a, b, [](double v, double w) { return v - w; });
}
Bounded operator*(const Bounded& a, const Bounded& b) {
  return bounded(a, b, [](double v, double w) { return v * w; });
}
Bounded operator/(const Bounded& a, const Bounded& b) {
  return bounded(a, b, [](double v, double w) { return v / w; });
}
Bounded less(const Bounded& a, const Bounded& b) {
  return bounded(a, b, [](double v, double w) { return tessera::less(v, w); });
}
Bounded less_equal(const Bounded& a, const Bounded& b) {
  return bounded(a, b, [](double v, double w) { return tessera::less_equal(v, w); });
}
Bounded equal(const Bounded& a, const Bounded& b) {
  // Equal but for rounding.
  if (std::abs(a.value - b.value) <= a.error + b.error && a.error + b.error > 0.0)
    return {1.0, 1.0};
  return Bounded(tessera::equal(a.value, b.value));
}
Bounded select(const Bounded& c, const Bounded& yes, const Bounded& no) {
  const Bounded& taken = c.value != 0.0 ? yes : no;
  const bool is_uncertain = c.error != 0.0 && std::abs(c.value) <= c.error;
  return {taken.value, is_uncertain
                           ? taken.error + yes.error + no.error + std::abs(yes.value - no.value)
                           : taken.error};
}
#define TESSERA_BOUNDED(name)                                 \
  Bounded name(const Bounded& a) {                            \
    return bounded(a, [](double v) { return std::name(v); }); \
  }
TESSERA_BOUNDED(sin)
TESSERA_BOUNDED(cos)
TESSERA_BOUNDED(tan)
TESSERA_BOUNDED(asin)
TESSERA_BOUNDED(acos)
TESSERA_BOUNDED(atan)
TESSERA_BOUNDED(sinh)
TESSERA_BOUNDED(cosh)
TESSERA_BOUNDED(tanh)
TESSERA_BOUNDED(acosh)
TESSERA_BOUNDED(atanh)
TESSERA_BOUNDED(exp)
TESSERA_BOUNDED(log)
TESSERA_BOUNDED(log2)
TESSERA_BOUNDED(log10)
TESSERA_BOUNDED(sqrt)
TESSERA_BOUNDED(abs)
TESSERA_BOUNDED(floor)
#undef TESSERA_BOUNDED
// muParser computes log(v + sqrt(v^2 + 1)).
Bounded asinh(const Bounded& a) {
  Bounded result = bounded(a, [](double v) { return std::asinh(v); });
  const double sum = std::exp(-std::abs(a.value));
  result.error += 64.0 * kEpsilon * (1.0 + std::abs(a.value)) * (1.0 + 1.0 / sum);
  return result;
}
Bounded pow(const Bounded& a, const Bounded& b) {
  return bounded(a, b, [](double v, double w) { return std::pow(v, w); });
}
Bounded atan2(const Bounded& a, const Bounded& b) {
  return bounded(a, b, [](double v, double w) { return std::atan2(v, w); });
}

/// Random texts in muParser's language, with blanks and parentheses that need not be there.
class Texts {
 public:
  explicit Texts(unsigned seed) : random_(seed) {}

  std::string text(int depth) {
    if (depth == 0) return leaf();
    switch (random_() % 11) {
      case 0:
      case 1:
        return text(depth - 1) + pick({"+", "-", " + ", " - "}) + text(depth - 1);
      case 2:
        return text(depth - 1) + pick({"*", "/", " *", "/ "}) + text(depth - 1);
      case 3:
        return pick({"-", "+"}) + operand(depth);
      case 4:
        return operand(depth) + "^" + pick({"2", "3", "-1", "0.5", "-2", "x", "8", "9", "0"});
      case 5:
        return operand(depth) + pick({"<", "<=", ">", ">=", "==", "!="}) + operand(depth);
      case 6:
        return condition(depth) + pick({"&&", "||"}) + condition(depth);
      case 7:
        return text(depth - 1) + " ? " + text(depth - 1) + ":" + text(depth - 1);
      case 8:
        return pick({"min", "max", "sum", "avg"}) + arguments(depth, 1 + random_() % 4);
      case 9:
        return "atan2" + arguments(depth, 2);
      default:
        return pick({"sin",  "cos",  "tan",   "asin",  "acos",  "atan", "sinh",
                     "cosh", "tanh", "asinh", "acosh", "atanh", "exp",  "log",
                     "ln",   "log2", "log10", "sqrt",  "abs",   "sign", "rint"}) +
               arguments(depth, 1);
    }
  }

  double coordinate() { return std::uniform_real_distribution<double>(-2.0, 2.0)(random_); }

 private:
  std::string pick(std::initializer_list<const char*> choices) {
    return *(choices.begin() + random_() % choices.size());
  }
  std::string leaf() {
    return pick({"x", "y", "z", "pi", "2", "0.5", "1e-1", ".25", "3.", "x", "y"});
  }
  // What binds as tightly as can be.
  std::string operand(int depth) {
    return random_() % 3 == 0 ? leaf() : "(" + text(depth - 1) + ")";
  }
  // Of two numbers muParser takes the whole parts before it connects them by && or ||, of values it
  // does not.
  std::string condition(int depth) {
    return random_() % 3 == 0 ? pick({"x", "y", "z"})
                              : operand(depth) + pick({"<", ">="}) + operand(depth);
  }
  std::string arguments(int depth, std::size_t count) {
    std::string list = "(";
    for (std::size_t i = 0; i < count; ++i) list += (i == 0 ? "" : ", ") + text(depth - 1);
    return list + ")";
  }

  std::mt19937_64 random_;
};

TEST(ExpressionTrees, AreWhatMuParserReads) {
  int compared = 0;
  int distinct = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    Texts texts(seed);
    const std::string text = texts.text(1 + static_cast<int>(seed % 5));
    Point at;
    mu::Parser parser;
    parser.ClearConst();
    parser.DefineConst("pi", std::numbers::pi);
    constexpr const char* kNames[] = {"x", "y", "z"};
    for (int d = 0; d < 3; ++d) parser.DefineVar(kNames[d], &at[d]);
    parser.SetExpr(text);
    try {
      parser.Eval();
    } catch (const mu::ParserError&) {
      // Such as two signs in a row.
      EXPECT_THROW(parse_expression(text, 3), ExpressionError) << text;
      continue;
    }
    const ScalarField field = parse_expression(text, 3);
    const ExpressionTree tree(text);
    const FieldProgram program = tree.program(tree.root());
    for (int point = 0; point < 5; ++point) {
      for (double& x : at) x = texts.coordinate();
      Bounded stack[64];
      ASSERT_LE(program.depth, 64);
      const Bounded ours =
          evaluate(view_of(program), Bounded(at[0], 0.0), Bounded(at[1], 0.0), Bounded(at[2], 0.0),
                   [&](int i) -> Bounded& { return stack[i]; });
      double in_lanes = 0.0;
      field.evaluate({1, at.data(), &at[1], &at[2]}, &in_lanes);
      const double theirs = parser.Eval();
      // Where an error bound is not finite, such as at a pole, either may be anything.
      if (!std::isfinite(ours.error)) continue;
      ++compared;
      distinct += ours.value != 0.0 && std::abs(ours.error) < 1e-6 * std::abs(ours.value) ? 1 : 0;
      if (!std::isfinite(theirs)) {
        EXPECT_EQ(std::isnan(theirs), std::isnan(ours.value)) << text;
        continue;
      }
      EXPECT_NEAR(ours.value, theirs, ours.error)
          << text << " at " << at[0] << ", " << at[1] << ", " << at[2];
      EXPECT_NEAR(in_lanes, theirs, ours.error)
          << text << " at " << at[0] << ", " << at[1] << ", " << at[2];
    }
  }
  EXPECT_GT(compared, 10000);
  EXPECT_GT(distinct, 7000);
}

std::string replaced(std::string text, char name, const std::string& by) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at)) {
    text.replace(at, 1, by);
    at += by.size();
  }
  return text;
}

void expect_same(const FieldProgram& a, const FieldProgram& b) {
  EXPECT_EQ(a.depth, b.depth);
  ASSERT_EQ(a.code.size(), b.code.size());
  for (std::size_t i = 0; i < a.code.size(); ++i) {
    EXPECT_EQ(a.code[i].operation, b.code[i].operation);
    EXPECT_EQ(a.code[i].operand, b.code[i].operand);
    const double value = a.code[i].value;
    const double expected = b.code[i].value;
    EXPECT_TRUE(value == expected || (std::isnan(value) && std::isnan(expected)))
        << value << " for " << expected;
  }
}

// With t for y and a number for t, or with the number for y.
TEST(ExpressionTrees, AtATimeAreThoseOfTheTextWithThatNumber) {
  int products = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    const std::string text = Texts(seed).text(1 + static_cast<int>(seed % 5));
    try {
      parse_expression(text, 3);
    } catch (const ExpressionError&) {
      continue;
    }
    const bool is_whole = seed % 2 == 0;
    ExpressionTree number(replaced(text, 'y', is_whole ? "2" : "(-0.375)"));
    ExpressionTree time = ExpressionTree(replaced(text, 'y', "t")).at(is_whole ? 2.0 : -0.375);
    SCOPED_TRACE(text);
    EXPECT_FALSE(time.depends_on_time());
    expect_same(time.program(time.root()), number.program(number.root()));
    const auto factors = time.factors();
    const auto expected = number.factors();
    ASSERT_EQ(factors.has_value(), expected.has_value());
    if (!factors) continue;
    ++products;
    for (int d = 0; d < 3; ++d) {
      expect_same(time.program((*factors)[d]), number.program((*expected)[d]));
    }
  }
  EXPECT_GT(products, 1000);
}

// With u for y, and y with the values of u: the same bits, whose derivative in u is that in y.
TEST(ExpressionTrees, TakeTheSolutionAsACoordinate) {
  int derivatives = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    Texts texts(seed);
    const std::string text = texts.text(1 + static_cast<int>(seed % 5));
    std::shared_ptr<const Expression> of_u;
    try {
      of_u = read_expression(replaced(text, 'y', "u"), 3, Variables::position_and_u);
    } catch (const ExpressionError&) {
      EXPECT_THROW(parse_expression(text, 3), ExpressionError) << text;
      continue;
    }
    SCOPED_TRACE(text);
    const ScalarField of_y = parse_expression(text, 3);
    const bool has_u = of_u->tree.depends_on_u();
    EXPECT_EQ(of_u->field.depends_on_u, has_u);
    EXPECT_EQ(of_u->field.constant.has_value(), of_y.constant.has_value());
    if (!has_u) continue;
    EXPECT_EQ(of_u->field.factors, nullptr);
    EXPECT_FALSE(is_separable(of_u->field));
    const ScalarField in_u = derivative_in_u(of_u->field);
    for (int point = 0; point < 3; ++point) {
      Point at;
      for (double& x : at) x = texts.coordinate();
      const double nowhere = std::numeric_limits<double>::quiet_NaN();
      double expected = 0.0;
      double value = 0.0;
      of_y.evaluate({1, at.data(), &at[1], &at[2]}, &expected);
      const PointBlock with_u{1, at.data(), &nowhere, &at[2], &at[1]};
      of_u->field.evaluate(with_u, &value);
      EXPECT_TRUE(value == expected || (std::isnan(value) && std::isnan(expected)))
          << value << " for " << expected;
      Point gradient{};
      evaluate_gradient(*of_y.program, {1, at.data(), &at[1], &at[2]},
                        {gradient.data(), &gradient[1], &gradient[2]});
      in_u.evaluate(with_u, &value);
      if (!std::isfinite(gradient[1])) continue;
      EXPECT_NEAR(value, gradient[1], 1e-12 * std::abs(gradient[1]));
      derivatives += gradient[1] != 0.0 ? 1 : 0;
    }
  }
  EXPECT_GT(derivatives, 1500);
}

TEST(ExpressionTrees, KeepTimeAsACoordinateOfItsOwn) {
  ExpressionTree tree("sin(t)*x*y*(2 + t*z)");
  EXPECT_TRUE(tree.depends_on_time());
  EXPECT_TRUE(tree.depends_on_place());
  EXPECT_EQ(tree.coordinates(tree.root()), 15U);
  const auto factors = tree.factors();
  ASSERT_TRUE(factors);
  EXPECT_EQ(tree.coordinates((*factors)[0]), 9U);
  EXPECT_EQ(tree.coordinates((*factors)[1]), 2U);
  EXPECT_EQ(tree.coordinates((*factors)[2]), 12U);
  EXPECT_FALSE(ExpressionTree("t*2").depends_on_place());
  EXPECT_FALSE(ExpressionTree("x*2").depends_on_time());
}

// Thousands of terms on either side need no deep stack.
TEST(ExpressionTrees, NeedFewPlacesForLongTexts) {
  std::string left = "x";
  std::string right = "x";
  for (int i = 0; i < 3000; ++i) {
    left += "+x*y";
    if (i < 2000) right = "y*z-(" + right + ")";
  }
  for (const std::string& text : {left, right}) {
    const ExpressionTree tree(text);
    EXPECT_LE(tree.program(tree.root()).depth, 3);
  }
}

TEST(ExpressionTrees, ComputeConstantsOnce) {
  const ExpressionTree tree("3*pi^2*sin(pi*x)");
  const FieldProgram program = tree.program(tree.root());
  // x, * pi, sin, * 3 pi^2
  ASSERT_EQ(program.code.size(), 4u);
  EXPECT_EQ(program.code[3].value, 3.0 * (std::numbers::pi * std::numbers::pi));
  EXPECT_EQ(program.depth, 1);
}

}  // namespace
}  // namespace tessera::testing
