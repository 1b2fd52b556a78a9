// These kernels integrate a solution and its errors, and find its extrema.
#pragma once

#include <limits>

#include "operators/cells/cell_access.cuh"
#include "operators/cells/fields/device_program.cuh"
#include "postprocess/device_error_norms.hpp"
#include "solvers/memory/ordered_bits.cuh"
#include "solvers/memory/reduction.cuh"

namespace tessera {
namespace {

// The kernels of device_error_norms.cu, which alone includes this.

constexpr int kThreads = NormsShape::kThreads;
constexpr int kRows = NormsShape::kRows;
// On a multiprocessor: the fastest of 4, 6 and 8, which have 128, 80 and 64 registers a thread.
constexpr int kResidentBlocks = 6;
constexpr int kSums = 4;
// In 2D cells have at least 16 points.
constexpr int kMaxCellsTogether = NormsShape::kMinValues / 16;
constexpr unsigned long long kNone = std::numeric_limits<unsigned long long>::max();
static_assert(NormsShape{2, 2, 1}.cells_together() <= kMaxCellsTogether &&
              kMaxNormsBlocks <= kMaxReductionBlocks);

/// What a launch finds.
struct Outcome {
  double sums[kSums] = {};
  unsigned long long inverted = kNone;   // the first cell with a determinant that is not positive
  unsigned long long forbidden = kNone;  // the first cell or node where the field is not allowed
  unsigned long long largest = 0;        // of ordered_bits()
  unsigned long long complement_of_min = 0;
};

/// A field as kernels evaluate it.
struct FieldArgument {
  FieldProgramView program;  // without code where the field is constant
  void* stacks;              // of a deep program
  double constant;
  Allowed allowed;
};

/// u as kernels see it: (values[i] - subtracted) * factor, or 0 without values.
struct SolutionArgument {
  const double* values;
  double subtracted;
  double factor;

  __device__ double operator[](Index i) const {
    return values != nullptr ? (values[i] - subtracted) * factor : 0.0;
  }
};

/// What is integrated: 1, u, k |grad u|^2 / 2 and k, or the squares of the errors of u and grad u.
enum class Integrands { numbers, errors };

struct CellArguments {
  CellGrid grid;
  Index cell_count;
  int cells_together;
  SolutionArgument u;
  const double* position[3];  // of the nodes, mapped cells
  const double* begin[3];     // of the cells along each axis, others
  const double* width[3];
  const double* tables;  // as NormsShape::table_values()
  double* scratch;       // null: in shared memory
  Index scratch_values;
  FieldArgument field;
  Integrands integrands;
  Sums<kSums>* partial;
  unsigned* arrived;
  Outcome* outcome;
};

struct NodeArguments {
  Index count;
  Index extents[3];
  SolutionArgument u;
  bool is_mapped;
  const double* position[3];  // of the nodes, or of the nodes on a line along each axis
  FieldArgument field;
  Outcome* outcome;
};

// One copy of the program's interpreter serves all kernels.
template <class Number>
__device__ __noinline__ Number value_of(const FieldArgument& field, double x, double y, double z,
                                        double u = kUnknownU) {
  if (field.program.code == nullptr) return Number(field.constant);
  return evaluate_at<kThreads>(field.program, static_cast<Number*>(field.stacks), x, y, z, u);
}

__device__ void check_value(const FieldArgument& field, double value, Index number,
                            Outcome* outcome) {
  if (field.program.code == nullptr || is_allowed(value, field.allowed)) return;
  atomicMin(&outcome->forbidden, static_cast<unsigned long long>(number));
}

/// Quotients by a number that is known only at run time, at the price of a multiplication; a
/// division takes some thirty instructions. Exact for numerators below 2^32 / e, where
/// e = divisor - 2^32 mod divisor; so for all below 2^32 / divisor, and up to degree 32 here.
class Divisor {
 public:
  __device__ explicit Divisor(int divisor)
      : divisor_(divisor), inverse_(divisor == 1 ? 0 : 0xffffffffU / divisor + 1) {}

  __device__ int quotient(int numerator) const {
    return divisor_ == 1 ? numerator : static_cast<int>(__umulhi(numerator, inverse_));
  }
  __device__ int remainder(int numerator) const {
    return numerator - quotient(numerator) * divisor_;
  }

