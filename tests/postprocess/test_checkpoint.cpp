// These tests write checkpoints, damage them and read them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <string>

#include "postprocess/checkpoint/checkpoint.hpp"
#include "postprocess/series/kept_lines.hpp"
#include "tests/postprocess/temporary_directory.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;

constexpr Index kLarge = 300000;  // several chunks

HostVector<double> make_values(Index size) {
  HostVector<double> w(size);
  for (Index i = 0; i < size; ++i) w[i] = std::sin(0.37 * static_cast<double>(i)) * 1e-3;
  return w;
}

Checkpoint make_checkpoint(Index dofs) {
  Checkpoint checkpoint{.program = "Tessera 1.2",
                        .case_text = "title = \"A \\\"case\\\"\"\n",
                        .dimension = 2,
                        .degree = 3,
                        .dofs = dofs,
                        .time = {.end = 0.1 + 0.2, .steps = 7, .rejected = 2},
                        .next_step = 1.0 / 3.0,
                        .last_output = 0.3,
                        .series = {{{0.0, "solution_0001.vtu"}, {0.3, "solution_0003.vtu"}}, 3}};
  checkpoint.time.outputs = 4;
  checkpoint.time.linear_iterations = 1234567890123;
  checkpoint.time.nonlinear_iterations = 987654321;
  checkpoint.time.smallest_step = 1e-7;
  checkpoint.time.largest_step = 0.25;
  checkpoint.time.max_error = {1e-3, 2e-2, std::nan("")};
  checkpoint.series.range = {-1.5, 2.5};
  return checkpoint;
}

void write(const std::filesystem::path& path, const Checkpoint& checkpoint) {
  AtomicFile file(path);
  write_checkpoint(file, checkpoint, make_values(checkpoint.dofs));
  file.commit();
}

class CheckpointFile : public ::testing::Test {
 protected:
  std::filesystem::path path() const { return root_.path() / kCheckpointName; }
  std::string message() const {
    try {
      read_checkpoint(path());
    } catch (const CheckpointError& error) {
      return error.what();
    }
    return "";
  }

  TemporaryDirectory root_;
};

TEST_F(CheckpointFile, HasAllBits) {
  for (const Index dofs : {Index{1}, Index{1000}, kLarge}) {
    const Checkpoint written = make_checkpoint(dofs);
    write(path(), written);
    EXPECT_EQ(root_.entry_count(), 1);
    const Checkpoint read = read_checkpoint(path());
    EXPECT_EQ(read.program, written.program);
    EXPECT_EQ(read.case_text, written.case_text);
    EXPECT_EQ(read.dimension, 2);
    EXPECT_EQ(read.degree, 3);
    EXPECT_EQ(read.dofs, dofs);
    EXPECT_EQ(read.time.end, 0.1 + 0.2);
    EXPECT_EQ(read.time.steps, 7);
    EXPECT_EQ(read.time.rejected, 2);
    EXPECT_EQ(read.time.outputs, 4);
    EXPECT_EQ(read.time.linear_iterations, 1234567890123);
    EXPECT_EQ(read.time.nonlinear_iterations, 987654321);
    EXPECT_EQ(read.time.smallest_step, 1e-7);
    EXPECT_EQ(read.time.largest_step, 0.25);
    ASSERT_TRUE(read.time.max_error);
    EXPECT_EQ(read.time.max_error->l2, 1e-3);
    EXPECT_EQ(read.time.max_error->h1_seminorm, 2e-2);
    EXPECT_TRUE(std::isnan(read.time.max_error->max));
    EXPECT_EQ(read.next_step, 1.0 / 3.0);
    EXPECT_EQ(read.last_output, 0.3);
    ASSERT_EQ(read.series.files.size(), 2);
    EXPECT_EQ(read.series.files[1].t, 0.3);
    EXPECT_EQ(read.series.files[1].name, "solution_0003.vtu");
    EXPECT_EQ(read.series.last_number, 3);
    EXPECT_EQ(read.series.range, written.series.range);
    HostVector<double> w(dofs);
    read_checkpoint_vector(path(), w);
    const HostVector<double> expected = make_values(dofs);
    for (Index i = 0; i < dofs; ++i) ASSERT_EQ(w[i], expected[i]) << i;
  }
}

TEST_F(CheckpointFile, MayHaveNoOutputYet) {
  Checkpoint written = make_checkpoint(10);
  written.last_output.reset();
  written.time.max_error.reset();
  written.series = {};
  write(path(), written);
  const Checkpoint read = read_checkpoint(path());
  EXPECT_FALSE(read.last_output);
  EXPECT_FALSE(read.time.max_error);
  EXPECT_TRUE(read.series.files.empty());
  EXPECT_EQ(read.series.range, WrittenSeries{}.range);
}

