// These tests read, check and write the table [nonlinear].
#include "tests/src/parameters/registries.hpp"

namespace tessera {
namespace {

NonlinearParameters nonlinear_of(const std::string& keys) {
  return *parse_case(case_with("[nonlinear]\n" + keys)).nonlinear;
}

TEST(Nonlinear, IsThereWhereTheTableIs) {
  EXPECT_FALSE(parse_case(case_with("")).nonlinear);
  const NonlinearParameters nonlinear = nonlinear_of("");
  EXPECT_EQ(nonlinear.method, NonlinearMethod::newton);
  EXPECT_EQ(nonlinear.relative_tolerance, 1e-10);
  EXPECT_EQ(nonlinear.max_iterations, 50);
  EXPECT_EQ(nonlinear.acceleration, 5);
  EXPECT_TRUE(nonlinear.line_search);
  const NonlinearParameters picard =
      nonlinear_of("method = \"picard\"\nrelative_tolerance = 1e-6\nacceleration = 0\n");
  EXPECT_EQ(picard.method, NonlinearMethod::picard);
  EXPECT_EQ(picard.relative_tolerance, 1e-6);
  EXPECT_EQ(picard.acceleration, 0);
}

TEST(Nonlinear, KeysAreInTheirRanges) {
  EXPECT_FALSE(case_errors(case_with("[nonlinear]\nmethod = \"newtn\"\n")).empty());
  EXPECT_FALSE(case_errors(case_with("[nonlinear]\nmax_iterations = 0\n")).empty());
  EXPECT_FALSE(case_errors(case_with("[nonlinear]\nrelative_tolerance = 0\n")).empty());
  EXPECT_FALSE(
      case_errors(case_with("[nonlinear]\nmethod = \"picard\"\nacceleration = 16\n")).empty());
}

TEST(Nonlinear, KeysAreThoseOfTheMethod) {
  expect_errors(case_errors(case_with("[nonlinear]\nacceleration = 3\n")),
                {"case.toml:4: nonlinear.acceleration = 3: must be left out with "
                 "nonlinear.method = \"newton\"; it is for \"picard\""});
  expect_errors(case_errors(case_with("[nonlinear]\nmethod = \"picard\"\nline_search = false\n")),
                {"case.toml:5: nonlinear.line_search = false: must be left out with "
                 "nonlinear.method = \"picard\"; it is for \"newton\""});
}

TEST(Nonlinear, InTimeIsImplicitAndByNewton) {
  const std::string time = "[time]\nend = 1\n";
  EXPECT_TRUE(parse_case(case_with("[nonlinear]\n" + time)).nonlinear);
  expect_errors(
      case_errors(case_with(time + "method = \"explicit-rk\"\n[nonlinear]\n"
                                   "method = \"picard\"\n")),
      {"case.toml:5: time.method = \"explicit-rk\": must be implicit with [nonlinear]: "
       "\"sdirk\", \"bdf\" or \"backward-euler\"",
       "case.toml:7: nonlinear.method = \"picard\": must be \"newton\" with [time], whose "
       "steps start near their solution"});
}

TEST(Nonlinear, ProblemsAreComputedInDoublePrecisionFromAnExpression) {
  expect_errors(
      case_errors(case_with("[nonlinear]\n[operator]\nprecision = \"single\"\n[solver]\n"
                            "relative_tolerance = 1e-5\ninitial = \"full-multigrid\"\n"
                            "preconditioner = \"multigrid\"\n")),
      {"case.toml:5: operator.precision = \"single\": non-linear problems are computed in double "
       "precision; allowed with [nonlinear]: \"double\"",
       "case.toml:8: solver.initial = \"full-multigrid\": \"full-multigrid\" is for linear "
       "problems; with [nonlinear] give an expression, where the iteration starts"});
}

TEST(Nonlinear, IsACommentAmongTheDefaults) {
  const std::string defaults = case_registry().defaults_text();
  for (const char* line :
       {"\n# [nonlinear]\n", "# method = \"newton\"\n", "# acceleration = 5\n"}) {
    EXPECT_NE(defaults.find(line), std::string::npos) << line;
  }
  EXPECT_FALSE(parse_case(defaults).nonlinear);
}

TEST(Nonlinear, IsWrittenAsItIsRead) {
  const std::string text = case_registry().to_toml(parse_case(case_with("[nonlinear]\n")));
  EXPECT_NE(text.find("\n[nonlinear]\nmethod = \"newton\"\nrelative_tolerance = 1e-10\n"
                      "max_iterations = 50\nacceleration = 5\nline_search = true\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(case_registry().to_toml(parse_case(text)), text);
  EXPECT_EQ(case_registry().to_toml(parse_case(case_with(""))).find("nonlinear"),
            std::string::npos);
}

}  // namespace
}  // namespace tessera
