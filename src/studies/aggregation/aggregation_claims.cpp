// The rules by which the claims about collecting are judged.
#include "src/studies/aggregation/aggregation_claims.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>

#include "src/studies/aggregation/aggregation_row.hpp"

namespace tessera {
namespace {

// Of the messages by which appends and the queue are judged.
constexpr int kBytes = 32;
constexpr std::int64_t kKilobyte = 1024;
constexpr int kTimeout = 125;

const StudyRow& append_row(const StudyTable& table, const std::string& variant) {
  return table.at(variant, 1, append_parameters(kBytes, 1.0).cells());
}

const StudyRow& routing_row(const StudyTable& table, const std::string& scheme, int destinations,
                            std::int64_t kilobytes) {
  return table.at(scheme, 1, routing_parameters(destinations, kilobytes * kKilobyte).cells());
}

// Of two rows of the same work.
double times_as_fast(const StudyRow& row, const StudyRow& other) {
  return other.seconds.median / row.seconds.median;
}

Finding at_least(double value, double least, const std::string& what) {
  return within(value, least, 1e300, what);
}

Finding atomics_per_group(const StudyTable& table) {
  struct Level {
    std::string variant;
    int threads;
  };
  const Level levels[] = {{"warp", 32},
                          {block_variant(64), 64},
                          {block_variant(128), 128},
                          {block_variant(256), 256},
                          {block_variant(1024), 1024}};
  bool is_one = true;
  std::string here;
  for (const Level& level : levels) {
    const double atomics = table.metric(append_row(table, level.variant), "atomics_per_message");
    is_one = is_one && std::abs(atomics * level.threads - 1.0) < 1e-9;
    here += fmt::format("{}1 / {:.4g}", here.empty() ? "" : ", ", 1.0 / atomics);
  }
  return finding(verdict_of(is_one), here);
}

// The number of destinations at which two schemes are equally fast, between measured numbers as if
// the logarithms of both lay on lines; nothing where the first is faster at all of them.
std::optional<double> crossing(const StudyTable& table, const std::string& first,
                               const std::string& second) {
  constexpr std::int64_t kBuffer = 64;
  double before = 0.0;
  for (int destinations = 2; destinations <= 64; destinations *= 2) {
    const double lead = std::log(times_as_fast(routing_row(table, first, destinations, kBuffer),
                                               routing_row(table, second, destinations, kBuffer)));
    if (lead <= 0.0) {
      return destinations == 2 ? 2.0 : destinations * std::exp2(-lead / (lead - before));
    }
    before = lead;
  }
  return std::nullopt;
}

Finding direct_wins_for_few(const StudyTable& table) {
  const std::optional<double> at = crossing(table, "direct", "indirect");
  if (!at) return finding(Verdict::does_not_hold, "direct is faster at all N from 2 to 64");
  // A first N at which direct is not ahead is no crossing.
  const std::string here =
      *at <= 2.0 ? "indirect is faster from N = 2 on" : fmt::format("crossing at N = {:.3g}", *at);
  return finding(verdict_of(6.0 <= *at && *at <= 12.0), here);
}

Finding large_buffers_gain_little(const StudyTable& table) {
  constexpr int kDestinations = 8;
  const double gain = times_as_fast(routing_row(table, "indirect", kDestinations, 64),
                                    routing_row(table, "indirect", kDestinations, 32));
  return within(gain, 0.0, 1.1, "64 / 32 kB");
}

Finding small_messages_are_cheap(const StudyTable& table) {
  const double copy =
      table.metric(table.at("pinned-copy", 1, pinned_copy_parameters().cells()), "gigabytes_per_s");
  double best = 0.0;
  int with = 0;
  for (const int consumers : {1, 2, 3, 4}) {
    const double rate =
        table.metric(table.at("queue", 1, queue_parameters(kBytes, consumers, kTimeout).cells()),
                     "gigabytes_per_s");
    if (rate <= best) continue;
    best = rate;
    with = consumers;
  }
  return finding(
      verdict_of(best >= 0.5 * copy),
      fmt::format("{:.3g} of {:.3g} GB/s, {} consumer{}", best, copy, with, with == 1 ? "" : "s"));
}

Finding alternatives_beat_predication(const StudyTable& table) {
  const std::vector<std::string> parameters = divergence_parameters().cells();
  const StudyRow& predicated = table.at("predicated", 1, parameters);
  Comparisons comparisons;
  std::string here;
  for (const char* variant : {"warp-append", "barrier"}) {
    comparisons.add([&] {
      const StudyRow& row = table.at(variant, 1, parameters);
      here += fmt::format("{}{} {:.3g}", here.empty() ? "" : ", ", variant,
                          times_as_fast(row, predicated));
      return before(row.seconds, predicated.seconds);
    });
  }
  return comparisons.finding(here);
}

Finding consumer_polls(const StudyTable& table) {
  const double share = table.metric(
      table.at("queue", 1, queue_parameters(kBytes, 1, kTimeout).cells()), "poll_percent");
  return finding(verdict_of(share > 50.0), fmt::format("{:.3g} %", share));
}

}  // namespace

std::vector<Claim> aggregation_claims() {
  return {
      {"G1", "a group of 4 wavefronts appends more than 3 times as fast as one",
       "> 3, atomics -80 % (32 B)",
       "block-256 / warp is at least 3 (32 B, all active). It speaks of reservations, whose "
       "results "
       "are waited for, not of additions: scatter = \"patch\", which sums in shared memory first, "
       "loses to \"atomic\" on an H200",
       [](const StudyTable& table) {
         return at_least(
             times_as_fast(append_row(table, block_variant(256)), append_row(table, "warp")), 3.0,
             "block-256 / warp");
       }},
      {"G2", "synchronization by item is two orders of magnitude slower", "0.06 against 7 GB/s",
       "block-256 / lane is at least 50 (32 B, all active)",
       [](const StudyTable& table) {
         return at_least(
             times_as_fast(append_row(table, block_variant(256)), append_row(table, "lane")), 50.0,
             "block-256 / lane");
       }},
      {"G3", "a leader's reservation leaves one atomic operation a group",
       "up to 64 times fewer (warps here: 32)",
       "reservations a message are 1 / 32 of warps and 1 / block of blocks (32 B, all active)",
       atomics_per_group},
      {"G4", "direct wins up to eight destinations, indirect beyond", "8",
       "direct and indirect cross between N = 6 and 12 (64 kB)", direct_wins_for_few},
      {"G5", "buffers beyond 32 kB gain little", "32 kB (64 kB taken)",
       "64 kB is less than 1.1 times as fast as 32 kB (indirect, N = 8)",
       large_buffers_gain_little},
      {"G6", "small messages are cheap in the queue",
       "32 B at 7 GB/s; 0.5 B overhead an 8 B message",
       "32 B messages make half of the bandwidth of a copy to pinned memory or more, 1 to 4 "
       "consumers, 125 us",
       small_messages_are_cheap},
      {"G7", "a warp's appends and a barrier that threads leave are faster than predication",
       "1.28, 1.06", "both take less time than predicated", alternatives_beat_predication},
      {"G8", "the consumer mostly polls", "65 %",
       "one consumer polls more than half of the time (32 B, 125 us)", consumer_polls},
      {"G9", "8 nodes are 5.3 times as fast as one, with messages of 65440 of 65536 B", "5.3",
       "several processes would be measured",
       [](const StudyTable&) -> Finding { throw NotMeasured("one process"); }},
  };
}

}  // namespace tessera
