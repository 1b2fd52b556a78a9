// These are the spaces between which transfers are tested.
#pragma once

#include <algorithm>
#include <vector>

#include "mesh/coarsening.hpp"
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

}  // namespace tessera::testing
