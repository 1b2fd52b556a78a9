// These tests compare loads with the reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "mesh/errors.hpp"
#include "operators/form/constrained_rows.hpp"
#include "operators/load/load_vector.hpp"
#include "tests/operators/problems.hpp"
#include "tests/operators/reference.hpp"
#include "tests/operators/test_names.hpp"

namespace tessera::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

ScalarField source() {
  return field_of(
      [](double x, double y, double z) { return 1.0 + std::sin(4.0 * x) * y - std::exp(z - x); });
}

// A Neumann value on bottom (and front), the right-hand side of the Robin condition on right.
std::vector<FluxTerm> fluxes(int dimension) {
  std::vector<FluxTerm> terms;
  terms.push_back({static_cast<int>(Face::bottom),
                   field_of([](double x, double, double z) { return std::cos(3.0 * x) + z; })});
  terms.push_back({static_cast<int>(Face::right),
                   field_of([](double, double y, double z) { return y * y - z; })});
  if (dimension == 3) terms.push_back({static_cast<int>(Face::front), constant_field(-1.5)});
  return terms;
}

std::vector<ScalarField> dirichlet_fields() {
  std::vector<ScalarField> fields(6, constant_field(0.0));
  fields[static_cast<int>(Face::left)] =
      field_of([](double x, double y, double z) { return 1.0 + x + std::sin(y + z); });
  fields[static_cast<int>(Face::top)] =
      field_of([](double x, double y, double z) { return std::exp(x) * y - z; });
  return fields;
}

HostVector<double> library_load(const Problem& problem, const ScalarField& f,
                                const std::vector<FluxTerm>& terms) {
  const DirichletValues g(problem.form, dirichlet_fields());
  HostVector<double> b = poisoned<double>(problem.size());
  assemble_load(problem.form, f, terms, g, b);
  g.set(b);
  return b;
}

void expect_equal_to_reference(const ProblemOptions& options) {
  SCOPED_TRACE(describe(options));
  const Problem problem = make_problem(options);
  const Reference reference(problem.form);
  HostVector<double> u = vector_of<double>(random_values(problem.size(), 23));
  const DirichletValues g(problem.form, dirichlet_fields());
  g.set(u);
  const std::vector<double> values(u.span().begin(), u.span().end());
  const std::vector<FluxTerm> terms = fluxes(options.dimension);
  // Equidistant nodes of high degree amplify rounding by their Lebesgue constant to the d-th power.
  const bool amplifies = options.nodes == NodeFamily::equidistant && options.degree > 8;
  const double limit = amplifies ? 1e-10 : 1e-12;
  const auto check = [&](const char* what, const ScalarField& f,
                         const std::vector<FluxTerm>& chosen) {
    HostVector<double> b = poisoned<double>(problem.size());
    assemble_load(problem.form, f, chosen, g, b);
    for_each_face_node(problem.discretization->lattice, problem.form.dirichlet,
                       [&](Index node) { ASSERT_EQ(b[node], 0.0); });
    g.set(b);
    EXPECT_LT(relative_difference(b, reference.load(f, chosen, values)), limit) << what;
  };
  check("all terms", source(), terms);
  check("source and lifting", source(), {});
  check("lifting alone", constant_field(0.0), {});
  check("constant source", constant_field(2.5), terms);
}

class LoadVector : public ::testing::TestWithParam<DimensionAndDegree> {};

TEST_P(LoadVector, EqualsTheReference) {
  ProblemOptions options;
  options.dimension = std::get<0>(GetParam());
  options.degree = std::get<1>(GetParam());
  const ThreadsInUse threads(1 + options.degree % 3);
  options.cells = options.degree <= 3 ? IndexTriple{9, 3, 2} : IndexTriple{2, 2, 1};
  expect_equal_to_reference(options);
  options.coefficient = Coefficient::constant;
  options.points = options.degree + 3;
  expect_equal_to_reference(options);
  options.geometry = Geometry::cartesian;
  options.rule = QuadratureRule::gauss_lobatto;
  options.points = options.degree + 1;
  expect_equal_to_reference(options);
  options.coefficient = Coefficient::variable;
  options.nodes = NodeFamily::equidistant;
  expect_equal_to_reference(options);
  options.boundary = Boundary::dirichlet;
  expect_equal_to_reference(options);
  options.boundary = Boundary::none;
  expect_equal_to_reference(options);
}

