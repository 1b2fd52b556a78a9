#include "cases/balance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "mesh/errors.hpp"
#include "operators/load_integrals.hpp"

namespace tessera {
namespace {

constexpr double kRounding = 1e-10;
constexpr double kVanished = 0.01;
constexpr double kSettled = 0.1;
constexpr int kFinerBy[] = {1, 2, 4, 7};

// By Gauss's rule with so many points an axis; nothing if the data have no value at one of them,
// which the form's own points need not show.
std::optional<LoadIntegrals> integrals_by(int points, const Discretization& discretization,
                                          const ScalarField& source,
                                          const std::vector<FluxTerm>& fluxes) {
  if (points > kMostPointsPerAxis) return std::nullopt;
  const Basis1D& own = discretization.basis;
  const Basis1D basis = make_basis(own.degree, own.family, QuadratureRule::gauss, points);
  try {
    const LoadIntegrals integrals = integrate_load(discretization, basis, source, fluxes);
    return std::isfinite(integrals.size) ? std::optional(integrals) : std::nullopt;
  } catch (const BadFieldValue&) {
    return std::nullopt;
  }
}

// The quadrature explains a total of the form's own rule, or this throws.
void require_balance(double total, const Discretization& discretization, const ScalarField& source,
                     const std::vector<FluxTerm>& fluxes, double load_unit) {
  LoadIntegrals finest = integrate_load(discretization, discretization.basis, source, fluxes);
  // By how much a rule and the next differ: the last two, and the most of all.
  double change = 0.0;
  double largest_change = 0.0;
  for (const int more : kFinerBy) {
    const std::optional<LoadIntegrals> finer =
        integrals_by(discretization.basis.point_count() + more, discretization, source, fluxes);
    if (!finer) continue;
    change = std::abs(finer->sum() - finest.sum());
    largest_change = std::max(largest_change, change);
    finest = *finer;
    if (std::abs(finest.sum()) <= kVanished * std::abs(total) ||
        std::abs(finest.sum()) <= kRounding * finest.size) {
      return;
    }
  }
  // Where the rules do not settle, jumps or kinks inside cells say, any of them may be lucky.
  const bool settles = change <= kSettled * largest_change;
  const double error = settles ? change : largest_change;
  if (!(std::abs(finest.sum()) <= error)) {
    throw IncompatibleData(finest.source * load_unit, finest.flux * load_unit, error * load_unit);
  }
}

}  // namespace

IncompatibleData::IncompatibleData(double source, double flux, double quadrature_error)
    : std::runtime_error(fmt::format(
          "a problem with no other than Neumann faces has a solution only if source and boundary "
          "values balance: the integral of the source is {:.6g}, that of the boundary values "
          "{:.6g}, and their sum must be 0, but it is {:.6g} (give or take {:.1g}, the error of "
          "the quadrature); change one of them, or make a face dirichlet or robin",
          source, flux, source + flux, quadrature_error)) {}

double balance_load(const StiffnessForm& form, const ScalarField& source,
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
    require_balance(total, *form.discretization, source, fluxes, load_unit);
  }
  HostVector<double> load(b.size());
  assemble_load(form, constant_field(1.0), {}, zero, load);
  const double defect = total / dot(load, ones);
  axpy(-defect, load, b);
  return defect;
}

}  // namespace tessera