 private:
  int divisor_;
  unsigned inverse_;
};

/// Contracts one axis of tensors by the threads of a block: out[slow][rows][fast] =
/// sum_b M[a][b] in[slow][b][fast], a thread for kRows rows of a line. M has rows of zeros up to a
/// multiple of kRows. Ends at a barrier.
__device__ void contract_axis(const double* matrix, int rows, int columns, int fast, int slow,
                              const double* in, double* out) {
  const int parts = (rows + kRows - 1) / kRows;
  const Divisor by_fast(fast);
  const Divisor by_parts(parts);
  for (int t = threadIdx.x; t < slow * parts * fast; t += kThreads) {
    const int line_part = by_fast.quotient(t);
    const int f = t - line_part * fast;
    const int s = by_parts.quotient(line_part);
    const int first = (line_part - s * parts) * kRows;
    const double* const line = in + s * columns * fast + f;
    const double* const row = matrix + first * columns;
    double sum[kRows] = {};
    for (int b = 0; b < columns; ++b) {
      const double value = line[b * fast];
#pragma unroll
      for (int r = 0; r < kRows; ++r) sum[r] += row[r * columns + b] * value;
    }
    double* const to = out + (s * rows + first) * fast + f;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (first + r < rows) to[r * fast] = sum[r];
    }
  }
  __syncthreads();
}

__device__ double determinant(const double (&J)[2][2]) {
  return J[0][0] * J[1][1] - J[0][1] * J[1][0];
}
__device__ double determinant(const double (&J)[3][3]) {
  return J[0][0] * (J[1][1] * J[2][2] - J[1][2] * J[2][1]) -
         J[0][1] * (J[1][0] * J[2][2] - J[1][2] * J[2][0]) +
         J[0][2] * (J[1][0] * J[2][1] - J[1][1] * J[2][0]);
}

/// to = J^-T g with J^-T = cofactors / determinant.
__device__ void to_physical(const double (&J)[2][2], double inverse, const double (&g)[2],
                            double (&to)[2]) {
  to[0] = (J[1][1] * g[0] - J[1][0] * g[1]) * inverse;
  to[1] = (J[0][0] * g[1] - J[0][1] * g[0]) * inverse;
}
__device__ void to_physical(const double (&J)[3][3], double inverse, const double (&g)[3],
                            double (&to)[3]) {
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    to[a] = 0.0;
#pragma unroll
    for (int b = 0; b < 3; ++b) {
      const int a1 = (a + 1) % 3;
      const int a2 = (a + 2) % 3;
      const int b1 = (b + 1) % 3;
      const int b2 = (b + 2) % 3;
      to[a] += (J[a1][b1] * J[a2][b2] - J[a1][b2] * J[a2][b1]) * g[b];
    }
    to[a] *= inverse;
  }
}

/// A cell of a block.
struct CellHere {
  CellPlace place;
  double origin[3];  // its lower corner, or its first node if it is mapped
  double width[3];   // only if it is not
};

