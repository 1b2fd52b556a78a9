// These tests count the additions of GPU threads that share entries.
#include <gtest/gtest.h>

#include "src/studies/synchronization/device_additions.hpp"
#include "tests/device_test.hpp"

namespace tessera::testing {
namespace {

constexpr std::int64_t kAdditions = std::int64_t{1} << 14;

// Tables that have more and fewer entries than there are groups; a group of all threads, too.
TEST(DeviceAdditionsToShared, AreExactIfProtected) {
  TESSERA_REQUIRE_DEVICE();
  for (const std::int64_t entries : {std::int64_t{1} << 10, std::int64_t{1} << 16}) {
    DeviceAdditions table(entries);
    for (const SharedBy shared_by : {SharedBy::neighbors, SharedBy::distant_blocks}) {
      for (const std::int64_t sharing :
           {std::int64_t{1}, std::int64_t{4}, std::int64_t{32}, std::int64_t{1024}, kAdditions}) {
        const AdditionPlaces places = {.additions = kAdditions,
                                       .sharing = sharing,
                                       .table_entries = entries,
                                       .shared_by = shared_by};
        for (const DeviceAddition addition :
             {DeviceAddition::atomic, DeviceAddition::atomic_result, DeviceAddition::cas,
              DeviceAddition::warp_sums, DeviceAddition::block_sums}) {
          EXPECT_GT(table.seconds(addition, places), 0.0);
          const DeviceAdditions::Result result = table.result(places);
          EXPECT_EQ(result.missing, 0.0) << static_cast<int>(addition) << " " << sharing;
          EXPECT_EQ(result.wrong_entries, 0.0) << static_cast<int>(addition) << " " << sharing;
        }
      }
    }
  }
}

// All threads at one entry, without protection: hardly any addition is left, and that is seen.
TEST(DeviceAdditionsToShared, LostOnesAreSeen) {
  TESSERA_REQUIRE_DEVICE();
  DeviceAdditions table(1 << 10);
  const AdditionPlaces places = {.additions = kAdditions,
                                 .sharing = kAdditions,
                                 .table_entries = 1 << 10,
                                 .shared_by = SharedBy::neighbors};
  static_cast<void>(table.seconds(DeviceAddition::unprotected, places));
  const DeviceAdditions::Result result = table.result(places);
  EXPECT_EQ(result.wrong_entries, 1.0);
  EXPECT_GT(result.missing, 0.5 * kAdditions);
  EXPECT_LT(result.missing, kAdditions);
}

}  // namespace
}  // namespace tessera::testing
