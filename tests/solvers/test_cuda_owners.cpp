// These tests look at the owners of CUDA events and page-locked memory.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <set>
#include <string>

#include "solvers/krylov/iteration_graph.hpp"
#include "solvers/memory/device.hpp"
#include "solvers/memory/staged_copy.hpp"

namespace tessera::testing {
namespace {

/// What of CUDA is held. The linker leads the calls of the program here (--wrap), so that a call
/// fails when it is told to; no GPU is needed.
class FakeResources {
 public:
  cudaError_t take(void** resource) {
    if (++taken_ == failing_) return cudaErrorMemoryAllocation;
    // Each has an address of its own, which nobody reads.
    *resource = &places_[taken_];
    held_.insert(*resource);
    return cudaSuccess;
  }
  cudaError_t give_back(void* resource) {
    is_sound_ = is_sound_ && held_.erase(resource) == 1;
    return cudaSuccess;
  }

  std::size_t held() const { return held_.size(); }
  std::size_t taken() const { return taken_; }
  /// Whether only what was held was given back.
  bool is_sound() const { return is_sound_; }
  /// Begins anew.
  /// @param number which of the resources to come is refused; the first is 1
  void refuse(std::size_t number) {
    taken_ = 0;
    failing_ = number;
  }

 private:
  static constexpr std::size_t kMax = 16;
  std::array<char, kMax> places_{};
  std::set<void*> held_;
  std::size_t taken_ = 0;
  std::size_t failing_ = 0;
  bool is_sound_ = true;
};

FakeResources& fake() {
  static FakeResources resources;
  return resources;
}

// Makes it with the first of `count` resources refused, then the second, and so on.
template <class Make>
void expect_nothing_is_kept(std::size_t count, Make&& make) {
  for (std::size_t n = 1; n <= count; ++n) {
    fake().refuse(n);
    EXPECT_THROW(make(), DeviceError) << n;
    EXPECT_EQ(fake().taken(), n) << "the constructor went on, or ended earlier";
    EXPECT_EQ(fake().held(), 0U) << "with resource " << n << " refused";
  }
  EXPECT_TRUE(fake().is_sound());
}

TEST(CudaOwners, ACopyOfTheStateThatFailsKeepsNothing) {
  expect_nothing_is_kept(2, [] { const StateCopy copy; });
}

TEST(CudaOwners, AStopwatchThatFailsKeepsNothing) {
  expect_nothing_is_kept(2, [] { const DeviceStopwatch stopwatch; });
}

TEST(CudaOwners, UploadBuffersThatFailKeepNothing) {
  const char from = 0;
  char to = 0;
  expect_nothing_is_kept(4, [&] { upload_staged(&from, 1, &to); });
}

TEST(CudaOwners, GiveBackWhatTheyHave) {
  fake().refuse(0);
  {
    const StateCopy copy;
    const DeviceStopwatch stopwatch;
    EXPECT_EQ(fake().held(), 4U);
  }
  EXPECT_EQ(fake().held(), 0U);
  EXPECT_TRUE(fake().is_sound());
}

}  // namespace
}  // namespace tessera::testing

// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming): names of the linker.
extern "C" {
cudaError_t __wrap_cudaMallocHost(void** memory, std::size_t /*bytes*/) {
  return tessera::testing::fake().take(memory);
}
cudaError_t __wrap_cudaFreeHost(void* memory) { return tessera::testing::fake().give_back(memory); }
cudaError_t __wrap_cudaEventCreate(cudaEvent_t* event) {
  return tessera::testing::fake().take(reinterpret_cast<void**>(event));
}
cudaError_t __wrap_cudaEventCreateWithFlags(cudaEvent_t* event, unsigned /*flags*/) {
  return tessera::testing::fake().take(reinterpret_cast<void**>(event));
}
cudaError_t __wrap_cudaEventDestroy(cudaEvent_t event) {
  return tessera::testing::fake().give_back(event);
}
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t /*stream*/) { return cudaSuccess; }
}
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)
