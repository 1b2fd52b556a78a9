// A RunResult holds what result.json says of a run.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera {

/// Everything that result.json says of a run; members have the names of the keys. Numbers that are
/// not finite or missing become null.
struct RunResult {
  /// A level of a multigrid preconditioner.
  struct Level {
    int degree = 1;
    std::array<std::int64_t, 3> cells{};  // 2 in 2D are written
    std::int64_t dofs = 0;
    std::string strategy;  // written as "operator"
    std::int64_t bytes = 0;
    double largest_eigenvalue = 0.0;  // of D^-1 A, estimated; 0 where none was needed
  };
  struct Solver {
    std::string method;
    std::string preconditioner;
    std::string status;  // as status_name says: "converged", "iteration limit", ...
    std::int64_t iterations = 0;
    bool converged = false;
    double initial_relative_residual = 0.0;
    double relative_residual = 0.0;  // at the end
    double relative_tolerance = 0.0;
    std::vector<std::string> likely_causes;  // of not having converged
    std::vector<Level> levels;               // finest first; of multigrid, else empty
    std::vector<std::string> notes;          // about the preconditioner
  };
  struct Error {
    double l2 = 0.0;
    double h1_seminorm = 0.0;
    double max = 0.0;
  };
  struct Solution {
    double min = 0.0;
    double max = 0.0;
    double integral = 0.0;
    double energy = 0.0;
  };
  struct Timing {
    double setup_s = 0.0;
    double solve_s = 0.0;
    double apply_s = 0.0;  // of one operator application
    double dofs_per_s = 0.0;
    double gbytes_per_s = 0.0;
    double total_s = 0.0;
  };
  struct EnergyUse {              // of setting up the operator and solving
    std::optional<double> cpu_j;  // where measured, as the rest
    std::optional<double> gpu_j;
    std::optional<double> j_per_dof;  // of both
    std::string note;                 // what they cover, or why they were not measured
  };
  struct Memory {
    std::int64_t operator_bytes = 0;
    std::int64_t peak_bytes = 0;
    /// Of arrays in GPU memory, where a GPU is used.
    std::optional<std::int64_t> peak_device_bytes = {};
  };
  struct Provenance {
    std::string version;
    std::string commit;
    std::string compiler;
    std::string machine;
    std::string gpu;
    std::string started;  // ISO 8601
  };

  std::string title;
  int dimension = 3;
  int degree = 1;
  std::array<std::int64_t, 3> cells{};  // 2 in 2D are written
  std::int64_t dofs = 0;
  std::string kernel;
  std::string scatter;
  std::string geometry;  // storage of the geometric factors where there is a choice, else "none"
  std::string device;
  int threads = 0;
  std::string precision;
  Solver solver;
  std::vector<std::string> notes;  // what was assumed; what is missing, and why
  std::optional<Error> error;      // where the exact solution is known
  Solution solution;
  Timing timing;
  EnergyUse energy_use;
  Memory memory;
  Provenance provenance;
  nlohmann::json timers;  // of timer_json; left out if null
};

/// Keys in the order of the struct.
nlohmann::ordered_json to_json(const RunResult& result);

/// The text of result.json.
std::string result_text(const RunResult& result);

/// The text of residuals.csv: one line per iteration, from 0, with iteration, residual and
/// relative_residual.
/// @param relative_residuals ||r|| / reference_norm before the first and after every iteration
std::string residuals_csv(std::span<const double> relative_residuals, double reference_norm);

}  // namespace tessera
