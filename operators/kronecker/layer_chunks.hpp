// These functions cut the layers of a 3D mesh into the chunks that blocks go through.
#pragma once

#include <cstdint>
#include <map>

namespace tessera {

/// Layers of cells first .. end - 1.
struct Layers {
  int first;
  int end;
};

/// The layers 0 .. all - 1 in `count` chunks, all but the last of whole steps: first
/// `long_count` of about the same height, then at most two that are shorter.
struct LayerChunks {
  int count = 1;
  int long_count = 1;
  int long_layers = 1;  // of a long chunk
  int longer = 0;       // how many long chunks, the first ones, have a step more
  int step = 1;
  int last = 0;  // the last chunk's first layer, where it is a short one
  int all = 1;

  constexpr Layers layers(int chunk) const { return {begin(chunk), begin(chunk + 1)}; }

 private:
  constexpr int begin(int chunk) const {
    if (chunk == count) return all;
    if (chunk > long_count) return last;
    return chunk * long_layers + (chunk < longer ? chunk : longer) * step;
  }
};

/// How long blocks take that go through chunks of layers, in units of a layer.
struct ChunkTimes {
  double start;    // that every block takes to start
  double early;    // that a block above the first chunk takes for what the layer below it adds
  double spread;   // by which some blocks are slower than others, as a part of their time
  double latency;  // how much of its time a block takes even where it is alone, 0 to 1
};

/// What blocks are to go through: `layers` of each of `tiles`, `step` layers at a time.
struct LayerWork {
  std::int64_t tiles;
  int layers;
  int step;

  int steps() const;
};

/// How many times long chunks may fill the slots: more of them never end sooner.
inline constexpr std::int64_t kMostWavesOfChunks = 8;

/// The most blocks that best_layer_chunks() makes: beyond these waves a long one and two short ones
/// a tile.
constexpr std::int64_t most_blocks_of_chunks(std::int64_t tiles, std::int64_t slots) {
  return kMostWavesOfChunks * slots + 3 * tiles;
}

/// The time until the blocks have ended, `slots` of which run at a time: one a tile for the first
/// chunk, then one a tile for the second and so on, each of which starts when any other ends.
double time_of_chunks(const LayerChunks& chunks, std::int64_t tiles, int slots,
                      const ChunkTimes& times);

/// The chunks for which the blocks end soonest: long ones first, as each pays for its start, and
/// short ones last, which fill the time between the ends of the long ones.
LayerChunks best_layer_chunks(const LayerWork& work, int slots, const ChunkTimes& times);

/// The chunks of an operator's kernels, which differ in how many blocks run at a time.
class ChunksOfKernels {
 public:
  /// best_layer_chunks(), found once for each number of slots; the work and the times are always
  /// the same.
  const LayerChunks& best(const LayerWork& work, int slots, const ChunkTimes& times) {
    const auto found = by_slots_.find(slots);
    if (found != by_slots_.end()) return found->second;
    return by_slots_.emplace(slots, best_layer_chunks(work, slots, times)).first->second;
  }

 private:
  std::map<int, LayerChunks> by_slots_;
};

}  // namespace tessera
