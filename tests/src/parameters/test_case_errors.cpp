// These tests read the messages of wrong case files.
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "tests/src/parameters/registries.hpp"

namespace tessera {
namespace {

std::string file_error(const std::string& path) {
  try {
    case_registry().load(path);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(CaseErrors, MissingFile) {
  EXPECT_EQ(file_error("no/such/case.toml"),
            "no/such/case.toml: cannot be opened: No such file or directory");
}

TEST(CaseErrors, DirectoryInsteadOfFile) {
  EXPECT_EQ(file_error("/"), "/: is a directory; a TOML file is needed");
}

TEST(CaseErrors, FileIsReadWithItsName) {
  const std::string path =
      ::testing::TempDir() + "tessera_case_" + std::to_string(getpid()) + ".toml";
  std::ofstream(path) << "[mesh]\ncells = [0, 4, 4]\n";
  EXPECT_EQ(file_error(path).rfind(path + ":2: mesh.cells = [0, 4, 4]: ", 0), 0U);
  std::ofstream(path) << "[mesh]\ncells = [2, 4, 4]\n";
  EXPECT_EQ(case_registry().load(path).parameters.mesh.cells[0], 2);
  std::remove(path.c_str());
}

TEST(CaseErrors, SyntaxErrorHasItsLine) {
  const auto errors = case_errors("[mesh]\ncells = [4, 4, 4\n[space]\ndegree = 2\n");
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].rfind("case.toml:3: not valid TOML: ", 0), 0U) << errors[0];
  const auto twice = case_errors("[mesh]\ncells = [4,4,4]\ncells = [4,4,4]\n");
  ASSERT_EQ(twice.size(), 1U);
  EXPECT_EQ(twice[0].rfind("case.toml:3: not valid TOML: ", 0), 0U) << twice[0];
}

TEST(CaseErrors, UnknownKeySuggestsTheNearest) {
  expect_errors(case_errors(case_with("[space]\ndegre = 3\n")),
                {"case.toml:4: space.degre = 3: unknown key; did you mean space.degree?"});
}

TEST(CaseErrors, UnknownKeyOfAnotherTable) {
  expect_errors(case_errors(case_with("points = 3\n")),
                {"case.toml:3: mesh.points = 3: unknown key; did you mean space.points?"});
  expect_errors(case_errors("degree = 3\n" + case_with("")),
                {"case.toml:1: degree = 3: unknown key; did you mean space.degree?"});
}

TEST(CaseErrors, UnknownKeyLikeNothingListsTheKnown) {
  expect_errors(case_errors(case_with("[run]\nbanana = 3\n")),
                {"case.toml:4: run.banana = 3: unknown key; [run] knows device, ranks, threads, "
                 "deterministic"});
}

TEST(CaseErrors, QuotedNamesAreNotDottedNames) {
  const auto errors = case_errors("\"mesh.cells\" = [1, 1, 1]\n" + case_with(""));
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].rfind("case.toml:1: \"mesh.cells\" = [1, 1, 1]: unknown key; ", 0), 0U)
      << errors[0];
}

TEST(CaseErrors, FilesOfTheOtherKindAreOneLine) {
  expect_errors(case_errors("title = \"a\"\n[study]\ndegrees = [1]\n[solver]\nmethod = \"cg\"\n"),
                {"case.toml:2: study: the file is a study, which tessera compare reads"});
}

TEST(CaseErrors, UnknownTable) {
  expect_errors(case_errors(case_with("[spcae]\ndegree = 3\n")),
                {"case.toml:3: spcae: unknown table; did you mean [space]?"});
  expect_errors(case_errors(case_with("[boundary.rihgt]\nvalue = 3\n")),
                {"case.toml:3: boundary.rihgt: unknown table; did you mean boundary.right?"});
  expect_errors(case_errors(case_with("[zzzzzz]\n")),
                {"case.toml:3: zzzzzz: unknown table; the file knows title, mesh, space, problem, "
                 "boundary, time, nonlinear, operator, solver, run, output"});
}

TEST(CaseErrors, UnknownKeyInsideAFace) {
  expect_errors(case_errors(case_with("[boundary]\ntop = { typ = \"neumann\" }\n")),
                {"case.toml:4: boundary.top.typ = \"neumann\": unknown key; did you mean "
                 "boundary.top.type?"});
}

