// These tests run the program on data that are singular, out of balance or not resolved.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/src/program.hpp"

// Data that are singular, out of balance, or wrong on coarse meshes only: what the program makes of
// them.

namespace tessera::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kNeumannFaces[] =
    "[boundary]\n"
    "left = { type = \"neumann\", value = \"0\" }\nright = { type = \"neumann\", value = \"0\" }\n"
    "bottom = { type = \"neumann\", value = \"0\" }\ntop = { type = \"neumann\", value = \"0\" }\n";

class DoubtfulData : public ::testing::Test {
 protected:
  ProgramResult run(const std::string& text, std::vector<std::string> more = {}) {
    return program("run", text, std::move(more));
  }
  ProgramResult check(const std::string& text) { return program("check", text, {}); }
  nlohmann::json result() const { return read_json(path() / "out/result.json"); }
  /// Of the case and of its solver.
  std::string notes() const {
    return result()["notes"].dump() + result()["solver"]["notes"].dump();
  }
  const std::filesystem::path& path() const { return directory_.path(); }

 private:
  ProgramResult program(const std::string& command, const std::string& text,
                        std::vector<std::string> more) {
    write_file(path() / "case.toml", text);
    more.insert(more.begin(), {command, "case.toml"});
    if (command == "run") more.insert(more.end(), {"--output", "out", "--overwrite"});
    return run_program(path(), more);
  }

  TemporaryDirectory directory_;
};

std::string square(int cells, int degree, const std::string& problem) {
  return "mesh = { dimension = 2, cells = [" + std::to_string(cells) + ", " +
         std::to_string(cells) + "] }\nspace = { degree = " + std::to_string(degree) +
         " }\nproblem = { " + problem + " }\noutput = { vtk = false }\n";
}

std::string solver(const std::string& keys) { return "solver = { " + keys + " }\n"; }

TEST_F(DoubtfulData, OutOfBalanceAreRefusedHoweverTheyOscillate) {
  const std::string text = square(32, 4, "source = \"1 + 5000*sin(2*pi*x)\"") +
                           solver("preconditioner = \"multigrid\"") + kNeumannFaces;
  const ProgramResult ran = run(text);
  EXPECT_EQ(ran.exit_code, 1) << ran.output;
  EXPECT_THAT(ran.errors, AllOf(HasSubstr("problem.source"), HasSubstr("source is 1, "),
                                HasSubstr("it is 1 (give or take")));
  EXPECT_FALSE(std::filesystem::exists(path() / "out/result.json"));
  EXPECT_EQ(check(text).exit_code, 1);
}

TEST_F(DoubtfulData, OutOfBalanceByQuadratureAreBalancedAndThatIsOnRecord) {
  const std::string text = square(16, 2, "source = \"sin(16*pi*x)^2 - 0.5\"") +
                           solver("preconditioner = \"jacobi\"") + kNeumannFaces;
  const ProgramResult ran = run(text, {"--quiet"});
  ASSERT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_EQ(ran.output, "");
  EXPECT_THAT(notes(), AllOf(HasSubstr("taken off the source"), HasSubstr("mean 0")));
  EXPECT_THAT(run(text).output, HasSubstr("note      Neumann faces only: "));
}

// The coarse levels' quadrature does not see that the data balance.
TEST_F(DoubtfulData, OutOfBalanceOnCoarseLevelsDoNotEndFullMultigrid) {
  const ProgramResult ran =
      run(square(32, 2, "source = \"sin(16*pi*x)^2 - 0.5\"") +
          solver("preconditioner = \"multigrid\", initial = \"full-multigrid\"") + kNeumannFaces);
  ASSERT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_LT(std::abs(result()["solution"]["integral"].get<double>()), 1e-12);
}

