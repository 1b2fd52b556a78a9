// These are the spaces between which transfers are tested.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "mesh/coarsening.hpp"
#include "operators/multigrid/lattice_transfer.hpp"
#include "tests/operators/problems.hpp"

namespace tessera::testing {

/// Two spaces, the coarser with fewer degrees, fewer cells, or fewer cells along some axes.
struct Pair {
  Discretization fine;
  Discretization coarse;
};

inline std::vector<Pair> pairs(int dimension) {
  std::vector<Pair> all;
  const Index layers = dimension == 3 ? 5 : 1;
  for (const Geometry geometry : {Geometry::cartesian, Geometry::graded}) {
    for (const int degree : {1, 2, 4}) {
      ProblemOptions options;
      options.dimension = dimension;
      options.degree = degree;
      options.cells = {6, 3, layers};
      options.geometry = geometry;
      const Problem problem = make_problem(options);
      for (const LevelShape& shape :
           {LevelShape{std::max(1, degree / 2), {6, 2, layers}},
            LevelShape{degree, {3, 2, ceil_div(layers, 2)}}, LevelShape{degree, {3, 3, layers}}}) {
        all.push_back({*problem.discretization, coarsen(*problem.discretization, shape)});
      }
    }
  }
  return all;
}

/// Spaces of three dimensions whose cells are all alike: of cells that are halved and of degrees
/// that are, in several blocks of the GPU along each axis, and in blocks that are full.
inline std::vector<Pair> pairs_of_equal_cells() {
  std::vector<Pair> all;
  const auto add = [&](int degree, const IndexTriple& cells, const LevelShape& shape) {
    ProblemOptions options;
    options.dimension = 3;
    options.degree = degree;
    options.cells = cells;
    const Problem problem = make_problem(options);
    all.push_back({*problem.discretization, coarsen(*problem.discretization, shape)});
  };
  const IndexTriple shapes[2][kMaxRepeatedDegree] = {
      {{70, 11, 6}, {34, 9, 5}, {22, 7, 4}, {18, 5, 5}},
      {{63, 8, 3}, {31, 4, 3}, {40, 3, 3}, {15, 4, 3}},
  };
  for (const auto& cells_of_degree : shapes) {
    for (int p = 1; p <= kMaxRepeatedDegree; ++p) {
      const auto [x, y, z] = cells_of_degree[p - 1];
      add(p, {2 * x, 2 * y, 2 * z}, {p, {x, y, z}});
      add(2 * p, {x, y, z}, {p, {x, y, z}});
    }
  }
  return all;
}

/// The factors of P, one an axis, all of which have a sweep.
inline std::array<AxisMatrix, 3> factors(const Pair& pair, FaceSet dirichlet) {
  std::array<AxisMatrix, 3> axes;
  for (const AxisSweep& sweep : make_prolongation(pair.coarse, pair.fine, dirichlet).sweeps) {
    axes[sweep.d] = sweep.matrix;
  }
  return axes;
}

}  // namespace tessera::testing
