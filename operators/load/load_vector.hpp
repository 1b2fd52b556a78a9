// These functions assemble the right-hand side and the residual.
#pragma once

#include <vector>

#include "operators/form/bilinear_form.hpp"
#include "operators/load/dirichlet_values.hpp"
#include "operators/load/flux_loads.hpp"
#include "solvers/memory/vector.hpp"

namespace tessera {

/// The right-hand side of the constrained system but for the values of constrained rows:
///   b_i = (f, phi_i) + sum over flux faces <value, phi_i> - a(g, phi_i)   at free nodes,
///   b_i = 0                                                             on Dirichlet faces,
/// with f at the form's state where it depends on u, and g_h the function that has the values g at
/// the nodes of Dirichlet faces and 0 at all others. Deterministic for any number of threads. Of a
/// form of which ranks have parts it is that of the whole, with the fluxes of all faces of the
/// domain; all ranks call this together, and the next as well; they throw together, too.
/// @throws BadFieldValue if f or a flux is not finite.
void assemble_load(const BilinearForm& form, const ScalarField& source,
                   const std::vector<FluxTerm>& fluxes, const DirichletValues& g,
                   HostVector<double>& b);

/// The residual of a problem whose coefficient k and source f may depend on u:
///   r_i = (k(u) grad u, grad phi_i) + (c u, phi_i) + sum over Robin faces <alpha u, phi_i>
///         - (f(u), phi_i) - sum over flux faces <value, phi_i>   at free nodes,
///   r_i = 0                                                      on Dirichlet faces.
/// It is that of the form's operator at the state u, but for rounding. The form's own state is not
/// looked at. Deterministic for any number of threads.
/// @param u with its Dirichlet values
/// @throws BadFieldValue if k, f or a flux is not finite, what the fields throw
void assemble_residual(const BilinearForm& form, const ScalarField& source,
                       const std::vector<FluxTerm>& fluxes, const HostVector<double>& u,
                       HostVector<double>& r);

}  // namespace tessera
