// These tests run cases in time whose solutions are known.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "tests/everywhere.hpp"
#include "tests/src/program.hpp"

namespace tessera::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// u = sin(3 t) (x^2 y + y^2) + x is in the space at every time: all errors are those of steps. Data
// of every kind move with it.
constexpr char kMoving[] =
    "[mesh]\ndimension = 2\ncells = [2, 3]\n[space]\ndegree = 3\n"
    "[problem]\ncoefficient = \"0.5\"\nreaction = \"1\"\ncapacity = \"2\"\n"
    "source = \"(6*cos(3*t) + sin(3*t))*(x^2*y + y^2) - 0.5*sin(3*t)*(2*y + 2) + x\"\n"
    "exact = \"sin(3*t)*(x^2*y + y^2) + x\"\n"
    "[boundary]\nleft = { type = \"dirichlet\", value = \"sin(3*t)*y^2\" }\n"
    "right = { type = \"neumann\", value = \"0.5*(2*sin(3*t)*y + 1)\" }\n"
    "bottom = { type = \"robin\", alpha = \"3\", value = \"-0.5*sin(3*t)*x^2 + 3*x\" }\n"
    "top = { type = \"dirichlet\", value = \"sin(3*t)*(x^2 + 1) + x\" }\n"
    "[time]\nstart = 0.2\nend = 1.0\ninitial = \"sin(0.6)*(x^2*y + y^2) + x\"\n"
    "[solver]\nrelative_tolerance = 1e-12\n[output]\ndirectory = \"out\"\npicture = false\n";

// The same with a form that depends on t and x.
constexpr char kMovingForm[] =
    "[mesh]\ndimension = 2\ncells = [2, 3]\n[space]\ndegree = 3\n"
    "[problem]\ncoefficient = \"1 + t*x\"\nreaction = \"t\"\ncapacity = \"1 + x\"\n"
    "source = \"(1 + x)*3*cos(3*t)*(x^2*y + y^2) - sin(3*t)*((1 + t*x)*(2*y + 2) + t*2*x*y)"
    " - t + t*(sin(3*t)*(x^2*y + y^2) + x)\"\n"
    "exact = \"sin(3*t)*(x^2*y + y^2) + x\"\n"
    "[boundary]\nleft = { type = \"dirichlet\", value = \"sin(3*t)*y^2\" }\n"
    "right = { type = \"neumann\", value = \"(1 + t)*(2*sin(3*t)*y + 1)\" }\n"
    "bottom = { type = \"robin\", alpha = \"3 + t\", "
    "value = \"-(1 + t*x)*sin(3*t)*x^2 + (3 + t)*x\" }\n"
    "top = { type = \"dirichlet\", value = \"sin(3*t)*(x^2 + 1) + x\" }\n"
    "[time]\nstart = 0.2\nend = 1.0\ninitial = \"sin(0.6)*(x^2*y + y^2) + x\"\n"
    "[solver]\nrelative_tolerance = 1e-12\n[output]\ndirectory = \"out\"\npicture = false\n";

// The same where the capacity depends on t, which adds to the source.
std::string with_moving_capacity(std::string text) {
  const auto replace = [&text](const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    if (at != std::string::npos) text.replace(at, from.size(), to);
  };
  replace("capacity = \"2\"", "capacity = \"2 + t\"");
  replace("\"(6*cos(3*t)", "\"(6*cos(3*t) + 3*t*cos(3*t)");
  replace("capacity = \"1 + x\"", "capacity = \"1 + x + t^2\"");
  replace("\"(1 + x)*3*cos", "\"(1 + x + t^2)*3*cos");
  return text;
}

class InTime : public EveryProcessorTest<std::tuple<Processor>> {
 protected:
  ProgramResult run(const std::string& text, std::vector<std::string> more = {}) {
    write_file(path() / "case.toml", text);
    const std::string device = processor() == Processor::cpu ? "cpu" : "cuda";
    more.insert(more.begin(), {"run", "case.toml", "--set", "output.overwrite=true", "--set",
                               "run.device=" + device});
    return run_program(path(), more);
  }
  nlohmann::json result() const { return read_json(path() / "out" / "result.json"); }
  // The largest error at the end with steps of this length.
  double error(const std::string& text, const std::string& method, int order, double step,
               const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"--set", "time.method=" + method,
                                          "--set", fmt::format("time.order={}", order),
                                          "--set", fmt::format("time.step={:.17g}", step)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramResult ran = run(text, arguments);
    EXPECT_EQ(ran.exit_code, 0) << ran.output << ran.errors;
    return ran.exit_code == 0 ? result()["error"]["max"].get<double>() : NAN;
  }
  // Where data move, high orders are reached from below. @param least of the order that is seen
  void expect_order(const std::string& text, const std::string& method, int order, double least,
                    double step, const std::vector<std::string>& more = {}) {
    const double coarse = error(text, method, order, step, more);
    const double fine = error(text, method, order, step / 2, more);
    EXPECT_GT(std::log2(coarse / fine), least)
        << method << " " << order << ": " << coarse << " " << fine;
    EXPECT_LT(fine, 0.02);
  }
  const std::filesystem::path& path() const { return directory_.path(); }

