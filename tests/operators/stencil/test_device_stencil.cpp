// These tests compare the stencil on the GPU with the reference.
#include <gtest/gtest.h>

#include <tuple>

#include "operators/stencil/device_stencil.hpp"
#include "operators/stencil/stencil.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/on_device.hpp"
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
  const HostVector<T> x = vector_of<T>(input);
  const HostVector<T> first = applied(*a, x);
  EXPECT_LT(relative_difference(first, reference.apply(input)), tolerance<T>());
  EXPECT_TRUE(same_bits(applied(*a, x), first));
  const auto remade = make_device_stencil_operator<T>(problem.form);
  EXPECT_TRUE(same_bits(applied(*remade, x), first)) << "made again";
  EXPECT_LT(relative_difference(diagonal_of(*a), reference.diagonal()), tolerance<T>())
      << "diagonal";
  EXPECT_EQ(a->bytes(), stencil_bytes(form_shape(problem.form, Processor::gpu, sizeof(T))));
}

class DeviceStencil : public ::testing::TestWithParam<std::tuple<int, IndexTriple>> {
 protected:
  void SetUp() override { TESSERA_REQUIRE_DEVICE(); }

  static ProblemOptions options() {
    const auto [dimension, cells] = GetParam();
    return stencil_options(dimension, cells);
  }
};

TEST_P(DeviceStencil, EqualsTheReference) {
  for (const ProblemOptions& options : with_every_form(DeviceStencil::options())) {
    SCOPED_TRACE(describe(options));
    const Problem problem = make_problem(options);
    expect_equal_to_reference<double>(problem);
    expect_equal_to_reference<float>(problem);
  }
}

TEST_P(DeviceStencil, EqualsTheReferenceWithOneDirichletFaceAndRobinFacesElsewhere) {
  const ProblemOptions options = DeviceStencil::options();
  for (int face = 0; face < face_count(options.dimension); ++face) {
    SCOPED_TRACE(face);
    expect_equal_to_reference<double>(make_one_dirichlet_face_problem(options, face));
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

// More than 65535 tiles along y, or planes for so many chunks along z: CUDA's limits of a grid.
TEST(DeviceStencilLongAxes, EqualTheHost) {
  TESSERA_REQUIRE_DEVICE();
  for (const IndexTriple& cells : {IndexTriple{1, 600000, 1}, IndexTriple{1, 1, 2200000}}) {
    ProblemOptions options = stencil_options(3, cells);
    options.boundary = Boundary::dirichlet;
    options.coefficient = Coefficient::constant;
    options.geometry = Geometry::graded;
    const Problem problem = make_problem(options);
    const HostVector<double> x = vector_of<double>(random_values(problem.size(), 29));
    HostVector<double> expected(problem.size());
    make_stencil_operator<double>(problem.form)->apply(x, expected);
    const HostVector<double> result =
        applied(*make_device_stencil_operator<double>(problem.form), x);
    EXPECT_LT(relative_difference(result, {expected.data(), expected.data() + expected.size()}),
              kDoubleTolerance);
  }
}

// Slabs of layers, of rows, of parts of rows and of single cells.
TEST(DeviceStencilSlabs, EqualTheReference) {
  TESSERA_REQUIRE_DEVICE();
  constexpr Index kMatrixBytes = 64 * sizeof(double);
  for (const Index cells : {100, 80, 35, 30, 14, 7, 6, 3, 1, 0}) {
    SCOPED_TRACE(cells);
    const Problem problem = make_problem(stencil_options(3, {7, 5, 4}));
    const std::vector<double> input = random_values(problem.size(), 29);
    const auto a = make_device_stencil_operator<double>(problem.form, cells * kMatrixBytes);
    const HostVector<double> result = applied(*a, vector_of<double>(input));
    EXPECT_LT(relative_difference(result, Reference(problem.form).apply(input)), kDoubleTolerance);
  }
}

}  // namespace
}  // namespace tessera::testing
