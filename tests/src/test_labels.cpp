// These tests check that runs and studies use what their labels say.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "mesh/threads_in_use.hpp"
#include "operators/cells/cell_kernel_limits.hpp"
#include "src/case/choices.hpp"
#include "src/case/setup.hpp"
#include "src/case/shape.hpp"
#include "src/case/strategy_names.hpp"
#include "src/solve/solve.hpp"
#include "src/study/measurement.hpp"
#include "tests/device_test.hpp"

namespace tessera::testing {
namespace {

std::string case_text(int dimension, int degree, const std::string& map, const std::string& more) {
  return fmt::format("[mesh]\ndimension = {}\ncells = [2, 2{}]\n{}[space]\ndegree = {}\n{}",
                     dimension, dimension == 3 ? ", 1" : "",
                     map.empty() ? "" : "map = [" + map + "]\n", degree, more);
}

// The name of the operator that solve() makes for the case, and what `run` and `check` print of it.
void expect_label(CaseParameters parameters, std::set<std::string>& seen) {
  resolve_choices(parameters);
  const Discretization discretization = make_discretization(parameters);
  const PoissonProblem problem = make_problem(parameters);
  const BilinearForm form = stiffness_form(problem, discretization);
  LinearSystem system = make_linear_system(problem, discretization, constant_field(0.0));
  TimerTree timers;
  { const auto setup = timers.scope("setup"); }
  const SolveListeners listeners{[](int, double) { return Continue::yes; },
                                 [](const auto&, const auto&) {}};
  const SolveOutcome outcome = solve(parameters, problem, form, system, timers, listeners);
  EXPECT_EQ(outcome.operator_name, case_strategy(parameters).text());
  seen.insert(outcome.operator_name);
}

// Every strategy with every form of the factors, or the one that auto takes.
std::set<std::string> labels_of_runs(RunDevice device) {
  const Processor processor = device == RunDevice::cuda ? Processor::gpu : Processor::cpu;
  std::set<std::string> seen;
  for (const int dimension : {2, 3}) {
    const std::string maps[] = {
        "", dimension == 3 ? R"("x", "y + 0.1*x*x", "z")" : R"("x", "y + 0.1*x*x")"};
    for (const std::string& map : maps) {
      for (const int degree : {1, 2}) {
        for (const Precision precision :
             {Precision::double_precision, Precision::single_precision}) {
          CaseParameters parameters =
              make_case_registry()
                  .parse(case_text(dimension, degree, map, "[problem]\nsource = \"1\"\n"),
                         "case.toml")
                  .parameters;
          parameters.operation.precision = precision;
          parameters.solver.relative_tolerance = 1e-4;
          parameters.run.device = device;
          for (const StrategyName& strategy : all_strategies(processor)) {
            parameters.operation.kernel = strategy.kernel;
            parameters.operation.scatter = strategy.scatter;
            const ScatterInfo* row = find_scatter(strategy.scatter);
            if (row != nullptr && row->use == ScatterUse::comparison) continue;
            for (const FactorsChoice choice :
                 {FactorsChoice::automatic, FactorsChoice::stored, FactorsChoice::compressed,
                  FactorsChoice::on_the_fly}) {
              parameters.operation.factors = choice;
              const FormShape shape = case_shape(parameters);
              if (storage_of(choice) && !has_factor_storages(strategy.kernel, shape)) continue;
              if (!why_unsuitable(case_strategy(parameters), shape).empty()) continue;
              SCOPED_TRACE(fmt::format("{}D, degree {}, {}, {}", dimension, degree, strategy.text(),
                                       name_of(choice)));
              expect_label(parameters, seen);
            }
          }
        }
      }
    }
  }
  return seen;
}

TEST(RunLabels, AreWhatRuns) {
  const ThreadsInUse one(1);
  const std::set<std::string> seen = labels_of_runs(RunDevice::cpu);
  for (const char* label :
       {"csr", "kronecker", "local/private", "tensor/serial", "tensor/atomic, stored",
        "tensor/coloring, on-the-fly", "tensor/coloring, compressed", "stencil"}) {
    EXPECT_TRUE(seen.contains(label)) << label;
  }
}

TEST(DeviceRunLabels, AreWhatRuns) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    const std::set<std::string> seen = labels_of_runs(RunDevice::cuda);
    for (const char* label : {"local-thread/atomic", "tensor/patch", "tensor/patch, stored",
                              "tensor/atomic, compressed", "stencil"}) {
      EXPECT_TRUE(seen.contains(label)) << label;
    }
  }
}