TEST_P(LoadVector, LiftsDirichletValuesThroughTheReaction) {
  ProblemOptions options;
  options.dimension = std::get<0>(GetParam());
  options.degree = std::get<1>(GetParam());
  options.cells = {3, 2, 2};
  for (const Reaction reaction : {Reaction::constant, Reaction::variable}) {
    options.reaction = reaction;
    for (const Geometry geometry : {Geometry::cartesian, Geometry::curved}) {
      options.geometry = geometry;
      expect_equal_to_reference(options);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Degrees, LoadVector,
                         ::testing::Combine(::testing::Values(2, 3),
                                            ::testing::Values(1, 2, 3, 5, 7, 9)),
                         name_of);

TEST(LoadVectorSum, IsTheIntegralOfTheSource) {
  ProblemOptions options;
  options.degree = 4;
  options.boundary = Boundary::none;
  const Problem problem = make_problem(options);
  const HostVector<double> b = library_load(problem, constant_field(3.0), {});
  double sum = 0.0;
  for (Index i = 0; i < b.size(); ++i) sum += b[i];
  EXPECT_NEAR(sum, 3.0 * Reference(problem.form).volume(), 1e-12);
}

TEST(LoadVectorBits, DoNotDependOnTheNumberOfThreads) {
  ProblemOptions options;
  options.degree = 2;
  options.cells = {35, 7, 6};
  const Problem problem = make_problem(options);
  const auto load = [&](int threads) {
    const ThreadsInUse count(threads);
    return library_load(problem, source(), fluxes(3));
  };
  const HostVector<double> one = load(1);
  for (const int threads : {1, 2, 3, 7}) EXPECT_TRUE(same_bits(one, load(threads))) << threads;
}

TEST(LoadVectorErrors, NonFiniteValuesAreRefusedWithTheirPosition) {
  ProblemOptions options;
  options.geometry = Geometry::cartesian;
  const Problem problem = make_problem(options);
  const auto bad_beyond = [](double limit) {
    return field_of([limit](double x, double, double) { return x > limit ? kNan : 1.0; });
  };
  for (const int threads : {1, 3}) {
    const ThreadsInUse count(threads);
    try {
      library_load(problem, bad_beyond(0.6), {});
      FAIL() << "a source that is not finite was accepted";
    } catch (const BadFieldValue& error) {
      EXPECT_GT(error.where()[0], 0.6);
      EXPECT_TRUE(std::isnan(error.value()));
    }
    EXPECT_THROW(
        library_load(problem, source(), {{static_cast<int>(Face::bottom), bad_beyond(0.6)}}),
        BadFieldValue);
    std::vector<ScalarField> fields = dirichlet_fields();
    fields[static_cast<int>(Face::top)] = bad_beyond(0.6);
    EXPECT_THROW(DirichletValues(problem.form, fields), BadFieldValue);
  }
}

TEST(LoadVectorErrors, AnExceptionOfAFieldReachesTheCaller) {
  const Problem problem = make_problem({});
  const ScalarField throwing = {
      [](const PointBlock&, double*) { throw std::domain_error("a field's own error"); },
      std::nullopt};
  for (const int threads : {1, 3}) {
    const ThreadsInUse count(threads);
    EXPECT_THROW(library_load(problem, throwing, {}), std::domain_error);
  }
}

// What each node gets by the rule: the first of left, right, bottom, top, back, front has it.
int claiming_face(const NodeLattice& lattice, Index node, FaceSet faces) {
  const IndexTriple counts = lattice.extents();
  const IndexTriple position = {node % counts[0], node / counts[0] % counts[1],
                                node / (counts[0] * counts[1])};
  for (int face = 0; face < face_count(lattice.dimension()); ++face) {
    const int d = face / 2;
    if (faces[face] && position[d] == (face % 2 == 0 ? 0 : counts[d] - 1)) return face;
  }
  return -1;
}

TEST(DirichletValues, SharedNodesBelongToTheFirstFace) {
  std::vector<ScalarField> fields;
  fields.reserve(6);
  for (int face = 0; face < 6; ++face) fields.push_back(constant_field(10.0 + face));
  for (const int dimension : {2, 3}) {
    ProblemOptions options;
    options.dimension = dimension;
    const Problem problem = make_problem(options);
    for (unsigned set = 0; set < 1u << (2 * dimension); ++set) {
      const FaceSet faces(set);
      HostVector<double> u = poisoned<double>(problem.size());
      DirichletValues(*problem.discretization, faces, fields).set(u);
      for (Index i = 0; i < u.size(); ++i) {
        const int face = claiming_face(problem.discretization->lattice, i, faces);
        if (face < 0) {
          ASSERT_TRUE(std::isnan(u[i])) << "free node " << i << " was written, faces " << faces;
        } else {
          ASSERT_EQ(u[i], 10.0 + face) << "node " << i << ", faces " << faces;
        }
      }
    }
  }
}

TEST(DirichletValues, KnowTheLargestOfThem) {
  const Problem problem = make_problem({});
  EXPECT_TRUE(DirichletValues().are_zero());
  EXPECT_TRUE(
      DirichletValues(problem.form, std::vector<ScalarField>(6, constant_field(0.0))).are_zero());
  std::vector<ScalarField> fields(6, constant_field(0.5));
  fields[static_cast<int>(Face::top)] = constant_field(-3.0);
  // No value is given there.
  fields[static_cast<int>(Face::bottom)] = constant_field(7.0);
  DirichletValues values(problem.form, fields);
  EXPECT_FALSE(values.are_zero());
  EXPECT_EQ(values.largest(), 3.0);
  values.multiply(-0.25);
  EXPECT_EQ(values.largest(), 0.75);
  HostVector<double> u(problem.size());
  values.set(u);
  double smallest = 0.0;
  double largest = 0.0;
  for (Index i = 0; i < u.size(); ++i) {
    smallest = std::min(smallest, u[i]);
    largest = std::max(largest, u[i]);
  }
  EXPECT_EQ(smallest, -0.125);
  EXPECT_EQ(largest, 0.75);
}

TEST(DirichletValues, AreTakenAtTheMappedPositions) {
  for (const int threads : {1, 3}) {
    const ThreadsInUse count(threads);
    ProblemOptions options;
    options.dimension = 2;
    options.cells = {700, 2, 1};  // more nodes on a face than one block of them
    const Problem problem = make_problem(options);
    const auto g = [](double x, double y, double z) { return x + 10.0 * y + 100.0 * z; };
    HostVector<double> u = poisoned<double>(problem.size());
    FaceSet faces;
    faces.set(static_cast<int>(Face::bottom));
    DirichletValues(*problem.discretization, faces, std::vector<ScalarField>(6, field_of(g)))
        .set(u);
    for (Index i = 0; i < problem.discretization->lattice.extents()[0]; ++i) {
      Point at;
      problem.discretization->mapping.node_positions(i, 1, at.data(), &at[1], &at[2]);
      ASSERT_EQ(u[i], g(at[0], at[1], at[2])) << "node " << i;
    }
    EXPECT_TRUE(std::isnan(u[problem.discretization->lattice.extents()[0]]));
  }
}

}  // namespace
}  // namespace tessera::testing
