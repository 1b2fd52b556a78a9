// This file decides whether an imbalance is the error of quadrature and mesh.
#include "cases/problem/balance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "mesh/coarsening.hpp"
#include "mesh/errors.hpp"
#include "operators/load/load_integrals.hpp"
#include "operators/ranks/gathered_space.hpp"
#include "solvers/memory/entry_sums.hpp"

namespace tessera {
namespace {

constexpr double kRounding = 1e-10;
constexpr int kFinerBy[] = {1, 2, 4, 7, 11};
// The error of the finest rule may be this many times the larger of the last two changes.
constexpr double kUnsettled = 2.0;

// The data of a problem, with the domain's faces on which they are given here.
class LoadData {
 public:
  LoadData(const BilinearForm& form, const ScalarField& source, const std::vector<FluxTerm>& fluxes)
      : form_(form), source_(source), fluxes_(fluxes) {}

  const Discretization& discretization() const { return *form_.discretization; }

  // Integrals over the domain by the form's own rule.
  LoadIntegrals integrals() const {
    return over_ranks(integrate_load(discretization(), form_.domain_faces(), discretization().basis,
                                     source_, fluxes_));
  }

  // The same by the Gauss rule with this many points per axis. The result is empty if the data have
  // no value at one of the points, which the form's own points need not show.
  std::optional<LoadIntegrals> integrals_by(int points) const {
    if (points > kMaxPointsPerAxis) return std::nullopt;
    return if_finite(over_ranks(integrals_of(points, discretization(), form_.domain_faces())));
  }

  // The same on a mesh with half the cells along each axis. A cut may run through its cells: every
  // rank integrates over all of them.
  std::optional<LoadIntegrals> integrals_on_coarser(int points) const {
    if (points > kMaxPointsPerAxis) return std::nullopt;
    LevelShape shape{discretization().basis.degree, discretization().mesh.place().cells};
    for (Index& count : shape.cells) count = ceil_div(count, 2);
    const Discretization coarser =
        form_.part == nullptr ? coarsen(discretization(), shape)
                              : GatheredSpace(discretization(), *form_.part->rank, shape).make();
    return if_finite(integrals_of(points, coarser, FaceSet().set()));
  }

 private:
  static std::optional<LoadIntegrals> if_finite(const LoadIntegrals& integrals) {
    return std::isfinite(integrals.size) ? std::optional(integrals) : std::nullopt;
  }

  // NaN if the data have no value at a point.
  LoadIntegrals integrals_of(int points, const Discretization& discretization,
                             FaceSet domain_faces) const {
    const Basis1D& own = discretization.basis;
    const Basis1D basis = make_basis(own.degree, own.family, QuadratureRule::gauss, points);
    LoadIntegrals integrals;
    try {
      integrals = integrate_load(discretization, domain_faces, basis, source_, fluxes_);
    } catch (const BadFieldValue&) {
      integrals.size = std::numeric_limits<double>::quiet_NaN();
    }
    return integrals;
  }

  LoadIntegrals over_ranks(const LoadIntegrals& here) const {
    if (form_.part == nullptr) return here;
    std::array<double, 3> sums = {here.source, here.flux, here.size};
    form_.part->rank->ranks().sum(sums);
    return {sums[0], sums[1], sums[2]};
  }

  const BilinearForm& form_;
  const ScalarField& source_;
  const std::vector<FluxTerm>& fluxes_;
};

// The change of the sum of the integrals on a mesh with half the cells along each axis, which is
// about the error of interpolating the map; 0 if there is no map.
double geometry_error(const LoadIntegrals& integrals, int points, const LoadData& data) {
  if (data.discretization().mapping.is_cartesian()) return 0.0;
  const std::optional<LoadIntegrals> of_coarser = data.integrals_on_coarser(points);
  return of_coarser ? std::abs(of_coarser->sum() - integrals.sum()) : 0.0;
}

// Throws unless the errors of quadrature and mesh explain why the data do not balance.
void require_balance(const LoadData& data, double load_unit) {
  const Basis1D& basis = data.discretization().basis;
  LoadIntegrals finest = data.integrals();
  int points = basis.point_count();
  // The amounts by which each of the last two rules differs from the one before it.
  std::array<double, 2> changes{};
  for (const int more : kFinerBy) {
    const int finer_points = basis.point_count() + more;
    const std::optional<LoadIntegrals> finer = data.integrals_by(finer_points);
    if (!finer) continue;
    changes = {changes[1], std::abs(finer->sum() - finest.sum())};
    finest = *finer;
    points = finer_points;
    if (std::abs(finest.sum()) <= kRounding * finest.size) return;
  }
  const double error =
      kUnsettled * std::max(changes[0], changes[1]) + geometry_error(finest, points, data);
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
  const VectorLayout& layout = b.layout();
  HostVector<double> ones(layout);
  fill(ones, 1.0);
  const double total = dot(b, ones);
  const double absolute = entry_sum(layout, [&](Index i) { return std::abs(b[i]); });
  if (imbalance == Imbalance::refused && !(std::abs(total) <= kRounding * absolute)) {
    require_balance(LoadData(form, source, fluxes), load_unit);
  }
  HostVector<double> load(layout);
  assemble_load(form, constant_field(1.0), {}, {}, load);
  const double defect = total / dot(load, ones);
  axpy(-defect, load, b);
  return defect;
}

}  // namespace tessera
