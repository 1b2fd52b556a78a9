// This kernel computes geometric factors of mapped cells by teams.
#pragma once

#include "operators/cells/block_scratch.hpp"
#include "operators/cells/fields/cell_geometry.cuh"
#include "operators/tensor/gpu/factor_layout.cuh"
#include "operators/tensor/gpu/factors.hpp"
#include "operators/tensor/gpu/field_in_kernel.cuh"
#include "solvers/memory/launch.cuh"

namespace tessera {

inline constexpr int kFactorThreads = kScratchThreads;

/// What the kernels need to know of the basis, the nodes and the form.
struct GeometryArguments {
  // k or c: values [cell - first_cell][q], else a field that the kernel evaluates, else a constant.
  struct Field {
    const double* values;
    FieldInKernel in_kernel;
    double constant;
  };

  CellGrid grid;
  PointPlaces points;
  const double* D;  // [q][q]
  Index first_cell;
  Index count;
  Field fields[2];      // k, c
  const double* state;  // null where none of the fields that kernels evaluate depends on u
  double volume;        // of equal cells
};

__device__ inline CellPlace place_of(const GeometryArguments& g, Index cell) {
  return place_cell(g.grid, {{0, 0, 0}, {g.grid.cells[0], g.grid.cells[1], g.grid.cells[2]}, 1},
                    cell);
}

__device__ inline double weight_of(const GeometryArguments& g, const PointNumbers& q) {
  const double* const weights = g.points.weights;
  double w = weights[q.along[0]] * weights[q.along[1]];
  if (g.grid.dimension == 3) w *= weights[q.along[2]];
  return w;
}

/// k and c at point q of cell first_cell + c.
struct PointCoefficients {
  double k;
  double c;
};

/// As values of the fields or constants.
__device__ inline PointCoefficients coefficients_at(const GeometryArguments& g, Index at) {
  const auto value = [&](const GeometryArguments::Field& field) {
    return field.values != nullptr ? field.values[at] : field.constant;
  };
  return {value(g.fields[0]), value(g.fields[1])};
}

/// Whether a kernel evaluates fields of the form itself, maybe derivatives in u among them.
enum class FieldsAre { given, values, any };

inline FieldsAre fields_of(const GeometryArguments& g) {
  const DeviceFieldView& k = g.fields[0].in_kernel.field;
  const DeviceFieldView& c = g.fields[1].in_kernel.field;
  if (k.count + c.count == 0) return FieldsAre::given;
  return are_all(k, TermsAre::values) && are_all(c, TermsAre::values) ? FieldsAre::values
                                                                      : FieldsAre::any;
}

/// Sets those that the kernel evaluates. @param number of the point in the mesh
__device__ inline void evaluate_fields(const GeometryArguments& g, const double (&x)[3], double u,
                                       Index number, PointCoefficients& coefficients) {
  // One after the other, so that the interpreter is compiled once.
#pragma unroll 1
  for (int f = 0; f < 2; ++f) {
    if (g.fields[f].in_kernel.field.count == 0) continue;
    const double value = value_in_kernel(g.fields[f].in_kernel, x, u, number);
    coefficients.k = f == 0 ? value : coefficients.k;
    coefficients.c = f == 1 ? value : coefficients.c;
  }
}

/// entries = s adj(J) adj(J)^T with adj(J) = |J| J^-1.
__device__ inline void symmetric_entries_2d(const SmallMatrix& J, double s, double* entries) {
  const double xx = J.at[0][0];
  const double xy = J.at[0][1];
  const double yx = J.at[1][0];
  const double yy = J.at[1][1];
  entries[0] = s * (yy * yy + xy * xy);
  entries[1] = -s * (yy * yx + xy * xx);
  entries[2] = s * (yx * yx + xx * xx);
}

__device__ inline void symmetric_entries_3d(const SmallMatrix& J, double s, double* entries) {
  double adjugate[3][3];
#pragma unroll
  for (int a = 0; a < 3; ++a) {
#pragma unroll
    for (int b = 0; b < 3; ++b) adjugate[b][a] = cofactor(J, a, b);
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

__device__ inline void report_inverted(Index cell, Index* inverted) {
  atomicMin(reinterpret_cast<unsigned long long*>(inverted), static_cast<unsigned long long>(cell));
}

/// D_q and r_q of mapped cells, those of the two that are not null. One team a cell, striding;
/// scratch as factor_cell_bytes(). x_d, u [n]^dim -> B -> [m]^dim -> D along each axis -> J -> D_q.
template <ScratchPlace place, FieldsAre fields>
__global__ void __launch_bounds__(kFactorThreads, fields == FieldsAre::any ? 5 : 8)
    general_factors_kernel(const __grid_constant__ GeometryArguments g, ScratchView view,
                           Index stride, RoundedValues factors, RoundedValues reaction,
                           Index* inverted) {
  extern __shared__ __align__(16) char shared_scratch[];
  const CellTeam<place> team(view, shared_scratch);
  const CellSizes<0, 0> sizes(g.grid, g.points.points);
  const int dim = sizes.dim;
  const int m = sizes.m;
  const int size = sizes.size;
  team.for_each_cell(g.count, [&](const TeamCell& team_cell) {
    const Index c = team_cell.number;
    const Index cell = g.first_cell + c;
    const CellPlace here = place_of(g, cell);
    const PointTensors t = find_at_points(team, sizes, g.grid, g.points, here, g.state,
                                          team.template scratch<double>());
    if (!team_cell.counts) return;
    team.for_each(size, [&](int q) {
      const PointNumbers number(q, m, dim);
      PointCoefficients coefficients = coefficients_at(g, c * size + q);
      if constexpr (fields == FieldsAre::any) {
        double x[3] = {0.0, 0.0, 0.0};
#pragma unroll
        for (int d = 0; d < 3; ++d) x[d] = d < dim ? t.coordinate(d, q) : 0.0;
        evaluate_fields(g, x, t.u != nullptr ? t.u[q] : kUnknownU, cell * size + q, coefficients);
      }
      const SmallMatrix J = jacobian_at(g.D, sizes, number, q, t);
      const double of_point = determinant(J, dim);
      if (!(of_point > 0.0)) report_inverted(cell, inverted);
      const double weight = weight_of(g, number);
      if (is_there(reaction)) set(reaction, c * size + q, weight * of_point * coefficients.c);
      if (!is_there(factors)) return;
      const double s = weight * coefficients.k / of_point;
      double entries[6];
      if (dim == 2) {
        symmetric_entries_2d(J, s, entries);
      } else {
        symmetric_entries_3d(J, s, entries);
      }
#pragma unroll
      for (int e = 0; e < 6; ++e) {
        if (e == dim * (dim + 1) / 2) break;
        set(factors, c * stride + general_factor_offset(dim, m, number, e), entries[e]);
      }
    });
  });
}

}  // namespace tessera
