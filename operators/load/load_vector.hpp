// These functions set Dirichlet values and assemble the right-hand side.
#pragma once

#include <vector>

#include "operators/form/bilinear_form.hpp"
#include "solvers/memory/vector.hpp"

namespace tessera {

/// value in k du/dn = value, or in k du/dn + alpha u = value, on one face.
struct FluxTerm {
  int face;
  ScalarField value;
};

/// Writes the value at every node on a Dirichlet face into u; a node on several faces gets the
/// value of the first in the order of Face. fields has an entry for each face of the set.
/// @throws BadFieldValue if a value is not finite.
void set_dirichlet_values(const Discretization& discretization, FaceSet dirichlet,
                          const std::vector<ScalarField>& fields, HostVector<double>& u);

/// The same on the faces of a form of which ranks may have parts: where a value is not finite on
/// one rank, all throw.
void set_dirichlet_values(const BilinearForm& form, const std::vector<ScalarField>& fields,
                          HostVector<double>& u);

/// Whether u is other than 0 at a node of a Dirichlet face.
bool has_values(const BilinearForm& form, const HostVector<double>& u);

/// The right-hand side of the constrained system:
///   b_i = (f, phi_i) + sum over flux faces <value, phi_i> - a(g, phi_i)   at free nodes,
///   b_i = g_i                                                             on Dirichlet faces,
/// with f at the form's state where it depends on u, and g_h the function that has u's values at
/// the nodes of Dirichlet faces and 0 at all others. Deterministic for any number of threads. Of a
/// form of which ranks have parts it is that of the whole, with the fluxes of all faces of the
/// domain; all ranks call this together, and the next as well; they throw together, too.
/// @throws BadFieldValue if f or a flux is not finite.
void assemble_load(const BilinearForm& form, const ScalarField& source,
                   const std::vector<FluxTerm>& fluxes, const HostVector<double>& u,
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
