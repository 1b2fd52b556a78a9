// These tests run non-linear cases as users do, stationary and in time.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "tests/everywhere.hpp"
#include "tests/src/program.hpp"

namespace tessera::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Nonlinear : public ::testing::Test {
 protected:
  ProgramResult run(const std::string& text, std::vector<std::string> more = {}) {
    write_file(path() / "case.toml", text);
    more.insert(more.begin(),
                {"run", "case.toml", "--set", "output.overwrite=true", "--set", "run.threads=1"});
    return run_program(path(), more);
  }
  nlohmann::json result() const { return read_json(path() / "out" / "result.json"); }
  const std::filesystem::path& path() const { return directory_.path(); }

 private:
  TemporaryDirectory directory_;
};

constexpr char kOutput[] = "[output]\ndirectory = \"out\"\npicture = false\n";

// Kirchhoff's transform u + u^2/2 is linear in x.
constexpr char kSlab[] =
    "[mesh]\ndimension = 2\ncells = [8, 2]\n[space]\ndegree = 3\n"
    "[problem]\ncoefficient = \"1 + u\"\nexact = \"sqrt(1 + 3*x) - 1\"\n"
    "[boundary]\nleft = { type = \"dirichlet\", value = \"0\" }\n"
    "right = { type = \"dirichlet\", value = \"1\" }\n"
    "bottom = { type = \"neumann\" }\ntop = { type = \"neumann\" }\n[nonlinear]\n";

// A residual that is measured by that of a start far away is small long before the solution.
TEST_F(Nonlinear, ConvergesToTheSameFromNearAndFar) {
  const std::string text =
      "[mesh]\ndimension = 2\ncells = [4, 4]\n[space]\ndegree = 3\n"
      "[problem]\ncoefficient = \"1 + u^2\"\nexact = \"x + 2*y\"\nsource = \"-10*(x + 2*y)\"\n"
      "[boundary]\nleft = { value = \"x + 2*y\" }\nright = { value = \"x + 2*y\" }\n"
      "bottom = { value = \"x + 2*y\" }\ntop = { value = \"x + 2*y\" }\n[nonlinear]\n";
  for (const char* method : {"newton", "picard"}) {
    for (const char* start : {"0", "1000", "x + 2*y"}) {
      const ProgramResult ran =
          run(text + kOutput, {"--set", std::string("nonlinear.method=") + method, "--set",
                               std::string("solver.initial=\"") + start + "\""});
      EXPECT_EQ(ran.exit_code, 0) << method << ' ' << start << ran.errors;
      EXPECT_LT(result()["error"]["l2"].get<double>(), 1e-9) << method << ' ' << start;
    }
  }
}

// Multigrid in single precision is given vectors of length 1 by flexible GMRES, whatever u is.
TEST_F(Nonlinear, SolutionsOfAllSizesAreMultiplesOfOne) {
  const auto integral_of = [&](const std::string& size) {
    const ProgramResult ran =
        run(fmt::format("[mesh]\ndimension = 2\ncells = [8, 8]\nmap = [\"x + 0.1*y*y\", \"y\"]\n"
                        "[problem]\ncoefficient = \"1 + (u/{0})^2\"\nsource = \"{0}\"\n"
                        "[solver]\npreconditioner = \"multigrid\"\n[nonlinear]\n",
                        size) +
            kOutput);
    EXPECT_EQ(ran.exit_code, 0) << size << ran.errors;
    EXPECT_THAT(ran.output, HasSubstr("flexible-gmres")) << size;
    return result()["solution"]["integral"].get<double>();
  };
  const double expected = integral_of("1");
  for (const char* size : {"1e-45", "1e45"}) {
    EXPECT_NEAR(integral_of(size) / std::stod(size) / expected, 1.0, 1e-7) << size;
  }
}

