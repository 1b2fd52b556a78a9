#include "tests/src/parameters/registries.hpp"

namespace tessera {
namespace {

TEST(CaseChecks, NegativeExtentNamesTheAxis) {
  expect_errors(case_errors(case_with("lower = [0, 2, 0]\nupper = [1, 1.5, 1]\n")),
                {"case.toml:4: mesh.upper = [1, 1.5, 1]: axis y: upper = 1.5 must be greater than "
                 "lower = 2.0"});
  expect_errors(case_errors(case_with("lower = [0, 0, 1]\n")),
                {"case.toml:3: mesh.lower = [0, 0, 1]: axis z: upper = 1.0 must be greater than "
                 "lower = 1.0"});
}

TEST(CaseChecks, ArrayLengthsAreTheDimension) {
  expect_errors(
      case_errors("[mesh]\ndimension = 2\ncells = [4, 4, 4]\nlower = [0]\nmap = [\"x\"]\n"),
      {"case.toml:3: mesh.cells = [4, 4, 4]: must have 2 entries, one an axis, since "
       "mesh.dimension = 2; it has 3",
       "case.toml:4: mesh.lower = [0]: must have 2 entries, one an axis, since mesh.dimension = 2; "
       "it has 1",
       "case.toml:5: mesh.map = [\"x\"]: must have 2 entries, one an axis, since mesh.dimension = "
       "2; it has 1"});
}

TEST(CaseChecks, TooManyNodesForTheIndex) {
  const auto errors = case_errors("[mesh]\ncells = [10000000, 10000000, 10000000]\n");
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0],
            "case.toml:2: mesh.cells = [10000000, 10000000, 10000000]: makes 8e+21 DoFs with "
            "space.degree = 2; at most 1e+17 are allowed");
}

TEST(CaseChecks, PointsDependOnTheDegree) {
  expect_errors(
      case_errors(case_with("[space]\ndegree = 4\npoints = 4\n")),
      {"case.toml:5: space.points = 4: must be from 5 (degree + 1) to 40, or 0 for degree + 1, "
       "since space.degree = 4; fewer points make the stiffness matrix singular"});
  expect_errors(case_errors(case_with("[space]\npoints = 41\n")),
                {"case.toml:4: space.points = 41: must be an integer from 0 to 40"});
  EXPECT_EQ(parse_case(case_with("[space]\ndegree = 4\n")).space.points, 5);
  EXPECT_EQ(parse_case(case_with("[space]\ndegree = 4\npoints = 0\n")).space.points, 5);
  EXPECT_EQ(parse_case(case_with("[space]\ndegree = 4\npoints = 6\n")).space.points, 6);
}

TEST(CaseChecks, RobinNeedsAlphaAndOthersRefuseIt) {
  expect_errors(case_errors(case_with("[boundary]\nleft = { type = \"robin\", value = 1 }\n"
                                      "top = { type = \"neumann\", alpha = 2 }\n"
                                      "front = { alpha = 2 }\n")),
                {"case.toml:4: boundary.left.alpha: is required, and missing, since the type is "
                 "\"robin\": an expression, such as alpha = \"1\"",
                 "case.toml:5: boundary.top.alpha = 2: must be left out, since the type is "
                 "\"neumann\"; only \"robin\" takes alpha",
                 "case.toml:6: boundary.front.alpha = 2: must be left out, since the type is "
                 "\"dirichlet\"; only \"robin\" takes alpha"});
}

TEST(CaseChecks, FacesOfZDoNotExistIn2D) {
  expect_errors(
      case_errors("[mesh]\ndimension = 2\ncells = [4, 4]\n[boundary]\nback = { value = 1 }\n"),
      {"case.toml:5: boundary.back: must be left out, since mesh.dimension = 2; a 2D box has the "
       "faces left, right, bottom, top"});
}

TEST(CaseChecks, CsrAndKroneckerTakeNoScatter) {
  expect_errors(
      case_errors(case_with("[operator]\nkernel = \"csr\"\nscatter = \"coloring\"\n")),
      {"case.toml:5: operator.scatter = \"coloring\": must be \"none\", or left out, since "
       "operator.kernel = \"csr\" takes no scatter"});
  for (const char* kernel : {"csr", "kronecker"}) {
    const std::string base = case_with("[operator]\nkernel = \"") + kernel + "\"\n";
    EXPECT_EQ(parse_case(base).operation.scatter, "none");
    EXPECT_EQ(parse_case(base + "scatter = \"none\"\n").operation.scatter, "none");
  }
}

