// These functions balance the load of a pure Neumann problem.
#pragma once

#include <stdexcept>
#include <vector>

#include "operators/form/bilinear_form.hpp"
#include "operators/load/load_vector.hpp"
#include "solvers/memory/vector.hpp"

namespace tessera {

/// The data of a pure Neumann problem that has no solution: sources and fluxes do not balance.
class IncompatibleData : public std::runtime_error {
 public:
  /// @param source, flux integral of the source over the domain and of the fluxes over its boundary
  /// @param error about how far their sum may be wrong
  IncompatibleData(double source, double flux, double error);
};

/// What becomes of data that do not balance by more than the quadrature's error.
enum class Imbalance {
  refused,
  taken_off  // as a smaller one is: for coarse levels, whose quadrature is coarse
};

/// Makes b, the load of a pure Neumann form, one of the range of the singular matrix:
/// b_i -= (sum of b / volume) * integral of phi_i.
///
/// With Imbalance::refused, sum of b may be no more than the error of quadrature and mesh. It is
/// none if it is at most 1e-10 of the sum of |b_i|; else the data are integrated by finer rules, of
/// 1, 2, 4, 7 and 11 more points an axis, until their integrals balance to 1e-10. If none does, the
/// last may leave twice what it and the one before it changed, for data that no rule resolves; on a
/// mapped mesh also what half the cells change, for there the domain is an approximation.
/// @param load_unit what integrals are multiplied by in what IncompatibleData says
/// @return (sum of b) / volume, which was taken off the source
/// @throws IncompatibleData
double balance_load(const BilinearForm& form, const ScalarField& source,
                    const std::vector<FluxTerm>& fluxes, Imbalance imbalance, double load_unit,
                    HostVector<double>& b);

}  // namespace tessera
