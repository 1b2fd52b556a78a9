// These tests send values between GPUs, which are one here: by way of the host between threads, and
// by NCCL from one rank to itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "solvers/memory/cuda_check.hpp"
#include "solvers/memory/device_array.hpp"
#include "solvers/memory/device_choice.hpp"
#include "solvers/ranks/gpu/nccl_carrier.hpp"
#include "solvers/ranks/thread_ranks.hpp"
#include "tests/device_test.hpp"

namespace tessera::testing {
namespace {

std::vector<double> numbers_of(int rank, std::int64_t count) {
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < count; ++i) {
    numbers.push_back(1000.0 * rank + static_cast<double>(i));
  }
  return numbers;
}

// NCCL, or why there is none.
std::shared_ptr<const DeviceCarrier> nccl_of_one(std::string& why_not) {
  return make_nccl_carrier(single_rank(), kNcclLibrary, why_not);
}

TEST(StagedCarriersOnTheGpu, GatherInTheOrderOfRanks) {
  TESSERA_REQUIRE_DEVICE();
  for (const int count : {1, 2, 5}) {
    run_on_threads(count, [&](const Communicator& ranks) {
      const auto carrier = make_staged_carrier(ranks);
      EXPECT_FALSE(carrier->can_be_captured());
      // Lengths that grow and shrink: the stage is used again.
      for (const std::int64_t length : {3, 100000, 1}) {
        const DeviceArray<double> mine(numbers_of(ranks.rank(), length));
        DeviceArray<double> all(length * count);
        carrier->all_gather(mine.data(), mine.bytes(), all.data());
        std::vector<double> expected;
        for (int rank = 0; rank < count; ++rank) {
          for (const double number : numbers_of(rank, length)) expected.push_back(number);
        }
        EXPECT_EQ(to_host(all), expected);
      }
    });
  }
}

TEST(StagedCarriersOnTheGpu, ExchangeWithEveryOtherRank) {
  TESSERA_REQUIRE_DEVICE();
  run_on_threads(3, [&](const Communicator& ranks) {
    const auto carrier = make_staged_carrier(ranks);
    for (int repetition = 0; repetition < 3; ++repetition) {
      std::vector<DeviceArray<double>> sent;
      std::vector<DeviceArray<double>> received;
      std::vector<DeviceMessage> messages;
      std::vector<int> others;
      for (int other = 0; other < 3; ++other) {
        if (other == ranks.rank()) continue;
        // As long in either direction.
        const std::int64_t length = 1 + 50 * (other + ranks.rank());
        sent.emplace_back(numbers_of(10 * ranks.rank() + other + repetition, length));
        received.emplace_back(length);
        others.push_back(other);
      }
      for (std::size_t m = 0; m < others.size(); ++m) {
        messages.push_back({others[m], sent[m].data(), received[m].data(), sent[m].bytes()});
      }
      carrier->exchange(messages);
      for (std::size_t m = 0; m < others.size(); ++m) {
        EXPECT_EQ(to_host(received[m]),
                  numbers_of(10 * others[m] + ranks.rank() + repetition, received[m].size()));
      }
    }
  });
}

// Lengths that differ in both directions, nothing in one of them among these.
TEST(StagedCarriersOnTheGpu, SendMoreThanTheyReceive) {
  TESSERA_REQUIRE_DEVICE();
  run_on_threads(3, [&](const Communicator& ranks) {
    const auto carrier = make_staged_carrier(ranks);
    const int rank = ranks.rank();
    for (int repetition = 0; repetition < 3; ++repetition) {
      const DeviceArray<double> sent(numbers_of(rank + repetition, 300));
      DeviceArray<double> received(300);
      zero_on_device(received.data(), received.bytes());
      const int next = (rank + 1) % 3;
      const int before = (rank + 2) % 3;
      // As much to the next one as the rank's number says, and nothing back.
      const std::int64_t bytes = rank * 1000;
      const std::int64_t received_bytes = before * 1000;
      const DeviceMessage messages[] = {{next, sent.data(), nullptr, bytes, 0},
                                        {before, nullptr, received.data(), 0, received_bytes}};
      carrier->exchange(messages);
      std::vector<double> expected = numbers_of(before + repetition, 300);
      std::fill(expected.begin() + received_bytes / 8, expected.end(), 0.0);
      EXPECT_EQ(to_host(received), expected);
    }
  });
}

TEST(NcclCarriersOnTheGpu, SendToThemselves) {
  TESSERA_REQUIRE_DEVICE();
  std::string why_not;
  const auto carrier = nccl_of_one(why_not);
  if (carrier == nullptr) GTEST_SKIP() << why_not;
  EXPECT_TRUE(carrier->can_be_captured());
  EXPECT_EQ(carrier->name().substr(0, 8), "by NCCL ");
  EXPECT_STREQ(std::getenv("NCCL_NVLS_ENABLE"), "0");
  const DeviceArray<double> sent(numbers_of(7, 1000));
  DeviceArray<double> received(1000);
  const DeviceMessage message{0, sent.data(), received.data(), sent.bytes()};
  carrier->exchange({&message, 1});
  EXPECT_EQ(to_host(received), numbers_of(7, 1000));
  DeviceArray<double> all(1000);
  carrier->all_gather(sent.data(), sent.bytes(), all.data());
  EXPECT_EQ(to_host(all), numbers_of(7, 1000));
}

TEST(NcclCarriersOnTheGpu, AreCapturedInGraphs) {
  TESSERA_REQUIRE_DEVICE();
  std::string why_not;
  const auto carrier = nccl_of_one(why_not);
  if (carrier == nullptr) GTEST_SKIP() << why_not;
  DeviceArray<double> sent(numbers_of(0, 500));
  DeviceArray<double> received(500);
  DeviceArray<double> all(500);
  const DeviceMessage message{0, sent.data(), received.data(), sent.bytes()};
  const auto send = [&] {
    carrier->exchange({&message, 1});
    carrier->all_gather(received.data(), received.bytes(), all.data());
  };
  // Connections are made at first.
  send();
  check_cuda(cudaStreamBeginCapture(device_stream(), cudaStreamCaptureModeThreadLocal), "capture");
  send();
  cudaGraph_t graph = nullptr;
  check_cuda(cudaStreamEndCapture(device_stream(), &graph), "capture");
  cudaGraphExec_t executable = nullptr;
  check_cuda(cudaGraphInstantiate(&executable, graph, 0), "instantiating");
  for (int replay = 1; replay < 4; ++replay) {
    const std::vector<double> values = numbers_of(replay, 500);
    copy_to_device(values.data(), sent.bytes(), sent.data());
    check_cuda(cudaGraphLaunch(executable, device_stream()), "replay");
    EXPECT_EQ(to_host(all), values);
  }
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

TEST(NcclCarriersOnTheGpu, RefuseToSendWhenGivenUp) {
  TESSERA_REQUIRE_DEVICE();
  std::string why_not;
  const auto carrier = nccl_of_one(why_not);
  if (carrier == nullptr) GTEST_SKIP() << why_not;
  const DeviceArray<double> sent(numbers_of(7, 10));
  DeviceArray<double> received(10);
  carrier->give_up();
  EXPECT_THROW(carrier->all_gather(sent.data(), sent.bytes(), received.data()), DeviceError);
}

// All ranks have the reason of one.
TEST(NcclCarriers, SayWhyThereIsNone) {
  run_on_threads(3, [&](const Communicator& ranks) {
    std::string why_not;
    const bool is_missing_here = ranks.rank() == 1;
    EXPECT_EQ(make_nccl_carrier(ranks, is_missing_here ? "libno.so" : TESSERA_FAKE_NCCL, why_not),
              nullptr);
    EXPECT_EQ(why_not, "no NCCL (libno.so)");
    EXPECT_EQ(make_nccl_carrier(ranks, TESSERA_FAKE_NCCL, why_not), nullptr);
    EXPECT_EQ(why_not, "NCCL 2.28.3: unhandled system error");
  });
}

TEST(DeviceChoices, LeaveOneGpuToSee) {
  EXPECT_EQ(one_visible_device(nullptr, 4, 0), "0");
  EXPECT_EQ(one_visible_device(nullptr, 4, 6), "2");
  EXPECT_EQ(one_visible_device("3,1", 4, 0), "3");
  EXPECT_EQ(one_visible_device("3, 1", 4, 5), "1");
  EXPECT_EQ(one_visible_device("GPU-8932f937,MIG-5", 2, 1), "MIG-5");
  // CUDA sees nothing behind what names no GPU.
  EXPECT_EQ(one_visible_device("0,7,1", 2, 1), "0");
  EXPECT_EQ(one_visible_device("1,-1,0", 2, 3), "1");
}

TEST(DeviceChoices, HideNothingWithoutAGpu) {
  for (const char* none : {"", "-1", "NoDevFiles", ",0", "2"}) {
    EXPECT_EQ(one_visible_device(none, 2, 0), std::nullopt) << none;
  }
  EXPECT_EQ(one_visible_device(nullptr, 0, 0), std::nullopt);
  EXPECT_EQ(one_visible_device("0", 0, 0), std::nullopt);
}

TEST(DeviceChoicesOnTheGpu, NameTheGpu) {
  TESSERA_REQUIRE_DEVICE();
  ASSERT_GT(visible_devices(), 0);
  choose_device(visible_devices() - 1);
  const std::string uuid = device_uuid();
  EXPECT_EQ(uuid.size(), 40U);
  EXPECT_EQ(uuid.substr(0, 4), "GPU-");
  choose_device(0);
  EXPECT_EQ(device_uuid() == uuid, visible_devices() == 1);
}

}  // namespace
}  // namespace tessera::testing
