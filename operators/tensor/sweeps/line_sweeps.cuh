// LineSweeps are the sweeps of a 3D cell that are faster in their precision and at their number of
// points.
#pragma once

#include <type_traits>

#include "operators/tensor/sweeps/point_sweeps.cuh"
#include "operators/tensor/sweeps/side_by_side.cuh"

namespace tessera {

template <bool side_by_side, class T, int P, int M>
using SweepsOf = std::conditional_t<side_by_side, SideBySideSweeps<T, P, M, LineThread<T, P, M>>,
                                    PointSweeps<T, P, M, LineThread<T, P, M>>>;

template <class T, int P, int M>
using LineSweeps = SweepsOf<kSideBySide<T>, T, P, M>;

template <class T, int P, int M>
using CompressedLineSweeps = SweepsOf<is_compressed_side_by_side<T>(M), T, P, M>;

}  // namespace tessera
