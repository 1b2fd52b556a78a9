// These functions plan the levels of a multigrid hierarchy and make their coarser spaces.
#pragma once

#include <array>
#include <vector>

#include "mesh/discretization.hpp"

namespace tessera {

/// Degree and cells of a space in a hierarchy.
struct LevelShape {
  int degree;
  IndexTriple cells;

  bool operator==(const LevelShape&) const = default;
};

/// Which of degree and cells is halved first.
enum class CoarseningOrder { degree_first, cells_first };

struct CoarseningRules {
  CoarseningOrder order = CoarseningOrder::degree_first;
  /// No level below one of so few DoFs.
  Index small_enough = 1000;
  int most_levels = 64;
};

/// DoFs of the space.
Index node_count(const LevelShape& shape, int dimension);

/// Mean width of the cells along each axis, in physical space: the geometric mean of the lengths of
/// the cells' edges over a sample of at most 8 cells an axis.
Point mean_cell_widths(const BoxMesh& mesh);
Point mean_cell_widths(const Discretization& discretization);
/// The same for box points that `components` map, of which a handful are evaluated.
Point mean_cell_widths(const BoxMesh& mesh, const std::array<ScalarField, 3>& components);

/// The spaces of a hierarchy, the given one first.
///
/// As long as cells are more than 2.5 times as long along one axis as along another, those axes
/// are halved along which they are shortest (semi-coarsening), for the smoother works along them
/// only; then the degree is halved (p, p / 2, ..., 1) and the cells along each axis where they are
/// at most 1.5 times as long as the shortest, in the order asked for. Cells are merged two by two
/// along an axis; of an odd number the last stays alone.
std::vector<LevelShape> plan_levels(const LevelShape& finest, int dimension, const Point& widths,
                                    const CoarseningRules& rules);

/// The mesh whose cells are those of the finer one, merged two by two along the axes where there
/// are fewer; of an odd number the last stays alone.
/// @throws std::invalid_argument if the cells along an axis are neither kept nor halved
BoxMesh merge_cells(const BoxMesh& fine, const IndexTriple& cells);

/// The coarser space: merge_cells(), basis of its degree with as many more quadrature points than
/// nodes as the finer has, and of a mapped mesh the map of the finer at the coarser space's nodes.
/// @throws std::invalid_argument if the cells along an axis are neither kept nor halved
Discretization coarsen(const Discretization& fine, const LevelShape& shape);

}  // namespace tessera
