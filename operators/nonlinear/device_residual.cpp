// This file sums up residuals on the GPU.
#include "operators/nonlinear/device_residual.hpp"

#include <algorithm>

#include "operators/form/on_all_ranks.hpp"
#include "operators/form/updatable.hpp"
#include "operators/load/device_load.hpp"
#include "operators/nonlinear/residual_lines.hpp"

namespace tessera {
namespace {

bool are_same(const std::vector<FluxTerm>& a, const std::vector<FluxTerm>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const FluxTerm& one, const FluxTerm& other) {
                      return one.face == other.face && are_same(one.value, other.value);
                    });
}

}  // namespace

DeviceResidual::DeviceResidual(const Discretization& discretization)
    : integrator_(discretization) {}

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
  const bool is_allowed =
      on_all_ranks(form, [&] { return compute_own(form, source, fluxes, u, r); });
  if (on_any_rank(form.layout(), !is_allowed)) return false;
  if (form.part != nullptr) {
    if (!exchange_) exchange_.emplace(form.part->rank->exchange<double, Device>(form.dirichlet));
    exchange_->add(r);
  }
  clear_constrained_rows(form, r);
  return true;
}

bool DeviceResidual::compute_own(const BilinearForm& form, const ScalarField& source,
                                 const std::vector<FluxTerm>& fluxes, const DeviceVector<double>& u,
                                 DeviceVector<double>& r) {
  const std::optional<DeviceFields> fields = DeviceFields::make(form, source);
  if (!fields) return false;
  fill(r, 0.0);
  const CellGrid grid = make_cell_grid(form);
  const std::vector<CellRange> colors = cell_colors(grid);
  const Basis1D& basis = form.discretization->basis;
  const bool are_allowed =
      has_integrals_by_lines(grid.dimension, basis, *fields)
          ? add_integrals_by_lines(basis, integrator_.points(), grid, *fields, colors, u, r)
          : integrator_.add_integrals(grid, *fields, colors, u, r);
  if (!are_allowed) return false;
  add_robin(form, u, r);
  subtract_fluxes(form, fluxes, r);
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

void DeviceResidual::subtract_fluxes(const BilinearForm& form, const std::vector<FluxTerm>& fluxes,
                                     DeviceVector<double>& r) {
  if (!has_flux_loads_ || !are_same(fluxes_, fluxes)) {
    has_flux_loads_ = false;
    flux_loads_.clear();
    for (const FaceValues& face : flux_loads(form, fluxes)) flux_loads_.emplace_back(face);
    fluxes_ = fluxes;
    has_flux_loads_ = true;
  }
  for (const DeviceFaceValues& face : flux_loads_) face.add(-1.0, r);
}

}  // namespace tessera
