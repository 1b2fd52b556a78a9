// These tests evaluate expressions in time, and their derivatives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <muParser.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "cases/expression/expression.hpp"
#include "cases/problem/time_field.hpp"
#include "mesh/geometry/frame.hpp"
#include "mesh/index.hpp"

namespace tessera::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kPi = std::numbers::pi;

double value(const ScalarField& field, const Point& at) {
  double result = std::nan("");
  field.evaluate({1, at.data(), &at[1], &at[2]}, &result);
  return result;
}

std::string message(const std::string& text, const std::function<void()>& make) {
  try {
    make();
  } catch (const ExpressionError& error) {
    return error.what();
  }
  ADD_FAILURE() << "\"" << text << "\" was accepted";
  return "";
}
std::string message_without_time(const std::string& text) {
  return message(text, [&] { parse_expression(text, 3); });
}
std::string message_in_time(const std::string& text, int dimension = 3) {
  return message(text, [&] { TimeField(text, dimension); });
}

struct Place {
  Point at;
  double t;
};

// Away from 0, where all functions of the tests are smooth.
std::vector<Place> random_places() {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(0.1, 0.9);
  std::vector<Place> places(50);
  for (Place& place : places) {
    for (double& x : place.at) x = uniform(random);
    place.t = uniform(random);
  }
  return places;
}

constexpr const char* kTexts[] = {"t",
                                  "2*t",
                                  "0*t",
                                  "0*t*x",
                                  "x + t",
                                  "sin(t)*x*y",
                                  "sin(pi*(x - t))*exp(-2*t)",
                                  "x^t",
                                  "t^x",
                                  "t^3*z",
                                  "(x*t)^2",
                                  "1/(1 + t*x)",
                                  "min(t, x)",
                                  "max(t, 0.5, x)",
                                  "t < 0.5 ? t^2 : t - 0.25",
                                  "t < x ? y : z",
                                  "x < t && t < y ? 1 : 2",
                                  "abs(x - t)",
                                  "sign(t - x)",
                                  "rint(t) + x",
                                  "atan2(t, x)",
                                  "atan2(x, -t)",
                                  "avg(t, x, y)",
                                  "tanh((x - 0.3 - t)/0.1)",
                                  "sqrt(t)*log(1 + t)",
                                  "-t*-x/(2*t + 1)/y"};

TEST(TimeFields, HaveTheValuesOfMuParser) {
  for (const char* text : kTexts) {
    Place place;
    mu::Parser parser;
    parser.ClearConst();
    parser.DefineConst("pi", kPi);
    parser.DefineVar("x", place.at.data());
    parser.DefineVar("y", &place.at[1]);
    parser.DefineVar("z", &place.at[2]);
    parser.DefineVar("t", &place.t);
    parser.SetExpr(text);
    const TimeField field(text, 3);
    EXPECT_TRUE(field.depends_on_time());
    for (const Place& one : random_places()) {
      place = one;
      const double expected = parser.Eval();
      EXPECT_NEAR(value(field.at(one.t), one.at), expected, 4e-15 * (1.0 + std::abs(expected)))
          << text;
    }
  }
}

TEST(TimeFields, AreConstantWhereOnlyTimeIsInThem) {
  EXPECT_EQ(TimeField("t", 2).at(0.25).constant, 0.25);
  EXPECT_EQ(TimeField("2*t", 3).at(-1.5).constant, -3.0);
  EXPECT_EQ(TimeField("0*t", 3).at(7.0).constant, 0.0);
  EXPECT_EQ(TimeField("t < 1 ? 3 : 4", 3).at(1.0).constant, 4.0);
  EXPECT_FALSE(TimeField("t*x", 3).at(0.0).constant);
  EXPECT_EQ(TimeField("2*t", 3).rate_at(5.0).constant, 2.0);
  EXPECT_EQ(TimeField("0*t", 3).rate_at(5.0).constant, 0.0);
  EXPECT_EQ(TimeField("t < 1 ? 3*t : t^2", 3).rate_at(4.0).constant, 8.0);
}

