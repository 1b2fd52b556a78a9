// These tests hold what stands for each `auto` of a case to its rule.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "operators/fast_diagonalization/nearest_separable.hpp"
#include "solvers/memory/device.hpp"
#include "src/case/choices.hpp"
#include "src/case/memory/memory_estimate.hpp"
#include "src/case/setup.hpp"
#include "src/parameters/messages/diagnostics.hpp"
#include "src/solve/preconditioning.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;

constexpr Index kManyBytes = Index{1} << 40;
const GpuOffer kGpu{"a GPU", kManyBytes, ""};

const std::string kMapped = "map = [\"x\", \"y + 0.1*x*y\"]\n";
const std::string kGraded = "spacing = [{ geometric = 1.3 }, \"uniform\"]\n";

// `mesh` are keys of [mesh], `more` further sections.
CaseParameters case_on(const std::string& mesh, const std::string& more) {
  return make_case_registry()
      .parse("[mesh]\n" + mesh + "[problem]\nsource = \"1\"\n" + more, "case.toml")
      .parameters;
}

// A case in 2D; `mesh` are more keys of [mesh].
CaseParameters case_of(const std::string& mesh, const std::string& more = "") {
  return case_on("dimension = 2\ncells = [4, 3]\n" + mesh, more);
}

CaseParameters case_in_3d(Index cells, const std::string& more) {
  const std::string n = std::to_string(cells);
  return case_on("dimension = 3\ncells = [" + n + ", " + n + ", " + n + "]\n", more);
}

CaseParameters on(RunDevice device, CaseParameters parameters) {
  parameters.run.device = device;
  return parameters;
}

std::string errors_of(const std::string& more) {
  try {
    case_of(kMapped, more);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

// Rows of the tables have no makers for the GPU in a build without CUDA.
class ProcessorChoice : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!kHasCuda) GTEST_SKIP() << "this build computes on the CPU only";
  }
};

TEST_F(ProcessorChoice, IsTheGpuIfThereIsOne) {
  const ChosenValue chosen = choose_device(case_of(""), kGpu);
  EXPECT_EQ(chosen.key, "run.device");
  EXPECT_EQ(chosen.value, "cuda");
  EXPECT_EQ(chosen.reason, "a GPU");
  const ChosenValue none = choose_device(case_of(""), {"", 0, "there is none"});
  EXPECT_EQ(none.value, "cpu");
  EXPECT_EQ(none.reason, "there is none");
}

TEST_F(ProcessorChoice, IsTheCpuWhereTheGpuDoesNotHaveWhatTheCaseNames) {
  struct Named {
    std::string keys;
    std::string reason;
  };
  for (const Named& named : {Named{"[operator]\nkernel = \"tensor\"\nscatter = \"serial\"\n",
                                   "the scatter policy serial does not run on the GPU"},
                             Named{"[operator]\nscatter = \"serial\"\n",
                                   "the scatter policy serial does not run on the GPU"}}) {
    const ChosenValue chosen = choose_device(case_of(kMapped, named.keys), kGpu);
    EXPECT_EQ(chosen.value, "cpu") << named.keys;
    EXPECT_EQ(chosen.reason, named.reason);
  }
  EXPECT_EQ(choose_device(case_of("", "[operator]\nkernel = \"csr\"\n"), kGpu).value, "cuda");
  EXPECT_EQ(choose_device(case_of("", "reaction = \"1\"\n"), kGpu).value, "cuda");
  EXPECT_EQ(choose_device(case_of("", "[time]\nend = 1\n"), kGpu).value, "cuda");
}

TEST_F(ProcessorChoice, OfACaseWithTheSameBitsIsRefusedForAKernelThatHasOthers) {
  const std::string error = errors_of(
      "[operator]\nkernel = \"csr-cusparse\"\n[run]\ndevice = \"cuda\"\ndeterministic = true\n");
  EXPECT_THAT(error,
              HasSubstr("case.toml:8: operator.kernel = \"csr-cusparse\": csr-cusparse on "
                        "the GPU has other bits in every run, and run.deterministic = true"));
  EXPECT_THAT(error, HasSubstr("allowed: \"auto\", \"csr\", \"local\""));
}

