// These tests look at how kernels of the GPU cut the layers of a mesh into chunks.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <vector>

#include "operators/kronecker/layer_chunks.hpp"

namespace tessera::testing {
namespace {

constexpr ChunkTimes kTimes{0.3, 0.7, 0.25, 0.5};

std::vector<int> heights(const LayerChunks& chunks) {
  std::vector<int> heights;
  heights.reserve(chunks.count);
  for (int k = 0; k < chunks.count; ++k) {
    heights.push_back(chunks.layers(k).end - chunks.layers(k).first);
  }
  return heights;
}

LayerChunks equal_chunks(int layers, int count) {
  LayerChunks chunks;
  chunks.count = count;
  chunks.long_count = count;
  chunks.long_layers = layers / count;
  chunks.longer = layers % count;
  chunks.all = layers;
  return chunks;
}

// Block by block, each on the slot that is free first.
double time_block_by_block(const LayerChunks& chunks, int tiles, int slots,
                           const ChunkTimes& times) {
  std::priority_queue<double, std::vector<double>, std::greater<>> free;
  for (int s = 0; s < slots; ++s) free.push(0.0);
  double last_end = 0.0;
  double work = 0.0;
  for (int k = 0; k < chunks.count; ++k) {
    for (int t = 0; t < tiles; ++t) {
      const double time = heights(chunks)[k] + times.start + (k > 0 ? times.early : 0.0);
      const double end = free.top() + time;
      free.pop();
      free.push(end);
      last_end = std::max(last_end, end + times.spread * time);
      work += time;
    }
  }
  return times.latency * last_end + (1.0 - times.latency) * work / slots;
}

TEST(LayerChunks, HaveEachLayerOnceAndTheLongOnesFirst) {
  for (const int layers : {1, 2, 3, 7, 20, 54, 107, 1000}) {
    for (const int step : {1, 2, 4}) {
      for (const int tiles : {1, 9, 100, 480, 5000}) {
        for (const int slots : {1, 264, 528}) {
          SCOPED_TRACE(::testing::Message() << layers << " layers, " << step << " at a time, "
                                            << tiles << " tiles, " << slots << " slots");
          const LayerChunks chunks = best_layer_chunks({tiles, layers, step}, slots, kTimes);
          ASSERT_GE(chunks.count, 1);
          EXPECT_LE(static_cast<long>(chunks.count) * tiles, 8L * slots + 3L * tiles);
          EXPECT_EQ(chunks.layers(0).first, 0);
          EXPECT_EQ(chunks.layers(chunks.count - 1).end, layers);
          for (int k = 0; k < chunks.count; ++k) {
            const Layers here = chunks.layers(k);
            EXPECT_LT(here.first, here.end);
            EXPECT_EQ(here.first % step, 0);
            if (k == 0) continue;
            const Layers below = chunks.layers(k - 1);
            EXPECT_EQ(here.first, below.end);
            EXPECT_LE(here.end - here.first, below.end - below.first) << "chunk " << k;
          }
        }
      }
    }
  }
}

TEST(LayerChunks, TimeIsThatOfBlocksOneByOne) {
  for (const int layers : {3, 20, 54}) {
    for (const int tiles : {1, 9, 100, 481}) {
      for (const int slots : {1, 7, 264, 528}) {
        for (int count = 1; count <= std::min(layers, 6); ++count) {
          const LayerChunks chunks = equal_chunks(layers, count);
          EXPECT_NEAR(time_of_chunks(chunks, tiles, slots, kTimes),
                      time_block_by_block(chunks, tiles, slots, kTimes), 1e-9)
              << layers << " layers in " << count << ", " << tiles << " tiles, " << slots
              << " slots";
        }
        const LayerChunks best = best_layer_chunks({tiles, layers, 1}, slots, kTimes);
        EXPECT_NEAR(time_of_chunks(best, tiles, slots, kTimes),
                    time_block_by_block(best, tiles, slots, kTimes), 1e-9);
      }
    }
  }
}

TEST(LayerChunks, TakeNoLongerThanEqualOnes) {
  for (const int layers : {20, 54, 107}) {
    for (const int tiles : {100, 324, 583}) {
      const LayerChunks best = best_layer_chunks({tiles, layers, 1}, 528, kTimes);
      for (int count = 1; count <= 8; ++count) {
        EXPECT_LE(time_of_chunks(best, tiles, 528, kTimes),
                  1.001 * time_of_chunks(equal_chunks(layers, count), tiles, 528, kTimes))
            << layers << " layers in " << count << ", " << tiles << " tiles";
      }
    }
  }
}

TEST(LayerChunks, EndWithShortOnesWhereBlocksAreAFewWaves) {
  // 480 blocks would run on 528 slots at once, 48 of which would have nothing to do.
  EXPECT_EQ(heights(best_layer_chunks({480, 80, 1}, 528, kTimes)), (std::vector<int>{64, 11, 5}));
  // Where blocks are fewer than the slots anyway, all are alike.
  EXPECT_EQ(heights(best_layer_chunks({81, 53, 1}, 528, {0.2, 0.9, 0.2, 0.4})),
            (std::vector<int>{9, 9, 9, 9, 9, 8}));
}

TEST(ChunksOfKernels, FindsThemOnceForEachNumberOfSlots) {
  ChunksOfKernels kernels;
  const LayerChunks& first = kernels.best({480, 80, 1}, 528, kTimes);
  const LayerChunks& other = kernels.best({480, 80, 1}, 396, kTimes);
  EXPECT_NE(heights(first), heights(other));
  EXPECT_EQ(&kernels.best({480, 80, 1}, 528, kTimes), &first);
  EXPECT_EQ(&kernels.best({480, 80, 1}, 396, kTimes), &other);
}

}  // namespace
}  // namespace tessera::testing