/// Integrates over all cells, with n = p + 1 nodes and m = p + 3 points an axis of any size.
///
/// Launch: blocks of kThreads threads, as many as the GPU holds but at most kMaxNormsBlocks, which
/// stride over groups of NormsShape::cells_together() cells; dynamic shared memory: 8 B for each of
/// NormsShape::table_values() and, where it fits 96 KiB, of scratch_values(), else the scratch is
/// in GPU memory. F tensors a cell (u and, if it is mapped, its coordinates) go from the nodes to
/// the points, then a thread takes a point. Deterministic.
///
/// Least bytes: u once, 8 F B a DoF. Flops: 2 F (m n (n^2 + m n + m^2) + 3 m^4) a cell in 3D, and
/// the field's m^3 times. 72.5 million DoFs with p = 4 on an H200 (4.2 TB/s, 34 TFlop/s): uniform
/// 0.6 GB or 0.14 ms, 25 GFlop or 0.7 ms; mapped 2.3 GB or 0.55 ms, 100 GFlop or 2.9 ms; and
/// 390 million values of the field, of which a simple program takes 12 ms, more with derivatives.
/// Measured on an H100: numbers 10 ms uniform and 25 ms mapped, where shared memory is busy 92 % of
/// the time; errors from sin sin sin 26 and 42 ms, where it is the program's instructions.
/// @tparam kDegree p, so that loops are unrolled, or 0 for any
template <int kDimension, bool kIsMapped, int kDegree>
__global__ void __launch_bounds__(kThreads, kResidentBlocks)
    cell_sums_kernel(const __grid_constant__ CellArguments g) {
  constexpr int kFields = kIsMapped ? kDimension + 1 : 1;
  extern __shared__ double shared_values[];
  __shared__ CellHere here[kMaxCellsTogether];
  const int n = (kDegree > 0 ? kDegree : g.grid.degree) + 1;
  const int m = n - 1 + kExtraPoints;
  const int padded = (m + kRows - 1) / kRows * kRows;
  const int nodes = kDimension == 3 ? n * n * n : n * n;
  const int points = kDimension == 3 ? m * m * m : m * m;
  const double* const B = shared_values;
  const double* const D = B + padded * n;
  const double* const at = D + m * m;
  const double* const weights = at + m;
  const int table_values = padded * n + m * (m + 2);
  const Divisor by_nodes(nodes);
  const Divisor by_points(points);
  const Divisor by_n(n);
  const Divisor by_m(m);
  for (int t = threadIdx.x; t < table_values; t += kThreads) shared_values[t] = g.tables[t];
  double* const scratch = g.scratch != nullptr ? g.scratch + blockIdx.x * g.scratch_values
                                               : shared_values + table_values;
  const int tensors = g.cells_together * kFields;
  double* const large = scratch;
  double* const small = scratch + tensors * points;
  const CellRange all{{0, 0, 0}, {g.grid.cells[0], g.grid.cells[1], g.grid.cells[2]}, 1};
  Sums<kSums> sums;
  const Index groups = (g.cell_count + g.cells_together - 1) / g.cells_together;
  for (Index group = blockIdx.x; group < groups; group += gridDim.x) {
    const Index first = group * g.cells_together;
    const int count = static_cast<int>(min(Index{g.cells_together}, g.cell_count - first));
    if (static_cast<int>(threadIdx.x) < g.cells_together) {
      CellHere& mine = here[threadIdx.x];
      // Beyond the last cell it is repeated, and weighs nothing.
      mine.place = place_cell(g.grid, all, min(first + threadIdx.x, g.cell_count - 1));
      for (int d = 0; d < kDimension; ++d) {
        if constexpr (kIsMapped) {
          mine.origin[d] = g.position[d][mine.place.first_node];
        } else {
          mine.origin[d] = g.begin[d][mine.place.position[d]];
          mine.width[d] = g.width[d][mine.place.position[d]];
        }
      }
    }
    __syncthreads();
    double* const from = kDimension == 3 ? small : large;
    double* const other = kDimension == 3 ? large : small;
    for (int t = threadIdx.x; t < tensors * nodes; t += kThreads) {
      const int tensor = by_nodes.quotient(t);
      const int field = tensor % kFields;
      const CellHere& cell = here[tensor / kFields];
      const int local = t - tensor * nodes;
      const int line = by_n.quotient(local);
      const int k = kDimension == 3 ? by_n.quotient(line) : 0;
      const Index node =
          cell.place.first_node + g.grid.nodes.index(local - line * n, line - k * n, k);
      // Relative to a node of the cell, so that the size of the box costs J no digits.
      from[t] = field == 0 ? g.u[node] : g.position[field - 1][node] - cell.origin[field - 1];
    }
    __syncthreads();
    if constexpr (kDimension == 3) {
      contract_axis(B, m, n, 1, tensors * n * n, from, other);
      contract_axis(B, m, n, m, tensors * n, other, from);
      contract_axis(B, m, n, m * m, tensors, from, other);
    } else {
      contract_axis(B, m, n, 1, tensors * n, from, other);
      contract_axis(B, m, n, m, tensors, other, from);
    }
    for (int t = threadIdx.x; t < count * points; t += kThreads) {
      const int c = by_points.quotient(t);
      const int q = t - c * points;
      const double* const values = large + c * kFields * points + q;
      int along[kDimension];
      const int line = by_m.quotient(q);
      along[0] = q - line * m;
      along[1] = kDimension == 3 ? by_m.remainder(line) : line;
      if constexpr (kDimension == 3) along[2] = by_m.quotient(line);
      // Derivatives along the axes of the cell.
      double slope[kFields][kDimension] = {};
      double weight = 1.0;
      int stride = 1;
#pragma unroll
      for (int a = 0; a < kDimension; ++a) {
        weight *= weights[along[a]];
        const double* const row = D + along[a] * m;
        const double* const line = values - along[a] * stride;
        for (int b = 0; b < m; ++b) {
#pragma unroll
          for (int f = 0; f < kFields; ++f) {
            slope[f][a] += row[b] * line[f * points + b * stride];
          }
        }
        stride *= m;
      }
      const double u = values[0];
      double gradient[kDimension];
      double x[3] = {0.0, 0.0, 0.0};
      double volume = 1.0;
      if constexpr (kIsMapped) {
        double J[kDimension][kDimension];
#pragma unroll
        for (int a = 0; a < kDimension; ++a) {
          x[a] = values[(a + 1) * points] + here[c].origin[a];
#pragma unroll
          for (int b = 0; b < kDimension; ++b) J[a][b] = slope[a + 1][b];
        }
        volume = determinant(J);
        if (!(volume > 0.0)) {
          atomicMin(&g.outcome->inverted, static_cast<unsigned long long>(first + c));
        }
        to_physical(J, 1.0 / volume, slope[0], gradient);
      } else {
#pragma unroll
        for (int a = 0; a < kDimension; ++a) {
          const double width = here[c].width[a];
          x[a] = here[c].origin[a] + width * at[along[a]];
          volume *= width;
          gradient[a] = slope[0][a] / width;
        }
      }
      const double measure = weight * volume;
      double squared = 0.0;
      if (g.integrands == Integrands::numbers) {
        const double k = value_of<double>(g.field, x[0], x[1], x[2], u);
        check_value(g.field, k, first + c, g.outcome);
#pragma unroll
        for (int a = 0; a < kDimension; ++a) squared += gradient[a] * gradient[a];
        sums[0] += measure;
        sums[1] += measure * u;
        sums[2] += 0.5 * measure * k * squared;
        sums[3] += measure * k;
      } else {
        const Dual<double> exact = value_of<Dual<double>>(g.field, x[0], x[1], x[2]);
        check_value(g.field, exact.value, first + c, g.outcome);
#pragma unroll
        for (int a = 0; a < kDimension; ++a) {
          squared += (gradient[a] - exact.d[a]) * (gradient[a] - exact.d[a]);
        }
        sums[0] += measure * (u - exact.value) * (u - exact.value);
        sums[1] += measure * squared;
      }
    }
    __syncthreads();
  }
  reduce_over_grid<kThreads>(sums, g.partial, g.arrived, [&](const Sums<kSums>& total) {
    for (int k = 0; k < kSums; ++k) g.outcome->sums[k] = total[k];
  });
}