TEST_F(Nonlinear, RunsSayHowTheyWereSolved) {
  const ProgramResult ran = run(std::string(kSlab) + kOutput);
  ASSERT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(ran.output,
              AllOf(HasSubstr("nonlinear newton with line search, relative tolerance 1e-10"),
                    HasSubstr("flexible-gmres (auto: newton's matrix is not symmetric"),
                    HasSubstr("iterations of newton (")));
  const auto json = result();
  EXPECT_LT(json["error"]["max"].get<double>(), 2e-7);
  EXPECT_EQ(json["solver"]["converged"], true);
  const auto& nonlinear = json["nonlinear"];
  EXPECT_EQ(nonlinear["method"], "newton");
  EXPECT_EQ(nonlinear["status"], "converged");
  const auto iterations = nonlinear["iterations"].get<std::size_t>();
  EXPECT_EQ(nonlinear["history"].size(), iterations + 1);
  EXPECT_EQ(nonlinear["damping"].size(), iterations);
  EXPECT_EQ(nonlinear["linear_iterations"].size(), iterations);
  int sum = 0;
  for (const auto& count : nonlinear["linear_iterations"]) sum += count.get<int>();
  EXPECT_EQ(json["solver"]["iterations"], sum);
  const std::string residuals = read_file(path() / "out" / "residuals.csv");
  EXPECT_EQ(static_cast<std::size_t>(std::count(residuals.begin(), residuals.end(), '\n')),
            iterations + 2);
  // What was written repeats the run.
  const std::string again = read_file(path() / "out" / "case.toml");
  EXPECT_THAT(again, HasSubstr("method = \"flexible-gmres\""));
  ASSERT_EQ(run(again).exit_code, 0);
  EXPECT_EQ(result()["nonlinear"]["history"], nonlinear["history"]);
  ASSERT_EQ(run(std::string(kSlab) + kOutput, {"--set", "nonlinear.method=picard"}).exit_code, 0);
  EXPECT_EQ(result()["nonlinear"]["method"], "picard");
  EXPECT_LT(result()["error"]["max"].get<double>(), 2e-7);
}

TEST_F(Nonlinear, RunsWithoutASolutionEndWithAClearLine) {
  const std::string beyond =
      std::string("[mesh]\ndimension = 2\ncells = [4, 4]\n[problem]\nsource = \"8*exp(u)\"\n") +
      "[nonlinear]\n" + kOutput;
  for (const char* method : {"newton", "picard"}) {
    const ProgramResult ran = run(beyond, {"--set", fmt::format("nonlinear.method={}", method)});
    EXPECT_EQ(ran.exit_code, 2) << ran.output;
    EXPECT_THAT(ran.errors, AllOf(HasSubstr(fmt::format("tessera: {} did not converge: ", method)),
                                  HasSubstr("tessera: what may help: ")));
    EXPECT_EQ(result()["nonlinear"]["converged"], false);
    EXPECT_NE(result()["nonlinear"]["failure"], "");
    EXPECT_FALSE(result()["nonlinear"]["likely_remedies"].empty());
    EXPECT_THAT(read_file(path() / "out" / "view.py"), HasSubstr("not converged: "));
  }
}

TEST_F(Nonlinear, MistakesOfACaseAreOfItsKeys) {
  const ProgramResult shrinking =
      run(std::string(kSlab) + kOutput, {"--set", "problem.coefficient=0.5 - u"});
  EXPECT_EQ(shrinking.exit_code, 1);
  EXPECT_THAT(shrinking.errors, HasSubstr("problem.coefficient = \"0.5 - u\": is -"));
  const ProgramResult open =
      run(std::string(kSlab) + kOutput, {"--set", "boundary.left={ type = \"neumann\" }", "--set",
                                         "boundary.right={ type = \"neumann\" }"});
  EXPECT_EQ(open.exit_code, 1);
  EXPECT_THAT(open.errors, HasSubstr("leaves the solution open"));
  EXPECT_FALSE(std::filesystem::exists(path() / "out" / "result.json"));
}

TEST_F(Nonlinear, PreconditionersAreForItsSystems) {
  write_file(path() / "case.toml", std::string(kSlab) + kOutput);
  for (const char* command : {"run", "check"}) {
    const ProgramResult ran = run_program(
        path(), {command, "case.toml", "--set", "solver.preconditioner=fast-diagonalization"});
    EXPECT_EQ(ran.exit_code, 1) << command;
    EXPECT_THAT(ran.errors, HasSubstr("takes no coefficient or reaction that depends on u"));
  }
  // The method that newton takes for its own allows another map in every iteration.
  const std::string asynchronous = "solver.preconditioner=block-asynchronous-jacobi";
  EXPECT_EQ(run(std::string(kSlab) + kOutput, {"--set", asynchronous}).exit_code, 0);
  const ProgramResult named = run(std::string(kSlab) + kOutput,
                                  {"--set", asynchronous, "--set", "nonlinear.method=picard"});
  EXPECT_EQ(named.exit_code, 1);
  EXPECT_THAT(named.errors, HasSubstr("with asynchronous sweeps"));
}

