// These tests count what GPU threads append or send.
#include <gtest/gtest.h>

#include <cmath>
#include <exception>
#include <thread>

#include "operators/load/interpolation.hpp"
#include "postprocess/probes/probes.hpp"
#include "src/studies/aggregation/appends/device_append.hpp"
#include "src/studies/aggregation/appends/device_divergence.hpp"
#include "src/studies/aggregation/host_queue/device_producers.hpp"
#include "src/studies/aggregation/probes/device_probes.hpp"
#include "src/studies/aggregation/probes/probed_function.hpp"
#include "src/studies/aggregation/routing/device_routing.hpp"
#include "src/studies/aggregation/routing/device_updates.hpp"
#include "tests/device_test.hpp"

namespace tessera::testing {
namespace {

TEST(DeviceAppend, BringsEveryMessageOnce) {
  TESSERA_REQUIRE_DEVICE();
  constexpr std::int64_t kThreads = 1 << 14;
  DeviceAppend array(kThreads * 256, kThreads);
  struct Group {
    AppendLevel level;
    int block_threads;
    double threads;  // that reserve together
  };
  const Group groups[] = {{AppendLevel::lane, 256, 1},    {AppendLevel::warp, 256, 32},
                          {AppendLevel::block, 64, 64},   {AppendLevel::block, 128, 128},
                          {AppendLevel::block, 256, 256}, {AppendLevel::block, 1024, 1024}};
  for (const Group& group : groups) {
    for (const int bytes : {4, 8, 16, 48, 256}) {
      for (const double share : {0.0, 0.03, 0.5, 1.0}) {
        const AppendWork work = {.level = group.level,
                                 .block_threads = group.block_threads,
                                 .threads = kThreads,
                                 .bytes = bytes,
                                 .share = static_cast<std::uint64_t>(share * 0x1p32),
                                 .seed = 3};
        EXPECT_GT(array.seconds(work), 0.0);
        const DeviceAppend::Counted counted = array.count(work);
        EXPECT_EQ(counted.messages.text(), "") << group.threads << " " << bytes << " " << share;
        const auto sent = static_cast<double>(counted.messages.sent.count);
        EXPECT_NEAR(sent, share * kThreads, 0.05 * kThreads);
        EXPECT_GE(counted.reservations * group.threads, sent);
        EXPECT_LE(counted.reservations, sent);
        if (share == 1.0) {
          EXPECT_EQ(counted.reservations * group.threads, sent);
        }
      }
    }
  }
}

TEST(DeviceUpdates, AreAllInTheTable) {
  TESSERA_REQUIRE_DEVICE();
  for (const std::int64_t entries : {std::int64_t{1} << 8, std::int64_t{1} << 20}) {
    for (const std::int64_t updates : {1, 4097, 300'000}) {
      DeviceUpdates table(entries, updates, 7);
      for (const UpdateOrder order :
           {UpdateOrder::direct, UpdateOrder::sorted, UpdateOrder::binned}) {
        EXPECT_GT(table.seconds(order), 0.0);
        EXPECT_EQ(table.wrong(), "") << entries << " " << updates << " " << static_cast<int>(order);
      }
    }
  }
}

// Also where all go to one destination, whose buffers are full soon: what has to wait is not lost.
TEST(DeviceRouting, BringsEveryUpdateOnce) {
  TESSERA_REQUIRE_DEVICE();
  constexpr std::int64_t kUpdates = 100'003;
  DeviceRouting routing(1 << 16, kUpdates, 1 << 15);
  for (const RoutingScheme scheme : {RoutingScheme::direct, RoutingScheme::indirect,
                                     RoutingScheme::counting_sort, RoutingScheme::radix_sort}) {
    for (const int destinations : {2, 8, 64}) {
      for (const std::int64_t bytes : {1024, 262144}) {
        for (const auto to : {RoutingWork::To::all, RoutingWork::To::first}) {
          const RoutingWork work = {.scheme = scheme,
                                    .updates = kUpdates,
                                    .destinations = destinations,
                                    .buffer_bytes = bytes,
                                    .seed = 5,
                                    .to = to};
          EXPECT_GT(routing.seconds(work), 0.0);
          const DeviceRouting::Counted counted = routing.count(work);
          const auto what = ::testing::Message() << static_cast<int>(scheme) << " " << destinations
                                                 << " " << bytes << " " << static_cast<int>(to);
          EXPECT_EQ(counted.messages.text(), "") << what;
          EXPECT_GT(counted.mean_fill, 0.0) << what;
          EXPECT_LE(counted.mean_fill, 1.0) << what;
          EXPECT_NEAR(counted.buffers * counted.mean_fill * static_cast<double>(bytes) / 8,
                      kUpdates, 1e-6 * kUpdates)
              << what;
          EXPECT_GE(counted.rounds, 4.0) << what;
          if (to == RoutingWork::To::first && bytes == 1024 && destinations == 64 &&
              scheme != RoutingScheme::radix_sort) {
            EXPECT_GT(counted.rounds, 50.0) << what;
          }
        }
      }
    }
  }
}

TEST(DeviceDivergence, BringsEveryMessageOnce) {
  TESSERA_REQUIRE_DEVICE();
  DeviceDivergence appends(1 << 14, 2);
  for (const Divergence way :
       {Divergence::predicated, Divergence::warp_append, Divergence::barrier}) {
    EXPECT_GT(appends.seconds(way), 0.0);
    const MessageVerdict verdict = appends.verdict();
    EXPECT_EQ(verdict.text(), "") << static_cast<int>(way);
    // One thread in 20 has 16.5 on average.
    EXPECT_NEAR(static_cast<double>(verdict.sent.count), (1 << 14) / 20.0 * 16.5, 2000.0);
  }
}

TEST(DeviceProbes, AgreeWithThoseOfTheHostInBothOrders) {
  TESSERA_REQUIRE_DEVICE();
  constexpr std::int64_t kPoints = 20'000;
  constexpr std::uint64_t kSeed = 9;
  for (const ProbedMeshKind kind : {ProbedMeshKind::uniform, ProbedMeshKind::curved}) {
    const Discretization discretization = probed_mesh(kind, 7);
    HostVector<double> u(discretization.lattice.size());
    interpolate(discretization, probed_function(), u);
    const std::span<const double> nodal(u.data(), static_cast<std::size_t>(u.size()));
    DeviceProbes probes(discretization, nodal, kPoints, kSeed);
    std::vector<Point> points(kPoints);
    for (std::int64_t i = 0; i < kPoints; ++i) points[i] = DeviceProbes::point(i, kSeed);
    std::vector<double> expected(kPoints);
    Probes(discretization, points).evaluate(nodal, expected);
    EXPECT_GT(probes.seconds(ProbeOrder::given), 0.0);
    const std::vector<double> given = probes.values();
    EXPECT_EQ(probes.lost(), 0);
    for (std::int64_t i = 0; i < kPoints; ++i) ASSERT_NEAR(given[i], expected[i], 2e-12) << i;
    EXPECT_GT(probes.seconds(ProbeOrder::binned), 0.0);
    EXPECT_EQ(probes.lost(), 0);
    EXPECT_EQ(probes.values(), given);
  }
}

// Two slots, so that producers wait for a consumer that is slow.
TEST(DeviceProducers, FillTheSlotsThatHostThreadsEmpty) {
  TESSERA_REQUIRE_DEVICE();
  for (const int bytes : {8, 48}) {
    for (const std::int64_t slots : {2, 64}) {
      constexpr std::uint64_t kPackages = 300;
      DeviceProducers producers(bytes, slots * bytes * DeviceProducers::kSlotMessages);
      const auto words = static_cast<std::size_t>(bytes) / 8;
      HostMessageCheck check(kPackages * DeviceProducers::kSlotMessages, words,
                             DeviceProducers::kSlotMessages);
      producers.reset();
      const QueueOutlet outlet = producers.outlet(kPackages);
      const BufferRule rule = {.words = outlet.slot_words,
                               .timeout = std::chrono::microseconds(100)};
      std::vector<std::thread> consumers;
      for (int n = 0; n < 2; ++n) {
        consumers.emplace_back([&, n] {
          std::vector<std::uint64_t> buffer(rule.words);
          consume(outlet, rule, buffer, [&](std::span<const std::uint64_t> sent) {
            if (n == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
            check.note(sent);
          });
        });
      }
      std::exception_ptr failure;
      try {
        producers.produce(kPackages);
      } catch (...) {
        failure = std::current_exception();
        producers.give_up();
      }
      for (std::thread& consumer : consumers) consumer.join();
      if (failure) std::rethrow_exception(failure);
      EXPECT_EQ(check.verdict().text(), "") << bytes << " " << slots;
    }
  }
}

// Nobody empties the slots, and the kernel ends when it is told to.
TEST(DeviceProducers, StopWhenTheHostGivesUp) {
  TESSERA_REQUIRE_DEVICE();
  DeviceProducers producers(8, 2 * 8 * DeviceProducers::kSlotMessages);
  producers.reset();
  producers.give_up();
  producers.produce(1000);
  const QueueOutlet outlet = producers.outlet(1000);
  EXPECT_EQ(outlet.flags[0].full, 1U);
  EXPECT_EQ(outlet.flags[1].full, 1U);
  EXPECT_EQ(outlet.flags[0].served, 0U);
}

}  // namespace
}  // namespace tessera::testing
