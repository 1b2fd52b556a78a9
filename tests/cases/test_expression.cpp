// These tests evaluate expressions and read the messages of wrong ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "cases/expression/expression.hpp"
#include "mesh/index.hpp"

namespace tessera::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kPi = std::numbers::pi;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr Point kAt = {0.3, -1.7, 2.25};

double value(const ScalarField& field, const Point& at) {
  double result = kNan;
  field.evaluate({1, at.data(), &at[1], &at[2]}, &result);
  return result;
}

double value(const std::string& text, int dimension = 3, const Point& at = kAt) {
  return value(parse_expression(text, dimension), at);
}

std::string message(const std::string& text, int dimension = 3) {
  try {
    parse_expression(text, dimension);
  } catch (const ExpressionError& error) {
    return error.what();
  }
  ADD_FAILURE() << "\"" << text << "\" was accepted";
  return "";
}

struct TextAndValue {
  const char* text;
  double value;
};

TEST(ExpressionValues, FollowTheRulesOfArithmetic) {
  const auto [x, y, z] = kAt;
  const std::vector<TextAndValue> expected = {
      {"0", 0.0},
      {"-2.5", -2.5},
      {"1e-3", 1e-3},
      {".5", 0.5},
      {"2.5E+2", 250.0},
      {"x", x},
      {"y", y},
      {"z", z},
      {"+x", x},
      {"-x", -x},
      {"x + y*z", x + y * z},
      {"(x + y)*z", (x + y) * z},
      {"x - y - z", x - y - z},
      {"x - (y - z)", x - (y - z)},
      {"x/y/z", x / y / z},
      {"x/(y/z)", x / (y / z)},
      {"((((x))))", x},
      {"x^2", x * x},
      {"-x^2", -(x * x)},
      {"(-x)^2", x * x},
      {"2^-1", 0.5},
      {"z^x", std::pow(z, x)},
      {"2^3^2", 512.0},
      {"y^3", y * y * y},
      {"4*x^2*z - 3", 4.0 * x * x * z - 3.0},
  };
  for (const auto& [text, number] : expected) {
    EXPECT_NEAR(value(text), number, 4e-16 * (1.0 + std::abs(number))) << text;
  }
}

TEST(ExpressionValues, OfFunctionsAndPi) {
  const auto [x, y, z] = kAt;
  const std::vector<TextAndValue> expected = {
      {"pi", kPi},
      {"sin(pi*x)", std::sin(kPi * x)},
      {"cos(2*pi*y)", std::cos(2.0 * kPi * y)},
      {"tan(x)", std::tan(x)},
      {"asin(x)", std::asin(x)},
      {"acos(x)", std::acos(x)},
      {"atan(y)", std::atan(y)},
      {"atan2(y, x)", std::atan2(y, x)},
      {"sinh(x)", std::sinh(x)},
      {"cosh(y)", std::cosh(y)},
      {"tanh(z)", std::tanh(z)},
      {"exp(-x/0.02)", std::exp(-x / 0.02)},
      {"log(z)", std::log(z)},
      {"ln(z)", std::log(z)},
      {"log2(8)", 3.0},
      {"log10(0.01)", -2.0},
      {"sqrt(z)", 1.5},
      {"abs(y)", 1.7},
      {"sign(y)", -1.0},
      {"min(x, y, z)", y},
      {"max(x, y, z)", z},
      {"sum(x, y, z)", x + y + z},
      {"avg(x, y, z)", (x + y + z) / 3.0},
      {"sin(x)^2 + cos(x)^2", 1.0},
      {"3*pi^2*sin(pi*x)*sin(pi*y)*sin(pi*z)",
       3.0 * kPi * kPi * std::sin(kPi * x) * std::sin(kPi * y) * std::sin(kPi * z)},
  };
  for (const auto& [text, number] : expected) {
    EXPECT_NEAR(value(text), number, 1e-15 * (1.0 + std::abs(number))) << text;
  }
}

TEST(ExpressionValues, OfComparisonsAndConditions) {
  const std::vector<TextAndValue> expected = {
      {"x < 0.3", 0.0},
      {"x <= 0.3", 1.0},
      {"x > 0.3", 0.0},
      {"x >= 0.3", 1.0},
      {"x == 0.3", 1.0},
      {"x != 0.3", 0.0},
      {"x > 0 && y > 0", 0.0},
      {"x > 0 || y > 0", 1.0},
      {"y < 0 && z > 2", 1.0},
      {"y > 0 || z < 2", 0.0},
      {"x > 0 ? 5 : 7", 5.0},
      {"y > 0 ? 5 : 7", 7.0},
      {"y > 0 ? 1 : z > 2 ? 2 : 3", 2.0},
      {"1 + (x > 0)*10", 11.0},
      {"(x > 0 ? x : y)*10", 3.0},
  };
  for (const auto& [text, number] : expected) EXPECT_DOUBLE_EQ(value(text), number) << text;
}

