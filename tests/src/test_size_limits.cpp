// These tests look at sizes that rule choices out, and at the memory of methods.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "src/case/kernel_choice.hpp"
#include "src/case/memory_estimate.hpp"
#include "src/case/preconditioner_memory.hpp"
#include "src/case/setup.hpp"
#include "src/case/size_limits.hpp"
#include "src/parameters/diagnostics.hpp"

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
    parameters.solver.preconditioner = PreconditionerChoice::block_jacobi;
    expect("solver.preconditioner");
    parameters.solver.preconditioner = PreconditionerChoice::multigrid;
    parameters.solver.multigrid.smoother = SmootherChoice::block_asynchronous_jacobi;
    expect("solver.multigrid.smoother");
  }
}

TEST(SizeLimits, AnAxisOnTheGpuHas31BitsOfNodes) {
  CaseParameters parameters = case_of("[2000000000, 1]", 2);
  EXPECT_TRUE(keys_of(parameters).empty());
  parameters.run.device = RunDevice::cuda;
  ASSERT_EQ(keys_of(parameters), std::vector<std::string>{"mesh.cells"});
  EXPECT_THAT(size_problems(parameters).front().message, HasSubstr("4000000001 nodes along x"));
}

TEST(SizeLimits, CompressedFactorsAreForLessThan32BitsOfCells) {
  CaseParameters parameters = case_of("[2000, 2000, 2000]", 2);
  parameters.mesh.map = {"x", "y", "z"};
  parameters.operation.kernel = "tensor";
  parameters.operation.scatter = "atomic";
  parameters.run.device = RunDevice::cuda;
  parameters.space.geometry = GeometryChoice::compressed;
  EXPECT_EQ(keys_of(parameters), std::vector<std::string>{"space.geometry"});
  parameters.space.geometry = GeometryChoice::stored;
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
  parameters.solver.preconditioner = PreconditionerChoice::fast_diagonalization;
  parameters.problem.coefficient = "1 + x";
  ASSERT_EQ(size_notes(parameters).size(), 1U);
  EXPECT_THAT(size_notes(parameters).front(), HasSubstr("3199 x 3199 along x"));
}

Index solving_bytes(const CaseParameters& parameters) {
  CaseParameters resolved = parameters;
  choose_kernel(resolved);
  const MemoryEstimate estimate =
      estimate_memory(resolved, {resolved.operation.kernel, resolved.operation.scatter});
  for (const MemoryPhase& phase : estimate.phases) {
    if (phase.name == "solving") return phase.bytes();
  }
  return 0;
}

TEST(MemoryOfMethods, IsThatOfTheirVectors) {
  CaseParameters parameters = case_of("[40, 40, 40]", 2);
  const Index vector = Index{81} * 81 * 81 * 8;
  const Index cg = solving_bytes(parameters);
  parameters.solver.method = SolverMethod::single_reduction_cg;
  EXPECT_EQ(solving_bytes(parameters) - cg, vector);
  parameters.solver.method = SolverMethod::pipelined_cg;
  EXPECT_EQ(solving_bytes(parameters) - cg, 3 * vector);
  parameters.solver.preconditioner = PreconditionerChoice::chebyshev;
  EXPECT_EQ(solving_bytes(parameters) - cg, (6 + 3) * vector);
  parameters.solver.method = SolverMethod::richardson;
  EXPECT_EQ(solving_bytes(parameters) - cg, (-1 + 3) * vector);
}

TEST(MemoryOfMethods, AStartByFullMultigridIsAPhase) {
  CaseParameters parameters = case_of("[40, 40, 40]", 2);
  EXPECT_EQ(full_multigrid_bytes(parameters), 0);
  parameters.solver.preconditioner = PreconditionerChoice::multigrid;
  parameters.solver.initial = kFullMultigrid;
  // On the finest level is_given, r, z, and both rounded; on each coarser one three more.
  const double vector = 81.0 * 81.0 * 81.0 * 8.0;
  EXPECT_GT(static_cast<double>(full_multigrid_bytes(parameters)), 4.5 * vector);
  EXPECT_LT(static_cast<double>(full_multigrid_bytes(parameters)), 8.0 * vector);
}

}  // namespace
}  // namespace tessera::testing