TEST(TimeFields, WithoutTimeAreTheirField) {
  const TimeField field("x*y", 2);
  EXPECT_FALSE(field.depends_on_time());
  EXPECT_EQ(field.at(0.0).program, field.at(1.0).program);
  EXPECT_NE(field.at(0.0).factors, nullptr);
  EXPECT_EQ(field.rate_at(3.0).constant, 0.0);
}

TEST(TimeFields, HaveFactorsAmongWhichTimeIsANumber) {
  const ScalarField field = TimeField("sin(t)*x*y", 3).at(0.5);
  ASSERT_NE(field.factors, nullptr);
  const Point at = {3.0, 5.0, 7.0};
  EXPECT_DOUBLE_EQ(value((*field.factors)[0], at), std::sin(0.5) * 3.0);
  EXPECT_EQ(value((*field.factors)[1], at), 5.0);
  EXPECT_EQ((*field.factors)[2].constant, 1.0);
  EXPECT_NE(TimeField("exp(-t*x)*(1 + t*y)", 3).at(0.0).factors, nullptr);
  EXPECT_EQ(TimeField("x*y + t", 3).at(0.0).factors, nullptr);
}

struct TextAndRate {
  const char* text;
  double (*rate)(double x, double y, double t);
};

TEST(TimeFieldRates, AreThoseOfClosedForms) {
  using std::cos, std::exp, std::log, std::pow, std::sin;
  const TextAndRate expected[] = {
      {"x + t", [](double, double, double) { return 1.0; }},
      {"sin(t)*x*y", [](double x, double y, double t) { return cos(t) * x * y; }},
      {"sin(pi*(x - t))*exp(-2*t)",
       [](double x, double, double t) {
         return exp(-2.0 * t) * (-kPi * cos(kPi * (x - t)) - 2.0 * sin(kPi * (x - t)));
       }},
      {"x^t", [](double x, double, double t) { return log(x) * pow(x, t); }},
      {"t^x", [](double x, double, double t) { return x * pow(t, x - 1.0); }},
      {"1/(1 + t*x)", [](double x, double, double t) { return -x / pow(1.0 + t * x, 2.0); }},
      {"min(t^2, x)", [](double x, double, double t) { return t * t < x ? 2.0 * t : 0.0; }},
      {"max(t, 0.5)*y", [](double, double y, double t) { return t > 0.5 ? y : 0.0; }},
      {"t < x ? t*y : t^3", [](double x, double y, double t) { return t < x ? y : 3.0 * t * t; }},
      {"abs(x - t)", [](double x, double, double t) { return t < x ? -1.0 : 1.0; }},
      {"0*t*x", [](double, double, double) { return 0.0; }}};
  for (const auto& [text, rate] : expected) {
    const TimeField field(text, 3);
    for (const auto& [at, t] : random_places()) {
      const double exact = rate(at[0], at[1], t);
      EXPECT_NEAR(value(field.rate_at(t), at), exact, 4e-15 * (1.0 + std::abs(exact))) << text;
    }
  }
}

TEST(TimeFieldRates, AreTheLimitsOfDifferences) {
  constexpr double kStep = 1e-5;
  for (const char* text : kTexts) {
    const TimeField field(text, 3);
    for (const auto& [at, t] : random_places()) {
      const double before = value(field.at(t - kStep), at);
      const double after = value(field.at(t + kStep), at);
      const double rate = value(field.rate_at(t), at);
      EXPECT_NEAR((after - before) / (2.0 * kStep), rate, 2e-6 * (1.0 + std::abs(rate))) << text;
    }
  }
}

TEST(TimeFieldRates, OfBoundaryDataAreKnownAtTheBoundary) {
  const Point origin = {0.0, 0.0, 0.0};
  for (const char* text : {"t*sqrt(x)", "t*x^0.5", "sqrt(x) + 0*t", "t*acos(1 - x)"}) {
    EXPECT_EQ(value(TimeField(text, 3).rate_at(2.0), origin), 0.0) << text;
  }
  EXPECT_EQ(value(TimeField("max(x - t, 0)^1.5", 3).rate_at(0.0), origin), 0.0);
}

