// These functions say which meshes and degrees a study of convergence solves a case on.
#pragma once

#include <vector>

#include "mesh/box_mesh.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// The relative tolerance at which the error of the solver is far below that of the discretization.
double convergence_tolerance(const CaseParameters& parameters);

/// How often the cells of the case are halved along each axis to make the first of so many meshes:
/// as long as all are even, and their grid lines, where they are listed, can be.
int coarsenings(const MeshParameters& mesh, int levels);

/// What makes of the case one with this degree whose errors are those of the discretization, not of
/// solvers, and of whose output nothing is left.
std::vector<Override> degree_overrides(const CaseParameters& parameters, int degree,
                                       const std::string& shown_as);

/// The same on mesh `level`, each with twice the cells of the one before it along each axis; the
/// case's own mesh is number `coarsenings`. Cells that are
/// graded are cut so that the grid lines of a mesh are among those of the next.
std::vector<Override> level_overrides(const CaseParameters& parameters, int degree, int level,
                                      int coarsenings);

/// The edge of a square or cube as large as a cell is in the mean.
/// @param volume of the domain, which a map may have changed
double mean_cell_size(const BoxMesh& mesh, double volume);

/// How large the largest cells are, for rates: mean_cell_size(), and where the mesh is graded as
/// much more as the widest cells are wider than those in the mean, on the axis where that is the
/// most. Errors of a graded mesh need not fall faster than powers of it, but may fall more slowly
/// than powers of the mean.
double cell_size(const BoxMesh& mesh, double volume);

/// The case's degree and the degrees next to it.
std::vector<int> default_degrees(int degree);

}  // namespace tessera
