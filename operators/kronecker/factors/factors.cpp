// This file splits a form into 1D factors, or says why it cannot be split.
#include "operators/kronecker/factors/factors.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "mesh/errors.hpp"
#include "mesh/geometry/axis_points.hpp"
#include "mesh/saturated.hpp"
#include "operators/kronecker/any_degree.hpp"
#include "operators/kronecker/device_kronecker.hpp"
#include "solvers/errors.hpp"

namespace tessera {
namespace {

// The coefficient's factor along an axis; all of a constant one goes to the first axis.
ScalarField axis_coefficient(const ScalarField& coefficient, int d) {
  if (coefficient.constant) return constant_field(d == 0 ? *coefficient.constant : 1.0);
  return (*coefficient.factors)[d];
}

// The coefficient's factor at the quadrature points of all cells along an axis, and where these
// are.
struct AxisValues {
  std::vector<double> points;  // [cell][q]
  std::vector<double> values;  // [cell][q]
};

AxisValues values_along(const Discretization& discretization, const ScalarField& k, int d) {
  AxisPoints points = axis_points(discretization.mesh, discretization.basis.quadrature.points, d);
  const PointBlock block = points.block();
  std::vector<double> values(block.n);
  k.evaluate(block, values.data());
  return {std::move(points.at[d]), std::move(values)};
}

// A product of factors is positive at all points if it is on a line of them along each axis.
void check_positive(const BilinearForm& form, const std::array<AxisValues, 3>& axes) {
  const int dimension = form.discretization->mesh.dimension();
  for (int d = 0; d < dimension; ++d) {
    Point where = form.discretization->mesh.lower();
    double others = 1.0;
    for (int a = 0; a < dimension; ++a) {
      where[a] = axes[a].points[0];
      if (a != d) others *= axes[a].values[0];
    }
    for (std::size_t i = 0; i < axes[d].values.size(); ++i) {
      double value = others * axes[d].values[i];
      if (value > 0.0 && std::isfinite(value)) continue;
      where[d] = axes[d].points[i];
      // A field that checks its values says it better.
      form.coefficient.evaluate({1, where.data(), &where[1], &where[2]}, &value);
      throw BadFieldValue("the coefficient must be positive and finite",
                          form.discretization->frame.physical(where), value);
    }
  }
}

// Moves the scale of all factors to the first, so that none of them is huge and another tiny.
void gather_scale(int dimension, std::array<AxisValues, 3>& axes) {
  for (int d = 1; d < dimension; ++d) {
    const double scale = axes[d].values[0];
    for (double& value : axes[d].values) value /= scale;
    for (double& value : axes[0].values) value *= scale;
  }
}

// alpha divided by the coefficient's factors along the face, which its mass matrices have and which
// do not vary there.
double end_term(const RobinTerm& term, const std::array<AxisValues, 3>& axes, int dimension) {
  double alpha = *term.alpha.constant;
  for (int d = 0; d < dimension; ++d) {
    if (d != term.face / 2) alpha /= axes[d].values[0];
  }
  return alpha;
}

}  // namespace

bool is_foldable(const RobinTerm& term, const ScalarField& coefficient, int dimension) {
  if (!term.alpha.constant) return false;
  if (coefficient.constant) return true;
  if (!coefficient.factors) return false;
  for (int d = 0; d < dimension; ++d) {
    if (d != term.face / 2 && !(*coefficient.factors)[d].constant) return false;
  }
  return true;
}

std::string why_not_kronecker(MeshKind mesh, CoefficientKind coefficient, ReactionKind reaction) {
  if (mesh == MeshKind::mapped) {
    return "the kernel kronecker needs an axis-aligned mesh, and this one is mapped";
  }
  if (coefficient == CoefficientKind::general) {
    return "the kernel kronecker needs a coefficient that is constant or a product of factors that "
           "depend on one coordinate each";
  }
  if (reaction == ReactionKind::varying) {
    return "the kernel kronecker needs a reaction that is constant, and this one varies";
  }
  if (reaction == ReactionKind::constant && coefficient != CoefficientKind::constant) {
    return "the kernel kronecker takes a reaction only with a constant coefficient";
  }
  return "";
}

double kronecker_reaction(const BilinearForm& form) {
  const double reaction = *form.reaction.constant;
  if (!(reaction >= 0.0) || !std::isfinite(reaction)) {
    throw BadFieldValue("the reaction must be finite and not negative",
                        form.discretization->mesh.lower(), reaction);
  }
  if (is_mass(form.coefficient, form.reaction)) return reaction;
  return reaction > 0.0 ? reaction / *form.coefficient.constant : 0.0;
}

KroneckerFactors make_kronecker_factors(const BilinearForm& form) {
  const std::string reason = why_not_kronecker(form);
  if (!reason.empty()) throw UnsuitableChoice(Choice::kernel, reason);
  if (is_mass(form.coefficient, form.reaction)) {
    BilinearForm with_gradient = form;
    with_gradient.coefficient = constant_field(1.0);
    with_gradient.robin.clear();
    KroneckerFactors factors = make_kronecker_factors(with_gradient);
    factors.other_robin = form.robin;
    for (AxisFactors& axis : factors.axes) {
      for (std::vector<double>* values :
           {&axis.stiffness, &axis.stiffness_diagonal, &axis.cell_stiffness}) {
        std::fill(values->begin(), values->end(), 0.0);
      }
    }
    return factors;
  }
  KroneckerFactors factors;
  factors.dimension = form.discretization->mesh.dimension();
  std::array<AxisValues, 3> k;
  for (int d = 0; d < factors.dimension; ++d) {
    k[d] = values_along(*form.discretization, axis_coefficient(form.coefficient, d), d);
  }
  check_positive(form, k);
  gather_scale(factors.dimension, k);
  factors.reaction = kronecker_reaction(form);
  std::array<std::array<double, 2>, 3> end_terms{};
  for (const RobinTerm& term : form.robin) {
    if (!is_foldable(term, form.coefficient, factors.dimension)) {
      factors.other_robin.push_back(term);
      continue;
    }
    const double alpha = *term.alpha.constant;
    if (!(alpha >= 0.0) || !std::isfinite(alpha)) {
      throw BadFieldValue("alpha must be finite and not negative",
                          form.discretization->mesh.lower(), alpha);
    }
    end_terms[term.face / 2][term.face % 2] += end_term(term, k, factors.dimension);
  }
  for (int d = 0; d < factors.dimension; ++d) {
    const bool alike = form.discretization->mesh.is_uniform(d) &&
                       axis_coefficient(form.coefficient, d).constant.has_value();
    factors.axes[d] =
        make_axis_factors(*form.discretization, d, {k[d].values, k[d].values},
                          alike ? AxisCells::alike : AxisCells::different,
                          {{form.dirichlet[2 * d], form.dirichlet[2 * d + 1]}, end_terms[d]});
  }
  return factors;
}

Index device_kronecker_bytes(const BoxMesh& mesh, int degree, Index value_bytes) {
  Saturated values = mesh.dimension() == 2 ? 2 : 0;  // the diagonal of the third axis
  const NodeLattice lattice(mesh, degree);
  for (int d = 0; d < mesh.dimension(); ++d) {
    values += axis_factor_bytes(degree, mesh.cells()[d]) / static_cast<Index>(sizeof(double));
  }
  if (mesh.dimension() == 3 && degree <= kMaxFastDegree) {
    // Along z the matrices of cells instead of rows.
    const Index rows_of_cell = static_cast<Index>(degree) * (degree + 2);
    values += 2 * (mesh.cells()[2] - rows_of_cell);
  }
  if (degree > kMaxFastDegree) {
    values += Saturated(lattice.stride(2)) *
              kronecker_slab_planes(degree, mesh.dimension(), lattice.extents()[2]) * 4;
  }
  return values * value_bytes +
         kronecker_max_blocks(mesh.dimension(), degree, value_bytes, mesh.cells()[0],
                              mesh.cells()[1]) *
             2 * static_cast<Index>(sizeof(double)) +
         sizeof(unsigned);
}

}  // namespace tessera