TEST(ExpressionValues, DoNotDependOnWhitespace) {
  const double expected = 0.3 - 1.7 * std::sin(kPi * 2.25);
  for (const char* text : {"x+y*sin(pi*z)", "  x + y * sin( pi * z )  ", "x\t+\ty*sin(pi*z)",
                           "x +\n y*sin(pi*z)\n", "\r\nx+y*sin(pi *z)"}) {
    EXPECT_DOUBLE_EQ(value(text), expected) << text;
  }
}

TEST(ExpressionValues, AreThoseOfEachPointOfABlock) {
  const std::vector<double> x = {0.0, 1.0, 2.0, 3.0, 4.0};
  const std::vector<double> y = {10.0, 20.0, 30.0, 40.0, 50.0};
  const std::vector<double> z = {100.0, 200.0, 300.0, 400.0, 500.0};
  const std::vector<double> unused(5, kNan);
  std::array<double, 6> values;
  values.fill(kNan);
  parse_expression("x + y + z", 3).evaluate({5, x.data(), y.data(), z.data()}, values.data());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(values[i], 111.0 * i + 110.0) << i;
  EXPECT_TRUE(std::isnan(values[5])) << "written beyond the block";

  values.fill(kNan);
  parse_expression("y - x", 2).evaluate({5, x.data(), y.data(), unused.data()}, values.data());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(values[i], 9.0 * i + 10.0) << i;
  parse_expression("7", 3).evaluate({5, x.data(), y.data(), z.data()}, values.data());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(values[i], 7.0) << i;
}

TEST(ExpressionConstants, AreKnownAsSuch) {
  for (const int dimension : {2, 3}) {
    EXPECT_EQ(parse_expression("2*pi", dimension).constant, 2.0 * kPi);
    EXPECT_EQ(parse_expression("0", dimension).constant, 0.0);
    EXPECT_EQ(parse_expression("max(3, 2^4)/32", dimension).constant, 0.5);
    EXPECT_TRUE(is_zero(parse_expression("sin(0)", dimension)));
    for (const char* text : {"x", "y", "x + 1", "0*x", "x - x", "1 > 0 ? 1 : y"}) {
      EXPECT_FALSE(parse_expression(text, dimension).constant) << text;
    }
  }
  EXPECT_FALSE(parse_expression("z", 3).constant);
}

TEST(ExpressionConstants, PiIsTheOnlyName) {
  // muParser's own _pi has twelve digits only.
  for (const char* text : {"_pi", "_e", "e", "PI", "Pi"}) {
    EXPECT_THAT(message(text), HasSubstr(std::string("unknown name \"") + text + "\""));
  }
}

TEST(ExpressionDimensions, ZIsOfThreeOnly) {
  EXPECT_EQ(value("x + z", 3), 0.3 + 2.25);
  EXPECT_EQ(message("1e400"),
            "the number 1e400 at character 1 is too large; the largest is 1.8e+308");
  EXPECT_EQ(message("x + .5e999*x"),
            "the number .5e999 at character 5 is too large; the largest is 1.8e+308");
  EXPECT_EQ(message("z", 2), "unknown name \"z\" at character 1; in 2D the variables are x, y");
  EXPECT_THAT(message("x + y*sin(z)", 2),
              AllOf(HasSubstr("\"z\" at character 11"), HasSubstr("in 2D")));
  EXPECT_THAT(message("r", 2), AllOf(HasSubstr("known are x, y, pi"), Not(HasSubstr("z"))));
  EXPECT_THAT(message("r", 3), HasSubstr("known are x, y, z, pi and the functions abs acos"));
  EXPECT_THAT(message("x**2", 2), HasSubstr("\"*\" at character 3; powers are written ^"));
  EXPECT_THAT(message("x*/2", 2), HasSubstr("is an operator such as * missing?"));
}

TEST(ExpressionErrors, UnknownNamesAreToldWithTheirPlace) {
  EXPECT_THAT(message("x + radius^2"), HasSubstr("unknown name \"radius\" at character 5; known"));
  EXPECT_THAT(message("X"), HasSubstr("unknown name \"X\" at character 1"));
  EXPECT_EQ(message("2*sine(x)"), "unknown name \"sine\" at character 3; did you mean sin?");
  EXPECT_EQ(message("sqr(x)"), "unknown name \"sqr\" at character 1; did you mean sqrt?");
  EXPECT_THAT(message("1 + floor(x)"), HasSubstr("unknown name \"floor\" at character 5; known"));
}

