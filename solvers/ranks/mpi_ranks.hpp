// MpiRanks are the processes that mpirun started, as ranks. MPI's types stay in one source file.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "solvers/ranks/communicator.hpp"

namespace tessera {

/// Whether this build runs on several processes, by MPI. No constant of a header, so that a build
/// that gets MPI later compiles nothing else anew.
bool has_mpi() noexcept;

/// MPI failed, or this build has none.
class MpiError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// MPI from its start to its end, one object in a process and for its whole life.
class MpiRanks {
 public:
  /// Starts MPI. @throws MpiError, also in a build without MPI
  MpiRanks();
  /// Ends MPI, for which all ranks wait.
  ~MpiRanks();
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;

  /// All processes; valid as long as this object.
  const Communicator& world() const { return *world_; }
  /// What all ranks agree on if every one of them fails and calls this, within so many seconds;
  /// nothing as in FailureChannel::gather_failures(), at once if that has given nothing before.
  /// @param code, message as in Communicator::agree(), of which 1000 characters are kept
  std::optional<Agreement> agree_on_failure(int code, const std::string& message,
                                            double seconds) const;

  /// Ends all processes at once, for an error of this one while others may wait for it.
  [[noreturn]] static void abort(int exit_code);

 private:
  std::unique_ptr<Communicator> world_;
};

}  // namespace tessera
