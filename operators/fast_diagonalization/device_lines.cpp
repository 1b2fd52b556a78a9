// This file finds the places of planes and lines in the memory of a GPU.
#include "operators/fast_diagonalization/device_lines.hpp"

#include <algorithm>

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

std::vector<OuterPlace> outer_places(const DeviceLines& lines) {
  std::vector<OuterPlace> outer_places;
  if (lines.own_places == 0) return std::vector<OuterPlace>(static_cast<std::size_t>(lines.outer));
  for (const LineBlock& block : lines.blocks) {
    const Index step = block.lines_size / lines.own_places;
    for (Index at = 0; at < step; at += lines.row) {
      outer_places.push_back({block.in_lines + at, step});
    }
  }
  return outer_places;
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
  if (!has_slabs(partition)) {
    values += exchanged_values(rank, boxes.owned, boxes.planes, Processor::gpu);
    values += exchanged_values(rank, boxes.planes, boxes.part, Processor::gpu);
  }
  return values * value_bytes + lines.outer * static_cast<Index>(sizeof(OuterPlace)) +
         kCublasWorkspace;
}

}  // namespace tessera
