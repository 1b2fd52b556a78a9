// These tests look at what several ranks, which are threads, leave in a directory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "postprocess/files/output_directory.hpp"
#include "solvers/ranks/thread_ranks.hpp"
#include "src/commands/run/result_set.hpp"
#include "tests/postprocess/temporary_directory.hpp"

namespace tessera::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// All files below, with their folders; folders alone only if they are empty.
std::vector<std::string> names_in(const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_directory() && !fs::is_empty(entry.path())) continue;
    names.push_back(fs::relative(entry.path(), directory).string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void write_files(const fs::path& directory, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    fs::create_directories((directory / name).parent_path());
    write_text_file(directory / name, "earlier");
  }
}

std::string joined(std::span<const std::string> names) {
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  return text;
}

// Each rank's piece has its number.
void add_solution(ResultSet& files, const std::string& name) {
  files.add_pieces(
      name, [&](AtomicFile& file) { file.write("piece " + std::to_string(files.ranks().rank())); },
      joined);
}

// The words of the OutputError that all ranks got, or nothing.
template <class Work>
std::string error_of(const Communicator& ranks, Work&& work) {
  std::string error;
  try {
    work();
  } catch (const OutputError& failure) {
    error = failure.what();
  }
  for (int rank = 0; rank < ranks.size(); ++rank) EXPECT_EQ(ranks.broadcast(error, rank), error);
  return error;
}

