// CaseSizes are what the phases of a run are made of.
#pragma once

#include "mesh/saturated.hpp"
#include "operators/strategy.hpp"
#include "src/case/memory/memory_estimate.hpp"
#include "src/case/shape.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// Vectors that time steps hold beside the solution and those of a linear solve; 0 without
/// `[time]`. Stages: of the Runge-Kutta methods (TRBDF2 3, ESDIRK324 4, ESDIRK436 6 for sdirk of
/// orders 2, 3, 4; Heun-Euler 2, Bogacki-Shampine 4, Zonneveld 5 for explicit-rk), 2 for backward
/// Euler, or the order + 1 values of BDF's history. Others, in which methods predict, correct and
/// weigh errors, and the system in time has its data, as counted in runs of all of them: 4 for
/// implicit Runge-Kutta methods with fixed steps of a linear case whose capacity does not move, 12
/// for others, 8 for BDF, 6 and 8 for fixed and adaptive explicit steps.
int time_vectors(const CaseParameters& parameters);

/// What a mass matrix holds, and the most while it is made.
struct MassSizes {
  MemoryPart held, peak;
};

/// The sizes that the phases of a run are made of. Parameters and strategy must outlive this.
struct CaseSizes {
  CaseSizes(const CaseParameters& parameters_in, const StrategyName& strategy_in);

  bool is_mapped() const { return !parameters.mesh.map.empty(); }
  bool is_single() const { return parameters.operation.precision == Precision::single_precision; }
  /// Bytes of so many vectors in double precision, and in that of the solver.
  Index vectors(int count) const { return Saturated(lattice.size()) * sizeof(double) * count; }
  Index solver_vectors(int count) const {
    return Saturated(lattice.size()) * value_bytes(parameters.operation.precision) * count;
  }
  MemoryPart operator_part(Index bytes) const { return {"operator " + strategy.text(), bytes}; }
  MemoryPart steps_part() const;
  MemoryPart method_part() const;
  /// Of a linear case in time: the operator of the form beside that of steps.
  MemoryPart form_part() const;
  /// Of a non-linear case: what its iteration and the Jacobian hold, where it is computed.
  MemoryPart nonlinear_part() const;
  /// What the host holds of it if the GPU computes it: the state of the forms, and a vector on its
  /// way.
  MemoryPart state_part() const;
  /// While operator and Jacobian take another state, time or step: what is needed beside them.
  MemoryPart update_part() const;
  /// Of a case in time.
  MassSizes mass() const;
  /// Whether the operator of steps is made in the first one, for all of them.
  bool makes_steps_once() const;

  const CaseParameters& parameters;
  const StrategyName& strategy;
  FormShape shape;
  const BoxMesh& mesh;
  const NodeLattice& lattice;
  OperatorBytes operation;
  /// Of the processor's preconditioner, and what the host needs for it; nothing where no system is
  /// solved.
  OperatorBytes preconditioner;
  OperatorBytes preconditioner_on_host;
  Index start;  // by full multigrid

 private:
  bool is_on_gpu() const { return shape.processor == Processor::gpu; }
  bool adapts_steps() const;
  int iteration_vectors() const;
  OperatorBytes drift() const;
};

}  // namespace tessera