TEST(CaseErrors, WrongTypes) {
  expect_errors(
      case_errors(case_with("[space]\ndegree = \"four\"\n[output]\nvtk = 1\ndirectory = 3\n"
                            "[solver]\nrelative_tolerance = true\nmethod = 1\n")),
      {"case.toml:4: space.degree = \"four\": must be an integer from 1 to 32, not a string",
       "case.toml:6: output.vtk = 1: must be true or false, not an integer",
       "case.toml:7: output.directory = 3: must be a string, not an integer",
       "case.toml:9: solver.relative_tolerance = true: must be a number greater than 0 and less "
       "than 1, not true or false",
       "case.toml:10: solver.method = 1: must be one of \"cg\" | \"single-reduction-cg\" | "
       "\"pipelined-cg\" | \"flexible-cg\" | \"richardson\" | \"flexible-gmres\" | "
       "\"bicgstab\", not an integer"});
}

TEST(CaseErrors, UnknownNamesOfSolversSuggestTheNearest) {
  expect_errors(
      case_errors(case_with("[solver]\nmethod = \"pipelined\"\n"
                            "preconditioner = \"multigird\"\n"
                            "[solver.multigrid]\nsmoother = \"chebychev\"\n"
                            "smother_degree = 2\ncoarsening = \"cells\"\n")),
      {"case.toml:4: solver.method = \"pipelined\": must be one of \"cg\" | "
       "\"single-reduction-cg\" | \"pipelined-cg\" | \"flexible-cg\" | "
       "\"richardson\" | \"flexible-gmres\" | \"bicgstab\"; did you mean \"pipelined-cg\"?",
       "case.toml:5: solver.preconditioner = \"multigird\": must be one of \"auto\" | \"none\" | "
       "\"jacobi\" | \"chebyshev\" | \"multigrid\" | \"fast-diagonalization\" | "
       "\"block-jacobi\" | \"block-asynchronous-jacobi\"; did you mean \"multigrid\"?",
       "case.toml:7: solver.multigrid.smoother = \"chebychev\": must be one of "
       "\"chebyshev\" | \"block-jacobi\" | \"block-asynchronous-jacobi\"; did you mean "
       "\"chebyshev\"?",
       "case.toml:8: solver.multigrid.smother_degree = 2: unknown key; did you mean "
       "solver.multigrid.smoother_degree?",
       "case.toml:9: solver.multigrid.coarsening = \"cells\": must be one of \"auto\" | "
       "\"degree-first\" | \"cells-first\"; did you mean \"cells-first\"?"});
}

TEST(CaseErrors, WrongTypesOfWholes) {
  expect_errors(case_errors("title = 2020-01-02\n" + case_with("[space]\ndegree = 2.5\n")),
                {"case.toml:1: title = 2020-01-02: must be a string, not a date or time",
                 "case.toml:5: space.degree = 2.5: must be an integer from 1 to 32, not a number"});
  expect_errors(case_errors("[mesh]\ncells = 4\n"),
                {"case.toml:2: mesh.cells = 4: must be an array, one entry per axis, of integers, "
                 "each at least 1, not an integer"});
  expect_errors(case_errors("mesh = 4\n"), {"case.toml:1: mesh = 4: must be a table, which starts "
                                            "with one line [mesh], not an integer"});
  expect_errors(case_errors(case_with("[boundary]\nleft = \"y\"\n")),
                {"case.toml:4: boundary.left = \"y\": must be a table, such as { type = "
                 "\"dirichlet\", value = \"0\" }, not a string"});
  const auto array_of_tables = case_errors("[[mesh]]\ncells = [4, 4, 4]\n");
  ASSERT_EQ(array_of_tables.size(), 1U);
  EXPECT_NE(array_of_tables[0].find("must be a table, which starts with one line [mesh], not an "
                                    "array"),
            std::string::npos);
}

TEST(CaseErrors, CellsMustBePositive) {
  expect_errors(case_errors("[mesh]\ncells = [4, 0, -1]\n"),
                {"case.toml:2: mesh.cells = [4, 0, -1]: entry 2 (axis y) is 0: must be an integer "
                 "at least 1; entry 3 (axis z) is -1: must be an integer at least 1"});
  expect_errors(case_errors("[mesh]\ncells = []\n"),
                {"case.toml:2: mesh.cells = []: must be an array, one entry per axis, of integers, "
                 "each at least 1; it is empty"});
}

// The message for a spacing that is wrong along y.
std::string spacing_message(const std::string& wrong) {
  const auto errors =
      case_errors(case_with("spacing = [\"uniform\", " + wrong + ", \"uniform\"]\n"));
  if (errors.size() != 1) return "";
  const std::string entry = ": entry 2 (axis y) is ";
  const auto at = errors[0].find(entry);
  return at == std::string::npos ? errors[0] : errors[0].substr(at + entry.size());
}

