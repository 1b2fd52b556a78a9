// These tests look at sizes that rule choices out, and at the memory of methods.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "src/case/choices.hpp"
#include "src/case/memory/memory_estimate.hpp"
#include "src/case/memory/multigrid_memory.hpp"
#include "src/case/memory/preconditioner_memory.hpp"
#include "src/case/memory/size_limits.hpp"
#include "src/case/setup.hpp"
#include "src/case/shape.hpp"
#include "src/case/strategy.hpp"
#include "src/parameters/messages/diagnostics.hpp"
#include "src/study/setup.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;

CaseParameters case_of(const std::string& cells, int degree) {
  return make_case_registry()
      .parse(
          "[mesh]\ndimension = " + std::to_string(std::count(cells.begin(), cells.end(), ',') + 1) +
              "\ncells = " + cells + "\n[space]\ndegree = " + std::to_string(degree) +
              "\n[problem]\nsource = \"1\"\n",
          "case.toml")
      .parameters;
}

std::vector<std::string> keys_of(const CaseParameters& parameters) {
  std::vector<std::string> keys;
  for (const SizeProblem& problem : size_problems(parameters)) keys.push_back(problem.key);
  return keys;
}

TEST(SizeLimits, MatricesOnTheGpuAndInBlocksHave31BitsOfRows) {
  // 1291^3 and 1290^3 nodes on either side of 2^31 - 1.
  for (const bool is_over : {true, false}) {
    CaseParameters parameters = case_of(is_over ? "[1290, 1290, 1290]" : "[1289, 1289, 1289]", 1);
    const auto expect = [&](const std::string& key) {
      EXPECT_EQ(keys_of(parameters),
                is_over ? std::vector<std::string>{key} : std::vector<std::string>{});
    };
    parameters.operation.kernel = "csr";
    parameters.operation.scatter = kNoScatter;
    EXPECT_TRUE(keys_of(parameters).empty()) << "64 bits on the CPU";
    parameters.run.device = RunDevice::cuda;
    expect("operator.kernel");
    parameters.run.device = RunDevice::cpu;
    parameters.solver.preconditioner = "block-jacobi";
    expect("solver.preconditioner");
    parameters.solver.preconditioner = "multigrid";
    parameters.solver.multigrid.smoother = SmootherKind::block_asynchronous_jacobi;
    expect("solver.multigrid.smoother");
  }
}

TEST(SizeLimits, AnAxisOnTheGpuHas31BitsOfNodes) {
  CaseParameters parameters = case_of("[2000000000, 1]", 2);
  EXPECT_TRUE(keys_of(parameters).empty());
  parameters.run.device = RunDevice::cuda;
  ASSERT_EQ(keys_of(parameters), std::vector<std::string>{"mesh.cells"});
  EXPECT_THAT(size_problems(parameters).front().message(), HasSubstr("4000000001 nodes along x"));
}

TEST(SizeLimits, CompressedFactorsAreForLessThan32BitsOfCells) {
  CaseParameters parameters = case_of("[2000, 2000, 2000]", 2);
  parameters.mesh.map = {"x", "y", "z"};
  parameters.operation.kernel = "tensor";
  parameters.operation.scatter = "atomic";
  parameters.run.device = RunDevice::cuda;
  parameters.operation.factors = FactorsChoice::compressed;
  EXPECT_EQ(keys_of(parameters), std::vector<std::string>{"operator.factors"});
  parameters.operation.factors = FactorsChoice::stored;
  EXPECT_TRUE(keys_of(parameters).empty());
}

TEST(SizeLimits, LongEigenproblemsAreRefusedWithTheirLine) {
  try {
    make_case_registry().parse(
        "[mesh]\ndimension = 2\ncells = [5000, 4]\n[space]\ndegree = 4\n[problem]\nsource = \"1\"\n"
        "[solver]\npreconditioner = \"fast-diagonalization\"\n",
        "case.toml");
    FAIL() << "was taken";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("case.toml:9: solver.preconditioner"));
    EXPECT_THAT(error.what(), HasSubstr("19999 x 19999 along x"));
    EXPECT_THAT(error.what(), HasSubstr("\"multigrid\""));
  }
}

TEST(SizeLimits, LongishEigenproblemsAreAnnounced) {
  CaseParameters parameters = case_of("[800, 4]", 4);
  EXPECT_TRUE(size_notes(parameters).empty());
  parameters.solver.preconditioner = "fast-diagonalization";
  parameters.problem.coefficient = "1 + x";
  ASSERT_EQ(size_notes(parameters).size(), 1U);
  EXPECT_THAT(size_notes(parameters).front(), HasSubstr("3199 x 3199 along x"));
}

// The keys of what is beyond a limit in a study of one problem, 3D and of degree 1.
std::vector<std::string> keys_of(const StudyParameters& study) {
  std::vector<std::string> keys;
  for (const StudyProblem& problem : study_problems(study)) {
    for (const SizeProblem& found : study_size_problems(study, problem)) keys.push_back(found.key);
  }
  return keys;
}

