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

/// Whether u is other than 0 at a node of a Dirichlet face.
bool has_values(const BilinearForm& form, const HostVector<double>& u);

/// The right-hand side of the constrained system:
///   b_i = (f, phi_i) + sum over flux faces <value, phi_i> - a(g, phi_i)   at free nodes,
///   b_i = g_i                                                             on Dirichlet faces,
/// with f at the form's state where it depends on u, and g_h the function that has u's values at
/// the nodes of Dirichlet faces and 0 at all others. Deterministic for any number of threads.
/// @throws BadFieldValue if f or a flux is not finite.
void assemble_load(const BilinearForm& form, const ScalarField& source,
                   const std::vector<FluxTerm>& fluxes, const HostVector<double>& u,
                   HostVector<double>& b);

}  // namespace tessera