// Few iterates are independent where the solution varies along one axis on few cells.
TEST_F(Nonlinear, AccelerationForgetsIteratesThatDependOnEachOther) {
  const std::string text =
      "[mesh]\ndimension = 2\ncells = [2, 8]\n[space]\ndegree = 1\n[problem]\n"
      "coefficient = \"1 + u^2\"\n[boundary]\nright = { type = \"dirichlet\", value = \"1\" }\n"
      "bottom = { type = \"neumann\" }\ntop = { type = \"neumann\" }\n"
      "[nonlinear]\nmethod = \"picard\"\n[solver]\npreconditioner = \"jacobi\"\n";
  const ProgramResult ran = run(text + kOutput);
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_LT(result()["nonlinear"]["iterations"].get<int>(), 20) << result()["nonlinear"].dump();
}

TEST_F(Nonlinear, CasesAreCheckedWhereTheyStart) {
  write_file(path() / "case.toml", kSlab);
  const ProgramResult checked = run_program(path(), {"check", "case.toml"});
  EXPECT_EQ(checked.exit_code, 0) << checked.errors;
  EXPECT_THAT(checked.output,
              AllOf(HasSubstr("nonlinear newton"), HasSubstr("vectors and Jacobian of newton"),
                    HasSubstr("method flexible-gmres (auto: ")));
  const ProgramResult bad =
      run_program(path(), {"check", "case.toml", "--set", "solver.initial=-1"});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.errors, HasSubstr("with u = "));
}

TEST_F(Nonlinear, CasesHaveTheirRates) {
  write_file(path() / "case.toml", kSlab);
  const ProgramResult ran = run_program(
      path(), {"convergence", "case.toml", "--degrees", "2", "--levels", "3", "--csv", "c.csv"});
  EXPECT_EQ(ran.exit_code, 0) << ran.output << ran.errors;
  EXPECT_THAT(ran.output, Not(HasSubstr("left out")));
}

// u = sin(3 t) (x^2 y + y^2) + x is in the space, and 5 points integrate all terms exactly: errors
// are those of steps. Coefficient and source depend on u, and the values on faces on t.
constexpr char kMoving[] =
    "[mesh]\ndimension = 2\ncells = [2, 2]\n[space]\ndegree = 3\npoints = 5\n"
    "[problem]\ncoefficient = \"1 + u\"\ncapacity = \"2\"\n"
    "source = \"6*cos(3*t)*(x^2*y + y^2) - (1 + u)*sin(3*t)*(2*y + 2)"
    " - (2*sin(3*t)*x*y + 1)^2 - sin(3*t)^2*(x^2 + 2*y)^2\"\n"
    "exact = \"sin(3*t)*(x^2*y + y^2) + x\"\n"
    "[boundary]\nleft = { type = \"dirichlet\", value = \"sin(3*t)*y^2\" }\n"
    "right = { type = \"neumann\", "
    "value = \"(2 + sin(3*t)*(y + y^2))*(2*sin(3*t)*y + 1)\" }\n"
    "bottom = { type = \"dirichlet\", value = \"x\" }\n"
    "top = { type = \"dirichlet\", value = \"sin(3*t)*(x^2 + 1) + x\" }\n"
    "[time]\nstart = 0.2\nend = 0.8\ninitial = \"sin(0.6)*(x^2*y + y^2) + x\"\n"
    "[nonlinear]\nrelative_tolerance = 1e-12\n[solver]\npreconditioner = \"jacobi\"\n";

class NonlinearInTime : public Nonlinear {
 protected:
  double error(const std::string& method, int order, double step) {
    const ProgramResult ran =
        run(std::string(kMoving) + kOutput,
            {"--set", "time.method=" + method, "--set", fmt::format("time.order={}", order),
             "--set", fmt::format("time.step={:.17g}", step)});
    EXPECT_EQ(ran.exit_code, 0) << ran.output << ran.errors;
    return ran.exit_code == 0 ? result()["error"]["max"].get<double>() : NAN;
  }
  void expect_order(const std::string& method, int order, double least, double step) {
    const double coarse = error(method, order, step);
    const double fine = error(method, order, step / 2);
    EXPECT_GT(std::log2(coarse / fine), least) << method << ": " << coarse << " " << fine;
    EXPECT_LT(fine, 0.02);
  }
};