TEST_F(DoubtfulData, AlphaThatIsZeroEverywhereIsPureNeumannHoweverItIsWritten) {
  const std::string left = "left = { type = \"neumann\", value = \"0\" }";
  for (const std::string alpha : {"0", "0*x", "max(0, x - 2)"}) {
    std::string faces = kNeumannFaces;
    faces.replace(faces.find(left), left.size(),
                  "left = { type = \"robin\", alpha = \"" + alpha + "\", value = \"0\" }");
    for (const std::string keys :
         {"initial = \"7\"", "initial = \"7\", preconditioner = \"jacobi\"",
          "initial = \"7\", preconditioner = \"multigrid\"",
          "initial = \"7\", preconditioner = \"chebyshev\"",
          "initial = \"7\", preconditioner = \"fast-diagonalization\"",
          "initial = \"full-multigrid\", preconditioner = \"multigrid\""}) {
      const ProgramResult ran = run(square(16, 2, "source = \"cos(pi*x)\"") + solver(keys) + faces);
      ASSERT_EQ(ran.exit_code, 0) << alpha << ", " << keys << ": " << ran.errors;
      EXPECT_LT(std::abs(result()["solution"]["integral"].get<double>()), 1e-9) << keys;
      EXPECT_NEAR(result()["solution"]["max"].get<double>(), 0.10132, 1e-4) << keys;
      EXPECT_THAT(notes(), HasSubstr("alpha is 0 at all points of the Robin faces"));
    }
    const ProgramResult unbalanced =
        run(square(16, 2, "source = \"1 + cos(pi*x)\"") + solver("initial = \"7\"") + faces);
    EXPECT_EQ(unbalanced.exit_code, 1) << alpha;
  }
}

// What coarse levels do not see of alpha is no reason to take the problem for another one: u = 1.
TEST_F(DoubtfulData, AlphaWithALittleSupportFixesTheSolution) {
  for (const std::string keys :
       {"preconditioner = \"none\", max_iterations = 5000", "preconditioner = \"multigrid\"",
        "preconditioner = \"multigrid\", initial = \"full-multigrid\"",
        "preconditioner = \"fast-diagonalization\""}) {
    const ProgramResult ran = run(
        square(64, 1, "source = \"0\", exact = \"1\"") + solver(keys) +
        "[boundary]\nleft = { type = \"robin\", alpha = \"max(0, y - 0.99)\", value = \"max(0, y - "
        "0.99)\" }\nright = { type = \"neumann\", value = \"0\" }\n"
        "bottom = { type = \"neumann\", value = \"0\" }\ntop = { type = \"neumann\", value = \"0\" "
        "}\n");
    ASSERT_EQ(ran.exit_code, 0) << keys << ": " << ran.errors;
    EXPECT_LT(result()["error"]["max"].get<double>(), 1e-4) << keys;
    EXPECT_THAT(notes(), Not(HasSubstr("mean 0"))) << keys;
  }
}

// Rounding of K u must not be a reaction term that counts beside a small alpha: u = 100, whose own
// rounding leaves a residual of about 0.1 ||b||.
TEST_F(DoubtfulData, SmallAlphaFixesTheSolutionInSinglePrecision) {
  std::string faces = kNeumannFaces;
  const std::string left = "left = { type = \"neumann\", value = \"0\" }";
  faces.replace(faces.find(left), left.size(),
                "left = { type = \"robin\", alpha = \"0.01\", value = \"1\" }");
  const std::string text =
      square(64, 4, "source = \"0\"") +
      solver("preconditioner = \"fast-diagonalization\", relative_tolerance = 0.5") +
      "operator = { kernel = \"kronecker\", precision = \"single\" }\n" + faces;
  for (const std::string upper : {"mesh.upper=[1, 1]", "mesh.upper=[1, 0.3]"}) {
    const ProgramResult ran = run(text, {"--set", upper});
    ASSERT_EQ(ran.exit_code, 0) << upper << ": " << ran.errors;
    EXPECT_TRUE(result()["solver"]["converged"].get<bool>()) << upper;
    EXPECT_NEAR(result()["solution"]["min"].get<double>(), 100.0, 1.0) << upper;
    EXPECT_NEAR(result()["solution"]["max"].get<double>(), 100.0, 1.0) << upper;
  }
}

