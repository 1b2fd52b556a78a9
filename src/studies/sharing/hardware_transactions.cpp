// This file alone is compiled for CPUs with RTM, and so it holds the loops around transactions.
#include "src/studies/sharing/hardware_transactions.hpp"

#include <array>

#include "solvers/check.hpp"

#if defined(__RTM__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace tessera {

#if defined(__RTM__)

namespace {

struct Rtm {
  static unsigned begin() { return _xbegin(); }
  static void end() { _xend(); }
  static void abort() { _xabort(0xff); }
};
static_assert(transaction_status::kStarted == _XBEGIN_STARTED &&
              transaction_status::kExplicit == _XABORT_EXPLICIT &&
              transaction_status::kMayRetry == _XABORT_RETRY &&
              transaction_status::kConflict == _XABORT_CONFLICT &&
              transaction_status::kCapacity == _XABORT_CAPACITY);

std::string ask_cpu() {
  constexpr unsigned kFeatures = 7;
  constexpr unsigned kRtm = 1U << 11U;
  constexpr unsigned kAlwaysAborts = 1U << 11U;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid_count(kFeatures, 0, &a, &b, &c, &d) == 0 || (b & kRtm) == 0) {
    return "this CPU has no hardware transactions (RTM)";
  }
  if ((d & kAlwaysAborts) != 0) return "hardware transactions (RTM) are switched off by microcode";
  constexpr int kTrials = 10'000;
  double line = 0.0;
  if (committed_share(&line, 1, kTrials) > 0.0) return "";
  return "hardware transactions (RTM) are switched off: none of 10000 committed";
}

}  // namespace

const std::string& why_no_transactions() {
  static const std::string why_not = ask_cpu();
  return why_not;
}

void add_together(std::span<const Addition> additions, TransactionState& state) {
  Rtm hardware;
  add_in_transaction(hardware, additions, state);
}

void add_ones_in_transactions(double* data, int k, std::int64_t times, TransactionState& state) {
  constexpr int kMost = 8;
  std::array<Addition, kMost> ones{};
  for (int i = 0; i < k; ++i) ones[i] = {.entry = data + i, .value = 1.0};
  const std::span<const Addition> additions(ones.data(), k);
  Rtm hardware;
  for (std::int64_t n = 0; n < times; ++n) add_in_transaction(hardware, additions, state);
}

double committed_share(double* data, int lines, int transactions) {
  constexpr int kDoublesPerLine = 8;
  int committed = 0;
  for (int n = 0; n < transactions; ++n) {
    if (_xbegin() == _XBEGIN_STARTED) {
      for (int line = 0; line < lines; ++line) add_unprotected(data[kDoublesPerLine * line], 1.0);
      _xend();
      ++committed;
    }
  }
  return static_cast<double>(committed) / transactions;
}

#else

const std::string& why_no_transactions() {
  static const std::string why_not =
      "this build has no hardware transactions (RTM), which are of x86-64";
  return why_not;
}

void add_together(std::span<const Addition> /*additions*/, TransactionState& /*state*/) {
  TESSERA_CHECK(why_no_transactions().empty());
}
void add_ones_in_transactions(double* /*data*/, int /*k*/, std::int64_t /*times*/,
                              TransactionState& /*state*/) {
  TESSERA_CHECK(why_no_transactions().empty());
}
double committed_share(double* /*data*/, int /*lines*/, int /*transactions*/) {
  TESSERA_CHECK(why_no_transactions().empty());
  return 0.0;
}

#endif

}  // namespace tessera
