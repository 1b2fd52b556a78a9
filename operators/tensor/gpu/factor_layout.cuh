// This function says where a stored factor of a point lies.
#pragma once

namespace tessera {

/// Where entry e of D at point q lies among a mapped cell's factors: 2D [q_y][entry][q_x],
/// 3D [q_z][pair][q_y][q_x][2], with m points an axis.
__device__ inline int general_factor_offset(int dimension, int m, int q, int e) {
  if (dimension == 2) return (q / m * 3 + e) * m + q % m;
  const int plane = m * m;
  return ((q / plane * 3 + e / 2) * plane + q % plane) * 2 + e % 2;
}

}  // namespace tessera
