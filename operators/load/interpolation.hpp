// This function interpolates a field at the nodes.
#pragma once

#include "mesh/discretization.hpp"
#include "mesh/scalar_field.hpp"
#include "solvers/memory/vector.hpp"

namespace tessera {

/// u_i = field(position of node i), for every node; parallel.
void interpolate(const Discretization& discretization, const ScalarField& field,
                 HostVector<double>& u);

}  // namespace tessera
