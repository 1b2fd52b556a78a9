// This kernel applies compressed factors with one thread per plane, for degree 2.
#pragma once

#include "operators/tensor/compressed/lines_3d.cuh"

namespace tessera {

/// Sizes of compressed_planes_kernel(): a warp has kCells cells, and a thread one of the M planes
/// of a cell. Tensors in shared memory are [z][y][x], planes and cells apart so that threads meet
/// few bank conflicts.
template <class T, int P, int M>
struct CompressedPlanes {
  static constexpr int n = P + 1;
  static constexpr int kCells = 32 / M;
  static constexpr int kLanes = kCells * M;
  static constexpr int kBlocks = 16;  // a multiprocessor, a warp each
  static constexpr int plane = M == 4 ? 20 : sizeof(T) == sizeof(double) ? 19 : 35;
  static constexpr int kCellValues = M == 4 ? 77 : 3 * plane;
  static_assert(M == 3 || M == 4);
  static_assert(plane >= M * M && kCellValues >= (M - 1) * plane + M * M);
};

/// v_c = B^T D B u_c by sum factorization with packed factors, a thread a plane of points: two of
/// the three directions are in its registers, which takes half of the exchanges of a thread a line
/// and no barriers, for small p.
///
/// Launch: 32 threads; thread t of a cell has the plane z = t, then y = t. Shared memory: one
/// tensor of M^3 values a cell. Bytes and flops a DoF as compressed_lines_kernel(), without
/// even-odd. Deterministic but for the sinks that add atomically.
template <class T, int P, int M, CompressedBits bits>
__global__ void __launch_bounds__(32, CompressedPlanes<T, P, M>::kBlocks)
    compressed_planes_kernel(const __grid_constant__ CompressedArguments<T> args,
                             const __grid_constant__ WeightedMatrices<T, P + 1, M> lines) {
  using Planes = CompressedPlanes<T, P, M>;
  constexpr int n = P + 1;
  constexpr int plane = Planes::plane;
  constexpr CompressedLayout layout{ThreadPart::plane, Planes::kCells, M};
  __shared__ T shared[Planes::kCells][Planes::kCellValues];
  const int lane = static_cast<int>(threadIdx.x);
  const bool has_cell = lane < Planes::kLanes;
  const int local = has_cell ? lane / M : 0;
  const int t = lane % M;
  const unsigned number = blockIdx.x * Planes::kCells + local;
  const bool active = has_cell && number < args.range.size();
  const bool has_nodes = active && t < n;
  T* const s = shared[local];
  const CellPlace place = place_cell_32(args.grid, args.range, active ? number : 0U);
  const Index cell = cell_number(args.grid, place.position);
  const char* const group = args.factors + cell / Planes::kCells * layout.group_bytes(bits);
  const int in_group = static_cast<int>(cell % Planes::kCells);

  // On its way while u is gathered.
  const CompressedHeader header(group + in_group * kCompressedHeaderBytes);
  const CellNode corner{place.first_node + t * args.grid.nodes.strides[2], t * n * n,
                        face_mask(2, t, P)};
  const auto node = [&](int i, int j) {
    return CellNode{corner.lattice + i + j * args.grid.nodes.strides[1], corner.local + i + j * n,
                    corner.faces | face_mask(0, i, P) | face_mask(1, j, P)};
  };
  // u [n][n] of the plane z = t -> B along x, y -> [n][M][M]
  if (has_nodes) {
    T u[n][n];
#pragma unroll
    for (int j = 0; j < n; ++j) {
#pragma unroll
      for (int i = 0; i < n; ++i) u[j][i] = load_node(args.source, place, node(i, j));
    }
    T along_x[n][M];
#pragma unroll
    for (int j = 0; j < n; ++j) multiply_line<M, n>(lines.B, u[j], along_x[j]);
#pragma unroll
    for (int i = 0; i < M; ++i) {
      T c[n];
      T r[M];
#pragma unroll
      for (int j = 0; j < n; ++j) c[j] = along_x[j][i];
      multiply_line<M, n>(lines.B, c, r);
      store_line(s + t * plane + i, M, r);
    }
  }
  __syncwarp();
  // plane y = t: B along z -> U [M][M] (z, x); D along x and z -> g_x, g_z in registers
  T gx[M][M];
  T gz[M][M];
  if (active) {
#pragma unroll
    for (int i = 0; i < M; ++i) {
      T c[n];
      T r[M];
      T g[M];
      load_line(s + t * M + i, plane, c);
      multiply_line<M, n>(lines.B, c, r);
      multiply_line<M, M>(lines.D, r, g);
      store_line(s + t * M + i, plane, r);
#pragma unroll
      for (int k = 0; k < M; ++k) {
        gx[k][i] = r[k];
        gz[k][i] = g[k];
      }
    }
#pragma unroll
    for (int k = 0; k < M; ++k) {
      T r[M];
      multiply_line<M, M>(lines.D, gx[k], r);
#pragma unroll
      for (int i = 0; i < M; ++i) gx[k][i] = r[i];
    }
  }
  __syncwarp();
  // plane z = t: D along y, in place -> g_y
  if (active) {
#pragma unroll
    for (int i = 0; i < M; ++i) replace_line<M, M>(lines.D, s + t * plane + i, M);
  }
  __syncwarp();
  // plane y = t: f = D_q g; D^T along x and z of f_x and f_z, summed in registers
  if (active) {
    const char* const points = group + Planes::kCells * kCompressedHeaderBytes;
    const int slot = in_group * M + t;
#pragma unroll
    for (int k = 0; k < M; ++k) {
#pragma unroll
      for (int i = 0; i < M; ++i) {
        CompressedPoint<T, bits> packed;
        packed.load(points, Planes::kLanes * M * M, (k * M + i) * Planes::kLanes + slot);
        T d[6];
#pragma unroll
        for (int e = 0; e < 6; ++e) {
          d[e] = packed.number(e, header.exponent(e)) + header.offset<T>(e);
        }
        multiply_symmetric(d, gx[k][i], s[k * plane + t * M + i], gz[k][i]);
      }
    }
#pragma unroll
    for (int k = 0; k < M; ++k) {
      T r[M];
      multiply_line_transposed<M, M>(lines.D_weighted, gx[k], r);
#pragma unroll
      for (int i = 0; i < M; ++i) gx[k][i] = r[i];
    }
#pragma unroll
    for (int i = 0; i < M; ++i) {
      T c[M];
      T r[M];
#pragma unroll
      for (int k = 0; k < M; ++k) c[k] = gz[k][i];
      multiply_line_transposed<M, M>(lines.D_weighted, c, r);
#pragma unroll
      for (int k = 0; k < M; ++k) gx[k][i] += r[k];
    }
  }
  __syncwarp();
  // plane z = t: D^T along y of f_y, in place
  if (active) {
#pragma unroll
    for (int i = 0; i < M; ++i) {
      replace_line_transposed<M, M>(lines.D_weighted, s + t * plane + i, M);
    }
  }
  __syncwarp();
  // plane y = t: their sum [M][M] -> B^T along z -> [n][M]
  if (active) {
#pragma unroll
    for (int i = 0; i < M; ++i) {
      T c[M];
      T r[n];
      load_line(s + t * M + i, plane, c);
#pragma unroll
      for (int k = 0; k < M; ++k) c[k] += gx[k][i];
      multiply_line_transposed<M, n>(lines.B_weighted, c, r);
      store_line(s + t * M + i, plane, r);
    }
  }
  __syncwarp();
  // plane z = t: B^T along y, then x -> v [n][n]
  if (has_nodes) {
    T along_y[n][M];
#pragma unroll
    for (int i = 0; i < M; ++i) {
      T c[M];
      T r[n];
      load_line(s + t * plane + i, M, c);
      multiply_line_transposed<M, n>(lines.B_weighted, c, r);
#pragma unroll
      for (int j = 0; j < n; ++j) along_y[j][i] = r[j];
    }
#pragma unroll
    for (int j = 0; j < n; ++j) {
      T v[n];
      multiply_line_transposed<M, n>(lines.B_weighted, along_y[j], v);
      if (place.fixed == 0U && args.sink.kind == SinkKind::add_atomic) {
#pragma unroll
        for (int i = 0; i < n; ++i) atomicAdd(args.sink.values + node(i, j).lattice, v[i]);
      } else {
#pragma unroll
        for (int i = 0; i < n; ++i) store_node(args.sink, place, number, node(i, j), v[i]);
      }
    }
  }
}

}  // namespace tessera
