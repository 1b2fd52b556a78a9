// This function does work that may be interrupted on one of several ranks.
#pragma once

#include "solvers/interruption.hpp"
#include "solvers/memory/vector_layout.hpp"

namespace tessera {

/// Does work unless it is asked to stop. Where one of the ranks that share such vectors was asked
/// to, before or meanwhile, all of them are interrupted, so that nobody waits for it. Each calls
/// this; within the work none may wait for another after it could have been interrupted alone.
/// @throws Interrupted, what the work throws
template <class Work>
void interrupted_together(const VectorLayout& layout, Work&& work) {
  bool is_interrupted = on_any_rank(layout, stop_requested());
  if (is_interrupted) throw Interrupted();
  try {
    work();
  } catch (const Interrupted&) {
    is_interrupted = true;
  }
  if (on_any_rank(layout, is_interrupted)) throw Interrupted();
}

}  // namespace tessera