StudyParameters study_of(std::int64_t dofs) {
  StudyParameters study;
  study.degrees = {1};
  study.dofs = {dofs};
  return study;
}

TEST(SizeLimits, AreThoseOfStudiesOfOperators) {
  constexpr std::int64_t kOver = 2200000000;
  StudyParameters study = study_of(kOver);
  study.kernels = {"csr", "kronecker"};
  EXPECT_TRUE(keys_of(study).empty()) << "64 bits on the CPU";
  study.device = RunDevice::cuda;
  ASSERT_EQ(keys_of(study), std::vector<std::string>{"study.kernels"});
  const std::string message = study_size_problems(study, study_problems(study)[0])[0].message();
  EXPECT_THAT(message, HasSubstr("3D uniform, degree 1, about 2200000000 DoFs: the matrix of csr"));
  EXPECT_THAT(message, HasSubstr("leave it out, or aim at fewer DoFs"));
  study.dofs = {2000000000};
  EXPECT_TRUE(keys_of(study).empty());

  study = study_of(std::int64_t{8} * 2000 * 2000 * 2000);
  study.degrees = {2};
  study.kernels = {"tensor"};
  study.scatters = {"atomic"};
  study.geometry = {StudyGeometry::mapped};
  study.factors = {FactorsChoice::stored, FactorsChoice::compressed};
  EXPECT_TRUE(keys_of(study).empty()) << "64 bits on the CPU";
  study.device = RunDevice::cuda;
  EXPECT_EQ(keys_of(study), std::vector<std::string>{"study.factors"});
}

TEST(SizeLimits, AreThoseOfStudiesOfSolvers) {
  StudyParameters study = study_of(2200000000);
  study.solvers = {"jacobi"};
  study.kernels = {"csr", "kronecker"};
  study.device = RunDevice::cuda;
  EXPECT_TRUE(keys_of(study).empty()) << "kronecker is chosen";
  study.kernels = {"csr"};
  EXPECT_EQ(keys_of(study), std::vector<std::string>{"study.kernels"});
  study.device = RunDevice::cpu;
  study.solvers = {"multigrid", "block-jacobi"};
  EXPECT_EQ(keys_of(study), std::vector<std::string>{"study.solvers"});
  study.solver.multigrid.smoother = SmootherKind::block_jacobi;
  EXPECT_EQ(keys_of(study),
            (std::vector<std::string>{"solver.multigrid.smoother", "study.solvers"}));
}

TEST(SizeLimits, AreSaidOnceAndBeforeAStudyBegins) {
  try {
    make_study_registry().parse(
        "[study]\nkernels = [\"tensor\"]\ndimensions = [2]\ndegrees = [4]\ndofs = [1000, 4e8]\n"
        "precision = [\"single\", \"double\"]\nthreads = [1, 2]\n"
        "solvers = [\"jacobi\", \"fast-diagonalization\"]\n",
        "study.toml");
    FAIL() << "was taken";
  } catch (const InputError& error) {
    const std::string what = error.what();
    EXPECT_THAT(what, ::testing::StartsWith("study.toml:8: study.solvers"));
    EXPECT_THAT(what, HasSubstr("2D uniform, degree 4, about 400000000 DoFs: fast-diagonalization "
                                "needs the eigenvectors of a matrix of 19999 x 19999 along x"));
    EXPECT_EQ(what.find("eigenvectors"), what.rfind("eigenvectors"));
  }
}

Index solving_bytes(const CaseParameters& parameters) {
  CaseParameters resolved = parameters;
  resolve_choices(resolved);
  const MemoryEstimate estimate =
      estimate_memory(resolved, {resolved.operation.kernel, resolved.operation.scatter});
  for (const MemoryPhase& phase : estimate.phases) {
    if (phase.name == "solving") return phase.bytes();
  }
  return 0;
}

TEST(MemoryOfMethods, IsThatOfTheirVectors) {
  CaseParameters parameters = case_of("[40, 40, 40]", 2);
  parameters.run.device = RunDevice::cpu;
  parameters.solver.preconditioner = kNoPreconditioner;
  const Index vector = Index{81} * 81 * 81 * 8;
  const Index cg = solving_bytes(parameters);
  parameters.solver.method = SolverMethod::single_reduction_cg;
  EXPECT_EQ(solving_bytes(parameters) - cg, vector);
  parameters.solver.method = SolverMethod::pipelined_cg;
  EXPECT_EQ(solving_bytes(parameters) - cg, 3 * vector);
  parameters.solver.preconditioner = "chebyshev";
  EXPECT_EQ(solving_bytes(parameters) - cg, (6 + 2) * vector);
  parameters.solver.method = SolverMethod::richardson;
  EXPECT_EQ(solving_bytes(parameters) - cg, (-1 + 2) * vector);
  parameters.solver.method = SolverMethod::bicgstab;
  EXPECT_EQ(solving_bytes(parameters) - cg, (3 + 2) * vector);
  parameters.solver.method = SolverMethod::flexible_gmres;
  parameters.solver.restart = 7;
  EXPECT_EQ(solving_bytes(parameters) - cg, (7 + 7 + 2 - 3 + 2) * vector);
}