TEST_F(DoubtfulData, ResidualsThatHideTheRowsOfSmallCoefficientsAreNoted) {
  // The values at x = 1 make b large where the coefficient is.
  const auto text = [](const char* coefficient, const char* preconditioner) {
    return square(8, 3,
                  fmt::format("coefficient = \"{}\", source = \"pi^2*(x - 0.5)*cos(pi*y)\", "
                              "exact = \"(x - 0.5)*(x < 0.5 ? 1 : 1e-8)*cos(pi*y) + 1\"",
                              coefficient)) +
           solver(fmt::format("preconditioner = \"{}\"", preconditioner)) +
           "[boundary]\nleft = { type = \"dirichlet\", value = \"1 - 0.5*cos(pi*y)\" }\n"
           "right = { type = \"dirichlet\", value = \"1 + 0.5e-8*cos(pi*y)\" }\n"
           "bottom = { type = \"neumann\" }\ntop = { type = \"neumann\" }\n";
  };
  constexpr char kNote[] = "not in rows where the coefficient is: there u may be wrong by about 1 ";
  constexpr char kContrast[] = "x < 0.5 ? 1 : 1e8";
  ProgramResult ran = run(text(kContrast, "none"));
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr(kNote));
  EXPECT_THAT(notes(), HasSubstr(kNote));
  EXPECT_GT(result()["error"]["max"].get<double>(), 0.1);
  ran = run(text(kContrast, "multigrid"));
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(notes(), Not(HasSubstr("may be wrong")));
  EXPECT_LT(result()["error"]["max"].get<double>(), 1e-5);
  ran = run(text("x < 0.5 ? 1 : 10", "none"));
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(notes(), Not(HasSubstr("may be wrong")));
}

TEST_F(DoubtfulData, NegativeAlphaIsRefusedWithItsPlace) {
  const ProgramResult ran =
      run(square(4, 2, "source = \"1\"") +
          "[boundary]\nleft = { type = \"robin\", alpha = \"y - 0.5\", value = \"0\" }\n");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.errors, AllOf(HasSubstr("boundary.left.alpha"), HasSubstr("at (0, 0.0"),
                                HasSubstr("at least 0 and finite")));
}

// With 26 cells the middle is a grid line, with 13 a quadrature point, but for rounding.
TEST_F(DoubtfulData, WrongOnCoarseLevelsOnlyCutTheHierarchyShort) {
  const std::string mesh =
      "mesh = { dimension = 2, cells = [26, 26], lower = [-13.0, -13.0], upper = [13.0, 13.0] }\n"
      "space = { degree = 2 }\noutput = { vtk = false }\n";
  const std::string multigrid = solver("preconditioner = \"multigrid\"");
  for (const std::string problem : {"coefficient = \"abs(x) < 1e-9 ? 1/0 : 1/sqrt(x^2 + y^2)\"",
                                    "coefficient = \"abs(x) < 1e-9 ? 0 : abs(x)\"",
                                    "coefficient = \"abs(x) < 1e-9 ? -1 : 1 + 0.01*x*y/169\"",
                                    "coefficient = \"abs(x) < 1e-9 ? 0/0 : 2 + x*y/169\""}) {
    const std::string text = mesh + "problem = { " + problem + ", source = \"1\" }\n";
    const ProgramResult ran = run(text + multigrid);
    ASSERT_EQ(ran.exit_code, 0) << problem << ran.errors;
    EXPECT_THAT(notes(), HasSubstr("no coarser meshes, as the coefficient or alpha")) << problem;
    const std::size_t levels = result()["solver"]["levels"].size();
    const double max = result()["solution"]["max"].get<double>();
    EXPECT_THAT(check(text + multigrid).output,
                HasSubstr("multigrid will have the first " + std::to_string(levels) + " of"));
    ASSERT_EQ(run(text + solver("preconditioner = \"jacobi\", max_iterations = 5000")).exit_code,
              0);
    EXPECT_NEAR(result()["solution"]["max"].get<double>(), max, 1e-5 * max) << problem;
  }
}