TEST(ExpressionErrors, NamesAreSuggestedOnlyWhereMostLettersAgree) {
  for (const char* text : {"foo", "inf", "mod(x, 2)", "pow(x, 2)"}) {
    EXPECT_THAT(message(text), AllOf(HasSubstr("unknown name"), Not(HasSubstr("did you mean"))));
  }
}

TEST(ExpressionErrors, AFunctionWithoutParenthesesIsNotCalledUnknown) {
  for (const char* text : {"2*sin", "2*sin x", "2*sin + x"}) {
    EXPECT_THAT(message(text), AllOf(HasSubstr("sin"), HasSubstr("at character 3"),
                                     Not(HasSubstr("unknown")), Not(HasSubstr("did you mean"))))
        << text;
  }
}

TEST(ExpressionErrors, StrayCharactersAreQuotedAsTheyStand) {
  EXPECT_THAT(message("x;"), HasSubstr("\";\" at character 2"));
  EXPECT_THAT(message("x + 1 # c"), HasSubstr("\"# c\" at character 7"));
  EXPECT_THAT(message("x%2"), HasSubstr("\"%2\" at character 2"));
  EXPECT_THAT(message("x $ y"), HasSubstr("\"$ y\" at character 3"));
}

TEST(ExpressionErrors, UnbalancedParentheses) {
  for (const char* text : {"(x", "((x)", "x*(y + (z)", "(x + 1"}) {
    EXPECT_THAT(message(text), HasSubstr("a parenthesis is missing")) << text;
  }
  EXPECT_THAT(message("x)"), HasSubstr("unexpected \")\" at character 2"));
  EXPECT_THAT(message("sin(x)) + 1"), HasSubstr("unexpected \")\" at character 7"));
  EXPECT_THAT(message("()"), HasSubstr("unexpected \")\" at character 2"));
}

TEST(ExpressionErrors, NothingAtAll) {
  for (const char* text : {"", " ", "\t \n"}) {
    EXPECT_EQ(message(text), "the expression is empty");
    EXPECT_EQ(message(text, 2), "the expression is empty");
  }
}

TEST(ExpressionErrors, AnEarlyEnd) {
  for (const char* text : {"x +", "x*y - ", "2^", "x == ", "x,"}) {
    EXPECT_EQ(message(text), "the expression ends too early") << text;
  }
}

TEST(ExpressionErrors, TrailingGarbageAndMissingOperators) {
  EXPECT_THAT(message("2 x"), HasSubstr("unexpected \"x\" at character 3"));
  EXPECT_THAT(message("2x"), HasSubstr("unexpected \"x\" at character 2"));
  EXPECT_THAT(message("x y"), HasSubstr("unexpected \"y\" at character 3"));
  EXPECT_THAT(message("x + y 3"), HasSubstr("unexpected \"3\" at character 7"));
  EXPECT_THAT(message("x(y)"), HasSubstr("unexpected \"(\" at character 2"));
  EXPECT_THAT(message("x*/y"), HasSubstr("unexpected \"/\" at character 3"));
  EXPECT_THAT(message("x**2"), HasSubstr("unexpected \"*\" at character 3"));
  EXPECT_THAT(message("1.2.3"), HasSubstr("unexpected \".3\" at character 4"));
  EXPECT_THAT(message("x y"), HasSubstr("is an operator such as * missing?"));
}

TEST(ExpressionErrors, WrongNumbersOfArguments) {
  EXPECT_THAT(message("sin(x, y)"), HasSubstr("too many arguments for sin"));
  EXPECT_THAT(message("sin()"), HasSubstr("too few arguments for sin"));
  EXPECT_THAT(message("atan2(x)"), HasSubstr("too few arguments for atan2"));
  EXPECT_EQ(message("x, y"), "one value is needed, not 2");
  EXPECT_EQ(message("1, 2, z"), "one value is needed, not 3");
  EXPECT_THAT(message("x > 0 ? 1"), HasSubstr("? needs a :"));
}

TEST(ExpressionErrors, AssignmentsWouldChangeVariables) {
  EXPECT_EQ(message("x = 2"), "= at character 3 is not allowed; == compares");
  EXPECT_THAT(message("x += 1"), HasSubstr("= at character 4 is not allowed"));
  EXPECT_THAT(message("y + (x=3)"), HasSubstr("= at character 7 is not allowed"));
  EXPECT_THAT(message("=x"), HasSubstr("= at character 1 is not allowed"));
}

TEST(ExpressionErrors, AZeroByteIsNotTheEnd) {
  EXPECT_EQ(message(std::string("x + 1\0 + y", 10)), "the character 6 is a zero byte");
}