// What a study prints and writes of a strategy is what was measured.
std::set<std::string> labels_of_studies(RunDevice device) {
  StudyParameters study;
  study.device = device;
  study.kernels.clear();
  for (const KernelInfo& kernel : kernel_table()) study.kernels.emplace_back(kernel.name);
  study.scatters.clear();
  for (const ScatterInfo& row : scatter_table()) study.scatters.emplace_back(row.name);
  study.degrees = {1, 9};
  study.threads = {1};
  study.dimensions = {2, 3};
  study.dofs = {100};
  study.geometry = {StudyGeometry::uniform, StudyGeometry::mapped};
  study.factors = {FactorsChoice::automatic, FactorsChoice::stored, FactorsChoice::compressed,
                   FactorsChoice::on_the_fly};
  study.precision = {Precision::double_precision, Precision::single_precision};
  study.applications = 1;
  study.repetitions = 1;
  std::set<std::string> seen;
  const StudyRanks ranks;
  for (const StudyProblem& problem : study_problems(study)) {
    Bench bench(study, problem, ranks);
    std::set<std::string> texts;
    for (const StrategyName& strategy : study_strategies(study, problem)) {
      SCOPED_TRACE(
          fmt::format("{}D, degree {}, {}", problem.dimension, problem.degree, strategy.text()));
      EXPECT_TRUE(texts.insert(strategy.text()).second) << "listed twice";
      const Measurement m = bench.measure(strategy, Index{1} << 34);
      EXPECT_TRUE(m.fits || !m.unsuitable.empty());
      EXPECT_EQ(m.operator_name, m.unsuitable.empty() ? strategy.text() : "");
      if (m.unsuitable.empty()) seen.insert(m.operator_name);
    }
  }
  return seen;
}

TEST(StudyLabels, AreWhatIsMeasured) {
  const std::set<std::string> seen = labels_of_studies(RunDevice::cpu);
  for (const char* label : {"csr", "kronecker", "local/private", "tensor/serial",
                            "tensor/atomic, stored", "tensor/atomic, compressed", "stencil"}) {
    EXPECT_TRUE(seen.contains(label)) << label;
  }
}

TEST(StudyStrategies, HaveStoragesOfFactorsInTheOrderOfTheStudy) {
  StudyParameters study;
  study.kernels = {"tensor"};
  study.scatters = {"atomic"};
  study.factors = {FactorsChoice::on_the_fly, FactorsChoice::automatic, FactorsChoice::compressed};
  const StudyProblem problem{3, StudyGeometry::mapped, 1000, 2, Precision::double_precision, 1};
  const std::vector<StrategyName> strategies = study_strategies(study, problem);
  ASSERT_EQ(strategies.size(), 2U);
  EXPECT_EQ(strategies[0].text(), "tensor/atomic, on-the-fly");
  EXPECT_EQ(strategies[1].text(), "tensor/atomic, compressed");
}

TEST(DeviceStudyLabels, AreWhatIsMeasured) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    const std::set<std::string> seen = labels_of_studies(RunDevice::cuda);
    for (const char* label : {"local-thread/unprotected", "tensor/patch, stored",
                              "tensor/private, compressed", "stencil"}) {
      EXPECT_TRUE(seen.contains(label)) << label;
    }
    EXPECT_FALSE(seen.contains("tensor/patch, compressed"));
    EXPECT_FALSE(seen.contains("tensor/patch, on-the-fly"));
  }
}

// `patch` in a case: auto takes a form that has it, and other forms are refused in words.
TEST(PatchOfACase, HasStoredFactors) {
  CaseParameters parameters =
      make_case_registry()
          .parse(case_text(3, 2, R"("x", "y + 0.1*x*x", "z")", "[problem]\nsource = \"1\"\n"),
                 "case.toml")
          .parameters;
  parameters.run.device = RunDevice::cuda;
  parameters.operation.kernel = "tensor";
  const StrategyName patch{"tensor", "patch"};
  const auto why_not_patch = [&] {
    return why_unsuitable(case_strategy(parameters, patch), case_shape(parameters));
  };
  EXPECT_EQ(case_strategy(parameters, {"tensor", "atomic"}).text(), "tensor/atomic, compressed");
  EXPECT_EQ(case_strategy(parameters, patch).text(), "tensor/patch, stored");
  EXPECT_EQ(why_not_patch(), "");
  parameters.operation.scatter = "patch";
  parameters.operation.factors = FactorsChoice::compressed;
  EXPECT_NE(why_not_patch(), "");
  parameters.operation.factors = FactorsChoice::automatic;
  CaseParameters resolved = parameters;
  EXPECT_EQ(reason_text(resolve_strategy(resolved), "operator.factors"),
            " (auto: scatter policy patch)");
  EXPECT_EQ(resolved.operation.factors, FactorsChoice::stored);
  parameters.space.degree = 9;
  parameters.space.points = 10;
  EXPECT_NE(why_not_patch(), "");
}

