// These tests read result.json and residuals.csv.
#include <gtest/gtest.h>

#include <cmath>

#include "postprocess/files/atomic_file.hpp"
#include "postprocess/files/result_files.hpp"
#include "tests/postprocess/temporary_directory.hpp"

namespace tessera {
namespace {

using testing::read_file;
using testing::TemporaryDirectory;

RunResult typical() {
  RunResult result;
  result.title = "Poisson on the unit cube";
  result.dimension = 3;
  result.degree = 4;
  result.cells = {32, 32, 32};
  result.dofs = 3000000000;
  result.kernel = "tensor";
  result.solver.status = "converged";
  result.solver.converged = true;
  result.solver.relative_residual = 1e-9;
  result.error = RunResult::Error{1e-6, 1e-4, 1e-5};
  return result;
}

TEST(ResultJson, HasEveryFieldOfTheContract) {
  const auto json = to_json(typical());
  for (const char* key : {"title", "dimension", "degree", "cells", "dofs", "kernel", "scatter",
                          "geometry", "device", "threads", "precision"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  const std::vector<std::pair<std::string, std::vector<std::string>>> sections = {
      {"solver", {"method", "preconditioner", "iterations", "converged", "relative_residual"}},
      {"error", {"l2", "h1_seminorm", "max"}},
      {"solution", {"min", "max", "integral", "energy"}},
      {"timing", {"setup_s", "solve_s", "apply_s", "dofs_per_s", "gbytes_per_s", "total_s"}},
      {"energy_use", {"cpu_j", "gpu_j", "j_per_dof", "note"}},
      {"memory", {"operator_bytes", "peak_bytes"}},
      {"provenance", {"version", "commit", "compiler", "machine", "gpu", "started"}}};
  for (const auto& [section, keys] : sections) {
    for (const auto& key : keys) EXPECT_TRUE(json.at(section).contains(key)) << section << key;
  }
  EXPECT_EQ(json.at("dofs"), 3000000000);
  EXPECT_EQ(json.at("cells"), nlohmann::ordered_json({32, 32, 32}));
  EXPECT_FALSE(json.contains("timers"));
}

TEST(ResultJson, HasNoErrorWithoutAnExactSolutionAndTwoCellCountsIn2D) {
  RunResult result = typical();
  result.error.reset();
  result.dimension = 2;
  result.timers = {{"elapsed_s", 1.0}};
  const auto json = to_json(result);
  EXPECT_FALSE(json.contains("error"));
  EXPECT_EQ(json.at("cells").size(), 2u);
  EXPECT_EQ(json.at("timers").at("elapsed_s"), 1.0);
}

TEST(ResultJson, LevelsOfMultigridHaveAsManyCellCountsAsAxes) {
  RunResult result = typical();
  EXPECT_EQ(to_json(result).at("solver").at("levels"), nlohmann::ordered_json::array());
  EXPECT_EQ(to_json(result).at("solver").at("notes"), nlohmann::ordered_json::array());
  result.dimension = 2;
  result.solver.levels = {{4, {24, 12, 1}, 4753, "tensor/coloring, stored", 100000, 1.75},
                          {1, {24, 12, 1}, 325, "kronecker", 20000, 0.0}};
  result.solver.notes = {"a note"};
  const auto solver = to_json(result).at("solver");
  EXPECT_EQ(solver.at("levels").dump(),
            "[{\"degree\":4,\"cells\":[24,12],\"dofs\":4753,"
            "\"operator\":\"tensor/coloring, stored\",\"bytes\":100000,"
            "\"largest_eigenvalue\":1.75},"
            "{\"degree\":1,\"cells\":[24,12],\"dofs\":325,\"operator\":\"kronecker\","
            "\"bytes\":20000,\"largest_eigenvalue\":0.0}]");
  EXPECT_EQ(solver.at("notes"), nlohmann::ordered_json({"a note"}));
}

TEST(ResultJson, EnergyThatWasNotMeasuredIsNull) {
  RunResult result = typical();
  result.energy_use = {std::nullopt, 123.0, 4.1e-8, "CPU: not measured"};
  const auto energy = to_json(result).at("energy_use");
  EXPECT_TRUE(energy.at("cpu_j").is_null());
  EXPECT_EQ(energy.at("gpu_j"), 123.0);
  EXPECT_EQ(energy.at("j_per_dof"), 4.1e-8);
  EXPECT_EQ(energy.at("note"), "CPU: not measured");
}

TEST(ResultJson, FileIsValidWhateverTheNumbersAndTexts) {
  RunResult result = typical();
  result.title = "bad byte \xff, \"quotes\"";
  result.solver.relative_residual = std::nan("");
  result.solution.max = INFINITY;
  const auto json = nlohmann::json::parse(result_text(result));
  EXPECT_TRUE(json.at("solver").at("relative_residual").is_null());
  EXPECT_TRUE(json.at("solution").at("max").is_null());
  EXPECT_EQ(json.at("solver").at("status"), "converged");
}

TEST(ResidualsCsv, HasALineAnIteration) {
  const std::vector<double> residuals = {1.0, 0.25};
  EXPECT_EQ(residuals_csv(residuals, 4.0),
            "iteration,residual,relative_residual\n"
            "0,4.0000000000e+00,1.0000000000e+00\n"
            "1,1.0000000000e+00,2.5000000000e-01\n");
}

}  // namespace
}  // namespace tessera
