// These functions say where a stored factor of a point lies.
#pragma once

#include "operators/cells/point_numbers.cuh"

namespace tessera {

/// Where the factor of a point lies among those of an equal cell: 2D [q_x][q_y], as the threads of
/// the 2D kernel have lines along x, 3D [q_z][q_y][q_x], with m points an axis.
__device__ inline int scaled_factor_offset(int dimension, int m, const PointNumbers& q) {
  const int(&along)[3] = q.along;
  return dimension == 2 ? along[0] * m + along[1] : (along[2] * m + along[1]) * m + along[0];
}

/// Where entry e of D at a point lies among a mapped cell's factors: 2D [q_x][entry][q_y],
/// 3D [q_z][pair][q_y][q_x][2].
__device__ inline int general_factor_offset(int dimension, int m, const PointNumbers& q, int e) {
  const int(&along)[3] = q.along;
  if (dimension == 2) return (along[0] * 3 + e) * m + along[1];
  return (((along[2] * 3 + e / 2) * m + along[1]) * m + along[0]) * 2 + e % 2;
}

}  // namespace tessera