TEST_F(NonlinearInTime, MethodsHaveTheirOrders) {
  expect_order("backward-euler", 1, 0.9, 0.05);
  expect_order("sdirk", 2, 1.9, 0.1);
  expect_order("sdirk", 3, 2.5, 0.1);
}

TEST_F(NonlinearInTime, AdaptiveErrorsFollowTheTolerance) {
  for (const char* method : {"bdf", "sdirk"}) {
    const ProgramResult ran =
        run(std::string(kMoving) + kOutput,
            {"--set", fmt::format("time.method={}", method), "--set", "time.tolerance=1e-5"});
    ASSERT_EQ(ran.exit_code, 0) << ran.output << ran.errors;
    EXPECT_LT(result()["error"]["l2"].get<double>(), 1e-4) << method;
    const auto time = result()["time"];
    EXPECT_GE(time["nonlinear_iterations"], time["steps"]);
    std::istringstream steps(read_file(path() / "out" / "steps.csv"));
    std::string line;
    std::getline(steps, line);
    EXPECT_TRUE(line.ends_with(",nonlinear_iterations")) << line;
    int sum = 0;
    while (std::getline(steps, line)) sum += std::stoi(line.substr(line.rfind(',') + 1));
    EXPECT_EQ(time["nonlinear_iterations"], sum);
  }
}

class NonlinearEverywhere : public EveryProcessorTest<std::tuple<Processor>> {
 protected:
  ProgramResult run(const std::string& text, std::vector<std::string> more = {}) {
    write_file(path() / "case.toml", text + kOutput);
    more.insert(more.begin(), {"run", "case.toml", "--set", "output.overwrite=true", "--set",
                               "run.threads=1", "--set", device()});
    return run_program(path(), more);
  }
  static std::string device() {
    return std::string("run.device=") + (processor() == Processor::cpu ? "cpu" : "cuda");
  }
  double error(const std::string& text, const std::string& method, int order, double step) {
    const ProgramResult ran =
        run(text, {"--set", "time.method=" + method, "--set", fmt::format("time.order={}", order),
                   "--set", fmt::format("time.step={:.17g}", step)});
    EXPECT_EQ(ran.exit_code, 0) << ran.output << ran.errors;
    return ran.exit_code == 0 ? result()["error"]["max"].get<double>() : NAN;
  }
  void expect_order(const std::string& text, const std::string& method, int order, double least,
                    double step) {
    const double coarse = error(text, method, order, step);
    const double fine = error(text, method, order, step / 2);
    EXPECT_GT(std::log2(coarse / fine), least) << method << ": " << coarse << " " << fine;
    EXPECT_LT(fine, 0.02);
  }
  nlohmann::json result() const { return read_json(path() / "out" / "result.json"); }
  const std::filesystem::path& path() const { return directory_.path(); }

 private:
  TemporaryDirectory directory_;
};

