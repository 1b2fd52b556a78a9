// Hardware transactions of x86-64 CPUs (RTM), where there are any.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "src/studies/sharing/retry.hpp"

namespace tessera {

/// Why there are no hardware transactions: "this CPU has no hardware transactions (RTM)", or that
/// they are switched off; empty if there are. Asked once: the CPU says so, and of 10,000 trials of
/// one line at least one must commit.
const std::string& why_no_transactions();

/// All additions in one transaction, as add_in_transaction() does. Call this and
/// the next two only where why_no_transactions() is empty; else the process ends.
void add_together(std::span<const Addition> additions, TransactionState& state);

/// So many times: data[0 .. k-1] += 1 in one transaction. k is at most 8.
void add_ones_in_transactions(double* data, int k, std::int64_t times, TransactionState& state);

/// The share of so many transactions that commit which write one double each of so many cache lines
/// of 64 bytes.
double committed_share(double* data, int lines, int transactions);

}  // namespace tessera
