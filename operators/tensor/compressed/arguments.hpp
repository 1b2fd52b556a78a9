// These are the arguments of the kernels on compressed factors.
#pragma once

#include "operators/cells/device_cells.hpp"
#include "operators/tensor/compressed/bits.hpp"

namespace tessera {

/// What the kernels on packed factors are given.
template <class T>
struct CompressedArguments {
  CellGrid grid;
  CellRange range;
  CellSource<T> source;
  CellSink<T> sink;  // not `patch`
  const char* factors;
  const T* reaction;  // r_q / w_q, [cell][q_z][q_y][q_x], or null
};

}  // namespace tessera
