// These tests look at what is created and removed in result directories.
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "postprocess/files/atomic_file.hpp"
#include "postprocess/files/output_directory.hpp"
#include "tests/postprocess/temporary_directory.hpp"

namespace tessera {
namespace {

using testing::TemporaryDirectory;

std::string refusal(const std::filesystem::path& directory, Overwrite overwrite) {
  try {
    const OutputDirectory output(directory, overwrite);
  } catch (const OutputError& error) {
    return error.what();
  }
  return "";
}

TEST(OutputDirectory, IsCreatedWithItsParentsAndStaysIfSomethingIsWritten) {
  const TemporaryDirectory root;
  const auto directory = root.path() / "results" / "case";
  {
    const OutputDirectory output(directory, Overwrite::no);
    EXPECT_TRUE(std::filesystem::is_directory(directory));
    write_text_file(directory / "result.json", "x");
  }
  EXPECT_TRUE(std::filesystem::exists(directory / "result.json"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory), {}), 1);
}

TEST(OutputDirectory, LeavesNothingBehindIfNothingIsWritten) {
  const TemporaryDirectory root;
  std::filesystem::create_directory(root.path() / "results");
  { const OutputDirectory output(root.path() / "results" / "a" / "b", Overwrite::no); }
  EXPECT_TRUE(std::filesystem::is_empty(root.path() / "results"));
}

TEST(OutputDirectory, IsOneRunsAlone) {
  const TemporaryDirectory root;
  {
    const OutputDirectory output(root.path(), Overwrite::no);
    const std::string message = refusal(root.path(), Overwrite::yes);
    EXPECT_NE(message.find("another run (process " + std::to_string(getpid()) + " on "),
              std::string::npos)
        << message;
    EXPECT_NE(refusal(root.path(), Overwrite::no), "");
  }
  EXPECT_EQ(root.entry_count(), 0);
  // As a run leaves it that is killed.
  write_text_file(root.path() / ".tessera_lock", "process 1 on a host");
  EXPECT_EQ(refusal(root.path(), Overwrite::no), "");
  EXPECT_EQ(root.entry_count(), 0);
}

TEST(OutputDirectory, WithOtherFilesIsAccepted) {
  const TemporaryDirectory root;
  write_text_file(root.path() / "notes.txt", "x");
  EXPECT_EQ(refusal(root.path(), Overwrite::no), "");
}

TEST(OutputDirectory, WithResultsIsRefusedUnlessOverwritingIsAllowed) {
  const TemporaryDirectory root;
  write_text_file(root.path() / "solution.vtu", "x");
  write_text_file(root.path() / "result.json", "x");
  const std::string message = refusal(root.path(), Overwrite::no);
  EXPECT_NE(message.find("result.json, solution.vtu"), std::string::npos) << message;
  EXPECT_NE(message.find("--overwrite"), std::string::npos) << message;
  EXPECT_EQ(refusal(root.path(), Overwrite::yes), "");
}

TEST(OutputDirectory, WithASeriesIsRefusedAndItsFilesAreRemoved) {
  const TemporaryDirectory root;
  for (const char* name :
       {"solution_0002.vtu", "solution_0001.vtu", "steps.csv", "solution.pvd", "solution_1.vtu",
        "solution_old.vtu", "solution_0001.vtu.bak", "solution_0001.png", "animation.png"}) {
    write_text_file(root.path() / name, "x");
  }
  const std::string message = refusal(root.path(), Overwrite::no);
  EXPECT_NE(message.find("(solution.pvd, steps.csv, animation.png, solution_0001.png, "
                         "solution_0001.vtu, solution_0002.vtu)"),
            std::string::npos)
      << message;
  for (int number = 3; number < 50; ++number) {
    write_text_file(root.path() / ("solution_1" + std::to_string(100 + number) + ".vtu"), "x");
  }
  const std::string shortened = refusal(root.path(), Overwrite::no);
  EXPECT_NE(shortened.find(", ...)"), std::string::npos) << shortened;
  remove_results(root.path(), {"solution_0002.vtu"});
  EXPECT_EQ(root.entry_count(), 4);
  EXPECT_TRUE(std::filesystem::exists(root.path() / "solution_0002.vtu"));
}

TEST(OutputDirectory, ThatIsAFileIsRefused) {
  const TemporaryDirectory root;
  write_text_file(root.path() / "file", "x");
  EXPECT_NE(refusal(root.path() / "file", Overwrite::yes), "");
  EXPECT_NE(refusal(root.path() / "file" / "below", Overwrite::yes), "");
}

TEST(OutputDirectory, ThatIsALinkToNothingIsRefused) {
  const TemporaryDirectory root;
  std::filesystem::create_symlink("nowhere", root.path() / "link");
  for (const auto& directory : {root.path() / "link", root.path() / "link" / "a" / "b"}) {
    EXPECT_EQ(refusal(directory, Overwrite::yes), "cannot write " + directory.string() + ": " +
                                                      (root.path() / "link").string() +
                                                      " is a link to nowhere, which is not there");
  }
  EXPECT_EQ(root.entry_count(), 1);
}

TEST(OutputDirectory, ThatCannotBeWrittenToIsRefused) {
  EXPECT_NE(refusal("/proc/self/results", Overwrite::no), "");
  EXPECT_NE(refusal("/proc/self", Overwrite::yes), "");
}

TEST(OutputDirectory, FullDiskIsRefused) {
  const testing::SmallDisk disk;
  if (!disk.mounted()) GTEST_SKIP() << "this user may not mount a small disk";
  write_text_file(disk.directory().path() / "ballast", std::string(64 * 1024, 'x'));
  const std::string message = refusal(disk.directory().path(), Overwrite::no);
  EXPECT_NE(message.find("No space left on device"), std::string::npos) << message;
}

TEST(OutputDirectory, OldResultsAreRemovedAndOtherFilesStay) {
  const TemporaryDirectory root;
  for (const char* name : {"result.json", "view.py", "notes.txt"}) {
    write_text_file(root.path() / name, "x");
  }
  remove_results(root.path());
  EXPECT_EQ(root.entry_count(), 1);
  EXPECT_TRUE(std::filesystem::exists(root.path() / "notes.txt"));
}

}  // namespace
}  // namespace tessera
