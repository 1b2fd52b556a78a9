// What studies with hardware transactions have in common.
#pragma once

#include <vector>

#include "src/studies/sharing/retry.hpp"
#include "src/studies/study_options.hpp"
#include "src/studies/study_table.hpp"

namespace tessera {

class StudyRecord;

/// --fallback and --retries.
std::vector<OwnOption> transaction_options();

/// The state of one thread's transactions, as these options say; and of all threads of a team.
TransactionState transaction_state(const StudyOptions& options, int thread, SpinLock& lock);
std::vector<TransactionState> transaction_states(const StudyOptions& options, int threads,
                                                 SpinLock& lock);

/// Says why there are no rows of transactions, where there are none.
void say_if_no_transactions(StudyRecord& record);

/// failed_percent, conflict_percent, capacity_percent and other_percent: aborts of all tries, and
/// what part of the aborts had which reason.
std::vector<StudyColumn> transaction_columns();
std::vector<StudyCell> transaction_cells(const TransactionCounts& counts);

/// 100 part / whole; 0 of nothing.
double percent(std::int64_t part, std::int64_t whole);

}  // namespace tessera
