// These tests run the commands of the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/src/program_test.hpp"

namespace tessera::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Processes that a launcher started, but that do not find each other.
TEST_F(ProgramTest, SeveralProcessesAreRefusedByOneOfThem) {
  for (const char* const command : {"run", "convergence"}) {
    for (const char* const rank : {"0", "3"}) {
      const ProgramResult ran = run_program(path(), {command, "case.toml"}, [rank] {
        setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
        setenv("OMPI_COMM_WORLD_RANK", rank, 1);
      });
      EXPECT_EQ(ran.exit_code, 1);
      EXPECT_EQ(ran.output, "");
      if (rank != std::string("0")) {
        EXPECT_EQ(ran.errors, "");
      } else if (command == std::string("convergence")) {
        EXPECT_EQ(ran.errors,
                  "tessera: 4 processes were started, but only tessera run and tessera compare "
                  "compute on several: start this without mpirun\n");
      } else {
        EXPECT_THAT(ran.errors,
                    AnyOf(HasSubstr("4 processes were started, but 1 found each other: start them "
                                    "with the mpirun of the MPI"),
                          HasSubstr("this build has no MPI")));
      }
      EXPECT_FALSE(std::filesystem::exists(path() / "out"));
    }
  }
}

TEST_F(ProgramTest, RunLeavesWhatTheContractSays) {
  const ProgramResult ran = run();
  ASSERT_EQ(ran.exit_code, 0) << ran.errors;
  for (const char* name : {"solution.vtu", "solution.png", "view.py", "residuals.csv",
                           "timings.csv", "result.json", "case.toml"}) {
    EXPECT_TRUE(std::filesystem::exists(path() / "out" / name)) << name;
  }
  const nlohmann::json json = result();
  EXPECT_EQ(json["title"], "small");
  EXPECT_EQ(json["dofs"], 13 * 10 * 7);
  EXPECT_EQ(json["cells"], nlohmann::json({4, 3, 2}));
  EXPECT_EQ(json["kernel"], "kronecker");
  EXPECT_EQ(json["scatter"], "none");
  EXPECT_TRUE(json["solver"]["converged"].get<bool>());
  EXPECT_LE(json["solver"]["relative_residual"].get<double>(), 1e-8);
  EXPECT_LT(json["error"]["l2"].get<double>(), 5e-3);
  EXPECT_GT(json["timing"]["dofs_per_s"].get<double>(), 0.0);
  EXPECT_TRUE(json["energy_use"]["gpu_j"].is_null());
  EXPECT_THAT(json["energy_use"]["note"].get<std::string>(), ::testing::StartsWith("CPU: "));
  EXPECT_THAT(ran.output, HasSubstr("\n  energy    "));
  EXPECT_GT(json["memory"]["peak_bytes"].get<double>(), 1e6);
  EXPECT_FALSE(json["provenance"]["version"].get<std::string>().empty());
  EXPECT_THAT(ran.output, HasSubstr("apply"));
  EXPECT_THAT(ran.output, HasSubstr("of limit"));
  EXPECT_THAT(ran.output, HasSubstr("\nlimits: copy "));
  for (const char* rate : {"copy_gbytes_per_s", "peak_gflops", "peak_gflops_single"}) {
    EXPECT_GT(json["machine"][rate].get<double>(), 0.0) << rate;
  }
  EXPECT_GT(json["timing"]["gflops_per_s"].get<double>(), 0.0);
  EXPECT_GT(json["timing"]["limit_share"].get<double>(), 0.0);
  EXPECT_FALSE(json["timing"]["limit"].get<std::string>().empty());
  EXPECT_THAT(read_file(path() / "out/timings.csv"), HasSubstr("solve/apply"));
}