/// The smallest and the largest value. Launch: blocks of kThreads threads, a thread for each node,
/// striding. Least bytes: u once: 0.14 ms for 72.5 million nodes on an H200. Deterministic, as
/// comparisons do not round.
__global__ void __launch_bounds__(kThreads) extrema_kernel(NodeArguments g) {
  unsigned long long least = kNone;
  unsigned long long largest = 0;
  for (Index i = thread_number<kThreads>(); i < g.count; i += thread_count<kThreads>()) {
    const unsigned long long bits = ordered_bits(g.u[i]);
    least = min(least, bits);
    largest = max(largest, bits);
  }
  keep_largest(largest, &g.outcome->largest);
  keep_largest(~least, &g.outcome->complement_of_min);
}

/// The largest |u - field|. Launch: as extrema_kernel, with blocks as cell_sums_kernel has. Least
/// bytes: u once and, of mapped nodes, their positions: 8 or 32 B a DoF, 0.14 or 0.55 ms for 72.5
/// million on an H200; the field's values take more: 2.3 ms of a simple program. Deterministic.
__global__ void __launch_bounds__(kThreads)
    node_errors_kernel(const __grid_constant__ NodeArguments g) {
  unsigned long long largest = 0;
  for (Index i = thread_number<kThreads>(); i < g.count; i += thread_count<kThreads>()) {
    double x[3] = {0.0, 0.0, 0.0};
    if (g.is_mapped) {
      for (int d = 0; d < 3; ++d) {
        if (g.position[d] != nullptr) x[d] = g.position[d][i];
      }
    } else {
      Index rest = i;
      for (int d = 0; d < 3; ++d) {
        if (g.position[d] != nullptr) x[d] = g.position[d][rest % g.extents[d]];
        rest /= g.extents[d];
      }
    }
    const double exact = value_of<double>(g.field, x[0], x[1], x[2]);
    check_value(g.field, exact, i, g.outcome);
    largest = max(largest, ordered_bits(fabs(g.u[i] - exact)));
  }
  keep_largest(largest, &g.outcome->largest);
}

}  // namespace
}  // namespace tessera
