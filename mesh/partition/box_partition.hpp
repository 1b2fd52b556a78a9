// A BoxPartition says which cells of a mesh each of several ranks has.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "mesh/box_mesh.hpp"
#include "mesh/face.hpp"

namespace tessera {

/// The number of ranks along each axis; 1 along the third in 2D.
using RankGrid = std::array<int, 3>;

/// A part has at most this many times the mean number of cells of an axis for the sake of coarser
/// meshes, if there is one at all: for the first one, or what no cut avoids, it may have more.
inline constexpr double kMaxImbalance = 1.05;

/// How an axis is cut: part r has the cells starts[r] <= i < starts[r + 1].
struct AxisCuts {
  std::vector<Index> starts;
  /// Cells may be merged two by two so many times, and no part cuts a merged cell.
  int halvings = 0;
};

/// Cuts `cells` cells into `parts` at b_r = 2^k round(r cells / (parts 2^k)), b_parts = cells, with
/// the largest k <= max_halvings for which no part has more than kMaxImbalance times the mean
/// number of cells, or more than with k = 0; else with k = 1 up to twice the mean, or k = 0.
/// @throws std::invalid_argument unless 1 <= parts <= cells and max_halvings >= 0
AxisCuts cut_axis(Index cells, int parts, int max_halvings);

/// A box of cells, cut by planes into a box of boxes, one for each rank; ranks are numbered x
/// fastest.
///
/// Neighbors share the nodes on the plane between them. Of those who share a node, the one with the
/// lowest number owns it: a rank owns all of its nodes but those on its shared lower planes.
class BoxPartition {
 public:
  /// @param max_halvings along each axis: how often a hierarchy merges the cells two by two
  /// @throws std::invalid_argument in a user's words, unless there is a cell for each rank along
  ///         each axis, and one rank along z in 2D
  BoxPartition(const BoxMesh& mesh, const RankGrid& grid,
               const std::array<int, 3>& max_halvings = {0, 0, 0});

  /// Whether no cut runs through a cell of the coarser mesh with so many cells, as merge_cells()
  /// makes it.
  bool fits(const IndexTriple& cells) const;

  /// The partition of the coarser mesh that merge_cells() makes, where each rank has the merged
  /// cells of its own.
  /// @throws std::invalid_argument if cells are neither kept nor halved, or if a cut runs through a
  ///         merged cell
  BoxPartition merged(const IndexTriple& cells) const;

  int dimension() const { return dimension_; }
  int rank_count() const { return grid_[0] * grid_[1] * grid_[2]; }
  const RankGrid& grid() const { return grid_; }
  /// Where the axis is cut, grid()[d] + 1 cells' numbers, and how often it may be halved.
  const AxisCuts& cuts(int d) const { return cuts_[d]; }

  /// The place of a rank in the grid, and the rank at a place.
  RankGrid place(int rank) const;
  int rank_at(const RankGrid& place) const {
    return place[0] + grid_[0] * (place[1] + grid_[1] * place[2]);
  }
  /// The rank that shares a face of this one's part; none at the domain's boundary.
  std::optional<int> neighbor(int rank, int face) const;

  /// The cells of a rank.
  CellBox cells(int rank) const;
  /// The faces of a rank's part that lie on the domain's boundary: others have no conditions.
  FaceSet domain_faces(int rank) const;

 private:
  int dimension_;
  RankGrid grid_;
  std::array<AxisCuts, 3> cuts_;
};

}  // namespace tessera
