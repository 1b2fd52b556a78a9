// This file is the only one that knows MPI.
#include "solvers/ranks/mpi_ranks.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "solvers/ranks/failure_channel.hpp"
#include "solvers/ranks/launched_processes.hpp"

namespace tessera {
namespace {

// MPI counts in 32 bits.
constexpr std::size_t kMaxBytes = std::size_t{1} << 30;
constexpr int kTag = 1;
// How long a rank waits to be ended by another one.
constexpr double kEndSeconds = 10.0;

void check(int status, const char* what) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw MpiError(std::string("MPI: ") + what + " failed: " + std::string(text, length));
}

int count_of(std::size_t bytes) { return static_cast<int>(bytes); }

// Of all ranks, for those who fail out of step.
MPI_Comm& failure_channel() {
  static MPI_Comm channel = MPI_COMM_NULL;
  return channel;
}

// Whether a request is done within so many seconds.
bool wait(MPI_Request& request, double seconds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  int is_done = 0;
  while (true) {
    check(MPI_Test(&request, &is_done, MPI_STATUS_IGNORE), "word of a failure");
    if (is_done != 0) return true;
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// Each rank tells the higher ones that it has failed.
std::vector<MPI_Request> tell_higher_ranks(const Communicator& world) {
  static const char failed = 1;
  std::vector<MPI_Request> requests;
  for (int rank = world.rank() + 1; rank < world.size(); ++rank) {
    requests.emplace_back();
    check(MPI_Isend(&failed, 1, MPI_BYTE, rank, kTag, failure_channel(), &requests.back()),
          "word of a failure");
  }
  return requests;
}

void hear_lower_ranks(const Communicator& world, std::vector<MPI_Request>& told) {
  for (int rank = 0; rank < world.rank(); ++rank) {
    char failed = 0;
    check(MPI_Recv(&failed, 1, MPI_BYTE, rank, kTag, failure_channel(), MPI_STATUS_IGNORE),
          "word of a failure");
  }
  check(MPI_Waitall(count_of(told.size()), told.data(), MPI_STATUSES_IGNORE), "word of a failure");
}

bool lower_rank_failed() {
  int is_there = 0;
  check(MPI_Iprobe(MPI_ANY_SOURCE, kTag, failure_channel(), &is_there, MPI_STATUS_IGNORE),
        "word of a failure");
  return is_there != 0;
}

// As it is sent.
struct FailureBytes {
  int code;
  std::array<char, 1001> message;
};

// Where others do not answer, the process ends with the request open, and these are still used.
std::vector<FailureBytes>& sent_by_all() {
  static std::vector<FailureBytes> all;
  return all;
}

// Fills sent_by_all(). @return whether all have answered
bool tell_and_hear(const Communicator& world, const RankFailure& failure, double seconds) {
  static FailureBytes mine;
  mine = {failure.code, {}};
  failure.message.copy(mine.message.data(), mine.message.size() - 1);
  std::vector<FailureBytes>& all = sent_by_all();
  all.resize(static_cast<std::size_t>(world.size()));
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallgather(&mine, sizeof(mine), MPI_BYTE, all.data(), sizeof(mine), MPI_BYTE,
                       failure_channel(), &request),
        "word of a failure");
  std::vector<MPI_Request> told = tell_higher_ranks(world);
  if (!wait(request, seconds)) return false;
  hear_lower_ranks(world, told);
  return true;
}

class MpiCommunicator final : public Communicator, public FailureChannel {
 public:
  MpiCommunicator(MPI_Comm comm, int rank, int size) : Communicator(rank, size), comm_(comm) {}

  std::optional<std::vector<RankFailure>> gather_failures(const RankFailure& mine,
                                                          double seconds) const override {
    // What ended without an answer is still under way.
    if (!is_heard_) return std::nullopt;
    is_heard_ = tell_and_hear(*this, mine, seconds);
    if (!is_heard_) {
      if (lower_rank_failed())
        std::this_thread::sleep_for(std::chrono::duration<double>(kEndSeconds));
      return std::nullopt;
    }
    std::vector<RankFailure> failures;
    for (const FailureBytes& failure : sent_by_all()) {
      failures.push_back({failure.code, failure.message.data()});
    }
    return failures;
  }

 private:
  void do_broadcast(std::span<std::byte> bytes, int root) const override {
    for (std::size_t at = 0; at < bytes.size(); at += kMaxBytes) {
      const std::size_t count = std::min(kMaxBytes, bytes.size() - at);
      check(MPI_Bcast(bytes.data() + at, count_of(count), MPI_BYTE, root, comm_), "a broadcast");
    }
  }
  void do_all_gather(std::span<const std::byte> mine, std::span<std::byte> all) const override {
    if (mine.size() <= kMaxBytes) {
      const int count = count_of(mine.size());
      check(MPI_Allgather(mine.data(), count, MPI_BYTE, all.data(), count, MPI_BYTE, comm_),
            "a gather");
      return;
    }
    std::copy(mine.begin(), mine.end(), all.begin() + rank() * static_cast<long>(mine.size()));
    for (int root = 0; root < size(); ++root) {
      do_broadcast(all.subspan(mine.size() * static_cast<std::size_t>(root), mine.size()), root);
    }
  }
  void do_exchange(std::span<const Message> messages) const override {
    std::vector<MPI_Request> requests;
    const auto in_pieces = [&](auto bytes, auto&& start) {
      for (std::size_t at = 0; at < bytes.size(); at += kMaxBytes) {
        requests.emplace_back();
        const std::size_t count = std::min(kMaxBytes, bytes.size() - at);
        check(start(bytes.data() + at, count_of(count), &requests.back()), "a message");
      }
    };
    for (const Message& message : messages) {
      in_pieces(message.receive, [&](void* to, int count, MPI_Request* request) {
        return MPI_Irecv(to, count, MPI_BYTE, message.rank, kTag, comm_, request);
      });
    }
    for (const Message& message : messages) {
      in_pieces(message.send, [&](const void* from, int count, MPI_Request* request) {
        return MPI_Isend(from, count, MPI_BYTE, message.rank, kTag, comm_, request);
      });
    }
    check(MPI_Waitall(count_of(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
          "an exchange");
  }
  void do_barrier() const override { check(MPI_Barrier(comm_), "a barrier"); }

  MPI_Comm comm_;
  // Whether others have answered whenever this rank failed.
  mutable bool is_heard_ = true;
};

// Open MPI looks for networks at its start, which takes a fifth of a second. Processes of one host
// need none: its ob1 sends through shared memory. What the user names stays.
void take_shared_memory_on_one_host() {
  if (launched_processes_on_host() != launched_processes()) return;
  setenv("OMPI_MCA_pml", "ob1", 0);
  setenv("OMPI_MCA_btl", "^openib,ofi", 0);
}

}  // namespace

bool has_mpi() noexcept { return true; }

MpiRanks::MpiRanks() {
  take_shared_memory_on_one_host();
  int provided = 0;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "its start");
  // Else MPI ends the program itself. Communicators made of this one are alike.
  check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "its errors");
  if (provided < MPI_THREAD_FUNNELED) throw MpiError("MPI: it does not allow threads");
  int rank = 0;
  int size = 1;
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "a question for the rank");
  check(MPI_Comm_size(MPI_COMM_WORLD, &size), "a question for the number of ranks");
  if (size != launched_processes()) {
    throw MpiError("MPI: " + std::to_string(launched_processes()) +
                   " processes were started, but " + std::to_string(size) +
                   " found each other: start them with the mpirun of the MPI that this program "
                   "was built with");
  }
  world_ = std::make_unique<MpiCommunicator>(MPI_COMM_WORLD, rank, size);
  check(MPI_Comm_dup(MPI_COMM_WORLD, &failure_channel()), "a channel for failures");
}

MpiRanks::~MpiRanks() { MPI_Finalize(); }

std::optional<Agreement> MpiRanks::agree_on_failure(int code, const std::string& message,
                                                    double seconds) const {
  const auto& channel = dynamic_cast<const FailureChannel&>(*world_);
  const auto all = channel.gather_failures({code, message}, seconds);
  if (!all) return std::nullopt;
  const auto worst =
      std::max_element(all->begin(), all->end(),
                       [](const RankFailure& a, const RankFailure& b) { return a.code < b.code; });
  return Agreement{worst->code, static_cast<int>(worst - all->begin()), worst->message};
}

void MpiRanks::abort(int exit_code) {
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::abort();
}

}  // namespace tessera
