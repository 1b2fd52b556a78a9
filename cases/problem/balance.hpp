// These functions balance the load of a pure Neumann problem.
#pragma once

#include <stdexcept>
#include <vector>

#include "operators/form/bilinear_form.hpp"
#include "operators/load/load_vector.hpp"
#include "solvers/memory/vector.hpp"

namespace tessera {

/// A pure Neumann problem has no solution, because its sources and fluxes do not balance.
class IncompatibleData : public std::runtime_error {
 public:
  /// @param source, flux the integral of the source over the domain, and that of the fluxes over
  ///         its boundary
  /// @param error how far their sum may be wrong, approximately
  IncompatibleData(double source, double flux, double error);
};

/// What happens to data whose imbalance is larger than the error of quadrature.
enum class Imbalance {
  refused,
  taken_off  // like a smaller imbalance; for coarse levels, whose quadrature is coarse
};

/// Brings b, the load of a pure Neumann form, into the range of the singular matrix:
/// b_i -= (sum of b / volume) * integral of phi_i.
///
/// With Imbalance::refused, the sum of b must not be larger than the error of quadrature and mesh.
/// A sum of at most 1e-10 times the sum of |b_i| is accepted. Otherwise the data are integrated by
/// finer rules, with 1, 2, 4, 7 and 11 more points per axis, until their integrals balance to
/// 1e-10. If they never do, because no rule resolves the data, the finest rule may leave twice the
/// larger of the last two changes from rule to rule. On a mapped mesh, which approximates the
/// domain, it may also leave the change that half the cells make.
/// @param load_unit the unit by which integrals are multiplied in the message of IncompatibleData
/// @return (sum of b) / volume, which was subtracted from the source
/// @throws IncompatibleData
double balance_load(const BilinearForm& form, const ScalarField& source,
                    const std::vector<FluxTerm>& fluxes, Imbalance imbalance, double load_unit,
                    HostVector<double>& b);

}  // namespace tessera
