// These tests share cases out among ranks, and hold what is foreseen of them to what it follows
// from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "mesh/node_lattice.hpp"
#include "mesh/partition/part_nodes.hpp"
#include "operators/fast_diagonalization/layout.hpp"
#include "solvers/configuration.hpp"
#include "solvers/ranks/gpu/peer_carrier.hpp"
#include "src/case/choices.hpp"
#include "src/case/memory/multigrid_memory.hpp"
#include "src/case/memory/preconditioner_memory.hpp"
#include "src/case/ranks/rank_efficiency.hpp"
#include "src/case/ranks/rank_partition.hpp"
#include "src/case/ranks/rank_parts.hpp"
#include "src/case/ranks/rank_summary.hpp"
#include "src/case/setup.hpp"
#include "src/case/shape.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;

// `mesh` are the keys of [mesh], `more` further sections.
LoadedCase load(const std::string& mesh, const std::string& more = "") {
  LoadedCase loaded = make_case_registry().parse(
      "[mesh]\n" + mesh + "\n[problem]\nsource = \"1\"\n" + more, "case.toml");
  loaded.parameters.run.processes = 4;
  resolve_choices(loaded.parameters);
  return loaded;
}

CaseParameters case_of(const std::string& mesh, const std::string& more = "") {
  return load(mesh, more).parameters;
}