TEST(MemoryOfMethods, AStartByFullMultigridIsAPhase) {
  CaseParameters parameters = case_of("[40, 40, 40]", 2);
  EXPECT_EQ(full_multigrid_bytes(parameters), 0);
  parameters.solver.preconditioner = "multigrid";
  parameters.solver.initial = kFullMultigrid;
  // On the finest level is_given, r, z, and both rounded; on each coarser one three more.
  const double vector = 81.0 * 81.0 * 81.0 * 8.0;
  EXPECT_GT(static_cast<double>(full_multigrid_bytes(parameters)), 4.5 * vector);
  EXPECT_LT(static_cast<double>(full_multigrid_bytes(parameters)), 8.0 * vector);
}

TEST(MemoryOfMethods, HasThreeVectorsWithFusedFormsAsWell) {
  for (const char* kernel : {"stencil", "kronecker", "tensor"}) {
    for (const RunDevice device : {RunDevice::cpu, RunDevice::cuda}) {
      for (const char* preconditioner : {"none", "jacobi"}) {
        CaseParameters parameters = case_of("[800, 800, 800]", 1);
        parameters.run.device = device;
        parameters.solver.preconditioner = preconditioner;
        EXPECT_EQ(solver_vectors(parameters, {kernel}), 3) << kernel << ' ' << preconditioner;
      }
    }
  }
}

// The correction is a vector in double precision unless the cycle, in single precision, has it.
TEST(MemoryOfMethods, HasAVectorForTheCorrectionOnlyInThePrecisionOfTheCase) {
  CaseParameters parameters = case_of("[80, 80, 80]", 1);
  const auto vectors = [&](Precision of_case, Precision of_cycle) {
    parameters.operation.precision = of_case;
    parameters.solver.multigrid.precision = of_cycle;
    return solver_vectors(parameters, {"tensor"});
  };
  parameters.solver.preconditioner = kMultigrid;
  EXPECT_EQ(vectors(Precision::double_precision, Precision::single_precision), 3);
  EXPECT_EQ(vectors(Precision::double_precision, Precision::double_precision), 4);
  EXPECT_EQ(vectors(Precision::single_precision, Precision::single_precision), 4);
  parameters.solver.preconditioner = "chebyshev";
  EXPECT_EQ(vectors(Precision::double_precision, Precision::single_precision), 4);
}

// The spectrum of an operator that has changed is estimated in two vectors more.
TEST(MemoryOfPreconditioners, CountsWhatUpdatesNeed) {
  CaseParameters parameters = case_of("[40, 40, 40]", 2);
  parameters.operation.kernel = "tensor";
  parameters.operation.scatter = "coloring";
  CaseParameters in_time = parameters;
  in_time.time.emplace();
  const Index vector = 81 * 81 * 81 * 8;
  EXPECT_EQ(chebyshev_bytes(in_time).held, chebyshev_bytes(parameters).held + 2 * vector);
  const double levels =
      static_cast<double>(multigrid_bytes(in_time).held - multigrid_bytes(parameters).held);
  EXPECT_GE(levels, 1.0 * static_cast<double>(vector));
  EXPECT_LE(levels, 1.2 * static_cast<double>(vector));
}

TEST(MemoryOfPreconditioners, CountsTheFactorsThatOnlyADiagonalNeeds) {
  CaseParameters parameters = case_of("[8, 8, 8]", 4);
  parameters.mesh.map = {"x + 0.1*x*y", "y", "z"};
  parameters.run.device = RunDevice::cuda;
  parameters.operation.kernel = "tensor";
  parameters.operation.scatter = "atomic";
  // 6 values of 8 bytes a point.
  constexpr Index kFactors = 8 * 8 * 8 * 125 * 48;
  const auto expect_beyond_the_diagonal = [&](FactorsChoice factors, Index least) {
    parameters.operation.factors = factors;
    const OperatorBytes bytes = jacobi_bytes(parameters);
    EXPECT_GE(bytes.peak, bytes.held + least);
    EXPECT_LE(bytes.peak, bytes.held + 2 * least);
  };
  expect_beyond_the_diagonal(FactorsChoice::stored, 0);
  expect_beyond_the_diagonal(FactorsChoice::compressed, kFactors);
  expect_beyond_the_diagonal(FactorsChoice::on_the_fly, kFactors);
}

}  // namespace
}  // namespace tessera::testing
