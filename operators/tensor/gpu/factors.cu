// This file computes geometric factors on the GPU.
#include <algorithm>
#include <cmath>
#include <limits>

#include "mesh/errors.hpp"
#include "operators/cells/block_contraction.cuh"
#include "operators/cells/block_scratch.hpp"
#include "operators/cells/cell_access.cuh"
#include "operators/cells/device_positions.hpp"
#include "operators/tensor/gpu/coefficient_at_points.hpp"
#include "operators/tensor/gpu/factor_layout.cuh"
#include "operators/tensor/gpu/factors.hpp"
#include "solvers/memory/launch.cuh"

namespace tessera {
namespace {

constexpr int kThreads = 128;
constexpr Index kNone = std::numeric_limits<Index>::max();

// What the kernels need to know of the basis and the nodes.
struct GeometryArguments {
  CellGrid grid;
  int points;
  const double* B;            // [q][i]
  const double* D;            // [q][q]
  const double* weights;      // [q], one axis
  const double* position[3];  // of the nodes, mapped cells
  const double* width[3];     // of the cells along each axis, graded ones
  Index first_cell;
  Index count;
  const double* k;  // [cell - first_cell][q], or null
  double constant_k;
};

__device__ CellPlace place_of(const GeometryArguments& g, Index cell) {
  return place_cell(g.grid, {{0, 0, 0}, {g.grid.cells[0], g.grid.cells[1], g.grid.cells[2]}, 1},
                    cell);
}

__device__ double weight_of(const GeometryArguments& g, int q) {
  const int m = g.points;
  double w = g.weights[q % m] * g.weights[q / m % m];
  if (g.grid.dimension == 3) w *= g.weights[q / (m * m)];
  return w;
}

// entries = s adj(J) adj(J)^T with adj(J) = |J| J^-1, J[a][b] = dx_a / dxi_b at j[(a dim + b)
// size].
__device__ void symmetric_entries_2d(const double* j, int size, double s, double* entries) {
  const double xx = j[0];
  const double xy = j[size];
  const double yx = j[2 * size];
  const double yy = j[3 * size];
  entries[0] = s * (yy * yy + xy * xy);
  entries[1] = -s * (yy * yx + xy * xx);
  entries[2] = s * (yx * yx + xx * xx);
}

__device__ void symmetric_entries_3d(const double (&J)[3][3], double s, double* entries) {
  double adjugate[3][3];
#pragma unroll
  for (int a = 0; a < 3; ++a) {
#pragma unroll
    for (int b = 0; b < 3; ++b) {
      const int a1 = (a + 1) % 3;
      const int a2 = (a + 2) % 3;
      const int b1 = (b + 1) % 3;
      const int b2 = (b + 2) % 3;
      adjugate[b][a] = J[a1][b1] * J[a2][b2] - J[a1][b2] * J[a2][b1];
    }
  }
  int entry = 0;
#pragma unroll
  for (int a = 0; a < 3; ++a) {
#pragma unroll
    for (int b = a; b < 3; ++b) {
      entries[entry++] = s * (adjugate[a][0] * adjugate[b][0] + adjugate[a][1] * adjugate[b][1] +
                              adjugate[a][2] * adjugate[b][2]);
    }
  }
}

__device__ void report_inverted(Index cell, Index* inverted) {
  atomicMin(reinterpret_cast<unsigned long long*>(inverted), static_cast<unsigned long long>(cell));
}

// D_q of mapped cells. One block of kThreads a cell, striding; scratch: dim^2 + 2 tensors of m^dim
// doubles. x_d [n]^dim -> B -> [m]^dim -> D along each axis -> J [dim][dim][m]^dim -> D_q.
template <class T>
__global__ void __launch_bounds__(kThreads)
    general_factors_kernel(GeometryArguments g, char* global_scratch, Index scratch_bytes,
                           Index stride, T* factors, Index* inverted) {
  extern __shared__ __align__(16) char shared_scratch[];
  auto* const scratch = reinterpret_cast<double*>(
      global_scratch != nullptr ? global_scratch + blockIdx.x * scratch_bytes : shared_scratch);
  const int dim = g.grid.dimension;
  const int n = g.grid.degree + 1;
  const int m = g.points;
  const int nodes = dim == 3 ? n * n * n : n * n;
  const int size = dim == 3 ? m * m * m : m * m;
  double* const jacobian = scratch + 2 * size;
  for (Index c = blockIdx.x; c < g.count; c += gridDim.x) {
    const Index cell = g.first_cell + c;
    const CellPlace place = place_of(g, cell);
    for (int d = 0; d < dim; ++d) {
      // Relative to a node of the cell, so that the size of the box costs J no digits.
      const double origin = g.position[d][place.first_node];
      for (int i = threadIdx.x; i < nodes; i += kThreads) {
        scratch[i] = g.position[d][cell_node(g.grid, place, i).lattice] - origin;
      }
      __syncthreads();
      const double* values = contract_all_by_block(g.B, m, n, dim, scratch, scratch + size);
      int fast = 1;
      for (int a = 0; a < dim; ++a, fast *= m) {
        contract_by_block(g.D, m, m, fast, size / (fast * m), values,
                          jacobian + (d * dim + a) * size);
      }
    }
    for (int q = threadIdx.x; q < size; q += kThreads) {
      const double k = g.k != nullptr ? g.k[c * size + q] : g.constant_k;
      const double wk = weight_of(g, q) * k;
      double entries[6];
      if (dim == 2) {
        const double* j = jacobian + q;
        const double determinant = j[0] * j[3 * size] - j[size] * j[2 * size];
        if (!(determinant > 0.0)) report_inverted(cell, inverted);
        symmetric_entries_2d(j, size, wk / determinant, entries);
      } else {
        double J[3][3];
        for (int e = 0; e < 9; ++e) J[e / 3][e % 3] = jacobian[e * size + q];
        const double determinant = J[0][0] * (J[1][1] * J[2][2] - J[1][2] * J[2][1]) -
                                   J[0][1] * (J[1][0] * J[2][2] - J[1][2] * J[2][0]) +
                                   J[0][2] * (J[1][0] * J[2][1] - J[1][1] * J[2][0]);
        if (!(determinant > 0.0)) report_inverted(cell, inverted);
        symmetric_entries_3d(J, wk / determinant, entries);
      }
      for (int e = 0; e < dim * (dim + 1) / 2; ++e) {
        factors[c * stride + general_factor_offset(dim, m, q, e)] = static_cast<T>(entries[e]);
      }
    }
    __syncthreads();
  }
}

// D_q = w k |J| diag(1 / h_d^2) of axis-aligned cells of different widths. One thread a point.
template <class T>
__global__ void graded_factors_kernel(GeometryArguments g, Index stride, T* factors) {
  const int dim = g.grid.dimension;
  const int size = dim == 3 ? g.points * g.points * g.points : g.points * g.points;
  const Index total = g.count * size;
  for (Index t = thread_number<kThreads>(); t < total; t += thread_count<kThreads>()) {
    const int q = static_cast<int>(t % size);
    const Index c = t / size;
    const CellPlace place = place_of(g, g.first_cell + c);
    double width[3];
    double wkj = weight_of(g, q) * (g.k != nullptr ? g.k[t] : g.constant_k);
    for (int d = 0; d < dim; ++d) {
      width[d] = g.width[d][place.position[d]];
      wkj *= width[d];
    }
    int e = 0;
    for (int a = 0; a < dim; ++a) {
      for (int b = a; b < dim; ++b, ++e) {
        factors[c * stride + general_factor_offset(dim, g.points, q, e)] =
            static_cast<T>(a == b ? wkj / (width[a] * width[a]) : 0.0);
      }
    }
  }
}

// w |J| k of equal cells. One thread a point.
template <class T>
__global__ void scaled_factors_kernel(GeometryArguments g, double volume, Index stride,
                                      T* factors) {
  const int size = g.grid.dimension == 3 ? g.points * g.points * g.points : g.points * g.points;
  const Index total = g.count * size;
  for (Index t = thread_number<kThreads>(); t < total; t += thread_count<kThreads>()) {
    const int q = static_cast<int>(t % size);
    factors[t / size * stride + q] = static_cast<T>(weight_of(g, q) * volume * g.k[t]);
  }
}

std::vector<double> cell_widths(const BoxMesh& mesh, int d) {
  std::vector<double> widths;
  for (Index c = 0; c < mesh.cells()[d]; ++c) widths.push_back(mesh.cell_width(d, c));
  return widths;
}

void check_constant(const BilinearForm& form) {
  const double k = *form.coefficient.constant;
  if (!(k > 0.0) || !std::isfinite(k)) {
    throw BadFieldValue("the coefficient must be positive and finite",
                        form.discretization->mesh.lower(), k);
  }
}

// Cells whose coefficient is on its way from the host at a time.
Index coefficient_chunk(Index points) {
  return std::max<Index>(kCoefficientPointsPerChunk / points, 1);
}

}  // namespace

template <class T>
DeviceFactorMaker<T>::DeviceFactorMaker(const BilinearForm& form)
    : form_(&form),
      kind_(factor_kind(form.discretization->mapping, form.coefficient, form.reaction)),
      cell_stride_(device_factor_stride(kind_, form.discretization->mesh.dimension(),
                                        form.discretization->basis.point_count(), sizeof(T))),
      B_(form.discretization->basis.B.entries),
      D_(form.discretization->basis.D.entries),
      weights_(form.discretization->basis.quadrature.weights),
      inverted_(std::vector<Index>{kNone}),
      scratch_(form.discretization->mapping.is_cartesian()
                   ? 0
                   : factor_block_bytes(form.discretization->mesh.dimension(),
                                        form.discretization->basis.point_count())) {
  const Discretization& discretization = *form.discretization;
  const int dim = discretization.mesh.dimension();
  if (form.coefficient.constant) {
    check_constant(form);
  } else {
    const Index points = power(discretization.basis.point_count(), dim);
    k_ = DeviceArray<double>(std::min(coefficient_chunk(points), discretization.mesh.cell_count()) *
                             points);
  }
  for (int d = 0; d < dim; ++d) {
    if (!discretization.mapping.is_cartesian()) {
      positions_[d] = positions_on_device(discretization.mapping, d);
    } else if (kind_ == FactorKind::general) {
      widths_[d] = DeviceArray<double>(cell_widths(discretization.mesh, d));
    }
  }
}

template <class T>
void DeviceFactorMaker<T>::make(Index first, Index count, T* factors) {
  const Discretization& discretization = *form_->discretization;
  const BoxMesh& mesh = discretization.mesh;
  const int dim = mesh.dimension();
  const int m = discretization.basis.point_count();
  const Index points = power(m, dim);
  double volume = 1.0;
  for (int d = 0; d < dim; ++d) volume *= mesh.cell_width(d, 0);
  GeometryArguments arguments{};
  arguments.grid = make_cell_grid(*form_);
  arguments.points = m;
  arguments.B = B_.data();
  arguments.D = D_.data();
  arguments.weights = weights_.data();
  for (int d = 0; d < dim; ++d) {
    arguments.position[d] = positions_[d].data();
    arguments.width[d] = widths_[d].data();
  }
  const bool is_constant = form_->coefficient.constant.has_value();
  arguments.constant_k = form_->coefficient.constant.value_or(0.0);
  const Index chunk = is_constant ? count : coefficient_chunk(points);
  for (Index done = 0; done < count; done += arguments.count) {
    arguments.first_cell = first + done;
    arguments.count = std::min(chunk, count - done);
    if (!is_constant) {
      const std::vector<double> values =
          coefficient_at_points(*form_, arguments.first_cell, arguments.count);
      copy_to_device(values.data(), static_cast<Index>(values.size() * sizeof(double)), k_.data());
      arguments.k = k_.data();
    }
    constexpr const char* kName = "geometric factors";
    const Launch a_thread_a_point{kName, blocks_for(arguments.count * points, kThreads, 1 << 20),
                                  kThreads};
    T* const out = factors + done * cell_stride_;
    if (!discretization.mapping.is_cartesian()) {
      launch(general_factors_kernel<T>,
             {kName, scratch_.blocks(arguments.count), kThreads, scratch_.shared_bytes()},
             arguments, static_cast<char*>(scratch_.global()), scratch_.bytes_per_block(),
             cell_stride_, out, inverted_.data());
    } else if (kind_ == FactorKind::general) {
      launch(graded_factors_kernel<T>, a_thread_a_point, arguments, cell_stride_, out);
    } else {
      launch(scaled_factors_kernel<T>, a_thread_a_point, arguments, volume, cell_stride_, out);
    }
  }
}

template <class T>
void DeviceFactorMaker<T>::check() const {
  const Index first_inverted = to_host(inverted_).front();
  if (first_inverted != kNone) report_inverted_cell(*form_, first_inverted);
}

template <class T>
DeviceFactors<T>::DeviceFactors(const BilinearForm& form)
    : kind_(factor_kind(form.discretization->mapping, form.coefficient, form.reaction)) {
  const BoxMesh& mesh = form.discretization->mesh;
  const int dim = mesh.dimension();
  double volume = 1.0;
  for (int d = 0; d < dim; ++d) volume *= mesh.cell_width(d, 0);
  if (form.coefficient.constant) check_constant(form);
  for (int d = 0; kind_ != FactorKind::general && d < dim; ++d) {
    axis_scale_[d] = 1.0 / (mesh.cell_width(d, 0) * mesh.cell_width(d, 0));
    if (kind_ == FactorKind::constant) axis_scale_[d] *= volume * *form.coefficient.constant;
  }
  if (kind_ == FactorKind::constant) return;
  cell_stride_ =
      device_factor_stride(kind_, dim, form.discretization->basis.point_count(), sizeof(T));
  values_ = DeviceArray<T>(mesh.cell_count() * cell_stride_);
  DeviceFactorMaker<T> maker(form);
  maker.make(0, mesh.cell_count(), values_.data());
  maker.check();
}

template class DeviceFactorMaker<double>;
template class DeviceFactorMaker<float>;
template class DeviceFactors<double>;
template class DeviceFactors<float>;

}  // namespace tessera
