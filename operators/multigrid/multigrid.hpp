// These functions make a multigrid cycle of a form.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "operators/form/updatable.hpp"
#include "operators/multigrid/hierarchy.hpp"
#include "solvers/preconditioners/multigrid.hpp"
#include "solvers/preconditioners/spectrum.hpp"

namespace tessera {

/// What smooths on each level: Chebyshev's iteration, or block Jacobi sweeps on the assembled
/// matrix.
enum class SmootherKind { chebyshev, block_jacobi, block_asynchronous_jacobi };

struct MultigridOptions {
  CoarseningRules rules;
  SmootherKind smoother = SmootherKind::chebyshev;
  /// Steps or outer sweeps of the smoother before and after each coarser level.
  int smoother_degree = 4;
  /// Of block Jacobi.
  int local_sweeps = 4;
  /// How cells of kernel tensor add on the levels.
  std::string scatter = "coloring";
  /// Of several ranks: as Hierarchy.
  Index gather_dofs = kGatherDofs;
};

/// A level as it was made.
struct LevelSummary {
  /// Of the whole level, as are the DoFs.
  LevelShape shape;
  Index dofs;
  std::string strategy;
  /// The operator, the level's vectors and transfer, of one rank.
  Index bytes;
  /// Least traffic of the level's part of a cycle, of one rank.
  double cycle_bytes;
  /// Estimated largest eigenvalue of D^-1 A; 0 where the level needs none.
  double largest_eigenvalue;
};

/// A multigrid cycle with what it refers to.
template <class T, class Space>
struct MultigridSetup {
  std::unique_ptr<Hierarchy> hierarchy;
  std::unique_ptr<Multigrid<T, Space>> cycle;
  std::vector<LevelSummary> levels;
  /// Why there are fewer levels than planned; empty if there are not.
  std::string note;
  /// As Updatable: with the finest operator, if it was given, updated before. Where the cycle
  /// cannot become that of the form, it is of no use any more.
  std::function<Updated(const BilinearForm&)> update;
};

/// A coarsest level of at most so many DoFs is solved with the inverse of its matrix.
inline constexpr Index kMaxDenseDofs = 1500;
/// Lanczos steps behind the estimate of the largest eigenvalue.
inline constexpr int kEigenvalueSteps = 12;

/// The upper end L of the interval of a polynomial of Chebyshev's with the lower end l, which is at
/// most 1 up to L + l: at least 1.02 times the bound of the spectrum, and so large that L + l is
/// 1.12 times it. An eigenvalue of few nodes, where a map squeezes some cells, may be 8 % above it.
inline double interval_end(const Spectrum& spectrum, double smallest) {
  constexpr double kMargin = 1.02;
  constexpr double kReach = 1.12;
  return std::max(kMargin * spectrum.bound, kReach * spectrum.bound - smallest);
}

/// The hierarchy of the form with a V-cycle on it: smoothers (Chebyshev's for the
/// upper part of the spectrum), transfers by 1D factors, and on the coarsest level the inverse of
/// the matrix, or Chebyshev's iteration where it is not small. Of a pure Neumann form constants are
/// left out there.
///
/// Of a form of which ranks have parts it is the cycle of the whole (Hierarchy), and all ranks call
/// this and the functions of what it makes together.
/// @param finest the operator of the finest level if there is one already, else null; referred to
/// @throws as make_operator(); UnsuitableChoice for smoothers by blocks on several ranks
template <class T, class Space>
MultigridSetup<T, Space> make_multigrid(const BilinearForm& form, const MultigridOptions& options,
                                        const LinearOperator<T, Space>* finest);

}  // namespace tessera
