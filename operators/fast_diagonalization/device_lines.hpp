// DeviceLines say where the GPU of a rank has planes, and the lines that it makes of others'
// planes.
#pragma once

#include <array>
#include <vector>

#include "mesh/saturated.hpp"
#include "operators/fast_diagonalization/rank_layout.hpp"

namespace tessera {

/// What a rank exchanges with one of all ranks, itself included, as entries of two arrays that are
/// described below.
struct LineBlock {
  Index in_planes;    // the first one of this rank's planes that belongs to the other's lines
  Index planes_size;  // and how many do
  Index in_lines;     // where the other's planes are in this rank's lines
  Index lines_size;
};

/// Where a node of the outer axis is: in planes if this rank has it, in blocks if another one does;
/// the first of its lines there, and how far the next one along the cut axis is.
struct OuterPlace {
  int rank;
  Index first;
  Index step;
};

/// The planes that a rank has along the outer axis, o of all n_o, become lines along that axis, of
/// which ranks have those at m of all n_m places along the cut axis: the middle one, in 2D x, whose
/// places are then modes. A place of a line has a row: all of x, padded; in 2D one entry.
///   planes [n_m][o][row]: what another rank needs of them follows each other
///   blocks [rank][m][o of the rank][row]: what comes of each rank does, too
/// So that neither is packed; what a rank keeps stays in its planes. Lines [n_o][m][row], of some
/// of the m places at a time, are what a product wants.
struct DeviceLines {
  Index row = 0;
  Index outer = 0;                // n_o
  Index places = 0;               // n_m
  Index own_outer = 0;            // o
  Index own_places = 0;           // m
  Index first_place = 0;          // of the rank's m places
  std::vector<LineBlock> blocks;  // [rank]

  /// Entries of planes, and of lines or blocks.
  Index planes_size() const { return Saturated(places) * own_outer * row; }
  Index lines_size() const { return Saturated(own_places) * outer * row; }
  /// Entries of the lines of the largest piece, of so many.
  Index piece_size(int pieces) const {
    return Saturated(ceil_div(own_places, pieces)) * outer * row;
  }
};

/// @param row entries of a row
DeviceLines device_lines(const InverseBoxes& boxes, int dimension, int rank, Index row);

/// Where the nodes of the outer axis are, [n_o]. @param rank this one
std::vector<OuterPlace> outer_places(const DeviceLines& lines, int rank);

/// In how many pieces lines are exchanged and computed, the same on all ranks: while the GPU
/// computes one, the next one arrives, and the last one leaves. A piece is not so small that its
/// launches and messages take longer than its work.
int line_pieces(const DeviceLines& lines, Index value_bytes);

/// Some of a rank's places along the cut axis, from `first` on.
struct LinePiece {
  Index first;
  Index count;
};

/// Piece p of so many, which differ by one place at most.
LinePiece line_piece(Index places, int p, int pieces);

/// What the GPU has of an OuterPlace: a pointer and the step.
inline constexpr Index kLinePlaceBytes = 16;

/// Entries of each of the two arrays that planes and blocks are in: rows along x are padded.
Index device_entries(const DeviceLines& lines, int dimension, Index padded_row);

/// The bytes of fast diagonalization on the GPU of a rank. @param free nodes by role
Index device_rank_bytes(const IndexTriple& free, const std::array<AxisSymmetry, 3>& symmetry,
                        const InverseBoxes& boxes, const BoxPartition& partition, int rank,
                        Index value_bytes);

}  // namespace tessera
