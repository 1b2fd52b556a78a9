// This file counts what a rank has.
#include "src/case/ranks/rank_parts.hpp"

#include <algorithm>
#include <vector>

#include "mesh/node_lattice.hpp"
#include "mesh/saturated.hpp"
#include "postprocess/ranks/whole_solution.hpp"
#include "solvers/ranks/gpu/peer_carrier.hpp"
#include "src/case/memory/multigrid_memory.hpp"
#include "src/case/memory/preconditioner_memory.hpp"
#include "src/case/nonlinear/nonlinear_case.hpp"
#include "src/case/ranks/rank_partition.hpp"
#include "src/case/setup.hpp"
#include "src/case/shape.hpp"
#include "src/case/time/time_case.hpp"

namespace tessera {
namespace {

// Nodes of a box of cells, and of a plane of it across an axis.
Index box_nodes(const IndexTriple& cells, int dimension, int degree) {
  Saturated nodes = 1;
  for (int d = 0; d < dimension; ++d) nodes *= nodes_along(cells[d], degree);
  return nodes;
}

Index plane_nodes(const IndexTriple& cells, int axis, int dimension, int degree) {
  Saturated nodes = 1;
  for (int d = 0; d < dimension; ++d) {
    if (d != axis) nodes *= nodes_along(cells[d], degree);
  }
  return nodes;
}

// Nodes of all planes that the rank shares, where its part has so many cells.
Index shared_nodes(const BoxPartition& partition, int rank, const IndexTriple& cells, int degree) {
  const int dimension = partition.dimension();
  Saturated nodes = 0;
  for (int face = 0; face < face_count(dimension); ++face) {
    if (!partition.neighbor(rank, face)) continue;
    nodes += plane_nodes(cells, face_axis(face), dimension, degree);
  }
  return nodes;
}

// How many sums of planes of the finest level have messages of their own, at most.
int exchange_count(const CaseParameters& parameters) {
  const bool is_implicit = parameters.time && solves_systems(parameters);
  // Of the operator that is solved with and of the mass.
  const int operators = is_implicit ? 2 : 1;
  // Of the form that steps are made of.
  if (!is_nonlinear(parameters)) return operators + (is_implicit ? 1 : 0);
  const int residuals = 1;
  return operators + residuals + (has_drift(parameters) ? 1 : 0) +
         (has_definite_operator(parameters) ? 1 : 0);
}

Index cycle_value_bytes(const CaseParameters& parameters) {
  return std::min(value_bytes(parameters.operation.precision),
                  value_bytes(parameters.solver.multigrid.precision));
}

MemoryPart inverse_part(Index bytes) { return {"modes of the whole, planes and lines", bytes}; }

// The inverse of the whole in the place of that of a part.
void take_place_of_preconditioner(const MemoryPart& inverse, MemoryPhase& phase) {
  for (MemoryPart& part : phase.parts) {
    if (part.name == kPreconditionerPart) part.bytes = 0;
  }
  phase.parts.push_back(inverse);
}

}  // namespace

Index part_dofs(const BoxPartition& partition, int rank, int degree) {
  return box_nodes(partition.cells(rank).counts, partition.dimension(), degree);
}

int largest_part(const BoxPartition& partition, int degree) {
  int largest = 0;
  for (int r = 1; r < partition.rank_count(); ++r) {
    if (part_dofs(partition, r, degree) > part_dofs(partition, largest, degree)) largest = r;
  }
  return largest;
}

int smallest_part(const BoxPartition& partition, int degree) {
  int smallest = 0;
  for (int r = 1; r < partition.rank_count(); ++r) {
    if (part_dofs(partition, r, degree) < part_dofs(partition, smallest, degree)) smallest = r;
  }
  return smallest;
}

CaseParameters part_case(const CaseParameters& parameters, const BoxPartition& partition,
                         int rank) {
  const BoxMesh part = make_box_mesh(parameters).part(partition.cells(rank));
  CaseParameters own = parameters;
  for (int d = 0; d < part.dimension(); ++d) {
    own.mesh.cells[d] = part.cells()[d];
    own.mesh.lower[d] = part.lower()[d];
    own.mesh.upper[d] = part.upper()[d];
    own.mesh.spacing[d] = {};
    if (part.is_uniform(d)) continue;
    for (Index i = 0; i <= part.cells()[d]; ++i) {
      own.mesh.spacing[d].lines.push_back(part.grid_line(d, i));
    }
  }
  for (int face = 0; face < face_count(part.dimension()); ++face) {
    if (!partition.neighbor(rank, face)) continue;
    own.boundary[face] = {BoundaryType::neumann, "0", std::nullopt};
  }
  return own;
}

Index exchange_bytes(const CaseParameters& parameters, const BoxPartition& partition, int rank) {
  constexpr Index kSentAndReceived = 2;
  const int degree = parameters.space.degree;
  const IndexTriple cells = partition.cells(rank).counts;
  Saturated bytes = Saturated(shared_nodes(partition, rank, cells, degree)) *
                    value_bytes(parameters.operation.precision) * exchange_count(parameters);
  if (parameters.solver.preconditioner == kMultigrid) {
    const std::vector<LevelSummary> levels = planned_levels(parameters);
    const std::size_t gathered = first_gathered_level(parameters, partition);
    const IndexTriple whole = make_box_mesh(parameters).cells();
    for (std::size_t l = 0; l < std::min(gathered, levels.size()); ++l) {
      IndexTriple own = cells;
      for (int d = 0; d < partition.dimension(); ++d) {
        own[d] = ceil_div(cells[d] * levels[l].shape.cells[d], whole[d]);
      }
      bytes += Saturated(shared_nodes(partition, rank, own, levels[l].shape.degree)) *
               cycle_value_bytes(parameters);
    }
  }
  bytes *= kSentAndReceived;
  // The drift of a rank is summed over all before it is added.
  if (has_drift(parameters))
    bytes += Saturated(part_dofs(partition, rank, degree)) * sizeof(double);
  return bytes;
}

Index gathered_bytes(const CaseParameters& parameters, const BoxPartition& partition) {
  if (parameters.solver.preconditioner != kMultigrid) return 0;
  const std::vector<LevelSummary> levels = planned_levels(parameters);
  const std::size_t first = first_gathered_level(parameters, partition);
  const Index doubles = sizeof(double);
  const Index positions = parameters.mesh.map.empty() ? 0 : parameters.mesh.dimension * doubles;
  Saturated bytes = 0;
  for (std::size_t l = first; l < levels.size(); ++l) {
    bytes += Saturated(levels[l].bytes) + Saturated(levels[l].dofs) * positions;
  }
  if (first < levels.size()) bytes += Saturated(levels[first].dofs) * doubles;
  return bytes;
}

MemoryEstimate estimate_rank_gpu_memory(const CaseParameters& parameters,
                                        const StrategyName& strategy, const BoxPartition& partition,
                                        int rank) {
  MemoryEstimate estimate = estimate_gpu_memory(part_case(parameters, partition, rank), strategy);
  const MemoryPart exchange{"messages to other ranks", exchange_bytes(parameters, partition, rank)};
  const MemoryPart gathered{"levels that all ranks have", gathered_bytes(parameters, partition)};
  const MemoryPart inverse = inverse_part(rank_inverse_bytes(parameters, partition, rank).on_gpu);
  const int ranks = partition.rank_count();
  for (MemoryPhase& phase : estimate.phases) {
    if (ranks > 1) phase.parts.push_back({"messages of other ranks", peer_inbox_bytes(ranks)});
    phase.parts.push_back(exchange);
    phase.parts.push_back(gathered);
    if (inverse.bytes > 0) take_place_of_preconditioner(inverse, phase);
  }
  return estimate;
}

MemoryEstimate estimate_rank_memory(const CaseParameters& parameters, const StrategyName& strategy,
                                    const BoxPartition& partition, int rank, int on_host) {
  const CaseParameters own = part_case(parameters, partition, rank);
  MemoryEstimate estimate = estimate_memory(own, strategy);
  const MemoryPart exchange{"messages to other ranks", exchange_bytes(parameters, partition, rank)};
  const MemoryPart gathered{"levels that all ranks have", gathered_bytes(parameters, partition)};
  const MemoryPart inverse = inverse_part(rank_inverse_bytes(parameters, partition, rank).on_host);
  for (MemoryPhase& phase : estimate.phases) {
    phase.parts.insert(phase.parts.begin() + 1, {"MPI", kMpiBytes});
    phase.parts.push_back(exchange);
    phase.parts.push_back(gathered);
    if (inverse.bytes > 0) take_place_of_preconditioner(inverse, phase);
  }
  if (parameters.output.picture) {
    const NodeLattice whole(make_box_mesh(parameters), parameters.space.degree);
    const Index bytes = gathered_solution_bytes(whole, !parameters.mesh.map.empty());
    for (MemoryPhase& phase : estimate.phases) {
      // A run in time draws while it goes on.
      if (!parameters.time && phase.name != kDrawingPhase) continue;
      phase.parts.push_back({"whole solution, for the picture", ceil_div(bytes, on_host)});
    }
  }
  return estimate;
}

}  // namespace tessera
