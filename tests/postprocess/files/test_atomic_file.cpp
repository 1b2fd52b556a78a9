// These tests interrupt and fail the writing of files.
#include <gtest/gtest.h>

#include "postprocess/files/atomic_file.hpp"
#include "tests/postprocess/temporary_directory.hpp"

namespace tessera {
namespace {

using testing::read_file;
using testing::TemporaryDirectory;

TEST(AtomicFile, WritesTheWholeFileAndNothingElse) {
  const TemporaryDirectory directory;
  write_text_file(directory.path() / "a.txt", "one\ntwo\n");
  EXPECT_EQ(read_file(directory.path() / "a.txt"), "one\ntwo\n");
  EXPECT_EQ(directory.entry_count(), 1);
}

TEST(AtomicFile, AppearsOnlyWhenCommitted) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "a.txt";
  write_text_file(path, "old");
  {
    AtomicFile file(path);
    file.write("new");
    EXPECT_EQ(read_file(path), "old");
    EXPECT_EQ(file.temporary_path().parent_path(), directory.path());
  }
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(directory.entry_count(), 1);
}

TEST(AtomicFile, PartsMayBeWrittenInAnyOrder) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "a.txt";
  const std::string large(300'000, 'x');
  AtomicFile file(path);
  file.write_at(5, large);
  file.write_at(5 + 300'000, "end");
  file.write_at(0, "begin");
  file.commit();
  EXPECT_EQ(read_file(path), "begin" + large + "end");
}

TEST(AtomicFile, TwoWritersOfOneNameDoNotMix) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "a.txt";
  AtomicFile first(path);
  AtomicFile second(path);
  first.write("first");
  second.write("second");
  second.commit();
  first.commit();
  EXPECT_EQ(read_file(path), "first");
  EXPECT_EQ(directory.entry_count(), 1);
}

TEST(AtomicFile, SaysWhichPathAndWhy) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "missing" / "a.txt";
  try {
    write_text_file(path, "x");
    FAIL() << "expected an OutputError";
  } catch (const OutputError& error) {
    EXPECT_EQ(error.path(), path);
    EXPECT_EQ(error.cause(), "No such file or directory");
    EXPECT_EQ(error.what(), "cannot write " + path.string() + ": No such file or directory");
  }
}

TEST(AtomicFile, LeavesNothingWhereADirectoryIsInTheWay) {
  const TemporaryDirectory directory;
  std::filesystem::create_directories(directory.path() / "a.txt" / "inside");
  EXPECT_THROW(write_text_file(directory.path() / "a.txt", "x"), OutputError);
  EXPECT_EQ(directory.entry_count(), 1);
}

TEST(AtomicFile, IsNeverInThePlaceOfADevice) {
  try {
    AtomicFile file("/dev/null");
    FAIL() << "a file takes the name of a device";
  } catch (const OutputError& error) {
    EXPECT_STREQ(error.what(),
                 "cannot write /dev/null: it is no file, but a device, a pipe or a socket");
  }
}

TEST(AtomicFile, ShortWriteThrowsAndLeavesNothing) {
  const TemporaryDirectory directory;
  const testing::FileSizeLimit limit(1000);
  try {
    write_text_file(directory.path() / "a.txt", std::string(5000, 'x'));
    FAIL() << "expected an OutputError";
  } catch (const OutputError& error) {
    EXPECT_EQ(error.cause(), "File too large");
  }
  EXPECT_EQ(directory.entry_count(), 0);
}

TEST(AtomicFile, FullDiskThrowsAndLeavesNothing) {
  const testing::SmallDisk disk;
  if (!disk.mounted()) GTEST_SKIP() << "this user may not mount a small disk";
  try {
    write_text_file(disk.directory().path() / "a.txt", std::string(100000, 'x'));
    FAIL() << "expected an OutputError";
  } catch (const OutputError& error) {
    EXPECT_EQ(error.cause(), "No space left on device");
  }
  EXPECT_EQ(disk.directory().entry_count(), 0);
}

}  // namespace
}  // namespace tessera
