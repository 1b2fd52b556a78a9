// The rules by which claims about the order of updates are judged.
#include "src/studies/update_order/update_order_claims.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <span>

#include "src/studies/update_order/relaxation_problems.hpp"
#include "src/studies/update_order/update_order_table.hpp"

namespace tessera {
namespace {

constexpr int kBlocksOfOneWarp[] = {8, 16, 32};
constexpr int kBlocksOfWarps[] = {64, 128, 256};
constexpr int kAllBlocks[] = {8, 16, 32, 64, 128, 256};
constexpr int kBlocksInShared[] = {128, 256};

/// Inconsistencies of several rows of a kernel, past the first-level cache as in the document.
struct SeenPlaces {
  double executions = 0.0;  // of all rows together
  InconsistencyPlaces places;
};

/// @throws NotMeasured
SeenPlaces seen(const StudyTable& table, ProbeKernel kernel, std::span<const int> blocks,
                LoadPath path = LoadPath::l2) {
  SeenPlaces sum;
  for (const int block : blocks) {
    const StudyRow& row = table.at(probe_name(kernel), 1, probe_parameters(path, block));
    const auto count = [&](const char* name) {
      return static_cast<std::int64_t>(table.metric(row, name));
    };
    sum.executions += table.metric(row, "executions");
    sum.places.block_first += count("block_first");
    sum.places.block_last += count("block_last");
    sum.places.warp_first += count("warp_first");
    sum.places.warp_last += count("warp_last");
    sum.places.elsewhere += count("elsewhere");
  }
  return sum;
}

std::string places_text(const SeenPlaces& of) {
  const InconsistencyPlaces& p = of.places;
  return fmt::format("block first {}, last {}; warp first {}, last {}; elsewhere {}; {} executions",
                     p.block_first, p.block_last, p.warp_first, p.warp_last, p.elsewhere,
                     of.executions);
}

/// Each block size on its own must do.
template <class Rule>
Verdict for_each_block(const StudyTable& table, ProbeKernel kernel, std::span<const int> blocks,
                       Rule&& rule) {
  std::vector<Verdict> verdicts;
  for (const int block : blocks) {
    verdicts.push_back(verdict_of(rule(seen(table, kernel, {&block, 1}).places)));
  }
  return all_hold(verdicts);
}

Verdict only_at_block_ends(const StudyTable& table) {
  return for_each_block(table, ProbeKernel::kernel1, kBlocksOfOneWarp,
                        [](const InconsistencyPlaces& places) {
                          const std::int64_t at_ends = places.block_first + places.block_last;
                          return at_ends > 0 && places.all() == at_ends;
                        });
}

Verdict also_at_warp_starts(const StudyTable& table) {
  return for_each_block(table, ProbeKernel::kernel1, kBlocksOfWarps,
                        [](const InconsistencyPlaces& places) {
                          return places.warp_first > 0 && places.elsewhere == 0;
                        });
}

Finding judge_block_ends(const StudyTable& table) {
  return finding(only_at_block_ends(table),
                 places_text(seen(table, ProbeKernel::kernel1, kBlocksOfOneWarp)));
}

Finding judge_warp_starts(const StudyTable& table) {
  return finding(also_at_warp_starts(table),
                 places_text(seen(table, ProbeKernel::kernel1, kBlocksOfWarps)));
}

Finding judge_never_last(const StudyTable& table) {
  const SeenPlaces all = seen(table, ProbeKernel::kernel1, kAllBlocks);
  return finding(verdict_of(all.places.block_last == 0 && all.places.warp_last == 0),
                 places_text(all));
}

Finding judge_last_in_shared(const StudyTable& table) {
  const Verdict verdict =
      for_each_block(table, ProbeKernel::kernel2, kBlocksInShared,
                     [](const InconsistencyPlaces& places) { return places.warp_last > 0; });
  return finding(verdict, places_text(seen(table, ProbeKernel::kernel2, kBlocksInShared)));
}

Finding judge_increasing(const StudyTable& table) {
  constexpr double kMinPercent = 90.0;
  const auto share = [&](Wave wave) {
    return table.metric(table.at(kStarts, 1, start_parameters(kProbePeriod, wave)),
                        "increasing_percent");
  };
  const double all = share(Wave::all);
  return finding(verdict_of(all > kMinPercent),
                 fmt::format("{:.3g} % of neighbors; first wave {:.3g}, later {:.3g} %", all,
                             share(Wave::first), share(Wave::later)));
}

Finding judge_warp(const StudyTable& table) {
  const SeenPlaces all = seen(table, ProbeKernel::kernel1, kAllBlocks);
  return finding(
      all_hold({only_at_block_ends(table), also_at_warp_starts(table)}),
      fmt::format("{} inside of warps in {} executions, which proves nothing parallel. It is about "
                  "updates in place: block Jacobi's local sweeps go from e to another e between "
                  "barriers and are synchronous in blocks of up to {} rows",
                  all.places.elsewhere, all.executions, kMaxDeviceBlockRows));
}

/// A row of the problem that the manual has numbers of. @throws NotMeasured
const StudyRow& relaxed(const StudyTable& table, const std::string& order, int every) {
  constexpr int kSweeps = 100;
  const int threads = order == "sequential" ? 1 : table.max_threads();
  return table.at(order, threads,
                  relaxation_parameters(relaxation_problems().front().name,
                                        block_shapes().front().name, every, kSweeps));
}

Finding judge_order_matters(const StudyTable& table) {
  constexpr double kDeviations = 3.0;
  struct Seen {
    std::string order;
    double mean;
    double deviation;
  };
  std::vector<Seen> orders;
  for (const char* order : {"queue", "queue-reversed", "queue-random", "hardware"}) {
    try {
      const StudyRow& row = relaxed(table, order, 1);
      const double mean = table.metric(row, "mean");
      orders.push_back({order, mean, mean * table.metric(row, "deviation_over_mean")});
    } catch (const NotMeasured&) {
      continue;
    }
  }
  if (orders.size() < 2) throw NotMeasured("fewer than two orders");
  bool differ = false;
  std::vector<std::string> here;
  for (const Seen& a : orders) {
    for (const Seen& b : orders) {
      differ =
          differ || std::abs(a.mean - b.mean) > kDeviations * std::max(a.deviation, b.deviation);
    }
    here.push_back(fmt::format("{} {:.3g} +- {:.1g}", a.order, a.mean, a.deviation));
  }
  return finding(verdict_of(differ), fmt::format("{}", fmt::join(here, ", ")));
}

Finding judge_twice_as_fast(const StudyTable& table) {
  const double queue = table.metric(relaxed(table, "queue", 1), "mean");
  const double synchronous = table.metric(relaxed(table, "synchronous", 1), "mean");
  return within(std::log(queue) / std::log(synchronous), 1.4, 2.2,
                fmt::format("{:.3g} against {:.3g}: log ratio", queue, synchronous));
}

Finding judge_runs_differ(const StudyTable& table) {
  const auto deviation = [&](int every) {
    return table.metric(relaxed(table, "queue", every), "deviation_over_mean");
  };
  const double overlapped = deviation(10);
  return within(overlapped, 0.05, 0.8,
                fmt::format("one at a time {:.2g}, ten at a time", deviation(1)));
}

}  // namespace

std::vector<Claim> update_order_claims() {
  return {
      {.number = "U1",
       .statement = "inconsistencies are at block boundaries, none inside of blocks of 8, 16, 32",
       .document = "figure 5",
       .rule = "kernel1, l2: some at first or last components of blocks, none elsewhere, there",
       .judge = judge_block_ends},
      {.number = "U2",
       .statement = "in blocks of 64, 128, 256 they are at every multiple of 32, too",
       .document = "figure 5: 32; 32, 64, ..",
       .rule = "kernel1, l2: some at first components of warps, none inside of warps, there",
       .judge = judge_warp_starts},
      {.number = "U3",
       .statement = "kernel1: it is always the first component of a block or warp, never the last",
       .document = "\"never\"",
       .rule = "kernel1, l2, all blocks: none at last components",
       .judge = judge_never_last},
      {.number = "U4",
       .statement = "kernel2: they are at last components, too",
       .document = "figure 6: 31, 63",
       .rule = "kernel2, l2, blocks of 128 and 256: some at last components of warps",
       .judge = judge_last_in_shared},
      {.number = "U5",
       .statement = "blocks start preferably in increasing order",
       .document = "no number",
       .rule = "of blocks of 256 with consecutive numbers more than 90 % take increasing tickets",
       .judge = judge_increasing},
      {.number = "U6",
       .statement = "what is updated in parallel is a warp",
       .document = "32",
       .rule = "U1 and U2 hold",
       .judge = judge_warp},
      {.number = "U7",
       .statement = "the order of updates has a significant impact on convergence",
       .document = "no number",
       .rule =
           "the means of two asynchronous orders after 100 sweeps, one at a time, differ by more "
           "than 3 of the larger deviation; p1-16, bricks",
       .judge = judge_order_matters},
      {.number = "U8",
       .statement = "asynchronous is nearly twice as fast as synchronous",
       .document = "our manual: 3.4e-5 against 1.2e-3, 2 CPU threads",
       .rule = "the ratio of the logarithms of the residuals of queue and synchronous after 100 "
               "sweeps is 1.4 to 2.2; p1-16, bricks",
       .judge = judge_twice_as_fast},
      {.number = "U9",
       .statement = "runs differ by some percent once sweeps overlap",
       .document = "our manual: deviation/mean 0.16 to 0.25 ten at a time, 5e-3 one at a time",
       .rule = "deviation/mean of queue after 100 sweeps, ten at a time, is within a factor of "
               "three of that, 0.05 to 0.8; p1-16, bricks",
       .judge = judge_runs_differ},
  };
}

}  // namespace tessera