TEST(CaseErrors, Spacings) {
  const std::string allowed =
      "must be \"uniform\", { geometric = R } with R > 0, or an array of all grid lines, "
      "increasing";
  const std::string ratio =
      "geometric must be a number greater than 0, how many times as wide as the one before it a "
      "cell is";
  EXPECT_EQ(spacing_message("\"even\""), "\"even\": " + allowed);
  EXPECT_EQ(spacing_message("1.2"), "1.2: " + allowed + ", not a number");
  EXPECT_EQ(spacing_message("{ ratio = 2 }"), "{ ratio = 2 }: " + allowed);
  EXPECT_EQ(spacing_message("{}"), "{}: " + allowed);
  EXPECT_EQ(spacing_message("{ geometric = 2, from = 1 }"),
            "{ from = 1, geometric = 2 }: " + allowed);
  for (const std::string wrong : {"0", "-1.5", "nan", "inf", "\"2\""}) {
    const std::string table = "{ geometric = " + wrong + " }";
    EXPECT_EQ(spacing_message(table), table + ": " + ratio);
  }
  EXPECT_EQ(spacing_message("[]"), "[]: must have 2 or more grid lines; it has 0");
  EXPECT_EQ(spacing_message("[0.5]"), "[0.5]: must have 2 or more grid lines; it has 1");
  EXPECT_EQ(spacing_message("[0, 0.5, 0.5, 1]"),
            "[0, 0.5, 0.5, 1]: grid line 3 is 0.5: must be greater than the one before it, 0.5");
  EXPECT_EQ(spacing_message("[0, \"x\", 1]"),
            "[0, \"x\", 1]: grid line 2 is \"x\": must be a finite number");
  EXPECT_EQ(spacing_message("[0, 1, inf]"),
            "[0, 1, inf]: grid line 3 is inf: must be a finite number");
}

TEST(CaseErrors, SpacingOfTheWholeMesh) {
  expect_errors(
      case_errors(case_with("spacing = \"uniform\"\n")),
      {"case.toml:3: mesh.spacing = \"uniform\": must be an array, one entry per axis, of "
       "spacings, each \"uniform\", { geometric = R } with R > 0, or an array of all grid "
       "lines, increasing, not a string"});
  expect_errors(
      case_errors(case_with("spacing = [\"uniform\", \"uniform\"]\n")),
      {"case.toml:3: mesh.spacing = [\"uniform\", \"uniform\"]: must have 3 entries, one per "
       "axis, since mesh.dimension = 3 (the default); it has 2"});
}

TEST(CaseErrors, EntriesOfArraysOverSeveralLinesHaveTheirOwnLine) {
  expect_errors(case_errors("[mesh]\ncells = [\n  4,\n  4,\n  0\n]\n"),
                {"case.toml:5: mesh.cells = [4, 4, 0]: entry 3 (axis z) is 0: must be an integer "
                 "at least 1"});
}

TEST(CaseErrors, RequiredKeyMissing) {
  expect_errors(case_errors("[mesh]\ndimension = 3\n"),
                {"case.toml:1: mesh.cells: is required, and missing: an array, one entry per axis, "
                 "of integers, each at least 1, such as cells = [8, 8, 8]"});
  expect_errors(case_errors(""),
                {"case.toml: mesh.cells: is required, and missing: an array, one entry per axis, "
                 "of integers, each at least 1, such as cells = [8, 8, 8]"});
}

TEST(CaseErrors, OutOfRange) {
  expect_errors(
      case_errors(case_with("[space]\ndegree = 0\n[run]\nthreads = 5000\n[solver]\n"
                            "relative_tolerance = 1.0\nmax_iterations = 0\n")),
      {"case.toml:4: space.degree = 0: must be an integer from 1 to 32",
       "case.toml:6: run.threads = 5000: must be an integer from 0 to 4096",
       "case.toml:8: solver.relative_tolerance = 1.0: must be a number greater than 0 and less "
       "than 1",
       "case.toml:9: solver.max_iterations = 0: must be an integer from 1 to 2147483647"});
}

TEST(CaseErrors, NumbersMustBeFinite) {
  expect_errors(
      case_errors(case_with("upper = [nan, 1, inf]\n")),
      {"case.toml:3: mesh.upper = [nan, 1, inf]: entry 1 (axis x) is nan: must be a number; it "
       "must be finite; entry 3 (axis z) is inf: must be a number; it must be finite"});
}

TEST(CaseErrors, Choices) {
  expect_errors(
      case_errors(case_with("[space]\nnodes = \"gauss\"\nquadrature = \"simpson\"\n[operator]\n"
                            "kernel = \"tenser\"\nscatter = \"colouring\"\n")),
      {"case.toml:4: space.nodes = \"gauss\": must be one of \"gauss-lobatto\" | \"equidistant\"; "
       "did you mean \"gauss-lobatto\"?",
       "case.toml:5: space.quadrature = \"simpson\": must be one of \"gauss\" | \"gauss-lobatto\"",
       "case.toml:7: operator.kernel = \"tenser\": must be one of \"auto\" | \"csr\" | \"local\" | "
       "\"tensor\" | \"kronecker\"; did you mean \"tensor\"?",
       "case.toml:8: operator.scatter = \"colouring\": must be one of \"auto\" | \"serial\" | "
       "\"atomic\" | \"coloring\" | \"private\" | \"none\"; did you mean \"coloring\"?"});
}

