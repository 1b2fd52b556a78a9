// These types are resident conjugate gradients as the host launches them.
#pragma once

#include <cstdint>

#include "operators/kronecker/device_data.hpp"
#include "operators/kronecker/resident/bricks.hpp"
#include "solvers/krylov/resident_cg.hpp"

namespace tessera {

/// An axis of a BrickCut, whose cells are alike.
struct ResidentAxis {
  int cells = 0;
  int bricks = 1;
  std::int64_t stride = 0;  // of the mesh's nodes
  int exchange_stride = 0;  // of the nodes of all bricks side by side
  bool is_constrained[2] = {false, false};
  double end_term[2] = {0.0, 0.0};  // what Robin ends add to the stiffness of the end nodes
};

/// The matrices of a cell of an axis, by distinct_entry().
struct ResidentMatrices {
  EntryPair<double> entries[distinct_entries(kMaxFastDegree)];
};

/// A node that one other brick has, too: its index in the brick, the face, which is 2 d + side, and
/// its place in the face.
class FaceNode {
 public:
  FaceNode() = default;
  constexpr FaceNode(int index, int face, int place)
      : bits_(static_cast<unsigned>(index) | static_cast<unsigned>(face) << kIndexBits |
              static_cast<unsigned>(place) << (kIndexBits + kFaceBits)) {}

  constexpr int index() const { return static_cast<int>(bits_ & ((1U << kIndexBits) - 1U)); }
  constexpr int face() const {
    return static_cast<int>(bits_ >> kIndexBits & ((1U << kFaceBits) - 1U));
  }
  constexpr int place() const { return static_cast<int>(bits_ >> (kIndexBits + kFaceBits)); }

 private:
  static constexpr int kIndexBits = 14;
  static constexpr int kFaceBits = 3;
  unsigned bits_;
};

/// A node that more than one other brick has.
struct EdgeNode {
  std::uint16_t index;  // in the brick
  /// Two bits an axis: whether the brick below (1) or above (2) has it, or neither.
  std::uint16_t sides;
  int exchange;  // its place where bricks lie side by side
};

/// How many of both a brick has.
struct SharedCount {
  int of_faces;
  int of_edges;
};

/// What the kernel gets, but for the number of iterations.
///
/// Bricks leave what they have of q at nodes of faces in `faces`, [brick][axis][side][max_face].
/// At edges they do so in `exchange`, where bricks lie side by side, each with all nodes of its
/// own: copies of a node are neighbors there.
struct ResidentData {
  int degree = 1;
  int dimension = 3;
  ResidentAxis axis[3];
  ResidentMatrices matrices[3] = {};
  double reaction = 0.0;
  double* step = nullptr;  // what is added to x [brick][max_nodes]
  double* exchange = nullptr;
  double* faces = nullptr;
  const FaceNode* face_nodes = nullptr;  // [brick][max_shared]
  const EdgeNode* edge_nodes = nullptr;  // [brick][max_edges]
  const SharedCount* shared_count = nullptr;
  int max_shared = 0;
  int max_edges = 0;
  int max_face = 0;
  int shared_values = 0;      // of a block's shared memory
  int max_nodes = 0;          // of a brick, places behind rows included
  double* partial = nullptr;  // sums [2][brick]
};

/// Finds the shared nodes of so many bricks. @throws DeviceError
void launch_shared_nodes(const ResidentData& data, int bricks, FaceNode* of_faces,
                         EdgeNode* of_edges, SharedCount* count);

/// Queues iterations on so many bricks. @throws DeviceError
template <int dimension>
void launch_resident_cg(const ResidentData& data, const BrickCut& cut, int iterations,
                        const ResidentVectors<double>& vectors, IterationState* state);

}  // namespace tessera
