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
#include "operators/tensor/gpu/field_in_kernel.cuh"
#include "solvers/memory/launch.cuh"

namespace tessera {

// What the kernels need to know of the basis, the nodes and the form.
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

namespace {

constexpr int kThreads = kScratchThreads;
constexpr Index kNone = std::numeric_limits<Index>::max();

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

// k and c at point q of cell first_cell + c.
struct PointCoefficients {
  double k;
  double c;
};

// As values of the fields or constants.
__device__ PointCoefficients coefficients_at(const GeometryArguments& g, Index at) {
  const auto value = [&](const GeometryArguments::Field& field) {
    return field.values != nullptr ? field.values[at] : field.constant;
  };
  return {value(g.fields[0]), value(g.fields[1])};
}

// Whether a kernel evaluates fields of the form itself.
enum class FieldsAre { given, evaluated };

// Sets those that the kernel evaluates. @param number of the point in the mesh
__device__ void evaluate_fields(const GeometryArguments& g, const double (&x)[3], double u,
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

// D_q and r_q of mapped cells, those of the two that are not null. One team a cell, striding;
// scratch as factor_cell_bytes(). x_d, u [n]^dim -> B -> [m]^dim -> D along each axis -> J -> D_q.
template <ScratchPlace place, class Sizes, FieldsAre fields>
__global__ void __launch_bounds__(kThreads, fields == FieldsAre::evaluated ? 5 : 8)
    general_factors_kernel(const __grid_constant__ GeometryArguments g, ScratchView view,
                           Index stride, RoundedValues factors, RoundedValues reaction,
                           Index* inverted) {
  extern __shared__ __align__(16) char shared_scratch[];
  const CellTeam<place> team(view, shared_scratch);
  const Sizes sizes(g.grid, g.points.points);
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
      if constexpr (fields == FieldsAre::evaluated) {
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

// D_q = w k |J| diag(1 / h_d^2) and r_q of axis-aligned cells of different widths. One thread a
// point.
__global__ void graded_factors_kernel(const __grid_constant__ GeometryArguments g, Index stride,
                                      RoundedValues factors, RoundedValues reaction) {
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
    const PointCoefficients here = coefficients_at(g, t);
    const double measure = weight_of(g, number) * volume;
    if (is_there(reaction)) set(reaction, t, measure * here.c);
    if (!is_there(factors)) continue;
    int e = 0;
    for (int a = 0; a < dim; ++a) {
      for (int b = a; b < dim; ++b, ++e) {
        set(factors, c * stride + general_factor_offset(dim, m, number, e),
            a == b ? measure * here.k / (width[a] * width[a]) : 0.0);
      }
    }
  }
}

// w |J| k and r_q of equal cells. One thread a point.
__global__ void scaled_factors_kernel(const __grid_constant__ GeometryArguments g, Index stride,
                                      RoundedValues factors, RoundedValues reaction) {
  const int dim = g.grid.dimension;
  const int m = g.points.points;
  const int size = dim == 3 ? m * m * m : m * m;
  const Index total = g.count * size;
  for (Index t = thread_number<kThreads>(); t < total; t += thread_count<kThreads>()) {
    const int q = static_cast<int>(t % size);
    const PointNumbers number(q, m, dim);
    const PointCoefficients here = coefficients_at(g, t);
    const double measure = weight_of(g, number) * g.volume;
    if (is_there(reaction)) set(reaction, t, measure * here.c);
    if (is_there(factors)) {
      set(factors, t / size * stride + scaled_factor_offset(dim, m, number), measure * here.k);
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

bool has_fields_to_evaluate(const GeometryArguments& g) {
  return g.fields[0].in_kernel.field.count + g.fields[1].in_kernel.field.count > 0;
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
                                  form.discretization->basis.point_count(),
                                  form.depends_on_u() ? StateKind::given : StateKind::none),
          power(form.discretization->basis.point_count(), form.discretization->mesh.dimension())) {
  check_constants(form);
  const auto take = [&](const ScalarField& field, FormField what, Field& to) {
    to.constant = field.constant.value_or(0.0);
    if (!field.constant) to.at_points.emplace(form, what, points_, state_);
  };
  take(form.coefficient, FormField::coefficient, fields_[0]);
  take(form.reaction, FormField::reaction, fields_[1]);
}

template <class T>
void DeviceFactorMaker<T>::make(Index first, Index count, T* factors, T* reaction) {
  const BoxMesh& mesh = form_->discretization->mesh;
  GeometryArguments arguments{};
  arguments.grid = make_cell_grid(*form_);
  arguments.points = points_.view();
  arguments.D = D_.data();
  arguments.first_cell = first;
  arguments.count = count;
  arguments.volume = 1.0;
  for (int d = 0; d < mesh.dimension(); ++d) arguments.volume *= mesh.cell_width(d, 0);
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    arguments.fields[f].constant = fields_[f].constant;
  }
  if (make_with_fields(arguments, factors, reaction)) return;
  make_with_values(arguments, factors, reaction);
}

// Whether no field varies or the kernels evaluated all of them.
template <class T>
bool DeviceFactorMaker<T>::make_with_fields(GeometryArguments arguments, T* factors, T* reaction) {
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    std::optional<FieldAtPoints>& field = fields_[f].at_points;
    if (!field) continue;
    const std::optional<FieldInKernel> in_kernel = field->in_kernel();
    if (form_->discretization->mapping.is_cartesian() || !in_kernel) return false;
    arguments.fields[f].in_kernel = *in_kernel;
    if (field->state() != nullptr) arguments.state = field->state();
  }
  launch_kernels(arguments, factors, reaction);
  return std::all_of(fields_.begin(), fields_.end(), [](Field& field) {
    return !field.at_points || field.at_points->were_allowed();
  });
}

// Chunk after chunk of cells.
template <class T>
void DeviceFactorMaker<T>::make_with_values(GeometryArguments arguments, T* factors, T* reaction) {
  const Index points = power(points_.view().points, arguments.grid.dimension);
  const Index end = arguments.first_cell + arguments.count;
  const Index chunk = std::min(field_chunk(points), form_->discretization->mesh.cell_count());
  while (arguments.first_cell < end) {
    arguments.count = std::min(chunk, end - arguments.first_cell);
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      Field& field = fields_[f];
      if (!field.at_points) continue;
      if (field.values.size() == 0) field.values = DeviceArray<double>(chunk * points);
      field.at_points->evaluate(arguments.first_cell, arguments.count, field.values.data());
      arguments.fields[f].values = field.values.data();
    }
    launch_kernels(arguments, factors, reaction);
    arguments.first_cell += arguments.count;
    if (factors != nullptr) factors += arguments.count * cell_stride_;
    if (reaction != nullptr) reaction += arguments.count * points;
  }
}

template <class T>
void DeviceFactorMaker<T>::launch_kernels(const GeometryArguments& arguments, T* factors,
                                          T* reaction) {
  constexpr const char* kName = "geometric factors";
  const Index points = power(arguments.points.points, arguments.grid.dimension);
  const Launch one_thread_per_point{kName, blocks_for(arguments.count * points, kThreads, 1 << 20),
                                    kThreads};
  if (!form_->discretization->mapping.is_cartesian()) {
    with_cell_sizes(
        scratch_, arguments.grid, arguments.points.points, [&]<ScratchPlace place, class Sizes>() {
          launch(has_fields_to_evaluate(arguments)
                     ? general_factors_kernel<place, Sizes, FieldsAre::evaluated>
                     : general_factors_kernel<place, Sizes, FieldsAre::given>,
                 {kName, scratch_.blocks(arguments.count), kThreads, scratch_.shared_bytes()},
                 arguments, scratch_.view(), cell_stride_, RoundedValues(factors),
                 RoundedValues(reaction), inverted_.data());
        });
  } else if (kind_ == FactorKind::general) {
    launch(graded_factors_kernel, one_thread_per_point, arguments, cell_stride_,
           RoundedValues(factors), RoundedValues(reaction));
  } else {
    launch(scaled_factors_kernel, one_thread_per_point, arguments, cell_stride_,
           RoundedValues(factors), RoundedValues(reaction));
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
