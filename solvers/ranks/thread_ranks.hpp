// This function runs ranks as threads of one process.
#pragma once

#include <functional>
#include <stdexcept>

#include "solvers/ranks/communicator.hpp"

namespace tessera {

/// Another rank failed or ended, and this one waited for it.
class OtherRankFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Calls f(communicator) on `count` threads, each with the communicator of one rank and its share
/// of the OpenMP threads, and returns when all have ended. It is for tests: no memory of a rank is
/// out of reach of the others. If f throws on a rank, others that wait for it get OtherRankFailed,
/// and the first exception is thrown here.
void run_on_threads(int count, const std::function<void(const Communicator&)>& f);

}  // namespace tessera
