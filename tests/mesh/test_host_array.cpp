// These tests look at the alignment and the pages of large arrays.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "mesh/lanes/host_array.hpp"
#include "mesh/lanes/simd.hpp"

namespace tessera::testing {
namespace {

std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

TEST(HostArrays, AreAlignedToCacheLinesAtAnySize) {
  for (const std::size_t n : {1u, 7u, 64u, 1000u, 524287u}) {
    const HostArray<double> values(n, 1.5);
    EXPECT_EQ(address_of(values.data()) % 64, 0u) << n;
    const HostArray<char> bytes(n, 'x');
    EXPECT_EQ(address_of(bytes.data()) % 64, 0u) << n;
    const HostArray<Lanes<double>> lanes(n, broadcast(2.0));
    EXPECT_EQ(address_of(lanes.data()) % 64, 0u) << n;
  }
}

TEST(HostArrays, OfFourMebibytesStartAtAHugePage) {
  const std::size_t n = (std::size_t{4} << 20) / sizeof(double);
  for (const std::size_t size : {n, n + 1, 3 * n}) {
    const HostArray<double> values(size);
    EXPECT_EQ(address_of(values.data()) % (std::size_t{2} << 20), 0u) << size;
  }
}

TEST(HostArrays, HoldWhatIsWrittenThroughGrowthCopyAndMove) {
  HostArray<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(i);
  values.resize(1200, -1.0);
  const HostArray<double> copy = values;
  const HostArray<double> moved = std::move(values);
  ASSERT_EQ(moved.size(), 1200u);
  for (int i = 0; i < 1200; ++i) {
    ASSERT_EQ(moved[i], i < 1000 ? i : -1.0);
    ASSERT_EQ(copy[i], moved[i]);
  }
}

TEST(HugePages, CanBeAskedForAnywhere) {
  HostArray<char> bytes(std::size_t{5} << 20, 'a');
  advise_huge_pages(nullptr, 0);
  advise_huge_pages(bytes.data() + 100, 10);
  advise_huge_pages(bytes.data() + 1, bytes.size() - 1);
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), 'a'), std::ptrdiff_t{5} << 20);
}

}  // namespace
}  // namespace tessera::testing
