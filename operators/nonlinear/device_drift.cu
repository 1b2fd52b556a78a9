// This file makes and applies the drift on the GPU.
#include <algorithm>
#include <stdexcept>

#include "mesh/errors.hpp"
#include "mesh/field/program_field.hpp"
#include "operators/cells/fields/cell_integrals.cuh"
#include "operators/cells/line_kernels.cuh"
#include "operators/nonlinear/device_drift.hpp"
#include "operators/nonlinear/drift_flops.hpp"
#include "operators/nonlinear/drift_lines.hpp"
#include "operators/tensor/gpu/field_in_kernel.cuh"
#include "solvers/memory/device.hpp"
#include "solvers/memory/launch.cuh"

namespace tessera {

struct DriftArguments {
  CellGrid grid;
  CellRange range;
  PointPlaces points;
  BasisTables basis;
  Index first_cell;  // of the derivatives
  const double* u;
  const double* derivative;  // dk/du [cell - first_cell][q]; null: the kernel evaluates it
  FieldInKernel in_kernel;
};

namespace {

constexpr int kThreads = kScratchThreads;

// g [cell][axis][q] of `count` cells from first_cell on. One team a cell, striding; scratch as
// integral_cell_bytes().
template <ScratchPlace place>
__global__ void __launch_bounds__(kThreads, 5)
    make_drift_kernel(const __grid_constant__ DriftArguments g, Index count, ScratchView view,
                      double* drift) {
  extern __shared__ __align__(16) char shared_scratch[];
  const CellTeam<place> team(view, shared_scratch);
  const CellSizes<0, 0> sizes(g.grid, g.points.points);
  const int dim = sizes.dim;
  const int size = sizes.size;
  team.for_each_cell(count, [&](const TeamCell& team_cell) {
    const Index c = team_cell.number;
    const Index cell = g.first_cell + c;
    const CellPlace here = place_cell(g.grid, g.range, cell);
    const PointTensors t =
        find_at_points(team, sizes, g.grid, g.points, here, g.u, team.template scratch<double>());
    if (!team_cell.counts) return;
    team.for_each(size, [&](int q) {
      const PointNumbers number(q, sizes.m, dim);
      const PointOfCell point =
          point_of_cell(sizes, g.grid, g.points, g.basis.D, here, number, q, t);
      double gradient[1][3] = {};
      differentiate(g.basis.D, sizes, number, q, t.u, t.room, gradient);
      const double derivative =
          g.derivative != nullptr ? g.derivative[c * size + q]
                                  : value_in_kernel(g.in_kernel, point.x, t.u[q], cell * size + q);
      double flux[3];
      make_flux(point, point.weight * derivative, dim, gradient[0], flux);
#pragma unroll
      for (int a = 0; a < 3; ++a) {
        if (a < dim) drift[(cell * dim + a) * size + q] = flux[a];
      }
    });
  });
}

// y_i += sum_q (g_q v_q) . grad phi_i where row i is not constrained, for cells that share no node;
// v counts as 0 where it is constrained. One team a cell, striding; scratch as
// integral_cell_bytes() without geometry. Bytes a point: g once.
template <ScratchPlace place>
__global__ void __launch_bounds__(kThreads)
    add_drift_kernel(const __grid_constant__ DriftArguments g, ScratchView view,
                     const double* __restrict__ drift, const double* v, double* y) {
  extern __shared__ __align__(16) char shared_scratch[];
  const CellTeam<place> team(view, shared_scratch);
  const CellSizes<0, 0> sizes(g.grid, g.points.points);
  const int dim = sizes.dim;
  const int size = sizes.size;
  double* const first = team.template scratch<double>();
  double* const second = first + size;
  team.for_each_cell(g.range.size(), [&](const TeamCell& cell) {
    const CellPlace here = place_cell(g.grid, g.range, cell.number);
    const double* const of_cell = drift + cell_number(g.grid, here.position) * dim * size;
    double* const in = dim == 3 ? second : first;
    team.for_each(sizes.nodes, [&](int i) {
      const CellNode node = cell_node(sizes, g.grid, here, i);
      in[i] = (here.fixed & node.faces) != 0U ? 0.0 : v[node.lattice];
    });
    __syncthreads();
    contract_all_axes(team, g.points.B, sizes.m, sizes.n, dim, in, dim == 3 ? first : second);
    team.for_each(size, [&](int q) {
      const double at_point = first[q];
      second[q] = 0.0;
      for (int a = 0; a < dim; ++a) second[(1 + a) * size + q] = of_cell[a * size + q] * at_point;
    });
    __syncthreads();
    const double* const integrals = integrate(team, sizes, g.basis, second, first, size);
    if (!cell.counts) return;
    team.for_each(sizes.nodes, [&](int i) {
      const CellNode node = cell_node(sizes, g.grid, here, i);
      if ((here.fixed & node.faces) == 0U) y[node.lattice] += integrals[i];
    });
  });
}

Index chunk_of(Index points) { return std::max<Index>(kFieldPointsPerChunk / points, 1); }

DriftArguments arguments_of(const CellGrid& grid, const CellIntegrator& integrator) {
  DriftArguments arguments{};
  arguments.grid = grid;
  arguments.range = all_cells(grid);
  arguments.points = integrator.points();
  arguments.basis = integrator.tables();
  return arguments;
}

}  // namespace

DeviceDrift::DeviceDrift(const BilinearForm& form)
    : grid_(make_cell_grid(form)),
      basis_(form.discretization->basis),
      integrator_(*form.discretization),
      scratch_(integral_cell_bytes(grid_.dimension, form.discretization->basis.point_count(),
                                   /*is_mapped=*/false),
               power(form.discretization->basis.point_count(), grid_.dimension)),
      g_(all_cells(grid_).size() * grid_.dimension *
         power(form.discretization->basis.point_count(), grid_.dimension)),
      flops_(drift_flops(*form.discretization)) {
  if (form.state == nullptr) throw std::invalid_argument("a drift of a form without a state");
  if (form.part != nullptr) {
    own_ = DeviceVector<double>(form.layout());
    exchange_.emplace(form.part->rank->exchange<double, Device>(form.dirichlet));
  }
  update(form);
}

void DeviceDrift::update(const BilinearForm& form) {
  if (!form.coefficient.depends_on_u) return zero_on_device(g_.data(), g_.bytes());
  const Index points = power(form.discretization->basis.point_count(), grid_.dimension);
  const Index cells = all_cells(grid_).size();
  // The derivative has the place of a reaction with any sign.
  BilinearForm derivative = form;
  derivative.coefficient = constant_field(1.0);
  derivative.reaction = derivative_in_u(form.coefficient);
  derivative.reaction_sign = ReactionSign::any;
  const DevicePoints places(*form.discretization);
  const DeviceState state(derivative);
  FieldAtPoints at_points(derivative, FormField::reaction, places, state);
  DriftArguments arguments = arguments_of(grid_, integrator_);
  arguments.u = state.data();
  try {
    const std::optional<FieldInKernel> in_kernel = at_points.in_kernel();
    if (in_kernel) {
      const DriftMaking making{grid_, arguments.points, *in_kernel, arguments.u, g_.data()};
      arguments.in_kernel = *in_kernel;
      if (can_make_drift_by_lines(basis_, making)) {
        make_drift_by_lines(basis_, making);
      } else {
        make_g(arguments, cells);
      }
    }
    if (!in_kernel || !at_points.were_allowed()) {
      const Index chunk = std::min(chunk_of(points), cells);
      DeviceArray<double> values(chunk * points);
      arguments.derivative = values.data();
      for (Index first = 0; first < cells; first += chunk) {
        const Index count = std::min(chunk, cells - first);
        at_points.evaluate(first, count, values.data());
        arguments.first_cell = first;
        make_g(arguments, count);
      }
      // Before the values go; below, before the state does.
      synchronize_device();
    }
  } catch (const BadFieldValue& error) {
    throw BadFieldValue("the derivative of the coefficient in u is not finite", error.where(),
                        error.value());
  }
  // Before the state goes.
  synchronize_device();
}

void DeviceDrift::make_g(const DriftArguments& arguments, Index cells) {
  const BlockScratch& scratch = integrator_.scratch();
  scratch.with_place([&]<ScratchPlace place>() {
    launch(make_drift_kernel<place>,
           {"the drift", scratch.blocks(cells), kThreads, scratch.shared_bytes()}, arguments, cells,
           scratch.view(), g_.data());
  });
}

void DeviceDrift::add(const DeviceVector<double>& v, DeviceVector<double>& y) const {
  if (!exchange_) return add_own(v, y);
  const OneUseAtATime::Use use(guard_);
  fill(own_, 0.0);
  add_own(v, own_);
  exchange_->add(own_);
  axpy(1.0, own_, y);
}

void DeviceDrift::add_own(const DeviceVector<double>& v, DeviceVector<double>& y) const {
  const bool by_lines = has_line_kernels(grid_.dimension, basis_);
  DriftArguments arguments = arguments_of(grid_, integrator_);
  for (const CellRange& color : cell_colors(grid_)) {
    if (by_lines) {
      add_drift_by_lines(basis_, grid_, color, g_.data(), v.data(), y.data());
      continue;
    }
    arguments.range = color;
    scratch_.with_place([&]<ScratchPlace place>() {
      launch(add_drift_kernel<place>,
             {"adding the drift", scratch_.blocks(color.size()), kThreads, scratch_.shared_bytes()},
             arguments, scratch_.view(), g_.data(), v.data(), y.data());
    });
  }
}

}  // namespace tessera
