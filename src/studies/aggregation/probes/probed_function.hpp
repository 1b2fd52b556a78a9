// The meshes of the unit cube, and the function on them, that probes are measured with.
#pragma once

#include <string>

#include "mesh/discretization.hpp"
#include "mesh/scalar_field.hpp"

namespace tessera {

/// Whether the cells of the mesh are equal, or bent by a smooth map of the cube onto itself that
/// does not move its faces.
enum class ProbedMeshKind { uniform, curved };

std::string name_of(ProbedMeshKind kind);

/// cells^3 cells of degree 4.
Discretization probed_mesh(ProbedMeshKind kind, int cells);

/// A polynomial of degree 4.
double probed_function_at(const Point& x);
ScalarField probed_function();

}  // namespace tessera
