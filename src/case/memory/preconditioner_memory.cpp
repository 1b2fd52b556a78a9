// This file counts the memory of preconditioners but multigrid, and that of methods.
#include "src/case/memory/preconditioner_memory.hpp"

#include <omp.h>

#include <algorithm>

#include "mesh/saturated.hpp"
#include "operators/cells/cell_kernel_limits.hpp"
#include "operators/fast_diagonalization/fast_diagonalization.hpp"
#include "operators/fast_diagonalization/on_ranks.hpp"
#include "operators/kronecker/resident/bricks.hpp"
#include "src/case/nonlinear/nonlinear_case.hpp"
#include "src/case/setup.hpp"
#include "src/case/shape.hpp"
#include "src/case/strategy.hpp"
#include "src/case/time/time_case.hpp"
#include "src/solve/preconditioner_table.hpp"

namespace tessera {
namespace {

// Of make_block_jacobi(), after the matrix is gone.
constexpr int kBlockEigenvalueVectors = 4;

// Of one vector of the solver.
Index vector_bytes(const CaseParameters& parameters) {
  const FormShape shape = case_shape(parameters);
  return Saturated(shape.lattice.size()) * shape.value_bytes;
}

// Whether an axis will surely be found to be its own mirror image, and so have even and odd modes.
std::array<AxisSymmetry, 3> planned_symmetry(const CaseParameters& parameters) {
  const FormShape shape = case_shape(parameters);
  const BoxMesh& mesh = shape.mesh;
  const FaceSet dirichlet = shape.dirichlet;
  std::array<AxisSymmetry, 3> symmetry;
  symmetry.fill(AxisSymmetry::none);
  if (shape.mesh_kind == MeshKind::mapped || shape.coefficient != CoefficientKind::constant) {
    return symmetry;
  }
  for (int d = 0; d < mesh.dimension(); ++d) {
    const auto is_robin = [&](int face) {
      return parameters.boundary[face].type == BoundaryType::robin;
    };
    if (mesh.is_uniform(d) && dirichlet[2 * d] == dirichlet[2 * d + 1] && !is_robin(2 * d) &&
        !is_robin(2 * d + 1)) {
      symmetry[d] = AxisSymmetry::mirrored;
    }
  }
  return symmetry;
}

// While the diagonal of the case's operator is found.
Index case_diagonal_bytes(const CaseParameters& parameters) {
  return diagonal_bytes(case_strategy(parameters), case_shape(parameters));
}

// Whether vectors in double precision have a multigrid cycle in single precision.
bool cycles_in_single(const CaseParameters& parameters) {
  return parameters.solver.preconditioner == kMultigrid &&
         parameters.operation.precision == Precision::double_precision &&
         parameters.solver.multigrid.precision == Precision::single_precision;
}

// Bytes of the modes of all axes in double precision.
Index mode_bytes(const CaseParameters& parameters) {
  const NodeLattice lattice(make_box_mesh(parameters), parameters.space.degree);
  const std::array<AxisSymmetry, 3> symmetry = planned_symmetry(parameters);
  Saturated values = 0;
  for (int d = 0; d < lattice.dimension(); ++d) {
    const Index free = free_nodes(lattice, case_dirichlet_faces(parameters), d);
    for (const Index n : mode_counts(free, symmetry[d])) values += Saturated(n) * n;
  }
  return values * sizeof(double);
}

}  // namespace

AxisWork planned_axis_work(const CaseParameters& parameters) {
  const BoxMesh mesh = make_box_mesh(parameters);
  const NodeLattice lattice(mesh, parameters.space.degree);
  const FaceSet dirichlet = case_dirichlet_faces(parameters);
  const std::array<AxisSymmetry, 3> symmetry = planned_symmetry(parameters);
  // Axes that differ by scale alone are solved once.
  const auto is_like = [&](int d, int e) {
    return symmetry[d] == AxisSymmetry::mirrored && symmetry[e] == AxisSymmetry::mirrored &&
           mesh.cells()[d] == mesh.cells()[e] && dirichlet[2 * d] == dirichlet[2 * e];
  };
  std::vector<std::array<Index, 2>> parts;
  for (int d = 0; d < mesh.dimension(); ++d) {
    bool is_solved = false;
    for (int e = 0; e < d; ++e) is_solved |= is_like(d, e);
    if (!is_solved) parts.push_back(mode_counts(free_nodes(lattice, dirichlet, d), symmetry[d]));
  }
  return axis_work(parts, omp_get_max_threads());
}

OperatorBytes preconditioner_bytes(const CaseParameters& parameters) {
  const PreconditionerBytes bytes = preconditioner_row(parameters.solver.preconditioner).bytes;
  return bytes == nullptr ? OperatorBytes{0, 0} : bytes(parameters);
}

OperatorBytes preconditioner_host_bytes(const CaseParameters& parameters) {
  const PreconditionerBytes bytes = preconditioner_row(parameters.solver.preconditioner).host_bytes;
  return bytes == nullptr ? OperatorBytes{0, 0} : bytes(parameters);
}

OperatorBytes jacobi_bytes(const CaseParameters& parameters) {
  const Index diagonal = vector_bytes(parameters);
  return {diagonal, Saturated(diagonal) + case_diagonal_bytes(parameters)};
}

OperatorBytes chebyshev_bytes(const CaseParameters& parameters) {
  // The diagonal and A x; where A changes, two vectors for its spectrum as well.
  const Saturated vector = vector_bytes(parameters);
  return {vector * (updates_preconditioner(parameters) ? 4 : 2),
          std::max<Index>(vector * kEigenvalueVectors, vector + case_diagonal_bytes(parameters))};
}

OperatorBytes block_preconditioner_bytes(const FormShape& shape, BlockExchange exchange) {
  const OperatorBytes bytes = block_jacobi_bytes(shape, exchange);
  const Index eigenvalue =
      Saturated(shape.lattice.size()) * kBlockEigenvalueVectors * shape.value_bytes;
  return {bytes.held, std::max<Index>(Saturated(bytes.held) + eigenvalue, bytes.peak)};
}

OperatorBytes synchronous_block_bytes(const CaseParameters& parameters) {
  return block_preconditioner_bytes(case_shape(parameters), BlockExchange::synchronous);
}

OperatorBytes asynchronous_block_bytes(const CaseParameters& parameters) {
  return block_preconditioner_bytes(case_shape(parameters), BlockExchange::asynchronous);
}

OperatorBytes fast_diagonalization_bytes(const CaseParameters& parameters) {
  const FormShape shape = case_shape(parameters);
  const Index bytes =
      fast_diagonalization_bytes(shape.lattice, shape.dirichlet, planned_symmetry(parameters),
                                 shape.value_bytes, shape.processor);
  return {bytes, bytes};
}

OperatorBytes fast_diagonalization_host_bytes(const CaseParameters& parameters) {
  // The modes stay until those of the processor have been made of them, which begins when the work
  // on them is done; on the GPU by way of a copy of one axis.
  const Index modes = mode_bytes(parameters);
  const Index work = planned_axis_work(parameters).peak;
  if (case_processor(parameters) == Processor::gpu) {
    return {0, std::max<Index>(Saturated(modes) * 2, work)};
  }
  return {0, std::max(modes, work - std::min(work, fast_diagonalization_bytes(parameters).held))};
}

RankInverseBytes rank_inverse_bytes(const CaseParameters& parameters, const BoxPartition& partition,
                                    int rank) {
  const FormShape shape = case_shape(parameters);
  const bool is_preconditioner = parameters.solver.preconditioner == kFastDiagonalization;
  const bool has_mass =
      parameters.time && solves_systems(parameters) && shape.mesh_kind != MeshKind::mapped;
  RankInverseBytes bytes;
  if (!is_preconditioner && !has_mass) return bytes;
  const auto of = [&](Index value_bytes) {
    return rank_fast_diagonalization_bytes(shape.lattice, shape.dirichlet,
                                           planned_symmetry(parameters), partition, rank,
                                           value_bytes, shape.processor);
  };
  Saturated held = 0;
  if (is_preconditioner) held += of(shape.value_bytes);
  if (has_mass) held += of(sizeof(double));
  const Saturated modes = fast_diagonalization_host_bytes(parameters).peak;
  if (shape.processor == Processor::gpu) {
    // Modes of one are gone from the host when the other is made.
    bytes.on_host = modes;
    bytes.on_gpu = held;
  } else {
    bytes.on_host = held + modes * (is_preconditioner && has_mass ? 2 : 1);
  }
  return bytes;
}

bool updates_preconditioner(const CaseParameters& parameters) {
  return parameters.time || is_nonlinear(parameters);
}

int solver_vectors(const CaseParameters& parameters, const StrategyName& strategy) {
  const PreconditionerKind kind = preconditioner_row(parameters.solver.preconditioner).kind;
  const bool is_plain = kind == PreconditionerKind::none;
  const bool is_general = kind == PreconditionerKind::general;
  switch (parameters.solver.method) {
    case SolverMethod::single_reduction_cg:
      return is_plain ? 4 : 5;
    case SolverMethod::pipelined_cg:
      return is_plain ? 6 : is_general ? 9 : 7;
    case SolverMethod::richardson:
      // A diagonal's relaxation comes from an eigenvalue, before the iteration.
      return is_general ? 2 : kEigenvalueVectors - 1;
    case SolverMethod::flexible_gmres: {
      const int restart = parameters.solver.restart;
      return restart + 2 + (is_general ? restart : 0);
    }
    case SolverMethod::bicgstab:
      return is_plain ? 5 : 6;
    case SolverMethod::cg:
    case SolverMethod::flexible_cg:
      break;
  }
  if (!is_plain || has_varying_robin_face(parameters) ||
      !case_iterates_in_one_kernel(parameters, strategy.kernel)) {
    // z of a cycle in single precision is the cycle's own.
    const bool stores_z = is_general && !cycles_in_single(parameters);
    return stores_z ? 4 : 3;
  }
  const BoxMesh mesh = make_box_mesh(parameters);
  const Index in_one_kernel = *resident_cg_bytes(mesh, parameters.space.degree);
  // r and p, and what bricks of the mesh hold.
  const Index vector =
      NodeLattice(mesh, parameters.space.degree).size() * static_cast<Index>(sizeof(double));
  return static_cast<int>(2 + (in_one_kernel + vector - 1) / vector);
}

}  // namespace tessera
