// This file integrates a solution and its errors on the GPU.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "operators/cells/cell_access.cuh"
#include "operators/load/device_program.cuh"
#include "operators/tensor/gpu/factors.hpp"
#include "postprocess/device_error_norms.hpp"
#include "solvers/check.hpp"
#include "solvers/memory/reduction.cuh"

namespace tessera {
namespace {

constexpr int kThreads = NormsShape::kThreads;
constexpr int kRows = NormsShape::kRows;
// On a multiprocessor, as far as registers go.
constexpr int kResidentBlocks = 4;
constexpr int kSums = 4;
// In 2D cells have at least 16 points.
constexpr int kMaxCellsTogether = NormsShape::kLeastPoints / 16;
constexpr unsigned long long kNone = std::numeric_limits<unsigned long long>::max();
static_assert(NormsShape{2, 2, 1}.cells_together() <= kMaxCellsTogether &&
              kMaxNormsBlocks <= kMaxReductionBlocks);

/// What a launch finds.
struct Outcome {
  double sums[kSums] = {};
  unsigned long long inverted = kNone;   // the first cell with a determinant that is not positive
  unsigned long long forbidden = kNone;  // the first cell or node where the field is not allowed
  unsigned long long largest = 0;        // of ordered_bits()
  unsigned long long complement_of_least = 0;
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
__device__ __noinline__ Number value_of(const FieldArgument& field, double x, double y, double z) {
  if (field.program.code == nullptr) return Number(field.constant);
  return evaluate_at<kThreads>(field.program, static_cast<Number*>(field.stacks), x, y, z);
}

__device__ void check_value(const FieldArgument& field, double value, Index number,
                            Outcome* outcome) {
  if (field.program.code == nullptr || is_allowed(value, field.allowed)) return;
  atomicMin(&outcome->forbidden, static_cast<unsigned long long>(number));
}

/// Contracts one axis of tensors by the threads of a block: out[slow][rows][fast] =
/// sum_b M[a][b] in[slow][b][fast], a thread for kRows rows of a line. M has rows of zeros up to a
/// multiple of kRows. Ends at a barrier.
__device__ void contract_axis(const double* matrix, int rows, int columns, int fast, int slow,
                              const double* in, double* out) {
  const int parts = (rows + kRows - 1) / kRows;
  for (int t = threadIdx.x; t < slow * parts * fast; t += kThreads) {
    const int f = t % fast;
    const int first = t / fast % parts * kRows;
    const int s = t / (fast * parts);
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
template <int kDimension, bool kIsMapped>
__global__ void __launch_bounds__(kThreads, kResidentBlocks)
    cell_sums_kernel(const __grid_constant__ CellArguments g) {
  constexpr int kFields = kIsMapped ? kDimension + 1 : 1;
  extern __shared__ double shared_values[];
  __shared__ CellHere here[kMaxCellsTogether];
  const int n = g.grid.degree + 1;
  const int m = n - 1 + kExtraPoints;
  const int padded = (m + kRows - 1) / kRows * kRows;
  const int nodes = kDimension == 3 ? n * n * n : n * n;
  const int plane = kDimension == 3 ? m * m : m;
  const int points = plane * m;
  const double* const B = shared_values;
  const double* const D = B + padded * n;
  const double* const at = D + m * m;
  const double* const weights = at + m;
  const int table_values = padded * n + m * (m + 2);
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
      const int tensor = t / nodes;
      const int field = tensor % kFields;
      const CellHere& cell = here[tensor / kFields];
      const Index node = cell_node(g.grid, cell.place, t - tensor * nodes).lattice;
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
      const int c = t / points;
      const int q = t - c * points;
      const double* const values = large + c * kFields * points + q;
      int along[kDimension];
      along[0] = q % m;
      along[1] = kDimension == 3 ? q / m % m : q / m;
      if constexpr (kDimension == 3) along[2] = q / plane;
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
        const double k = value_of<double>(g.field, x[0], x[1], x[2]);
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

/// Bits that are in the order of the numbers, and largest for NaN.
__device__ unsigned long long ordered_bits(double value) {
  if (isnan(value)) return kNone;
  const auto bits = static_cast<unsigned long long>(__double_as_longlong(value));
  constexpr unsigned long long kSign = 1ULL << 63;
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}
double from_ordered_bits(unsigned long long ordered) {
  constexpr unsigned long long kSign = 1ULL << 63;
  const unsigned long long bits = (ordered & kSign) != 0 ? ordered & ~kSign : ~ordered;
  double value = 0.0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// *largest becomes at least the value of each lane of a warp, all of which call it.
__device__ void keep_largest(unsigned long long value, unsigned long long* largest) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value = max(value, __shfl_xor_sync(0xffffffffU, value, offset));
  }
  if (threadIdx.x % 32 == 0) atomicMax(largest, value);
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
  keep_largest(~least, &g.outcome->complement_of_least);
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

/// A field in GPU memory, with the stacks of so many blocks that evaluate it.
class FieldOnDevice {
 public:
  /// @param most the blocks that there are to be
  FieldOnDevice(const ScalarField& field, Allowed allowed, Index most) : blocks_(most) {
    TESSERA_CHECK(has_program(field));
    argument_.allowed = allowed;
    if (field.constant) {
      argument_.constant = *field.constant;
      return;
    }
    program_.emplace(*field.program);
    argument_.program = program_->view();
    if (program_->depth() <= DeviceProgram::kShallow) return;
    blocks_ = std::min(most, norms_stack_blocks(program_->depth()));
    stacks_ = DeviceArray<char>(blocks_ * norms_stack_block_bytes(program_->depth()));
    argument_.stacks = stacks_.data();
  }

  const FieldArgument& argument() const { return argument_; }
  unsigned blocks() const { return static_cast<unsigned>(blocks_); }

 private:
  Index blocks_;
  FieldArgument argument_{};
  std::optional<DeviceProgram> program_;
  DeviceArray<char> stacks_;
};

NormsShape shape_of(const Discretization& discretization) {
  const int dimension = discretization.mesh.dimension();
  return {dimension, discretization.basis.node_count(),
          discretization.mapping.is_cartesian() ? 1 : dimension + 1};
}

std::vector<double> tables_of(const Discretization& discretization, const NormsShape& shape) {
  const Basis1D basis = make_basis(discretization.basis.degree, discretization.basis.family,
                                   QuadratureRule::gauss, shape.points());
  std::vector<double> tables = basis.B.entries;
  tables.resize(static_cast<std::size_t>(shape.padded_rows()) * shape.nodes, 0.0);
  for (const std::vector<double>* more :
       {&basis.D.entries, &basis.quadrature.points, &basis.quadrature.weights}) {
    tables.insert(tables.end(), more->begin(), more->end());
  }
  return tables;
}

CellGrid grid_of(const Discretization& discretization) {
  BilinearForm form;
  form.discretization = &discretization;
  return make_cell_grid(form);
}

using CellKernel = void (*)(CellArguments);

CellKernel cell_kernel(const NormsShape& shape) {
  if (shape.dimension == 2) {
    return shape.fields > 1 ? cell_sums_kernel<2, true> : cell_sums_kernel<2, false>;
  }
  return shape.fields > 1 ? cell_sums_kernel<3, true> : cell_sums_kernel<3, false>;
}

/// Launches by launch_with(outcome in GPU memory), and waits for the outcome.
template <class F>
Outcome outcome_of(F&& launch_with) {
  DeviceArray<Outcome> outcome(std::vector<Outcome>(1));
  launch_with(outcome.data());
  return to_host(outcome)[0];
}

}  // namespace

struct DeviceErrorNorms::Data {
  Data(const Discretization& discretization_in, const HostVector<double>& solution);

  SolutionArgument divided(double unit, double subtracted) const {
    return {u.data(), subtracted, 1.0 / unit};
  }
  Outcome over_cells(Integrands integrands, const SolutionArgument& solution,
                     const ScalarField& field, Allowed allowed);
  /// The same, but for what the host throws.
  Outcome checked_over_cells(Integrands integrands, const SolutionArgument& solution,
                             const ScalarField& field, Allowed allowed, FoldedCells folded);
  NodeArguments node_arguments(const SolutionArgument& solution) const;
  Index node_blocks() const { return std::min(ceil_div(u.size(), kThreads), kMaxNormsBlocks); }

  const Discretization& discretization;
  NormsShape shape;
  DeviceArray<double> u;
  DeviceArray<double> tables;
  DeviceArray<double> scratch;
  std::array<DeviceArray<double>, 3> positions;  // as NodeArguments have them
  std::array<DeviceArray<double>, 3> begins;
  std::array<DeviceArray<double>, 3> widths;
  ReductionBuffer<kSums> sums;
};

DeviceErrorNorms::Data::Data(const Discretization& discretization_in,
                             const HostVector<double>& solution)
    : discretization(discretization_in),
      shape(shape_of(discretization)),
      u(solution.size()),
      tables(tables_of(discretization, shape)),
      scratch(shape.scratch_parts(discretization.mesh.cell_count()) * shape.scratch_values()) {
  copy_to_device(solution.data(), u.bytes(), u.data());
  const BoxMesh& mesh = discretization.mesh;
  for (int d = 0; d < shape.dimension; ++d) {
    if (!discretization.mapping.is_cartesian()) {
      positions[d] = positions_on_device(discretization.mapping, d);
      continue;
    }
    positions[d] = DeviceArray<double>(discretization.mapping.line(d));
    std::vector<double> begin;
    std::vector<double> width;
    for (Index c = 0; c < mesh.cells()[d]; ++c) {
      begin.push_back(mesh.grid_line(d, c));
      width.push_back(mesh.cell_width(d, c));
    }
    begins[d] = DeviceArray<double>(begin);
    widths[d] = DeviceArray<double>(width);
  }
}

Outcome DeviceErrorNorms::Data::over_cells(Integrands integrands, const SolutionArgument& solution,
                                           const ScalarField& field, Allowed allowed) {
  const Index cells = discretization.mesh.cell_count();
  const CellKernel kernel = cell_kernel(shape);
  const Index shared =
      (shape.table_values() + (shape.fits_shared_memory() ? shape.scratch_values() : 0)) *
      Index{sizeof(double)};
  allow_shared_memory(kernel, shared);
  const auto shared_bytes = static_cast<std::size_t>(shared);
  Index most = std::min<Index>(kMaxNormsBlocks, resident_blocks(kernel, kThreads, shared_bytes));
  most = std::min(most, ceil_div(cells, shape.cells_together()));
  if (scratch.size() > 0) most = std::min(most, shape.scratch_parts(cells));
  const FieldOnDevice on_device(field, allowed, most);

  CellArguments arguments{};
  arguments.grid = grid_of(discretization);
  arguments.cell_count = cells;
  arguments.cells_together = shape.cells_together();
  arguments.u = solution;
  for (int d = 0; d < 3; ++d) {
    arguments.position[d] = positions[d].data();
    arguments.begin[d] = begins[d].data();
    arguments.width[d] = widths[d].data();
  }
  arguments.tables = tables.data();
  arguments.scratch = scratch.data();
  arguments.scratch_values = shape.scratch_values();
  arguments.field = on_device.argument();
  arguments.integrands = integrands;
  arguments.partial = sums.partial();
  arguments.arrived = sums.arrived();
  return outcome_of([&](Outcome* outcome) {
    arguments.outcome = outcome;
    launch(kernel, {"integrating over the cells", on_device.blocks(), kThreads, shared_bytes},
           arguments);
  });
}

Outcome DeviceErrorNorms::Data::checked_over_cells(Integrands integrands,
                                                   const SolutionArgument& solution,
                                                   const ScalarField& field, Allowed allowed,
                                                   FoldedCells folded) {
  const Outcome outcome = over_cells(integrands, solution, field, allowed);
  const unsigned long long first = folded == FoldedCells::refused
                                       ? std::min(outcome.inverted, outcome.forbidden)
                                       : outcome.forbidden;
  if (first != kNone) check_cell(discretization, static_cast<Index>(first), field, folded);
  return outcome;
}

NodeArguments DeviceErrorNorms::Data::node_arguments(const SolutionArgument& solution) const {
  NodeArguments arguments{};
  arguments.count = u.size();
  arguments.u = solution;
  arguments.is_mapped = !discretization.mapping.is_cartesian();
  for (int d = 0; d < 3; ++d) {
    arguments.extents[d] = discretization.lattice.extents()[d];
    arguments.position[d] = positions[d].data();
  }
  return arguments;
}

DeviceErrorNorms::DeviceErrorNorms(const Discretization& discretization, HostVector<double>& u)
    : u_(&u), data_(std::make_unique<Data>(discretization, u)) {}

DeviceErrorNorms::~DeviceErrorNorms() = default;

std::array<double, 2> DeviceErrorNorms::extrema() const {
  NodeArguments arguments = data_->node_arguments(data_->divided(1.0, subtracted_));
  const Outcome found = outcome_of([&](Outcome* outcome) {
    arguments.outcome = outcome;
    launch(extrema_kernel,
           {"finding extrema", static_cast<unsigned>(data_->node_blocks()), kThreads}, arguments);
  });
  const double largest = from_ordered_bits(found.largest);
  return {std::isnan(largest) ? largest : from_ordered_bits(~found.complement_of_least), largest};
}

SolutionNumbers DeviceErrorNorms::solution_numbers(const ScalarField& coefficient,
                                                   double unit) const {
  const Outcome found =
      data_->checked_over_cells(Integrands::numbers, data_->divided(unit, subtracted_), coefficient,
                                Allowed::positive, FoldedCells::refused);
  const auto [min, max] = extrema();
  return {min / unit, max / unit, found.sums[1], found.sums[2], found.sums[0]};
}

double DeviceErrorNorms::integral(double unit) const {
  return data_
      ->checked_over_cells(Integrands::numbers, data_->divided(unit, subtracted_),
                           constant_field(0.0), Allowed::finite, FoldedCells::refused)
      .sums[1];
}

double DeviceErrorNorms::mean_value(double unit) const {
  const Outcome found =
      data_->checked_over_cells(Integrands::numbers, data_->divided(unit, subtracted_),
                                constant_field(0.0), Allowed::finite, FoldedCells::allowed);
  return found.sums[1] / found.sums[0];
}

double DeviceErrorNorms::mean_value(const ScalarField& field) const {
  const Outcome found = data_->checked_over_cells(Integrands::numbers, {}, field, Allowed::finite,
                                                  FoldedCells::allowed);
  return found.sums[3] / found.sums[0];
}

ErrorNorms DeviceErrorNorms::error_norms(const ScalarField& exact, double unit) const {
  const Outcome found =
      data_->checked_over_cells(Integrands::errors, data_->divided(unit, subtracted_), exact,
                                Allowed::finite, FoldedCells::refused);
  return {std::sqrt(found.sums[0]), std::sqrt(found.sums[1]), max_error(exact, unit)};
}

double DeviceErrorNorms::max_error(const ScalarField& exact, double unit) const {
  const FieldOnDevice on_device(exact, Allowed::finite, data_->node_blocks());
  NodeArguments arguments = data_->node_arguments(data_->divided(unit, subtracted_));
  arguments.field = on_device.argument();
  const Outcome found = outcome_of([&](Outcome* outcome) {
    arguments.outcome = outcome;
    launch(node_errors_kernel, {"finding the largest error", on_device.blocks(), kThreads},
           arguments);
  });
  if (found.forbidden != kNone) {
    Point x{};
    double value = 0.0;
    data_->discretization.mapping.node_positions(static_cast<Index>(found.forbidden), 1, &x[0],
                                                 &x[1], &x[2]);
    exact.evaluate({1, &x[0], &x[1], &x[2]}, &value);
  }
  return from_ordered_bits(found.largest);
}

void DeviceErrorNorms::subtract(double constant) {
  tessera::subtract(constant, *u_);
  subtracted_ += constant;
}

}  // namespace tessera