class RankResults : public ::testing::TestWithParam<int> {
 protected:
  const fs::path& path() const { return directory_.path(); }
  template <class F>
  void on_ranks(F&& f) {
    run_on_threads(GetParam(), [&](const Communicator& ranks) {
      ResultSet files(path(), {}, ranks);
      f(ranks, files);
    });
  }
  std::vector<std::string> with_pieces(std::vector<std::string> names,
                                       const std::string& folder) const {
    for (int rank = 0; rank < GetParam(); ++rank) {
      names.push_back(folder + "/000" + std::to_string(rank) + ".vtu");
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  TemporaryDirectory directory_;
};

TEST_P(RankResults, HaveCommonFilesAndAPieceOfEachRank) {
  write_files(path(), {"solution.vtu", "result.json", "notes.txt", "solution/0001.vtu",
                       "solution/0017.vtu", "solution.pvtu", "solution_0003.pvtu",
                       "solution_0003/0000.vtu", "solution_0003/mine.txt"});
  on_ranks([&](const Communicator& ranks, ResultSet& files) {
    int calls = 0;
    files.add("result.json", [&](AtomicFile& file) {
      ++calls;
      file.write("common");
    });
    EXPECT_EQ(calls, ranks.rank() == 0 ? 1 : 0);
    add_solution(files, "solution.pvtu");
    EXPECT_EQ(read_file(path() / "solution.pvtu"), "earlier");
    ranks.barrier();
    files.commit();
    // All that there is to see is there when commit() returns.
    const auto expected = with_pieces(
        {"result.json", "solution.pvtu", "notes.txt", "solution_0003/mine.txt"}, "solution");
    EXPECT_EQ(names_in(path()), expected);
    ranks.barrier();
    files.commit();
    EXPECT_EQ(names_in(path()), expected);
  });
  EXPECT_EQ(read_file(path() / "result.json"), "common");
  std::string text;
  for (int rank = 0; rank < GetParam(); ++rank) {
    const std::string name = "solution/000" + std::to_string(rank) + ".vtu";
    EXPECT_EQ(read_file(path() / name), "piece " + std::to_string(rank));
    text += name + "\n";
  }
  EXPECT_EQ(read_file(path() / "solution.pvtu"), text);
}

TEST_P(RankResults, ThatGrowStay) {
  write_files(path(), {"solution_0001.pvtu", "solution_0001/0000.vtu", "solution_0001/0009.vtu",
                       "solution_0002.pvtu", "solution_0002/0009.vtu"});
  run_on_threads(GetParam(), [&](const Communicator& ranks) {
    ResultSet files(path(), {"solution_0001.pvtu"}, ranks);
    for (const char* const name : {"solution_0002.pvtu", "solution_0003.pvtu"}) {
      add_solution(files, name);
      files.commit();
    }
    files.add("view.py", "text");
    files.commit();
    files.add("view.py", "newer");
    files.commit_keeping("view.py", "other.py");
  });
  EXPECT_EQ(read_file(path() / "view.py"), "newer");
  EXPECT_EQ(read_file(path() / "other.py"), "text");
  EXPECT_EQ(names_in(path()),
            with_pieces(with_pieces({"solution_0001.pvtu", "solution_0001/0000.vtu",
                                     "solution_0001/0009.vtu", "solution_0002.pvtu",
                                     "solution_0003.pvtu", "other.py", "view.py"},
                                    "solution_0002"),
                        "solution_0003"));
}

// As the last two checkpoints do.
TEST_P(RankResults, ThatAreKeptStayAsTheyWereIfTheNewerOneCannotBeNamed) {
  write_text_file(path() / "last", "last");
  write_text_file(path() / "previous", "previous");
  run_on_threads(GetParam(), [&](const Communicator& ranks) {
    ResultSet files(path(), {}, ranks);
    files.add("last", "newer");
    ranks.barrier();
    if (ranks.rank() == 0) {
      for (const auto& entry : std::filesystem::directory_iterator(path())) {
        if (entry.path().extension() == ".tmp") std::filesystem::remove(entry.path());
      }
    }
    EXPECT_THAT(error_of(ranks, [&] { files.commit_keeping("last", "previous"); }),
                HasSubstr("No such file"));
  });
  EXPECT_EQ(read_file(path() / "last"), "last");
  EXPECT_EQ(read_file(path() / "previous"), "previous");
  EXPECT_THAT(names_in(path()), ::testing::UnorderedElementsAre("last", "previous"));
}

TEST_P(RankResults, HaveNoPieceWhereOneRankCannotWriteIts) {
  for (int failing = 0; failing < GetParam(); ++failing) {
    on_ranks([&](const Communicator& ranks, ResultSet& files) {
      const std::string error = error_of(ranks, [&] {
        files.add_pieces(
            "solution.pvtu",
            [&](AtomicFile& file) {
              file.write("some of it");
              if (ranks.rank() >= failing) {
                throw OutputError("piece " + std::to_string(ranks.rank()), "the disk burns");
              }
            },
            joined);
      });
      EXPECT_EQ(error, "cannot write piece " + std::to_string(failing) + ": the disk burns");
      ranks.barrier();
      EXPECT_THAT(names_in(path()), IsEmpty());
      ranks.barrier();
      // Others are not lost with it.
      files.add("result.json", "text");
      files.commit();
      EXPECT_THAT(names_in(path()), ElementsAre("result.json"));
    });
    fs::remove(path() / "result.json");
  }
}

TEST_P(RankResults, HaveNoPieceWhereTheListOfThemCannotBeWritten) {
  on_ranks([&](const Communicator& ranks, ResultSet& files) {
    const std::string error = error_of(ranks, [&] {
      files.add_pieces(
          "solution.pvtu", [](AtomicFile& file) { file.write("piece"); },
          [](std::span<const std::string>) -> std::string {
            throw OutputError("solution.pvtu", "no words");
          });
    });
    EXPECT_EQ(error, "cannot write solution.pvtu: no words");
    ranks.barrier();
    EXPECT_THAT(names_in(path()), IsEmpty());
  });
}

TEST_P(RankResults, HaveNoPieceWhereOneOfThemCannotBeNamed) {
  const int last = GetParam() - 1;
  // A folder with something in it stands where the last piece is to be, or the file of all.
  for (const std::string& obstacle :
       {"solution/000" + std::to_string(last) + ".vtu/x", std::string("solution.pvtu/x")}) {
    on_ranks([&](const Communicator& ranks, ResultSet& files) {
      add_solution(files, "solution.pvtu");
      files.add("case.toml", "text");
      if (ranks.rank() == 0) write_files(path(), {obstacle});
      ranks.barrier();
      const std::string error = error_of(ranks, [&] { files.commit(); });
      EXPECT_THAT(error, HasSubstr("cannot write " + (path() / obstacle).parent_path().string()));
      ranks.barrier();
      EXPECT_THAT(names_in(path()), ElementsAre("case.toml", obstacle));
    });
    fs::remove_all(path() / fs::path(obstacle).parent_path());
    fs::remove_all(path() / "solution");
    fs::remove(path() / "case.toml");
  }
}

TEST_P(RankResults, DoNotTouchAFileThatIsInTheWayOfTheirFolder) {
  write_files(path(), {"solution"});
  on_ranks([&](const Communicator& ranks, ResultSet& files) {
    const std::string error = error_of(ranks, [&] { add_solution(files, "solution.pvtu"); });
    EXPECT_THAT(error, HasSubstr("cannot write " + (path() / "solution").string()));
  });
  EXPECT_THAT(names_in(path()), ElementsAre("solution"));
}

TEST_P(RankResults, TakeTheSpaceOfEarlierOnes) {
  const SmallDisk disk;
  if (!disk.mounted()) GTEST_SKIP() << "this user may not mount a small disk";
  const fs::path& path = disk.directory().path();
  write_text_file(path / "solution.vtu", std::string(40 * 1024, 'x'));
  run_on_threads(GetParam(), [&](const Communicator& ranks) {
    ResultSet files(path, {}, ranks);
    const auto fill = [&](int kilobytes) {
      files.add_pieces(
          "solution.pvtu",
          [&](AtomicFile& file) { file.write(std::string(1024 * kilobytes / GetParam(), 'y')); },
          joined);
    };
    fill(36);
    EXPECT_FALSE(fs::exists(path / "solution.vtu"));
    EXPECT_THAT(error_of(ranks, [&] { fill(60); }), HasSubstr("No space left"));
    files.commit();
  });
  EXPECT_EQ(names_in(path), with_pieces({"solution.pvtu"}, "solution"));
}

INSTANTIATE_TEST_SUITE_P(Ranks, RankResults, ::testing::Values(1, 2, 3, 4, 6));

class RankDirectory : public ::testing::TestWithParam<int> {};

TEST_P(RankDirectory, IsMadeByOneForAll) {
  const TemporaryDirectory root;
  const fs::path path = root.path() / "a" / "b";
  run_on_threads(GetParam(), [&](const Communicator& ranks) {
    {
      const OutputDirectory directory(path, Overwrite::no, ranks);
      EXPECT_TRUE(fs::is_directory(path));
      ranks.barrier();
      EXPECT_EQ(std::distance(fs::directory_iterator(path), {}), 1) << "the lock";
      ranks.barrier();
    }
    ranks.barrier();
    EXPECT_TRUE(fs::is_empty(root.path()));
  });
}

TEST_P(RankDirectory, WithResultsIsRefusedOnAllRanks) {
  const TemporaryDirectory root;
  write_files(root.path(), {"solution.pvtu", "solution/0000.vtu", "solution_0001/0000.vtu"});
  run_on_threads(GetParam(), [&](const Communicator& ranks) {
    const std::string error =
        error_of(ranks, [&] { const OutputDirectory d(root.path(), Overwrite::no, ranks); });
    EXPECT_THAT(error, HasSubstr("(solution.pvtu, solution/0000.vtu, solution_0001/0000.vtu)"));
    EXPECT_THAT(error, HasSubstr("--overwrite"));
    EXPECT_EQ(error_of(ranks, [&] { const OutputDirectory d(root.path(), Overwrite::yes, ranks); }),
              "");
  });
  EXPECT_EQ(names_in(root.path()).size(), 3u);
}

TEST_P(RankDirectory, HasToBeSharedByAll) {
  const TemporaryDirectory root;
  const TemporaryDirectory elsewhere;
  run_on_threads(GetParam(), [&](const Communicator& ranks) {
    const int last = ranks.size() - 1;
    const fs::path path =
        last > 0 && ranks.rank() == last ? elsewhere.path() : root.path() / "results";
    const std::string error =
        error_of(ranks, [&] { const OutputDirectory d(path, Overwrite::no, ranks); });
    if (last == 0) {
      EXPECT_EQ(error, "");
    } else {
      EXPECT_THAT(error, HasSubstr("cannot write " + elsewhere.path().string() + ": rank " +
                                   std::to_string(last) + " on "));
      EXPECT_THAT(error, HasSubstr("does not see what rank 0 on "));
    }
  });
  EXPECT_THAT(names_in(root.path()), IsEmpty());
  EXPECT_THAT(names_in(elsewhere.path()), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Ranks, RankDirectory, ::testing::Values(1, 2, 4));

}  // namespace
}  // namespace tessera::testing
