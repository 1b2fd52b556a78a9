// These tests run the parts of the study aggregation that need no GPU, and judge its claims on
// made-up rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "postprocess/probes/probes.hpp"
#include "src/studies/aggregation/aggregation_claims.hpp"
#include "src/studies/aggregation/aggregation_row.hpp"
#include "src/studies/aggregation/host_queue/slot_consumer.hpp"
#include "src/studies/aggregation/probes/brick_grid.hpp"
#include "src/studies/aggregation/probes/probed_function.hpp"
#include "src/studies/aggregation/routing/buffer_shape.hpp"
#include "tests/src/program.hpp"
#include "tests/src/studies/made_up.hpp"

namespace tessera::testing {
namespace {

using namespace std::chrono_literals;

const std::string kStudy = "aggregation";

/// Stronger than what the queue needs.
struct SequentialMemory {
  static std::uint64_t add(std::uint64_t* value, std::uint64_t more) {
    return std::atomic_ref(*value).fetch_add(more);
  }
  static std::uint32_t load(const std::uint32_t* value) {
    return std::atomic_ref(*const_cast<std::uint32_t*>(value)).load();
  }
  static void store(std::uint32_t* value, std::uint32_t what) {
    std::atomic_ref(*value).store(what);
  }
};

/// A queue in memory of the host, whose producers are host threads.
struct TestQueue {
  TestQueue(std::uint32_t slots, std::size_t messages, std::size_t words_per_message,
            std::uint64_t packages)
      : slot_messages(messages),
        message_words(words_per_message),
        flags(slots),
        // What nobody has written is no message.
        words(slots * messages * words_per_message, ~std::uint64_t{0}),
        outlet{.next_read = &next_read,
               .flags = flags.data(),
               .words = words.data(),
               .slots = slots,
               .slot_words = messages * words_per_message,
               .packages = packages,
               .given_up = &given_up} {}

  template <class Memory>
  void produce(std::uint64_t first, std::uint64_t step) {
    for (std::uint64_t package = first; package < outlet.packages; package += step) {
      const SlotTicket ticket = draw_ticket<Memory>(&next_written, outlet.slots);
      while (!may_fill<Memory>(flags.data(), ticket)) std::this_thread::yield();
      std::uint64_t* const slot = words.data() + ticket.slot * outlet.slot_words;
      for (std::size_t m = 0; m < slot_messages; ++m) {
        for (std::size_t w = 0; w < message_words; ++w) {
          slot[w * slot_messages + m] = message_word(package * slot_messages + m, w);
        }
      }
      publish<Memory>(flags.data(), ticket);
    }
  }

