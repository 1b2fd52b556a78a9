// This file makes states of transactions from options, and cells from what became of them.
#include "src/studies/sharing/transaction_options.hpp"

#include <array>

#include "src/studies/sharing/hardware_transactions.hpp"
#include "src/studies/study_record.hpp"

namespace tessera {

std::vector<OwnOption> transaction_options() {
  return {{.name = "fallback",
           .placeholder = "cas|lock|paper",
           .preset = "cas",
           .help = "what a transaction that aborts again and again ends in",
           .choices = {"cas", "lock", "paper"},
           .processors = {Processor::cpu}},
          {.name = "retries",
           .placeholder = "N",
           .preset = "8",
           .help = "transactions tried after the first one",
           .min = 0,
           .max = 1'000'000,
           .processors = {Processor::cpu}}};
}

TransactionState transaction_state(const StudyOptions& options, int thread, SpinLock& lock) {
  const std::string& fallback = options.own.text("fallback");
  return {.fallback = fallback == "cas"    ? Fallback::cas
                      : fallback == "lock" ? Fallback::lock
                                           : Fallback::paper,
          .retries = static_cast<int>(options.own.number("retries")),
          .lock = &lock,
          .backoff = Backoff(options.seed + static_cast<std::uint64_t>(thread))};
}

std::vector<TransactionState> transaction_states(const StudyOptions& options, int threads,
                                                 SpinLock& lock) {
  std::vector<TransactionState> states;
  states.reserve(threads);
  for (int thread = 0; thread < threads; ++thread) {
    states.push_back(transaction_state(options, thread, lock));
  }
  return states;
}

void say_if_no_transactions(StudyRecord& record) {
  if (why_no_transactions().empty()) return;
  record.say("transactions: not measured: {}\n", why_no_transactions());
}

std::vector<StudyColumn> transaction_columns() {
  return {{"failed_percent", "failed%"},
          {"conflict_percent", "conflict%"},
          {"capacity_percent", "capacity%"},
          {"other_percent", "other%"}};
}

std::vector<StudyCell> transaction_cells(const TransactionCounts& counts) {
  const std::int64_t aborts = counts.aborts();
  const std::array<double, 4> shares = {
      percent(aborts, counts.tries), percent(counts.conflicts, aborts),
      percent(counts.capacity, aborts), percent(counts.others, aborts)};
  return {shares.begin(), shares.end()};
}

double percent(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace tessera
