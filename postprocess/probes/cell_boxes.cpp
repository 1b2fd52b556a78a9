// This file makes the tree of boxes from the nodes of cells, and goes down its branches.
#include "postprocess/probes/cell_boxes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mesh/partition.hpp"

namespace tessera {
namespace {

// Of a cell's extent, on each side.
constexpr double kMargin = 0.25;

IndexTriple halved(const IndexTriple& blocks) { return ceil_div(blocks, IndexTriple{2, 2, 2}); }

float rounded_down(double value) {
  return std::nextafter(static_cast<float>(value), -std::numeric_limits<float>::infinity());
}
float rounded_up(double value) {
  return std::nextafter(static_cast<float>(value), std::numeric_limits<float>::infinity());
}

// Calls f(place) for the places of the finer level that a block is made of.
template <class F>
void for_each_part(const IndexTriple& block, const IndexTriple& finer, F f) {
  for (Index k = 2 * block[2]; k < std::min(2 * block[2] + 2, finer[2]); ++k) {
    for (Index j = 2 * block[1]; j < std::min(2 * block[1] + 2, finer[1]); ++j) {
      for (Index i = 2 * block[0]; i < std::min(2 * block[0] + 2, finer[0]); ++i) {
        f(IndexTriple{i, j, k});
      }
    }
  }
}

}  // namespace

bool CellBoxes::Box::holds(const Point& x) const {
  for (int d = 0; d < 3; ++d) {
    if (!(x[d] >= static_cast<double>(lower[d]) && x[d] <= static_cast<double>(upper[d]))) {
      return false;
    }
  }
  return true;
}

double CellBoxes::Box::eccentricity(const Point& x) const {
  double largest = 0.0;
  for (int d = 0; d < 3; ++d) {
    const double low = static_cast<double>(lower[d]);
    const double extent = static_cast<double>(upper[d]) - low;
    largest = std::max(largest, std::abs(2.0 * (x[d] - low) - extent) / extent);
  }
  return largest;
}

CellBoxes::Box CellBoxes::box_of(const Discretization& discretization, Index cell) {
  const NodeLattice& lattice = discretization.lattice;
  const Index first = lattice.first_node(discretization.mesh.cell_position(cell));
  const int n = lattice.degree() + 1;
  const int planes = lattice.dimension() == 3 ? n : 1;
  Box box{};
  // In 2D the third axis has a little extent as well, so that no quotient is 0 / 0.
  box.lower[2] = -1.0f;
  box.upper[2] = 1.0f;
  for (int d = 0; d < lattice.dimension(); ++d) {
    const double* const x = discretization.mapping.coordinate(d).data() + first;
    double low = x[0];
    double high = x[0];
    for (int k = 0; k < planes; ++k) {
      for (int j = 0; j < n; ++j) {
        const double* const row = x + lattice.offset(0, j, k);
        for (int i = 0; i < n; ++i) {
          low = std::min(low, row[i]);
          high = std::max(high, row[i]);
        }
      }
    }
    const double margin = kMargin * (high - low);
    box.lower[d] = rounded_down(low - margin);
    box.upper[d] = rounded_up(high + margin);
  }
  return box;
}

CellBoxes::CellBoxes(const Discretization& discretization) {
  IndexTriple blocks = discretization.mesh.cells();
  levels_.push_back({IndexBox(blocks), {}});
  levels_.back().boxes.resize(static_cast<std::size_t>(levels_.back().blocks.count()));
  parallel_ranges(levels_[0].blocks.count(), [&](Range range) {
    for (Index cell = range.begin; cell < range.end; ++cell) {
      levels_[0].boxes[cell] = box_of(discretization, cell);
    }
  });
  while (levels_.back().blocks.count() > 1) {
    blocks = halved(blocks);
    levels_.push_back({IndexBox(blocks), {}});
    Level& level = levels_.back();
    const Level& finer = levels_[levels_.size() - 2];
    level.boxes.resize(static_cast<std::size_t>(level.blocks.count()));
    parallel_ranges(level.blocks.count(), [&](Range range) {
      for (Index block = range.begin; block < range.end; ++block) {
        const IndexTriple place = level.blocks.position(block);
        Box& whole = level.boxes[block];
        whole = finer.boxes[finer.blocks.index({2 * place[0], 2 * place[1], 2 * place[2]})];
        for_each_part(place, finer.blocks.extents, [&](const IndexTriple& part) {
          const Box& box = finer.boxes[finer.blocks.index(part)];
          for (int d = 0; d < 3; ++d) {
            whole.lower[d] = std::min(whole.lower[d], box.lower[d]);
            whole.upper[d] = std::max(whole.upper[d], box.upper[d]);
          }
        });
      }
    });
  }
}

void CellBoxes::find(const Point& x, std::vector<Index>& cells) const {
  cells.clear();
  if (!levels_.back().boxes[0].holds(x)) return;
  // Level by level: few blocks of each hold the point.
  cells.push_back(0);
  for (std::size_t coarse = levels_.size() - 1; coarse > 0; --coarse) {
    const Level& finer = levels_[coarse - 1];
    const std::size_t count = cells.size();
    for (std::size_t b = 0; b < count; ++b) {
      for_each_part(levels_[coarse].blocks.position(cells[b]), finer.blocks.extents,
                    [&](const IndexTriple& part) {
                      const Index block = finer.blocks.index(part);
                      if (finer.boxes[block].holds(x)) cells.push_back(block);
                    });
    }
    cells.erase(cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(count));
  }
  const std::vector<Box>& boxes = levels_[0].boxes;
  std::sort(cells.begin(), cells.end(),
            [&](Index a, Index b) { return boxes[a].eccentricity(x) < boxes[b].eccentricity(x); });
}

Index CellBoxes::bytes(const IndexTriple& cells) {
  Index boxes = IndexBox(cells).count();
  for (IndexTriple blocks = cells; IndexBox(blocks).count() > 1;) {
    blocks = halved(blocks);
    boxes += IndexBox(blocks).count();
  }
  return boxes * static_cast<Index>(sizeof(Box));
}

}  // namespace tessera