TEST_F(ProgramTest, ARunLeavesAPictureIfItIsAskedFor) {
  ASSERT_EQ(run({"--quiet"}).exit_code, 0);
  const std::string png = read_file(path() / "out/solution.png");
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(png.substr(png.size() - 8, 4), "IEND");
  const ProgramResult without = run({"--quiet", "--overwrite", "--set", "output.picture=false"});
  ASSERT_EQ(without.exit_code, 0) << without.errors;
  EXPECT_EQ(without.output + without.errors, "");
  EXPECT_FALSE(std::filesystem::exists(path() / "out/solution.png"));
}

TEST_F(ProgramTest, TheResolvedCaseRepeatsTheRun) {
  ASSERT_EQ(
      run({"--set", "operator.kernel=csr", "--set", "solver.preconditioner=jacobi"}).exit_code, 0);
  const nlohmann::json first = result();
  ASSERT_EQ(run_program(path(), {"run", "out/case.toml", "--output", "again"}).exit_code, 0);
  const nlohmann::json second = result("again");
  EXPECT_EQ(first["solver"], second["solver"]);
  EXPECT_EQ(first["error"], second["error"]);
  EXPECT_EQ(first["kernel"], second["kernel"]);
}

TEST_F(ProgramTest, QuietPrintsNothing) {
  const ProgramResult ran = run({"--quiet"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.output + ran.errors, "");
}

TEST_F(ProgramTest, EveryStrategyGivesTheSameSolution) {
  ASSERT_EQ(run({"--set", "operator.kernel=tensor"}).exit_code, 0);
  const nlohmann::json tensor = result();
  for (const char* kernel : {"csr", "local", "kronecker"}) {
    ASSERT_EQ(run({"--overwrite", "--set", std::string("operator.kernel=") + kernel}).exit_code, 0);
    EXPECT_EQ(result()["kernel"], kernel);
    EXPECT_NEAR(result()["error"]["l2"].get<double>(), tensor["error"]["l2"].get<double>(), 1e-9);
  }
}

TEST_F(ProgramTest, SinglePrecisionSolvesToItsTolerance) {
  const ProgramResult ran =
      run({"--set", "operator.precision=single", "--set", "solver.relative_tolerance=1e-5"});
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_EQ(result()["precision"], "single");
}

TEST_F(ProgramTest, WarmStartAtTheSolutionNeedsFewIterations) {
  const std::string plain = "solver.preconditioner=none";
  ASSERT_EQ(run({"--set", plain}).exit_code, 0);
  const int cold = result()["solver"]["iterations"];
  ASSERT_EQ(run({"--overwrite", "--set", plain, "--set",
                 "solver.initial=\"sin(pi*x)*sin(pi*y)*sin(pi*z)\""})
                .exit_code,
            0);
  EXPECT_LT(result()["solver"]["iterations"].get<int>(), cold);
  EXPECT_LT(result()["solver"]["initial_relative_residual"].get<double>(), 0.1);
}

TEST_F(ProgramTest, ZeroDataGiveTheZeroSolutionAtOnce) {
  const ProgramResult ran = run({"--set", "problem.source=0"});
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_EQ(result()["solver"]["iterations"], 0);
  EXPECT_EQ(result()["solution"]["max"], 0.0);
}

TEST_F(ProgramTest, IterationLimitIsAMarkedFailure) {
  const ProgramResult ran =
      run({"--set", "solver.max_iterations=3", "--set", "solver.preconditioner=none"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.errors, HasSubstr("did not converge: iteration limit after 3 iterations"));
  EXPECT_THAT(ran.errors, HasSubstr("solver.max_iterations = 3"));
  EXPECT_FALSE(result()["solver"]["converged"].get<bool>());
  EXPECT_FALSE(result()["solver"]["likely_causes"].empty());
  EXPECT_THAT(read_file(path() / "out/solution.vtu"), HasSubstr("status"));
  EXPECT_THAT(read_file(path() / "out/view.py"), HasSubstr("not converged"));
  EXPECT_TRUE(std::filesystem::exists(path() / "out/solution.png"));
}

TEST_F(ProgramTest, CauseOfManyIterationsIsThatOfThePreconditioner) {
  const auto causes = [&](const std::string& preconditioner) {
    const ProgramResult ran = run({"--overwrite", "--set", "solver.max_iterations=1", "--set",
                                   "solver.preconditioner=" + preconditioner});
    EXPECT_EQ(ran.exit_code, 2) << preconditioner;
    return ran.errors;
  };
  constexpr char kGrow[] = "iterations grow with cells per axis times degree squared";
  constexpr char kTry[] = "try solver.preconditioner = \"multigrid\"";
  EXPECT_THAT(causes("none"), AllOf(HasSubstr(kGrow), HasSubstr(kTry)));
  EXPECT_THAT(causes("jacobi"), AllOf(HasSubstr(kGrow), HasSubstr(kTry)));
  EXPECT_THAT(causes("multigrid"), AllOf(HasSubstr("do not grow with mesh and degree"),
                                         Not(HasSubstr(kGrow)), Not(HasSubstr(kTry))));
}

TEST_F(ProgramTest, InterruptWritesWhatThereIs) {
  Program program(path(), {"run", "case.toml", "--set", "mesh.cells=[40, 40, 40]", "--set",
                           "solver.preconditioner=none", "--set", "solver.relative_tolerance=1e-15",
                           "--set", "solver.max_iterations=1000000", "--set", "output.vtk=false"});
  for (int n = 0; n < 1200 && program.errors().find("iteration") == std::string::npos; ++n) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  program.signal(SIGINT);
  const ProgramResult ran = program.wait();
  EXPECT_EQ(ran.exit_code, 130) << ran.output << ran.errors;
  EXPECT_EQ(result()["solver"]["status"], "interrupted");
  EXPECT_GT(result()["solver"]["iterations"].get<int>(), 0);
  EXPECT_THAT(read_file(path() / "out/timings.csv"), HasSubstr("solve/apply"));
  EXPECT_TRUE(std::filesystem::exists(path() / "out/solution.png"));
}

TEST_F(ProgramTest, LevelsAndNotesAreRecorded) {
  const std::vector<std::string> multigrid = {"--overwrite",
                                              "--set",
                                              "mesh.cells=[8, 6, 8]",
                                              "--set",
                                              "solver.preconditioner=multigrid",
                                              "--set",
                                              "solver.method=flexible-cg",
                                              "--set",
                                              "solver.multigrid.coarsening=degree-first"};
  const ProgramResult ran = run(multigrid);
  ASSERT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(ran.output, ::testing::ContainsRegex("\n +1 +1 +8 x 6 x 8 +567 +kronecker "));
  EXPECT_THAT(ran.output, HasSubstr("level 0: smooth"));
  const nlohmann::json solver = result()["solver"];
  EXPECT_EQ(solver["method"], "flexible-cg");
  EXPECT_EQ(solver["preconditioner"], "multigrid");
  EXPECT_EQ(solver["notes"], nlohmann::json::array());
  ASSERT_EQ(solver["levels"].size(), 3U);
  const nlohmann::json& finest = solver["levels"][0];
  EXPECT_EQ(finest["degree"], 3);
  EXPECT_EQ(finest["cells"], nlohmann::json({8, 6, 8}));
  EXPECT_EQ(finest["dofs"], 25 * 19 * 25);
  EXPECT_EQ(finest["operator"], "kronecker");
  EXPECT_GT(finest["bytes"].get<double>(), 6 * 4 * 25 * 19 * 25);
  EXPECT_GT(finest["largest_eigenvalue"].get<double>(), 1.0);
  EXPECT_EQ(solver["levels"][2]["degree"], 1);
  EXPECT_EQ(solver["levels"][2]["largest_eigenvalue"], 0.0);

  ASSERT_EQ(run({"--overwrite", "--set", "solver.preconditioner=fast-diagonalization"}).exit_code,
            0);
  EXPECT_EQ(result()["solver"]["iterations"], 1);
  EXPECT_EQ(result()["solver"]["levels"], nlohmann::json::array());
  EXPECT_EQ(result()["solver"]["notes"],
            nlohmann::json({"the operator is separable: its inverse is applied"}));
}

TEST_F(ProgramTest, EveryPreconditionerAndMethodGivesTheSameSolution) {
  ASSERT_EQ(run().exit_code, 0);
  const double energy = result()["solution"]["energy"];
  const std::vector<std::pair<const char*, const char*>> solvers = {
      {"cg", "chebyshev"},
      {"cg", "multigrid"},
      {"cg", "fast-diagonalization"},
      {"cg", "block-jacobi"},
      {"flexible-cg", "block-asynchronous-jacobi"},
      {"single-reduction-cg", "multigrid"},
      {"pipelined-cg", "jacobi"},
      {"richardson", "multigrid"}};
  for (const auto& [method, preconditioner] : solvers) {
    const ProgramResult ran = run({"--overwrite", "--set", "mesh.cells=[4, 3, 2]", "--set",
                                   std::string("solver.method=") + method, "--set",
                                   std::string("solver.preconditioner=") + preconditioner, "--set",
                                   "solver.relative_tolerance=1e-10"});
    ASSERT_EQ(ran.exit_code, 0) << method << ' ' << preconditioner << ran.errors;
    EXPECT_EQ(result()["solver"]["method"], method);
    EXPECT_EQ(result()["solver"]["preconditioner"], preconditioner);
    EXPECT_NEAR(result()["solution"]["energy"].get<double>(), energy, 1e-7 * energy);
  }
}

TEST_F(ProgramTest, FullMultigridStartsNearTheSolution) {
  ASSERT_EQ(run({"--set", "mesh.cells=[8, 6, 8]", "--set", "solver.preconditioner=multigrid",
                 "--set", "solver.initial=full-multigrid"})
                .exit_code,
            0);
  EXPECT_LT(result()["solver"]["initial_relative_residual"].get<double>(), 1e-2);
  EXPECT_THAT(read_file(path() / "out/case.toml"), HasSubstr("initial = \"full-multigrid\"\n"));
}

TEST_F(ProgramTest, DefaultsRunAndPrintThemselvesAgain) {
  const ProgramResult defaults = run_program(path(), {"defaults"});
  ASSERT_EQ(defaults.exit_code, 0);
  write_file(path() / "defaults.toml", defaults.output);
  EXPECT_EQ(run_program(path(), {"run", "defaults.toml"}).exit_code, 0);
  EXPECT_EQ(run_program(path(), {"check", "defaults.toml", "--set", "space.degree=4"}).exit_code,
            0);
  EXPECT_EQ(run_program(path(), {"defaults"}).output, defaults.output);
}

TEST_F(ProgramTest, ListNamesEveryStrategy) {
  const ProgramResult ran = run_program(path(), {"list"});
  EXPECT_EQ(ran.exit_code, 0);
  for (const char* name :
       {"csr", "local", "tensor", "kronecker", "serial", "atomic", "coloring", "private"}) {
    EXPECT_THAT(ran.output, HasSubstr(name));
  }
  for (const char* name : {"none", "jacobi", "chebyshev", "multigrid", "fast-diagonalization",
                           "block-jacobi", "block-asynchronous-jacobi"}) {
    EXPECT_THAT(ran.output, HasSubstr(std::string("\n") + name + " ")) << name;
  }
}

TEST_F(ProgramTest, InfoMeasuresBandwidthsAndNamesLibraries) {
  const ProgramResult ran = run_program(path(), {"info"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(ran.output,
              ::testing::ContainsRegex("\nbandwidth, 1 thread +copy [0-9.]+ [GM]B/s, update "));
  EXPECT_THAT(ran.output,
              ::testing::ContainsRegex("\npeak, 1 thread +fma [0-9.]+ [GT]FLOP/s in double, "
                                       "[0-9.]+ [GT]FLOP/s in single precision\n"));
  EXPECT_THAT(ran.output,
              ::testing::ContainsRegex("\nlibraries +SUNDIALS [0-9.]+, HDF5 [0-9.]+, LZ4 [0-9.]+"));
}

}  // namespace
}  // namespace tessera::testing
