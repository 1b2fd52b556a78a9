// This file computes geometric factors on the GPU.
#include <algorithm>
#include <cmath>
#include <limits>

#include "mesh/errors.hpp"
#include "operators/tensor/gpu/coefficient_at_points.hpp"
#include "operators/tensor/gpu/factor_kernels.cuh"
#include "operators/tensor/gpu/factor_lines.hpp"
#include "operators/tensor/gpu/factors.hpp"

namespace tessera {
namespace {

constexpr Index kNone = std::numeric_limits<Index>::max();

void check_constants(const BilinearForm& form) {
  const Point where = form.discretization->mesh.lower();
  const bool has_gradients = !is_mass(form.coefficient, form.reaction);
  if (form.coefficient.constant && has_gradients) {
    check_coefficient(*form.coefficient.constant, where);
  }
  if (form.reaction.constant) check_reaction(*form.reaction.constant, form.reaction_sign, where);
}

// f(t, c, number) for each point t of the cells, the one with this number in cell c. One thread a
// point.
template <class F>
__device__ void for_each_point(const GeometryArguments& g, F&& f) {
  const int dim = g.grid.dimension;
  const int m = g.points.points;
  const int size = dim == 3 ? m * m * m : m * m;
  const Index total = g.count * size;
  for (Index t = thread_number<kFactorThreads>(); t < total; t += thread_count<kFactorThreads>()) {
    f(t, t / size, PointNumbers(static_cast<int>(t % size), m, dim));
  }
}

// D_q = w k |J| diag(1 / h_d^2) and r_q of axis-aligned cells of different widths. One thread a
// point.
__global__ void graded_factors_kernel(const __grid_constant__ GeometryArguments g, Index stride,
                                      RoundedValues factors, RoundedValues reaction) {
  const int dim = g.grid.dimension;
  const int m = g.points.points;
  for_each_point(g, [&](Index t, Index c, const PointNumbers& number) {
    const CellPlace place = place_of(g, g.first_cell + c);
    double width[3];
    double volume = 1.0;
    for (int d = 0; d < dim; ++d) {
      width[d] = g.points.width[d][place.position[d]];
      volume *= width[d];
    }
    const PointCoefficients here = coefficients_at(g, t);
    const double measure = weight_of(g, number) * volume;
    if (is_there(reaction)) set(reaction, t, measure * here.c);
    if (!is_there(factors)) return;
    int e = 0;
    for (int a = 0; a < dim; ++a) {
      for (int b = a; b < dim; ++b, ++e) {
        set(factors, c * stride + general_factor_offset(dim, m, number, e),
            a == b ? measure * here.k / (width[a] * width[a]) : 0.0);
      }
    }
  });
}

// w |J| k and r_q of equal cells. One thread a point.
__global__ void scaled_factors_kernel(const __grid_constant__ GeometryArguments g, Index stride,
                                      RoundedValues factors, RoundedValues reaction) {
  for_each_point(g, [&](Index t, Index c, const PointNumbers& number) {
    const PointCoefficients here = coefficients_at(g, t);
    const double measure = weight_of(g, number) * g.volume;
    if (is_there(reaction)) set(reaction, t, measure * here.c);
    if (is_there(factors)) {
      set(factors, c * stride + scaled_factor_offset(g.grid.dimension, g.points.points, number),
          measure * here.k);
    }
  });
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
  const Launch one_thread_per_point{
      kName, blocks_for(arguments.count * points, kFactorThreads, 1 << 20), kFactorThreads};
  const Basis1D& basis = form_->discretization->basis;
  if (has_factors_by_lines(basis, arguments)) {
    make_factors_by_lines(basis, arguments, cell_stride_, RoundedValues(factors),
                          RoundedValues(reaction), inverted_.data());
  } else if (!form_->discretization->mapping.is_cartesian()) {
    scratch_.with_place([&]<ScratchPlace place>() {
      launch(fields_of(arguments) == FieldsAre::given
                 ? general_factors_kernel<place, FieldsAre::given>
                 : general_factors_kernel<place, FieldsAre::any>,
             {kName, scratch_.blocks(arguments.count), kFactorThreads, scratch_.shared_bytes()},
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
