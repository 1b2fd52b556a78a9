// These tests look at what the stencil is made of on the GPU alone: grids of blocks, and slabs.
#include <gtest/gtest.h>

#include "operators/stencil/device_stencil.hpp"
#include "operators/stencil/stencil.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/problems.hpp"
#include "tests/operators/reference.hpp"

namespace tessera::testing {
namespace {

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
    const HostVector<double> expected = applied(*make_stencil_operator<double>(problem.form), x);
    const HostVector<double> result =
        applied(*make_device_stencil_operator<double>(problem.form), x);
    EXPECT_LT(relative_difference(result, values_of(expected)), kDoubleTolerance);
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
