// The rules by which claims about protected additions are judged.
#include "src/studies/synchronization/synchronization_claims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace tessera {
namespace {

const StudyRow& alone(const StudyTable& table, const std::string& variant, int k) {
  return table.at(variant, 1, overhead_parameters(k));
}

double nanoseconds(const StudyRow& row) { return row.seconds.median * row.shown_per_second; }

double ratio(const StudyRow& row, const StudyRow& of) {
  return row.seconds.median / of.seconds.median;
}

// Contention at most threads: the values of q that were measured, as rows have them.
std::vector<std::string> shares(const StudyTable& table, double least, double most) {
  std::vector<std::string> found;
  const int threads = table.max_threads();
  for (const StudyRow& row : table.rows()) {
    if (row.parameters[0] != "contention" || row.threads != threads) continue;
    const std::string& q = row.parameters[2];
    const double value = std::strtod(q.c_str(), nullptr);
    const bool is_new = std::find(found.begin(), found.end(), q) == found.end();
    if (is_new && least <= value && value <= most) found.push_back(q);
  }
  if (found.empty()) throw NotMeasured("contention needs two cores");
  return found;
}

const StudyRow& met(const StudyTable& table, const std::string& variant, const std::string& q) {
  return table.at(variant, table.max_threads(), contention_parameters(q));
}

Finding order_of_one_value(const StudyTable& table) {
  const char* const variants[] = {"nothing", "transaction", "atomic", "mutex"};
  std::vector<Verdict> verdicts;
  std::vector<std::string> times;
  for (int i = 0; i < 4; ++i) {
    const StudyRow& row = alone(table, variants[i], 1);
    times.push_back(fmt::format("{:.3g}", nanoseconds(row)));
    if (i > 0) {
      verdicts.push_back(before(alone(table, variants[i - 1], 1).seconds, row.seconds));
    }
  }
  return finding(all_hold(verdicts), fmt::format("{} ns", fmt::join(times, ", ")));
}

Finding more_values(const StudyTable& table) {
  const auto growth = [&](const std::string& variant) {
    return ratio(alone(table, variant, 8), alone(table, variant, 1));
  };
  const std::string lock =
      fmt::format("lock {:.3g}, nothing {:.3g}", growth("mutex"), growth("nothing"));
  try {
    const double transaction = growth("transaction");
    return finding(verdict_of(transaction <= 1.5 && growth("mutex") <= 1.5),
                   fmt::format("transaction {:.3g}, {}", transaction, lock));
  } catch (const NotMeasured& why) {
    return {.here = lock, .reason = why.what()};
  }
}

Finding failures_alone(const StudyTable& table) {
  const double a_million = 1e4 * table.metric(alone(table, "transaction", 1), "failed_percent");
  return finding(verdict_of(a_million < 10.0), fmt::format("{:.3g} a million", a_million));
}

Finding locks_are_slowest(const StudyTable& table) {
  Comparisons comparisons;
  double least = 1e300;
  for (const std::string& q : shares(table, 0.0, 1.0)) {
    for (const char* other : {"atomic", "transaction"}) {
      comparisons.add([&] {
        const StudyRow& lock = met(table, "mutex", q);
        const StudyRow& row = met(table, other, q);
        least = std::min(least, ratio(lock, row));
        return before(row.seconds, lock.seconds);
      });
    }
  }
  return comparisons.finding(fmt::format("lock / others at least {:.3g}", least));
}

Finding atomic_is_fastest_but_at_the_end(const StudyTable& table) {
  Comparisons comparisons;
  const auto add = [&](const std::string& first, const std::string& second, const std::string& q) {
    comparisons.add(
        [&] { return before(met(table, first, q).seconds, met(table, second, q).seconds); });
  };
  double least = 1e300;
  for (const std::string& q : shares(table, 0.0, 0.25)) {
    for (const char* other : {"transaction", "mutex"}) add("atomic", other, q);
    least = std::min(least, ratio(met(table, "mutex", q), met(table, "atomic", q)));
  }
  for (const char* other : {"atomic", "mutex"}) add("transaction", other, share_text(1.0));
  return comparisons.finding(fmt::format("lock / atomic up to q = 1/4 at least {:.3g}", least));
}

Finding locks_meet_as_foreseen(const StudyTable& table) {
  double least = 1e300;
  double most = 0.0;
  for (const std::string& q : shares(table, 0.0625, 1.0)) {
    const double actual = 0.01 * table.metric(met(table, "mutex", q), "actual_percent");
    const double share = actual / std::strtod(q.c_str(), nullptr);
    least = std::min(least, share);
    most = std::max(most, share);
  }
  return finding(verdict_of(least >= 0.5 && most <= 1.5),
                 fmt::format("actual / potential {:.3g} to {:.3g}", least, most));
}

Finding transactions_seldom_meet(const StudyTable& table) {
  const StudyRow& row = met(table, "transaction", share_text(1.0));
  const double actual = 0.01 * table.metric(row, "actual_percent");
  return finding(verdict_of(actual < 0.2),
                 fmt::format("actual / potential {:.3g}; {:.3g} % of all tries fail", actual,
                             table.metric(row, "failed_percent")));
}

}  // namespace

