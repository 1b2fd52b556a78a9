// This file integrates residuals on the GPU.
#include <algorithm>

#include "operators/cells/fields/device_field.cuh"
#include "operators/form/on_all_ranks.hpp"
#include "operators/form/updatable.hpp"
#include "operators/load/device_load.hpp"
#include "operators/nonlinear/cell_integrals.cuh"
#include "operators/nonlinear/device_residual.hpp"
#include "solvers/memory/launch.cuh"

namespace tessera {
namespace {

constexpr int kThreads = kScratchThreads;

struct ResidualArguments {
  CellGrid grid;
  CellRange range;
  PointPlaces points;
  BasisTables basis;
  DeviceFieldView coefficient;
  DeviceFieldView reaction;
  DeviceFieldView source;
  const double* u;
};

// r_i += (k(u) grad u, grad phi_i) + (c u - f(u), phi_i) for cells that share no node. One team a
// cell, striding; scratch as integral_cell_bytes(). are_allowed becomes 0 where a field
// has a value that it must not have.
__global__ void __launch_bounds__(kThreads)
    residual_kernel(const __grid_constant__ ResidualArguments g, ScratchView view, double* r,
                    int* are_allowed) {
  extern __shared__ __align__(16) char shared_scratch[];
  const CellTeam team(view, shared_scratch);
  const int dim = g.grid.dimension;
  const int n = g.grid.degree + 1;
  const int m = g.points.points;
  const int node_count = dim == 3 ? n * n * n : n * n;
  const int size = dim == 3 ? m * m * m : m * m;
  const IntegralTensors t =
      integral_tensors(team.scratch<double>(), node_count > size ? node_count : size, size);
  const CellTensors geometry = geometry_tensors(t, dim);
  team.for_each_cell(g.range.size(), [&](const TeamCell& cell) {
    const CellPlace place = place_cell(g.grid, g.range, cell.number);
    if (g.points.nodes.is_mapped) find_geometry(team, g.grid, g.points, g.basis.D, place, geometry);
    const double* const at_points =
        state_at_points(team, g.grid, g.points, place, g.u, t.in, t.other);
    find_gradient(team, g.basis, dim, m, at_points, t);
    team.for_each(size, [&](int q) {
      const PointOfCell point = point_of_cell(g.grid, g.points, place, geometry, q);
      const double u = t.value[q];
      const double k = value_at(g.coefficient, point.x, u);
      const double reaction = value_at(g.reaction, point.x, u);
      const double f = value_at(g.source, point.x, u);
      if (!is_allowed(k, Allowed::positive) || !is_allowed(reaction, Allowed::non_negative) ||
          !is_allowed(f, Allowed::finite)) {
        *are_allowed = 0;
      }
      double flux[3];
      make_flux(point, point.weight * k, dim, q, t, flux);
      for (int a = 0; a < dim; ++a) t.gradient[a * size + q] = flux[a];
      t.value[q] = point.weight * (reaction * u - f);
    });
    __syncthreads();
    const double* const v = integrate(team, g.basis, dim, n, m, t);
    if (!cell.counts) return;
    team.for_each(node_count, [&](int i) { r[cell_node(g.grid, place, i).lattice] += v[i]; });
  });
}

bool are_same(const std::vector<FluxTerm>& a, const std::vector<FluxTerm>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const FluxTerm& one, const FluxTerm& other) {
                      return one.face == other.face && are_same(one.value, other.value);
                    });
}

}  // namespace

DeviceResidual::DeviceResidual(const Discretization& discretization)
    : integrator_(discretization), is_allowed_(1) {}

void DeviceResidual::compute(const BilinearForm& form, const ScalarField& source,
                             const std::vector<FluxTerm>& fluxes, const DeviceVector<double>& u,
                             DeviceVector<double>& r) {
  if (compute_on_gpu(form, source, fluxes, u, r)) return;
  HostVector<double> u_on_host(u.size());
  HostVector<double> r_on_host(u.size());
  copy(u, u_on_host);
  assemble_residual(form, source, fluxes, u_on_host, r_on_host);
  copy(r_on_host, r);
}

bool DeviceResidual::compute_on_gpu(const BilinearForm& form, const ScalarField& source,
                                    const std::vector<FluxTerm>& fluxes,
                                    const DeviceVector<double>& u, DeviceVector<double>& r) {
  const bool is_allowed = on_all_ranks(form, [&] { return compute_own(form, source, u, r); });
  if (on_any_rank(form.layout(), !is_allowed)) return false;
  if (form.part != nullptr) {
    if (!exchange_) exchange_.emplace(form.part->rank->exchange<double, Device>(form.dirichlet));
    exchange_->add(r);
  }
  add_fluxes(form, fluxes, r);
  clear_constrained_rows(form, r);
  return true;
}

bool DeviceResidual::compute_own(const BilinearForm& form, const ScalarField& source,
                                 const DeviceVector<double>& u, DeviceVector<double>& r) {
  const std::optional<DeviceField> k = DeviceField::make(form.coefficient);
  const std::optional<DeviceField> c = DeviceField::make(form.reaction);
  const std::optional<DeviceField> f = DeviceField::make(source);
  if (!k || !c || !f) return false;
  ResidualArguments arguments{};
  arguments.grid = make_cell_grid(form);
  arguments.points = integrator_.points();
  arguments.basis = integrator_.tables();
  arguments.coefficient = k->view();
  arguments.reaction = c->view();
  arguments.source = f->view();
  arguments.u = u.data();
  const int yes = 1;
  copy_to_device(&yes, sizeof(yes), is_allowed_.data());
  fill(r, 0.0);
  const BlockScratch& scratch = integrator_.scratch();
  for (const CellRange& color : cell_colors(arguments.grid)) {
    arguments.range = color;
    launch(residual_kernel,
           {"the residual", scratch.blocks(color.size()), kThreads, scratch.shared_bytes()},
           arguments, scratch.view(), r.data(), is_allowed_.data());
  }
  if (to_host(is_allowed_).front() == 0) return false;
  add_robin(form, u, r);
  return true;
}

void DeviceResidual::add_robin(const BilinearForm& form, const DeviceVector<double>& u,
                               DeviceVector<double>& r) {
  if (form.robin.empty()) return;
  if (robin_.empty() || !tessera::are_same(robin_terms_, form.robin)) {
    // Values on Dirichlet faces count as well.
    BilinearForm free = form;
    free.dirichlet.reset();
    robin_.clear();
    robin_.emplace_back(free);
    robin_terms_ = form.robin;
  }
  robin_.front().add(u, r);
}

void DeviceResidual::add_fluxes(const BilinearForm& form, const std::vector<FluxTerm>& fluxes,
                                DeviceVector<double>& r) {
  const bool has_fluxes = std::any_of(fluxes.begin(), fluxes.end(),
                                      [](const FluxTerm& flux) { return !is_zero(flux.value); });
  if (!has_fluxes) return;
  if (flux_load_.size() == 0 || !are_same(fluxes_, fluxes)) {
    HostVector<double> load(r.size());
    const HostVector<double> zeros(r.size());
    assemble_load(form, constant_field(0.0), fluxes, zeros, load);
    if (flux_load_.size() == 0) flux_load_ = DeviceVector<double>(r.size());
    copy(load, flux_load_);
    fluxes_ = fluxes;
  }
  axpy(-1.0, flux_load_, r);
}

}  // namespace tessera
