// These tests script what hardware transactions do, so that they need none.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "src/studies/sharing/retry.hpp"

namespace tessera::testing {
namespace {

using namespace transaction_status;  // NOLINT(google-build-using-namespace)

constexpr unsigned kZero = 0;
/// Begins, but another thread has taken the lock by then.
constexpr unsigned kLockBusy = ~1U;

/// Hardware that does as a script says, and commits when it has come to its end.
class Script {
 public:
  Script(std::vector<unsigned> statuses, SpinLock& lock)
      : statuses_(std::move(statuses)), lock_(lock) {}

  unsigned begin() {
    const unsigned status = next_ < statuses_.size() ? statuses_[next_] : kStarted;
    ++next_;
    if (status != kLockBusy) return status;
    lock_.lock();
    return kStarted;
  }
  void end() { ++commits_; }
  // The other thread is done by now.
  void abort() {
    ++explicit_aborts_;
    lock_.unlock();
  }

  int commits() const { return commits_; }
  int explicit_aborts() const { return explicit_aborts_; }

 private:
  std::vector<unsigned> statuses_;
  SpinLock& lock_;
  std::size_t next_ = 0;
  int commits_ = 0;
  int explicit_aborts_ = 0;
};

class Retry : public ::testing::Test {
 protected:
  /// Adds 1 and 2 to two numbers by a script; they must have them once, whatever it says.
  Script add(std::vector<unsigned> statuses, Fallback fallback = Fallback::cas, int retries = 8) {
    std::array<double, 2> sums = {0.0, 10.0};
    const std::array<Addition, 2> additions = {{{sums.data(), 1.0}, {&sums[1], 2.0}}};
    state_.fallback = fallback;
    state_.retries = retries;
    state_.lock = &lock_;
    state_.counts = {};
    Script script(std::move(statuses), lock_);
    add_in_transaction(script, additions, state_);
    EXPECT_EQ(sums[0], 1.0);
    EXPECT_EQ(sums[1], 12.0);
    EXPECT_FALSE(lock_.is_taken());
    EXPECT_EQ(counts().wanted, 1);
    EXPECT_EQ(counts().tries, counts().aborts() + script.commits());
    EXPECT_EQ(counts().fallbacks, 1 - script.commits());
    return script;
  }
  const TransactionCounts& counts() const { return state_.counts; }

 private:
  SpinLock lock_;
  TransactionState state_;
};

TEST_F(Retry, CommitsAtOnce) {
  EXPECT_EQ(add({}).commits(), 1);
  EXPECT_EQ(counts().tries, 1);
  EXPECT_EQ(counts().first_aborted, 0);
}

TEST_F(Retry, ConflictsAreTriedAgain) {
  EXPECT_EQ(add({kConflict | kMayRetry, kConflict}).commits(), 1);
  EXPECT_EQ(counts().tries, 3);
  EXPECT_EQ(counts().conflicts, 2);
  EXPECT_EQ(counts().first_aborted, 1);
}

TEST_F(Retry, ReasonsAreCounted) {
  add({kCapacity, kZero, kConflict, kMayRetry, kExplicit, kCapacity});
  EXPECT_EQ(counts().capacity, 2);
  EXPECT_EQ(counts().conflicts, 1);
  EXPECT_EQ(counts().others, 3);
}

TEST_F(Retry, AfterTheRetriesCompareAndSwapAdds) {
  EXPECT_EQ(add(std::vector<unsigned>(9, kCapacity)).commits(), 0);
  EXPECT_EQ(counts().tries, 9);
  EXPECT_EQ(add(std::vector<unsigned>(9, kZero), Fallback::cas, 9).commits(), 1);
  EXPECT_EQ(add({kZero}, Fallback::cas, 0).commits(), 0);
  EXPECT_EQ(counts().tries, 1);
}

TEST_F(Retry, AfterTheRetriesTheLockIsTaken) {
  EXPECT_EQ(add(std::vector<unsigned>(3, kConflict), Fallback::lock, 2).commits(), 0);
  EXPECT_EQ(counts().tries, 3);
}

// A lock that is free before a transaction and taken within it must abort it.
TEST_F(Retry, ATakenLockAborts) {
  const Script script = add({kLockBusy, kLockBusy}, Fallback::lock);
  EXPECT_EQ(script.explicit_aborts(), 2);
  EXPECT_EQ(script.commits(), 1);
  EXPECT_EQ(counts().others, 2);
}

TEST_F(Retry, AsInThePaperThereAreAThousandRetries) {
  EXPECT_EQ(add(std::vector<unsigned>(1000, kCapacity), Fallback::paper, 1).commits(), 1);
  EXPECT_EQ(counts().capacity, 1000);
  EXPECT_EQ(add(std::vector<unsigned>(1001, kZero), Fallback::paper, 1).commits(), 0);
  EXPECT_EQ(counts().others, 1001);
  EXPECT_EQ(add({kConflict, kZero}, Fallback::paper, 0).commits(), 1);
}

TEST(Backoff, TheLongestWaitDoublesAndHasABound) {
  Backoff backoff(3);
  const std::uint32_t first = backoff.longest();
  backoff.wait();
  EXPECT_EQ(backoff.longest(), 2 * first);
  for (int n = 0; n < 20; ++n) backoff.wait();
  const std::uint32_t bound = backoff.longest();
  backoff.wait();
  EXPECT_EQ(backoff.longest(), bound);
  backoff.reset();
  EXPECT_EQ(backoff.longest(), first);
}

TEST(SpinLock, IsTakenOnce) {
  SpinLock lock;
  EXPECT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  EXPECT_TRUE(lock.is_taken());
  lock.unlock();
  lock.lock();
  EXPECT_TRUE(lock.is_taken());
}

}  // namespace
}  // namespace tessera::testing
