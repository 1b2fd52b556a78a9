// These tests check the values of a case's expressions in time.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "cases/expression/expression.hpp"
#include "src/case/fields.hpp"

namespace tessera::testing {
namespace {

constexpr Point kAt = {0.5, 0.25, 0.0};

double value(const ScalarField& field) {
  double result = std::nan("");
  field.evaluate({1, kAt.data(), &kAt[1], &kAt[2]}, &result);
  return result;
}

std::string message(const std::function<void()>& run) {
  try {
    run();
  } catch (const BadExpressionValue& error) {
    EXPECT_EQ(error.key(), "problem.coefficient");
    return error.what();
  }
  ADD_FAILURE() << "nothing is wrong";
  return "";
}

CaseTimeField in_time(const std::string& text, Requirement requirement = Requirement::positive) {
  return {"problem.coefficient", text, 2, requirement};
}

TEST(CaseFields, InTimeAreCheckedAndKeepWhatIsKnownOfThem) {
  const CaseTimeField field = in_time("x*y*t");
  EXPECT_TRUE(field.depends_on_time());
  EXPECT_EQ(value(field.at(2.0)), 0.25);
  EXPECT_NE(field.at(2.0).factors, nullptr);
  EXPECT_NE(field.at(2.0).program, nullptr);
  EXPECT_EQ(in_time("2*t").at(3.0).constant, 6.0);
  EXPECT_FALSE(in_time("x").depends_on_time());
}

TEST(CaseFields, InTimeNameTheTimeOfABadValue) {
  EXPECT_EQ(message([] { in_time("-2*t").at(0.5); }),
            "is -1 at t = 0.5; it must be positive and finite");
  const ScalarField field = in_time("x - t").at(1.5);
  EXPECT_EQ(message([&] { value(field); }),
            "is -1 at (0.5, 0.25) at t = 1.5; it must be positive and finite");
  EXPECT_EQ(message([] { value(in_time("y*t", Requirement::non_negative).at(-4.0)); }),
            "is -1 at (0.5, 0.25) at t = -4; it must be at least 0 and finite");
}

TEST(CaseFields, WithoutTimeDoNotNameOne) {
  const std::string expected = "is -0.5 at (0.5, 0.25); it must be positive and finite";
  EXPECT_EQ(message([] { value(in_time("-x").at(0.5)); }), expected);
  EXPECT_EQ(message([] {
              value(make_case_field("problem.coefficient", "-x", 2, Requirement::positive));
            }),
            expected);
  EXPECT_THROW(make_case_field("problem.coefficient", "t", 2, Requirement::positive),
               ExpressionError);
}

TEST(CaseFields, NameTheSolutionOfABadValue) {
  const CaseTimeField field("problem.coefficient", "x - u*t", 2, Requirement::positive,
                            Variables::position_time_and_u);
  EXPECT_TRUE(field.depends_on_u());
  const double u = 2.0;
  double result = 0.0;
  const PointBlock points{1, kAt.data(), &kAt[1], &kAt[2], &u};
  field.at(0.125).evaluate(points, &result);
  EXPECT_EQ(result, 0.25);
  EXPECT_EQ(message([&] { field.at(1.0).evaluate(points, &result); }),
            "is -1.5 at (0.5, 0.25) at t = 1 with u = 2; it must be positive and finite");
}

TEST(CaseFields, HaveRatesThatMayBeNegativeButAreFinite) {
  EXPECT_EQ(value(in_time("2 - x*t").rate_at(1.0)), -0.5);
  EXPECT_EQ(in_time("x").rate_at(1.0).constant, 0.0);
  EXPECT_EQ(message([] { in_time("sqrt(t)").rate_at(0.0); }),
            "has the derivative inf in t at t = 0; it must be finite");
  EXPECT_EQ(message([] { value(in_time("1 + x*sqrt(t)").rate_at(0.0)); }),
            "has the derivative inf in t at (0.5, 0.25) at t = 0; it must be finite");
}

}  // namespace
}  // namespace tessera::testing