std::vector<std::string> overhead_parameters(int k) {
  return {"overhead", std::to_string(k), "", "", ""};
}

std::vector<std::string> capacity_parameters(int k) {
  return {"capacity", std::to_string(k), "", "", ""};
}

std::vector<std::string> contention_parameters(const std::string& q) {
  return {"contention", "", q, "", ""};
}

std::vector<std::string> gpu_parameters(const std::string& part, const std::string& sharing,
                                        const std::string& table) {
  return {part, "", "", sharing, table};
}

std::vector<Claim> synchronization_claims() {
  return {
      {"S1", "one value: nothing < transaction < compare-and-swap < lock",
       "12.5, 104.7, 164.1, 339.9 ns", "that is the order, one thread", order_of_one_value},
      {"S2", "a transaction is about three times as fast as a lock", "3.2",
       "lock / transaction, one value, is 2.5 to 4",
       [](const StudyTable& table) {
         return within(ratio(alone(table, "mutex", 1), alone(table, "transaction", 1)), 2.5, 4.0,
                       "lock / transaction");
       }},
      {"S3", "more values hardly add: 8 against 1", "transaction 1.36, lock 1.05, nothing 4.16",
       "transaction and lock are at most 1.5", more_values},
      {"S4", "on one thread next to no transaction fails", "about 2 a million",
       "fewer than 10 a million fail, one value", failures_alone},
      {"S5", "a spin lock is as slow as the mutex or slower", "no number",
       "spin / mutex, one thread and value, is at least 0.95",
       [](const StudyTable& table) {
         return within(ratio(alone(table, "spin", 1), alone(table, "mutex", 1)), 0.95, 1e300,
                       "spin / mutex");
       }},
      {"S6", "where threads meet, locks are slowest at every q", "\"dramatically\"",
       "mutex takes longer than atomic and transaction at all q", locks_are_slowest},
      {"S7", "compare-and-swap is fastest but at the highest q, where transactions level off",
       "crossing not in the text",
       "of atomic, transaction and mutex, the first is fastest for all q up to 1/4, the second at "
       "1",
       atomic_is_fastest_but_at_the_end},
      {"S8", "locks: actual conflicts are the potential ones", "\"almost perfect\"",
       "first tries that fail / q is 0.5 to 1.5 for all q from 1/16", locks_meet_as_foreseen},
      {"S9", "transactions: a twentieth of the potential conflicts happen",
       "1/20; thesis: 13.2 % of updates fail at q = 1",
       "updates whose first try fails / q is below 0.2 at q = 1", transactions_seldom_meet},
  };
}

}  // namespace tessera
