// This file sends parts to rank 0.
#include "postprocess/ranks/whole_solution.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "mesh/saturated.hpp"
#include "operators/form/on_all_ranks.hpp"
#include "solvers/ranks/whole_vector.hpp"

namespace tessera {
namespace {

// Values of a message.
constexpr Index kChunk = Index{1} << 17;
// That rank 0 holds: of the whole, from a rank, and its answer.
constexpr Index kChunks = 3;

// The whole of a mesh, of which each rank knows the grid lines of its part.
BoxMesh whole_of(const Communicator& ranks, const BoxMesh& part) {
  const PlaceInWhole& place = part.place();
  std::array<GridLines, 3> lines;
  for (int d = 0; d < part.dimension(); ++d) {
    if (part.is_uniform(d)) continue;
    lines[d].assign(static_cast<std::size_t>(place.cells[d] + 1),
                    -std::numeric_limits<double>::infinity());
    for (Index i = 0; i <= part.cells()[d]; ++i) {
      lines[d][place.first_cell[d] + i] = part.grid_line(d, i);
    }
    ranks.max(lines[d]);
  }
  return {part.dimension(), place.cells, place.lower, place.upper, std::move(lines)};
}

Mapping whole_mapping(const BoxMesh& mesh, const NodeLattice& lattice, const Discretization& part,
                      std::array<HostArray<double>, 3> coordinates) {
  return part.mapping.is_cartesian()
             ? Mapping(mesh, lattice, part.basis.nodes)
             : Mapping(mesh, lattice, part.basis.nodes, std::move(coordinates));
}

}  // namespace

HostArray<double> gather_values(const RankPart& part, std::span<const double> values) {
  const Communicator& ranks = part.ranks();
  HostArray<double> all = on_all_ranks(ranks, [&] {
    const Index size = ranks.rank() == 0 ? part.nodes().whole().size() : 0;
    return HostArray<double>(static_cast<std::size_t>(size));
  });
  gather_whole(part.layout(), values, kChunk, [&](Index first, std::span<const double> chunk) {
    std::copy(chunk.begin(), chunk.end(), all.begin() + first);
  });
  return all;
}

std::optional<Discretization> gather_space(const RankPart& part, const Discretization& space) {
  const Communicator& ranks = part.ranks();
  const BoxMesh mesh = whole_of(ranks, space.mesh);
  std::array<HostArray<double>, 3> coordinates;
  for (int d = 0; d < mesh.dimension() && !space.mapping.is_cartesian(); ++d) {
    const HostArray<double>& of_part = space.mapping.coordinate(d);
    coordinates[d] =
        gather_values(part, {of_part.data(), static_cast<std::size_t>(space.lattice.size())});
  }
  return on_all_ranks(ranks, [&]() -> std::optional<Discretization> {
    if (ranks.rank() != 0) return std::nullopt;
    const NodeLattice lattice(mesh, space.lattice.degree());
    return Discretization{mesh, space.basis, lattice,
                          whole_mapping(mesh, lattice, space, std::move(coordinates)), space.frame};
  });
}

Index gathered_solution_bytes(const NodeLattice& whole, bool is_mapped) {
  const int values_per_node = 1 + (is_mapped ? whole.dimension() : 0);
  return Saturated(whole.size()) * values_per_node * static_cast<Index>(sizeof(double)) +
         kChunks * kChunk * static_cast<Index>(sizeof(double));
}

}  // namespace tessera
