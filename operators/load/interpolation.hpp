// These functions evaluate a field at the nodes.
#pragma once

#include "mesh/discretization.hpp"
#include "mesh/scalar_field.hpp"
#include "solvers/memory/vector.hpp"

namespace tessera {

/// u_i = field(position of node i), for every node; parallel.
void interpolate(const Discretization& discretization, const ScalarField& field,
                 HostVector<double>& u);

/// Evaluates the field at every node for what it throws; parallel.
void try_at_nodes(const Discretization& discretization, const ScalarField& field);

}  // namespace tessera
