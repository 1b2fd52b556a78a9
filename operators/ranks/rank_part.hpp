// A RankPart is what one rank knows of its part of a problem.
#pragma once

#include <memory>
#include <type_traits>

#include "mesh/partition/part_nodes.hpp"
#include "solvers/memory/vector_layout.hpp"
#include "solvers/ranks/plane_exchange.hpp"

namespace tessera {

/// One rank's part of a mesh and of the nodes of degree p on it: the mesh to make a discretization
/// of, the layout of its vectors, and the planes of nodes that it shares.
///
/// Any strategy's operator of the same part of a form (form_on_part), local load vectors and
/// integrals are summands of the whole's.
class RankPart {
 public:
  /// @param ranks as many as the partition has; must outlive this object and what it makes
  /// @param whole the mesh that the partition is of
  /// @param carrier what moves values between the ranks' GPUs; null where they compute on the host
  RankPart(const Communicator& ranks, const BoxPartition& partition, const BoxMesh& whole,
           int degree, std::shared_ptr<const DeviceCarrier> carrier = nullptr);

  const Communicator& ranks() const { return ranks_; }
  const std::shared_ptr<const DeviceCarrier>& carrier() const { return carrier_; }
  /// How the whole mesh is shared out, and the whole mesh.
  const BoxPartition& partition() const { return partition_; }
  const BoxMesh& whole_mesh() const { return whole_mesh_; }
  /// The part of the mesh, with positions and widths that have the bits of the whole.
  const BoxMesh& mesh() const { return mesh_; }
  const PartNodes& nodes() const { return nodes_; }
  /// The faces of the part on the domain's boundary.
  FaceSet domain_faces() const { return domain_faces_; }
  /// The layout of vectors of the part: the same object for all, so that they go together.
  const VectorLayout& layout() const { return layout_; }

  /// Sums shared planes; rows of nodes on Dirichlet faces are left alone.
  /// @param dirichlet faces of the part
  template <class T, class Space = Host>
  PlaneExchange<T, Space> exchange(FaceSet dirichlet) const {
    if constexpr (std::is_same_v<Space, Host>) {
      return PlaneExchange<T, Host>(ranks_, shared_planes(dirichlet));
    } else {
      return PlaneExchange<T, Device>(carrier_, shared_planes(dirichlet));
    }
  }

 private:
  SharedPlanes shared_planes(FaceSet dirichlet) const;

  const Communicator& ranks_;
  std::shared_ptr<const DeviceCarrier> carrier_;
  BoxPartition partition_;
  BoxMesh whole_mesh_;
  BoxMesh mesh_;
  PartNodes nodes_;
  FaceSet domain_faces_;
  VectorLayout layout_;
};

}  // namespace tessera
