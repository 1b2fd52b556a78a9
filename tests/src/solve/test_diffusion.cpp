// These tests look at steps in time of cases, on host and GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "src/case/choices.hpp"
#include "src/case/model.hpp"
#include "src/case/setup.hpp"
#include "src/case/time/problem_in_time.hpp"
#include "src/case/time/time_case.hpp"
#include "src/solve/time/diffusion.hpp"
#include "tests/everywhere.hpp"
#include "tests/vectors.hpp"

namespace tessera::testing {
namespace {

struct TimedCase {
  const char* name;
  /// Of [mesh], [space], [problem], [boundary], [time] and [solver].
  const char* text;
};

void PrintTo(const TimedCase& timed, std::ostream* out) { *out << timed.name; }

constexpr char kMap[] =
    "map = [\"x + 0.05*sin(pi*y)\", \"y + 0.04*sin(pi*z)\", \"z + 0.05*sin(pi*x)\"]\n";

const std::vector<TimedCase>& all_cases() {
  static const std::string kCurved = std::string("[mesh]\ncells = [3, 4, 2]\n") + kMap;
  static const std::vector<std::pair<std::string, std::string>> kTexts = {
      {"UniformEuler",
       "[mesh]\ncells = [4, 3, 5]\n[space]\ndegree = 4\n[problem]\nsource = \"1 + x\"\n"
       "[boundary]\nleft = { type = \"dirichlet\", value = \"y\" }\n"
       "[time]\nend = 0.1\nmethod = \"backward-euler\"\norder = 1\nstep = 0.02\n"},
      {"UniformSdirkOfMovingSource",
       "[mesh]\ncells = [4, 3, 5]\n[space]\ndegree = 3\n[problem]\n"
       "source = \"sin(3*x + y)*cos(9*t)\"\ncapacity = \"2\"\n"
       "[boundary]\nleft = { type = \"dirichlet\", value = \"1 + y\" }\n"
       "right = { type = \"neumann\", value = \"x\" }\n"
       "[time]\nend = 0.1\norder = 3\nstep = 0.02\n"},
      {"CurvedSdirk", kCurved +
                          "[space]\ndegree = 3\n[problem]\nsource = \"x - z\"\n"
                          "capacity = \"1 + x*y\"\nreaction = \"2\"\n"
                          "[boundary]\ntop = { type = \"neumann\", value = \"1\" }\n"
                          "[time]\nend = 0.1\norder = 3\nstep = 0.02\ninitial = \"x*(1 - x)\"\n"},
      {"CurvedSdirkOfMovingSource",
       kCurved + "[space]\ndegree = 2\n[problem]\nsource = \"exp(-t)*x\"\n"
                 "[boundary]\ntop = { type = \"dirichlet\", value = \"x\" }\n"
                 "[time]\nend = 0.1\norder = 4\nstep = 0.05\n"},
      {"CurvedSdirkOfMovingData",
       kCurved + "[space]\ndegree = 2\n[problem]\nsource = \"exp(-t)*x\"\n"
                 "coefficient = \"1 + 0.5*sin(t)*x\"\n"
                 "[boundary]\ntop = { type = \"dirichlet\", value = \"x*cos(3*t)\" }\n"
                 "left = { type = \"robin\", value = \"t\", alpha = \"1 + t\" }\n"
                 "[time]\nend = 0.1\norder = 2\nstep = 0.05\n"},
      {"CurvedSdirkOfMovingCapacity",
       kCurved + "[space]\ndegree = 2\n[problem]\nsource = \"x\"\n"
                 "capacity = \"1 + t*x\"\n[time]\nend = 0.1\norder = 3\nstep = 0.05\n"},
      {"CurvedBdf", kCurved +
                        "[space]\ndegree = 3\n[problem]\nsource = \"x - z\"\n"
                        "[time]\nend = 0.05\nmethod = \"bdf\"\norder = 3\ntolerance = 1e-3\n"},
      {"CurvedAdaptiveSdirk", kCurved + "[space]\ndegree = 3\n[problem]\nsource = \"x - z\"\n"
                                        "[time]\nend = 0.05\norder = 3\ntolerance = 1e-3\n"}};
  static const std::vector<TimedCase> kCases = [] {
    std::vector<TimedCase> cases;
    cases.reserve(kTexts.size());
    for (const auto& [name, text] : kTexts) cases.push_back({name.c_str(), text.c_str()});
    return cases;
  }();
  return kCases;
}

CaseParameters parameters_of(const std::string& text, Processor processor,
                             const std::string& kernel) {
  const std::string whole = text + "[operator]\nkernel = \"" + kernel +
                            "\"\n[solver]\nrelative_tolerance = 1e-11\n[run]\ndevice = \"" +
                            (processor == Processor::cpu ? "cpu" : "cuda") + "\"\n";
  CaseParameters parameters = make_case_registry().parse(whole, "case.toml").parameters;
  resolve_choices(parameters);
  return parameters;
}

template <class Space>
HostVector<double> solution_of(const CaseParameters& parameters) {
  const CaseModel model = make_case_model(parameters);
  const ProblemInTime problem(parameters);
  TimerTree timers;
  Diffusion<Space> diffusion(parameters, problem, model.discretization, model.units, timers);
  HostVector<double> u(diffusion.layout());
  interpolate(model, make_initial(parameters), u);
  diffusion.clear_constrained(u);
  Vector<double, Space> w = converted<double, Space>(u);
  const auto integrator = make_time_integrator<Space>(diffusion, time_options(parameters), w);
  const double end = parameters.time->end;
  while (integrator->t() < end) integrator->step(end);
  copy(w, u);
  diffusion.add_dirichlet_values(end, u);
  return u;
}

void expect_near(const HostVector<double>& u, const HostVector<double>& expected,
                 double tolerance) {
  ASSERT_EQ(u.size(), expected.size());
  double largest = 0.0;
  for (const double value : expected.span()) largest = std::max(largest, std::abs(value));
  EXPECT_GT(largest, 0.0);
  for (std::int64_t i = 0; i < u.size(); ++i) {
    ASSERT_NEAR(u[i], expected[i], tolerance * largest) << i;
  }
}

class DiffusionSteps : public ::testing::TestWithParam<TimedCase> {};

TEST_P(DiffusionSteps, AreTheSameOnTheGpu) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    const HostVector<double> expected =
        solution_of<Host>(parameters_of(GetParam().text, Processor::cpu, "tensor"));
    for (const char* kernel : {"tensor", "auto"}) {
      SCOPED_TRACE(kernel);
      const bool adapts =
          !parameters_of(GetParam().text, Processor::cpu, "tensor").time->step.has_value();
      expect_near(solution_of<Device>(parameters_of(GetParam().text, Processor::gpu, kernel)),
                  expected, adapts ? 1e-6 : 1e-8);
    }
  }
}

