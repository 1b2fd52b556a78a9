// This file sends parts to rank 0, row by row of nodes.
#include "postprocess/ranks/whole_solution.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "mesh/partition.hpp"
#include "mesh/saturated.hpp"
#include "operators/form/on_all_ranks.hpp"

namespace tessera {
namespace {

// Values of a message.
constexpr Index kChunk = Index{1} << 17;

// Where a part's nodes lie among those of the whole.
struct PartPlace {
  Index first_in_whole;
  IndexTriple extents;

  Index size() const { return extents[0] * extents[1] * extents[2]; }
};

// Puts consecutive nodes of a part into the whole.
void place_values(const PartPlace& part, const NodeLattice& whole, Range nodes,
                  const double* values, double* to) {
  for (Index node = nodes.begin; node < nodes.end;) {
    const Index row = node / part.extents[0];
    const Index i = node - row * part.extents[0];
    const Index count = std::min(part.extents[0] - i, nodes.end - node);
    const Index there =
        part.first_in_whole + whole.offset(i, row % part.extents[1], row / part.extents[1]);
    std::copy_n(values, count, to + there);
    values += count;
    node += count;
  }
}

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
  const NodeLattice& whole = part.nodes().whole();
  const bool is_root = ranks.rank() == 0;
  const std::vector<PartPlace> places =
      ranks.all_gather(PartPlace{part.nodes().first_in_whole(), part.nodes().lattice().extents()});
  struct Buffers {
    HostArray<double> all;
    std::vector<double> received;
    // Of as many values as there are in the message that comes.
    std::vector<double> reply;
  };
  Buffers buffers = on_all_ranks(ranks, [&] {
    Buffers made;
    const Index longest =
        std::max_element(places.begin(), places.end(), [](const PartPlace& a, const PartPlace& b) {
          return a.size() < b.size();
        })->size();
    const auto chunk = static_cast<std::size_t>(std::min(longest, kChunk));
    made.received.resize(chunk);
    made.reply.resize(is_root ? chunk : 0);
    if (is_root) made.all.resize(static_cast<std::size_t>(whole.size()));
    return made;
  });
  if (is_root) part.nodes().copy_to_whole(values.data(), buffers.all.data());
  for (int rank = 1; rank < ranks.size(); ++rank) {
    if (!is_root && ranks.rank() != rank) continue;
    const PartPlace& place = places[static_cast<std::size_t>(rank)];
    for (Index first = 0; first < place.size(); first += kChunk) {
      const Range nodes{first, std::min(first + kChunk, place.size())};
      const auto count = static_cast<std::size_t>(nodes.size());
      const std::span received = std::span(buffers.received).first(count);
      const std::span<const double> sent =
          is_root ? std::span<const double>(buffers.reply).first(count)
                  : values.subspan(static_cast<std::size_t>(first), count);
      const Message message{is_root ? rank : 0, std::as_bytes(sent),
                            std::as_writable_bytes(received)};
      ranks.exchange(std::span(&message, 1));
      if (is_root) place_values(place, whole, nodes, received.data(), buffers.all.data());
    }
  }
  return std::move(buffers.all);
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
         2 * kChunk * static_cast<Index>(sizeof(double));
}

}  // namespace tessera
