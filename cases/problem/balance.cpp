// This file decides whether an imbalance is the error of quadrature and mesh.
#include "cases/problem/balance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "mesh/coarsening.hpp"
#include "mesh/errors.hpp"
#include "operators/load/load_integrals.hpp"

namespace tessera {
namespace {

constexpr double kRounding = 1e-10;
constexpr int kFinerBy[] = {1, 2, 4, 7, 11};
// The error of the finest rule may be this many times the larger of the last two changes.
constexpr double kUnsettled = 2.0;

// Integrates by the Gauss rule with this many points per axis. The result is empty if the data have
// no value at one of the points, which the form's own points need not show.
std::optional<LoadIntegrals> integrals_by(int points, const Discretization& discretization,
                                          const ScalarField& source,
                                          const std::vector<FluxTerm>& fluxes) {
  if (points > kMaxPointsPerAxis) return std::nullopt;
  const Basis1D& own = discretization.basis;
  const Basis1D basis = make_basis(own.degree, own.family, QuadratureRule::gauss, points);
  try {
    const LoadIntegrals integrals = integrate_load(discretization, basis, source, fluxes);
    return std::isfinite(integrals.size) ? std::optional(integrals) : std::nullopt;
  } catch (const BadFieldValue&) {
    return std::nullopt;
  }
}

// The change of the sum of the integrals on a mesh with half the cells along each axis, which is
// about the error of interpolating the map; 0 if there is no map.
double geometry_error(const LoadIntegrals& integrals, int points,
                      const Discretization& discretization, const ScalarField& source,
                      const std::vector<FluxTerm>& fluxes) {
  if (discretization.mapping.is_cartesian()) return 0.0;
  IndexTriple cells = discretization.mesh.cells();
  for (Index& count : cells) count = ceil_div(count, 2);
  const Discretization coarser = coarsen(discretization, {discretization.basis.degree, cells});
  const std::optional<LoadIntegrals> of_coarser = integrals_by(points, coarser, source, fluxes);
  return of_coarser ? std::abs(of_coarser->sum() - integrals.sum()) : 0.0;
}

// Throws unless the errors of quadrature and mesh explain why the data do not balance.
void require_balance(const Discretization& discretization, const ScalarField& source,
                     const std::vector<FluxTerm>& fluxes, double load_unit) {
  LoadIntegrals finest = integrate_load(discretization, discretization.basis, source, fluxes);
  int points = discretization.basis.point_count();
  // The amounts by which each of the last two rules differs from the one before it.
  std::array<double, 2> changes{};
  for (const int more : kFinerBy) {
    const int finer_points = discretization.basis.point_count() + more;
    const std::optional<LoadIntegrals> finer =
        integrals_by(finer_points, discretization, source, fluxes);
    if (!finer) continue;
    changes = {changes[1], std::abs(finer->sum() - finest.sum())};
    finest = *finer;
    points = finer_points;
    if (std::abs(finest.sum()) <= kRounding * finest.size) return;
  }
  const double error = kUnsettled * std::max(changes[0], changes[1]) +
                       geometry_error(finest, points, discretization, source, fluxes);
  if (!(std::abs(finest.sum()) <= error)) {
    throw IncompatibleData(finest.source * load_unit, finest.flux * load_unit, error * load_unit);
  }
}

}  // namespace

IncompatibleData::IncompatibleData(double source, double flux, double error)
    : std::runtime_error(fmt::format(
          "a problem with no other than Neumann faces has a solution only if source and boundary "
          "values balance: the integral of the source is {:.6g}, that of the boundary values "
          "{:.6g}, and their sum must be 0, but it is {:.6g} (give or take {:.1g}, the error of "
          "quadrature and mesh); change one of them, or make a face dirichlet or robin",
          source, flux, source + flux, error)) {}

double balance_load(const BilinearForm& form, const ScalarField& source,
                    const std::vector<FluxTerm>& fluxes, Imbalance imbalance, double load_unit,
                    HostVector<double>& b) {
  const HostVector<double> zero(b.size());
  HostVector<double> ones(b.size());
  fill(ones, 1.0);
  const double total = dot(b, ones);
  double absolute = 0.0;
#pragma omp parallel for simd schedule(static) reduction(+ : absolute)
  for (Index i = 0; i < b.size(); ++i) absolute += std::abs(b[i]);
  if (imbalance == Imbalance::refused && !(std::abs(total) <= kRounding * absolute)) {
    require_balance(*form.discretization, source, fluxes, load_unit);
  }
  HostVector<double> load(b.size());
  assemble_load(form, constant_field(1.0), {}, zero, load);
  const double defect = total / dot(load, ones);
  axpy(-defect, load, b);
  return defect;
}

}  // namespace tessera
