#pragma once

#include <stdexcept>
#include <vector>

#include "operators/load_vector.hpp"
#include "operators/stiffness_form.hpp"
#include "solvers/vector.hpp"

namespace tessera {

/// The data of a pure Neumann problem that has no solution: sources and fluxes do not balance.
class IncompatibleData : public std::runtime_error {
 public:
  /// @param source, flux integral of the source over the domain and of the fluxes over its boundary
  /// @param quadrature_error about how far their sum may be wrong
  IncompatibleData(double source, double flux, double quadrature_error);
};

/// What becomes of data that do not balance by more than the quadrature's error.
enum class Imbalance {
  refused,
  taken_off  // as a smaller one is: for coarse levels, whose quadrature is coarse
};

/// Makes b, the load of a pure Neumann form, one of the range of the singular matrix:
/// b_i -= (sum of b / volume) * integral of phi_i.
///
/// With Imbalance::refused, sum of b may be no more than the quadrature's error. It is none if it
/// is at most 1e-10 of the sum of |b_i|; else the data are integrated by finer rules, of 1, 2, 4
/// and 7 more points an axis. Data that balance have integrals that vanish as rules are refined:
/// they are accepted as soon as a rule leaves a hundredth of what the form's own gives, or if the
/// rules differ by as much as the finest leaves: the last two, or any two in a row where they do
/// not settle.
/// @param load_unit what integrals are multiplied by in what IncompatibleData says
/// @return (sum of b) / volume, which was taken off the source
/// @throws IncompatibleData
double balance_load(const StiffnessForm& form, const ScalarField& source,
                    const std::vector<FluxTerm>& fluxes, Imbalance imbalance, double load_unit,
                    HostVector<double>& b);

}  // namespace tessera
