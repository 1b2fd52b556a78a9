// These tests break the checks between keys.
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
      {"case.toml:3: mesh.cells = [4, 4, 4]: must have 2 entries, one per axis, since "
       "mesh.dimension = 2; it has 3",
       "case.toml:4: mesh.lower = [0]: must have 2 entries, one per axis, since mesh.dimension = "
       "2; "
       "it has 1",
       "case.toml:5: mesh.map = [\"x\"]: must have 2 entries, one per axis, since mesh.dimension = "
       "2; it has 1"});
}

TEST(CaseChecks, GridLinesAgreeWithCellsAndCorners) {
  const std::string lines = "spacing = [\"uniform\", [0.0, 0.1, 1.0], \"uniform\"]\n";
  const std::string shown = "mesh.spacing = [\"uniform\", [0.0, 0.1, 1.0], \"uniform\"]: axis y: ";
  expect_errors(case_errors("[mesh]\ncells = [4, 4, 4]\n" + lines),
                {"case.toml:3: " + shown +
                 "has 3 grid lines, which make 2 cells, and mesh.cells has 4; they must agree"});
  expect_errors(case_errors("[mesh]\ncells = [4, 2, 4]\nlower = [0, -1, 0]\n" + lines),
                {"case.toml:4: " + shown +
                 "its first grid line is 0.0, and mesh.lower has -1.0; they must agree, or "
                 "mesh.lower be left out"});
  expect_errors(case_errors("[mesh]\ncells = [4, 2, 4]\nupper = [1, 2, 1]\n" + lines),
                {"case.toml:4: " + shown +
                 "its last grid line is 1.0, and mesh.upper has 2.0; they must agree, or "
                 "mesh.upper be left out"});
  EXPECT_TRUE(case_errors("[mesh]\ncells = [4, 2, 4]\nlower = [-1, 0, -1]\n" + lines).empty());
}

TEST(CaseChecks, GridLinesDoNotMeet) {
  expect_errors(
      case_errors("[mesh]\ncells = [50, 4, 4]\n"
                  "spacing = [{ geometric = 4 }, \"uniform\", \"uniform\"]\n"),
      {"case.toml:3: mesh.spacing = [{ geometric = 4 }, \"uniform\", \"uniform\"]: axis x: cell 1 "
       "of 50 would be 2.4e-30 wide; at least 1e-12 is allowed, 1e-12 of the largest coordinate"});
  expect_errors(
      case_errors("[mesh]\ndimension = 2\ncells = [1, 3]\n"
                  "spacing = [\"uniform\", [1e6, 1000000.0000001, 2e6, 3e6]]\n"),
      {"case.toml:4: mesh.spacing = [\"uniform\", [1000000.0, 1000000.0000001, 2000000.0, "
       "3000000.0]]: axis y: cell 1 of 3 would be 1e-07 wide; at least 3e-06 is allowed, "
       "1e-12 of the largest coordinate"});
  for (const char* ratio : {"1e300", "1e-300", "10", "0.1"}) {
    const auto errors =
        case_errors("[mesh]\ncells = [400, 4, 4]\nspacing = [{ geometric = " + std::string(ratio) +
                    " }, \"uniform\", \"uniform\"]\n");
    ASSERT_EQ(errors.size(), 1U) << ratio;
    EXPECT_NE(errors[0].find("of 400 would be"), std::string::npos) << errors[0];
  }
}

TEST(CaseChecks, CellsOfAxesThatAreNotUniformAreNotTooMany) {
  const std::string cells = "[mesh]\ndimension = 2\ncells = [1, 2000000]\n";
  expect_errors(
      case_errors(cells + "spacing = [\"uniform\", { geometric = 1.1 }]\n"),
      {"case.toml:4: mesh.spacing = [\"uniform\", { geometric = 1.1 }]: axis y: 2000000 cells: at "
       "most 1000000 are allowed, unless they are uniform"});
  EXPECT_TRUE(case_errors(cells + "spacing = [\"uniform\", { geometric = 1.0 }]\n").empty());
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
    EXPECT_EQ(parse_case(base + "scatter = \"auto\"\n").operation.scatter, "none");
  }
}

TEST(CaseChecks, OtherKernelsNeedAScatter) {
  expect_errors(
      case_errors(case_with("[operator]\nkernel = \"tensor\"\nscatter = \"none\"\n")),
      {"case.toml:5: operator.scatter = \"none\": must be one of \"auto\" | \"serial\" | "
       "\"atomic\" | "
       "\"coloring\" | \"private\", or left out, since operator.kernel = \"tensor\" takes one"});
  EXPECT_EQ(parse_case(case_with("")).operation.scatter, "auto");
}

TEST(CaseChecks, AutoKeepsTheScatterForAKernelThatTakesOne) {
  const std::string base = case_with("[operator]\nkernel = \"auto\"\n");
  EXPECT_EQ(parse_case(base).operation.scatter, "auto");
  EXPECT_EQ(parse_case(base + "scatter = \"private\"\n").operation.scatter, "private");
  expect_errors(
      case_errors(base + "scatter = \"none\"\n"),
      {"case.toml:5: operator.scatter = \"none\": must be one of \"auto\" | \"serial\" | "
       "\"atomic\" | "
       "\"coloring\" | \"private\", or left out, since operator.kernel = \"auto\" takes one"});
  const std::string csr = case_with("[operator]\nkernel = \"csr\"\nscatter = \"none\"\n");
  EXPECT_EQ(parse_case(csr, {{"operator.kernel=auto"}}).operation.scatter, "auto");
}

