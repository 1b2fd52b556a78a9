// These tests hold cases that may depend on u to what their table says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "operators/strategy.hpp"
#include "src/case/choices.hpp"
#include "src/case/fields.hpp"
#include "src/case/model.hpp"
#include "src/case/nonlinear/nonlinear_case.hpp"
#include "src/case/notes.hpp"
#include "src/case/shape.hpp"
#include "src/parameters/messages/diagnostics.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kNewton[] = "[nonlinear]\n";
constexpr char kPicard[] = "[nonlinear]\nmethod = \"picard\"\n";

std::string text_of(const std::string& problem, const std::string& tables) {
  return "[mesh]\ndimension = 2\ncells = [4, 3]\n[problem]\n" + problem + tables;
}

CaseParameters case_of(const std::string& problem, const std::string& tables) {
  return make_case_registry().parse(text_of(problem, tables), "case.toml").parameters;
}

std::string errors_of(const std::string& problem, const std::string& tables) {
  try {
    case_of(problem, tables);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

double value_at(const ScalarField& field, double x, double y, double u) {
  const double z = 0.0;
  double value = 0.0;
  field.evaluate({1, &x, &y, &z, &u}, &value);
  return value;
}

TEST(NonlinearCases, HaveFieldsOfU) {
  const CaseParameters parameters =
      case_of("coefficient = \"1 + x*u^2\"\nsource = \"u - y\"\n", kNewton);
  EXPECT_TRUE(is_nonlinear(parameters));
  const PoissonProblem problem = make_problem(parameters);
  EXPECT_TRUE(problem.coefficient.depends_on_u);
  EXPECT_TRUE(problem.source.depends_on_u);
  EXPECT_FALSE(problem.reaction.depends_on_u);
  EXPECT_EQ(value_at(problem.coefficient, 0.5, 0.25, 2.0), 3.0);
  EXPECT_EQ(value_at(problem.source, 0.5, 0.25, 2.0), 1.75);
  // u keeps its unit in natural units.
  const CaseModel model = make_case_model(parameters);
  EXPECT_TRUE(model.problem.coefficient.depends_on_u);
  const Point X = {0.5, 0.5, 0.0};
  const Point x = model.units.frame.physical(X);
  EXPECT_DOUBLE_EQ(value_at(model.problem.coefficient, X[0], X[1], 2.0) * model.units.coefficient,
                   1.0 + 4.0 * x[0]);
}

TEST(NonlinearCases, InTimeHaveFieldsOfTimeAndU) {
  const CaseParameters parameters =
      case_of("coefficient = \"1 + t*u^2\"\n", std::string(kNewton) + "[time]\nend = 1\n");
  EXPECT_TRUE(is_nonlinear(parameters));
  EXPECT_EQ(case_state(parameters), StateKind::given);
}

TEST(NonlinearCases, NameUWhereAValueIsNotAllowed) {
  const PoissonProblem problem = make_problem(case_of("coefficient = \"1 + u\"\n", kNewton));
  try {
    value_at(problem.coefficient, 0.5, 0.25, -3.0);
    ADD_FAILURE() << "accepted";
  } catch (const BadExpressionValue& error) {
    EXPECT_EQ(error.key(), "problem.coefficient");
    EXPECT_STREQ(error.what(), "is -2 at (0.5, 0.25) with u = -3; it must be positive and finite");
  }
}

TEST(NonlinearCases, NeedTheTableAndHaveUInCoefficientAndSourceOnly) {
  EXPECT_THAT(errors_of("coefficient = \"1 + u\"\n", ""),
              AllOf(HasSubstr("case.toml:5: problem.coefficient = \"1 + u\": unknown name \"u\""),
                    HasSubstr("[nonlinear]")));
  EXPECT_THAT(errors_of("reaction = \"u\"\n", kNewton), HasSubstr("problem.reaction"));
  EXPECT_THAT(errors_of("exact = \"u\"\n", kNewton), HasSubstr("problem.exact"));
  EXPECT_THAT(errors_of("capacity = \"u\"\n", std::string(kNewton) + "[time]\nend = 1\n"),
              HasSubstr("problem.capacity"));
  EXPECT_THAT(errors_of("", std::string(kNewton) + "[boundary]\nleft = { value = \"u\" }\n"),
              HasSubstr("boundary.left.value"));
  EXPECT_THAT(errors_of("source = \"u*t\"\n", kNewton), HasSubstr("[time]"));
}

TEST(NonlinearCases, HaveTheShapeOfTheFormsThatTheyAreSolvedWith) {
  const auto shape = [](const std::string& problem, const char* table) {
    return case_shape(case_of(problem, table));
  };
  for (const char* table : {kNewton, kPicard}) {
    EXPECT_EQ(shape("coefficient = \"1 + u^2\"\n", table).coefficient, CoefficientKind::general);
    EXPECT_EQ(shape("coefficient = \"1 + u^2\"\n", table).state, StateKind::given);
    EXPECT_EQ(shape("coefficient = \"1 + x\"\n", table).state, StateKind::none);
  }
  // The derivative of the source is part of a Jacobian.
  EXPECT_EQ(shape("source = \"exp(u)\"\n", kNewton).state, StateKind::given);
  EXPECT_EQ(shape("source = \"exp(u)\"\n", kNewton).reaction, ReactionKind::varying);
  EXPECT_EQ(shape("source = \"exp(u)\"\n", kPicard).state, StateKind::none);
  EXPECT_EQ(shape("source = \"exp(u)\"\n", kPicard).reaction, ReactionKind::none);
}

TEST(NonlinearCases, AreGivenWhatIsForThem) {
  CaseParameters parameters = case_of("coefficient = \"1 + u^2\"\n", kNewton);
  resolve_choices(parameters);
  EXPECT_EQ(parameters.operation.kernel, "tensor");
  EXPECT_EQ(parameters.solver.preconditioner, "multigrid");
  EXPECT_THAT(errors_of("coefficient = \"1 + u^2\"\n",
                        std::string(kNewton) + "[operator]\nkernel = \"kronecker\"\n"),
              HasSubstr("operator.kernel"));
}

TEST(NonlinearCases, WithoutUAreSaidToBeLinear) {
  const CaseParameters linear = case_of("coefficient = \"1 + x\"\n", kNewton);
  EXPECT_FALSE(is_nonlinear(linear));
  ASSERT_EQ(case_notes(linear).size(), 1U);
  EXPECT_THAT(case_notes(linear).front(), HasSubstr("the problem is linear"));
  EXPECT_THAT(case_notes(case_of("source = \"u\"\n", kNewton)), IsEmpty());
}

}  // namespace
}  // namespace tessera::testing
