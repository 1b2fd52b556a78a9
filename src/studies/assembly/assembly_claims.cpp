#include "src/studies/assembly/assembly_claims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "src/studies/assembly/assembly_method.hpp"
#include "src/studies/assembly/delaunay_square.hpp"
#include "src/studies/sharing/transaction_options.hpp"

namespace tessera {
namespace {

constexpr std::array<int, 3> kOperations = {1, 100, 1000};
constexpr int kMaxThreads = 16;

constexpr char kTransaction[] = "transaction/entry";
constexpr char kAtomic[] = "atomic";
constexpr char kLock[] = "lock-entry";

/// The rows that claims speak of.
class Rows {
 public:
  explicit Rows(const StudyTable& table) : table_(table) {
    for (const StudyRow& row : table.rows()) {
      if (row.not_measured.empty() && row.threads <= kMaxThreads) {
        threads_ = std::max(threads_, row.threads);
      }
    }
  }

  /// The largest number of threads measured, up to the paper's 16.
  [[nodiscard]] int threads() const { return threads_; }

  /// @throws NotMeasured
  [[nodiscard]] const StudyRow& full(const std::string& variant, int operations,
                                     int threads) const {
    return at("full", variant, operations, threads);
  }
  [[nodiscard]] const StudyRow& full(const std::string& variant, int operations) const {
    return full(variant, operations, threads_);
  }
  [[nodiscard]] const StudyRow& csr(const std::string& variant, int operations) const {
    return at("csr", variant, operations, threads_);
  }
  [[nodiscard]] double metric(const StudyRow& row, const std::string& name) const {
    return table_.metric(row, name);
  }

  /// The row of the least median among those measured. @throws NotMeasured if none was
  [[nodiscard]] const StudyRow& fastest_csr(Sharing sharing, int operations) const {
    const StudyRow* fastest = nullptr;
    for (const AssemblyInfo& info : assembly_table()) {
      if (info.sharing != sharing) continue;
      try {
        const StudyRow& row = csr(std::string(info.name), operations);
        if (fastest == nullptr || row.seconds.median < fastest->seconds.median) fastest = &row;
      } catch (const NotMeasured&) {
        continue;
      }
    }
    if (fastest == nullptr) throw NotMeasured("no such row");
    return *fastest;
  }

 private:
  [[nodiscard]] const StudyRow& at(const std::string& target, const std::string& variant,
                                   int operations, int threads) const {
    return table_.at(variant, threads,
                     assembly_parameters(target, operations, kSquareTriangles, "random"));
  }