TEST(ExpressionErrors, EveryErrorSaysSomething) {
  for (const char* text :
       {"\"text\"", "x : 1", "x ? 1 : 2 : 3", "--", "1e400", "x \xc3\xa9", "@"}) {
    for (const int dimension : {2, 3}) {
      EXPECT_GT(message(text, dimension).size(), 10u) << text;
    }
  }
}

TEST(ExpressionSpecialValues, NanAndInfinityPassThrough) {
  EXPECT_TRUE(std::isnan(value("sqrt(y)")));
  EXPECT_TRUE(std::isnan(value("log(y)")));
  EXPECT_EQ(value("1/(x - x)"), kInfinity);
  EXPECT_EQ(value("-1/(x - x)"), -kInfinity);
  EXPECT_EQ(value("log(x - x)"), -kInfinity);
  EXPECT_EQ(value("exp(1000*z)"), kInfinity);
  EXPECT_TRUE(std::isnan(value("(x - x)/(y - y)")));
  EXPECT_EQ(parse_expression("1/0", 2).constant, kInfinity);
  EXPECT_TRUE(std::isnan(parse_expression("0/0", 2).constant.value()));
  EXPECT_TRUE(std::isnan(value("x + y", 2, {kNan, 1.0, 0.0})));
  EXPECT_EQ(value("x*y", 2, {kInfinity, -2.0, 0.0}), -kInfinity);
  EXPECT_EQ(value("x > 0 ? 1 : sqrt(y)"), 1.0) << "the branch that is not taken";

  // One bad point leaves the others alone.
  const std::vector<double> x = {-1.0, 4.0, 0.0};
  const std::vector<double> zero(3, 0.0);
  std::vector<double> values(3);
  parse_expression("1/sqrt(x)", 3).evaluate({3, x.data(), zero.data(), zero.data()}, values.data());
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(values[1], 0.5);
  EXPECT_EQ(values[2], kInfinity);
}

TEST(ExpressionFields, OutliveTheirTextAndEachOther) {
  ScalarField first;
  ScalarField second;
  {
    std::string text = "x + 10*y";
    first = parse_expression(text, 2);
    second = first;
    text = "something else altogether, and longer";
    first = parse_expression("x", 2);
  }
  EXPECT_EQ(value(second, {1.0, 2.0, 0.0}), 21.0);
  EXPECT_EQ(value(first, {1.0, 2.0, 0.0}), 1.0);
}

// A case's expressions are asked for a hundred times, and muParser takes long for thousands of
// terms.
TEST(ExpressionFields, OfLongTextsAreParsedOnce) {
  std::string text = "1";
  for (int term = 0; term < 3000; ++term) text += "+x";
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(value(parse_expression(text, 3), {2.0, 0.0, 0.0}), 6001.0);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(ExpressionFields, OfManyTextsAreTheirOwn) {
  for (int i = 0; i < 200; ++i) {
    const std::string text = "x*" + std::to_string(i % 60);
    EXPECT_EQ(value(parse_expression(text, 2 + i % 2), {2.0, 0.0, 0.0}), 2.0 * (i % 60));
  }
  EXPECT_NO_THROW(parse_expression("z", 3));
  EXPECT_THROW(parse_expression("z", 2), ExpressionError);
}

TEST(ExpressionThreads, GiveTheBitsOfOne) {
  constexpr int kThreads = 8;
  constexpr std::size_t kPoints = 20000;
  std::vector<double> x(kPoints);
  std::vector<double> y(kPoints);
  std::vector<double> z(kPoints);
  for (std::size_t i = 0; i < kPoints; ++i) {
    const double t = static_cast<double>(i) / kPoints;
    x[i] = t;
    y[i] = std::sin(17.0 * t);
    z[i] = 1.0 - t * t;
  }
  const PointBlock points{kPoints, x.data(), y.data(), z.data()};
  for (const char* text : {"sin(pi*x)*exp(-y)*z^2", "x > 0.5 ? sqrt(z + 1) : y/(1 + x)", "x - y"}) {
    std::vector<double> serial(kPoints);
    parse_expression(text, 3).evaluate(points, serial.data());
    // A field of its own, so that the first calls are at the same time as well.
    const ScalarField field = parse_expression(text, 3);
    std::vector<std::vector<double>> values(kThreads, std::vector<double>(kPoints, kNan));
#pragma omp parallel for num_threads(kThreads) schedule(static, 1)
    for (int thread = 0; thread < kThreads; ++thread) {
      // Small blocks: parsers go back and forth between threads.
      for (std::size_t first = 0; first < kPoints; first += 50) {
        field.evaluate({50, &x[first], &y[first], &z[first]}, &values[thread][first]);
      }
    }
    for (int thread = 0; thread < kThreads; ++thread) {
      EXPECT_EQ(values[thread], serial) << text << ", thread " << thread;
    }
  }
}

}  // namespace
}  // namespace tessera::testing
