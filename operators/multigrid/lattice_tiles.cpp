// This file cuts a product of matrices, one an axis, into tiles for the blocks of a GPU.
#include "operators/multigrid/lattice_tiles.hpp"

#include <algorithm>
#include <limits>

namespace tessera {
namespace {

// The columns of a row's entries that are not 0.
struct RowColumns {
  int begin;
  int end;
};
RowColumns columns_of_row(const AxisMatrix& matrix, Index row) {
  const double* const entries = matrix.entries.data() + row * matrix.width;
  int begin = 0;
  int end = matrix.width;
  while (begin < end && entries[begin] == 0.0) ++begin;
  while (begin < end && entries[end - 1] == 0.0) --end;
  const int first = static_cast<int>(matrix.first[row]);
  return {first + begin, first + end};
}

int in_whole(int n, int unit) { return (n + unit - 1) / unit * unit; }

}  // namespace

Places first_columns(const AxisMatrix& matrix) {
  Places places{std::vector<int>(matrix.rows)};
  int first = static_cast<int>(matrix.columns) - 1;
  for (Index r = matrix.rows - 1; r >= 0; --r) {
    const RowColumns range = columns_of_row(matrix, r);
    if (range.begin < range.end) {
      first = std::min(first, range.begin);
      places.width = std::max(places.width, range.end - first);
    }
    places.of_rows[r] = first;
  }
  return places;
}

Places end_columns(const AxisMatrix& matrix) {
  Places places;
  int end = 0;
  for (Index r = 0; r < matrix.rows; ++r) {
    const RowColumns range = columns_of_row(matrix, r);
    if (range.begin < range.end) {
      end = std::max(end, range.end);
      places.width = std::max(places.width, end - range.begin);
    }
    places.of_rows.push_back(end);
  }
  return places;
}

TileRows tile_of(const Places& first, const Places& ends, int rows) {
  const int all = static_cast<int>(first.of_rows.size());
  TileRows tile{rows, first.width};
  for (int begin = 0; begin < all; begin += rows) {
    const int last = std::min(all, begin + rows) - 1;
    tile.span = std::max(tile.span, ends.of_rows[last] - first.of_rows[begin]);
  }
  return tile;
}

TileRows plan_tile(const Places& first, const Places& ends, int most_rows, int most_columns,
                   int unit) {
  TileRows best{};
  double least = std::numeric_limits<double>::infinity();
  for (int rows = 1; rows <= most_rows; ++rows) {
    const TileRows tile = tile_of(first, ends, rows);
    if (tile.span > most_columns) break;
    const double work = static_cast<double>(in_whole(tile.span, unit) + in_whole(rows, unit));
    if (work / rows <= least) {
      least = work / rows;
      best = tile;
    }
  }
  return best;
}

void move_into_tiles(const AxisMatrix& matrix, const Places& ends, int tile, Places& first) {
  const int all = static_cast<int>(matrix.rows);
  for (int begin = 0; begin < all; begin += tile) {
    const int last = std::min(all, begin + tile) - 1;
    const int columns = static_cast<int>(matrix.columns);
    const int lowest = std::min(first.of_rows[begin], columns - first.width);
    const int highest = std::max(lowest, ends.of_rows[last] - first.width);
    for (int r = begin; r <= last; ++r) {
      first.of_rows[r] = std::clamp(first.of_rows[r], lowest, highest);
    }
  }
}

int stretch_of(Index rows, Index margin, Index tiles, Index resident) {
  constexpr Index kMostStretches = 4096;
  Index best = rows;
  Index least = std::numeric_limits<Index>::max();
  for (Index stretches = 1; stretches <= std::min(rows, kMostStretches); ++stretches) {
    const Index stretch = ceil_div(rows, stretches);
    const Index time = ceil_div(tiles * ceil_div(rows, stretch), resident) * (stretch + margin);
    if (time < least) {
      least = time;
      best = stretch;
    }
  }
  return static_cast<int>(best);
}

std::vector<int> rows_of_columns(const Places& places, int columns, int stretch) {
  const std::vector<int>& of_rows = places.of_rows;
  std::vector<int> rows;
  for (int begin = 0; begin < columns; begin += stretch) {
    const int end = std::min(columns, begin + stretch);
    const auto first = std::lower_bound(of_rows.begin(), of_rows.end(), begin - places.width + 1);
    const auto last = std::lower_bound(of_rows.begin(), of_rows.end(), end);
    rows.push_back(static_cast<int>(first - of_rows.begin()));
    rows.push_back(static_cast<int>(last - of_rows.begin()));
  }
  return rows;
}

}  // namespace tessera
