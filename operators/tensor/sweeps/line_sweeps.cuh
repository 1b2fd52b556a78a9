// These are the sweeps of a 3D cell that are faster with their factors, in their precision and at
// their number of points.
#pragma once

#include <type_traits>

#include "operators/tensor/sweeps/point_sweeps.cuh"
#include "operators/tensor/sweeps/side_by_side.cuh"

namespace tessera {

template <LineSweep sweep, class T, int P, int M>
using SweepsOf = std::conditional_t<sweep == LineSweep::side_by_side,
                                    SideBySideSweeps<T, P, M, LineThread<T, P, M, sweep>>,
                                    PointSweeps<T, P, M, LineThread<T, P, M, sweep>>>;

template <class T, int P, int M>
using CompressedLineSweeps = SweepsOf<compressed_line_sweep<T>(M), T, P, M>;

template <class T, int P, int M>
using ScaledLineSweeps = SweepsOf<scaled_line_sweep<T>(M), T, P, M>;

}  // namespace tessera
