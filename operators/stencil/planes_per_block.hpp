// These functions cut the nodes of a stencil in 3D among thread blocks.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "mesh/index.hpp"

namespace tessera {

/// Columns of a block.
inline constexpr int kStencilTileX = 64;
inline constexpr int kStencilTileY = 8;

/// The fewest planes of a block, unless there are fewer.
inline constexpr Index kMinPlanesPerBlock = 3;

/// The planes that a block marches through so that a launch ends soonest, at most `planes`. A block
/// reads one plane more than it has. Few waves of blocks end together; of many waves the last one
/// overlaps with those before.
/// @param tiles of a plane, a block each
/// @param resident blocks that the GPU holds at a time
inline Index planes_per_block(Index planes, Index tiles, int resident) {
  constexpr Index kMost = 48;
  constexpr double kFewWaves = 4.0;
  Index best = planes;
  double best_time = std::numeric_limits<double>::max();
  for (Index count = std::min(planes, kMost); count >= std::min(planes, kMinPlanesPerBlock);
       --count) {
    const double waves = static_cast<double>(tiles * ceil_div(planes, count)) / resident;
    const double in_turn = waves <= kFewWaves ? std::ceil(waves) : waves + 0.5;
    const double time = in_turn * static_cast<double>(count + 1);
    if (time >= best_time) continue;
    best_time = time;
    best = count;
  }
  return best;
}

/// The most blocks of a launch on so many nodes an axis.
constexpr Index max_stencil_blocks(const IndexTriple& extents) {
  return ceil_div(extents[0], kStencilTileX) * ceil_div(extents[1], kStencilTileY) *
         ceil_div(extents[2], std::min(extents[2], kMinPlanesPerBlock));
}

}  // namespace tessera
