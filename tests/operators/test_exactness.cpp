// These tests solve problems whose solution lies in the space.
#include <gtest/gtest.h>

#include <cmath>

#include "operators/load/load_vector.hpp"
#include "operators/strategy.hpp"
#include "tests/operators/problems.hpp"
#include "tests/operators/suitable.hpp"
#include "tests/operators/test_names.hpp"
#include "tests/solvers/solve_once.hpp"

namespace tessera::testing {
namespace {

constexpr double kAlpha = 0.7;

/// A problem whose solution lies in the space and whose integrals the quadrature takes exactly.
struct Manufactured {
  std::unique_ptr<const Discretization> discretization;
  BilinearForm form;
  PointFunction solution;
  PointFunction source;
  std::array<PointFunction, 6> flux;  // k du/dn on each face
};

// Dirichlet left and top, Robin right and back, Neumann bottom and front.
void set_boundary(Manufactured& problem) {
  problem.form.discretization = problem.discretization.get();
  problem.form.dirichlet.set(static_cast<int>(Face::left));
  problem.form.dirichlet.set(static_cast<int>(Face::top));
  problem.form.robin.push_back({static_cast<int>(Face::right), constant_field(kAlpha)});
  if (problem.discretization->mesh.dimension() == 3) {
    problem.form.robin.push_back({static_cast<int>(Face::back), constant_field(kAlpha)});
  }
}

/// t -> (0.4 t)^p - t + 0.5 and its derivatives.
double polynomial(int p, double t, int derivative) {
  if (derivative == 0) return std::pow(0.4 * t, p) - t + 0.5;
  if (derivative == 1) return 0.4 * p * std::pow(0.4 * t, p - 1) - 1.0;
  return p < 2 ? 0.0 : 0.16 * p * (p - 1) * std::pow(0.4 * t, p - 2);
}

/// On a Cartesian mesh: u = P(x) P(y) P(z) and a coefficient linear in position, so that the
/// integrands have degree 2 p + 1 an axis, the most that p + 1 Gauss points take exactly.
Manufactured tensor_product_problem(int dimension, int p, int points, QuadratureRule rule) {
  const BoxMesh mesh(dimension, {3, 2, 2}, {-0.5, 0.25, 1.0}, {1.0, 1.35, 1.8});
  Manufactured problem;
  problem.discretization = std::make_unique<const Discretization>(
      make_discretization(mesh, make_basis(p, NodeFamily::gauss_lobatto, rule, points)));
  set_boundary(problem);
  // Derivative of order n[d] along each axis d.
  const auto u = [=](const Point& at, const std::array<int, 3>& n) {
    double product = 1.0;
    for (int d = 0; d < dimension; ++d) product *= polynomial(p, at[d], n[d]);
    return product;
  };
  const Point slope = {0.3, -0.2, dimension == 3 ? 0.1 : 0.0};
  const auto k = [=](const Point& at) {
    return 2.0 + slope[0] * at[0] + slope[1] * at[1] + slope[2] * at[2];
  };
  const auto along = [](int d, int order) {
    std::array<int, 3> n{0, 0, 0};
    n[d] = order;
    return n;
  };
  problem.form.coefficient = field_of([=](double x, double y, double z) { return k({x, y, z}); });
  problem.solution = [=](double x, double y, double z) { return u({x, y, z}, {0, 0, 0}); };
  problem.source = [=](double x, double y, double z) {
    double divergence = 0.0;
    for (int d = 0; d < dimension; ++d) {
      divergence += slope[d] * u({x, y, z}, along(d, 1)) + k({x, y, z}) * u({x, y, z}, along(d, 2));
    }
    return -divergence;
  };
  for (int face = 0; face < face_count(dimension); ++face) {
    const double sign = face % 2 == 1 ? 1.0 : -1.0;
    problem.flux[face] = [=](double x, double y, double z) {
      return sign * k({x, y, z}) * u({x, y, z}, along(face / 2, 1));
    };
  }
  return problem;
}

/// On a sheared mesh: u = (a . x + 0.2)^p, of total degree p in any coordinates; k constant.
Manufactured sheared_problem(int dimension, int p, NodeFamily nodes) {
  const BoxMesh mesh(dimension, {3, 2, 2}, {-0.5, 0.25, 1.0}, {1.0, 1.35, 1.8});
  const double out = dimension == 3 ? 1.0 : 0.0;
  // Columns are the images of the axes.
  const double m[3][3] = {
      {1.1, 0.4, 0.2 * out}, {-0.3, 0.9, 0.1 * out}, {0.2 * out, -0.25 * out, 1.0}};
  std::array<ScalarField, 3> map;
  for (int d = 0; d < 3; ++d) {
    const Point row = {m[d][0], m[d][1], m[d][2]};
    map[d] = field_of(
        [row](double x, double y, double z) { return row[0] * x + row[1] * y + row[2] * z; });
  }
  Manufactured problem;
  problem.discretization = std::make_unique<const Discretization>(
      make_mapped_discretization(mesh, make_basis(p, nodes, QuadratureRule::gauss, p + 1), map));
  set_boundary(problem);
  const Point a = {0.5, -0.3, 0.4 * out};
  const double k = 1.3;
  const auto base = [=](double x, double y, double z) {
    return a[0] * x + a[1] * y + a[2] * z + 0.2;
  };
  problem.form.coefficient = constant_field(k);
  problem.solution = [=](double x, double y, double z) { return std::pow(base(x, y, z), p); };
  problem.source = [=](double x, double y, double z) {
    const double square = a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
    return p < 2 ? 0.0 : -k * square * p * (p - 1) * std::pow(base(x, y, z), p - 2);
  };
  for (int face = 0; face < face_count(dimension); ++face) {
    const int d = face / 2;
    const int e = (d + 1) % 3;
    const int f = (d + 2) % 3;
    // The normal is the cross product of the images of the other axes; det m > 0.
    Point normal = {m[1][e] * m[2][f] - m[2][e] * m[1][f], m[2][e] * m[0][f] - m[0][e] * m[2][f],
                    m[0][e] * m[1][f] - m[1][e] * m[0][f]};
    const double length = std::hypot(normal[0], normal[1], normal[2]);
    const double sign = (face % 2 == 1 ? 1.0 : -1.0) / length;
    const double slope = sign * (a[0] * normal[0] + a[1] * normal[1] + a[2] * normal[2]);
    problem.flux[face] = [=](double x, double y, double z) {
      return k * slope * p * std::pow(base(x, y, z), p - 1);
    };
  }
  return problem;
}

HostVector<double> nodal_values(const Discretization& discretization, const PointFunction& f) {
  HostVector<double> u(discretization.lattice.size());
  for (Index i = 0; i < u.size(); ++i) {
    Point at;
    discretization.mapping.node_positions(i, 1, at.data(), &at[1], &at[2]);
    u[i] = f(at[0], at[1], at[2]);
  }
  return u;
}

HostVector<double> right_hand_side(const Manufactured& problem) {
  const int dimension = problem.discretization->mesh.dimension();
  std::vector<FluxTerm> fluxes;
  for (int face = 0; face < face_count(dimension); ++face) {
    if (problem.form.dirichlet[face]) continue;
    bool robin = false;
    for (const RobinTerm& term : problem.form.robin) robin = robin || term.face == face;
    const PointFunction flux = problem.flux[face];
    const PointFunction u = problem.solution;
    fluxes.push_back({face, field_of([=](double x, double y, double z) {
                        return flux(x, y, z) + (robin ? kAlpha * u(x, y, z) : 0.0);
                      })});
  }
  const DirichletValues g(problem.form, std::vector<ScalarField>(6, field_of(problem.solution)));
  HostVector<double> b = poisoned<double>(problem.discretization->lattice.size());
  assemble_load(problem.form, field_of(problem.source), fluxes, g, b);
  g.set(b);
  return b;
}

void expect_nodal_solution(const Manufactured& problem) {
  const HostVector<double> exact = nodal_values(*problem.discretization, problem.solution);
  const HostVector<double> b = right_hand_side(problem);
  const std::vector<double> expected(b.span().begin(), b.span().end());
  for (const StrategyName& variant : host_variants(problem.form)) {
    HostVector<double> y = poisoned<double>(exact.size());
    make_operator<double>(variant, problem.form)->apply(exact, y);
    EXPECT_LT(relative_difference(y, expected), 1e-11) << variant.text();
  }
}

class Exactness : public ::testing::TestWithParam<DimensionAndDegree> {};

TEST_P(Exactness, SolutionsInTheSpaceSolveTheDiscreteProblem) {
  const auto [dimension, p] = GetParam();
  {
    SCOPED_TRACE("Gauss, p + 1 points");
    expect_nodal_solution(tensor_product_problem(dimension, p, p + 1, QuadratureRule::gauss));
  }
  {
    SCOPED_TRACE("Gauss-Lobatto, p + 3 points");
    expect_nodal_solution(
        tensor_product_problem(dimension, p, p + 3, QuadratureRule::gauss_lobatto));
  }
  {
    SCOPED_TRACE("sheared");
    expect_nodal_solution(sheared_problem(dimension, p, NodeFamily::gauss_lobatto));
  }
  {
    SCOPED_TRACE("sheared, equidistant nodes");
    expect_nodal_solution(sheared_problem(dimension, p, NodeFamily::equidistant));
  }
}

TEST_P(Exactness, CgFindsSolutionsInTheSpace) {
  const auto [dimension, p] = GetParam();
  const Manufactured problem = tensor_product_problem(dimension, p, p + 1, QuadratureRule::gauss);
  const auto a = make_operator<double>({"tensor", "coloring"}, problem.form);
  const HostVector<double> exact = nodal_values(*problem.discretization, problem.solution);
  const HostVector<double> b = right_hand_side(problem);
  HostVector<double> u(exact.size());
  SolveOptions options;
  options.reference_norm = norm(b);
  options.relative_tolerance = 1e-13;
  options.max_iterations = 2000;
  const Jacobi<double> preconditioner(*a);
  const SolveReport report = cg<double, Host>(*a, &preconditioner, b, u, options);
  EXPECT_EQ(report.status, SolveStatus::converged);
  const std::vector<double> expected(exact.span().begin(), exact.span().end());
  EXPECT_LT(relative_difference(u, expected), 1e-10);
}

INSTANTIATE_TEST_SUITE_P(Degrees, Exactness,
                         ::testing::Combine(::testing::Values(2, 3),
                                            ::testing::Values(1, 2, 3, 4, 6)),
                         name_of);

}  // namespace
}  // namespace tessera::testing
