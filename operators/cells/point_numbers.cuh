// These are the numbers of a quadrature point along the axes of its cell.
#pragma once

#include "operators/cells/small_divisor.cuh"

namespace tessera {

/// The numbers of point q of a cell along the axes, with m points each; 0 along the third in 2D.
struct PointNumbers {
  int along[3];

  __device__ PointNumbers(int q, int m, int dim) {
    const SmallDivisor by_m(m);
    const int row = by_m.quotient(q);
    const int plane = dim == 3 ? by_m.quotient(row) : 0;
    along[0] = q - row * m;
    along[1] = row - plane * m;
    along[2] = plane;
  }
};

}  // namespace tessera
