// These tests run the corpus of the fuzzers once.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/fuzz/fuzz_inputs.hpp"

namespace tessera::testing {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// How many files of a folder were accepted and refused.
struct Count {
  int accepted = 0;
  int refused = 0;
};

template <class Try>
Count try_files(const fs::path& folder, const std::string& extension, Try&& try_text) {
  Count count;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (!extension.empty() && entry.path().extension() != extension) continue;
    SCOPED_TRACE(entry.path().string());
    EXPECT_NO_THROW(
        ++(try_text(contents(entry.path())) == Verdict::accepted ? count.accepted : count.refused));
  }
  return count;
}

TEST(Corpus, CaseFilesAreAcceptedOrRefusedCleanly) {
  const Count count = try_files(fs::path(TESSERA_CORPUS) / "case_file", "",
                                [](const std::string& text) { return try_case_file(text); });
  EXPECT_GT(count.accepted, 5);
  EXPECT_GT(count.refused, 5);
}

TEST(Corpus, ExpressionsAreAcceptedOrRefusedCleanly) {
  const Count count = try_files(fs::path(TESSERA_CORPUS) / "expression", "",
                                [](const std::string& text) { return try_expression(text); });
  EXPECT_GT(count.accepted, 5);
  EXPECT_GT(count.refused, 5);
}

TEST(Corpus, ShippedCasesAreAccepted) {
  int cases = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(TESSERA_CASES)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".toml") continue;
    const std::string text = contents(entry.path());
    if (text.find("[study]") != std::string::npos) continue;
    ++cases;
    EXPECT_EQ(try_case_file(text), Verdict::accepted) << name;
  }
  EXPECT_GT(cases, 5);
}

}  // namespace
}  // namespace tessera::testing
