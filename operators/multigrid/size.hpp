// These functions know the memory and traffic of a multigrid level.
#pragma once

#include "operators/form/form_shape.hpp"
#include "operators/multigrid/multigrid.hpp"

namespace tessera {

/// What a level does in a cycle: it smooths and hands on, or it is the coarsest and solves.
enum class LevelWork {
  smooth_by_chebyshev,
  smooth_by_blocks,
  solve_by_inverse,
  solve_by_chebyshev
};

/// What restriction and prolongation read or write, in fine vectors, for halving along three axes:
/// axis by axis on the host, and all axes in one pass on the GPU.
inline constexpr double kVectorsOfSweeps = 6.2;
inline constexpr double kVectorsOfOnePass = 3.2;

/// Bytes of the tables of a LatticeTransfer on the GPU, at most.
Index transfer_table_bytes(const NodeLattice& coarse, const NodeLattice& fine, Index value_bytes);

/// Whether steps of a smoother and residuals are passes over A x, or the operator makes them itself
/// (FusedOperations).
enum class Steps { separate, fused };

/// What a level's memory and traffic depend on; bytes of vectors follow from dofs and value_bytes.
struct LevelParts {
  LevelWork work;
  std::size_t number;  // 0: the finest
  Index dofs;
  Index value_bytes;
  /// Of the level's own operator; 0 where the case's serves.
  Index operator_bytes = 0;
  /// Least traffic of an application of it.
  double apply_bytes = 0.0;
  Steps steps = Steps::separate;
  /// Of the smoother, where it has blocks of the matrix.
  Index block_bytes = 0;
  /// Of the transfer to the coarser level.
  Index transfer_bytes = 0;
  /// What transfers to and from the coarser level read or write, in vectors of the level.
  double transfer_vectors = kVectorsOfSweeps;
  /// Steps of Chebyshev's iteration on the coarsest level.
  int coarse_steps = 0;
};

enum class LevelPlace { inner, coarsest };

/// Levels of at most so many nonzeros, some ten thousand DoFs, are one kernel on the GPU.
inline constexpr Index kMaxFusedNonzeros = 3 << 19;

/// Whether a level that has an operator of its own is one of those that run in one kernel
/// (FusedLevels): on the GPU, with Chebyshev's smoother, if its matrix is small. Then the coarser
/// ones are as well.
bool is_fused(Processor processor, SmootherKind smoother, const NodeLattice& lattice,
              FaceSet dirichlet);

/// The transfer to the first of them is part of the kernel if P has at most so many entries.
inline constexpr Index kMaxFusedEntries = Index{1} << 22;
bool is_transfer_fused(const NodeLattice& coarse, const NodeLattice& fine,
                       const BoxMesh& fine_mesh);

/// The work of a level where all levels have this smoother.
LevelWork level_work(SmootherKind smoother, LevelPlace place, Index dofs);

/// Bytes of what smooths or solves, without operator, transfer and the cycle's vectors, in vectors
/// of the level: D^-1 and A x of Chebyshev's iteration, n^2 values of an inverse.
Index solver_bytes(const LevelParts& level);
/// Bytes of the vectors that the cycle itself has on the level: the residual but on the coarsest,
/// right-hand side and solution but on the finest.
Index cycle_vector_bytes(const LevelParts& level);
/// All of these, operator and transfer.
Index level_bytes(const LevelParts& level);

/// Least traffic of the level's part of a cycle.
double level_cycle_bytes(const MultigridOptions& options, const LevelParts& level);

/// Steps on the coarsest level that reduce errors tenfold for this condition number of D^-1 A;
/// bounded.
int coarse_chebyshev_steps(double condition);

}  // namespace tessera
