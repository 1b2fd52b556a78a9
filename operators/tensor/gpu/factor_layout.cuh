// These functions say where a stored factor of a point lies.
#pragma once

namespace tessera {

/// Where the factor of point q lies among those of an equal cell: 2D [q_x][q_y], as the threads of
/// the 2D kernel have lines along x, 3D [q_z][q_y][q_x], with m points an axis.
__device__ inline int scaled_factor_offset(int dimension, int m, int q) {
  return dimension == 2 ? q % m * m + q / m : q;
}

/// Where entry e of D at point q lies among a mapped cell's factors: 2D [q_x][entry][q_y],
/// 3D [q_z][pair][q_y][q_x][2].
__device__ inline int general_factor_offset(int dimension, int m, int q, int e) {
  if (dimension == 2) return (q % m * 3 + e) * m + q / m;
  const int plane = m * m;
  return ((q / plane * 3 + e / 2) * plane + q % plane) * 2 + e % 2;
}

}  // namespace tessera