TEST_F(CheckpointFile, OfTheSameStateHasTheSameBytes) {
  write(path(), make_checkpoint(1000));
  const std::string first = read_file(path());
  write(path(), make_checkpoint(1000));
  EXPECT_TRUE(read_file(path()) == first);
}

TEST_F(CheckpointFile, IsDamagedWhereAnyOfItsBytesIs) {
  write(path(), make_checkpoint(500));
  const std::string good = read_file(path());
  int unseen = 0;
  int tried = 0;
  for (std::size_t i = 0; i < good.size(); i += 7) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    std::ofstream(path(), std::ios::binary) << bad;
    ++tried;
    if (!message().empty()) continue;
    // What no data are in.
    ++unseen;
    const Checkpoint read = read_checkpoint(path());
    EXPECT_EQ(read.time.end, 0.1 + 0.2) << i;
    EXPECT_EQ(read.case_text, make_checkpoint(1).case_text) << i;
    HostVector<double> w(500);
    read_checkpoint_vector(path(), w);
    EXPECT_EQ(w[499], make_values(500)[499]) << i;
  }
  EXPECT_LT(unseen, tried / 2);
}

TEST_F(CheckpointFile, SaysWhatIsWrong) {
  EXPECT_THAT(message(), HasSubstr("checkpoint.h5: No such file or directory"));
  write(path(), make_checkpoint(kLarge));
  std::filesystem::resize_file(path(), 1000000);
  EXPECT_THAT(message(), HasSubstr("checkpoint.h5: it is damaged or not complete"));
  for (const char* text : {"", "not HDF5"}) {
    std::ofstream(path()) << text;
    EXPECT_THAT(message(), HasSubstr("it is damaged or not complete"));
  }
  write(path(), make_checkpoint(5));
  HostVector<double> w(6);
  EXPECT_THROW(read_checkpoint_vector(path(), w), CheckpointError);
}

TEST_F(CheckpointFile, ThePreviousOneStandsIn) {
  EXPECT_THROW(find_checkpoint(root_.path()), CheckpointError);
  Checkpoint checkpoint = make_checkpoint(10);
  write(root_.path() / kPreviousCheckpointName, checkpoint);
  checkpoint.time.end = 0.5;
  write(path(), checkpoint);
  EXPECT_EQ(find_checkpoint(root_.path()).checkpoint.time.end, 0.5);
  EXPECT_EQ(find_checkpoint(root_.path()).complaint, "");
  std::ofstream(path()) << "damaged";
  const FoundCheckpoint found = find_checkpoint(root_.path());
  EXPECT_EQ(found.checkpoint.time.end, 0.1 + 0.2);
  EXPECT_EQ(found.path.filename(), kPreviousCheckpointName);
  EXPECT_THAT(found.complaint, HasSubstr("checkpoint.h5: it is damaged"));
}

TEST_F(CheckpointFile, AFullDiskIsSaid) {
  for (const std::size_t bytes : {0, 2000, 100000, 1500000}) {
    const FileSizeLimit limit(bytes);
    try {
      write(path(), make_checkpoint(kLarge));
      FAIL() << "written in " << bytes << " bytes";
    } catch (const OutputError& error) {
      EXPECT_EQ(error.cause(), "File too large");
    }
  }
  EXPECT_EQ(root_.entry_count(), 0);
  write(path(), make_checkpoint(kLarge));
  EXPECT_EQ(message(), "");
}

TEST(LinesUntil, KeepsWhatIsNotLater) {
  const std::string header = "# Tessera 2\nt,u1\n";
  EXPECT_EQ(lines_until("# Tessera 1\nt,u1\n0,1\n0.1,2\n0.30000000000000004,3\n1,4\n", header, 0.3),
            "# Tessera 1\nt,u1\n0,1\n0.1,2\n");
  EXPECT_EQ(lines_until("# Tessera 1\nt,u1\n0,1\n1e-1,2\n0.2,", header, 0.3),
            "# Tessera 1\nt,u1\n0,1\n1e-1,2\n");
  EXPECT_EQ(lines_until("# Tessera 1\nt,u1\n", header, 0.3), "# Tessera 1\nt,u1\n");
  EXPECT_EQ(lines_until("# Tessera 1\nt,u1,u2\n0,1,2\n", header, 0.3), std::nullopt);
  EXPECT_EQ(lines_until("", header, 0.3), std::nullopt);
}

}  // namespace
}  // namespace tessera::testing
