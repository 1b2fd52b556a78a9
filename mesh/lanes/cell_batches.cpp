// This file chooses the shape of bricks and colors them.
#include "mesh/lanes/cell_batches.hpp"

#include <algorithm>
#include <limits>

#include "mesh/lanes/padded_cells.hpp"

namespace tessera {
namespace {

// This is half of the 1 MiB L2 cache of current server cores; the other half is left to factors
// that stream through.
constexpr Index kBrickBytes = Index{512} << 10;
// Where cells are large that is a brick of few cells, most nodes of which lie on its surface, are
// read again with its neighbors and are not prefetched. Then a brick in the L3 cache is faster: it
// has as many cells as one of degree 2, if this much holds them.
constexpr Index kLargestBrickBytes = Index{2} << 20;
constexpr Index kEnoughCells = 4096;
constexpr Index kLongestRow = 64;
constexpr Index kBricksPerThread = 4;  // of each color at most, for balance
// What a brick takes beside its batches, in batches.
constexpr double kBrickOverhead = 0.5;
// What of a cell's time is for nodes, which bricks have once more where they touch.
constexpr double kShareOfNodes = 0.1;

Index total(const IndexTriple& counts) { return IndexBox(counts).count(); }

// What the thread with the most work has, in batches, if all work on the bricks of one color after
// the other.
double longest_work(const IndexTriple& cells, const IndexTriple& shape, int lanes, int threads) {
  const IndexTriple along = ceil_div(cells, shape);
  Index bricks = 0;
  for (int color = 0; color < 8; ++color) {
    Index of_color = 1;
    for (int d = 0; d < 3; ++d) of_color *= (along[d] + 1 - (color >> d & 1)) / 2;
    bricks += ceil_div(of_color, threads);
  }
  double nodes_per_cell = 1.0;
  for (int d = 0; d < 3; ++d) {
    if (along[d] > 1) nodes_per_cell *= 1.0 + 1.0 / static_cast<double>(shape[d]);
  }
  const auto batches = static_cast<double>(ceil_div(total(shape), lanes));
  return static_cast<double>(bricks) *
         (batches * (1.0 + kShareOfNodes * (nodes_per_cell - 1.0)) + kBrickOverhead);
}

// The edges of bricks that cut so many cells into equal parts, longest first, in whole multiples of
// `unit` but for that of all cells.
std::vector<Index> equal_edges(Index cells, Index unit) {
  std::vector<Index> edges = {cells};
  for (Index parts = 2; edges.back() > unit; ++parts) {
    const Index edge = ceil_div(ceil_div(cells, parts), unit) * unit;
    if (edge < edges.back()) edges.push_back(edge);
  }
  return edges;
}

}  // namespace

// Bricks are as long along x as whole batches allow and square across, which gives the least
// surface with full SIMD lanes. Where there are few, the longest work of a thread decides.
IndexTriple brick_cells(const BoxMesh& mesh, int lanes, Index bytes_per_cell, int threads) {
  const IndexTriple& cells = mesh.cells();
  const Index enough = std::min(kEnoughCells, kLargestBrickBytes / bytes_per_cell);
  const Index budget = std::max({kBrickBytes / bytes_per_cell, enough, Index{1}});
  IndexTriple shape{1, 1, 1};
  const Index row = std::clamp<Index>(budget / 4, lanes, std::max<Index>(kLongestRow, lanes));
  shape[0] = std::min(cells[0], row / lanes * lanes);
  while (true) {
    const int axis = mesh.dimension() == 3 && shape[2] < shape[1] ? 2 : 1;
    IndexTriple larger = shape;
    larger[axis] = std::min(cells[axis], shape[axis] + 1);
    if (larger == shape) larger[3 - axis] = std::min(cells[3 - axis], shape[3 - axis] + 1);
    if (larger == shape || total(larger) > budget) break;
    shape = larger;
  }
  const Index wanted = (Index{1} << mesh.dimension()) * kBricksPerThread * threads;
  if (total(ceil_div(cells, shape)) >= wanted) return shape;
  // Few bricks need not be the largest: half of it is 5 to 30 % faster, as measured.
  const Index half = std::max<Index>(budget / 2, lanes);
  IndexTriple best = shape;
  double least = std::numeric_limits<double>::infinity();
  for (const Index x : equal_edges(shape[0], lanes)) {
    for (const Index y : equal_edges(cells[1], 1)) {
      for (const Index z : equal_edges(cells[2], 1)) {
        const IndexTriple candidate{x, y, z};
        if (total(candidate) > half || total(ceil_div(cells, candidate)) > 2 * wanted) continue;
        const double work = longest_work(cells, candidate, lanes, threads);
        if (work >= least) continue;
        least = work;
        best = candidate;
      }
    }
  }
  return best;
}

Index padded_cells(const BoxMesh& mesh, int lanes, Index bytes_per_cell, int threads) {
  const IndexTriple shape = brick_cells(mesh, lanes, bytes_per_cell, threads);
  const IndexTriple along = ceil_div(mesh.cells(), shape);
  Index batches = 0;
  // Along each axis all bricks but the last have one size.
  for (int kinds = 0; kinds < 8; ++kinds) {
    Index bricks = 1;
    Index cells = 1;
    for (int d = 0; d < 3; ++d) {
      const bool is_last = (kinds >> d & 1) != 0;
      bricks *= is_last ? 1 : along[d] - 1;
      cells *= is_last ? mesh.cells()[d] - (along[d] - 1) * shape[d] : shape[d];
    }
    batches += bricks * ceil_div(cells, lanes);
  }
  return batches * lanes;
}

CellBatches::CellBatches(const BoxMesh& mesh, int lanes, Index bytes_per_cell, int threads)
    : lanes_(lanes), colors_(std::size_t{1} << mesh.dimension()) {
  const IndexTriple shape = brick_cells(mesh, lanes, bytes_per_cell, threads);
  const IndexBox bricks(ceil_div(mesh.cells(), shape));
  bricks_.reserve(static_cast<std::size_t>(bricks.count()));
  for (Index b = 0; b < bricks.count(); ++b) {
    const IndexTriple position = bricks.position(b);
    Brick brick{{}, {}, batch_count_, 0, 0};
    for (int d = 0; d < 3; ++d) {
      brick.first[d] = position[d] * shape[d];
      brick.count[d] = std::min(shape[d], mesh.cells()[d] - brick.first[d]);
      brick.color += static_cast<int>(position[d] % 2) << d;
    }
    brick.batch_count = ceil_div(total(brick.count), lanes);
    batch_count_ += brick.batch_count;
    colors_[brick.color].push_back(b);
    bricks_.push_back(brick);
  }
}

}  // namespace tessera
