// This file decides whether Robin terms vanish and whether a form has a null space.
#include "operators/form/bilinear_form.hpp"

#include <algorithm>

#include "mesh/element/face_quadrature.hpp"

namespace tessera {

bool vanishes(const RobinTerm& term, const Discretization& discretization) {
  if (term.alpha.constant) return *term.alpha.constant == 0.0;
  const FaceQuadrature quadrature = make_face_quadrature(discretization, term.face);
  std::vector<double> alpha(quadrature.measure.size());
  term.alpha.evaluate(quadrature.positions(), alpha.data());
  // NaN is not 0: whoever uses the term refuses it.
  return std::all_of(alpha.begin(), alpha.end(), [](double value) { return value == 0.0; });
}

bool is_pure_neumann(const BilinearForm& form) {
  return form.dirichlet.none() &&
         std::all_of(form.robin.begin(), form.robin.end(),
                     [&](const RobinTerm& term) { return vanishes(term, *form.discretization); });
}

}  // namespace tessera
