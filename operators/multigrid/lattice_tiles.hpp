// These functions cut a product of matrices, one an axis, into tiles for the blocks of a GPU.
#pragma once

#include <vector>

#include "mesh/element/axis_matrix.hpp"

namespace tessera {

/// Places of a matrix's rows, which do not decrease, and how many columns from there on, or up to
/// there, all rows need.
struct Places {
  std::vector<int> of_rows;
  int width = 1;
};

/// The first column of each row and those that follow.
Places first_columns(const AxisMatrix& matrix);

/// The end of the columns of each row and those before.
Places end_columns(const AxisMatrix& matrix);

/// Rows of a tile along an axis, and the most columns that a tile's rows depend on.
struct TileRows {
  int rows = 0;
  int span = 0;
};

/// Tiles of so many rows.
TileRows tile_of(const Places& first, const Places& ends, int rows);

/// The tile with the least work for an output value, of at most so many rows and columns: a line of
/// the input costs as much as the output that comes of it, and `unit` of either are done at a time.
/// None where a single row depends on more columns.
TileRows plan_tile(const Places& first, const Places& ends, int most_rows, int most_columns,
                   int unit);

/// Moves places so that `first.width` columns from there on lie within what the row's tile depends
/// on, and within the matrix.
void move_into_tiles(const AxisMatrix& matrix, const Places& ends, int tile, Places& first);

/// Rows along an axis that a block goes along: those with which the waves of blocks that the GPU
/// holds at a time take the least time. Before its first row a block takes as long as for `margin`
/// rows.
int stretch_of(Index rows, Index margin, Index tiles, Index resident);

/// The rows that have entries in each stretch of so many of the matrix's columns:
/// [stretches][begin, end]. Rows have `places.width` entries from their places on.
std::vector<int> rows_of_columns(const Places& places, int columns, int stretch);

}  // namespace tessera