 private:
  TemporaryDirectory directory_;
};

const std::vector<std::string> kJacobi = {"--set", "solver.preconditioner=jacobi"};
const std::vector<std::string> kMapped = {"--set", R"(mesh.map=["x", "y"])", "--set",
                                          "solver.preconditioner=jacobi"};

TEST_P(InTime, MethodsHaveTheirOrders) {
  expect_order(kMoving, "backward-euler", 1, 0.9, 0.02);
  expect_order(kMoving, "sdirk", 2, 1.9, 0.1);
  expect_order(kMoving, "sdirk", 3, 2.6, 0.1);
  expect_order(kMoving, "sdirk", 4, 3.6, 0.05);
}

TEST_P(InTime, ExplicitMethodsHaveTheirOrders) {
  expect_order(kMoving, "explicit-rk", 2, 1.9, 0.004);
  expect_order(kMoving, "explicit-rk", 3, 2.7, 0.004);
}

TEST_P(InTime, MethodsHaveTheirOrdersWhereTheFormMoves) {
  expect_order(kMovingForm, "backward-euler", 1, 0.9, 0.04, kJacobi);
  expect_order(kMovingForm, "sdirk", 2, 1.9, 0.1, kJacobi);
  expect_order(kMovingForm, "sdirk", 3, 2.5, 0.1, kJacobi);
  expect_order(kMovingForm, "sdirk", 4, 2.9, 0.05, kJacobi);
}

TEST_P(InTime, MethodsHaveTheirOrdersOnMappedMeshes) {
  expect_order(kMovingForm, "sdirk", 3, 2.5, 0.1, kMapped);
}

TEST_P(InTime, MethodsHaveTheirOrdersWhereTheCapacityMoves) {
  const std::string of_number = with_moving_capacity(kMoving);
  expect_order(of_number, "backward-euler", 1, 0.9, 0.02);
  expect_order(of_number, "sdirk", 2, 1.9, 0.1);
  expect_order(of_number, "sdirk", 3, 2.6, 0.1);
  expect_order(of_number, "explicit-rk", 2, 1.9, 0.004);
  const std::string of_place = with_moving_capacity(kMovingForm);
  expect_order(of_place, "sdirk", 2, 1.9, 0.1, kJacobi);
  expect_order(of_place, "sdirk", 3, 2.5, 0.1, kMapped);
}

TEST_P(InTime, AdaptiveErrorsFollowTheToleranceWhereTheCapacityMoves) {
  for (const char* method : {"sdirk", "bdf", "explicit-rk"}) {
    const ProgramResult ran =
        run(with_moving_capacity(kMoving),
            {"--set", fmt::format("time.method={}", method), "--set", "time.tolerance=1e-4"});
    ASSERT_EQ(ran.exit_code, 0) << ran.output << ran.errors;
    EXPECT_LT(result()["error"]["l2"].get<double>(), 1e-3) << method;
  }
}

TEST_P(InTime, EveryKernelTakesTheSameSteps) {
  const double reference = error(kMovingForm, "sdirk", 2, 0.1, {"--set", "operator.kernel=csr"});
  for (const char* kernel : {"local", "tensor"}) {
    const double other =
        error(kMovingForm, "sdirk", 2, 0.1, {"--set", fmt::format("operator.kernel={}", kernel)});
    EXPECT_NEAR(other, reference, 1e-7 * reference) << kernel;
  }
  const double constant = error(kMoving, "sdirk", 2, 0.1, {"--set", "operator.kernel=csr"});
  EXPECT_NEAR(error(kMoving, "sdirk", 2, 0.1, {"--set", "operator.kernel=kronecker"}), constant,
              1e-7 * constant);
}

TEST_P(InTime, AdaptiveErrorsFollowTheTolerance) {
  for (const char* method : {"sdirk", "bdf", "explicit-rk", "backward-euler"}) {
    for (const double tolerance : {1e-3, 1e-5}) {
      if (tolerance < 1e-4 && method == std::string("backward-euler")) continue;
      const ProgramResult ran =
          run(kMoving, {"--set", fmt::format("time.method={}", method), "--set",
                        fmt::format("time.tolerance={}", tolerance)});
      ASSERT_EQ(ran.exit_code, 0) << ran.output << ran.errors;
      EXPECT_LT(result()["error"]["l2"].get<double>(), 10.0 * tolerance) << method;
    }
  }
}

