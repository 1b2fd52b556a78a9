// These are the forms that fast diagonalization is tested on.
#pragma once

#include <gtest/gtest.h>

#include "operators/fast_diagonalization/axis_modes.hpp"
#include "tests/operators/problems.hpp"

namespace tessera::testing {

/// Which axes of a form's nearest separable operator have even and odd modes.
inline std::array<AxisSymmetry, 3> symmetry_of(const BilinearForm& form) {
  const std::array<AxisModes, 3> modes = make_axis_modes(make_nearest_separable(form));
  std::array<AxisSymmetry, 3> symmetry;
  for (int d = 0; d < 3; ++d) {
    symmetry[d] = modes[d].is_folded() ? AxisSymmetry::mirrored : AxisSymmetry::none;
  }
  return symmetry;
}

/// Calls check(problem) for forms that are sums of Kronecker products: cell counts, gradings,
/// coefficients, and Dirichlet, Neumann, Robin and mixed faces.
template <class F>
void for_each_exact_case(int dimension, int degree, F&& check) {
  ProblemOptions options;
  options.dimension = dimension;
  options.degree = degree;
  options.boundary = Boundary::none;
  for (const IndexTriple& cells : {IndexTriple{4, 3, 2}, IndexTriple{1, 2, 3}}) {
    options.cells = cells;
    for (const Geometry geometry : {Geometry::cartesian, Geometry::graded}) {
      options.geometry = geometry;
      for (const Coefficient coefficient : {Coefficient::constant, Coefficient::separable}) {
        options.coefficient = coefficient;
        SCOPED_TRACE(describe(options));
        const auto with = [&](const char* what, FaceSet dirichlet, FaceSet robin) {
          SCOPED_TRACE(what);
          Problem problem = make_problem(options);
          problem.form.dirichlet = dirichlet;
          for (int face = 0; face < face_count(dimension); ++face) {
            // Along a Robin face only constant coefficients are folded into the factors.
            if (robin[face] && coefficient == Coefficient::constant) {
              problem.form.robin.push_back({face, constant_field(0.5 + face)});
            }
          }
          check(problem);
        };
        const FaceSet all(dimension == 2 ? 0b1111 : 0b111111);
        with("Neumann", {}, {});
        with("Dirichlet", all, {});
        with("Robin", {}, all);
        with("one Robin face", {}, FaceSet(0b10));
        with("one Dirichlet face", FaceSet(0b100), {});
        with("mixed", FaceSet(0b0101), FaceSet(0b1010));
      }
    }
  }
}

/// The same for forms that are none: curved boxes, coefficients and alphas that vary.
template <class F>
void for_each_approximate_case(int dimension, int degree, F&& check) {
  ProblemOptions options;
  options.dimension = dimension;
  options.degree = degree;
  options.cells = {4, 3, 2};
  for (const Boundary boundary : {Boundary::mixed, Boundary::dirichlet, Boundary::none}) {
    options.boundary = boundary;
    options.geometry = Geometry::curved;
    for (const Coefficient coefficient : {Coefficient::constant, Coefficient::variable}) {
      options.coefficient = coefficient;
      SCOPED_TRACE(describe(options));
      check(make_problem(options));
    }
    options.geometry = Geometry::graded;
    SCOPED_TRACE(describe(options));
    check(make_problem(options));
  }
  // Separable but for alpha.
  options.boundary = Boundary::mixed;
  options.coefficient = Coefficient::separable;
  SCOPED_TRACE(describe(options));
  check(make_problem(options));
}

}  // namespace tessera::testing
