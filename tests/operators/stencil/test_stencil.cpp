// These tests compare the stencil with the reference.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "operators/stencil/device_stencil.hpp"
#include "operators/stencil/planes_per_block.hpp"
#include "operators/stencil/stencil.hpp"
#include "tests/everywhere.hpp"
#include "tests/operators/fused_checks.hpp"
#include "tests/operators/problems.hpp"
#include "tests/operators/reference.hpp"
#include "tests/operators/suitable.hpp"
#include "tests/solvers/solve_once.hpp"

namespace tessera::testing {
namespace {

template <class T, class Space>
std::unique_ptr<LinearOperator<T, Space>> make_stencil(const BilinearForm& form) {
  if constexpr (std::is_same_v<Space, Host>) {
    return make_stencil_operator<T>(form);
  } else {
    return make_device_stencil_operator<T>(form);
  }
}

template <class T, class Space>
void expect_equal_to_reference(const Problem& problem) {
  const Reference reference(problem.form);
  const std::vector<double> input = random_input<T>(problem.size(), 29);
  const HostVector<T> x = vector_of<T>(input);
  const auto a = make_stencil<T, Space>(problem.form);
  ASSERT_EQ(a->size(), problem.size());
  const HostVector<T> first = applied(*a, x);
  EXPECT_LT(relative_difference(first, reference.apply(input)), tolerance<T>());
  EXPECT_TRUE(same_bits(applied(*a, x), first));
  const auto remade = make_stencil<T, Space>(problem.form);
  EXPECT_TRUE(same_bits(applied(*remade, x), first)) << "made again";
  EXPECT_LT(relative_difference(diagonal_of(*a), reference.diagonal()), tolerance<T>())
      << "diagonal";
  const FormShape shape = form_shape(problem.form, kProcessorOf<Space>, sizeof(T));
  EXPECT_GE(a->bytes(), stencil_bytes(shape));
  constexpr bool kOnTheHost = std::is_same_v<Space, Host>;
  EXPECT_LE(a->bytes(), kOnTheHost ? stencil_bytes(shape) : device_stencil_bytes(shape));
}

using Shape = std::pair<int, IndexTriple>;

// On the host rows shorter than a vector, of some vectors, and with a rest; on the GPU more than
// one tile along x and y and more than one chunk of planes, whole tiles, and thin meshes.
const Shape kShapes[] = {{2, {1, 1, 1}},    {2, {1, 9, 1}},    {2, {17, 1, 1}},  {2, {37, 6, 1}},
                         {2, {300, 21, 1}}, {2, {127, 15, 1}}, {3, {1, 1, 1}},   {3, {1, 1, 9}},
                         {3, {2, 9, 1}},    {3, {19, 1, 1}},   {3, {70, 1, 1}},  {3, {17, 3, 2}},
                         {3, {35, 5, 4}},   {3, {63, 15, 7}},  {3, {35, 18, 20}}};

std::string name_of(const Shape& shape) {
  const auto& [dimension, cells] = shape;
  return std::to_string(dimension) + "d" + std::to_string(cells[0]) + "x" +
         std::to_string(cells[1]) + "x" + std::to_string(cells[2]);
}

class Stencil : public EveryProcessorTest<std::tuple<Shape, Processor>> {
 protected:
  static ProblemOptions options() {
    const auto& [dimension, cells] = std::get<Shape>(GetParam());
    return stencil_options(dimension, cells);
  }
};

TEST_P(Stencil, EqualsTheReference) {
  for (const ProblemOptions& options : with_every_form(Stencil::options())) {
    SCOPED_TRACE(describe(options));
    const Problem problem = make_problem(options);
    in_space_of_processor([&]<class Space>() {
      expect_equal_to_reference<double, Space>(problem);
      expect_equal_to_reference<float, Space>(problem);
    });
  }
}

TEST_P(Stencil, EqualsTheReferenceWithOneDirichletFaceAndRobinFacesElsewhere) {
  const ProblemOptions options = Stencil::options();
  for (int face = 0; face < face_count(options.dimension); ++face) {
    SCOPED_TRACE(face);
    in_space_of_processor([&]<class Space>() {
      expect_equal_to_reference<double, Space>(make_one_dirichlet_face_problem(options, face));
    });
  }
}

TEST_P(Stencil, HasFusedOperationsIn3DOnTheGpu) {
  in_space_of_processor([]<class Space>() {
    const Problem problem = make_problem(options());
    const auto a = make_stencil<double, Space>(problem.form);
    const bool has_some = std::is_same_v<Space, Device> && options().dimension == 3;
    ASSERT_EQ(a->fused() != nullptr, has_some);
    if (!has_some) return;
    expect_fused_operations_equal_compositions(*a);
    const HostVector<double> x = vector_of<double>(random_values(problem.size(), 5));
    const auto space_x = in_space<Space>(x);
    Vector<double, Space> y(problem.size());
    Sums<Space> sums;
    a->fused()->apply_dot(space_x, y, sums.data());
    EXPECT_TRUE(same_bits(testing::on_host(y), applied(*a, x)));
    expect_fused_operations_equal_compositions(*make_stencil<float, Space>(problem.form));
  });
}

TEST_P(Stencil, IsSymmetric) {
  in_space_of_processor([]<class Space>() {
    const Problem problem = make_problem(options());
    const auto a = make_stencil<double, Space>(problem.form);
    const HostVector<double> x = vector_of<double>(random_values(problem.size(), 1));
    const HostVector<double> y = vector_of<double>(random_values(problem.size(), 2));
    const HostVector<double> ax = applied(*a, x);
    const HostVector<double> ay = applied(*a, y);
    EXPECT_NEAR(dot(ax, y), dot(x, ay), 1e-13 * norm(ax) * norm(y));
  });
}

INSTANTIATE_TEST_SUITE_P(Shapes, Stencil,
                         ::testing::Combine(::testing::ValuesIn(kShapes),
                                            ::testing::ValuesIn(every_processor())),
                         [](const auto& tested) {
                           return name_of(std::get<Shape>(tested.param)) +
                                  place_name(std::get<Processor>(tested.param));
                         });

TEST(StencilThreads, GiveTheSameBitsInAnyNumber) {
  for (const auto& [dimension, cells] : kShapes) {
    const Problem problem = make_problem(stencil_options(dimension, cells));
    SCOPED_TRACE(::testing::Message() << problem.size() << " nodes");
    const HostVector<double> x = vector_of<double>(random_values(problem.size(), 7));
    HostVector<double> first(problem.size());
    for (const int threads : {1, 2, 3, 7}) {
      const ThreadsInUse scope(threads);
      const auto a = make_stencil_operator<double>(problem.form);
      HostVector<double> y = applied(*a, x);
      if (threads == 1) copy(y, first);
      EXPECT_TRUE(same_bits(y, first)) << threads;
      const ThreadsInUse fewer(1);
      a->apply(x, y);
      EXPECT_TRUE(same_bits(y, first)) << "made for " << threads;
    }
  }
}

// Rows too long for all of a plane to be one brick, and vectors too long for the cache.
TEST(StencilLong, EqualsTheReference) {
  const ThreadsInUse scope(2);
  for (const IndexTriple& cells : {IndexTriple{700, 11, 3}, IndexTriple{1300, 900, 1}}) {
    const int dimension = cells[2] == 1 ? 2 : 3;
    expect_equal_to_reference<double, Host>(make_problem(stencil_options(dimension, cells)));
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

TEST(StencilBlocks, AllRunAtATimeWherePlanesAreFew) {
  constexpr int kResident = 132;
  for (const Index planes : {1, 2, 47, 67, 101, 126}) {
    for (const Index tiles : {1, 6, 18, 26, 32}) {
      const Index count = planes_per_block(planes, tiles, kResident);
      SCOPED_TRACE(::testing::Message() << planes << " planes of " << tiles << " tiles: " << count);
      EXPECT_GE(count, 1);
      EXPECT_LE(count, planes);
      EXPECT_LE(tiles * ceil_div(planes, count), kResident);
    }
  }
}

// So that the last blocks are short beside all of them.
TEST(StencilBlocks, AreManyWhereTheyCannotRunAtATime) {
  const Index count = planes_per_block(321, 246, 132);
  EXPECT_GE(246 * ceil_div(321, count), 8 * 132);
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