TEST(TimeFieldRates, OfManyPointsAreThoseOfEach) {
  constexpr std::size_t kPoints = 1000;
  std::vector<double> x(kPoints);
  for (std::size_t i = 0; i < kPoints; ++i) x[i] = static_cast<double>(i) / kPoints;
  const std::vector<double> zero(kPoints, 0.0);
  const ScalarField rate = TimeField("exp(x*t)", 3).rate_at(0.5);
  std::vector<double> values(kPoints);
  rate.evaluate({kPoints, x.data(), zero.data(), zero.data()}, values.data());
  for (std::size_t i = 0; i < kPoints; ++i) {
    EXPECT_NEAR(values[i], x[i] * std::exp(0.5 * x[i]), 1e-15);
    EXPECT_EQ(values[i], value(rate, {x[i], 0.0, 0.0}));
  }
}

TEST(TimeFieldRates, FollowTheirFrame) {
  const Frame frame{{1.0, 2.0, 3.0}, 4.0};
  const Point X = {0.25, -0.5, 0.125};
  const Point x = frame.physical(X);
  const TimeField field("x*t^2 + y", 3);
  EXPECT_EQ(value(in_frame(field.at(1.5), frame, 8.0), X), (x[0] * 2.25 + x[1]) / 8.0);
  EXPECT_EQ(value(in_frame(field.rate_at(1.5), frame, 8.0), X), x[0] * 3.0 / 8.0);
  EXPECT_EQ(in_frame(TimeField("6*t", 3).rate_at(1.5), frame, 8.0).constant, 0.75);
}

TEST(TimeFieldErrors, SayThatTimeIsOfCasesInTime) {
  EXPECT_EQ(message_without_time("x + 2*t"),
            "unknown name \"t\" at character 7; t is the time, on which the data of the problem "
            "and its boundary, and nothing else, may depend in a case with the table [time]");
}

TEST(TimeFieldErrors, KnowTimeAsAVariable) {
  EXPECT_THAT(message_in_time("t*r"),
              AllOf(HasSubstr("\"r\" at character 3"), HasSubstr("known are x, y, z, t, pi")));
  EXPECT_THAT(message_in_time("t*r", 2), HasSubstr("known are x, y, t, pi"));
  EXPECT_THAT(message_in_time("t*z", 2), HasSubstr("in 2D the variables are x, y, t"));
  EXPECT_THAT(message_without_time("r"), Not(HasSubstr(", t,")));
  EXPECT_THAT(message_in_time("t t"), HasSubstr("unexpected \"t\" at character 3"));
  EXPECT_THAT(message_in_time("t(1)"), HasSubstr("unexpected \"(\" at character 2"));
  EXPECT_THAT(message_in_time("t = 1"), HasSubstr("= at character 3 is not allowed"));
  EXPECT_THAT(message_in_time(""), HasSubstr("the expression is empty"));
  // One text with and without time.
  EXPECT_NO_THROW(TimeField("5*t", 3));
  EXPECT_THAT(message_without_time("5*t"), HasSubstr("[time]"));
  EXPECT_NO_THROW(TimeField("5*t", 3));
}

// Every stage of a step asks for fields at its time.
TEST(TimeFields, AreMadeFast) {
  const TimeField field("3*pi^2*sin(pi*x)*sin(pi*y)*sin(pi*z)*exp(-t) + (t < 1 ? t*x : y)", 3);
  constexpr int kTimes = 2000;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kTimes; ++i) {
    const double t = 1e-3 * i;
    EXPECT_FALSE(field.at(t).constant);
    EXPECT_FALSE(field.rate_at(t).constant);
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  RecordProperty("microseconds", std::to_string(1e6 * taken.count() / kTimes));
  EXPECT_LT(taken.count() / kTimes, 1e-3);
}

}  // namespace
}  // namespace tessera::testing