TEST_P(InTime, HitsTheTimesOfOutput) {
  const ProgramResult ran =
      run(kMoving, {"--set", "time.output_interval=0.3", "--set", "time.tolerance=1e-4", "--set",
                    "output.probes=[[0.5, 0.5], [1.0, 1.0]]"});
  ASSERT_EQ(ran.exit_code, 0) << ran.output << ran.errors;
  EXPECT_THAT(names_in(path() / "out"),
              ElementsAre("case.toml", "probes.csv", "result.json", "solution.pvd",
                          "solution_0001.vtu", "solution_0002.vtu", "solution_0003.vtu",
                          "solution_0004.vtu", "steps.csv", "timings.csv", "view.py"));
  std::istringstream probes(read_rows(path() / "out" / "probes.csv"));
  std::string line;
  std::getline(probes, line);
  EXPECT_EQ(line, "t,u1,u2,exact1,exact2");
  for (const double t : {0.2, 0.5, 0.8, 1.0}) {
    ASSERT_TRUE(std::getline(probes, line));
    EXPECT_NEAR(std::stod(line), t, 1e-15);
    // A Dirichlet node has its value.
    const double u2 = std::stod(line.substr(line.find(',', line.find(',') + 1) + 1));
    EXPECT_NEAR(u2, std::sin(3.0 * t) * 2.0 + 1.0, 1e-12);
  }
  const auto time = result()["time"];
  EXPECT_EQ(time["outputs"], 4);
  EXPECT_EQ(time["end"], 1.0);
  EXPECT_GT(time["steps"].get<int>(), 5);
  EXPECT_GE(time["max_error"]["max"].get<double>(), result()["error"]["max"].get<double>());
}

TEST_P(InTime, EnergyDecaysWithoutASource) {
  const ProgramResult ran =
      run("[mesh]\ndimension = 2\ncells = [4, 4]\n[space]\ndegree = 2\n[time]\nend = 0.1\n"
          "initial = \"sin(pi*x)*sin(pi*y)\"\noutput_interval = 0.01\nstep = 0.01\n"
          "[output]\ndirectory = \"out\"\nprobes = [[0.5, 0.5]]\n");
  ASSERT_EQ(ran.exit_code, 0) << ran.output << ran.errors;
  std::istringstream probes(read_rows(path() / "out" / "probes.csv"));
  std::string line;
  std::getline(probes, line);
  double before = 1.1;
  for (int n = 0; n <= 10; ++n) {
    ASSERT_TRUE(std::getline(probes, line));
    const double u = std::stod(line.substr(line.find(',') + 1));
    EXPECT_LT(u, before);
    EXPECT_NEAR(u, std::exp(-2.0 * M_PI * M_PI * 0.01 * n), 2e-3);
    before = u;
  }
}

TEST_P(InTime, ABlowUpEndsWithAClearLine) {
  const ProgramResult ran =
      // Steps that are stable whenever they are looked at beforehand.
      run(kMoving,
          {"--set", "time.method=explicit-rk", "--set", "time.order=2", "--set", "time.step=0.005",
           "--set", "time.end=20", "--set", "problem.coefficient=0.5 + 1e4*exp(-(20*(t - 7))^2)"});
  EXPECT_EQ(ran.exit_code, 2) << ran.output;
  EXPECT_THAT(ran.errors, HasSubstr("t = "));
  EXPECT_TRUE(std::filesystem::exists(path() / "out" / "solution_0001.vtu"));
}

TEST_P(InTime, DataThatFailAtALaterTimeKeepWhatThereIs) {
  // The longest that explicit-rk takes is 0.0048.
  for (const auto& [method, length] :
       {std::pair{"sdirk", "0.01"}, std::pair{"explicit-rk", "0.004"}}) {
    for (const char* coefficient : {"0.6 - t", "1 + x - 3*t"}) {
      const ProgramResult ran = run(kMoving, {"--set", fmt::format("time.method={}", method),
                                              "--set", fmt::format("time.step={}", length), "--set",
                                              fmt::format("problem.coefficient={}", coefficient)});
      EXPECT_EQ(ran.exit_code, 2) << ran.errors;
      EXPECT_THAT(ran.errors, HasSubstr("problem.coefficient is"));
      // Said once.
      EXPECT_EQ(ran.errors.find("the integration ended"), ran.errors.rfind("the integration ended"))
          << ran.errors;
      EXPECT_FALSE(result()["solver"]["converged"].get<bool>());
      EXPECT_TRUE(std::filesystem::exists(path() / "out" / "solution_0001.vtu"));
    }
  }
}

TEST_P(InTime, GoesOnWhereTheExactSolutionIsNotKnown) {
  const ProgramResult ran =
      run(kMoving, {"--set", "time.step=0.1", "--set", "time.output_interval=0.3", "--set",
                    "problem.exact=1/(t - 0.5)"});
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(ran.errors, HasSubstr("the exact solution is not known at t = 0.5"));
  EXPECT_EQ(result()["time"]["outputs"], 4);
}

TEST_P(InTime, RepeatsItsBits) {
  const std::vector<std::string> settings = {"--set", "time.step=0.1",
                                             "--set", "output.probes=[[0.3, 0.4]]",
                                             "--set", "run.deterministic=true"};
  ASSERT_EQ(run(kMovingForm, settings).exit_code, 0);
  const std::string first = read_file(path() / "out" / "probes.csv");
  ASSERT_EQ(run(kMovingForm, settings).exit_code, 0);
  EXPECT_EQ(read_file(path() / "out" / "probes.csv"), first);
}

INSTANTIATE_TEST_SUITE_P(Processors, InTime,
                         ::testing::Combine(::testing::ValuesIn(every_processor())),
                         [](const auto& test) { return place_name(std::get<0>(test.param)); });

}  // namespace
}  // namespace tessera::testing
