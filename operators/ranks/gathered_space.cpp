// This file gathers spaces and functions.
#include "operators/ranks/gathered_space.hpp"

#include <algorithm>
#include <utility>

#include "solvers/check.hpp"

namespace tessera {
namespace {

Discretization without_map(const BoxMesh& mesh, const Discretization& like) {
  const NodeLattice lattice(mesh, like.basis.degree);
  return {mesh, like.basis, lattice, Mapping(mesh, lattice, like.basis.nodes), like.frame};
}

// The cells of a coarser mesh of so many cells in which those of a part lie.
CellBox covering(const BoxMesh& part, const IndexTriple& cells) {
  CellBox box;
  for (int d = 0; d < part.dimension(); ++d) {
    const Index first = part.place().first_cell[d];
    const Index end = first + part.cells()[d];
    const bool is_kept = cells[d] == part.place().cells[d];
    box.first[d] = is_kept ? first : first / 2;
    box.counts[d] = (is_kept ? end : ceil_div(end, 2)) - box.first[d];
  }
  return box;
}

// The number of positions, which increase, that are `limit` at most.
Index count_up_to(const std::vector<double>& positions, double limit) {
  return std::upper_bound(positions.begin(), positions.end(), limit) - positions.begin();
}

}  // namespace

GatheredSpace::GatheredSpace(const Discretization& fine, const RankPart& part,
                             const LevelShape& shape)
    : fine_(fine),
      ranks_(part.ranks()),
      whole_(coarsen(without_map(part.whole_mesh(), fine), shape)),
      cover_(without_map(whole_.mesh.part(covering(fine.mesh, shape.cells)), whole_)),
      nodes_(whole_.mesh, covering(fine.mesh, shape.cells), shape.degree),
      first_{0, 0, 0},
      end_(cover_.lattice.extents()) {
  // In one frame.
  TESSERA_CHECK(part.mesh().lower() == fine.mesh.lower());
  TESSERA_CHECK(part.mesh().upper() == fine.mesh.upper());
  for (int d = 0; d < fine.mesh.dimension(); ++d) {
    const std::vector<double>& positions = cover_.mapping.line(d);
    const FaceSet& domain = part.domain_faces();
    if (!domain[2 * d]) first_[d] = count_up_to(positions, fine.mesh.lower()[d]);
    if (!domain[2 * d + 1]) end_[d] = count_up_to(positions, fine.mesh.upper()[d]);
  }
}

Discretization GatheredSpace::make() const {
  if (fine_.mapping.is_cartesian()) return whole_;
  std::array<HostArray<double>, 3> coordinates;
  for (int d = 0; d < fine_.mesh.dimension(); ++d) {
    coordinates[d] = gathered(fine_.mapping.coordinate(d).data());
  }
  return {whole_.mesh, whole_.basis, whole_.lattice,
          Mapping(whole_.mesh, whole_.lattice, whole_.basis.nodes, std::move(coordinates)),
          whole_.frame};
}

FaceSet GatheredSpace::cover_faces() const {
  FaceSet faces;
  const PlaceInWhole& place = cover_.mesh.place();
  for (int d = 0; d < cover_.mesh.dimension(); ++d) {
    faces[2 * d] = place.first_cell[d] == 0;
    faces[2 * d + 1] = place.first_cell[d] + cover_.mesh.cells()[d] == place.cells[d];
  }
  return faces;
}

HostArray<double> GatheredSpace::gathered(const double* values) const {
  // Beyond the rank's own cells these continue what is in them: others have the values there.
  const HostArray<double> at_nodes = coarsen(fine_, values, cover_);
  HostArray<double> whole(static_cast<std::size_t>(whole_.lattice.size()));
  std::fill(whole.begin(), whole.end(), 0.0);
  nodes_.copy_to_whole(first_, end_, at_nodes.data(), whole.data());
  ranks_.sum(whole);
  return whole;
}

}  // namespace tessera
