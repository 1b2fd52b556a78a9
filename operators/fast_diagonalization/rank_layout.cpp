// This file cuts planes and lines out of the free nodes, and sends modes to all ranks.
#include "operators/fast_diagonalization/rank_layout.hpp"

#include <span>
#include <vector>

#include "mesh/partition.hpp"
#include "operators/form/on_all_ranks.hpp"

namespace tessera {
namespace {

template <class Value>
void broadcast(const Communicator& ranks, std::vector<Value>& values) {
  auto size = values.size();
  ranks.broadcast(std::as_writable_bytes(std::span(&size, 1)));
  values.resize(size);
  ranks.broadcast(std::as_writable_bytes(std::span(values)));
}

}  // namespace

NodeBox free_box(const AxisRoles<AxisModes>& modes, int dimension) {
  NodeBox box{{0, 0, 0}, {1, 1, 1}};
  const auto set = [&](int d, const AxisModes& axis) {
    box.first[d] = axis.first_free;
    box.end[d] = axis.first_free + axis.size();
  };
  set(0, modes.x);
  if (dimension == 3) set(1, modes.middle);
  set(dimension - 1, modes.outer);
  return box;
}

AxisRoles<AxisModes> shared_modes(const BilinearForm& form, const NearestSeparable& separable) {
  const Communicator& ranks = form.part->rank->ranks();
  auto modes = on_all_ranks(
      ranks, [&] { return ranks.rank() == 0 ? axis_roles(separable) : AxisRoles<AxisModes>{}; });
  for (AxisModes* axis : {&modes.x, &modes.middle, &modes.outer}) {
    std::array<Index, 3> sizes = {axis->first_free, axis->even, axis->odd};
    ranks.broadcast(std::as_writable_bytes(std::span(sizes)));
    axis->first_free = sizes[0];
    axis->even = sizes[1];
    axis->odd = sizes[2];
    for (std::vector<double>* values :
         {&axis->even_vectors, &axis->odd_vectors, &axis->eigenvalues}) {
      broadcast(ranks, *values);
    }
  }
  return modes;
}

BoxPlaces places_in(const PartNodes& nodes, const CellBox& cells, int degree) {
  const NodeLattice& lattice = nodes.lattice();
  BoxPlaces places{0, {lattice.stride(1), lattice.stride(2)}};
  places.origin =
      -places.of({cells.first[0] * degree, cells.first[1] * degree, cells.first[2] * degree});
  return places;
}

bool has_slabs(const BoxPartition& partition) {
  return partition.grid()[partition.dimension() - 1] == partition.rank_count();
}

InverseBoxes inverse_boxes(const BoxPartition& partition, int degree, const NodeBox& free) {
  const int dimension = partition.dimension();
  const int outer = dimension - 1;
  const int cut = dimension - 2;
  const int count = partition.rank_count();
  InverseBoxes boxes;
  for (int rank = 0; rank < count; ++rank) {
    const CellBox cells = partition.cells(rank);
    NodeBox part = free;
    NodeBox owned = free;
    for (int d = 0; d < dimension; ++d) {
      part.first[d] = cells.first[d] * degree;
      part.end[d] = (cells.first[d] + cells.counts[d]) * degree + 1;
      owned.first[d] = part.first[d] + (cells.first[d] > 0 ? 1 : 0);
      owned.end[d] = part.end[d];
    }
    boxes.part.push_back(intersection(part, free));
    boxes.owned.push_back(intersection(owned, free));
    const auto share = [&](int d) {
      const Range range = tessera::partition(free.extent(d), rank, count);
      NodeBox box = free;
      box.first[d] = free.first[d] + range.begin;
      box.end[d] = free.first[d] + range.end;
      return box;
    };
    boxes.planes.push_back(has_slabs(partition) ? boxes.owned.back() : share(outer));
    boxes.lines.push_back(share(cut));
  }
  return boxes;
}

}  // namespace tessera
