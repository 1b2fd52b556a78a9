// These tests look at the size of the Kronecker operator on the GPU, and at the limits of grids.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "operators/kronecker/device_data.hpp"
#include "operators/kronecker/tiles/shapes.hpp"
#include "operators/kronecker/warps/shapes.hpp"
#include "solvers/memory/cuda_check.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/kronecker/kronecker_checks.hpp"

namespace tessera::testing {
namespace {

template <class T>
void expect_bytes(const Problem& problem, int degree) {
  const Index predicted = device_kronecker_bytes(problem.discretization->mesh, degree, sizeof(T));
  const Index held = make_device_kronecker_operator<T>(problem.form)->bytes();
  if (problem.form.robin.empty()) {
    EXPECT_EQ(held, predicted);
  } else {
    EXPECT_GE(held, predicted);
  }
}

TEST(DeviceKroneckerSize, IsKnownBeforeItIsMade) {
  TESSERA_REQUIRE_DEVICE();
  for (const int dimension : {2, 3}) {
    for (int degree = 1; degree <= 9; ++degree) {
      for_each_kind(
          kronecker_options(dimension, degree, tile_cells_for(Processor::gpu, dimension, degree)),
          [&](const Problem& problem) {
            expect_bytes<double>(problem, degree);
            expect_bytes<float>(problem, degree);
          });
    }
  }
}

// More than 65535 tiles along y, CUDA's limit of a grid's second axis.
TEST(DeviceKroneckerLongAxes, EqualTheHost) {
  TESSERA_REQUIRE_DEVICE();
  struct Shape {
    int dimension;
    IndexTriple cells;
  };
  for (const Shape& shape : {Shape{2, {8, 1100000, 1}}, Shape{3, {1, 400000, 1}},
                             Shape{3, {1, 1, 400000}}, Shape{2, {1100000, 3, 1}}}) {
    SCOPED_TRACE(shape.cells[1]);
    ProblemOptions options = kronecker_options(shape.dimension, 1, shape.cells);
    options.boundary = Boundary::dirichlet;
    const Problem problem = make_problem(options);
    expect_equal_to_reference<double, Device>(problem);
    // The sums of a fused form: one pair a block.
    const std::vector<double> input = random_values(problem.size(), 31);
    const auto a = make_device_kronecker_operator<double>(problem.form);
    const auto x = vector_in<double, Device>(input);
    auto y = poisoned<double, Device>(problem.size());
    Sums<Device> sums;
    a->fused()->apply_dot(x, y, sums.data());
    const std::vector<double> product = values_of(y);
    expect_sum<double>(sums.get(0), input, product);
    expect_sum<double>(sums.get(1), product, product);
  }
}

// Tiles store what whole sectors of memory need beyond their own columns, wherever rows end.
TEST(DeviceKroneckerRows, EqualTheHostAtEveryLengthAroundTheEndOfATile) {
  TESSERA_REQUIRE_DEVICE();
  for (int degree = 1; degree <= 4; ++degree) {
    const auto cells_of_tile = [&](std::size_t bytes) {
      return has_warp_kernel(3, degree, bytes) ? warp_columns(degree, bytes).stored / degree
                                               : kronecker_tile(3, degree, bytes).cells_x;
    };
    for (const std::size_t bytes : {sizeof(double), sizeof(float)}) {
      for (int more = -5; more <= 5; ++more) {
        ProblemOptions options =
            kronecker_options(3, degree, {cells_of_tile(bytes) + more, 9 / degree, 3});
        for (const Boundary boundary : {Boundary::none, Boundary::mixed, Boundary::dirichlet}) {
          options.boundary = boundary;
          SCOPED_TRACE(describe(options));
          SCOPED_TRACE(options.cells[0]);
          const Problem problem = make_problem(options);
          expect_equal_to_reference<double, Device>(problem);
          expect_equal_to_reference<float, Device>(problem);
          expect_fused_operations_equal_compositions<double, Device>(problem);
        }
      }
    }
  }
}

template <class T>
class DeviceKroneckerWideTiles : public ::testing::Test {};
using Precisions = ::testing::Types<double, float>;
TYPED_TEST_SUITE(DeviceKroneckerWideTiles, Precisions);

// The smallest meshes with wide tiles on this GPU, two tiles along x, which have all their cells or
// some fewer; with layers between the first and the last one.
TYPED_TEST(DeviceKroneckerWideTiles, EqualTheHost) {
  TESSERA_REQUIRE_DEVICE();
  using T = TypeParam;
  const int multiprocessors = device_attribute(cudaDevAttrMultiProcessorCount);
  for (int degree = 1; degree <= 8; ++degree) {
    const TileUse use = has_step_kernel(3, sizeof(T)) ? TileUse::step : TileUse::product;
    if (!has_wide_kronecker_tile(3, degree, sizeof(T), use)) continue;
    const TileShape tile = wide_kronecker_tile(degree, sizeof(T), use);
    const int fewer = std::max(2, tile.cells_x / 5);
    struct Case {
      Boundary boundary;
      Index cells_x;
    };
    // Where the last node is free, it belongs to one more cell.
    for (const Case& each : {Case{Boundary::none, 2 * tile.cells_x - 1},
                             Case{Boundary::mixed, 2 * tile.cells_x - fewer},
                             Case{Boundary::dirichlet, 2 * tile.cells_x - fewer}}) {
      Index cells_y = tile.cells_y;
      while (!suits_wide_tiles(tile, degree, each.cells_x, cells_y, multiprocessors)) {
        cells_y += tile.cells_y;
      }
      ProblemOptions options = kronecker_options(3, degree, {each.cells_x, cells_y, 4});
      options.boundary = each.boundary;
      SCOPED_TRACE(describe(options));
      const Problem problem = make_problem(options);
      expect_equal_to_reference<T, Device>(problem);
      expect_fused_operations_equal_compositions<T, Device>(problem);
    }
  }
}

}  // namespace
}  // namespace tessera::testing
