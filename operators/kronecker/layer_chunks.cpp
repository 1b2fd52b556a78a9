#include "operators/kronecker/layer_chunks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "mesh/index.hpp"

namespace tessera {
namespace {

// `long_count` chunks of about the same number of steps, and if tail > 0 two short ones, which have
// that part of all steps, three tenths of it in the last.
LayerChunks chunks_with_tail(const LayerWork& work, int long_count, double tail) {
  const int steps = work.steps();
  const int in_tail = static_cast<int>(std::lround(tail * steps));
  const int in_last = in_tail == 0 ? 0 : std::max(static_cast<int>(std::lround(0.3 * in_tail)), 1);
  const int in_long = steps - in_tail;
  LayerChunks chunks;
  chunks.count = long_count + (in_tail > in_last ? 1 : 0) + (in_last > 0 ? 1 : 0);
  chunks.long_count = long_count;
  chunks.long_layers = in_long / long_count * work.step;
  chunks.longer = in_long % long_count;
  chunks.step = work.step;
  chunks.last = (steps - in_last) * work.step;
  chunks.all = work.layers;
  return chunks;
}

// Whether no chunk is empty or higher than the one below.
bool is_descending(const LayerChunks& chunks) {
  int below = chunks.all;
  for (int k = 0; k < chunks.count; ++k) {
    const int height = chunks.layers(k).end - chunks.layers(k).first;
    if (height <= 0 || height > below) return false;
    below = height;
  }
  return true;
}

}  // namespace

int LayerWork::steps() const { return static_cast<int>(ceil_div(layers, step)); }

double time_of_chunks(const LayerChunks& chunks, std::int64_t tiles, int slots,
                      const ChunkTimes& times) {
  // Slots that are free from the same time on, the earliest first.
  struct Free {
    double from;
    std::int64_t slots;
  };
  std::vector<Free> free = {{0.0, slots}};
  double last_end = 0.0;
  double work = 0.0;
  for (int k = 0; k < chunks.count; ++k) {
    const Layers layers = chunks.layers(k);
    const double time = layers.end - layers.first + times.start + (k > 0 ? times.early : 0.0);
    work += static_cast<double>(tiles) * time;
    for (std::int64_t left = tiles; left > 0;) {
      const Free earliest = free.front();
      const std::int64_t taken = std::min(earliest.slots, left);
      left -= taken;
      free.front().slots -= taken;
      if (free.front().slots == 0) free.erase(free.begin());
      const double end = earliest.from + time;
      last_end = std::max(last_end, end + times.spread * time);
      const auto later =
          std::find_if(free.begin(), free.end(), [&](const Free& f) { return f.from > end; });
      free.insert(later, {end, taken});
    }
  }
  return times.latency * last_end + (1.0 - times.latency) * work / slots;
}

LayerChunks best_layer_chunks(const LayerWork& work, int slots, const ChunkTimes& times) {
  constexpr double kTails[] = {0.0, 0.1, 0.2, 0.3, 0.4};
  const int steps = work.steps();
  LayerChunks best;
  double best_time = std::numeric_limits<double>::max();
  // Of many chunks, not each number is tried.
  for (int count = 1; count <= steps && (count - 1) * work.tiles <= kMostWavesOfChunks * slots;
       count += 1 + count / 8) {
    for (const double tail : kTails) {
      const LayerChunks chunks = chunks_with_tail(work, count, tail);
      if (!is_descending(chunks)) continue;
      const double time = time_of_chunks(chunks, work.tiles, slots, times);
      if (time >= 0.999 * best_time) continue;
      best = chunks;
      best_time = time;
    }
  }
  return best;
}

}  // namespace tessera