  std::size_t slot_messages;
  std::size_t message_words;
  std::uint64_t next_written = 0;
  std::uint64_t next_read = 0;
  std::uint32_t given_up = 0;
  std::vector<SlotFlags> flags;
  std::vector<std::uint64_t> words;
  QueueOutlet outlet;
};

template <class Memory>
class SlotQueue : public ::testing::Test {};
using Memories = ::testing::Types<HostMemory, SequentialMemory>;
TYPED_TEST_SUITE(SlotQueue, Memories);

// More producers than slots, and a consumer that is slow: every ticket has to wait for its turn,
// and for an empty slot.
TYPED_TEST(SlotQueue, BringsEveryMessageOnceThroughTwoSlots) {
  constexpr std::size_t kMessages = 8;
  constexpr std::size_t kWords = 3;
  constexpr std::uint64_t kPackages = 60;
  constexpr int kProducers = 3;
  constexpr int kConsumers = 2;
  TestQueue queue(2, kMessages, kWords, kPackages);
  HostMessageCheck check(kMessages * kPackages, kWords, kMessages);
  const BufferRule rule = {.words = 3 * kMessages * kWords, .timeout = 1h};
  std::vector<ConsumerCounts> counts(kConsumers);
  std::vector<std::thread> threads;
  for (int n = 0; n < kConsumers; ++n) {
    threads.emplace_back([&, n] {
      std::vector<std::uint64_t> buffer(rule.words);
      counts[n] = consume(queue.outlet, rule, buffer, [&](std::span<const std::uint64_t> sent) {
        if (n == 0) std::this_thread::sleep_for(1ms);
        check.note(sent);
      });
    });
  }
  for (int n = 0; n < kProducers; ++n) {
    threads.emplace_back([&, n] { queue.produce<TypeParam>(n, kProducers); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(check.verdict().text(), "");
  EXPECT_EQ(check.verdict().sent.count, kMessages * kPackages);
  EXPECT_EQ(queue.given_up, 0U);
  // Full buffers hold three slots each; one of each consumer may not be full.
  EXPECT_EQ(counts[0].words + counts[1].words, kPackages * kMessages * kWords);
  const std::uint64_t buffers = counts[0].buffers + counts[1].buffers;
  EXPECT_GE(3 * buffers, kPackages);
  EXPECT_LE(3 * buffers, kPackages + 4);
  for (const ConsumerCounts& one : counts) EXPECT_LE(one.polling_s, one.seconds);
}

/// Another thread draws tickets for all slots as soon as this one has drawn a number.
struct InterruptedMemory {
  static std::uint64_t add(std::uint64_t* value, std::uint64_t more) {
    const std::uint64_t before = HostMemory::add(value, more);
    for (int n = 0; n < 2; ++n) draw_ticket<HostMemory>(value, 2);
    return before;
  }
};

// Else the ticket of a slot that is never filled may have the turn of one that is, whose holder
// waits forever.
TEST(SlotTickets, HaveTheTurnOfTheirNumber) {
  std::uint64_t drawn = 0;
  for (int n = 0; n < 5; ++n) {
    const SlotTicket ticket = draw_ticket<InterruptedMemory>(&drawn, 2);
    EXPECT_EQ(ticket.slot, ticket.number % 2);
    EXPECT_EQ(ticket.turn, ticket.number / 2);
  }
}

TEST(SlotConsumer, SendsAnOldBufferWhileItWaits) {
  TestQueue queue(2, 1, 1, 2);
  const BufferRule rule = {.words = 8, .timeout = 1ms};
  std::vector<std::uint64_t> buffer(rule.words);
  std::atomic<std::size_t> sent = 0;
  ConsumerCounts counts;
  std::thread consumer([&] {
    counts = consume(queue.outlet, rule, buffer,
                     [&](std::span<const std::uint64_t> words) { sent += words.size(); });
  });
  // The first of two packages.
  publish<HostMemory>(queue.flags.data(), draw_ticket<HostMemory>(&queue.next_written, 2));
  while (sent == 0) std::this_thread::yield();
  EXPECT_EQ(sent, 1U);
  publish<HostMemory>(queue.flags.data(), draw_ticket<HostMemory>(&queue.next_written, 2));
  consumer.join();
  EXPECT_EQ(sent, 2U);
  EXPECT_EQ(counts.buffers, 2U);
}

TEST(SlotConsumer, GivesUpWhereNobodyProduces) {
  TestQueue queue(2, 1, 1, 2);
  const BufferRule rule = {.words = 8, .timeout = 1ms, .patience = 0s};
  std::vector<std::uint64_t> buffer(rule.words);
  const ConsumerCounts counts =
      consume(queue.outlet, rule, buffer, [](std::span<const std::uint64_t>) {});
  EXPECT_EQ(queue.given_up, 1U);
  EXPECT_EQ(counts.buffers, 0U);
  EXPECT_GT(counts.polling_s, 0.0);
}

TEST(HostMessageCheck, SeesWhatIsLostDoubledOrBroken) {
  // Two messages of two words a slot, by columns.
  const std::vector<std::uint64_t> first = {0, 1, message_word(0, 1), message_word(1, 1)};
  const std::vector<std::uint64_t> second = {2, 3, message_word(2, 1), message_word(3, 1)};
  const auto verdict = [](const std::vector<std::vector<std::uint64_t>>& slots) {
    HostMessageCheck check(4, 2, 2);
    for (const auto& slot : slots) check.note(slot);
    return check.verdict();
  };
  EXPECT_TRUE(verdict({second, first}).is_right());
  EXPECT_FALSE(verdict({first}).is_right());
  EXPECT_EQ(verdict({first}).sent.strange, 2U);
  // As many as there ought to be, but the same twice.
  EXPECT_FALSE(verdict({first, first}).is_right());
  EXPECT_EQ(verdict({first, first}).sent.strange, 4U);
  auto broken = second;
  broken[3] ^= 1U;
  EXPECT_EQ(verdict({first, broken}).came.strange, 1U);
  EXPECT_THAT(verdict({first, broken}).text(), ::testing::HasSubstr("1 of them strange"));
  auto foreign = second;
  foreign[0] = 4;
  EXPECT_EQ(verdict({first, foreign}).came.strange, 1U);
}

// Every message has room if destinations are equally frequent, and buffers are counted whole.
TEST(BufferShape, HasRoomForAnEighthMoreThanItsShare) {
  for (const std::int64_t messages : {1, 1000, 1 << 20, 2812500}) {
    for (const int destinations : {2, 64}) {
      for (const std::int64_t bytes : {1024, 65536, 262144}) {
        const BufferShape shape = BufferShape::of(messages, destinations, bytes, 8);
        EXPECT_EQ(shape.buffer_messages, bytes / 8);
        EXPECT_GE(shape.messages() * destinations, messages + messages / 8);
        EXPECT_LE(shape.messages() * destinations,
                  messages + messages / 8 + destinations * (shape.buffer_messages + 2));
      }
    }
  }
  const BufferShape shape = BufferShape::of(1 << 20, 8, 1024, 8);
  EXPECT_EQ(shape.used(0), 0);
  EXPECT_EQ(shape.used(1), 1);
  EXPECT_EQ(shape.used(128), 1);
  EXPECT_EQ(shape.used(129), 2);
}

TEST(BufferShape, DestinationsDivideTheTable) {
  for (const int destinations : {2, 8, 64}) {
    const int shift = destination_shift(1 << 16, destinations);
    EXPECT_EQ(0 >> shift, 0);
    EXPECT_EQ(((1 << 16) - 1) >> shift, destinations - 1);
    EXPECT_EQ((1 << shift) * destinations, 1 << 16);
  }
}

// Every cell is in one brick, whose cells are neighbors.
TEST(BrickGrid, DividesTheCells) {
  for (const int cells : {1, 10, 13, 54}) {
    for (const int most : {1, 100, 1024}) {
      const BrickGrid grid = BrickGrid::with_at_most(cells, most);
      EXPECT_LE(grid.bricks(), most);
      std::vector<int> found(grid.bricks());
      for (int k = 0; k < cells; ++k) {
        for (int i = 0; i < cells; ++i) {
          const auto middle = [&](int cell) { return (cell + 0.5) / cells; };
          EXPECT_EQ(grid.cell_along(middle(i)), i);
          const unsigned brick = grid.brick_of(middle(i), middle(cells - 1), middle(k));
          ASSERT_LT(brick, found.size());
          ++found[brick];
        }
      }
      for (const int count : found) EXPECT_LE(count, grid.brick_cells * grid.brick_cells);
    }
  }
  constexpr BrickGrid grid = {.cells = 54, .brick_cells = 6};
  EXPECT_EQ(grid.bricks(), 729);
  EXPECT_EQ(grid.brick_of(0.0, 0.0, 0.0), 0U);
  EXPECT_EQ(grid.brick_of(1.0, 1.0, 1.0), 728U);
  EXPECT_EQ(grid.brick_of(0.12, 0.0, 0.0), 1U);
  EXPECT_EQ(grid.brick_of(0.0, 0.12, 0.0), 9U);
  EXPECT_EQ(grid.brick_of(-1.0, 2.0, 0.12), 72U + 81U);
}

// The map moves points, but none out of the cube, and the function is one of degree 4.
TEST(ProbedMesh, HoldsThePolynomialWhereItIsUniform) {
  const std::vector<Point> points = {
      {0.31, 0.77, 0.05}, {0.5, 0.5, 0.5}, {0.99, 0.01, 0.6}, {1e-9, 1.0, 0.3}};
  for (const ProbedMeshKind kind : {ProbedMeshKind::uniform, ProbedMeshKind::curved}) {
    const Discretization discretization = probed_mesh(kind, 3);
    EXPECT_EQ(discretization.mapping.is_cartesian(), kind == ProbedMeshKind::uniform);
    const Index n = discretization.lattice.size();
    std::vector<double> u(n);
    std::vector<double> x(n);
    std::vector<double> y(n);
    std::vector<double> z(n);
    discretization.mapping.node_positions(0, n, x.data(), y.data(), z.data());
    for (Index i = 0; i < n; ++i) {
      u[i] = probed_function_at({x[i], y[i], z[i]});
      EXPECT_GE(std::min({x[i], y[i], z[i]}), 0.0);
      EXPECT_LE(std::max({x[i], y[i], z[i]}), 1.0 + 1e-15);
    }
    std::vector<double> values(points.size(), std::nan(""));
    Probes(discretization, points).evaluate(u, values);
    const double tolerance = kind == ProbedMeshKind::uniform ? 1e-13 : 1e-2;
    for (std::size_t i = 0; i < points.size(); ++i) {
      EXPECT_NEAR(values[i], probed_function_at(points[i]), tolerance) << i;
    }
  }
}

StudyRow row_of(const std::string& variant, const AggregationParameters& parameters, double seconds,
                const AggregationMetrics& metrics = {}) {
  StudyRow row{.variant = variant, .parameters = parameters.cells(), .seconds = around(seconds)};
  conclude_row(metrics, "", row);
  return row;
}

StudyTable table_of(std::vector<StudyRow> rows) {
  StudyTable table(aggregation_layout());
  for (StudyRow& row : rows) table.add(std::move(row));
  return table;
}

StudyTable appends(double lane, double warp, double block) {
  const AggregationParameters parameters = append_parameters(32, 1.0);
  return table_of(
      {row_of("lane", parameters, lane, {.atomics_per_message = 1.0}),
       row_of("warp", parameters, warp, {.atomics_per_message = 1.0 / 32}),
       row_of(block_variant(64), parameters, block, {.atomics_per_message = 1.0 / 64}),
       row_of(block_variant(128), parameters, block, {.atomics_per_message = 1.0 / 128}),
       row_of(block_variant(256), parameters, block, {.atomics_per_message = 1.0 / 256}),
       row_of(block_variant(1024), parameters, block, {.atomics_per_message = 1.0 / 1024})});
}

TEST(AggregationClaims, AppendsAreCompared) {
  const StudyTable good = appends(60.0, 4.0, 1.0);
  EXPECT_EQ(verdict(kStudy, "G1", good), "holds");
  EXPECT_EQ(verdict(kStudy, "G2", good), "holds");
  EXPECT_EQ(verdict(kStudy, "G3", good), "holds");
  EXPECT_EQ(found(kStudy, "G1", good).here, "block-256 / warp 4");
  const StudyTable bad = appends(40.0, 2.0, 1.0);
  EXPECT_EQ(verdict(kStudy, "G1", bad), "does not hold");
  EXPECT_EQ(verdict(kStudy, "G2", bad), "does not hold");
  EXPECT_THAT(verdict(kStudy, "G1", table_of({})), ::testing::HasSubstr("no row of"));
}

TEST(AggregationClaims, AGroupThatReservesTwiceIsSeen) {
  const AggregationParameters parameters = append_parameters(32, 1.0);
  std::vector<StudyRow> rows = appends(60.0, 4.0, 1.0).rows();
  conclude_row({.atomics_per_message = 2.0 / 256}, "", rows[4]);
  EXPECT_EQ(verdict(kStudy, "G3", table_of(rows)), "does not hold");
}

// Indirect takes one second, direct a second at the crossing and more with more destinations.
StudyTable routed(double crossing, double gain) {
  std::vector<StudyRow> rows;
  for (int n = 2; n <= 64; n *= 2) {
    rows.push_back(row_of("direct", routing_parameters(n, 65536), n / crossing));
    rows.push_back(row_of("indirect", routing_parameters(n, 65536), 1.0));
    rows.push_back(row_of("indirect", routing_parameters(n, 32768), gain));
  }
  return table_of(std::move(rows));
}

TEST(AggregationClaims, TheCrossingIsFoundBetweenNumbers) {
  EXPECT_EQ(verdict(kStudy, "G4", routed(8.0, 1.0)), "holds");
  EXPECT_EQ(found(kStudy, "G4", routed(8.0, 1.0)).here, "crossing at N = 8");
  EXPECT_EQ(found(kStudy, "G4", routed(11.0, 1.0)).here, "crossing at N = 11");
  EXPECT_EQ(verdict(kStudy, "G4", routed(11.0, 1.0)), "holds");
  EXPECT_EQ(verdict(kStudy, "G4", routed(5.0, 1.0)), "does not hold");
  EXPECT_EQ(verdict(kStudy, "G4", routed(20.0, 1.0)), "does not hold");
  EXPECT_EQ(found(kStudy, "G4", routed(100.0, 1.0)).here, "direct is faster at all N from 2 to 64");
  EXPECT_EQ(verdict(kStudy, "G4", routed(100.0, 1.0)), "does not hold");
  EXPECT_EQ(found(kStudy, "G4", routed(1.0, 1.0)).here, "indirect is faster from N = 2 on");
  EXPECT_EQ(verdict(kStudy, "G4", routed(1.0, 1.0)), "does not hold");
}

TEST(AggregationClaims, LargeBuffersAreCompared) {
  EXPECT_EQ(verdict(kStudy, "G5", routed(8.0, 1.05)), "holds");
  EXPECT_EQ(verdict(kStudy, "G5", routed(8.0, 1.2)), "does not hold");
}

TEST(AggregationClaims, TheQueueIsComparedWithACopy) {
  const auto table = [](double rate, double polling) {
    std::vector<StudyRow> rows = {
        row_of("pinned-copy", pinned_copy_parameters(), 1.0, {.gigabytes_per_s = 50.0})};
    for (int consumers = 1; consumers <= 4; ++consumers) {
      rows.push_back(row_of("queue", queue_parameters(32, consumers, 125), 1.0,
                            {.gigabytes_per_s = rate * consumers / 4, .poll_percent = polling}));
    }
    return table_of(std::move(rows));
  };
  EXPECT_EQ(verdict(kStudy, "G6", table(26.0, 60.0)), "holds");
  EXPECT_EQ(found(kStudy, "G6", table(26.0, 60.0)).here, "26 of 50 GB/s, 4 consumers");
  EXPECT_EQ(verdict(kStudy, "G6", table(24.0, 60.0)), "does not hold");
  EXPECT_EQ(verdict(kStudy, "G8", table(24.0, 60.0)), "holds");
  EXPECT_EQ(verdict(kStudy, "G8", table(24.0, 40.0)), "does not hold");
}

TEST(AggregationClaims, DivergedAppendsAreCompared) {
  const auto table = [](double warp, double barrier) {
    const AggregationParameters parameters = divergence_parameters();
    return table_of({row_of("predicated", parameters, 1.0), row_of("warp-append", parameters, warp),
                     row_of("barrier", parameters, barrier)});
  };
  EXPECT_EQ(verdict(kStudy, "G7", table(0.8, 0.9)), "holds");
  EXPECT_EQ(verdict(kStudy, "G7", table(0.8, 1.2)), "does not hold");
  EXPECT_EQ(verdict(kStudy, "G7", table(0.8, 1.005)), "not measured: too close");
}

TEST(AggregationClaims, SeveralNodesAreNotMeasured) {
  EXPECT_EQ(verdict(kStudy, "G9", table_of({})), "not measured: one process");
}

TEST(AggregationProgram, WithoutAGpuIsOneLine) {
  const TemporaryDirectory directory;
  const ProgramResult ran = run_program(directory.path(), {"study", "aggregation", "--quick"},
                                        [] { setenv("CUDA_VISIBLE_DEVICES", "", 1); });
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_EQ(std::count(ran.errors.begin(), ran.errors.end(), '\n'), 1) << ran.errors;
  EXPECT_THAT(ran.errors, ::testing::HasSubstr("the study aggregation needs a GPU: "));
  const ProgramResult on_cpu =
      run_program(directory.path(), {"study", "aggregation", "--device", "cpu"});
  EXPECT_EQ(on_cpu.exit_code, 1);
  EXPECT_THAT(on_cpu.errors, ::testing::HasSubstr("it needs a GPU"));
}

}  // namespace
}  // namespace tessera::testing