TEST_F(ProcessorChoice, IsTheCpuWhereTheCaseDoesNotFit) {
  CaseParameters parameters = case_of("");
  parameters.mesh.cells = {1000, 1000};
  CaseParameters on_gpu = on(RunDevice::cuda, parameters);
  resolve_choices(on_gpu);
  const Index needed = estimate_gpu_memory(on_gpu, case_strategy(on_gpu)).peak().bytes();
  EXPECT_EQ(choose_device(parameters, {"a GPU", needed, ""}).value, "cuda");
  const ChosenValue chosen = choose_device(parameters, {"a GPU", needed - 1, ""});
  EXPECT_EQ(chosen.value, "cpu");
  EXPECT_THAT(chosen.reason, HasSubstr("of GPU memory"));
  parameters.mesh.cells = {2000000000, 1};
  EXPECT_THAT(choose_device(parameters, kGpu).reason, HasSubstr("nodes along x"));
}

TEST_F(ProcessorChoice, IsThatOfTheCaseWhereItNamesOne) {
  CaseParameters parameters = on(RunDevice::cpu, case_of(""));
  EXPECT_FALSE(resolve_device(parameters).has_value());
  EXPECT_EQ(parameters.run.device, RunDevice::cpu);
}

struct PreconditionerCase {
  std::string mesh;
  std::string more;
  std::string preconditioner;
  std::string reason;
};

const std::string kInverse = "it is the inverse of the operator";
const std::string kNoProduct = "the coefficient is no product of functions of one coordinate";
const std::string kVaries = "alpha or the coefficient varies on a Robin face";
const std::string kBent = "the mesh is mapped";

const std::vector<PreconditionerCase>& preconditioner_cases() {
  static const std::vector<PreconditionerCase> cases = {
      {"", "", kFastDiagonalization, kInverse},
      {kGraded, "", kFastDiagonalization, kInverse},
      {kMapped, "", kMultigrid, kBent},
      {"", "coefficient = \"exp(x)*(1 + y^2)\"\n", kFastDiagonalization, kInverse},
      {"", "coefficient = \"1 + x*y\"\n", kMultigrid, kNoProduct},
      {kMapped, "coefficient = \"1 + x*y\"\n", kMultigrid, kBent},
      {"", "reaction = \"7\"\n", kFastDiagonalization, kInverse},
      {"", "reaction = \"1 + x\"\n", kMultigrid, "the reaction varies"},
      {"", "coefficient = \"1 + x\"\nreaction = \"1\"\n", kMultigrid,
       "there is a reaction beside a coefficient that varies"},
      {"", "[boundary]\nleft = { type = \"robin\", alpha = \"2\" }\n", kFastDiagonalization,
       kInverse},
      {"", "[boundary]\nleft = { type = \"robin\", alpha = \"1 + y\" }\n", kMultigrid, kVaries},
      {"", "coefficient = \"1 + x\"\n[boundary]\nleft = { type = \"robin\", alpha = \"2\" }\n",
       kFastDiagonalization, kInverse},
      {"", "coefficient = \"1 + y\"\n[boundary]\nleft = { type = \"robin\", alpha = \"2\" }\n",
       kMultigrid, kVaries}};
  return cases;
}

TEST(PreconditionerChoice, IsTheRule) {
  for (const PreconditionerCase& c : preconditioner_cases()) {
    for (const RunDevice device : {RunDevice::cpu, RunDevice::cuda}) {
      const ChosenValue chosen = choose_preconditioner(on(device, case_of(c.mesh, c.more)));
      EXPECT_EQ(chosen.value, c.preconditioner) << c.mesh << c.more;
      EXPECT_EQ(chosen.reason, c.reason) << c.mesh << c.more;
    }
  }
}

TEST(PreconditionerChoice, IsTheInverseExactlyWhereItIsMadeAsOne) {
  for (const PreconditionerCase& c : preconditioner_cases()) {
    const CaseParameters parameters = on(RunDevice::cpu, case_of(c.mesh, c.more));
    const Discretization discretization = make_discretization(parameters);
    const PoissonProblem problem = make_problem(parameters);
    const BilinearForm form = stiffness_form(problem, discretization);
    EXPECT_EQ(make_nearest_separable(form).exactness == Exactness::exact,
              choose_preconditioner(parameters).value == kFastDiagonalization)
        << c.mesh << c.more;
  }
}

