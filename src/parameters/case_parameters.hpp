// These structs hold the parameters of a case file.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mesh/face.hpp"
#include "src/parameters/axis_spacing.hpp"
#include "src/parameters/choices.hpp"
#include "src/parameters/probes/probe_points.hpp"
#include "src/parameters/ranks/rank_grid_choice.hpp"
#include "src/parameters/registry.hpp"

namespace tessera {

/// `[mesh]`. Once loaded, cells, lower, upper and spacing have `dimension` entries.
struct MeshParameters {
  int dimension = 3;
  std::vector<std::int64_t> cells;
  std::vector<double> lower;
  std::vector<double> upper;
  std::vector<AxisSpacing> spacing;
  /// Box point -> physical point, one expression an axis; empty = Cartesian.
  std::vector<std::string> map;
};

/// `[space]`
struct SpaceParameters {
  int degree = 2;
  NodeFamily nodes = NodeFamily::gauss_lobatto;
  QuadratureRule quadrature = QuadratureRule::gauss;
  /// Once loaded never 0.
  int points = 0;
};

/// `[problem]`: expressions in physical coordinates.
struct ProblemParameters {
  std::string coefficient = "1";
  std::string reaction = "0";
  /// Factor of du/dt; once loaded, other than "1" with `[time]` only.
  std::string capacity = "1";
  std::string source = "0";
  std::optional<std::string> exact;
};

/// One face of `[boundary]`.
struct BoundaryParameters {
  BoundaryType type = BoundaryType::dirichlet;
  std::string value = "0";
  /// Once loaded, there exactly for Robin faces.
  std::optional<std::string> alpha;
};

/// `[time]`
struct TimeParameters {
  double start = 0.0;
  /// Once loaded greater than start.
  double end = 0.0;
  /// u at start, an expression in physical coordinates.
  std::string initial = "0";
  TimeMethod method = TimeMethod::sdirk;
  /// Of BDF the highest. Once loaded never 0.
  int order = 0;
  /// Once loaded, exactly one of them is there: the relative tolerance of steps that adapt, or the
  /// length of steps that do not.
  std::optional<double> tolerance;
  std::optional<double> step;
  /// Once loaded, there with `tolerance` alone.
  std::optional<double> absolute_tolerance;
  /// With `tolerance` alone: what adaptive steps are not longer than.
  std::optional<double> max_step;
  /// Left out: only start and end are written.
  std::optional<double> output_interval;
  /// Left out: a checkpoint is written where the run is interrupted.
  std::optional<double> checkpoint_interval;
};

/// `[nonlinear]`
struct NonlinearParameters {
  NonlinearMethod method = NonlinearMethod::newton;
  double relative_tolerance = 1e-10;
  int max_iterations = 50;
  /// Of picard: earlier iterates that are combined.
  int acceleration = 5;
  /// Of newton.
  bool line_search = true;
};

/// The kernel, scatter policy or preconditioner that stands for one that suits the case.
inline constexpr char kAuto[] = "auto";

/// `[operator]`
struct OperatorParameters {
  std::string kernel = kAuto;
  /// Once loaded, "none" exactly for the kernels that take none; with the kernel kAuto what a
  /// kernel gets that takes one.
  std::string scatter = kAuto;
  FactorsChoice factors = FactorsChoice::automatic;
  Precision precision = Precision::double_precision;
};

/// Preconditioners that other keys than solver.preconditioner know of.
inline constexpr char kNoPreconditioner[] = "none";
inline constexpr char kChebyshev[] = "chebyshev";
inline constexpr char kMultigrid[] = "multigrid";
inline constexpr char kFastDiagonalization[] = "fast-diagonalization";
inline constexpr char kBlockJacobi[] = "block-jacobi";
inline constexpr char kBlockAsynchronousJacobi[] = "block-asynchronous-jacobi";

/// `[solver.chebyshev]`
struct ChebyshevParameters {
  int degree = 6;
  /// Largest over smallest eigenvalue of the interval.
  double range = 30.0;
  bool operator==(const ChebyshevParameters&) const = default;
};

/// `[solver.multigrid]`
struct MultigridParameters {
  /// 0 = down to a level that is small.
  int levels = 0;
  CoarseningChoice coarsening = CoarseningChoice::automatic;
  SmootherKind smoother = SmootherKind::chebyshev;
  int smoother_degree = 4;
  Precision precision = Precision::single_precision;
  /// Of a start by full multigrid, on each level.
  int start_cycles = 2;
  bool operator==(const MultigridParameters&) const = default;
};

/// `[solver.block_jacobi]`
struct BlockJacobiParameters {
  int sweeps = 2;
  int local_sweeps = 4;
  bool operator==(const BlockJacobiParameters&) const = default;
};

/// The start by full multigrid, in the place of an expression.
inline constexpr char kFullMultigrid[] = "full-multigrid";

/// `[solver]`
struct SolverParameters {
  SolverMethod method = SolverMethod::cg;
  std::string preconditioner = kAuto;
  double relative_tolerance = 1e-8;
  int max_iterations = 1000;
  /// Where the iteration starts: an expression or kFullMultigrid.
  std::string initial = "0";
  /// Iterations between two residuals that are computed anew; 0 = only at the end.
  int residual_replacement = 0;
  /// Directions that flexible GMRES keeps.
  int restart = kDefaultRestart;
  ChebyshevParameters chebyshev = {};
  MultigridParameters multigrid = {};
  BlockJacobiParameters block_jacobi = {};
};

/// `[run]`
struct RunParameters {
  RunDevice device = RunDevice::automatic;
  /// Of several processes.
  RankGridChoice ranks = {};
  /// 0 = all cores.
  int threads = 0;
  /// Whether every run has to give the same bits.
  bool deterministic = false;
  /// How many processes compute the case, and on how many hosts: no keys, but what was launched.
  int processes = 1;
  int hosts = 1;
};

/// `[output]`
struct OutputParameters {
  std::string directory = "results";
  bool vtk = true;
  /// Of solution.vtu.
  VtuOptions vtu = {};
  bool picture = true;
  bool overwrite = false;
  ProbePoints probes = {};
};

/// A case file.
struct CaseParameters {
  std::string title;
  MeshParameters mesh;
  SpaceParameters space;
  ProblemParameters problem;
  /// By Face; back and front mean nothing in 2D.
  std::array<BoundaryParameters, 6> boundary;
  /// There exactly in a case that depends on time.
  std::optional<TimeParameters> time;
  /// There exactly in a case whose coefficient and source may depend on u.
  std::optional<NonlinearParameters> nonlinear;
  OperatorParameters operation;
  SolverParameters solver;
  RunParameters run;
  OutputParameters output;
};

/// The scatter of kernels that write each result once.
inline constexpr char kNoScatter[] = "none";

/// A kernel that a file may name, as in the strategy table.
struct KernelName {
  std::string name;
  /// Whether results of the kernel's cells meet at shared nodes, so that it needs a scatter policy.
  bool takes_scatter;
  /// From how many DoFs on auto takes it on a GPU, "0.1 to 3 million"; empty: from any.
  std::string min_dofs_on_gpu = {};
};

/// Whether a preconditioner is the same map in all of its applications, as most methods need.
enum class MapOfCalls { the_same, another };

/// Declares the keys of a preconditioner, which are named `solver.TABLE.KEY`.
using AddSolverKeys = void (*)(Keys<SolverParameters>& keys);

/// A preconditioner that there is.
struct PreconditionerName {
  std::string name;
  MapOfCalls calls;
  /// Null: it has none, or those of another one.
  AddSolverKeys add_keys = nullptr;
};

/// The names of kernels or preconditioners.
template <class Named>
std::vector<std::string> names_of(const std::vector<Named>& all) {
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const Named& one : all) names.push_back(one.name);
  return names;
}

/// Whether the one of these kernels that has the name takes a scatter policy; kAuto may.
bool kernel_takes_scatter(const std::vector<KernelName>& kernels, const std::string& name);

/// The keys of case files. @param kernels, scatters, preconditioners the names allowed, as in their
/// tables; kAuto is allowed as well.
Registry<CaseParameters> make_case_registry(const std::vector<KernelName>& kernels,
                                            const std::vector<std::string>& scatters,
                                            const std::vector<PreconditionerName>& preconditioners);

}  // namespace tessera
