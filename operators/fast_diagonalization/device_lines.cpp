// This file finds the places of planes and lines in the memory of a GPU.
#include "operators/fast_diagonalization/device_lines.hpp"

#include <algorithm>

#include "mesh/partition.hpp"

namespace tessera {

DeviceLines device_lines(const InverseBoxes& boxes, int dimension, int rank, Index row) {
  const int outer_axis = dimension - 1;
  const int cut_axis = dimension - 2;
  const auto mine = static_cast<std::size_t>(rank);
  DeviceLines lines;
  lines.row = row;
  lines.own_outer = boxes.planes[mine].extent(outer_axis);
  lines.own_places = boxes.lines[mine].extent(cut_axis);
  for (std::size_t other = 0; other < boxes.planes.size(); ++other) {
    const Index their_outer = boxes.planes[other].extent(outer_axis);
    const Index their_places = boxes.lines[other].extent(cut_axis);
    if (other == mine) lines.first_place = lines.places;
    lines.blocks.push_back({Saturated(lines.places) * lines.own_outer * row,
                            Saturated(their_places) * lines.own_outer * row,
                            Saturated(lines.outer) * lines.own_places * row,
                            Saturated(their_outer) * lines.own_places * row});
    lines.outer += their_outer;
    lines.places += their_places;
  }
  return lines;
}

std::vector<OuterPlace> outer_places(const DeviceLines& lines, int rank) {
  std::vector<OuterPlace> nodes;
  if (lines.own_places == 0) return nodes;
  for (std::size_t other = 0; other < lines.blocks.size(); ++other) {
    const LineBlock& block = lines.blocks[other];
    const auto their_rank = static_cast<int>(other);
    const Index first = their_rank == rank ? block.in_planes : block.in_lines;
    const Index step = block.lines_size / lines.own_places;
    for (Index at = 0; at < step; at += lines.row) nodes.push_back({their_rank, first + at, step});
  }
  return nodes;
}

int line_pieces(const DeviceLines& lines, Index value_bytes) {
  constexpr Index kPieceBytes = Index{8} << 20;
  constexpr Index kMaxPieces = 8;
  const auto ranks = static_cast<Index>(lines.blocks.size());
  const Index bytes = Saturated(lines.places) * lines.outer * lines.row * value_bytes;
  return static_cast<int>(std::clamp<Index>(bytes / ranks / kPieceBytes, 1, kMaxPieces));
}

LinePiece line_piece(Index places, int p, int pieces) {
  const Range range = partition(places, p, pieces);
  return {range.begin, range.end - range.begin};
}

Index device_entries(const DeviceLines& lines, int dimension, Index padded_row) {
  // In 2D planes have padded rows as well before they are modes.
  const Index rows = dimension == 2 ? Saturated(lines.own_outer) * padded_row : Saturated(0);
  return std::max({lines.planes_size(), lines.lines_size(), rows});
}

Index device_rank_bytes(const IndexTriple& free, const std::array<AxisSymmetry, 3>& symmetry,
                        const InverseBoxes& boxes, const BoxPartition& partition, int rank,
                        Index value_bytes) {
  const int dimension = partition.dimension();
  Saturated values = device_modes_values(free, symmetry, value_bytes);
  const Index row = padded_row(free[0], value_bytes);
  const DeviceLines lines = device_lines(boxes, dimension, rank, dimension == 2 ? 1 : row);
  values += Saturated(device_entries(lines, dimension, row)) * 2;
  values += Saturated(lines.piece_size(line_pieces(lines, value_bytes))) * 2;
  if (!has_slabs(partition)) {
    values += exchanged_values(rank, boxes.owned, boxes.planes, Processor::gpu);
    values += exchanged_values(rank, boxes.planes, boxes.part, Processor::gpu);
  }
  const Index nodes = lines.own_places > 0 ? lines.outer : 0;
  return values * value_bytes + Saturated(nodes) * kLinePlaceBytes;
}

}  // namespace tessera
