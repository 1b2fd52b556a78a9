// A CellTeam is the threads of a block that have one cell at a time together.
#pragma once

#include "operators/cells/block_scratch.hpp"

namespace tessera {

/// A cell of a launch, as a team sees it.
struct TeamCell {
  Index number;
  /// False for teams beyond the last cell: they do that one once more, because barriers are the
  /// block's, and must write nothing of it.
  bool counts;
};

/// The threads of a block of kScratchThreads that have one cell at a time together, with a scratch
/// of their own. All teams of a block go through the same barriers.
template <ScratchPlace place>
class CellTeam {
 public:
  /// @param shared dynamic shared memory of BlockScratch::shared_bytes()
  __device__ CellTeam(const ScratchView& scratch, char* shared)
      : threads_(scratch.team_threads),
        thread_(static_cast<int>(threadIdx.x) & (threads_ - 1)),
        number_(static_cast<int>(threadIdx.x) / threads_),
        scratch_(place == ScratchPlace::global ? scratch.global + blockIdx.x * scratch.cell_bytes
                                               : shared + number_ * scratch.cell_bytes) {}

  template <class T>
  __device__ T* scratch() const {
    return reinterpret_cast<T*>(scratch_);
  }

  /// Calls f(TeamCell) for the team's cells of so many; ends each at a barrier.
  template <class F>
  __device__ void for_each_cell(Index count, F&& f) const {
    const int teams = kScratchThreads / threads_;
    for (Index first = static_cast<Index>(blockIdx.x) * teams; first < count;
         first += static_cast<Index>(gridDim.x) * teams) {
      const Index c = first + number_;
      f(TeamCell{min(c, count - 1), c < count});
      __syncthreads();
    }
  }
  /// Calls f(i) for this thread's i of so many items.
  template <class F>
  __device__ void for_each(int count, F&& f) const {
    for (int i = thread_; i < count; i += threads_) f(i);
  }

 private:
  int threads_;
  int thread_;
  int number_;
  char* scratch_;
};

}  // namespace tessera
