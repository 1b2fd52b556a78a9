#pragma once

#include <array>
#include <optional>
#include <stdexcept>

#include "mesh/face.hpp"
#include "mesh/scalar_field.hpp"
#include "operators/stiffness_form.hpp"
#include "solvers/vector.hpp"

namespace tessera {

enum class BoundaryType { dirichlet, neumann, robin };

/// u = value, or k du/dn = value, or k du/dn + alpha u = value, on one face.
struct BoundaryCondition {
  BoundaryType type = BoundaryType::dirichlet;
  ScalarField value = constant_field(0.0);
  /// Robin only.
  std::optional<ScalarField> alpha = {};
};

/// -div(coefficient grad u) = source on the mapped box, one condition a face.
struct PoissonProblem {
  int dimension = 3;
  ScalarField coefficient = constant_field(1.0);
  ScalarField source = constant_field(0.0);
  /// By Face; the last two mean nothing in 2D.
  std::array<BoundaryCondition, 6> boundary = {};
  /// What the source, and integrals of it and of fluxes, are to be multiplied by where a user reads
  /// them: the fields may be in other units than the case's.
  double source_unit = 1.0;
  double load_unit = 1.0;
};

/// Whether u is determined only up to a constant: no Dirichlet face, and no Robin face whose alpha
/// may differ from 0.
bool is_pure_neumann(const PoissonProblem& problem);

/// The bilinear form of the problem; the discretization is referred to.
StiffnessForm stiffness_form(const PoissonProblem& problem, const Discretization& discretization);

/// The data of a pure Neumann problem that has no solution: sources and fluxes do not balance.
class IncompatibleData : public std::runtime_error {
 public:
  /// @param source, flux integral of the source over the domain and of the fluxes over its boundary
  IncompatibleData(double source, double flux);
};

/// A x = b as an iterative solver takes it.
struct LinearSystem {
  /// The start: initial values, with Dirichlet values set.
  HostVector<double> x;
  HostVector<double> b;
  /// ||b|| over the rows that are not constrained: what residuals are relative to.
  double reference_norm = 0.0;
  /// Pure Neumann only: (integral of source + fluxes) / volume, the quadrature's defect of balance,
  /// which was taken off the source.
  double balance_defect = 0.0;
};

/// Assembles the load and sets Dirichlet values.
/// @throws IncompatibleData if the integrals of a pure Neumann problem differ by more than 1e-3 of
///         the load's 1-norm; BadFieldValue
LinearSystem make_linear_system(const PoissonProblem& problem, const Discretization& discretization,
                                const ScalarField& initial);

/// The field less a number.
ScalarField shifted(const ScalarField& field, double subtracted);

}  // namespace tessera