std::string error_of(const LoadedCase& loaded, int ranks) {
  try {
    with_case_errors(loaded, [&] { case_partition(loaded.parameters, ranks); });
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

const std::string kMultigridSection = "[solver]\npreconditioner = \"multigrid\"\n";
const std::string kJacobiSection = "[solver]\npreconditioner = \"jacobi\"\n";

TEST(CasePartition, TakesTheGridThatTheCaseNames) {
  const CaseParameters named =
      case_of("cells = [8, 8, 8]", kJacobiSection + "[run]\nranks = [2, 1, 3]\n");
  EXPECT_EQ(case_partition(named, 6).grid(), (RankGrid{2, 1, 3}));
  const CaseParameters flat =
      case_of("dimension = 2\ncells = [8, 8]", kJacobiSection + "[run]\nranks = [4, 2]\n");
  EXPECT_EQ(case_partition(flat, 8).grid(), (RankGrid{4, 2, 1}));
}

TEST(CasePartition, OfOneHostHasSlabsAndOfManyNearlyCubes) {
  const CaseParameters parameters =
      case_of("cells = [64, 64, 64]", "[space]\ndegree = 4\n" + kJacobiSection);
  EXPECT_EQ(case_partition(parameters, 8).grid(), (RankGrid{1, 1, 8}));
  EXPECT_GE(case_partition(parameters, 64, 8).grid()[1], 4);
}

TEST(CasePartition, SaysWhatDoesNotSuitTheNumberOfProcesses) {
  EXPECT_EQ(error_of(load("cells = [8, 8, 8]", "[run]\nranks = [2, 1, 3]\n"), 4),
            "case.toml:6: run.ranks = [2, 1, 3]: a grid of 2 x 1 x 3 ranks is for 6 processes, not "
            "for 4");
  EXPECT_EQ(error_of(load("dimension = 2\ncells = [2, 2]"), 5),
            "case.toml:3: mesh.cells = [2, 2]: 5 processes cannot share 2 x 2 cells: no box of so "
            "many processes has a cell for each along every axis");
  EXPECT_EQ(error_of(load("cells = [8, 8, 8]", "[solver]\npreconditioner = \"block-jacobi\"\n"), 2),
            "case.toml:6: solver.preconditioner = \"block-jacobi\": \"block-jacobi\" needs the "
            "whole case on one process; \"multigrid\" runs on any number");
  EXPECT_EQ(error_of(load("cells = [8, 8, 8]",
                          kMultigridSection + "multigrid = { smoother = \"block-jacobi\" }\n"),
                     2),
            "case.toml:7: solver.multigrid.smoother = \"block-jacobi\": blocks need the whole case "
            "on one process; \"chebyshev\" runs on any number");
  EXPECT_EQ(error_of(load("cells = [8, 8, 8]", "[solver]\npreconditioner = \"block-jacobi\"\n"), 1),
            "");
}

TEST(CasePartition, SuitsSeveralGpusAsItDoesCpus) {
  if constexpr (!kHasCuda) GTEST_SKIP() << "a build without CUDA refuses the GPU first";
  const std::string on_gpus = "[run]\ndevice = \"cuda\"\n";
  EXPECT_EQ(
      error_of(load("cells = [8, 8, 8]", "coefficient = \"1 + u^2\"\n[nonlinear]\n" + on_gpus), 2),
      "");
  const LoadedCase in_time = load("cells = [8, 8, 8]", "[time]\nend = 1.0\n" + on_gpus);
  EXPECT_EQ(error_of(in_time, 2), "");
  // The inverse of their mass matrix is where they compute.
  const BoxPartition partition = case_partition(in_time.parameters, 2);
  EXPECT_GT(rank_inverse_bytes(in_time.parameters, partition, 0).on_gpu, 0);
  const LoadedCase on_cpus =
      load("cells = [8, 8, 8]", "[time]\nend = 1.0\n[run]\ndevice = \"cpu\"\n");
  const RankInverseBytes on_cpu = rank_inverse_bytes(on_cpus.parameters, partition, 0);
  EXPECT_GT(on_cpu.on_host, 0);
  EXPECT_EQ(on_cpu.on_gpu, 0);
}

// Whatever the processes compute on.
TEST(CasePartition, OfFastDiagonalizationHasSlabs) {
  std::vector<std::string> devices = {"cpu"};
  if (kHasCuda) devices.emplace_back("cuda");
  for (const std::string& device : devices) {
    const std::string run = "[run]\ndevice = \"" + device + "\"\n";
    // The inverse of the operator, which auto takes.
    const CaseParameters chosen = case_of("cells = [64, 64, 8]", run);
    EXPECT_EQ(chosen.solver.preconditioner, kFastDiagonalization) << device;
    EXPECT_EQ(case_partition(chosen, 4).grid(), (RankGrid{1, 1, 4})) << device;
    // Fewer cells along z than processes.
    EXPECT_NE(case_partition(case_of("cells = [64, 64, 2]", run), 4).grid(), (RankGrid{1, 1, 4}));
    const CaseParameters named =
        case_of("dimension = 2\ncells = [8, 8]",
                "[solver]\npreconditioner = \"fast-diagonalization\"\n" + run + "ranks = [2, 2]\n");
    EXPECT_EQ(case_partition(named, 4).grid(), (RankGrid{2, 2, 1})) << device;
  }
}

// The levels before the first gathered one have parts, and so has that one.
TEST(CasePartition, CutsNoMergedCellsDownToTheFirstGatheredLevel) {
  for (const int cells : {9, 24, 31, 32, 40, 64}) {
    for (const int ranks : {2, 3, 4}) {
      const CaseParameters parameters =
          case_of("cells = [" + std::to_string(cells) + ", 16, 16]",
                  "[space]\ndegree = 2\n" + kMultigridSection + "[run]\nranks = [" +
                      std::to_string(ranks) + ", 1, 1]\n");
      BoxPartition partition = case_partition(parameters, ranks);
      const std::vector<LevelSummary> levels = planned_levels(parameters);
      const std::size_t gathered = first_gathered_level(parameters, partition);
      ASSERT_GE(gathered, 1U);
      ASSERT_LT(gathered, levels.size());
      for (std::size_t l = 1; l <= gathered; ++l) {
        EXPECT_TRUE(l == gathered || levels[l].dofs > kGatherDofs * ranks) << l;
        partition = partition.merged(levels[l].shape.cells);
      }
      // It is small, or the parts would cut cells of the next one.
      if (levels[gathered].dofs > kGatherDofs * ranks) {
        EXPECT_THROW(partition.merged(levels[gathered + 1].shape.cells), std::invalid_argument);
      }
    }
  }
}

TEST(CasePartition, OfFewCellsHasAGridThatTheCoarserLevelHasAsWell) {
  const std::string more = "[space]\ndegree = 4\n" + kMultigridSection +
                           "multigrid = { coarsening = \"cells-first\" }\n[run]\n";
  EXPECT_EQ(case_partition(case_of("cells = [4, 4, 4]", more), 4).grid(), (RankGrid{1, 2, 2}));
  const std::string reason =
      "multigrid merges cells two by two, of which each process needs its own: take fewer "
      "processes, more cells or another preconditioner";
  EXPECT_EQ(error_of(load("cells = [4, 4, 4]", more + "ranks = [1, 1, 4]\n"), 4),
            "case.toml:11: run.ranks = [1, 1, 4]: " + reason);
  EXPECT_EQ(error_of(load("cells = [4, 4, 4]", more), 64),
            "case.toml:2: mesh.cells = [4, 4, 4]: " + reason);
}

TEST(CasePartition, CutsAnywhereWithoutMultigrid) {
  // Of 10 cells 3 ranks have 3, 4 and 3, but in pairs 4, 2 and 4.
  const CaseParameters parameters =
      case_of("cells = [10, 8, 8]", kJacobiSection + "[run]\nranks = [3, 1, 1]\n");
  EXPECT_EQ(case_partition(parameters, 3).cuts(0).starts, (std::vector<Index>{0, 3, 7, 10}));
}

TEST(RankParts, HaveTheNodesOfTheirLattices) {
  const CaseParameters parameters = case_of(
      "cells = [7, 5, 6]", "[space]\ndegree = 3\n" + kJacobiSection + "[run]\nranks = [2, 3, 2]\n");
  const BoxPartition partition = case_partition(parameters, 12);
  const BoxMesh whole = make_box_mesh(parameters);
  Index owned = 0;
  Index least = std::numeric_limits<Index>::max();
  Index most = 0;
  for (int r = 0; r < 12; ++r) {
    const PartNodes nodes(partition, r, whole, 3);
    EXPECT_EQ(part_dofs(partition, r, 3), nodes.lattice().dof_count());
    least = std::min(least, nodes.lattice().dof_count());
    most = std::max(most, nodes.lattice().dof_count());
    owned += nodes.owned_count();
  }
  EXPECT_EQ(owned, NodeLattice(whole, 3).dof_count());
  EXPECT_EQ(part_dofs(partition, largest_part(partition, 3), 3), most);
  EXPECT_EQ(part_dofs(partition, smallest_part(partition, 3), 3), least);
}

TEST(RankParts, AreCasesOnTheirPartOfTheMesh) {
  const CaseParameters parameters = case_of(
      "cells = [6, 4, 9]\nlower = [-1, 0, 2]\nupper = [1, 2, 5]\n"
      "spacing = [\"uniform\", { geometric = 1.5 }, \"uniform\"]",
      kJacobiSection + "[run]\nranks = [1, 2, 3]\n");
  const BoxPartition partition = case_partition(parameters, 6);
  const BoxMesh whole = make_box_mesh(parameters);
  for (int r = 0; r < 6; ++r) {
    const CaseParameters own = part_case(parameters, partition, r);
    const BoxMesh mesh = make_box_mesh(own);
    const BoxMesh expected = whole.part(partition.cells(r));
    EXPECT_EQ(mesh.cells(), expected.cells());
    for (int d = 0; d < 3; ++d) {
      EXPECT_EQ(mesh.is_uniform(d), expected.is_uniform(d));
      for (Index i = 0; i <= mesh.cells()[d]; ++i) {
        EXPECT_NEAR(mesh.grid_line(d, i), expected.grid_line(d, i), 1e-15 * 5.0);
      }
    }
    EXPECT_EQ(case_dirichlet_faces(own), partition.domain_faces(r));
  }
}

TEST(RankParts, OfSeveralRanksNeedTheirShareOfMemory) {
  for (const char* const map : {"", "\nmap = [\"x\", \"y\", \"z + 0.1*x*y\"]"}) {
    const CaseParameters parameters = case_of(
        std::string("cells = [16, 16, 64]") + map,
        "[space]\ndegree = 3\n" + kJacobiSection + "[output]\nvtk = false\npicture = false\n");
    const StrategyName strategy = case_strategy(parameters);
    const Index whole = estimate_memory(parameters, strategy).peak().bytes() - kProgramBytes;
    constexpr int kRanks = 8;
    const BoxPartition partition = case_partition(parameters, kRanks);
    const MemoryEstimate estimate = estimate_rank_memory(
        parameters, strategy, partition, largest_part(partition, 3), partition.rank_count());
    const Index part = estimate.peak().bytes() - kProgramBytes - kMpiBytes;
    EXPECT_GT(part, whole / kRanks);
    EXPECT_LT(part, whole / kRanks * 3 / 2);
  }
}

// Planes and lines are shared out, the modes of the axes are not. On ranks there are two vectors
// more of an eighth of the lines.
TEST(RankParts, OfFastDiagonalizationNeedTheirShareOfGpuMemory) {
  if constexpr (!kHasCuda) GTEST_SKIP() << "a build without CUDA refuses the GPU first";
  const CaseParameters parameters = case_of(
      "cells = [96, 96, 192]",
      "[space]\ndegree = 3\n[solver]\npreconditioner = \"fast-diagonalization\"\n[run]\ndevice = "
      "\"cuda\"\n");
  const StrategyName strategy = case_strategy(parameters);
  const auto bytes_of = [&](int ranks) {
    const BoxPartition partition = case_partition(parameters, ranks);
    return estimate_rank_gpu_memory(parameters, strategy, partition, largest_part(partition, 3))
               .peak()
               .bytes() -
           kCudaLibraryBytes - (ranks > 1 ? peer_inbox_bytes(ranks) : 0);
  };
  const Index without_ranks =
      estimate_gpu_memory(parameters, strategy).peak().bytes() - kCudaLibraryBytes;
  const Index one = bytes_of(1);
  const Index vector = Index{289} * 289 * 577 * 8;
  EXPECT_GT(one, without_ranks + vector / 4 * 95 / 100);
  EXPECT_LT(one, without_ranks + vector / 4 * 110 / 100);
  constexpr int kRanks = 4;
  EXPECT_GT(bytes_of(kRanks), one / kRanks);
  EXPECT_LT(bytes_of(kRanks), one / kRanks * 11 / 10);
}

TEST(RankParts, HaveBuffersOfTheirSharedPlanes) {
  const CaseParameters parameters = case_of(
      "cells = [4, 6, 8]", "[space]\ndegree = 2\n" + kJacobiSection + "[run]\nranks = [2, 1, 4]\n");
  const BoxPartition partition = case_partition(parameters, 8);
  // Parts of 2 x 6 x 2 cells: 5 x 13 x 5 nodes. Rank 2 is inner along z.
  const Index across_x = 13 * 5;
  const Index across_z = 5 * 13;
  EXPECT_EQ(exchange_bytes(parameters, partition, 2), 16 * (across_x + 2 * across_z));
  EXPECT_EQ(exchange_bytes(parameters, partition, 0), 16 * (across_x + across_z));
  EXPECT_EQ(gathered_bytes(parameters, partition), 0);
}

TEST(RankParts, HaveBuffersOfAllThatTheySum) {
  const auto bytes_of = [](const std::string& problem, const std::string& more) {
    const CaseParameters parameters =
        case_of("cells = [4, 4, 8]", problem + "[space]\ndegree = 2\n" + kJacobiSection + more);
    return exchange_bytes(parameters, case_partition(parameters, 4), 1);
  };
  // Slabs of 4 x 4 x 2 cells, 9 x 9 x 5 nodes, of which rank 1 shares two planes.
  const Index planes = 16 * 2 * 9 * 9;
  const Index part = 8 * 9 * 9 * 5;
  EXPECT_EQ(bytes_of("", ""), planes);
  // The operators of steps, of the form and of the mass.
  EXPECT_EQ(bytes_of("", "[time]\nend = 1.0\n"), 3 * planes);
  EXPECT_EQ(bytes_of("", "[time]\nend = 1.0\nmethod = \"explicit-rk\"\n"), planes);
  // Operator, residual and drift; in time the mass as well.
  const std::string nonlinear = "coefficient = \"1 + u^2\"\n";
  EXPECT_EQ(bytes_of(nonlinear, "[nonlinear]\n"), 3 * planes + part);
  EXPECT_EQ(bytes_of(nonlinear, "[nonlinear]\n[time]\nend = 1.0\n"), 4 * planes + part);
  EXPECT_EQ(bytes_of(nonlinear, "[nonlinear]\nmethod = \"picard\"\n"), 2 * planes);
}

TEST(RankParts, HaveTheLevelsThatAreGathered) {
  const CaseParameters parameters =
      case_of("cells = [32, 32, 32]", "[space]\ndegree = 2\n" + kMultigridSection);
  const std::vector<LevelSummary> levels = planned_levels(parameters);
  const BoxPartition partition = case_partition(parameters, 2);
  const std::size_t first = first_gathered_level(parameters, partition);
  Index bytes = levels.at(first).dofs * 8;
  for (std::size_t l = first; l < levels.size(); ++l) bytes += levels[l].bytes;
  EXPECT_EQ(gathered_bytes(parameters, partition), bytes);
  EXPECT_GE(gathered_bytes(parameters, case_partition(parameters, 16)), bytes);
}

TEST(RankForecast, LosesWhatMessagesAndUnevenPartsTake) {
  const BoxMesh mesh(3, {8, 8, 9}, {0.0, 0.0, 0.0}, {1.0, 1.0, 1.0});
  const ExchangeCost cost = cost_on_host(20.0, 10e9, 2);
  const BoxPartition partition(mesh, {1, 1, 2});
  const RankForecast forecast = forecast_ranks(mesh, 2, partition, cost);
  // 17 x 17 x 19 nodes, of which the larger part has 17 x 17 x 11.
  const double seconds_per_dof = 2 * 20.0 / 10e9;
  EXPECT_DOUBLE_EQ(forecast.work_seconds, 0.5 * 17 * 17 * 19 * seconds_per_dof);
  EXPECT_DOUBLE_EQ(forecast.seconds,
                   17 * 17 * 11 * seconds_per_dof + 5e-6 + 17 * 17 * 2 * 72.0 / 10e9);
  EXPECT_LT(forecast.efficiency(), 1.0);
}

TEST(RankForecast, TellsFromWhichSizeItPays) {
  for (const RankGrid& grid : {RankGrid{1, 1, 4}, RankGrid{2, 2, 2}}) {
    const ExchangeCost cost = cost_on_host(18.0, 20e9, grid[0] * grid[1] * grid[2]);
    const auto forecast_of = [&](Index n) {
      const BoxMesh mesh(3, {n, n, n}, {0.0, 0.0, 0.0}, {1.0, 1.0, 1.0});
      return forecast_ranks(mesh, 2, BoxPartition(mesh, grid), cost);
    };
    const Index pays = forecast_of(4).pays_from_dofs;
    ASSERT_GT(pays, 0);
    // The cubes just below and above it.
    for (Index n = 4; n <= 64; n += 4) {
      const double dofs =
          std::pow(2.0 * static_cast<double>(n) + 1.0, 3) / (grid[0] * grid[1] * grid[2]);
      const double efficiency = forecast_of(n).efficiency();
      if (dofs < 0.7 * static_cast<double>(pays)) {
        EXPECT_LT(efficiency, kGoodEfficiency) << n;
      }
      if (dofs > 1.4 * static_cast<double>(pays)) {
        EXPECT_GT(efficiency, kGoodEfficiency) << n;
      }
    }
  }
}

TEST(RankSummary, IsInTheResult) {
  const BoxMesh mesh(2, {5, 4, 1}, {0.0, 0.0, 0.0}, {1.0, 1.0, 0.0});
  const BoxPartition partition(mesh, {2, 2, 1});
  const RankSummary summary =
      summarize_ranks(partition, 2, {"b", "b", "a", "a"}, RankExchange::mpi, 3);
  EXPECT_EQ(ranks_json(summary), nlohmann::json::parse(R"({"count": 4, "grid": [2, 2],
      "hosts": ["b", "a"], "exchange": "MPI", "threads_per_rank": 3, "largest_part_dofs": 35,
      "smallest_part_dofs": 25})"));
  EXPECT_EQ(exchange_name(RankExchange::none), "none");
  EXPECT_EQ(exchange_name(RankExchange::threads), "threads");
}

}  // namespace
}  // namespace tessera::testing
