// These tests compare the stencil with the reference.
#include <gtest/gtest.h>

#include <stdexcept>
#include <tuple>

#include "operators/stencil/stencil.hpp"
#include "tests/operators/problems.hpp"
#include "tests/operators/reference.hpp"
#include "tests/operators/suitable.hpp"
#include "tests/solvers/solve_once.hpp"

namespace tessera::testing {
namespace {

template <class T>
void expect_equal_to_reference(const Problem& problem) {
  const Reference reference(problem.form);
  const std::vector<double> input = random_input<T>(problem.size(), 29);
  const HostVector<T> x = vector_of<T>(input);
  const auto a = make_stencil_operator<T>(problem.form);
  ASSERT_EQ(a->size(), problem.size());
  HostVector<T> y = poisoned<T>(problem.size());
  a->apply(x, y);
  EXPECT_LT(relative_difference(y, reference.apply(input)), tolerance<T>());
  HostVector<T> d = poisoned<T>(problem.size());
  a->diagonal(d);
  EXPECT_LT(relative_difference(d, reference.diagonal()), tolerance<T>()) << "diagonal";
  EXPECT_EQ(a->bytes(), stencil_bytes(form_shape(problem.form, Processor::cpu, sizeof(T))));
}

class Stencil : public ::testing::TestWithParam<std::tuple<int, IndexTriple>> {
 protected:
  static ProblemOptions options() {
    const auto [dimension, cells] = GetParam();
    return stencil_options(dimension, cells);
  }
};

TEST_P(Stencil, EqualsTheReference) {
  for (const ProblemOptions& options : with_every_form(Stencil::options())) {
    SCOPED_TRACE(describe(options));
    const Problem problem = make_problem(options);
    expect_equal_to_reference<double>(problem);
    expect_equal_to_reference<float>(problem);
  }
}

TEST_P(Stencil, EqualsTheReferenceWithOneDirichletFaceAndRobinFacesElsewhere) {
  const ProblemOptions options = Stencil::options();
  for (int face = 0; face < face_count(options.dimension); ++face) {
    SCOPED_TRACE(face);
    expect_equal_to_reference<double>(make_one_dirichlet_face_problem(options, face));
  }
}

TEST_P(Stencil, IsSymmetric) {
  const Problem problem = make_problem(options());
  const auto a = make_stencil_operator<double>(problem.form);
  const HostVector<double> x = vector_of<double>(random_values(problem.size(), 1));
  const HostVector<double> y = vector_of<double>(random_values(problem.size(), 2));
  HostVector<double> ax = poisoned<double>(problem.size());
  HostVector<double> ay = poisoned<double>(problem.size());
  a->apply(x, ax);
  a->apply(y, ay);
  EXPECT_NEAR(dot(ax, y), dot(x, ay), 1e-13 * norm(ax) * norm(y));
}

TEST_P(Stencil, GivesTheSameBitsOnAnyNumberOfThreads) {
  const Problem problem = make_problem(options());
  const HostVector<double> x = vector_of<double>(random_values(problem.size(), 7));
  HostVector<double> first(problem.size());
  for (const int threads : {1, 2, 3, 7}) {
    const ThreadCount scope(threads);
    const auto a = make_stencil_operator<double>(problem.form);
    HostVector<double> y = poisoned<double>(problem.size());
    a->apply(x, y);
    if (threads == 1) copy(y, first);
    EXPECT_TRUE(same_bits(y, first)) << threads;
    const ThreadCount fewer(1);
    a->apply(x, y);
    EXPECT_TRUE(same_bits(y, first)) << "made for " << threads;
  }
}

// Rows shorter than a vector, of some vectors, and with a rest.
INSTANTIATE_TEST_SUITE_P(
    Shapes, Stencil,
    ::testing::Values(std::tuple{2, IndexTriple{1, 1, 1}}, std::tuple{2, IndexTriple{1, 9, 1}},
                      std::tuple{2, IndexTriple{17, 1, 1}}, std::tuple{2, IndexTriple{37, 6, 1}},
                      std::tuple{3, IndexTriple{1, 1, 1}}, std::tuple{3, IndexTriple{1, 1, 9}},
                      std::tuple{3, IndexTriple{2, 9, 1}}, std::tuple{3, IndexTriple{19, 1, 1}},
                      std::tuple{3, IndexTriple{17, 3, 2}}, std::tuple{3, IndexTriple{35, 5, 4}}));

// Rows too long for all of a plane to be one brick, and vectors too long for the cache.
TEST(StencilLong, EqualsTheReference) {
  const ThreadCount scope(2);
  for (const IndexTriple& cells : {IndexTriple{700, 11, 3}, IndexTriple{1300, 900, 1}}) {
    const int dimension = cells[2] == 1 ? 2 : 3;
    expect_equal_to_reference<double>(make_problem(stencil_options(dimension, cells)));
  }
}

TEST(StencilMatrix, SolvesBesideTheReference) {
  const Problem problem = make_problem(stencil_options(3, {9, 7, 5}));
  const auto a = make_stencil_operator<double>(problem.form);
  const std::vector<double> solution = random_values(problem.size(), 3);
  const HostVector<double> b = vector_of<double>(Reference(problem.form).apply(solution));
  HostVector<double> x(problem.size());
  SolveOptions solve;
  solve.relative_tolerance = 1e-12;
  solve.max_iterations = 1000;
  EXPECT_EQ((cg<double, Host>(*a, nullptr, b, x, solve).status), SolveStatus::converged);
  EXPECT_LT(relative_difference(x, solution), 1e-9);
}

TEST(StencilMatrix, IsForDegreeOneOnly) {
  ProblemOptions options = stencil_options(2, {3, 2, 1});
  options.degree = 2;
  const Problem problem = make_problem(options);
  EXPECT_THROW(make_stencil_operator<double>(problem.form), std::invalid_argument);
}

// 1200^3 nodes: 14 values each, rows are whole sectors.
TEST(StencilBytes, AreThoseOfTheCoefficients) {
  const auto bytes = [](const BoxMesh& mesh, Index value_bytes) {
    FormShape shape = mapped_shape(Processor::cpu, mesh, 1);
    shape.value_bytes = value_bytes;
    return stencil_bytes(shape);
  };
  EXPECT_EQ(bytes({3, {1199, 1199, 1199}, {0, 0, 0}, {1, 1, 1}}, 8),
            Index{1200} * 1200 * 1200 * 14 * 8);
  const BoxMesh odd(2, {12, 6, 1}, {0, 0, 0}, {1, 1, 1});
  EXPECT_EQ(bytes(odd, 8), 16 * 7 * 5 * 8);
  EXPECT_EQ(bytes(odd, 4), 16 * 7 * 5 * 4);
}

}  // namespace
}  // namespace tessera::testing
