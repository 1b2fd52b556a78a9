// This file plans the levels of multigrid and counts their memory.
#include "src/case/memory/multigrid_memory.hpp"

#include <algorithm>

#include "mesh/coarsening.hpp"
#include "mesh/saturated.hpp"
#include "operators/csr/size.hpp"
#include "operators/multigrid/lattice_transfer.hpp"
#include "operators/multigrid/size.hpp"
#include "operators/strategy.hpp"
#include "solvers/preconditioners/fused_levels.hpp"
#include "src/case/memory/application_bytes.hpp"
#include "src/case/memory/preconditioner_memory.hpp"
#include "src/case/setup.hpp"
#include "src/case/shape.hpp"
#include "src/case/strategy.hpp"
#include "src/solve/preconditioner_table.hpp"

namespace tessera {
namespace {

// Of dense_inverse(): the matrix, its factors, the inverse, that made symmetric, and the result.
constexpr int kInverseMatrices = 5;

// What is held, and the most so far.
class Tally {
 public:
  void hold(Saturated bytes) {
    held_ += bytes;
    peak_ = std::max<Index>(peak_, held_);
  }
  // For a while.
  void pass(Saturated bytes) { peak_ = std::max<Index>(peak_, held_ + bytes); }
  OperatorBytes bytes() const { return {held_, peak_}; }

