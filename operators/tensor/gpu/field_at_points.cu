// This file evaluates fields at quadrature points on the GPU.
#include <algorithm>
#include <limits>
#include <stdexcept>

#include "operators/cells/fields/cell_points.cuh"
#include "operators/tensor/gpu/coefficient_at_points.hpp"
#include "operators/tensor/gpu/field_in_kernel.cuh"

namespace tessera {
namespace {

constexpr int kThreads = kScratchThreads;
constexpr Index kNone = std::numeric_limits<Index>::max();

struct FieldArguments {
  CellGrid grid;
  CellRange all;
  PointPlaces points;
  Index first_cell;
  Index count;
  FieldInKernel field;
  const double* state;  // null where the field does not depend on u
};

// values [cell - first_cell][q]. One team a cell, striding; scratch as field_cell_bytes().
template <ScratchPlace place, class Sizes>
__global__ void __launch_bounds__(kThreads)
    field_kernel(FieldArguments g, ScratchView view, RoundedValues values) {
  extern __shared__ __align__(16) char shared_scratch[];
  const CellTeam<place> team(view, shared_scratch);
  const Sizes sizes(g.grid, g.points.points);
  const int dim = sizes.dim;
  const int size = sizes.size;
  const bool is_mapped = g.points.nodes.is_mapped;
  team.for_each_cell(g.count, [&](const TeamCell& team_cell) {
    const Index c = team_cell.number;
    const CellPlace here = place_cell(g.grid, g.all, g.first_cell + c);
    const PointTensors t = find_at_points(team, sizes, g.grid, g.points, here, g.state,
                                          team.template scratch<double>());
    if (!team_cell.counts) return;
    team.for_each(size, [&](int q) {
      const PointNumbers number(q, sizes.m, dim);
      double x[3] = {0.0, 0.0, 0.0};
#pragma unroll
      for (int d = 0; d < 3; ++d) {
        if (d == dim) break;
        x[d] = is_mapped ? t.coordinate(d, q)
                         : point_on_axis(g.grid, g.points, here, d, number.along[d]);
      }
      const double u = t.u != nullptr ? t.u[q] : kUnknownU;
      set(values, c * size + q, value_in_kernel(g.field, x, u, (g.first_cell + c) * size + q));
    });
  });
}

const ScalarField& field_of(const BilinearForm& form, FormField what) {
  return what == FormField::coefficient ? form.coefficient : form.reaction;
}

template <class T>
void copy_rounded(const std::vector<double>& values, T* to) {
  const std::vector<T> rounded(values.begin(), values.end());
  copy_to_device(rounded.data(), static_cast<Index>(rounded.size() * sizeof(T)), to);
}

}  // namespace

FieldAtPoints::FieldAtPoints(const BilinearForm& form, FormField what, const DevicePoints& points,
                             const DeviceState& state)
    : form_(&form),
      what_(what),
      points_(points.view()),
      state_(field_of(form, what).depends_on_u ? state.data() : nullptr),
      field_(DeviceField::make(field_of(form, what))),
      forbidden_(std::vector<Index>{kNone}),
      scratch_(field_cell_bytes(points_.nodes.dimension, points_.points,
                                points_.nodes.is_mapped ? MeshKind::mapped : MeshKind::graded,
                                state_ != nullptr ? StateKind::given : StateKind::none),
               power(points_.points, points_.nodes.dimension)) {
  if (field_ && field_->depends_on_u() && state_ == nullptr) {
    throw std::invalid_argument("a field that depends on u without a state");
  }
}

Allowed FieldAtPoints::allowed() const {
  if (what_ == FormField::coefficient) return Allowed::positive;
  return form_->reaction_sign == ReactionSign::any ? Allowed::finite : Allowed::non_negative;
}

std::vector<double> FieldAtPoints::on_host(Index first, Index count) const {
  return what_ == FormField::coefficient ? coefficient_at_points(*form_, first, count)
                                         : reaction_at_points(*form_, first, count);
}

std::optional<FieldInKernel> FieldAtPoints::in_kernel() {
  if (!field_) return std::nullopt;
  return FieldInKernel{field_->view(), allowed(), forbidden_.data()};
}

bool FieldAtPoints::were_allowed() {
  const Index forbidden = to_host(forbidden_).front();
  if (forbidden == kNone) return true;
  forbidden_ = DeviceArray<Index>(std::vector<Index>{kNone});
  // Throws, unless the host rounds to a value that is allowed.
  on_host(forbidden / power(points_.points, points_.nodes.dimension), 1);
  return false;
}

template <class T>
bool FieldAtPoints::evaluate_on_gpu(Index first, Index count, T* values) {
  FieldArguments arguments{};
  arguments.grid = make_cell_grid(*form_);
  arguments.all = all_cells(arguments.grid);
  arguments.points = points_;
  arguments.first_cell = first;
  arguments.count = count;
  arguments.field = *in_kernel();
  arguments.state = state_;
  with_cell_sizes(scratch_, arguments.grid, points_.points, [&]<ScratchPlace place, class Sizes>() {
    launch(
        field_kernel<place, Sizes>,
        {"a field at quadrature points", scratch_.blocks(count), kThreads, scratch_.shared_bytes()},
        arguments, scratch_.view(), RoundedValues(values));
  });
  return were_allowed();
}

template <class T>
void FieldAtPoints::evaluate(Index first, Index count, T* values) {
  if (field_ && evaluate_on_gpu(first, count, values)) return;
  const Index points = power(points_.points, points_.nodes.dimension);
  const Index chunk = std::max<Index>(kFieldPointsPerChunk / points, 1);
  for (Index done = 0; done < count; done += chunk) {
    copy_rounded(on_host(first + done, std::min(chunk, count - done)), values + done * points);
  }
}

template void FieldAtPoints::evaluate(Index, Index, double*);
template void FieldAtPoints::evaluate(Index, Index, float*);

}  // namespace tessera