TEST(PreconditionerChoice, GoesWithTheMethodAndTheStart) {
  const std::string sweeps = "[solver.multigrid]\nsmoother = \"block-asynchronous-jacobi\"\n";
  const std::vector<PreconditionerCase> cases = {
      {"", "[solver]\ninitial = \"full-multigrid\"\n", kMultigrid,
       "the start is by full multigrid"},
      {"", "[solver]\nmethod = \"pipelined-cg\"\n", kFastDiagonalization, kInverse},
      {kMapped, "[solver]\nmethod = \"pipelined-cg\"\n", kChebyshev,
       kBent + "; the method pipelined-cg does not bear cycles in single precision"},
      {kMapped, "[solver]\nmethod = \"pipelined-cg\"\n[solver.multigrid]\nprecision = \"double\"\n",
       kMultigrid, kBent},
      {kMapped, "[solver]\nmethod = \"richardson\"\n", kMultigrid, kBent},
      {kMapped, sweeps, kChebyshev, kBent + "; the asynchronous smoother is not for the method cg"},
      {kMapped, "[solver]\nmethod = \"flexible-cg\"\n" + sweeps, kMultigrid, kBent},
      {kMapped, "[solver]\nmethod = \"flexible-cg\"\n" + sweeps + "[run]\ndeterministic = true\n",
       kChebyshev, kBent + "; the asynchronous smoother has other bits in every run"}};
  for (const PreconditionerCase& c : cases) {
    const ChosenValue chosen = choose_preconditioner(on(RunDevice::cpu, case_of(c.mesh, c.more)));
    EXPECT_EQ(chosen.value, c.preconditioner) << c.more;
    EXPECT_EQ(chosen.reason, c.reason) << c.more;
  }
}

TEST(PreconditionerChoice, AvoidsLongEigenproblems) {
  CaseParameters parameters =
      on(RunDevice::cpu, case_of("", "coefficient = \"1 + x\"\n[space]\ndegree = 4\n"));
  parameters.mesh.cells = {5000, 4};
  const ChosenValue chosen = choose_preconditioner(parameters);
  EXPECT_EQ(chosen.value, kMultigrid);
  EXPECT_THAT(chosen.reason, HasSubstr("the eigenvectors of fast diagonalization take about "));
}

TEST(PreconditionerChoice, IsOneThatTheCaseCouldName) {
  EXPECT_THAT(errors_of("[solver]\nmethod = \"pipelined-cg\"\ninitial = \"full-multigrid\"\n"),
              HasSubstr("solver.method = \"pipelined-cg\""));
  EXPECT_EQ(errors_of("[solver]\nmethod = \"richardson\"\n"), "");
}

TEST(StrategyChoice, IsTheRule) {
  struct StrategyCase {
    RunDevice device;
    bool deterministic;
    std::string scatter;
  };
  for (const StrategyCase& c : {StrategyCase{RunDevice::cpu, false, "coloring"},
                                StrategyCase{RunDevice::cpu, true, "coloring"},
                                StrategyCase{RunDevice::cuda, false, "atomic"},
                                StrategyCase{RunDevice::cuda, true, "coloring"}}) {
    for (const std::string& mesh : {std::string(), kMapped}) {
      for (const std::string kernel : {"auto", "tensor", "local", "csr"}) {
        CaseParameters parameters =
            on(c.device, case_of(mesh, "[operator]\nkernel = \"" + kernel + "\"\n"));
        parameters.run.deterministic = c.deterministic;
        EXPECT_EQ(multigrid_options(parameters).scatter, c.scatter);
        const std::vector<ChosenValue> choices = resolve_strategy(parameters);
        const bool scatters =
            kernel == "tensor" || kernel == "local" || parameters.operation.kernel == "tensor";
        EXPECT_EQ(parameters.operation.scatter, scatters ? c.scatter : kNoScatter) << kernel;
        EXPECT_EQ(reason_text(choices, "operator.scatter").empty(), !scatters) << kernel;
        EXPECT_EQ(reason_text(choices, "operator.kernel").empty(), kernel != "auto");
        // Levels keep the policy whether the finest one has it or not.
        EXPECT_EQ(multigrid_options(parameters).scatter, c.scatter);
      }
    }
  }
}