 private:
  Saturated held_ = 0;
  Saturated peak_ = 0;
};

Precision cycle_precision(const CaseParameters& parameters) {
  return parameters.operation.precision == Precision::single_precision
             ? Precision::single_precision
             : parameters.solver.multigrid.precision;
}

// The shape of a level, in the precision of the cycle or another.
FormShape shape_of_level(const FormShape& finest, const BoxMesh& mesh, int degree,
                         Precision precision) {
  FormShape level = on_level(finest, mesh, degree);
  level.value_bytes = value_bytes(precision);
  return level;
}

// Of the blocks that multigrid smooths with.
BlockExchange exchange_of(const CaseParameters& parameters) {
  return parameters.solver.multigrid.smoother == SmootherKind::block_jacobi
             ? BlockExchange::synchronous
             : BlockExchange::asynchronous;
}

// Sizes of a level of the planned hierarchy.
struct PlannedLevel {
  LevelShape shape;
  LevelParts parts;
  OperatorBytes operation{0, 0};  // of its own operator
  Index diagonal = 0;             // while that is found
  OperatorBytes blocks{0, 0};
  OperatorBytes start{0, 0};  // of the operator in the precision of the solver
  Index start_transfer = 0;   // the same of the transfer to the coarser level
  std::string strategy = {};
};

// Values of the vectors between the sweeps of a transfer, one an axis that is refined.
Index transfer_values(const NodeLattice& coarse, const NodeLattice& fine) {
  std::vector<int> axes;
  for (int d = 0; d < fine.dimension(); ++d) {
    if (coarse.extents()[d] != fine.extents()[d]) axes.push_back(d);
  }
  IndexTriple extents = coarse.extents();
  Index largest = 0;
  for (std::size_t s = 0; s + 1 < axes.size(); ++s) {
    extents[axes[s]] = fine.extents()[axes[s]];
    largest = std::max(largest, IndexBox(extents).size());
  }
  return 2 * largest;
}

// Of D^-1 A with equal cells: the square of the nodes along the longest axis, over that of the
// longest wave.
double typical_condition(const NodeLattice& lattice) {
  constexpr double kPi = 3.14159265358979;
  const Index nodes = *std::max_element(lattice.extents().begin(), lattice.extents().end());
  const double ratio = 2.0 * static_cast<double>(nodes) / kPi;
  return ratio * ratio;
}

Index rows_entry_bytes(Index value_bytes) {
  return value_bytes + static_cast<Index>(sizeof(std::int32_t));
}

// Of the matrix of a level that is fused; made as that of csr is, with 64-bit row starts.
OperatorBytes rows_bytes(const FormShape& level) {
  return {csr_nonzeros(level.lattice, level.dirichlet) * rows_entry_bytes(level.value_bytes) +
              (level.lattice.size() + 1) * static_cast<Index>(sizeof(Index)),
          operator_bytes({"csr"}, level).peak};
}

std::vector<PlannedLevel> plan(const CaseParameters& parameters) {
  const FormShape finest = case_shape(parameters);
  const MultigridOptions options = multigrid_options(parameters);
  const std::vector<LevelShape> shapes =
      plan_levels({parameters.space.degree, finest.mesh.cells()}, finest.dimension(),
                  case_cell_widths(parameters), options.rules);
  std::vector<PlannedLevel> levels;
  BoxMesh mesh = finest.mesh;
  for (std::size_t l = 0; l < shapes.size(); ++l) {
    mesh = merge_cells(mesh, shapes[l].cells);
    const FormShape level =
        shape_of_level(finest, mesh, shapes[l].degree, cycle_precision(parameters));
    const StrategyName strategy = choose_strategy(level, options.scatter);
    const NodeLattice& lattice = level.lattice;
    const Index n = lattice.size();
    const Index value = level.value_bytes;
    const bool is_the_cases = l == 0 && value == finest.value_bytes;
    const LevelPlace place = l + 1 == shapes.size() ? LevelPlace::coarsest : LevelPlace::inner;
    PlannedLevel planned{shapes[l], {level_work(options.smoother, place, n), l, n, value}};
    LevelParts& parts = planned.parts;
    if (level.processor == Processor::gpu) parts.transfer_vectors = kVectorsOfOnePass;
    const bool fused =
        !is_the_cases && is_fused(level.processor, options.smoother, lattice, level.dirichlet);
    planned.strategy = is_the_cases ? "as the case's" : fused ? kInOneKernel : strategy.text();
    if (fused) {
      planned.operation = rows_bytes(level);
    } else if (!is_the_cases) {
      planned.operation = operator_bytes(strategy, level);
    }
    if (l > 0) {
      FormShape start = level;
      start.value_bytes = finest.value_bytes;
      planned.start = operator_bytes(choose_strategy(start, options.scatter), start);
    }
    if (!fused) {
      planned.diagonal = diagonal_bytes(is_the_cases ? case_strategy(parameters) : strategy, level);
    }
    parts.operator_bytes = planned.operation.held;
    const Index streamed = fused ? planned.operation.held : geometry_bytes(strategy, level);
    parts.apply_bytes =
        static_cast<double>(streamed) + 2.0 * static_cast<double>(n) * static_cast<double>(value);
    if (!fused && fuses_steps(strategy.kernel, level)) {
      parts.steps = Steps::fused;
    }
    if (parts.work == LevelWork::smooth_by_blocks) {
      planned.blocks = block_preconditioner_bytes(level, exchange_of(parameters));
      parts.block_bytes = planned.blocks.held;
    }
    if (parts.work == LevelWork::solve_by_chebyshev) {
      parts.coarse_steps = coarse_chebyshev_steps(typical_condition(lattice));
    }
    if (place != LevelPlace::coarsest) {
      const NodeLattice coarser(merge_cells(mesh, shapes[l + 1].cells), shapes[l + 1].degree);
      const bool coarser_fused =
          is_fused(level.processor, options.smoother, coarser, level.dirichlet);
      if (coarser_fused && (fused || is_transfer_fused(coarser, lattice, mesh))) {
        parts.transfer_bytes =
            max_prolongation_entries(coarser, lattice, mesh) * 2 * rows_entry_bytes(value) +
            (n + coarser.size() + 2) * static_cast<Index>(sizeof(Index));
      } else if (level.processor == Processor::gpu) {
        parts.transfer_bytes = transfer_table_bytes(coarser, lattice, value);
      } else {
        parts.transfer_bytes = Saturated(transfer_values(coarser, lattice)) * value;
      }
      // A start has no levels in one kernel, which have rows of transfers.
      planned.start_transfer =
          level.processor == Processor::gpu
              ? transfer_table_bytes(coarser, lattice, finest.value_bytes)
              : static_cast<Index>(Saturated(transfer_values(coarser, lattice)) *
                                   finest.value_bytes);
    }
    levels.push_back(std::move(planned));
  }
  return levels;
}

// Of the nodes of a coarser level of a mapped mesh.
Index position_bytes(const CaseParameters& parameters, const LevelParts& level) {
  if (level.number == 0 || parameters.mesh.map.empty()) return 0;
  return Saturated(level.dofs) * parameters.mesh.dimension * sizeof(double);
}

}  // namespace

std::vector<LevelSummary> planned_levels(const CaseParameters& parameters) {
  const MultigridOptions options = multigrid_options(parameters);
  std::vector<LevelSummary> summaries;
  for (const PlannedLevel& level : plan(parameters)) {
    summaries.push_back({level.shape, level.parts.dofs, level.strategy, level_bytes(level.parts),
                         level_cycle_bytes(options, level.parts), 0.0});
  }
  return summaries;
}

// As MultigridAssembly makes it: all operators, then smoothers and transfers, then vectors.
OperatorBytes multigrid_bytes(const CaseParameters& parameters) {
  const std::vector<PlannedLevel> levels = plan(parameters);
  const bool on_cpu = case_processor(parameters) == Processor::cpu;
  Tally tally;
  for (const PlannedLevel& level : levels) {
    if (!on_cpu) tally.hold(position_bytes(parameters, level.parts));
    tally.pass(level.operation.peak);
    tally.hold(level.operation.held);
  }
  for (const PlannedLevel& level : levels) {
    const LevelParts& parts = level.parts;
    if (parts.work == LevelWork::smooth_by_blocks) {
      tally.pass(level.blocks.peak);
    } else if (parts.work == LevelWork::solve_by_inverse) {
      if (on_cpu)
        tally.pass(Saturated(parts.dofs) * parts.dofs * kInverseMatrices * sizeof(double));
    } else {
      const Saturated vector = Saturated(parts.dofs) * parts.value_bytes;
      tally.pass(std::max<Index>(vector * kEigenvalueVectors, vector + level.diagonal));
    }
    tally.hold(solver_bytes(parts));
    tally.hold(parts.transfer_bytes);
  }
  for (const PlannedLevel& level : levels) tally.hold(cycle_vector_bytes(level.parts));
  // Operators that change estimate the spectrum again, in two vectors more than are there.
  if (updates_preconditioner(parameters)) {
    for (const PlannedLevel& level : levels) {
      const LevelWork work = level.parts.work;
      if (work == LevelWork::smooth_by_chebyshev || work == LevelWork::solve_by_chebyshev) {
        tally.hold(Saturated(level.parts.dofs) * 2 * level.parts.value_bytes);
      }
    }
  }
  // Residual and correction where they are rounded.
  const LevelParts& finest = levels.front().parts;
  if (finest.value_bytes != value_bytes(parameters.operation.precision)) {
    tally.hold(Saturated(finest.dofs) * 2 * finest.value_bytes);
  }
  return tally.bytes();
}

OperatorBytes multigrid_host_bytes(const CaseParameters& parameters) {
  const bool on_gpu = case_processor(parameters) == Processor::gpu;
  const bool on_gpu_only = makes_positions_on_gpu(parameters);
  Tally tally;
  Index inverse = 0;
  for (const PlannedLevel& level : plan(parameters)) {
    if (!on_gpu_only) tally.hold(position_bytes(parameters, level.parts));
    if (on_gpu && level.parts.work == LevelWork::solve_by_inverse) {
      inverse = level.parts.dofs * level.parts.dofs * kInverseMatrices *
                static_cast<Index>(sizeof(double));
    }
  }
  tally.pass(inverse);
  return tally.bytes();
}

Index full_multigrid_bytes(const CaseParameters& parameters) {
  if (parameters.solver.initial != kFullMultigrid) return 0;
  const Index value = value_bytes(parameters.operation.precision);
  Saturated bytes = 0;
  for (const PlannedLevel& level : plan(parameters)) {
    const LevelParts& parts = level.parts;
    // Which nodes are given, residual and correction; on coarser levels solution, right-hand side
    // and values as well.
    const int vectors = parts.number == 0 ? 3 : 6;
    bytes += Saturated(parts.dofs) * vectors * value + level.start.held + level.start_transfer;
    if (parts.value_bytes != value) bytes += Saturated(parts.dofs) * 2 * parts.value_bytes;
  }
  return bytes;
}

Index full_multigrid_host_bytes(const CaseParameters& parameters) {
  if (parameters.solver.initial != kFullMultigrid) return 0;
  // Solution, right-hand side and lifted values of one level after the other.
  constexpr int kVectors = 3;
  const std::vector<PlannedLevel> levels = plan(parameters);
  if (levels.size() < 2) return 0;
  return Saturated(levels[1].parts.dofs) * kVectors * sizeof(double);
}

}  // namespace tessera
