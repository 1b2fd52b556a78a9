// This function integrates what is given in conditions for the flux.
#pragma once

#include <vector>

#include "operators/form/bilinear_form.hpp"
#include "operators/load/face_values.hpp"

namespace tessera {

/// value in k du/dn = value, or in k du/dn + alpha u = value, on one face.
struct FluxTerm {
  int face;
  ScalarField value;
};

/// <value, phi_i> at the nodes of each face, those on Dirichlet faces included. Faces that the
/// domain does not have, and those where the value is 0, are left out; of a part they are summands.
/// @throws BadFieldValue if a value is not finite.
std::vector<FaceValues> flux_loads(const BilinearForm& form, const std::vector<FluxTerm>& fluxes);

}  // namespace tessera
