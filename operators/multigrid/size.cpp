// This file counts the memory and traffic of multigrid levels.
#include "operators/multigrid/size.hpp"

#include <algorithm>
#include <cmath>

#include "mesh/saturated.hpp"
#include "operators/csr/size.hpp"
#include "operators/multigrid/lattice_transfer.hpp"

namespace tessera {
namespace {

bool is_coarsest(const LevelParts& level) {
  return level.work == LevelWork::solve_by_inverse || level.work == LevelWork::solve_by_chebyshev;
}

Saturated vectors(const LevelParts& level, int count) {
  return Saturated(level.dofs) * level.value_bytes * count;
}

// Steps of Chebyshev's iteration. Beside x and y of the application they have b and D^-1, and, as
// passes of their own, x and y once more and the new x. The first one from 0 has no application,
// and 3 vectors.
double bytes_from_iterate(int steps, const LevelParts& level, double vector) {
  return steps * (level.apply_bytes + (level.steps == Steps::fused ? 2.0 : 5.0) * vector);
}
double bytes_from_zero(int steps, const LevelParts& level, double vector) {
  return 3.0 * vector + bytes_from_iterate(steps - 1, level, vector);
}

// Of smoothing before and after the coarser levels, the residual, which has b beside x and y of the
// application, or as a pass of its own 3 vectors, and the transfer to and from the coarser level.
double smoothed_bytes(const MultigridOptions& options, const LevelParts& level, double vector) {
  const double of_residual = level.steps == Steps::fused ? 1.0 : 3.0;
  return bytes_from_zero(options.smoother_degree, level, vector) +
         bytes_from_iterate(options.smoother_degree, level, vector) + level.apply_bytes +
         (of_residual + level.transfer_vectors) * vector;
}

}  // namespace

bool is_fused(Processor processor, SmootherKind smoother, const NodeLattice& lattice,
              FaceSet dirichlet) {
  return processor == Processor::gpu && smoother == SmootherKind::chebyshev &&
         csr_nonzeros(lattice, dirichlet) <= kMaxFusedNonzeros;
}

bool is_transfer_fused(const NodeLattice& coarse, const NodeLattice& fine,
                       const BoxMesh& fine_mesh) {
  return max_prolongation_entries(coarse, fine, fine_mesh) <= kMaxFusedEntries;
}

// Rows of P have p_c + 1 entries at most, those of P^T less than 4 p_f + 1 where two cells of the
// finer mesh are one of the coarser.
Index transfer_table_bytes(const NodeLattice& coarse, const NodeLattice& fine, Index value_bytes) {
  constexpr Index kPlaceBytes = 2 * sizeof(int);
  Saturated bytes = 0;
  for (int d = 0; d < 3; ++d) {
    bytes += Saturated(fine.extents()[d]) * (kPlaceBytes + (coarse.degree() + 1) * value_bytes) +
             Saturated(coarse.extents()[d]) * (kPlaceBytes + (4 * fine.degree() + 1) * value_bytes);
  }
  return bytes;
}

LevelWork level_work(SmootherKind smoother, LevelPlace place, Index dofs) {
  if (place == LevelPlace::coarsest) {
    return dofs <= kMaxDenseDofs ? LevelWork::solve_by_inverse : LevelWork::solve_by_chebyshev;
  }
  return smoother == SmootherKind::chebyshev ? LevelWork::smooth_by_chebyshev
                                             : LevelWork::smooth_by_blocks;
}

Index solver_bytes(const LevelParts& level) {
  switch (level.work) {
    case LevelWork::smooth_by_blocks:
      return level.block_bytes;
    case LevelWork::solve_by_inverse:
      return Saturated(level.dofs) * level.dofs * level.value_bytes;
    case LevelWork::smooth_by_chebyshev:
    case LevelWork::solve_by_chebyshev:
      break;
  }
  return vectors(level, 2);
}

Index cycle_vector_bytes(const LevelParts& level) {
  return vectors(level, (is_coarsest(level) ? 0 : 1) + (level.number == 0 ? 0 : 2));
}

Index level_bytes(const LevelParts& level) {
  return Saturated(level.operator_bytes) + solver_bytes(level) + cycle_vector_bytes(level) +
         level.transfer_bytes;
}

double level_cycle_bytes(const MultigridOptions& options, const LevelParts& level) {
  const double vector = static_cast<double>(level.dofs) * static_cast<double>(level.value_bytes);
  switch (level.work) {
    case LevelWork::solve_by_inverse:
      return static_cast<double>(level.dofs) * vector;
    case LevelWork::solve_by_chebyshev:
      return bytes_from_zero(level.coarse_steps, level, vector);
    case LevelWork::smooth_by_blocks:
      // A step reads the blocks in place of the operator.
      return smoothed_bytes(options, level, vector) +
             2.0 * options.smoother_degree *
                 (static_cast<double>(level.block_bytes) - level.apply_bytes);
    case LevelWork::smooth_by_chebyshev:
      break;
  }
  return smoothed_bytes(options, level, vector);
}

int coarse_chebyshev_steps(double condition) {
  constexpr double kReduction = 10.0;
  constexpr int kMax = 60;
  const double steps = std::ceil(0.5 * std::sqrt(condition) * std::log(2.0 * kReduction));
  // The most of a singular operator, whose condition may come out infinite, negative or NaN.
  return steps < kMax ? std::max(static_cast<int>(steps), 2) : kMax;
}

}  // namespace tessera