TEST(StrategyChoice, TakesKroneckerOnTheGpuWhereThereIsEnoughForIt) {
  const auto kernel_of = [](Index cells, RunDevice device, const std::string& scatter) {
    CaseParameters parameters =
        on(device, case_in_3d(cells, "[operator]\nscatter = \"" + scatter + "\"\n"));
    const std::vector<ChosenValue> choices = resolve_strategy(parameters);
    return parameters.operation.kernel + reason_text(choices, "operator.kernel");
  };
  const std::string kronecker = "kronecker (auto: axis-aligned mesh, constant coefficient)";
  EXPECT_EQ(kernel_of(22, RunDevice::cuda, "auto"),
            "tensor (auto: fewer than 100 thousand DoFs on the GPU)");
  EXPECT_EQ(kernel_of(23, RunDevice::cuda, "auto"), kronecker);
  EXPECT_EQ(kernel_of(22, RunDevice::cpu, "auto"), kronecker);
  EXPECT_EQ(kernel_of(22, RunDevice::cuda, "coloring"), kronecker);
}

TEST(StrategyChoice, TakesKroneckerOnTheGpuForPlainConjugateGradients) {
  const auto kernel_of = [](const std::string& solver, const std::string& more = "") {
    CaseParameters parameters = on(RunDevice::cuda, case_in_3d(20, more + "[solver]\n" + solver));
    resolve_strategy(parameters);
    return parameters.operation.kernel;
  };
  EXPECT_EQ(kernel_of("preconditioner = \"none\"\n"), "kronecker");
  EXPECT_EQ(kernel_of("preconditioner = \"multigrid\"\n"), "tensor");
  EXPECT_EQ(kernel_of("preconditioner = \"none\"\nmethod = \"pipelined-cg\"\n"), "tensor");
  const auto with_robin = [&](const std::string& alpha, const std::string& coefficient = "1") {
    return kernel_of("preconditioner = \"none\"\n",
                     "coefficient = \"" + coefficient +
                         "\"\n[boundary]\nleft = { type = \"robin\", alpha = \"" + alpha +
                         "\" }\n");
  };
  EXPECT_EQ(with_robin("2"), "kronecker");
  EXPECT_EQ(with_robin("2", "1 + x*y"), "tensor");
  // Beside such faces kronecker has no operations that are part of a kernel.
  EXPECT_EQ(with_robin("1 + y"), "tensor");
}

TEST(Determinism, RefusesWhatIsNot) {
  const std::string demand = "[run]\ndeterministic = true\ndevice = \"cpu\"\n";
  EXPECT_EQ(errors_of(demand), "");
  EXPECT_THAT(
      errors_of("[operator]\nscatter = \"atomic\"\n" + demand),
      HasSubstr("case.toml:8: operator.scatter = \"atomic\": atomic adds in another order in "
                "every run, and run.deterministic = true; allowed: \"auto\", \"serial\", "
                "\"coloring\", \"private\""));
  EXPECT_EQ(errors_of("[operator]\nscatter = \"private\"\n" + demand), "");
  EXPECT_EQ(errors_of("[operator]\nkernel = \"csr\"\n" + demand), "");
  EXPECT_THAT(errors_of("[solver]\nmethod = \"flexible-cg\"\npreconditioner = "
                        "\"block-asynchronous-jacobi\"\n" +
                        demand),
              HasSubstr("solver.preconditioner = \"block-asynchronous-jacobi\": asynchronous "
                        "sweeps have another result in every run"));
  EXPECT_THAT(errors_of("[solver]\nmethod = \"flexible-cg\"\npreconditioner = \"multigrid\"\n"
                        "[solver.multigrid]\nsmoother = \"block-asynchronous-jacobi\"\n" +
                        demand),
              HasSubstr("solver.multigrid.smoother = \"block-asynchronous-jacobi\": asynchronous "
                        "sweeps have another result in every run"));
}

TEST(Choices, AreThoseOfTheResolvedFile) {
  const Registry<CaseParameters> registry = make_case_registry();
  for (const PreconditionerCase& c : preconditioner_cases()) {
    CaseParameters parameters = case_of(c.mesh, c.more);
    EXPECT_EQ(resolve_choices(parameters).front().key, "run.device");
    const std::string text = registry.to_toml(parameters);
    EXPECT_EQ(text.find("\"auto\""), text.find("\"auto\"", text.find("coarsening"))) << text;
    CaseParameters again = registry.parse(text, "case.toml").parameters;
    EXPECT_TRUE(resolve_choices(again).empty());
    EXPECT_EQ(registry.to_toml(again), text);
  }
}

}  // namespace
}  // namespace tessera::testing
