// The study synchronization: what one protected addition costs, alone and when threads meet.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <vector>

#include "solvers/memory/hashed_value.hpp"
#include "src/studies/rows.hpp"
#include "src/studies/sharing/hardware_transactions.hpp"
#include "src/studies/sharing/transaction_options.hpp"
#include "src/studies/study_record.hpp"
#include "src/studies/synchronization/synchronization_claims.hpp"
#include "src/studies/synchronization/synchronization_gpu.hpp"
#include "src/studies/thread_team.hpp"

namespace tessera {
namespace {

constexpr int kSmallestShare = 10;  // of q: 2^-10

// What was stored is in memory, and what is loaded next comes from there: iterations and values
// neither merge nor become vectors.
inline void keep_order() { asm volatile("" ::: "memory"); }

template <int k>
inline void add_ones(double* data) {
  for (int i = 0; i < k; ++i) {
    data[i] += 1.0;
    keep_order();
  }
}

constexpr std::size_t kMetrics = 6;

// failed, actual, conflict, capacity, other; the last column, a rate, is of GPUs.
std::vector<StudyCell> metrics_of(const TransactionCounts& counts) {
  const std::vector<StudyCell> of_all_studies = transaction_cells(counts);
  std::vector<StudyCell> cells(kMetrics);
  cells[0] = of_all_studies[0];
  cells[1] = percent(counts.first_aborted, counts.wanted);
  std::copy(of_all_studies.begin() + 1, of_all_studies.end(), cells.begin() + 2);
  return cells;
}

std::vector<StudyColumn> metric_columns() {
  std::vector<StudyColumn> columns = transaction_columns();
  columns.insert(columns.begin() + 1, {"actual_percent", "actual%"});
  columns.push_back({"billion_updates_per_s", "G/s"});
  return columns;
}

/// One thread adds ones to k doubles of one cache line.
class Overhead {
 public:
  explicit Overhead(StudyRecord& record)
      : record_(record),
        updates_(record.options().own.number("updates")),
        state_(transaction_state(record.options(), 0, transaction_lock_)) {}

  void measure() {
    measure_values<1>();
    measure_values<2>();
    measure_values<4>();
    measure_values<8>();
  }

 private:
  template <int k>
  void measure_values() {
    const auto repeat = [this](auto&& section) {
      for (std::int64_t n = 0; n < updates_; ++n) section();
    };
    row("nothing", k, [&] { repeat([&] { add_ones<k>(data_.data()); }); });
    row("transaction", k, [&] { add_ones_in_transactions(data_.data(), k, updates_, state_); });
    if constexpr (k == 1) {
      row("atomic", k, [&] { repeat([&] { add_by_cas(data_[0], 1.0, backoff_); }); });
    }
    row("mutex", k, [&] {
      repeat([&] {
        const std::lock_guard held(mutex_);
        add_ones<k>(data_.data());
      });
    });
    row("spin", k, [&] {
      repeat([&] {
        const std::lock_guard held(spin_);
        add_ones<k>(data_.data());
      });
    });
  }

  template <class Work>
  void row(const std::string& variant, int k, Work&& work) {
    if (!record_.options().selects(variant)) return;
    StudyRow row{.variant = variant, .parameters = overhead_parameters(k)};
    const bool is_transaction = variant == "transaction";
    if (is_transaction && !why_no_transactions().empty()) {
      row.not_measured = why_no_transactions();
      return record_.add(std::move(row));
    }
    record_.show_status(fmt::format("{}, {} values", variant, k));
    state_.counts = {};
    row.seconds = time_team(
        1, record_.options().pace, [this](int) { data_.fill(0.0); }, [&work](int) { work(); });
    row.shown_per_second = 1e9 / static_cast<double>(updates_);
    row.metrics.resize(kMetrics);
    if (is_transaction) row.metrics = metrics_of(state_.counts);
    // The last repetition's sums, which are exact: doubles count to 2^53.
    for (int i = 0; i < static_cast<int>(data_.size()); ++i) {
      const double expected = i < k ? static_cast<double>(updates_) : 0.0;
      if (data_[i] == expected) continue;
      row.correctness = Correctness::wrong;
      row.wrong = fmt::format("value {} is {}, not {}", i, data_[i], expected);
    }
    record_.add(std::move(row));
  }

