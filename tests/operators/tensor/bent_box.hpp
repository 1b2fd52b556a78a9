// These are bent meshes for compressed factors.
#pragma once

#include <cmath>

#include "tests/operators/problems.hpp"

namespace tessera::testing {

/// A box of unequal cells, bent by `bend` of its size.
inline Discretization bent_box(int degree, int points, double bend, const IndexTriple& cells,
                               const Point& upper) {
  const BoxMesh mesh(3, cells, {0.0, 0.0, 0.0}, upper);
  const Basis1D basis =
      make_basis(degree, NodeFamily::gauss_lobatto, QuadratureRule::gauss, points);
  const auto bent = [=](int d) {
    return field_of([=](double x, double y, double z) {
      const double at[3] = {x, y, z};
      const double s = x / upper[0] + 0.7 * y / upper[1] - 0.4 * z / upper[2];
      return at[d] + bend * upper[d] * std::sin(2.0 * s + d);
    });
  };
  return make_mapped_discretization(mesh, basis, {bent(0), bent(1), bent(2)});
}

/// A constant coefficient, Dirichlet faces left and top.
inline BilinearForm form_on(const Discretization& discretization) {
  BilinearForm form{&discretization, constant_field(1.5), {}, {}};
  form.dirichlet.set(0);
  form.dirichlet.set(3);
  return form;
}

}  // namespace tessera::testing
