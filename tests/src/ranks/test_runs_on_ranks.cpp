// These tests start the program with MPI's launcher.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/device_test.hpp"
#include "tests/src/shipped_cases.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;

/// A program that is several processes, each of one thread.
Program start_on_ranks(int ranks, const std::filesystem::path& directory,
                       std::vector<std::string> arguments) {
  std::vector<std::string> launcher = {TESSERA_MPIEXEC};
  std::istringstream flags(TESSERA_MPIEXEC_FLAGS);
  for (std::string flag; flags >> flag;) launcher.push_back(flag);
  launcher.insert(launcher.end(), {TESSERA_MPIEXEC_NUMPROC_FLAG, std::to_string(ranks)});
  if (arguments[0] == "run") arguments.insert(arguments.end(), {"--set", "run.threads=1"});
  const auto prepare = [] {
    // In containers a process may not read another one's memory, which Open MPI would try.
    setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 1);
  };
  return {directory, std::move(arguments), prepare, launcher};
}

ProgramResult run_on_ranks(int ranks, const std::filesystem::path& directory,
                           std::vector<std::string> arguments) {
  return start_on_ranks(ranks, directory, std::move(arguments)).wait();
}

std::size_t count_of(const std::string& part, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

class ShippedCaseOnRanks : public ::testing::TestWithParam<std::string> {};

TEST_P(ShippedCaseOnRanks, GivesWhatItsCommentSays) {
  const TemporaryDirectory directory;
  const std::string file = shipped(GetParam() + ".toml").string();
  const ProgramResult ran = run_on_ranks(3, directory.path(), {"run", file});
  ASSERT_EQ(ran.exit_code, 0) << ran.errors;
  expect_result_of_comment(GetParam(), directory.path(), kAnyIterations);
}

INSTANTIATE_TEST_SUITE_P(Cases, ShippedCaseOnRanks, ::testing::ValuesIn(shipped_cases()),
                         [](const auto& test) { return test.param; });

// Those with steps in time or with data that depend on u, on a GPU that two ranks share.
std::vector<std::string> shipped_series() {
  std::vector<std::string> names;
  for (const std::string& name : shipped_cases()) {
    const std::string text = read_file(shipped(name + ".toml"));
    const auto has = [&](const char* table) {
      return text.find(std::string("\n") + table + "\n") != std::string::npos;
    };
    if (has("[time]") || has("[nonlinear]")) names.push_back(name);
  }
  return names;
}

class ShippedSeriesOnTheGpu : public ::testing::TestWithParam<std::string> {};

TEST_P(ShippedSeriesOnTheGpu, GivesWhatItsCommentSaysOnRanks) {
  TESSERA_REQUIRE_DEVICE();
  const TemporaryDirectory directory;
  const std::string file = shipped(GetParam() + ".toml").string();
  const ProgramResult ran =
      run_on_ranks(2, directory.path(), {"run", file, "--set", "run.device=cuda"});
  ASSERT_EQ(ran.exit_code, 0) << ran.errors;
  expect_result_of_comment(GetParam(), directory.path(), kAnyIterations);
  const nlohmann::json result =
      read_json(directory.path() / "results" / GetParam() / "result.json");
  EXPECT_EQ(result["ranks"]["gpus"].size(), 2U);
}

INSTANTIATE_TEST_SUITE_P(Cases, ShippedSeriesOnTheGpu, ::testing::ValuesIn(shipped_series()),
                         [](const auto& test) { return test.param; });

class RunsOnRanks : public ::testing::Test {
 protected:
  // Mapped, with a coefficient that is no product, and conditions of all kinds.
  static constexpr char kCase[] =
      "[mesh]\ncells = [5, 4, 7]\nmap = [\"x + 0.1*sin(pi*z)\", \"y + 0.1*x*z\", \"z\"]\n"
      "[space]\ndegree = 3\n[problem]\ncoefficient = \"1 + 0.5*sin(x*y) + z^2\"\n"
      "source = \"3 - x\"\nreaction = \"0.5 + y\"\nexact = \"x*(1 - z) + y\"\n"
      "[boundary]\nleft = { type = \"neumann\", value = \"y\" }\n"
      "top = { type = \"robin\", alpha = \"2 + x\", value = \"z\" }\n"
      "[solver]\nrelative_tolerance = 1e-11\n[output]\nprobes = [[0.52, 0.31, 0.4]]\n"
      "[run]\ndevice = \"cpu\"\n";

  const std::filesystem::path& path() const { return directory_.path(); }
  std::vector<std::string> arguments(const std::string& output,
                                     const std::vector<std::string>& more = {}) {
    write_file(path() / "case.toml", kCase);
    std::vector<std::string> all = {"run", "case.toml", "--output", output};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  nlohmann::json result(const std::string& output) const {
    return read_json(path() / output / "result.json");
  }

 private:
  TemporaryDirectory directory_;
};

TEST_F(RunsOnRanks, GiveTheResultOfOneProcessAndTheSameBitsTwice) {
  ASSERT_EQ(run_program(path(), arguments("one")).exit_code, 0);
  const nlohmann::json one = result("one");
  for (const char* name : {"first", "second"}) {
    const ProgramResult ran = run_on_ranks(4, path(), arguments(name));
    ASSERT_EQ(ran.exit_code, 0) << ran.errors;
    const nlohmann::json several = result(name);
    EXPECT_EQ(several["dofs"], one["dofs"]);
    EXPECT_NEAR(several["solver"]["iterations"].get<int>(), one["solver"]["iterations"].get<int>(),
                1);
    for (const char* number : {"min", "max", "integral", "energy"}) {
      const double expected = one["solution"][number].get<double>();
      EXPECT_NEAR(several["solution"][number].get<double>(), expected, 1e-9 * std::abs(expected))
          << number;
    }
    for (const char* norm : {"l2", "h1_seminorm", "max"}) {
      const double expected = one["error"][norm].get<double>();
      EXPECT_NEAR(several["error"][norm].get<double>(), expected, 1e-9 * expected) << norm;
    }
    const nlohmann::json timing = several["timing"];
    EXPECT_NEAR(timing["dofs_per_s"].get<double>() * timing["apply_s"].get<double>(),
                several["dofs"].get<double>(), 1.0);
    for (const nlohmann::json& part : several["timers"]["parts"]) {
      if (part["name"] == "setup") {
        EXPECT_EQ(timing["setup_s"], part["total_s"]);
      }
      if (part["name"] == "solve") {
        EXPECT_EQ(timing["solve_s"], part["total_s"]);
      }
    }
    EXPECT_NEAR(several["probes"][0]["u"].get<double>(), one["probes"][0]["u"].get<double>(), 1e-9);
  }
  EXPECT_EQ(result("first")["solution"], result("second")["solution"]);
  EXPECT_EQ(result("first")["error"], result("second")["error"]);
  EXPECT_EQ(read_file(path() / "first/residuals.csv"), read_file(path() / "second/residuals.csv"));
}

// Coarser levels that ranks gather lie in the frame of the whole, wherever the box is.
TEST_F(RunsOnRanks, TakeTheIterationsOfOneProcessInBoxesOfAnySize) {
  for (const bool is_mapped : {false, true}) {
    for (const auto& [lower, upper] :
         {std::pair{"[0, 0]", "[4, 8]"}, std::pair{"[100, -70]", "[101, -69]"}}) {
      write_file(path() / "box.toml",
                 std::string("[mesh]\ndimension = 2\ncells = [24, 22]\nlower = ") + lower +
                     "\nupper = " + upper +
                     (is_mapped ? "\nmap = [\"0.3*x + 0.01*y\", \"y + 0.05*sin(x)\"]" : "") +
                     "\n[problem]\nsource = \"1\"\ncoefficient = \"2 + sin(x*y)\"\n[solver]\n"
                     "preconditioner = \"multigrid\"\n[output]\nvtk = false\npicture = false\n"
                     "overwrite = true\n[run]\ndevice = \"cpu\"\n");
      ASSERT_EQ(run_program(path(), {"run", "box.toml", "--output", "one"}).exit_code, 0);
      const ProgramResult ran = run_on_ranks(3, path(), {"run", "box.toml", "--output", "several"});
      ASSERT_EQ(ran.exit_code, 0) << ran.errors;
      const nlohmann::json one = result("one")["solver"];
      const nlohmann::json several = result("several")["solver"];
      EXPECT_EQ(several["levels"].size(), one["levels"].size()) << lower << is_mapped;
      EXPECT_NEAR(several["iterations"].get<int>(), one["iterations"].get<int>(), 1)
          << lower << is_mapped;
    }
  }
}

TEST_F(RunsOnRanks, SayOnceWhatAllOfThemFailOf) {
  const ProgramResult ran = run_on_ranks(3, path(), arguments("out", {"--set", "mesh.cels=3"}));
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_EQ(count_of("did you mean mesh.cells?", ran.errors), 1U) << ran.errors;
  EXPECT_FALSE(std::filesystem::exists(path() / "out"));
}

// The value is bad in the part of the last rank only; the others know key and line as well.
TEST_F(RunsOnRanks, NameTheKeyThatOneOfThemFailsOf) {
  const ProgramResult ran =
      run_on_ranks(3, path(), arguments("out", {"--set", "problem.source=z > 0.9 ? 1/(x-x) : 1"}));
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_EQ(count_of("--set problem.source=", ran.errors), 1U) << ran.errors;
  EXPECT_EQ(count_of("it must be finite", ran.errors), 1U) << ran.errors;
}

TEST_F(RunsOnRanks, EndTogetherIfOneOfThemFails) {
  const ProgramResult ran = run_on_ranks(
      3, path(), arguments("out", {"--set", "mesh.map=[\"x\", \"y\", \"z > 0.9 ? 1.8-z : z\"]"}));
  EXPECT_EQ(ran.exit_code, 1);
  // The last layer of cells belongs to the last rank; it is named as one of the whole mesh.
  EXPECT_EQ(count_of("mesh.map = ", ran.errors), 1U) << ran.errors;
  EXPECT_THAT(ran.errors, HasSubstr("cell (0, 0, 6) has Jacobian determinant -"));
}

TEST_F(RunsOnRanks, RefuseWhatIsForOneProcess) {
  const ProgramResult blocks =
      run_on_ranks(2, path(), arguments("b", {"--set", "solver.preconditioner=block-jacobi"}));
  EXPECT_EQ(blocks.exit_code, 1);
  EXPECT_EQ(count_of("solver.preconditioner = \"block-jacobi\"", blocks.errors), 1U)
      << blocks.errors;
  const ProgramResult launches = run_on_ranks(2, path(), arguments("l", {"--launches"}));
  EXPECT_EQ(launches.exit_code, 1);
  EXPECT_EQ(count_of("--launches: reports what one process launches", launches.errors), 1U)
      << launches.errors;
  const ProgramResult study =
      run_on_ranks(2, path(), {"convergence", shipped("poisson_2d.toml").string()});
  EXPECT_EQ(study.exit_code, 1);
  EXPECT_EQ(count_of("start this without mpirun", study.errors), 1U) << study.errors;
}

// A GPU, or why there is none: said once, before anything is written.
TEST_F(RunsOnRanks, SayWhichOfThemHasNoGpu) {
  if (!kHasCuda || why_no_device().empty()) GTEST_SKIP() << "there is a GPU";
  const ProgramResult ran = run_on_ranks(2, path(), arguments("a", {"--set", "run.device=cuda"}));
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_EQ(count_of("rank 0 on ", ran.errors), 1U) << ran.errors;
  EXPECT_EQ(count_of("no GPU can be used", ran.errors), 1U) << ran.errors;
  EXPECT_FALSE(std::filesystem::exists(path() / "a"));
}

TEST_F(RunsOnRanks, ShareAGpuOnTheGpu) {
  TESSERA_REQUIRE_DEVICE();
  const std::vector<std::string> on_gpu = {"--set", "run.device=cuda"};
  ASSERT_EQ(run_program(path(), arguments("one", on_gpu)).exit_code, 0);
  const nlohmann::json one = result("one");
  // More than any machine of tests has GPUs.
  constexpr int kRanks = 3;
  for (const char* name : {"first", "second"}) {
    const ProgramResult ran = run_on_ranks(kRanks, path(), arguments(name, on_gpu));
    ASSERT_EQ(ran.exit_code, 0) << ran.errors;
    const nlohmann::json several = result(name);
    EXPECT_EQ(several["ranks"]["gpus"].size(), 3U);
    EXPECT_EQ(several["ranks"]["between_gpus"], "by way of the host");
    EXPECT_THAT(several["notes"].dump(), HasSubstr("share GPU"));
    EXPECT_NEAR(several["solver"]["iterations"].get<int>(), one["solver"]["iterations"].get<int>(),
                1);
    for (const char* number : {"min", "max", "integral", "energy"}) {
      const double expected = one["solution"][number].get<double>();
      EXPECT_NEAR(several["solution"][number].get<double>(), expected, 1e-9 * std::abs(expected))
          << number;
    }
  }
}

// Checkpoints of one GPU and of ranks on GPUs serve each other.
TEST_F(RunsOnRanks, GoOnFromCheckpointsOnTheGpu) {
  TESSERA_REQUIRE_DEVICE();
  write_file(path() / "time.toml",
             "[mesh]\ndimension = 2\ncells = [6, 7]\n[space]\ndegree = 3\n[problem]\n"
             "coefficient = \"1 + 0.2*x*y\"\nsource = \"cos(5*t)*x\"\n[boundary]\n"
             "top = { type = \"dirichlet\", value = \"sin(t)\" }\n[time]\nend = 0.04\n"
             "step = 0.005\ninitial = \"y\"\ncheckpoint_interval = 0.02\n[solver]\n"
             "relative_tolerance = 1e-12\n[output]\nvtk = false\npicture = false\n");
  const auto solution_of = [&](const std::string& output) {
    return result(output)["solution"]["integral"].get<double>();
  };
  const auto run_case = [&](int processes, const std::string& output,
                            const std::vector<std::string>& more) {
    std::vector<std::string> all = {"run",  "time.toml", "--output",
                                    output, "--set",     "run.device=cuda"};
    all.insert(all.end(), more.begin(), more.end());
    const ProgramResult ran =
        processes == 1 ? run_program(path(), all) : run_on_ranks(processes, path(), all);
    ASSERT_EQ(ran.exit_code, 0) << output << ": " << ran.errors;
  };
  run_case(1, "one", {});
  run_case(1, "half", {"--set", "time.end=0.02"});
  run_case(2, "two", {"--restart", "half"});
  EXPECT_NEAR(solution_of("two"), solution_of("one"), 1e-9 * std::abs(solution_of("one")));
  run_case(2, "half_of_two", {"--set", "time.end=0.02"});
  run_case(1, "one_again", {"--restart", "half_of_two"});
  EXPECT_NEAR(solution_of("one_again"), solution_of("one"), 1e-9 * std::abs(solution_of("one")));
}

TEST_F(RunsOnRanks, CompareStrategiesAndSolversOnTheGpu) {
  TESSERA_REQUIRE_DEVICE();
  const std::vector<std::string> arguments = {"compare", shipped("compare_scaling.toml").string(),
                                              "--set",   "study.device=cuda",
                                              "--set",   "study.dofs=[30000]",
                                              "--set",   "study.dofs_per_rank=[20000]",
                                              "--set",   "study.applications=2",
                                              "--set",   "study.repetitions=2"};
  const ProgramResult one = run_program(path(), arguments);
  ASSERT_EQ(one.exit_code, 0) << one.errors;
  const ProgramResult two = run_on_ranks(2, path(), arguments);
  ASSERT_EQ(two.exit_code, 0) << two.errors;
  EXPECT_EQ(count_of("2 processes, 1 host; values between GPUs go", two.output), 1U) << two.output;
  EXPECT_GE(count_of("speed-up", two.output), 4U) << two.output;
  std::vector<std::string> solves = arguments;
  solves.insert(solves.end(), {"--set", "study.solvers=[\"none\", \"multigrid\"]", "--csv",
                               "solves.csv", "--set", "study.append=false"});
  const ProgramResult solved = run_on_ranks(2, path(), solves);
  EXPECT_EQ(solved.exit_code, 0) << solved.errors;
  EXPECT_EQ(count_of("converged", read_file(path() / "solves.csv")), 4U);
  std::vector<std::string> launches = arguments;
  launches.emplace_back("--launches");
  const ProgramResult refused = run_on_ranks(2, path(), launches);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_EQ(count_of("start this without mpirun", refused.errors), 1U) << refused.errors;
}

// Calls with one process and with two share a file, which says how well the work is shared.
TEST_F(RunsOnRanks, CompareStrategiesAndSolversByNumbersOfProcesses) {
  const std::vector<std::string> arguments = {"compare", shipped("compare_scaling.toml").string(),
                                              "--set",   "study.dofs=[3000]",
                                              "--set",   "study.dofs_per_rank=[2000]",
                                              "--set",   "study.applications=1",
                                              "--set",   "study.repetitions=1"};
  const ProgramResult one = run_program(path(), arguments);
  ASSERT_EQ(one.exit_code, 0) << one.errors;
  const ProgramResult two = run_on_ranks(2, path(), arguments);
  ASSERT_EQ(two.exit_code, 0) << two.errors;
  EXPECT_EQ(count_of("speed-up", two.output), 4U) << two.output;
  EXPECT_EQ(count_of("measurements are in scaling.csv", two.output), 1U) << two.output;
  EXPECT_EQ(count_of(",1x1x2,", read_file(path() / "scaling.csv")), 4U);
  std::vector<std::string> other = arguments;
  other.insert(other.end(), {"--set", "study.degrees=[2]"});
  const ProgramResult refused = run_on_ranks(2, path(), other);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_EQ(count_of("its rows are of another study", refused.errors), 1U) << refused.errors;
  std::vector<std::string> solves = arguments;
  solves.insert(solves.end(), {"--set", "study.solvers=[\"multigrid\"]", "--csv", "solves.csv"});
  const ProgramResult solved = run_on_ranks(2, path(), solves);
  EXPECT_EQ(solved.exit_code, 0) << solved.errors;
  EXPECT_EQ(count_of("converged", read_file(path() / "solves.csv")), 2U);
}

TEST_F(RunsOnRanks, WriteWhatTheyHaveAfterASignal) {
  Program program = start_on_ranks(
      2, path(),
      arguments("out",
                {"--set", "mesh.cells=[20, 20, 30]", "--set", "solver.preconditioner=none", "--set",
                 "solver.max_iterations=100000", "--set", "solver.relative_tolerance=1e-15"}));
  ASSERT_TRUE(program.wait_for_errors("iteration 1 "));
  program.signal(SIGUSR1);
  const ProgramResult ran = program.wait();
  EXPECT_EQ(ran.exit_code, 130) << ran.errors;
  EXPECT_EQ(result("out")["solver"]["status"], "interrupted");
  EXPECT_GT(result("out")["solution"]["max"].get<double>(), 0.0);
}

}  // namespace
}  // namespace tessera::testing