  // One cache line.
  alignas(64) std::array<double, 8> data_{};
  std::mutex mutex_;
  SpinLock spin_;
  SpinLock transaction_lock_;
  Backoff backoff_;
  StudyRecord& record_;
  std::int64_t updates_;
  TransactionState state_;
};

/// How large a transaction may be: the capacity, up to where half of them abort.
void measure_capacity(StudyRecord& record) {
  constexpr int kMinLines = 16;
  constexpr int kMaxLines = 4096;
  constexpr int kDoublesPerLine = 8;
  constexpr int kTransactions = 1000;
  if (!record.options().selects("transaction")) return;
  std::vector<double> data(kDoublesPerLine * kMaxLines);
  for (int lines = kMinLines; lines <= kMaxLines; lines *= 2) {
    StudyRow row{.variant = "transaction",
                 .parameters = capacity_parameters(kDoublesPerLine * lines)};
    if (!why_no_transactions().empty()) {
      row.not_measured = why_no_transactions();
      return record.add(std::move(row));
    }
    const double committed = committed_share(data.data(), lines, kTransactions);
    row.metrics.resize(kMetrics);
    row.metrics[0] = 100.0 * (1.0 - committed);
    record.add(std::move(row));
    if (committed <= 0.5) return;
  }
}

/// An entry that threads add to, and its locks; neighbors do not share cache lines.
struct alignas(128) Item {
  double value = 0.0;
  std::mutex mutex;
  SpinLock spin;
};

/// What one thread has seen. Neighbors do not share cache lines.
struct alignas(128) Seen {
  std::int64_t updates = 0;
  std::int64_t tries = 0;
  std::int64_t failed = 0;  // of the tries
  std::int64_t actual = 0;  // updates whose first try failed

  Seen& operator+=(const Seen& more) {
    updates += more.updates;
    tries += more.tries;
    failed += more.failed;
    actual += more.actual;
    return *this;
  }
};

/// Threads add ones: thread 0 to its own item, each other one with probability q to item 0, else to
/// its own.
class Contention {
 public:
  Contention(StudyRecord& record, int threads)
      : record_(record),
        threads_(threads),
        updates_(record.options().own.number("updates")),
        why_no_team_(why_no_team(threads)) {
    if (!why_no_team_.empty()) return;
    items_ = std::vector<Item>(threads);
    to_shared_.assign(threads, std::vector<std::uint8_t>(updates_));
    states_ = transaction_states(record.options(), threads, transaction_lock_);
  }

  void measure(double q) {
    if (why_no_team_.empty()) draw(q);
    const std::string share = share_text(q);
    row("unprotected", share, [](Item& item, Seen& /*seen*/, TransactionState& /*state*/) {
      add_unprotected(item.value, 1.0);
    });
    row("transaction", share, [](Item& item, Seen& /*seen*/, TransactionState& state) {
      const Addition one = {.entry = &item.value, .value = 1.0};
      add_together({&one, 1}, state);
    });
    row("atomic", share, [](Item& item, Seen& seen, TransactionState& state) {
      const int failures = add_by_cas(item.value, 1.0, state.backoff);
      seen.tries += 1 + failures;
      seen.failed += failures;
      if (failures > 0) ++seen.actual;
    });
    row("mutex", share, [](Item& item, Seen& seen, TransactionState& /*state*/) {
      add_locked(item.mutex, item, seen);
    });
    row("spin", share, [](Item& item, Seen& seen, TransactionState& /*state*/) {
      add_locked(item.spin, item, seen);
    });
  }

 private:
  template <class Lock>
  static void add_locked(Lock& lock, Item& item, Seen& seen) {
    ++seen.tries;
    if (!lock.try_lock()) {
      ++seen.failed;
      ++seen.actual;
      lock.lock();
    }
    item.value += 1.0;
    lock.unlock();
  }

  // Beforehand, so that no time is spent on it.
  void draw(double q) {
    for (int thread = 1; thread < threads_; ++thread) {
      const std::uint64_t first = (record_.options().seed * static_cast<std::uint64_t>(threads_) +
                                   static_cast<std::uint64_t>(thread)) *
                                  static_cast<std::uint64_t>(updates_);
      for (std::int64_t i = 0; i < updates_; ++i) {
        const auto number = static_cast<std::int64_t>(first + static_cast<std::uint64_t>(i));
        to_shared_[thread][i] = hashed_value(number) + 0.5 < q ? 1 : 0;
      }
    }
  }

  template <class Add>
  void row(const std::string& variant, const std::string& share, Add add) {
    if (!record_.options().selects(variant)) return;
    StudyRow row{
        .variant = variant, .threads = threads_, .parameters = contention_parameters(share)};
    const bool is_transaction = variant == "transaction";
    row.not_measured =
        is_transaction && !why_no_transactions().empty() ? why_no_transactions() : why_no_team_;
    if (!row.not_measured.empty()) return record_.add(std::move(row));
    record_.show_status(fmt::format("{}, q = {}, {} threads", variant, share, threads_));
    seen_.assign(threads_, Seen());
    for (TransactionState& state : states_) state.counts = {};
    row.seconds = time_team(
        threads_, record_.options().pace, [this](int thread) { items_[thread].value = 0.0; },
        [this, add](int thread) { work(thread, add); });
    row.shown_per_second = 1e9 / static_cast<double>(updates_);
    row.metrics.resize(kMetrics);
    if (is_transaction) {
      TransactionCounts counts;
      for (const TransactionState& state : states_) counts += state.counts;
      row.metrics = metrics_of(counts);
    } else if (variant != "unprotected") {
      Seen all;
      for (const Seen& seen : seen_) all += seen;
      row.metrics[0] = percent(all.failed, all.tries);
      row.metrics[1] = percent(all.actual, all.updates);
    }
    check(row);
    record_.add(std::move(row));
  }

