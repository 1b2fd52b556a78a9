// What studies with hardware transactions have in common.
#pragma once

#include <vector>

#include "src/studies/sharing/retry.hpp"
#include "src/studies/study_options.hpp"
#include "src/studies/study_table.hpp"

namespace tessera {

/// --fallback and --retries.
std::vector<OwnOption> transaction_options();

/// The state of one thread's transactions, as these options say.
TransactionState transaction_state(const StudyOptions& options, int thread, SpinLock& lock);

/// failed_percent, conflict_percent, capacity_percent and other_percent: aborts of all tries, and
/// what part of the aborts had which reason.
std::vector<StudyColumn> transaction_columns();
std::vector<StudyCell> transaction_cells(const TransactionCounts& counts);

/// 100 part / whole; 0 of nothing.
double percent(std::int64_t part, std::int64_t whole);

}  // namespace tessera