  const StudyTable& table_;
  int threads_ = 0;
};

double milliseconds(const StudyRow& row) { return 1e3 * row.seconds.median; }

/// Interquartile range over median.
double spread(const StudyRow& row) {
  return (row.seconds.upper_quartile - row.seconds.lower_quartile) / row.seconds.median;
}

/// "1.47 / 2.39": the medians in milliseconds.
std::string times_text(const std::vector<const StudyRow*>& rows) {
  std::vector<std::string> texts;
  texts.reserve(rows.size());
  for (const StudyRow* row : rows) texts.push_back(fmt::format("{:.3g}", milliseconds(*row)));
  return fmt::format("{}", fmt::join(texts, " / "));
}

Finding transactions_beat_locks(const StudyTable& table) {
  const Rows rows(table);
  std::vector<Verdict> verdicts;
  std::vector<std::string> here;
  for (const int operations : kOperations) {
    const StudyRow& transaction = rows.full(kTransaction, operations);
    const StudyRow& lock = rows.full(kLock, operations);
    verdicts.push_back(before(transaction.seconds, lock.seconds));
    here.push_back(times_text({&transaction, &lock}));
  }
  return finding(all_hold(verdicts), fmt::format("{} ms", fmt::join(here, ", ")));
}

Finding atomic_is_fastest_with_little_work(const StudyTable& table) {
  const Rows rows(table);
  Comparisons comparisons;
  std::vector<std::string> here;
  for (const int operations : {1, 100}) {
    const StudyRow& atomic = rows.full(kAtomic, operations);
    const StudyRow& lock = rows.full(kLock, operations);
    comparisons.add([&] { return before(atomic.seconds, lock.seconds); });
    comparisons.add(
        [&] { return before(atomic.seconds, rows.full(kTransaction, operations).seconds); });
    here.push_back(times_text({&atomic, &lock}));
  }
  return comparisons.finding(fmt::format("atomic / locks {} ms", fmt::join(here, ", ")));
}

Finding transactions_are_fastest_with_much_work(const StudyTable& table) {
  const Rows rows(table);
  const StudyRow& transaction = rows.full(kTransaction, 1000);
  const StudyRow& atomic = rows.full(kAtomic, 1000);
  const StudyRow& lock = rows.full(kLock, 1000);
  return finding(all_hold({before(transaction.seconds, atomic.seconds),
                           before(transaction.seconds, lock.seconds)}),
                 times_text({&transaction, &atomic, &lock}) + " ms");
}

/// The best of the three at the largest number of threads, of those that were measured.
Finding speedup_grows_with_work(const StudyTable& table) {
  const Rows rows(table);
  std::vector<double> best;
  for (const int operations : kOperations) {
    const StudyRow& serial = rows.full("serial", operations, 1);
    double speedup = std::max(rows.metric(rows.full(kAtomic, operations), "speedup_over_serial"),
                              rows.metric(rows.full(kLock, operations), "speedup_over_serial"));
    try {
      speedup = std::max(
          speedup, serial.seconds.median / rows.full(kTransaction, operations).seconds.median);
    } catch (const NotMeasured&) {
      // The best of the other two.
    }
    best.push_back(speedup);
  }
  return finding(verdict_of(best[0] < best[1] && best[1] < best[2]),
                 fmt::format("{:.2f}, {:.2f}, {:.2f} on {} threads", best[0], best[1], best[2],
                             rows.threads()));
}

Finding protection_costs_on_one_thread(const StudyTable& table) {
  const Rows rows(table);
  const StudyRow& serial = rows.full("serial", 1, 1);
  // A GPU, whose rows name one thread, has no locks.
  static_cast<void>(rows.full(kLock, 1, 1));
  Comparisons comparisons;
  std::vector<std::string> here;
  for (const char* const variant : {kAtomic, kTransaction, kLock}) {
    comparisons.add([&] {
      const StudyRow& row = rows.full(variant, 1, 1);
      here.push_back(fmt::format("{} {:.2f}", variant, row.seconds.median / serial.seconds.median));
      return before(serial.seconds, row.seconds);
    });
  }
  return comparisons.finding(fmt::format("{} times serial", fmt::join(here, ", ")));
}

Finding locks_cost_three_transactions(const StudyTable& table) {
  const Rows rows(table);
  const auto cost = [&](const char* variant) {
    return rows.metric(rows.full(variant, 1, 1), "ns_an_addition");
  };
  const double lock = cost(kLock);
  const double transaction = cost(kTransaction);
  if (!(transaction > 0.0)) throw NotMeasured("transactions cost less than the clock tells");
  return within(lock / transaction, 2.0, 4.5,
                fmt::format("{:.3g} / {:.3g} ns =", lock, transaction));
}

Finding atomic_varies_most(const StudyTable& table) {
  const Rows rows(table);
  const double atomic = spread(rows.full(kAtomic, 1000));
  const double lock = spread(rows.full(kLock, 1000));
  Comparisons comparisons;
  comparisons.add([&] { return verdict_of(atomic > lock); });
  comparisons.add([&] { return verdict_of(atomic > spread(rows.full(kTransaction, 1000))); });
  return comparisons.finding(
      fmt::format("{:.2g} against {:.2g} of locks; medians on one thread {} ms", atomic, lock,
                  times_text({&rows.full(kAtomic, 1000, 1), &rows.full(kLock, 1000, 1)})));
}

Finding transactions_fail_without_conflict(const StudyTable& table) {
  const Rows rows(table);
  const StudyRow& row = rows.full(kTransaction, 1);
  const double failed = rows.metric(row, "failed_percent");
  const double conflict = rows.metric(row, "conflict_percent");
  return finding(verdict_of(failed > 5.0 && conflict < 1.0),
                 fmt::format("{:.3g} %, of these {:.3g} % by conflict", failed, conflict));
}

Finding locks_need_more_memory(const StudyTable& table) {
  const Rows rows(table);
  const double locks = rows.metric(rows.full(kLock, 1), "extra_mib");
  const double matrix =
      static_cast<double>(kSquarePoints * kSquarePoints * sizeof(double)) / double(1U << 20U);
  return finding(verdict_of(locks > matrix), fmt::format("{:.0f} / {:.0f} MiB", locks, matrix));
}

Finding avoiding_beats_protecting(const StudyTable& table) {
  const Rows rows(table);
  const StudyRow& avoiding = rows.fastest_csr(Sharing::avoids, 1);
  const StudyRow& protecting = rows.fastest_csr(Sharing::protects, 1);
  return finding(before(avoiding.seconds, protecting.seconds),
                 fmt::format("{} {:.3g}, {} {:.3g} ms", avoiding.variant, milliseconds(avoiding),
                             protecting.variant, milliseconds(protecting)));
}

Finding colors_are_the_degree(const StudyTable& table) {
  const Rows rows(table);
  const StudyRow& row = rows.csr("coloring", 1);
  const double colors = rows.metric(row, "colors");
  const double degree = rows.metric(row, "degree");
  return finding(verdict_of(colors == degree),
                 fmt::format("{:.0f} colors, {:.0f} triangles at a point", colors, degree));
}

}  // namespace

StudyLayout assembly_layout() {
  StudyLayout layout = {.parameters = {{"target"}, {"ops"}, {"triangles"}, {"numbering"}},
                        .metrics = {{"speedup_over_serial", "x serial"},
                                    {"speedup_over_itself", "x itself"},
                                    {"paper_ms", "paper ms"},
                                    {"ns_an_addition", "ns/add"}},
                        .time_unit = "ms"};
  for (StudyColumn& column : transaction_columns()) layout.metrics.push_back(std::move(column));
  layout.metrics.push_back({"fallback_percent", "fallback%"});
  layout.metrics.push_back({"extra_mib", "extra MiB"});
  layout.metrics.push_back({"colors"});
  layout.metrics.push_back({"degree"});
  layout.metrics.push_back({"billion_additions_per_s", "G/s"});
  layout.metrics.push_back({"copy_percent", "copy%"});
  return layout;
}

std::vector<std::string> assembly_parameters(const std::string& target, int operations,
                                             Index triangles, const std::string& numbering) {
  return {target, std::to_string(operations), std::to_string(triangles), numbering};
}

std::vector<Claim> assembly_claims() {
  return {
      {.number = "A1",
       .statement = "transactions beat locks at every work size",
       .document = "1.47 / 2.39, 1.63 / 2.70, 2.91 / 4.23 ms",
       .rule = "transaction/entry is before lock-entry with 1, 100 and 1000 operations",
       .judge = transactions_beat_locks},
      {.number = "A2",
       .statement = "compare-and-swap is fastest of the three with little work",
       .document = "1.23, 1.42 ms",
       .rule = "atomic is before lock-entry and transaction/entry with 1 and 100 operations",
       .judge = atomic_is_fastest_with_little_work},
      {.number = "A3",
       .statement = "transactions are fastest with much work",
       .document = "2.91 against 3.77, 4.23 ms",
       .rule = "transaction/entry is before atomic and lock-entry with 1000 operations",
       .judge = transactions_are_fastest_with_much_work},
      {.number = "A4",
       .statement = "the best speed-up over serial grows with the work",
       .document = "3.3, 4.6, 9.0",
       .rule = "the best of the three, of those measured, increases from 1 to 100 to 1000",
       .judge = speedup_grows_with_work},
      {.number = "A5",
       .statement = "on one thread every protection loses to serial at 1 operation",
       .document = "2.3 (CAS), 2.7, 5.7 (locks) times",
       .rule = "serial is before each of the three on one thread",
       .judge = protection_costs_on_one_thread},
      {.number = "A6",
       .statement = "an addition costs locks about three times a transaction",
       .document = "512 / 182 ns; CAS 146",
       .rule = "the ratio of ns/add on one thread at 1 operation is 2 to 4.5",
       .judge = locks_cost_three_transactions},
      {.number = "A7",
       .statement =
           "with 1000 operations CAS varies most and is no better than locks on few threads",
       .document = "39.4 / 46.3 ms on one thread",
       .rule = "interquartile range over median of atomic is the largest of the three",
       .judge = atomic_varies_most},
      {.number = "A8",
       .statement = "transactions fail often, but seldom by conflict",
       .document = "18.8 %, of these 0.4 % by conflict",
       .rule = "more than 5 % fail, and less than 1 % of these by conflict, at 1 operation",
       .judge = transactions_fail_without_conflict},
      {.number = "A9",
       .statement = "locks need more memory than the matrix",
       .document = "106 / 35 MB",
       .rule = "the mutexes of lock-entry have more bytes than the full matrix",
       .judge = locks_need_more_memory},
      {.number = "A10",
       .statement = "avoiding concurrent additions beats protecting them",
       .document = "no number",
       .rule = "the best of coloring, private, rows and gather is before the best protected one, "
               "csr, 1 operation",
       .judge = avoiding_beats_protecting},
      {.number = "A11",
       .statement = "as many colors are needed as elements are around a vertex at most",
       .document = "\"in general equal\"",
       .rule = "the greedy coloring has as many colors as the point with most triangles has",
       .judge = colors_are_the_degree},
  };
}

}  // namespace tessera
