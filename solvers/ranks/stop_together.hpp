// These functions end the work of all ranks where one was asked to stop.
#pragma once

#include "solvers/interruption.hpp"
#include "solvers/memory/vector_layout.hpp"

namespace tessera {

/// Between the stages of work that ranks do together, all of which call it: throws on all if one
/// was asked to stop. @throws Interrupted
inline void stop_together(const Communicator& ranks) {
  if (ranks.any(stop_requested())) throw Interrupted();
}

/// The same for ranks that share such vectors.
inline void stop_together(const VectorLayout& layout) {
  if (on_any_rank(layout, stop_requested())) throw Interrupted();
}

}  // namespace tessera