  template <class Add>
  void work(int thread, Add add) {
    const std::uint8_t* const to_shared = to_shared_[thread].data();
    Item* const own = &items_[thread];
    Item* const shared = items_.data();
    TransactionState& state = states_[thread];
    Seen seen;
    for (std::int64_t i = 0; i < updates_; ++i) {
      add(to_shared[i] != 0 ? *shared : *own, seen, state);
    }
    seen.updates = updates_;
    seen_[thread] += seen;
  }

  // Each item's number of additions in the last repetition.
  void check(StudyRow& row) const {
    std::vector<double> expected(threads_);
    for (int thread = 0; thread < threads_; ++thread) {
      for (const std::uint8_t is_shared : to_shared_[thread]) {
        expected[is_shared != 0 ? 0 : thread] += 1.0;
      }
    }
    double missing = 0.0;
    bool differs = false;
    for (int i = 0; i < threads_; ++i) {
      missing += expected[i] - items_[i].value;
      differs = differs || expected[i] != items_[i].value;
    }
    if (!differs) return;
    row.correctness =
        row.variant == "unprotected" ? Correctness::wrong_by_design : Correctness::wrong;
    row.wrong = lost_text(missing / static_cast<double>(threads_ * updates_));
  }

  StudyRecord& record_;
  int threads_;
  std::int64_t updates_;
  std::string why_no_team_;
  // The rest is empty where there is no team.
  std::vector<Item> items_;
  std::vector<Seen> seen_;
  std::vector<std::vector<std::uint8_t>> to_shared_;
  SpinLock transaction_lock_;
  std::vector<TransactionState> states_;
};

void measure_cpu(StudyRecord& record) {
  record.say(
      "overhead: one thread adds 1 to k doubles of one cache line, {} times a repetition\n"
      "contention: each of n threads adds 1 so often: thread 0 to its own item, the others with\n"
      "probability q to that of thread 0, else to their own; items are 128 bytes apart\n"
      "failed: tries of a section that did not succeed; actual: updates whose first try failed;\n"
      "conflict, capacity, other: of the failed transactions\n",
      record.options().own.number("updates"));
  say_if_no_transactions(record);
  Overhead(record).measure();
  measure_capacity(record);
  for (const int threads : record.options().threads) {
    // Nobody to meet.
    if (threads == 1) continue;
    Contention contention(record, threads);
    contention.measure(0.0);
    for (int e = kSmallestShare; e >= 0; --e) contention.measure(std::ldexp(1.0, -e));
  }
}

void measure(StudyRecord& record) {
  if (record.options().processor == Processor::gpu) return measure_gpu_additions(record);
  measure_cpu(record);
}

std::vector<std::string> variants() {
  std::vector<std::string> names = {"nothing", "unprotected", "transaction",
                                    "atomic",  "mutex",       "spin"};
  for (std::string& name : gpu_addition_variants()) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(std::move(name));
    }
  }
  return names;
}

std::vector<OwnOption> own_options() {
  std::vector<OwnOption> options = transaction_options();
  options.insert(options.begin(), {.name = "updates",
                                   .placeholder = "N",
                                   .preset = "1000000",
                                   .help = "additions of a thread in one repetition",
                                   .min = 1,
                                   .max = 100'000'000,
                                   .quick_preset = "100000",
                                   .processors = {Processor::cpu}});
  return options;
}

}  // namespace

std::string share_text(double q) { return fmt::format("{:.6g}", q); }

StudyInfo synchronization_study() {
  return {
      .name = "synchronization",
      .question = "what does one protected addition cost, alone and when threads meet?",
      .document = "paper I of document 002, sections IV to VI; its thesis, 3.3.3",
      .needs =
          "CPU, contention two cores; hardware transactions (RTM) for the rows of these; or a GPU",
      .processors = {Processor::cpu, Processor::gpu},
      .variants = variants(),
      .options = own_options(),
      .layout = {.parameters = {{"part"}, {"k"}, {"q"}, {"m"}, {"table"}},
                 .metrics = metric_columns(),
                 .time_unit = "ns/update"},
      .claims = synchronization_claims(),
      .measure = measure};
}

}  // namespace tessera
