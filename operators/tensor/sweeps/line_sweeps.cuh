// LineSweeps are the sweeps of a 3D cell that are faster in their precision and at their number of
// points.
#pragma once

#include <type_traits>

#include "operators/tensor/sweeps/point_sweeps.cuh"
#include "operators/tensor/sweeps/side_by_side.cuh"

namespace tessera {

template <class T, int P, int M>
using LineSweeps =
    std::conditional_t<is_side_by_side<T>(M), SideBySideSweeps<T, P, M, LineThread<T, P, M>>,
                       PointSweeps<T, P, M, LineThread<T, P, M>>>;

}  // namespace tessera
