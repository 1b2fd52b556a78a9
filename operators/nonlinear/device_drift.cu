// This file makes and applies the drift on the GPU.
#include <algorithm>
#include <stdexcept>

#include "mesh/errors.hpp"
#include "mesh/field/program_field.hpp"
#include "operators/cells/fields/cell_integrals.cuh"
#include "operators/nonlinear/device_drift.hpp"
#include "operators/nonlinear/drift_flops.hpp"
#include "solvers/memory/device.hpp"
#include "solvers/memory/launch.cuh"

namespace tessera {
namespace {

constexpr int kThreads = kScratchThreads;

struct DriftArguments {
  CellGrid grid;
  CellRange range;
  PointPlaces points;
  BasisTables basis;
  Index first_cell;  // of the derivatives
  const double* u;
  const double* derivative;  // dk/du [cell - first_cell][q]
};

__device__ int power_of(int n, int dim) { return dim == 3 ? n * n * n : n * n; }

// g [cell][axis][q] of `count` cells from first_cell on. One team a cell, striding; scratch as
// integral_cell_bytes().
template <ScratchPlace place>
__global__ void __launch_bounds__(kThreads)
    make_drift_kernel(const __grid_constant__ DriftArguments g, Index count, ScratchView view,
                      double* drift) {
  extern __shared__ __align__(16) char shared_scratch[];
  const CellTeam<place> team(view, shared_scratch);
  const int dim = g.grid.dimension;
  const int m = g.points.points;
  const int size = power_of(m, dim);
  team.for_each_cell(count, [&](const TeamCell& team_cell) {
    const Index c = team_cell.number;
    const Index cell = g.first_cell + c;
    const CellPlace here = place_cell(g.grid, g.range, cell);
    const PointTensors t =
        find_at_points(team, g.grid, g.points, here, g.u, team.template scratch<double>());
    if (!team_cell.counts) return;
    team.for_each(size, [&](int q) {
      const PointNumbers number(q, m, dim);
      const PointOfCell point = point_of_cell(g.grid, g.points, g.basis.D, here, number, q, t);
      double gradient[1][3] = {};
      differentiate(g.basis.D, m, dim, number, q, t.u, t.room, gradient);
      double flux[3];
      make_flux(point, point.weight * g.derivative[c * size + q], dim, gradient[0], flux);
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
  const int dim = g.grid.dimension;
  const int n = g.grid.degree + 1;
  const int m = g.points.points;
  const int nodes = power_of(n, dim);
  const int size = power_of(m, dim);
  double* const first = team.template scratch<double>();
  double* const second = first + size;
  team.for_each_cell(g.range.size(), [&](const TeamCell& cell) {
    const CellPlace here = place_cell(g.grid, g.range, cell.number);
    const double* const of_cell = drift + cell_number(g.grid, here.position) * dim * size;
    double* const in = dim == 3 ? second : first;
    team.for_each(nodes, [&](int i) {
      const CellNode node = cell_node(g.grid, here, i);
      in[i] = (here.fixed & node.faces) != 0U ? 0.0 : v[node.lattice];
    });
    __syncthreads();
    contract_all_axes(team, g.points.B, m, n, dim, in, dim == 3 ? first : second);
    team.for_each(size, [&](int q) {
      const double at_point = first[q];
      second[q] = 0.0;
      for (int a = 0; a < dim; ++a) second[(1 + a) * size + q] = of_cell[a * size + q] * at_point;
    });
    __syncthreads();
    const double* const integrals = integrate(team, g.basis, dim, n, m, second, first, size);
    if (!cell.counts) return;
    team.for_each(nodes, [&](int i) {
      const CellNode node = cell_node(g.grid, here, i);
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
  const Index chunk = std::min(chunk_of(points), cells);
  DeviceArray<double> values(chunk * points);
  DriftArguments arguments = arguments_of(grid_, integrator_);
  arguments.u = state.data();
  arguments.derivative = values.data();
  const BlockScratch& scratch = integrator_.scratch();
  for (Index first = 0; first < cells; first += chunk) {
    const Index count = std::min(chunk, cells - first);
    try {
      at_points.evaluate(first, count, values.data());
    } catch (const BadFieldValue& error) {
      throw BadFieldValue("the derivative of the coefficient in u is not finite", error.where(),
                          error.value());
    }
    arguments.first_cell = first;
    scratch.with_place([&]<ScratchPlace place>() {
      launch(make_drift_kernel<place>,
             {"the drift", scratch.blocks(count), kThreads, scratch.shared_bytes()}, arguments,
             count, scratch.view(), g_.data());
    });
  }
  // Before the state and the values go.
  synchronize_device();
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
  DriftArguments arguments = arguments_of(grid_, integrator_);
  for (const CellRange& color : cell_colors(grid_)) {
    arguments.range = color;
    scratch_.with_place([&]<ScratchPlace place>() {
      launch(add_drift_kernel<place>,
             {"adding the drift", scratch_.blocks(color.size()), kThreads, scratch_.shared_bytes()},
             arguments, scratch_.view(), g_.data(), v.data(), y.data());
    });
  }
}

}  // namespace tessera
