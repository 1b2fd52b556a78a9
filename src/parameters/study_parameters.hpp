// This struct holds the parameters of a study file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/parameters/case_parameters.hpp"
#include "src/parameters/choices.hpp"
#include "src/parameters/registry.hpp"

namespace tessera {

/// A study file: operator strategies to measure side by side on one machine. Every combination of
/// the lists that makes sense is measured.
struct StudyParameters {
  std::string title;
  std::vector<std::string> kernels = {"tensor"};
  /// For the kernels that take one; kAuto: the fastest on the study's processor.
  std::vector<std::string> scatters = {kAuto};
  std::vector<int> degrees = {1, 2, 4, 8};
  std::vector<int> dimensions = {3};
  /// Sizes aimed at; meshes come as near as whole cells allow.
  std::vector<std::int64_t> dofs = {1000000};
  /// Sizes aimed at for each process, after those of the whole.
  std::vector<std::int64_t> dofs_per_rank;
  std::vector<StudyGeometry> geometry = {StudyGeometry::uniform};
  /// Of the kernel tensor on mapped meshes.
  std::vector<FactorsChoice> factors = {FactorsChoice::automatic};
  /// Unit cube -> physical domain; in 2D the first two, with z = 0.
  std::vector<std::string> map = {"x + 0.05*sin(pi*x)*sin(pi*y)", "y + 0.05*sin(pi*y)*cos(pi*z)",
                                  "z + 0.05*sin(pi*z)*sin(pi*x)"};
  /// Quadrature points along an axis = degree + this.
  int extra_points = 1;
  QuadratureRule quadrature = QuadratureRule::gauss;
  std::vector<Precision> precision = {Precision::double_precision};
  /// 0 = all cores.
  std::vector<int> threads = {0};
  /// Operator applications in one repetition.
  int applications = 20;
  int repetitions = 20;
  double time_limit_s = 10;
  RunDevice device = RunDevice::cpu;
  /// On the GPU, also time repetitions that copy x there before and y back after.
  bool transfers = false;
  /// What solves are measured with instead of applications; empty = applications.
  std::vector<std::string> solvers;
  /// Of all of them; each of `solvers` is its preconditioner or start in turn.
  SolverParameters solver = {.relative_tolerance = 1e-9, .max_iterations = 10000};
  /// Largest relative difference between two strategies' results, in double precision.
  double agree_tolerance = 1e-12;
  /// CSV file; empty = none.
  std::string output;
  /// Whether rows of other numbers of processes stay in it.
  bool append = false;
  /// Bytes; 0 = that of the machine.
  std::int64_t memory_limit = 0;
  /// How many processes measure it: no key, but what was launched.
  int processes = 1;
};

/// The keys of study files. @param kernels, scatters, preconditioners the names allowed, as in
/// their tables.
Registry<StudyParameters> make_study_registry(
    const std::vector<KernelName>& kernels, const std::vector<std::string>& scatters,
    const std::vector<PreconditionerName>& preconditioners);

}  // namespace tessera
