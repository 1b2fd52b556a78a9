// The processes of a test program that mpirun started.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>

#include "solvers/ranks/mpi_ranks.hpp"

namespace tessera::testing {

/// All of them.
const MpiRanks& mpi_ranks();
const Communicator& mpi_world();

/// Prints what failed, and on which rank, and nothing else.
class FailurePrinter : public ::testing::EmptyTestEventListener {
 public:
  explicit FailurePrinter(int rank) : rank_(rank) {}

 private:
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::printf("rank %d: %s:%d: %s\n", rank_,
                result.file_name() == nullptr ? "" : result.file_name(), result.line_number(),
                result.summary());
  }

  int rank_;
};

}  // namespace tessera::testing