// The centers of cells are not the operator's points.
TEST_F(DoubtfulData, WrongInTheMiddleOfACellDoNotEndFastDiagonalization) {
  for (const std::string problem :
       {"coefficient = \"1/sqrt(x^2 + y^2)\"", "coefficient = \"sqrt(x^2 + y^2)\""}) {
    const ProgramResult ran = run(
        "mesh = { dimension = 2, cells = [13, 13], lower = [-13.0, -13.0], upper = [13.0, 13.0] }\n"
        "space = { degree = 1 }\noutput = { vtk = false }\nproblem = { " +
        problem + ", source = \"1\" }\n" + solver("preconditioner = \"fast-diagonalization\""));
    EXPECT_EQ(ran.exit_code, 0) << problem << ran.errors;
  }
}

TEST_F(DoubtfulData, WrongInCoarseLoadsOnlyLetFullMultigridStartOnAFinerLevel) {
  const std::string text =
      "mesh = { dimension = 2, cells = [26, 26], lower = [-13.0, -13.0], upper = [13.0, 13.0] }\n"
      "space = { degree = 2 }\noutput = { vtk = false }\n"
      "problem = { source = \"abs(x) < 1e-9 ? 1/0 : 1/sqrt(x^2 + y^2)\" }\n" +
      solver("preconditioner = \"multigrid\", initial = \"full-multigrid\"");
  const ProgramResult ran = run(text);
  ASSERT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("note      full multigrid starts on level 0, as source"));
  EXPECT_THAT(notes(), HasSubstr("full multigrid starts on level 0"));
}

TEST_F(DoubtfulData, EquidistantNodesOfHighDegreeAreNoted) {
  const std::string text =
      "mesh = { dimension = 2, cells = [1, 1] }\noutput = { vtk = false }\n"
      "problem = { source = \"1\" }\nspace = { degree = 16, nodes = \"equidistant\" }\n" +
      solver("preconditioner = \"fast-diagonalization\", relative_tolerance = 1e-5");
  const std::string expected = "equidistant nodes at degree 16 lose at least 6 of 16 digits in 2D";
  const ProgramResult ran = run(text);
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("note      " + expected));
  EXPECT_THAT(notes(), HasSubstr(expected));
  EXPECT_THAT(check(text).output, HasSubstr("note: " + expected));
}

TEST_F(DoubtfulData, EquidistantNodesOfHighDegreeAreWhatASolverFailsOf) {
  for (const char* const degree : {"13", "32"}) {
    const ProgramResult ran =
        run(std::string("mesh = { dimension = 2, cells = [2, 2] }\noutput = { vtk = false }\n"
                        "problem = { source = \"1\" }\nspace = { nodes = \"equidistant\", degree "
                        "= ") +
            degree + " }\n" + solver("preconditioner = \"multigrid\", max_iterations = 50"));
    EXPECT_EQ(ran.exit_code, 2) << degree;
    EXPECT_THAT(ran.errors, HasSubstr("likely cause: equidistant nodes at degree ")) << degree;
    EXPECT_THAT(ran.errors, HasSubstr("space.nodes = \"gauss-lobatto\""));
  }
}

// Entries of order 1e40, which are infinite in single precision, are of order 1 in natural units.
// That numbers which are not finite do not agree, tests of relative_difference() say.
TEST_F(DoubtfulData, StrategiesAgreeInUnitsBeyondSinglePrecision) {
  write_file(path() / "study.toml",
             "title = \"huge\"\nstudy = { kernels = [\"csr\", \"tensor\"], scatters = "
             "[\"coloring\"], degrees = [2], dimensions = [3], dofs = [1000], geometry = "
             "[\"mapped\"], precision = [\"single\"], map = [\"1e40*x\", \"1e40*y\", \"1e40*z\"], "
             "output = \"out.csv\", repetitions = 1 }\n");
  const ProgramResult ran = run_program(path(), {"compare", "study.toml"});
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(read_file(path() / "out.csv"),
              AllOf(HasSubstr(",agrees"), Not(HasSubstr(",not finite"))));
}

}  // namespace
}  // namespace tessera::testing
