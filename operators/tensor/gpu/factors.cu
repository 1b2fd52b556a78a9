// This file computes geometric factors on the GPU.
#include <algorithm>
#include <cmath>
#include <limits>

#include "mesh/errors.hpp"
#include "operators/cells/block_scratch.hpp"
#include "operators/cells/fields/cell_geometry.cuh"
#include "operators/tensor/gpu/coefficient_at_points.hpp"
#include "operators/tensor/gpu/factor_layout.cuh"
#include "operators/tensor/gpu/factors.hpp"
#include "solvers/memory/launch.cuh"

namespace tessera {
namespace {

constexpr int kThreads = kScratchThreads;
constexpr Index kNone = std::numeric_limits<Index>::max();

// What the kernels need to know of the basis and the nodes.
struct GeometryArguments {
  CellGrid grid;
  PointPlaces points;
  const double* D;  // [q][q]
  Index first_cell;
  Index count;
  const double* k;  // [cell - first_cell][q], or null
  double constant_k;
  const double* c;  // likewise
  double constant_c;
};

__device__ CellPlace place_of(const GeometryArguments& g, Index cell) {
  return place_cell(g.grid, {{0, 0, 0}, {g.grid.cells[0], g.grid.cells[1], g.grid.cells[2]}, 1},
                    cell);
}

__device__ double weight_of(const GeometryArguments& g, const PointNumbers& q) {
  const double* const weights = g.points.weights;
  double w = weights[q.along[0]] * weights[q.along[1]];
  if (g.grid.dimension == 3) w *= weights[q.along[2]];
  return w;
}

// r_q = w |J| c at point q of cell first_cell + cell. @param measure w |J|
template <class T>
__device__ void write_reaction(const GeometryArguments& g, Index cell, int q, int size,
                               double measure, T* reaction) {
  if (reaction == nullptr) return;
  const Index at = cell * size + q;
  reaction[at] = static_cast<T>(measure * (g.c != nullptr ? g.c[at] : g.constant_c));
}

// entries = s adj(J) adj(J)^T with adj(J) = |J| J^-1.
__device__ void symmetric_entries_2d(const SmallMatrix& J, double s, double* entries) {
  const double xx = J.at[0][0];
  const double xy = J.at[0][1];
  const double yx = J.at[1][0];
  const double yy = J.at[1][1];
  entries[0] = s * (yy * yy + xy * xy);
  entries[1] = -s * (yy * yx + xy * xx);
  entries[2] = s * (yx * yx + xx * xx);
}

__device__ void symmetric_entries_3d(const SmallMatrix& J, double s, double* entries) {
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

__device__ void report_inverted(Index cell, Index* inverted) {
  atomicMin(reinterpret_cast<unsigned long long*>(inverted), static_cast<unsigned long long>(cell));
}

// D_q of mapped cells. One team a cell, striding; scratch as factor_cell_bytes(). x_d [n]^dim -> B
// -> [m]^dim -> D along each axis -> J -> D_q.
template <ScratchPlace place, class T>
__global__ void __launch_bounds__(kThreads)
    general_factors_kernel(GeometryArguments g, ScratchView view, Index stride, T* factors,
                           T* reaction, Index* inverted) {
  extern __shared__ __align__(16) char shared_scratch[];
  const CellTeam<place> team(view, shared_scratch);
  const int dim = g.grid.dimension;
  const int m = g.points.points;
  const int size = dim == 3 ? m * m * m : m * m;
  team.for_each_cell(g.count, [&](const TeamCell& team_cell) {
    const Index c = team_cell.number;
    const Index cell = g.first_cell + c;
    const CellPlace here = place_of(g, cell);
    const PointTensors t =
        find_at_points(team, g.grid, g.points, here, nullptr, team.template scratch<double>());
    if (!team_cell.counts) return;
    team.for_each(size, [&](int q) {
      const PointNumbers number(q, m, dim);
      const SmallMatrix J = jacobian_at(g.D, m, dim, number, q, t);
      const double of_point = determinant(J, dim);
      if (!(of_point > 0.0)) report_inverted(cell, inverted);
      const double weight = weight_of(g, number);
      const double k = g.k != nullptr ? g.k[c * size + q] : g.constant_k;
      const double s = weight * k / of_point;
      double entries[6];
      if (dim == 2) {
        symmetric_entries_2d(J, s, entries);
      } else {
        symmetric_entries_3d(J, s, entries);
      }
      write_reaction(g, c, q, size, weight * of_point, reaction);
      if (factors == nullptr) return;
      for (int e = 0; e < dim * (dim + 1) / 2; ++e) {
        factors[c * stride + general_factor_offset(dim, m, number, e)] = static_cast<T>(entries[e]);
      }
    });
  });
}

// D_q = w k |J| diag(1 / h_d^2) of axis-aligned cells of different widths. One thread a point.
template <class T>
__global__ void graded_factors_kernel(GeometryArguments g, Index stride, T* factors, T* reaction) {
  const int dim = g.grid.dimension;
  const int m = g.points.points;
  const int size = dim == 3 ? m * m * m : m * m;
  const Index total = g.count * size;
  for (Index t = thread_number<kThreads>(); t < total; t += thread_count<kThreads>()) {
    const int q = static_cast<int>(t % size);
    const Index c = t / size;
    const CellPlace place = place_of(g, g.first_cell + c);
    double width[3];
    double volume = 1.0;
    for (int d = 0; d < dim; ++d) {
      width[d] = g.points.width[d][place.position[d]];
      volume *= width[d];
    }
    const PointNumbers number(q, m, dim);
    const double weight = weight_of(g, number);
    const double wkj = weight * (g.k != nullptr ? g.k[t] : g.constant_k) * volume;
    write_reaction(g, c, q, size, weight * volume, reaction);
    if (factors == nullptr) continue;
    int e = 0;
    for (int a = 0; a < dim; ++a) {
      for (int b = a; b < dim; ++b, ++e) {
        factors[c * stride + general_factor_offset(dim, m, number, e)] =
            static_cast<T>(a == b ? wkj / (width[a] * width[a]) : 0.0);
      }
    }
  }
}

// w |J| k of equal cells. One thread a point.
template <class T>
__global__ void scaled_factors_kernel(GeometryArguments g, double volume, Index stride, T* factors,
                                      T* reaction) {
  const int dim = g.grid.dimension;
  const int m = g.points.points;
  const int size = dim == 3 ? m * m * m : m * m;
  const Index total = g.count * size;
  for (Index t = thread_number<kThreads>(); t < total; t += thread_count<kThreads>()) {
    const int q = static_cast<int>(t % size);
    const PointNumbers number(q, m, dim);
    const double measure = weight_of(g, number) * volume;
    const double k = g.k != nullptr ? g.k[t] : g.constant_k;
    write_reaction(g, t / size, q, size, measure, reaction);
    if (factors != nullptr) {
      factors[t / size * stride + scaled_factor_offset(dim, m, number)] =
          static_cast<T>(measure * k);
    }
  }
}

void check_constants(const BilinearForm& form) {
  const Point where = form.discretization->mesh.lower();
  const bool has_gradients = !is_mass(form.coefficient, form.reaction);
  if (form.coefficient.constant && has_gradients) {
    check_coefficient(*form.coefficient.constant, where);
  }
  if (form.reaction.constant) check_reaction(*form.reaction.constant, form.reaction_sign, where);
}

// Cells of which the values of varying fields are held at a time.
Index field_chunk(Index points) { return std::max<Index>(kFieldPointsPerChunk / points, 1); }

}  // namespace

template <class T>
DeviceFactorMaker<T>::DeviceFactorMaker(const BilinearForm& form)
    : form_(&form),
      kind_(factor_kind(form.discretization->mapping, form.coefficient, form.reaction)),
      cell_stride_(device_factor_stride(kind_, form.discretization->mesh.dimension(),
                                        form.discretization->basis.point_count(), sizeof(T))),
      points_(*form.discretization),
      state_(form),
      D_(form.discretization->basis.D.entries),
      inverted_(std::vector<Index>{kNone}),
      scratch_(
          form.discretization->mapping.is_cartesian()
              ? 0
              : factor_cell_bytes(form.discretization->mesh.dimension(),
                                  form.discretization->basis.point_count()),
          power(form.discretization->basis.point_count(), form.discretization->mesh.dimension())) {
  const Discretization& discretization = *form.discretization;
  check_constants(form);
  const Index points = power(discretization.basis.point_count(), discretization.mesh.dimension());
  const Index of_field = std::min(field_chunk(points), discretization.mesh.cell_count()) * points;
  if (!form.coefficient.constant) {
    coefficient_.emplace(form, FormField::coefficient, points_, state_);
    k_ = DeviceArray<double>(of_field);
  }
  if (!form.reaction.constant) {
    reaction_.emplace(form, FormField::reaction, points_, state_);
    c_ = DeviceArray<double>(of_field);
  }
}

template <class T>
void DeviceFactorMaker<T>::make(Index first, Index count, T* factors, T* reaction) {
  const Discretization& discretization = *form_->discretization;
  const BoxMesh& mesh = discretization.mesh;
  const int dim = mesh.dimension();
  const Index points = power(discretization.basis.point_count(), dim);
  double volume = 1.0;
  for (int d = 0; d < dim; ++d) volume *= mesh.cell_width(d, 0);
  GeometryArguments arguments{};
  arguments.grid = make_cell_grid(*form_);
  arguments.points = points_.view();
  arguments.D = D_.data();
  arguments.constant_k = form_->coefficient.constant.value_or(0.0);
  arguments.constant_c = form_->reaction.constant.value_or(0.0);
  const bool is_constant = form_->coefficient.constant && form_->reaction.constant;
  const Index chunk = is_constant ? count : field_chunk(points);
  for (Index done = 0; done < count; done += arguments.count) {
    arguments.first_cell = first + done;
    arguments.count = std::min(chunk, count - done);
    if (coefficient_) {
      coefficient_->evaluate(arguments.first_cell, arguments.count, k_.data());
      arguments.k = k_.data();
    }
    if (reaction_) {
      reaction_->evaluate(arguments.first_cell, arguments.count, c_.data());
      arguments.c = c_.data();
    }
    constexpr const char* kName = "geometric factors";
    const Launch one_thread_per_point{
        kName, blocks_for(arguments.count * points, kThreads, 1 << 20), kThreads};
    T* const out = factors == nullptr ? nullptr : factors + done * cell_stride_;
    T* const reaction_out = reaction == nullptr ? nullptr : reaction + done * points;
    if (!discretization.mapping.is_cartesian()) {
      scratch_.with_place([&]<ScratchPlace place>() {
        launch(general_factors_kernel<place, T>,
               {kName, scratch_.blocks(arguments.count), kThreads, scratch_.shared_bytes()},
               arguments, scratch_.view(), cell_stride_, out, reaction_out, inverted_.data());
      });
    } else if (kind_ == FactorKind::general) {
      launch(graded_factors_kernel<T>, one_thread_per_point, arguments, cell_stride_, out,
             reaction_out);
    } else {
      launch(scaled_factors_kernel<T>, one_thread_per_point, arguments, volume, cell_stride_, out,
             reaction_out);
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
  const Discretization& discretization = *form.discretization;
  const int dim = discretization.mesh.dimension();
  const int m = discretization.basis.point_count();
  if (kind_ != FactorKind::constant) {
    const Index cells = discretization.mesh.cell_count();
    cell_stride_ = device_factor_stride(kind_, dim, m, sizeof(T));
    values_ = DeviceArray<T>(cells * cell_stride_);
    if (reaction_kind(form.reaction) != ReactionKind::none) {
      reaction_ = DeviceArray<T>(cells * power(m, dim));
    }
  }
  make(form);
}

template <class T>
Updated DeviceFactors<T>::update(const BilinearForm& form) {
  const bool has_reaction = reaction_kind(form.reaction) != ReactionKind::none;
  const bool had_reaction =
      kind_ == FactorKind::constant ? reaction_scale_ != 0.0 : reaction_.size() > 0;
  if (factor_kind(form.discretization->mapping, form.coefficient, form.reaction) != kind_ ||
      has_reaction != had_reaction) {
    return Updated::no;
  }
  make(form);
  return Updated::yes;
}

template <class T>
void DeviceFactors<T>::make(const BilinearForm& form) {
  check_constants(form);
  set_scales(form);
  if (kind_ == FactorKind::constant) return;
  DeviceFactorMaker<T> maker(form);
  maker.make(0, form.discretization->mesh.cell_count(), values_.data(), reaction_.data());
  maker.check();
}

template <class T>
void DeviceFactors<T>::set_scales(const BilinearForm& form) {
  if (kind_ == FactorKind::general) return;
  const BoxMesh& mesh = form.discretization->mesh;
  const int dim = mesh.dimension();
  double volume = 1.0;
  for (int d = 0; d < dim; ++d) volume *= mesh.cell_width(d, 0);
  for (int d = 0; d < dim; ++d) {
    axis_scale_[d] = 1.0 / (mesh.cell_width(d, 0) * mesh.cell_width(d, 0));
    if (kind_ == FactorKind::constant) axis_scale_[d] *= volume * *form.coefficient.constant;
  }
  if (kind_ == FactorKind::constant) reaction_scale_ = volume * *form.reaction.constant;
}

template class DeviceFactorMaker<double>;
template class DeviceFactorMaker<float>;
template class DeviceFactors<double>;
template class DeviceFactors<float>;

}  // namespace tessera
