// This kernel adds diagonals of `general` factors in 3D with one thread a line of a cell.
#pragma once

#include <type_traits>

#include "operators/cells/cell_access.cuh"
#include "operators/cells/line_kernels.cuh"
#include "operators/tensor/gpu/factors.hpp"
#include "operators/tensor/gpu/tensor_3d.cuh"
#include "operators/tensor/sweeps/even_odd_lines.cuh"

namespace tessera {

/// Products of the entries of B and G = dB/dxi with themselves and each other, [i][q], split for
/// even-odd.
template <class T, int m>
struct DiagonalMatrices {
  EvenOddLines<T, m, m> BB;
  EvenOddLines<T, m, m> BG;
  EvenOddLines<T, m, m> GG;
};

/// Values of shared memory of a cell: a tensor for each entry of D.
template <int m>
constexpr int diagonal_cell_values() {
  return 6 * Box3D<m - 1, m>::size;
}
/// The cells of a block.
template <class T, int m>
constexpr int diagonal_cells() {
  return cells_of_lines(/*threads=*/128, m, diagonal_cell_values<m>() * sizeof(T));
}

/// d_i += sum_q D_q grad phi_i(q) . grad phi_i(q) + r_q phi_i(q)^2 of cells that share no node,
/// constrained rows as all others. An entry of D is contracted along z, y and x with BB along the
/// axes that it does not have, BG along those that it has once, GG along one that it has twice.
///
/// Launch: (m^2, diagonal_cells()) threads; thread (a, b) of a cell has lines (x, y) = (a, b) along
/// z, (x, z) = (a, b) along y and (y, z) = (a, b) along x. Shared memory: six tensors of m^3 values
/// a cell. Two barriers. Bytes a DoF: d read and written, and six values a point, with a reaction
/// seven, m^3 / p^3 points.
/// Flops: about 15 (m + 2) a point. Deterministic.
template <class T, int m>
__global__ void __launch_bounds__(m* m* diagonal_cells<T, m>())
    diagonal_lines_kernel(const CellGrid grid, const CellRange range, const FactorView<T> factors,
                          const __grid_constant__ DiagonalMatrices<T, m> products, T* d) {
  using Box = Box3D<m - 1, m>;
  extern __shared__ __align__(16) unsigned char shared_memory[];
  T* const own = reinterpret_cast<T*>(shared_memory) + threadIdx.y * diagonal_cell_values<m>();
  const auto tensor = [&](int k) { return own + k * Box::size; };
  const int a = static_cast<int>(threadIdx.x) % m;
  const int b = static_cast<int>(threadIdx.x) / m;
  const Index number = static_cast<Index>(blockIdx.x) * diagonal_cells<T, m>() + threadIdx.y;
  const bool is_active = number < range.size();
  const CellPlace cell = place_cell(grid, range, is_active ? number : 0);
  const auto combine = [&](const EvenOddLines<T, m, m>& matrix, auto sign, const T(&in)[m],
                           T(&sum)[m]) {
    T out[m];
    multiply_even_odd<sign()>(matrix, in, out);
#pragma unroll
    for (int i = 0; i < m; ++i) sum[i] += out[i];
  };
  constexpr std::integral_constant<int, 1> kEven;
  constexpr std::integral_constant<int, -1> kOdd;

  // Factors lie as general_factor_offset() says. Along z: xx, xy and yy with BB, xz and yz with BG,
  // zz with GG and with it r with BB.
  if (is_active) {
    const Index in_factors = cell_number(grid, cell.position) - factors.first_cell;
    const T* const of_cell = factors.data + in_factors * factors.stride;
    T entry[6][m];
#pragma unroll
    for (int q = 0; q < m; ++q) {
#pragma unroll
      for (int pair = 0; pair < 3; ++pair) {
        const T* const two = of_cell + (((q * 3 + pair) * m + b) * m + a) * 2;
        entry[2 * pair][q] = two[0];
        entry[2 * pair + 1][q] = two[1];
      }
    }
    T* const to = tensor(0) + b * Box::row + a;
    const auto put = [&](int k, const EvenOddLines<T, m, m>& matrix, auto sign, const T(&in)[m]) {
      T out[m];
      multiply_even_odd<sign()>(matrix, in, out);
      store_line(to + k * Box::size, Box::plane, out);
    };
    put(0, products.BB, kEven, entry[0]);
    put(1, products.BB, kEven, entry[1]);
    put(2, products.BG, kOdd, entry[2]);
    put(3, products.BB, kEven, entry[3]);
    put(4, products.BG, kOdd, entry[4]);
    T zz[m];
    multiply_even_odd<1>(products.GG, entry[5], zz);
    if (factors.reaction != nullptr) {
      const T* const from = factors.reaction + in_factors * (m * m * m) + b * m + a;
      T r[m];
#pragma unroll
      for (int q = 0; q < m; ++q) r[q] = from[q * m * m];
      combine(products.BB, kEven, r, zz);
    }
    store_line(to + 5 * Box::size, Box::plane, zz);
  }
  __syncthreads();
  // Along y, put together by what they have along x: xx; xy, xz twice; yy, yz twice, zz.
  if (is_active) {
    T* const from = tensor(0) + b * Box::plane + a;
    const auto line = [&](int k, T factor, T(&in)[m]) {
#pragma unroll
      for (int q = 0; q < m; ++q) in[q] = factor * from[k * Box::size + q * Box::row];
    };
    T in[m];
    T xx[m] = {};
    T once[m] = {};
    T none[m] = {};
    line(0, T{1}, in);
    combine(products.BB, kEven, in, xx);
    line(1, T{2}, in);
    combine(products.BG, kOdd, in, once);
    line(2, T{2}, in);
    combine(products.BB, kEven, in, once);
    line(3, T{1}, in);
    combine(products.GG, kEven, in, none);
    line(4, T{2}, in);
    combine(products.BG, kOdd, in, none);
    line(5, T{1}, in);
    combine(products.BB, kEven, in, none);
    store_line(from, Box::row, xx);
    store_line(from + Box::size, Box::row, once);
    store_line(from + 2 * Box::size, Box::row, none);
  }
  __syncthreads();
  // Along x.
  if (!is_active) return;
  const T* const from = tensor(0) + b * Box::plane + a * Box::row;
  T in[m];
  T sum[m] = {};
  load_line(from, 1, in);
  combine(products.GG, kEven, in, sum);
  load_line(from + Box::size, 1, in);
  combine(products.BG, kOdd, in, sum);
  load_line(from + 2 * Box::size, 1, in);
  combine(products.BB, kEven, in, sum);
  T* const to = d + cell.first_node + a * grid.nodes.strides[1] + b * grid.nodes.strides[2];
#pragma unroll
  for (int i = 0; i < m; ++i) in[i] = to[i];
#pragma unroll
  for (int i = 0; i < m; ++i) to[i] = in[i] + sum[i];
}

}  // namespace tessera