// The capacity depends on t as well.
std::string with_moving_capacity() {
  std::string text = kMoving;
  const auto replace = [&text](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace("capacity = \"2\"", "capacity = \"2 + t*x\"");
  replace("\"6*cos(3*t)", "\"(6 + 3*t*x)*cos(3*t)");
  return text;
}

TEST_P(NonlinearEverywhere, MethodsInTimeHaveTheirOrders) {
  expect_order(kMoving, "sdirk", 3, 2.5, 0.1);
  expect_order(with_moving_capacity(), "backward-euler", 1, 0.9, 0.05);
  expect_order(with_moving_capacity(), "sdirk", 2, 1.9, 0.1);
}

TEST_P(NonlinearEverywhere, AdaptiveErrorsFollowTheTolerance) {
  for (const char* method : {"bdf", "sdirk"}) {
    const ProgramResult ran =
        run(with_moving_capacity(),
            {"--set", fmt::format("time.method={}", method), "--set", "time.tolerance=1e-5"});
    ASSERT_EQ(ran.exit_code, 0) << ran.output << ran.errors;
    EXPECT_LT(result()["error"]["l2"].get<double>(), 1e-4) << method;
  }
}

TEST_P(NonlinearEverywhere, MistakesAreSaid) {
  const ProgramResult shrinking = run(kSlab, {"--set", "problem.coefficient=0.5 - u"});
  EXPECT_EQ(shrinking.exit_code, 1);
  EXPECT_THAT(shrinking.errors, HasSubstr("problem.coefficient = \"0.5 - u\": is -"));
}

INSTANTIATE_TEST_SUITE_P(Places, NonlinearEverywhere,
                         ::testing::Combine(::testing::ValuesIn(every_processor())),
                         [](const auto& test) { return place_name(std::get<0>(test.param)); });

// Hot spots feed themselves: u is infinite at a finite time.
// The derivative of the coefficient moves with it.
TEST_F(NonlinearInTime, NewtonsMatrixIsThatOfTheTimeInEveryKernel) {
  const std::string text =
      "[mesh]\ndimension = 2\ncells = [4, 4]\n[problem]\nsource = \"1\"\n"
      "coefficient = \"exp(-2*t)*(1 + 5*u^2)\"\n"
      "[boundary]\nleft = { type = \"dirichlet\", value = \"1\" }\n"
      "[time]\nend = 1\nstep = 0.1\n[nonlinear]\n[solver]\npreconditioner = \"jacobi\"\n";
  std::vector<int> iterations;
  for (const char* kernel : {"csr", "tensor"}) {
    const ProgramResult ran =
        run(text + kOutput, {"--set", std::string("operator.kernel=") + kernel});
    ASSERT_EQ(ran.exit_code, 0) << ran.errors;
    iterations.push_back(result()["time"]["nonlinear_iterations"]);
  }
  EXPECT_EQ(iterations[0], iterations[1]);
  EXPECT_LT(iterations[0], 10 * 3 * 6);
}

TEST_F(NonlinearInTime, StagesThatDoNotConvergeAreTheCause) {
  const ProgramResult ran = run(std::string(kMoving) + kOutput,
                                {"--set", "time.step=0.1", "--set", "nonlinear.max_iterations=1"});
  EXPECT_EQ(ran.exit_code, 2);
  const nlohmann::json solver = result()["solver"];
  EXPECT_EQ(solver["status"], "no step");
  EXPECT_THAT(solver["likely_causes"].dump(), HasSubstr("has not converged in 1 iterations"));
}

TEST_F(NonlinearInTime, ABlowUpEndsWithAClearLine) {
  const std::string text =
      "[mesh]\ndimension = 2\ncells = [3, 3]\n[problem]\nsource = \"20*exp(u)\"\n"
      "[time]\nend = 10\nmethod = \"bdf\"\ntolerance = 1e-3\n[nonlinear]\n"
      "[solver]\npreconditioner = \"jacobi\"\n";
  const ProgramResult ran = run(text + kOutput);
  EXPECT_EQ(ran.exit_code, 2) << ran.output;
  EXPECT_THAT(ran.errors, HasSubstr("tessera: the integration ended at t = 0.0"));
  EXPECT_TRUE(std::filesystem::exists(path() / "out" / "solution_0002.vtu"));
  EXPECT_EQ(result()["solver"]["converged"], false);
}

TEST_F(NonlinearInTime, ARestartGoesOnAsIfThereHadBeenNone) {
  const std::string text = std::string(kMoving) + kOutput;
  const std::vector<std::string> steps = {"--set", "time.step=0.1", "--set",
                                          "time.checkpoint_interval=0.1"};
  ASSERT_EQ(run(text, steps).exit_code, 0);
  const auto whole = result();
  std::vector<std::string> half = steps;
  half.insert(half.end(), {"--set", "time.end=0.5"});
  ASSERT_EQ(run(text, half).exit_code, 0);
  const ProgramResult resumed =
      run_program(path(), {"run", "--restart", "out", "--set", "time.end=0.8"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.errors;
  EXPECT_NEAR(result()["error"]["max"].get<double>(), whole["error"]["max"].get<double>(), 1e-9);
  EXPECT_GT(result()["time"]["nonlinear_iterations"], 6);
  const ProgramResult other = run_program(
      path(),
      {"run", "--restart", "out", "--set", "time.end=0.9", "--set", "problem.coefficient=2 + u"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.errors, HasSubstr("[nonlinear]"));
}

}  // namespace
}  // namespace tessera::testing
