#include <gtest/gtest.h>

#include <limits>
#include <tuple>

#include "operators/device_stencil.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/problems.hpp"
#include "tests/operators/reference.hpp"

namespace tessera::testing {
namespace {

template <class T>
void expect_equal_to_reference(const Problem& problem) {
  const Reference reference(problem.form);
  const std::vector<double> input = random_input<T>(problem.size(), 29);
  const auto a = make_device_stencil_operator<T>(problem.form);
  ASSERT_EQ(a->size(), problem.size());
  DeviceVector<T> x(problem.size());
  copy(vector_of<T>(input), x);
  DeviceVector<T> y(problem.size());
  HostVector<T> first(problem.size());
  HostVector<T> result(problem.size());
  for (int repetition = 0; repetition < 2; ++repetition) {
    fill(y, std::numeric_limits<T>::quiet_NaN());
    a->apply(x, y);
    copy(y, result);
    EXPECT_LT(relative_difference(result, reference.apply(input)), tolerance<T>());
    if (repetition == 0) copy(y, first);
    EXPECT_TRUE(same_bits(result, first));
  }
  make_device_stencil_operator<T>(problem.form)->apply(x, y);
  copy(y, result);
  EXPECT_TRUE(same_bits(result, first)) << "made again";
  fill(y, std::numeric_limits<T>::quiet_NaN());
  a->diagonal(y);
  copy(y, result);
  EXPECT_LT(relative_difference(result, reference.diagonal()), tolerance<T>()) << "diagonal";
  EXPECT_EQ(a->bytes(), device_stencil_bytes(problem.discretization->lattice, sizeof(T)));
}

class DeviceStencil : public ::testing::TestWithParam<std::tuple<int, IndexTriple>> {
 protected:
  void SetUp() override { TESSERA_REQUIRE_DEVICE(); }

  static ProblemOptions options() {
    ProblemOptions options;
    std::tie(options.dimension, options.cells) = GetParam();
    options.degree = 1;
    return options;
  }
};

TEST_P(DeviceStencil, EqualsTheReference) {
  ProblemOptions options = DeviceStencil::options();
  for (const Boundary boundary : {Boundary::none, Boundary::mixed, Boundary::dirichlet}) {
    for (const Coefficient coefficient : {Coefficient::constant, Coefficient::variable}) {
      for (const Geometry geometry : {Geometry::cartesian, Geometry::curved, Geometry::graded}) {
        options.boundary = boundary;
        options.coefficient = coefficient;
        options.geometry = geometry;
        SCOPED_TRACE(describe(options));
        const Problem problem = make_problem(options);
        expect_equal_to_reference<double>(problem);
        expect_equal_to_reference<float>(problem);
      }
    }
  }
}

TEST_P(DeviceStencil, EqualsTheReferenceWithOneDirichletFaceAndRobinFacesElsewhere) {
  ProblemOptions options = DeviceStencil::options();
  options.boundary = Boundary::none;
  for (int face = 0; face < face_count(options.dimension); ++face) {
    Problem problem = make_problem(options);
    problem.form.dirichlet[face] = true;
    for (int other = 0; other < face_count(options.dimension); ++other) {
      if (other != face) problem.form.robin.push_back({other, constant_field(1.0 + other)});
    }
    SCOPED_TRACE(face);
    expect_equal_to_reference<double>(problem);
  }
}

// More than one tile along x and y and more than one chunk of planes; whole tiles; thin meshes.
INSTANTIATE_TEST_SUITE_P(
    Shapes, DeviceStencil,
    ::testing::Values(std::tuple{2, IndexTriple{1, 1, 1}}, std::tuple{2, IndexTriple{1, 9, 1}},
                      std::tuple{2, IndexTriple{17, 1, 1}}, std::tuple{2, IndexTriple{300, 21, 1}},
                      std::tuple{2, IndexTriple{127, 15, 1}}, std::tuple{3, IndexTriple{1, 1, 1}},
                      std::tuple{3, IndexTriple{1, 1, 9}}, std::tuple{3, IndexTriple{2, 9, 1}},
                      std::tuple{3, IndexTriple{70, 1, 1}}, std::tuple{3, IndexTriple{63, 15, 7}},
                      std::tuple{3, IndexTriple{35, 18, 20}}));

// Slabs of layers, of rows, of parts of rows and of single cells.
TEST(DeviceStencilSlabs, EqualTheReference) {
  TESSERA_REQUIRE_DEVICE();
  constexpr Index kMatrixBytes = 64 * sizeof(double);
  ProblemOptions options;
  options.degree = 1;
  options.cells = {7, 5, 4};
  for (const Index cells : {100, 80, 35, 30, 14, 7, 6, 3, 1, 0}) {
    SCOPED_TRACE(cells);
    const Problem problem = make_problem(options);
    const std::vector<double> input = random_values(problem.size(), 29);
    DeviceVector<double> x(problem.size());
    copy(vector_of<double>(input), x);
    DeviceVector<double> y(problem.size());
    make_device_stencil_operator<double>(problem.form, cells * kMatrixBytes)->apply(x, y);
    HostVector<double> result(problem.size());
    copy(y, result);
    EXPECT_LT(relative_difference(result, Reference(problem.form).apply(input)), kDoubleTolerance);
  }
}

}  // namespace
}  // namespace tessera::testing
