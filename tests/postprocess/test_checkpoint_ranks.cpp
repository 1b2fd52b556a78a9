// These tests write checkpoints by some ranks, which are threads, and read them by others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "postprocess/checkpoint/checkpoint.hpp"
#include "solvers/ranks/thread_ranks.hpp"
#include "tests/operators/ranks/rank_problem.hpp"
#include "tests/postprocess/temporary_directory.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;

// More nodes than a chunk has.
const ProblemOptions kLarge = {
    .dimension = 2, .degree = 1, .cells = {400, 400, 1}, .geometry = Geometry::cartesian};

class CheckpointOfRanks : public ::testing::Test {
 protected:
  // Calls f(rank's part) on the ranks of a grid.
  void on_ranks(const RankGrid& grid, const std::function<void(const RankProblem&)>& f) {
    run_on_threads(grid[0] * grid[1], [&](const Communicator& ranks) {
      const Problem whole = make_problem(kLarge);
      f(RankProblem(ranks, BoxPartition(whole.discretization->mesh, grid), whole));
    });
  }
  void write(const std::filesystem::path& path, const RankGrid& grid) {
    on_ranks(grid, [&](const RankProblem& mine) {
      const HostVector<double> w = mine.taken<double>(values_);
      if (mine.part().ranks().rank() == 0) {
        // A disk that is full of earlier results is tried again.
        for (int i = 0; i < 2; ++i) {
          AtomicFile file(path);
          write_checkpoint(file, checkpoint_, w);
          if (i == 1) file.commit();
        }
      }
      finish_checkpoint(w);
    });
  }
  void expect_read(const std::filesystem::path& path, const RankGrid& grid) {
    on_ranks(grid, [&](const RankProblem& mine) {
      HostVector<double> w(mine.layout());
      fill(w, std::numeric_limits<double>::quiet_NaN());
      read_checkpoint_vector(path, w);
      EXPECT_TRUE(same_bits(w, mine.taken<double>(values_)));
    });
  }

  TemporaryDirectory root_;
  std::vector<double> values_ = random_values(401 * 401, 4);
  Checkpoint checkpoint_{.program = "Tessera",
                         .case_text = "[mesh]\n",
                         .dimension = 2,
                         .degree = 1,
                         .dofs = 401 * 401,
                         .time = {.end = 0.5}};
};

TEST_F(CheckpointOfRanks, HasTheBytesOfOneRank) {
  const auto path = [&](const char* name) { return root_.path() / name; };
  {
    AtomicFile file(path("alone"));
    write_checkpoint(file, checkpoint_, vector_of<double>(values_));
    file.commit();
  }
  write(path("one"), {1, 1, 1});
  write(path("three"), {1, 3, 1});
  write(path("four"), {2, 2, 1});
  const std::string alone = read_file(path("alone"));
  EXPECT_GT(alone.size(), values_.size() * sizeof(double));
  // Not the numbers in a failure's message.
  EXPECT_TRUE(read_file(path("one")) == alone);
  EXPECT_TRUE(read_file(path("three")) == alone);
  EXPECT_TRUE(read_file(path("four")) == alone);
}

TEST_F(CheckpointOfRanks, IsReadByAnyNumberOfRanks) {
  const std::filesystem::path path = root_.path() / kCheckpointName;
  write(path, {1, 3, 1});
  EXPECT_EQ(read_checkpoint(path).dofs, 401 * 401);
  HostVector<double> w(401 * 401);
  read_checkpoint_vector(path, w);
  EXPECT_TRUE(same_bits(w, vector_of<double>(values_)));
  expect_read(path, {1, 2, 1});
  expect_read(path, {2, 2, 1});
}

TEST_F(CheckpointOfRanks, ThatIsDamagedIsRefusedByAll) {
  const std::filesystem::path path = root_.path() / kCheckpointName;
  write(path, {1, 2, 1});
  const auto expect_refused = [&](const char* why) {
    on_ranks({1, 3, 1}, [&](const RankProblem& mine) {
      HostVector<double> w(mine.layout());
      try {
        read_checkpoint_vector(path, w);
        ADD_FAILURE() << "it is read";
      } catch (const CheckpointError& error) {
        EXPECT_THAT(error.what(), HasSubstr(why));
        EXPECT_THAT(error.what(), HasSubstr(path.string()));
      }
    });
  };
  {
    // In the second chunk of the vector.
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(path)) - 50'000);
    file.write("12345678", 8);
  }
  expect_refused("damaged");
  std::filesystem::remove(path);
  expect_refused("No such file");
}

}  // namespace
}  // namespace tessera::testing
