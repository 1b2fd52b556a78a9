// These functions plan the levels of a multigrid hierarchy and make their coarser spaces.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "mesh/discretization.hpp"

namespace tessera {

/// Degree and cells of a space in a hierarchy.
struct LevelShape {
  int degree;
  IndexTriple cells;

  bool operator==(const LevelShape&) const = default;
};

/// Whether the degree or the cells are halved first.
enum class CoarseningOrder { degree_first, cells_first };

struct CoarseningRules {
  CoarseningOrder order = CoarseningOrder::degree_first;
  /// A level with at most this many DoFs is the coarsest.
  Index small_enough = 1000;
  int max_levels = 64;
  /// Levels of at most this many DoFs halve the degree first, whatever the order.
  Index degree_first_below = 0;
};

/// DoFs of the space.
Index node_count(const LevelShape& shape, int dimension);

/// Mean width of the cells along each axis, in physical space: the geometric mean of the lengths of
/// the cells' edges over a sample of at most 8 cells per axis.
Point mean_cell_widths(const BoxMesh& mesh);
Point mean_cell_widths(const Discretization& discretization);
/// The same for a mesh that `components` map, evaluated at a handful of points.
Point mean_cell_widths(const BoxMesh& mesh, const std::array<ScalarField, 3>& components);

/// The same for a mesh whose grid points (i, j, k) lie at position_of(), which is asked for some.
Point mean_cell_widths(const BoxMesh& mesh,
                       const std::function<Point(const IndexTriple&)>& position_of);

/// The spaces of a hierarchy, the given one first.
///
/// While cells are more than 2.5 times as long along one axis as along another, the axes along
/// which they are shortest are halved (semi-coarsening), because a smoother works along short edges
/// only. Then the degree is halved (p, p / 2, ..., 1), and so are the cells along each axis where
/// they are at most 1.5 times as long as along the shortest one, in the order that the rules ask
/// for. Cells are merged two by two along an axis; if their number is odd, the last one stays
/// alone; an odd number above 2^26 is not halved.
std::vector<LevelShape> plan_levels(const LevelShape& finest, int dimension, const Point& widths,
                                    const CoarseningRules& rules);

/// The mesh whose cells are those of the finer one, merged two by two along the axes where `cells`
/// asks for fewer. If their number is odd, the last one stays alone.
///
/// Of a part of a mesh it is the same part of the coarser whole, whose cells are then asked for.
/// @throws std::invalid_argument if the cells along an axis are neither kept nor halved, or if a
///         part cuts a merged cell
BoxMesh merge_cells(const BoxMesh& fine, const IndexTriple& cells);

/// The coarser space. Its mesh is that of merge_cells(), its basis has as many more quadrature
/// points than nodes as the finer one, and its map, if there is one, is the finer map at the
/// coarser nodes.
/// @throws std::invalid_argument if the cells along an axis are neither kept nor halved
Discretization coarsen(const Discretization& fine, const LevelShape& shape);

/// The matrices, one an axis, that evaluate functions of the finer space at the nodes of a coarser
/// one that is made of it.
std::array<AxisMatrix, 3> coarsening_matrices(const Discretization& fine,
                                              const Discretization& coarse);

/// A function of the finer space at the nodes of a coarser one that is made of it.
/// @param values [nodes of the finer space]
HostArray<double> coarsen(const Discretization& fine, const double* values,
                          const Discretization& coarse);

}  // namespace tessera
