// This file cuts axes into parts, and numbers ranks.
#include "mesh/partition/box_partition.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

namespace tessera {
namespace {

// Without a coarser mesh there is no multigrid: that is worth a factor of 2.
constexpr double kMaxImbalanceOfOneHalving = 2.0;
constexpr std::array<const char*, 3> kAxisNames = {"x", "y", "z"};

// The nearest integer to a / b, the larger one of two.
Index rounded_ratio(Index a, Index b) { return (2 * a + b) / (2 * b); }

std::vector<Index> starts_at_multiples(Index cells, int parts, Index unit) {
  std::vector<Index> starts;
  starts.reserve(static_cast<std::size_t>(parts) + 1);
  for (int r = 0; r < parts; ++r) starts.push_back(unit * rounded_ratio(r * cells, parts * unit));
  starts.push_back(cells);
  return starts;
}

// The largest part over the mean; infinite if a part has no cells.
double imbalance(const std::vector<Index>& starts) {
  Index most = 0;
  for (std::size_t r = 1; r < starts.size(); ++r) {
    if (starts[r] <= starts[r - 1]) return std::numeric_limits<double>::infinity();
    most = std::max(most, starts[r] - starts[r - 1]);
  }
  const auto parts = static_cast<double>(starts.size() - 1);
  return static_cast<double>(most) * parts / static_cast<double>(starts.back());
}

}  // namespace

AxisCuts cut_axis(Index cells, int parts, int max_halvings) {
  if (parts < 1 || cells < parts || max_halvings < 0) {
    throw std::invalid_argument("an axis is cut into at least one part, each with a cell");
  }
  // Larger units than this leave a part without cells.
  int halvings = 0;
  while (halvings < max_halvings && (Index{2} << halvings) <= cells) ++halvings;
  // One part is not cut, so nothing is ever cut that is merged.
  if (parts == 1) return {{0, cells}, max_halvings};
  std::vector<Index> even = starts_at_multiples(cells, parts, 1);
  const double allowed = std::max(kMaxImbalance, imbalance(even));
  for (; halvings > 0; --halvings) {
    std::vector<Index> starts = starts_at_multiples(cells, parts, Index{1} << halvings);
    if (imbalance(starts) <= (halvings == 1 ? kMaxImbalanceOfOneHalving : allowed)) {
      return {std::move(starts), halvings};
    }
  }
  return {std::move(even), 0};
}

BoxPartition::BoxPartition(const BoxMesh& mesh, const RankGrid& grid,
                           const std::array<int, 3>& max_halvings)
    : dimension_(mesh.dimension()), grid_(grid) {
  for (int d = 0; d < 3; ++d) {
    if (grid[d] < 1) throw std::invalid_argument("a rank grid has at least one rank along an axis");
    const std::string ranks = std::to_string(grid[d]) + " ranks along " + kAxisNames[d];
    if (d == 2 && dimension_ == 2 && grid[d] > 1) {
      throw std::invalid_argument(ranks + ", but the mesh is 2D: 1 is allowed");
    }
    if (grid[d] > mesh.cells()[d]) {
      const std::string cells = std::to_string(mesh.cells()[d]);
      throw std::invalid_argument(std::string(ranks)
                                      .append(", but only ")
                                      .append(cells)
                                      .append(" cells there: each rank needs one, so ")
                                      .append(cells)
                                      .append(" ranks are the most"));
    }
    cuts_[d] = cut_axis(mesh.cells()[d], grid[d], max_halvings[d]);
  }
}

bool BoxPartition::fits(const IndexTriple& cells) const {
  for (int d = 0; d < dimension_; ++d) {
    const std::vector<Index>& starts = cuts_[d].starts;
    const bool is_kept = cells[d] == starts.back();
    const bool has_odd_cut =
        std::any_of(starts.begin(), starts.end() - 1, [](Index start) { return start % 2 != 0; });
    if (!is_kept && has_odd_cut) return false;
  }
  return true;
}

BoxPartition BoxPartition::merged(const IndexTriple& cells) const {
  if (!fits(cells)) {
    throw std::invalid_argument("a part of a mesh cuts cells of the coarser mesh");
  }
  BoxPartition coarse = *this;
  for (int d = 0; d < dimension_; ++d) {
    AxisCuts& cuts = coarse.cuts_[d];
    if (cells[d] == cuts.starts.back()) continue;
    if (cells[d] != ceil_div(cuts.starts.back(), 2)) {
      throw std::invalid_argument("cells of a coarser mesh are neither kept nor halved");
    }
    for (int r = 0; r < grid_[d]; ++r) cuts.starts[r] /= 2;
    cuts.starts.back() = cells[d];
    cuts.halvings = std::max(0, cuts.halvings - 1);
  }
  return coarse;
}

RankGrid BoxPartition::place(int rank) const {
  return {rank % grid_[0], rank / grid_[0] % grid_[1], rank / (grid_[0] * grid_[1])};
}

std::optional<int> BoxPartition::neighbor(int rank, int face) const {
  RankGrid there = place(rank);
  int& along = there[face_axis(face)];
  along += is_upper_face(face) ? 1 : -1;
  if (along < 0 || along >= grid_[face_axis(face)]) return std::nullopt;
  return rank_at(there);
}

CellBox BoxPartition::cells(int rank) const {
  const RankGrid at = place(rank);
  CellBox box;
  for (int d = 0; d < 3; ++d) {
    box.first[d] = cuts_[d].starts[at[d]];
    box.counts[d] = cuts_[d].starts[at[d] + 1] - box.first[d];
  }
  return box;
}

FaceSet BoxPartition::domain_faces(int rank) const {
  FaceSet faces;
  for (int face = 0; face < face_count(dimension_); ++face) {
    faces[face] = !neighbor(rank, face).has_value();
  }
  return faces;
}

}  // namespace tessera
