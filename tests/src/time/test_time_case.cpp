// These tests hold cases in time to what their table says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cases/problem/natural_units.hpp"
#include "operators/form/form_shape.hpp"
#include "solvers/memory/device.hpp"
#include "src/case/choices.hpp"
#include "src/case/fields.hpp"
#include "src/case/memory/case_sizes.hpp"
#include "src/case/memory/memory_estimate.hpp"
#include "src/case/model.hpp"
#include "src/case/setup.hpp"
#include "src/case/shape.hpp"
#include "src/case/time/time_case.hpp"
#include "src/parameters/messages/diagnostics.hpp"

namespace tessera::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A case in 2D that ends at time 1; more keys of [time] and [problem].
CaseParameters case_of(const std::string& time, const std::string& problem = "") {
  return make_case_registry()
      .parse("[mesh]\ndimension = 2\ncells = [4, 3]\n[problem]\n" + problem + "[time]\nend = 1\n" +
                 time,
             "case.toml")
      .parameters;
}

CaseParameters stationary(CaseParameters parameters) {
  parameters.time.reset();
  return parameters;
}

std::string errors_of(const std::string& time, const std::string& problem = "") {
  try {
    case_of(time, problem);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

double value_at(const ScalarField& field, double x, double y) {
  const double z = 0.0;
  double value = 0.0;
  field.evaluate({1, &x, &y, &z}, &value);
  return value;
}

std::vector<double> times_of(double start, double end, std::optional<double> interval) {
  TimeParameters time;
  time.start = start;
  time.end = end;
  time.output_interval = interval;
  return output_times(time);
}

TEST(OutputTimes, AreStartWholeIntervalsAndEnd) {
  EXPECT_THAT(times_of(-1.0, 2.0, std::nullopt), ElementsAre(-1.0, 2.0));
  EXPECT_THAT(times_of(1.0, 2.0, 0.25), ElementsAre(1.0, 1.25, 1.5, 1.75, 2.0));
  EXPECT_THAT(times_of(0.0, 1.0, 0.75), ElementsAre(0.0, 0.75, 1.0));
  EXPECT_THAT(times_of(0.0, 1.0, 5.0), ElementsAre(0.0, 1.0));
}

TEST(OutputTimes, DoNotRepeatTheEndForRounding) {
  for (const int n : {3, 7, 10, 49, 1000, 1'000'000}) {
    const std::vector<double> times = times_of(0.1, 0.3, 0.2 / n);
    EXPECT_EQ(times.size(), static_cast<std::size_t>(n) + 1);
    EXPECT_EQ(times.back(), 0.3);
    EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
  }
}

TEST(TimeText, SaysWhenHowAndWhatIsWritten) {
  EXPECT_EQ(time_text(*case_of("output_interval = 0.1\n").time),
            "0 to 1, sdirk of order 3, steps by tolerance 0.0001, output every 0.1 (11 times)");
  EXPECT_EQ(time_text(*case_of("start = 0.5\nmethod = \"backward-euler\"\nstep = 0.01\n").time),
            "0.5 to 1, backward-euler, steps of 0.01, output at start and end");
  EXPECT_THAT(time_text(*case_of("method = \"bdf\"\ntolerance = 1e-6\n").time),
              HasSubstr("bdf of orders up to 5, steps by tolerance 1e-06"));
}

TEST(TimeCase, StartsFromItsInitialValues) {
  const ScalarField initial = make_initial(case_of("initial = \"x - 2*y\"\n"));
  EXPECT_EQ(value_at(initial, 0.5, 0.25), 0.0);
  EXPECT_EQ(value_at(initial, 3.0, 1.0), 1.0);
}

TEST(TimeCase, ExpressionsAreChecked) {
  EXPECT_THAT(errors_of("initial = \"q\"\n"), HasSubstr("time.initial = \"q\": unknown name"));
  EXPECT_THAT(errors_of("", "capacity = \"0\"\n"),
              HasSubstr("problem.capacity = \"0\": is 0; it must be positive"));
  EXPECT_THAT(errors_of("", "capacity = \"1 +\"\n"), HasSubstr("problem.capacity = \"1 +\": "));
  const PoissonProblem problem = make_problem(case_of("", "capacity = \"x\"\n"));
  EXPECT_EQ(value_at(problem.capacity, 2.0, 0.0), 2.0);
  EXPECT_THROW(value_at(problem.capacity, -1.0, 0.0), BadExpressionValue);
}

TEST(TimeCase, CapacityHasTheUnitOfTheReaction) {
  CaseParameters parameters = case_of("", "coefficient = 1e-9\ncapacity = \"5*x\"\n");
  parameters.problem.reaction = parameters.problem.capacity;
  parameters.mesh.upper = {1e3, 1e3};
  const CaseModel model = make_case_model(parameters);
  EXPECT_NE(model.units.source(), 1.0);
  const double capacity = value_at(model.problem.capacity, 0.25, 0.25);
  EXPECT_EQ(capacity, value_at(model.problem.reaction, 0.25, 0.25));
  EXPECT_GT(capacity, 0.0);
}

TEST(TimeCase, ShapeIsThatOfAStep) {
  EXPECT_EQ(case_shape(stationary(case_of(""))).reaction, ReactionKind::none);
  EXPECT_EQ(case_shape(case_of("")).reaction, ReactionKind::constant);
  EXPECT_EQ(case_shape(case_of("", "reaction = \"2\"\n")).reaction, ReactionKind::constant);
  EXPECT_EQ(case_shape(case_of("", "reaction = \"x\"\n")).reaction, ReactionKind::varying);
  EXPECT_EQ(case_shape(case_of("", "capacity = \"1 + x\"\n")).reaction, ReactionKind::varying);
  // As the form of a step.
  for (const char* problem : {"", "capacity = \"1 + x\"\n", "coefficient = \"exp(x)\"\n"}) {
    const CaseParameters parameters = case_of("", problem);
    CaseModel model = make_case_model(parameters);
    model.problem.reaction = model.problem.capacity;
    const BilinearForm form = stiffness_form(model.problem, model.discretization);
    const FormShape expected = form_shape(form, Processor::cpu, sizeof(double));
    const FormShape found = case_shape(parameters);
    EXPECT_EQ(found.reaction, expected.reaction) << problem;
    EXPECT_EQ(found.coefficient, expected.coefficient) << problem;
  }
}

TEST(TimeCase, ChoicesAreThoseOfAStep) {
  const auto preconditioner = [](const CaseParameters& parameters) {
    const ChosenValue chosen = choose_preconditioner(parameters);
    return chosen.value + ": " + chosen.reason;
  };
  EXPECT_EQ(preconditioner(case_of("")), "fast-diagonalization: it is the inverse of the operator");
  EXPECT_EQ(preconditioner(case_of("", "capacity = \"1 + x\"\n")),
            "multigrid: the capacity or the reaction varies");
  EXPECT_EQ(preconditioner(case_of("", "coefficient = \"1 + x\"\n")),
            "multigrid: there is a capacity beside a coefficient that varies");
  EXPECT_THAT(errors_of("[operator]\nkernel = \"kronecker\"\n", "coefficient = \"1 + x\"\n"),
              HasSubstr("a time step has the reaction capacity / (gamma dt) + reaction"));
}

TEST(TimeCase, VectorsAreThoseOfTheMethod) {
  EXPECT_EQ(time_vectors(stationary(case_of(""))), 0);
  EXPECT_EQ(time_vectors(case_of("order = 2\n")), 15);
  EXPECT_EQ(time_vectors(case_of("order = 3\n")), 16);
  EXPECT_EQ(time_vectors(case_of("order = 4\n")), 18);
  EXPECT_EQ(time_vectors(case_of("step = 0.1\n")), 6);
  EXPECT_EQ(time_vectors(case_of("method = \"backward-euler\"\nstep = 0.1\n")), 3);
  EXPECT_EQ(time_vectors(case_of("method = \"backward-euler\"\n")), 14);
  EXPECT_EQ(time_vectors(case_of("method = \"bdf\"\n")), 14);
  EXPECT_EQ(time_vectors(case_of("method = \"bdf\"\norder = 1\n")), 10);
  EXPECT_EQ(time_vectors(case_of("method = \"explicit-rk\"\norder = 4\n")), 13);
  EXPECT_EQ(time_vectors(case_of("method = \"explicit-rk\"\norder = 4\nstep = 0.1\n")), 11);
}

// Vectors of a million cells.
CaseParameters large_case(RunDevice device) {
  CaseParameters parameters = case_of("", "exact = \"x\"\n");
  parameters.mesh.cells = {1000, 1000};
  parameters.output.picture = false;
  parameters.run.device = device;
  resolve_choices(parameters);
  return parameters;
}

Index vector_bytes(const CaseParameters& parameters) {
  return NodeLattice(make_box_mesh(parameters), 2).size() * Index{sizeof(double)};
}

Index phase(const MemoryEstimate& estimate, const std::string& name) {
  const auto found =
      std::find_if(estimate.phases.begin(), estimate.phases.end(),
                   [&](const MemoryPhase& candidate) { return candidate.name == name; });
  return found == estimate.phases.end() ? Index{0} : found->bytes();
}

TEST(TimeCase, MemoryHasTheMassMatrixAndTheVectorsOfSteps) {
  const CaseParameters parameters = large_case(RunDevice::cpu);
  const MemoryEstimate in_time = estimate_memory(parameters, case_strategy(parameters));
  const MemoryEstimate without = estimate_memory(stationary(parameters), case_strategy(parameters));
  const Index vector = vector_bytes(parameters);
  EXPECT_GT(phase(in_time, "solving"), phase(without, "solving") + 15 * vector);
  EXPECT_GT(phase(in_time, "making the mass matrix"), 0);
  EXPECT_EQ(phase(without, "making the mass matrix"), 0);
  for (const char* output : {"evaluating errors", "writing solution.vtu"}) {
    EXPECT_GT(phase(in_time, output), phase(without, output) + 15 * vector) << output;
  }
}

TEST(TimeCase, StepsOnTheGpuHoldTheirMemoryThere) {
  if (!kHasCuda) GTEST_SKIP() << "this build computes on the CPU only";
  const CaseParameters parameters = large_case(RunDevice::cuda);
  const CaseParameters other = stationary(parameters);
  const StrategyName strategy = case_strategy(parameters);
  const MemoryEstimate in_time = estimate_gpu_memory(parameters, strategy);
  const MemoryEstimate without = estimate_gpu_memory(other, strategy);
  const Index vector = vector_bytes(parameters);
  for (const char* name : {"solving on the GPU", "evaluating the solution on the GPU"}) {
    EXPECT_GT(phase(in_time, name), phase(without, name) + 15 * vector) << name;
  }
  EXPECT_GT(phase(in_time, "making the mass matrix on the GPU"), 0);
  EXPECT_LT(phase(estimate_memory(parameters, strategy), "solving"),
            phase(estimate_memory(other, strategy), "solving") + vector);
}

}  // namespace
}  // namespace tessera::testing
