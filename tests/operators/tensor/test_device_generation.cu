// Device code with a variant for each generation of GPUs: the variants of older ones give the same
// on the GPU at hand.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "operators/cells/device_generation.cuh"
#include "tests/device_test.hpp"

namespace tessera {
namespace {

constexpr int kRows = 16;
constexpr int kColumns = 8;

// c[row][column] += sum over k of a[row][k] b[k][column]. Launch: one warp.
template <Generation generation, int kDepth>
__global__ void product_kernel(const double* a, const double* b, double* c) {
  const int g = threadIdx.x / 4;
  const int k = threadIdx.x % 4;
  double sum[4] = {c[g * kColumns + 2 * k], c[g * kColumns + 2 * k + 1],
                   c[(g + 8) * kColumns + 2 * k], c[(g + 8) * kColumns + 2 * k + 1]};
  // The code for a later generation than the compiler's target does not assemble.
  if constexpr (generation <= kGeneration) {
    if constexpr (kDepth == 4) {
      multiply_add_16x8x4<generation>(a[g * kDepth + k], a[(g + 8) * kDepth + k],
                                      b[k * kColumns + g], sum);
    } else {
      const double of_a[4] = {a[g * kDepth + k], a[(g + 8) * kDepth + k], a[g * kDepth + k + 4],
                              a[(g + 8) * kDepth + k + 4]};
      const double of_b[2] = {b[k * kColumns + g], b[(k + 4) * kColumns + g]};
      multiply_add_16x8x8<generation>(of_a, of_b, sum);
    }
  }
  c[g * kColumns + 2 * k] = sum[0];
  c[g * kColumns + 2 * k + 1] = sum[1];
  c[(g + 8) * kColumns + 2 * k] = sum[2];
  c[(g + 8) * kColumns + 2 * k + 1] = sum[3];
}

// to[i] = from[i] after a prefetch by the first thread. Launch: one block, a thread a value.
template <Generation generation>
__global__ void prefetch_kernel(const double* from, double* to, int count) {
  if constexpr (generation <= kGeneration) {
    if (threadIdx.x == 0) {
      prefetch_to_l2<generation>(from, static_cast<unsigned>(count * sizeof(double)));
    }
  }
  to[threadIdx.x] = from[threadIdx.x];
}

bool runs_here(Generation generation) {
  return generation == Generation::ampere || require_device().major >= 9;
}

template <Generation generation, int kDepth>
void expect_product() {
  if (!runs_here(generation)) return;
  std::array<double, kRows * kDepth> a;
  std::array<double, kDepth * kColumns> b;
  std::array<double, kRows * kColumns> c;
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i % 7) - 2.5;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<double>(i % 5) + 0.25;
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = static_cast<double>(i);
  double* device_a = nullptr;
  double* device_b = nullptr;
  double* device_c = nullptr;
  ASSERT_EQ(cudaMalloc(&device_a, sizeof(a)), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&device_b, sizeof(b)), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&device_c, sizeof(c)), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(device_a, a.data(), sizeof(a), cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(device_b, b.data(), sizeof(b), cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(device_c, c.data(), sizeof(c), cudaMemcpyHostToDevice), cudaSuccess);
  product_kernel<generation, kDepth><<<1, 32>>>(device_a, device_b, device_c);
  std::array<double, kRows * kColumns> product;
  ASSERT_EQ(cudaMemcpy(product.data(), device_c, sizeof(c), cudaMemcpyDeviceToHost), cudaSuccess);
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kColumns; ++column) {
      double expected = c[row * kColumns + column];
      for (int k = 0; k < kDepth; ++k) expected += a[row * kDepth + k] * b[k * kColumns + column];
      // Numbers of few digits: sums in any order are exact.
      EXPECT_EQ(product[row * kColumns + column], expected) << "row " << row << ", " << column;
    }
  }
  cudaFree(device_a);
  cudaFree(device_b);
  cudaFree(device_c);
}

template <Generation generation>
void expect_prefetch() {
  if (!runs_here(generation)) return;
  constexpr int kCount = 250;
  // The second value begins inside a line of the cache, and the last ends inside another.
  std::vector<double> values(kCount + 2);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1.0 / static_cast<double>(i + 1);
  double* from = nullptr;
  double* to = nullptr;
  ASSERT_EQ(cudaMalloc(&from, values.size() * sizeof(double)), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&to, kCount * sizeof(double)), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(from, values.data(), values.size() * sizeof(double), cudaMemcpyHostToDevice),
            cudaSuccess);
  prefetch_kernel<generation><<<1, kCount>>>(from + 2, to, kCount);
  std::vector<double> read(kCount);
  ASSERT_EQ(cudaMemcpy(read.data(), to, kCount * sizeof(double), cudaMemcpyDeviceToHost),
            cudaSuccess);
  for (int i = 0; i < kCount; ++i) EXPECT_EQ(read[i], values[i + 2]) << i;
  cudaFree(from);
  cudaFree(to);
}

TEST(DeviceGeneration, TensorCoresMultiplyAlikeOnAllGenerations) {
  TESSERA_REQUIRE_DEVICE();
  expect_product<Generation::ampere, 4>();
  expect_product<Generation::hopper, 4>();
  expect_product<Generation::ampere, 8>();
  expect_product<Generation::hopper, 8>();
}

TEST(DeviceGeneration, PrefetchesLeaveMemoryAsItIs) {
  TESSERA_REQUIRE_DEVICE();
  expect_prefetch<Generation::ampere>();
  expect_prefetch<Generation::hopper>();
}

}  // namespace
}  // namespace tessera