TEST(Choices, NameTheSameThings) {
  for (const FactorStorage storage : kFactorStorages) {
    EXPECT_EQ(storage_of(choice_of(storage)), storage);
    EXPECT_EQ(name_of(choice_of(storage)), factor_storage_name(storage));
  }
  EXPECT_EQ(storage_of(FactorsChoice::automatic), std::nullopt);
}

TEST(KernelNames, TakeAScatterAsTheTableSays) {
  const StrategyNames names = strategy_names();
  ASSERT_EQ(names.kernels.size(), kernel_table().size());
  for (const KernelInfo& row : kernel_table()) {
    EXPECT_EQ(kernel_takes_scatter(names.kernels, std::string(row.name)),
              row.scatter == TakesScatter::yes);
  }
  EXPECT_TRUE(kernel_takes_scatter(names.kernels, kAuto));
  EXPECT_THROW(kernel_takes_scatter(names.kernels, "tensors"), std::logic_error);
}

TEST(StudyScatters, OfSolvesAreThoseThatTheirOperatorHas) {
  StudyParameters study;
  study.device = RunDevice::cuda;
  study.geometry = {StudyGeometry::mapped};
  study.solvers = {"multigrid"};
  const auto reason = [&](const char* scatter, int degree) {
    study.scatters = {scatter};
    study.degrees = {1, degree};
    return why_no_solver_scatter(study);
  };
  for (const char* scatter : {"coloring", "atomic", "private", "patch"}) {
    EXPECT_EQ(reason(scatter, kMaxFastDegree), "") << scatter;
  }
  EXPECT_EQ(reason("atomic", 9), "");
  EXPECT_THAT(reason("patch", 9),
              ::testing::StartsWith("the scatter policy patch is for degrees 1 to "));
  EXPECT_THAT(reason("unprotected", 2), ::testing::HasSubstr("gives wrong results"));
  EXPECT_THAT(reason("serial", 2), ::testing::HasSubstr("does not run on the GPU"));
  study.geometry = {StudyGeometry::uniform};
  EXPECT_THAT(reason("unprotected", 9), ::testing::HasSubstr("gives wrong results"));
  study.kernels = {"tensor", "kronecker"};
  EXPECT_EQ(reason("unprotected", 9), "") << "kronecker, which is chosen there, has no cells";
  study.geometry = {StudyGeometry::mapped};
  study.solvers.clear();
  EXPECT_EQ(reason("patch", 9), "") << "applications leave it out by themselves";
}

TEST(StudyKernels, OfSolvesAreTheChosenOneOrTheFirstThatIsForTheProblem) {
  StudyParameters study;
  study.solvers = {"none"};
  study.degrees = {2};
  const auto kernel = [&](StudyGeometry geometry) {
    study.geometry = {geometry};
    return study_solver_strategy(study, study_problems(study).front()).text();
  };
  study.kernels = {"csr", "tensor", "kronecker"};
  EXPECT_EQ(kernel(StudyGeometry::uniform), "kronecker");
  EXPECT_EQ(kernel(StudyGeometry::mapped), "tensor/coloring, compressed");
  study.kernels = {"csr", "local"};
  EXPECT_EQ(kernel(StudyGeometry::uniform), "csr");
  study.kernels = {"kronecker", "stencil", "local"};
  EXPECT_EQ(kernel(StudyGeometry::mapped), "local/coloring");
  EXPECT_EQ(why_no_solver_kernel(study), "");
  study.kernels = {"kronecker", "stencil"};
  EXPECT_EQ(why_no_solver_kernel(study).find("solves in 3D mapped, degree 2, need one"), 0U)
      << why_no_solver_kernel(study);
  study.solvers.clear();
  EXPECT_EQ(why_no_solver_kernel(study), "") << "applications leave it out by themselves";
}

}  // namespace
}  // namespace tessera::testing
