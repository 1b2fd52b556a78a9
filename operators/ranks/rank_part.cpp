// This file says to solvers, which know no mesh, which entries of vectors ranks share.
#include "operators/ranks/rank_part.hpp"

#include <utility>

namespace tessera {
namespace {

EntryPlane entries_of(const FaceNodes& nodes) { return {nodes.first, nodes.counts, nodes.strides}; }

VectorLayout layout_of(const Communicator& ranks, const PartNodes& nodes,
                       const std::shared_ptr<const DeviceCarrier>& carrier) {
  const NodeLattice& lattice = nodes.lattice();
  if (ranks.size() == 1) return VectorLayout(lattice.size());
  std::vector<EntryPlane> not_owned;
  for (const FaceNodes& plane : nodes.not_owned()) not_owned.push_back(entries_of(plane));
  const NodeLattice& whole = nodes.whole();
  const WholeNumbers numbers{nodes.first_in_whole(),
                             lattice.stride(1),
                             lattice.extents()[1],
                             {whole.stride(1), whole.stride(2)},
                             whole.size()};
  return VectorLayout(lattice.size(), std::make_shared<const SharedEntries>(
                                          ranks, std::move(not_owned), numbers, carrier));
}

}  // namespace

RankPart::RankPart(const Communicator& ranks, const BoxPartition& partition, const BoxMesh& whole,
                   int degree, std::shared_ptr<const DeviceCarrier> carrier)
    : ranks_(ranks),
      carrier_(std::move(carrier)),
      partition_(partition),
      whole_mesh_(whole),
      mesh_(whole.part(partition.cells(ranks.rank()))),
      nodes_(partition, ranks.rank(), whole, degree),
      domain_faces_(partition.domain_faces(ranks.rank())),
      layout_(layout_of(ranks, nodes_, carrier_)) {
  TESSERA_CHECK(ranks.size() == partition.rank_count());
}

SharedPlanes RankPart::shared_planes(FaceSet dirichlet) const {
  TESSERA_CHECK((dirichlet & ~domain_faces_).none());
  SharedPlanes planes;
  for (int axis = 0; axis < mesh_.dimension(); ++axis) {
    for (const SharedNodes& shared : nodes_.shared_planes(axis, dirichlet)) {
      planes[axis].push_back({shared.neighbor, entries_of(shared.nodes)});
    }
  }
  return planes;
}

}  // namespace tessera