TEST(CaseChecks, OtherKernelsNeedAScatter) {
  expect_errors(
      case_errors(case_with("[operator]\nkernel = \"tensor\"\nscatter = \"none\"\n")),
      {"case.toml:5: operator.scatter = \"none\": must be one of \"serial\" | \"atomic\" | "
       "\"coloring\" | \"private\", or left out, since operator.kernel = \"tensor\" takes one"});
  EXPECT_EQ(parse_case(case_with("")).operation.scatter, "coloring");
}

TEST(CaseChecks, KernelOfTheCommandLineReplacesTheFilesScatter) {
  const std::string tensor = case_with("[operator]\nkernel = \"tensor\"\nscatter = \"atomic\"\n");
  EXPECT_EQ(parse_case(tensor, {{"operator.kernel=csr"}}).operation.scatter, "none");
  EXPECT_EQ(parse_case(tensor, {{"operator.kernel=local"}}).operation.scatter, "atomic");
  const std::string csr = case_with("[operator]\nkernel = \"csr\"\nscatter = \"none\"\n");
  EXPECT_EQ(parse_case(csr, {{"operator.kernel=tensor"}}).operation.scatter, "coloring");
  expect_errors(
      case_errors(tensor, {{"operator.kernel=csr"}, {"operator.scatter=serial"}}),
      {"--set operator.scatter=serial: operator.scatter = \"serial\": must be \"none\", or left "
       "out, since operator.kernel = \"csr\" takes no scatter"});
}

TEST(CaseChecks, SinglePrecisionCannotReachSmallTolerances) {
  const std::string why =
      "must be at least 1e-06 with operator.precision = \"single\", whose rounding error of 6e-8 "
      "grows in the residual and keeps it above that";
  expect_errors(case_errors(case_with("[operator]\nprecision = \"single\"\n[solver]\n"
                                      "relative_tolerance = 1e-9\n")),
                {"case.toml:6: solver.relative_tolerance = 1e-09: " + why});
  expect_errors(case_errors(case_with("[operator]\nprecision = \"single\"\n")),
                {"case.toml:4: solver.relative_tolerance = 1e-08 (the default): " + why});
  EXPECT_TRUE(case_errors(case_with("[operator]\nprecision = \"single\"\n[solver]\n"
                                    "relative_tolerance = 1e-6\n"))
                  .empty());
}

TEST(CaseChecks, OutputDirectoryIsNotEmpty) {
  expect_errors(case_errors(case_with("[output]\ndirectory = \"\"\n")),
                {"case.toml:4: output.directory = \"\": must not be empty; \".\" is the current "
                 "directory"});
}

TEST(CaseChecks, FurtherChecksJoinTheReport) {
  auto registry = make_case_registry(kTestKernels, kTestScatters);
  registry.add_check([](CaseParameters& parameters, Findings& findings) {
    if (!findings.has_error("problem.source") && parameters.problem.source == "sni(x)") {
      findings.report("problem.source", "sni is not a function");
    }
  });
  try {
    registry.parse("[problem]\nsource = \"sni(x)\"\n[mesh]\ncells = [0, 1, 1]\n", "case.toml");
    FAIL() << "accepted";
  } catch (const InputError& error) {
    ASSERT_EQ(error.diagnostics().size(), 2U);
    EXPECT_EQ(format_diagnostic(error.diagnostics()[0]),
              "case.toml:2: problem.source = \"sni(x)\": sni is not a function");
    EXPECT_EQ(error.diagnostics()[1].line, 4);
  }
}

TEST(CaseChecks, WhereAKeyWasWrittenIsKnownAfterLoading) {
  const auto loaded = case_registry().parse(case_with("[problem]\nsource = \"x\"\n"), "case.toml",
                                            {{"problem.coefficient=y"}});
  EXPECT_EQ(format_diagnostic(loaded.findings.diagnostic("problem.source", "is bad")),
            "case.toml:4: problem.source = \"x\": is bad");
  EXPECT_EQ(format_diagnostic(loaded.findings.diagnostic("problem.coefficient", "is bad")),
            "--set problem.coefficient=y: problem.coefficient = \"y\": is bad");
  EXPECT_EQ(format_diagnostic(loaded.findings.diagnostic("problem.exact", "is bad")),
            "case.toml: problem.exact: is bad");
}

}  // namespace
}  // namespace tessera
