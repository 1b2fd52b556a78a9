// The rules by which claims about particles are judged.
#include "src/studies/n_body/n_body_claims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera {
namespace {

const StudyRow& sums(const StudyTable& table, const std::string& variant) {
  return table.at(variant, table.max_threads(), {"1024"});
}

// How many times faster the first is.
double gain(const StudyTable& table, const std::string& first, const std::string& second) {
  return sums(table, second).seconds.median / sums(table, first).seconds.median;
}

double over_serial(const StudyTable& table, const std::string& variant) {
  return table.at("serial", 1, {"1024"}).seconds.median / sums(table, variant).seconds.median;
}

Finding private_is_fastest(const StudyTable& table) {
  Comparisons comparisons;
  for (const char* other : {"basic-lock", "basic-transaction", "basic-cas", "blocked-lock",
                            "blocked-transaction", "blocked-cas"}) {
    comparisons.add(
        [&] { return before(sums(table, "private").seconds, sums(table, other).seconds); });
  }
  return comparisons.finding(fmt::format("{:.3g} s, {:.3g} times serial, threads: {}",
                                         sums(table, "private").seconds.median,
                                         over_serial(table, "private"), table.max_threads()));
}

Finding basic_ones_gain_little(const StudyTable& table) {
  constexpr double kMost = 3.0;
  const int threads = table.max_threads();
  if (threads < 4) {
    throw NotMeasured("3 times serial needs 4 threads at least");
  }
  Comparisons comparisons;
  double best = 0.0;
  for (const char* variant : {"basic-lock", "basic-transaction", "basic-cas"}) {
    comparisons.add([&] {
      best = std::max(best, over_serial(table, variant));
      return verdict_of(over_serial(table, variant) < kMost);
    });
  }
  return comparisons.finding(fmt::format("{:.3g} at best, threads: {}", best, threads));
}

Finding cas_is_fastest_of_basic(const StudyTable& table) {
  Comparisons comparisons;
  for (const char* other : {"basic-lock", "basic-transaction"}) {
    comparisons.add(
        [&] { return before(sums(table, "basic-cas").seconds, sums(table, other).seconds); });
  }
  comparisons.add([&] {
    return verdict_of(std::abs(gain(table, "basic-lock", "basic-transaction") - 1.0) <= 0.1);
  });
  return comparisons.finding(
      fmt::format("lock / cas {:.3g}", gain(table, "basic-cas", "basic-lock")));
}

Finding blocking_helps(const StudyTable& table) {
  Comparisons comparisons;
  const double cas = gain(table, "blocked-cas", "basic-cas");
  const double lock = gain(table, "blocked-lock", "basic-lock");
  comparisons.add([&] { return verdict_of(cas > 1.0 && lock > 1.0 && cas < lock); });
  comparisons.add([&] {
    const double transaction = gain(table, "blocked-transaction", "basic-transaction");
    return verdict_of(transaction > 1.0 && cas < transaction);
  });
  return comparisons.finding(fmt::format("lock {:.3g}, cas {:.3g} times", lock, cas));
}

Finding blocked_transactions_beat_locks(const StudyTable& table) {
  const StudyRow& transaction = sums(table, "blocked-transaction");
  const StudyRow& lock = sums(table, "blocked-lock");
  return finding(before(transaction.seconds, lock.seconds),
                 fmt::format("{:.3g}, {:.3g} s", transaction.seconds.median, lock.seconds.median));
}

Finding few_fail(const StudyTable& table) {
  double most = 0.0;
  for (const char* variant : {"basic-transaction", "blocked-transaction"}) {
    most = std::max(most, table.metric(sums(table, variant), "failed_percent"));
  }
  return finding(verdict_of(most < 2.0), fmt::format("{:.3g} % at most", most));
}

}  // namespace

std::vector<Claim> n_body_claims() {
  return {
      {"N1", "private buffers are fastest", "0.09 s, 13.8 times serial on 16 threads",
       "private takes less time than the three basic and the three blocked ones, most threads",
       private_is_fastest},
      {"N2", "basic versions stay below 3 times serial", "2.5 at best on 16 threads",
       "all three are below 3 times serial, most threads, 4 at least", basic_ones_gain_little},
      {"N3", "basic: locks as fast as transactions, compare-and-swap a little faster",
       "0.64, 0.62, 0.50 s",
       "cas takes less time than both others, and these are within 10 % of each other",
       cas_is_fastest_of_basic},
      {"N4", "blocking helps all, compare-and-swap least", "4.3, 4.4, 2.3 times",
       "basic / blocked is above 1 for all three, and least for cas", blocking_helps},
      {"N5", "blocked transactions are slightly faster than blocked locks", "0.14, 0.15 s",
       "blocked-transaction takes less time than blocked-lock", blocked_transactions_beat_locks},
      {"N6", "few transactions fail", "0.4 %", "fewer than 2 % fail, basic and blocked", few_fail},
  };
}

}  // namespace tessera