TEST(CaseErrors, FactorsNameTheNearest) {
  expect_errors(
      case_errors(case_with("[operator]\nfactors = \"on_the_fly\"\n")),
      {"case.toml:4: operator.factors = \"on_the_fly\": must be one of \"auto\" | \"stored\" | "
       "\"compressed\" | \"on-the-fly\"; did you mean \"on-the-fly\"?"});
  expect_errors(
      case_errors(case_with("[space]\ngeometry = \"auto\"\n")),
      {"case.toml:4: space.geometry = \"auto\": unknown key; it is operator.factors now"});
}

TEST(CaseErrors, CellsOfTheFileHaveNoHigherDegreeThanTheSpace) {
  expect_errors(case_errors(case_with("[space]\ndegree = 3\n[output]\nvtk_degree = 4\n")),
                {"case.toml:6: output.vtk_degree = 4: must be at most space.degree = 3, which has "
                 "all that there is"});
  expect_errors(case_errors(case_with("[output]\nvtk_compression = \"lz5\"\n")),
                {"case.toml:4: output.vtk_compression = \"lz5\": must be one of \"none\" | "
                 "\"lz4\" | \"zlib\"; did you mean \"lz4\"?"});
}

TEST(CaseErrors, Expressions) {
  expect_errors(case_errors(case_with("[problem]\nsource = \"\"\ncoefficient = true\n")),
                {"case.toml:4: problem.source = \"\": must not be empty; an expression is needed, "
                 "such as \"sin(pi*x)\" or 0",
                 "case.toml:5: problem.coefficient = true: must be an expression (a string or a "
                 "number), not true or false"});
}

TEST(CaseErrors, AllAtOnceInTheOrderOfTheFile) {
  const auto errors = case_errors(
      "[space]\ndegree = 0\nnods = 1\n[operator]\nkernel = \"csrr\"\n[mesh]\ncells = [1, 2]\n");
  expect_errors(
      errors,
      {"case.toml:2: space.degree = 0: must be an integer from 1 to 32",
       "case.toml:3: space.nods = 1: unknown key; did you mean space.nodes?",
       "case.toml:5: operator.kernel = \"csrr\": must be one of \"auto\" | \"csr\" | \"local\" | "
       "\"tensor\" | \"kronecker\"; did you mean \"csr\"?",
       "case.toml:7: mesh.cells = [1, 2]: must have 3 entries, one per axis, since mesh.dimension "
       "= 3 (the default); it has 2"});
}

TEST(CaseErrors, LongValuesAreShortened) {
  const auto errors =
      case_errors(case_with("[operator]\nkernel = \"" + std::string(500, 'x') + "\"\n"));
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_NE(errors[0].find("xxx...: must be one of"), std::string::npos);
}

// Each part of a name is a table in the one before it, and what goes through them does so by
// recursion.
TEST(CaseErrors, NamesOfThousandsOfParts) {
  std::string name = "a";
  for (int part = 0; part < 20000; ++part) name += ".a";
  const std::string message =
      ": a name has more than 64 parts; Tessera's have at most 3, such as solver.multigrid.levels";
  expect_errors(case_errors("title = \"\"\n" + name + " = 1\n"), {"case.toml:2" + message});
  expect_errors(case_errors("[" + name + "]\n"), {"case.toml:1" + message});
  expect_errors(case_errors("# '\n\na = [{ " + name + " = 1 }]\n"), {"case.toml:3" + message});
  const auto errors = case_errors(case_with(""), {{"mesh={ " + name + " = 1 }"}});
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_NE(errors[0].find("mesh: not valid TOML"), std::string::npos);
}

TEST(CaseErrors, DotsThatAreInNoNameAreNotCounted) {
  std::string lines = "0.0";
  for (int line = 1; line <= 100; ++line) lines += ", " + std::to_string(line) + ".5";
  std::string text = "# ";
  for (int dot = 0; dot < 100; ++dot) text += ".";
  text += "\n[mesh]\ncells = [101, 1, 1]\nspacing = [[" + lines +
          ", 200.0], \"uniform\", \"uniform\"]\n";
  text += "[problem]\nsource = '1" + std::string(100, '.') + "'\n";
  text += "exact = \"\"\"\n" + std::string(100, '.') + "\\\"\"\" + 1\"\"\"\n";
  expect_errors(case_errors(text), {});
}

}  // namespace
}  // namespace tessera
