// These are the integrals of a load's data over the domain and its boundary.
#pragma once

#include <vector>

#include "operators/load/load_vector.hpp"

namespace tessera {

/// Integrals of a load's data.
struct LoadIntegrals {
  double source = 0.0;  // of f over the domain
  double flux = 0.0;    // of the fluxes over their faces
  double size = 0.0;    // of |f| and of the |fluxes|

  double sum() const { return source + flux; }
};

/// The integrals by the rule of a basis on the discretization's nodes, of a part those of the part.
/// Deterministic for any number of threads. Values that are not finite are not refused.
/// @param domain_faces fluxes of other faces are left out
LoadIntegrals integrate_load(const Discretization& discretization, FaceSet domain_faces,
                             const Basis1D& basis, const ScalarField& source,
                             const std::vector<FluxTerm>& fluxes);

}  // namespace tessera