TEST(CaseChecks, KernelOfTheCommandLineReplacesTheFilesScatter) {
  const std::string tensor = case_with("[operator]\nkernel = \"tensor\"\nscatter = \"atomic\"\n");
  EXPECT_EQ(parse_case(tensor, {{"operator.kernel=csr"}}).operation.scatter, "none");
  EXPECT_EQ(parse_case(tensor, {{"operator.kernel=local"}}).operation.scatter, "atomic");
  const std::string csr = case_with("[operator]\nkernel = \"csr\"\nscatter = \"none\"\n");
  EXPECT_EQ(parse_case(csr, {{"operator.kernel=tensor"}}).operation.scatter, "auto");
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
  auto registry = make_case_registry(kTestKernels, kTestScatters, kTestPreconditioners);
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

TEST(CaseChecks, AsynchronousSweepsNeedAMethodThatAllowsThem) {
  const std::string why =
      "must be \"flexible-cg\", \"flexible-gmres\" or \"richardson\" with asynchronous sweeps, "
      "which are another preconditioner in every iteration";
  const std::string sweeps = "preconditioner = \"block-asynchronous-jacobi\"\n";
  for (const std::string method : {"cg", "single-reduction-cg", "pipelined-cg", "bicgstab"}) {
    expect_errors(case_errors(case_with("[solver]\n" + sweeps + "method = \"" + method + "\"\n")),
                  {"case.toml:5: solver.method = \"" + method + "\": " + why});
  }
  for (const std::string method : {"flexible-cg", "flexible-gmres", "richardson"}) {
    expect_errors(case_errors(case_with("[solver]\n" + sweeps + "method = \"" + method + "\"\n")),
                  {});
  }
  const std::string smoother = "[solver.multigrid]\nsmoother = \"block-asynchronous-jacobi\"\n";
  expect_errors(case_errors(case_with(
                    "[solver]\nmethod = \"cg\"\npreconditioner = \"multigrid\"\n" + smoother)),
                {"case.toml:4: solver.method = \"cg\": " + why});
  // The default is as wrong, and what makes it so has a line.
  expect_errors(case_errors(case_with("[solver]\n" + sweeps)),
                {"case.toml:4: solver.method = \"cg\" (the default): " + why});
  expect_errors(case_errors(case_with("[solver]\npreconditioner = \"multigrid\"\n" + smoother)),
                {"case.toml:6: solver.method = \"cg\" (the default): " + why});
  // A smoother that is not used does not matter.
  expect_errors(
      case_errors(case_with("[solver]\nmethod = \"cg\"\npreconditioner = \"jacobi\"\n" + smoother)),
      {});
}

TEST(CaseChecks, DeterminismAllowsNoAsynchronousSweeps) {
  const std::string why =
      "asynchronous sweeps have another result in every run, and run.deterministic = true; use "
      "\"block-jacobi\"";
  const std::string demand = "[run]\ndeterministic = true\n";
  expect_errors(case_errors(case_with("[solver]\nmethod = \"flexible-cg\"\npreconditioner = "
                                      "\"block-asynchronous-jacobi\"\n" +
                                      demand)),
                {"case.toml:5: solver.preconditioner = \"block-asynchronous-jacobi\": " + why});
  expect_errors(case_errors(case_with("[solver]\nmethod = \"flexible-cg\"\npreconditioner = "
                                      "\"multigrid\"\n[solver.multigrid]\nsmoother = "
                                      "\"block-asynchronous-jacobi\"\n" +
                                      demand)),
                {"case.toml:7: solver.multigrid.smoother = \"block-asynchronous-jacobi\": " + why});
}

TEST(CaseChecks, RichardsonNeedsAPreconditioner) {
  expect_errors(
      case_errors(case_with("[solver]\nmethod = \"richardson\"\npreconditioner = \"none\"\n")),
      {"case.toml:4: solver.method = \"richardson\": \"richardson\" needs a "
       "preconditioner: x + (b - A x) alone diverges"});
}

TEST(CaseChecks, FullMultigridNeedsMultigrid) {
  expect_errors(case_errors(case_with(
                    "[solver]\npreconditioner = \"jacobi\"\ninitial = \"full-multigrid\"\n")),
                {"case.toml:5: solver.initial = \"full-multigrid\": \"full-multigrid\" needs "
                 "solver.preconditioner = \"multigrid\", on whose levels it works"});
}

TEST(CaseChecks, SolverKeysOutOfRange) {
  expect_errors(
      case_errors(case_with(
          "[solver]\nresidual_replacement = -1\n[solver.chebyshev]\ndegree = 0\nrange = 1\n"
          "[solver.multigrid]\nlevels = 65\nsmoother_degree = 1000\nstart_cycles = 0\n"
          "[solver.block_jacobi]\nsweeps = 0\nlocal_sweeps = 2.5\n")),
      {"case.toml:4: solver.residual_replacement = -1: must be an integer from 0 to 1e+06",
       "case.toml:6: solver.chebyshev.degree = 0: must be an integer from 1 to 100",
       "case.toml:7: solver.chebyshev.range = 1: must be a number from 2 to 1e+06",
       "case.toml:9: solver.multigrid.levels = 65: must be an integer from 0 to 64",
       "case.toml:10: solver.multigrid.smoother_degree = 1000: must be an integer from 1 to 100",
       "case.toml:11: solver.multigrid.start_cycles = 0: must be an integer from 1 to 20",
       "case.toml:13: solver.block_jacobi.sweeps = 0: must be an integer from 1 to 100",
       "case.toml:14: solver.block_jacobi.local_sweeps = 2.5: must be an integer from 1 to 100, "
       "not a number"});
}

}  // namespace
}  // namespace tessera