TEST_P(DiffusionSteps, AreTheSameWithOtherKernels) {
  const CaseParameters parameters = parameters_of(GetParam().text, Processor::cpu, "tensor");
  const HostVector<double> expected = solution_of<Host>(parameters);
  for (const char* kernel : {"auto", "csr"}) {
    SCOPED_TRACE(kernel);
    expect_near(solution_of<Host>(parameters_of(GetParam().text, Processor::cpu, kernel)), expected,
                parameters.time->step ? 1e-8 : 1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, DiffusionSteps, ::testing::ValuesIn(all_cases()),
                         [](const auto& test) { return std::string(test.param.name); });

/// One iteration for a stage by the inverse; without it, by CG with the inverse of something else.
TEST(DiffusionStepsByTheInverse, AreThoseOfCg) {
  const std::string text(all_cases()[1].text);
  const CaseParameters by_inverse = parameters_of(text, Processor::cpu, "auto");
  EXPECT_EQ(by_inverse.solver.preconditioner, kFastDiagonalization);
  CaseParameters by_cg = by_inverse;
  by_cg.solver.preconditioner = "jacobi";
  expect_near(solution_of<Host>(by_inverse), solution_of<Host>(by_cg), 1e-8);
}

}  // namespace
}  // namespace tessera::testing
