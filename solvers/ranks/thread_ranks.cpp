// This file has ranks that are threads, which meet at barriers and leave messages for each other.
#include "solvers/ranks/thread_ranks.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "solvers/check.hpp"
#include "solvers/ranks/failure_channel.hpp"

namespace tessera {
namespace {

using Bytes = std::span<const std::byte>;

// Where the ranks meet. All that is here is guarded by one mutex.
class Meeting {
 public:
  explicit Meeting(int count)
      : count_(count),
        gifts_(count),
        mail_(count, std::vector<Mail>(count)),
        failing_(count),
        gone_(count, false) {}

  // Shows `mine` to all ranks, and looks at what they show.
  template <class Look>
  void show(int rank, Bytes mine, Look&& look) {
    std::unique_lock lock(mutex_);
    gifts_[rank] = mine;
    meet(lock, rank);
    look(std::as_const(gifts_));
    meet(lock, rank);
  }

  void exchange(int rank, std::span<const Message> messages) {
    std::unique_lock lock(mutex_);
    for (const Message& message : messages) {
      mail_[rank][message.rank] = {message.send, true};
    }
    changed_.notify_all();
    for (const Message& message : messages) {
      Mail& letter = mail_[message.rank][rank];
      wait(lock, rank, message.rank, [&] { return letter.is_there; });
      TESSERA_CHECK(letter.bytes.size() == message.receive.size());
      std::copy(letter.bytes.begin(), letter.bytes.end(), message.receive.begin());
      letter.is_there = false;
      changed_.notify_all();
    }
    for (const Message& message : messages) {
      wait(lock, rank, message.rank, [&] { return !mail_[rank][message.rank].is_there; });
    }
  }

  // Nothing as soon as all others have ended or wait at a meeting.
  std::optional<std::vector<RankFailure>> gather_failures(int rank, const RankFailure& mine,
                                                          double seconds) {
    std::unique_lock lock(mutex_);
    if (is_broken_ || one_failed_alone_) return std::nullopt;
    failing_[rank] = mine;
    const long gathering = gatherings_;
    if (++failed_ == count_) {
      failed_ = 0;
      ++gatherings_;
      // Nobody changes it before all have seen it, while one may already fail again.
      gathered_ = failing_;
    }
    changed_.notify_all();
    const auto are_all_here = [&] { return gatherings_ != gathering; };
    const auto is_decided = [&] {
      return are_all_here() || is_broken_ || is_one_gone() || present_ + failed_ == count_;
    };
    changed_.wait_for(lock, std::chrono::duration<double>(seconds), is_decided);
    if (are_all_here()) return gathered_;
    one_failed_alone_ = true;
    return std::nullopt;
  }

  // The rank will not come again.
  void leave(int rank) {
    const std::lock_guard lock(mutex_);
    gone_[rank] = true;
    changed_.notify_all();
  }
  void fail(int rank, std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    is_broken_ = true;
    if (first_error_ == nullptr) {
      first_error_ = std::move(error);
      failed_rank_ = rank;
    }
    changed_.notify_all();
  }
  // After all ranks have ended.
  std::exception_ptr first_error() const { return first_error_; }

 private:
  struct Mail {
    Bytes bytes;
    bool is_there = false;
  };

  void meet(std::unique_lock<std::mutex>& lock, int rank) {
    const long meeting = meetings_;
    if (++present_ == count_) {
      present_ = 0;
      ++meetings_;
    }
    if (present_ == 0 || failed_ > 0) changed_.notify_all();
    wait(lock, rank, kAnyRank, [&] { return meetings_ != meeting; });
  }

  // Waits for what another rank, or any, does. Whoever throws here takes back what it shows, so
  // that from then on everyone throws, also those whose wait has just ended.
  template <class IsDone>
  void wait(std::unique_lock<std::mutex>& lock, int rank, int other, IsDone&& is_done) {
    const auto is_hopeless = [&] {
      if (is_broken_) return true;
      return other == kAnyRank ? is_one_gone() : gone_[other];
    };
    changed_.wait(lock, [&] { return is_done() || is_hopeless(); });
    if (is_done() && !is_broken_) return;
    is_broken_ = true;
    changed_.notify_all();
    if (first_error_ != nullptr) {
      throw OtherRankFailed("rank " + std::to_string(failed_rank_) + " failed");
    }
    throw OtherRankFailed("rank " + std::to_string(rank) + " waits for a rank that has ended");
  }

  bool is_one_gone() const { return std::find(gone_.begin(), gone_.end(), true) != gone_.end(); }

  static constexpr int kAnyRank = -1;

  std::mutex mutex_;
  std::condition_variable changed_;
  int count_;
  std::vector<Bytes> gifts_;             // [rank]
  std::vector<std::vector<Mail>> mail_;  // [from][to]
  int present_ = 0;
  long meetings_ = 0;
  std::vector<RankFailure> failing_;   // [rank]
  std::vector<RankFailure> gathered_;  // [rank]
  int failed_ = 0;
  long gatherings_ = 0;
  bool one_failed_alone_ = false;
  std::vector<bool> gone_;  // [rank]
  bool is_broken_ = false;
  std::exception_ptr first_error_;
  int failed_rank_ = 0;
};

class ThreadRank final : public Communicator, public FailureChannel {
 public:
  ThreadRank(int rank, int size, Meeting& meeting) : Communicator(rank, size), meeting_(meeting) {}

  std::optional<std::vector<RankFailure>> gather_failures(const RankFailure& mine,
                                                          double seconds) const override {
    return meeting_.gather_failures(rank(), mine, seconds);
  }

 private:
  void do_broadcast(std::span<std::byte> bytes, int root) const override {
    meeting_.show(rank(), bytes, [&](const std::vector<Bytes>& all) {
      TESSERA_CHECK(all[root].size() == bytes.size());
      if (rank() != root) std::copy(all[root].begin(), all[root].end(), bytes.begin());
    });
  }
  void do_all_gather(std::span<const std::byte> mine, std::span<std::byte> all) const override {
    meeting_.show(rank(), mine, [&](const std::vector<Bytes>& gifts) {
      auto to = all.begin();
      for (const Bytes gift : gifts) {
        TESSERA_CHECK(gift.size() == mine.size());
        to = std::copy(gift.begin(), gift.end(), to);
      }
    });
  }
  void do_exchange(std::span<const Message> messages) const override {
    meeting_.exchange(rank(), messages);
  }
  void do_barrier() const override {
    meeting_.show(rank(), {}, [](const std::vector<Bytes>&) {});
  }

  Meeting& meeting_;
};

}  // namespace

void run_on_threads(int count, const std::function<void(const Communicator&)>& f) {
  TESSERA_CHECK(count > 0);
  Meeting meeting(count);
  const int share = std::max(1, omp_get_max_threads() / count);
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  for (int rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        omp_set_num_threads(share);
        f(ThreadRank(rank, count, meeting));
        meeting.leave(rank);
      } catch (...) {
        meeting.fail(rank, std::current_exception());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (meeting.first_error() != nullptr) std::rethrow_exception(meeting.first_error());
}

}  // namespace tessera
