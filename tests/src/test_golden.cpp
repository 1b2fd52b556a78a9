// These tests compare what the program prints with files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <sstream>

#include "operators/cells/cell_kernel_limits.hpp"
#include "tests/src/program.hpp"

namespace tessera::testing {
namespace {

/// Where the golden files are; with this variable set a test writes its file instead of comparing.
constexpr char kRenew[] = "TESSERA_RENEW_GOLDEN";
constexpr char kHowToRenew[] =
    "If the new text is meant, renew the golden files and look at their change:\n"
    "  TESSERA_RENEW_GOLDEN=1 test_program --gtest_filter='Golden*' && git diff tests/src/golden";

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The lines that the two texts do not share, with "-" before those of the first alone and "+"
/// before those of the second alone, in order (a longest common subsequence).
std::string difference(const std::string& golden, const std::string& found) {
  const std::vector<std::string> a = lines_of(golden);
  const std::vector<std::string> b = lines_of(found);
  std::vector<std::vector<int>> common(a.size() + 1, std::vector<int>(b.size() + 1, 0));
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      common[i][j] =
          a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  std::string text;
  for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      ++i;
      ++j;
    } else if (j == b.size() || (i < a.size() && common[i + 1][j] >= common[i][j + 1])) {
      text += std::to_string(i + 1) + ": - " + a[i] + "\n";
      ++i;
    } else {
      text += std::to_string(i + 1) + ": + " + b[j] + "\n";
      ++j;
    }
  }
  return text;
}

void expect_golden(const std::string& name, const std::string& found) {
  const std::filesystem::path path = std::filesystem::path(TESSERA_GOLDEN) / name;
  if (std::getenv(kRenew) != nullptr) {
    write_file(path, found);
    return;
  }
  const std::string golden = read_file(path);
  if (golden == found) return;
  ADD_FAILURE() << path.string() << " has (-), and the program prints (+):\n"
                << difference(golden, found) << kHowToRenew;
}

/// The keys of an object in their order, nested ones indented, with the types of their values; of
/// an array the layout of its first entry.
void add_layout(const nlohmann::ordered_json& json, const std::string& indent, std::string& text) {
  for (const auto& [key, value] : json.items()) {
    const bool is_list = value.is_array();
    const nlohmann::ordered_json& entry = is_list && !value.empty() ? value.front() : value;
    const bool is_number = entry.is_number();
    text += indent + key + ": " + (is_list ? "list of " : "");
    text += is_list && value.empty() ? "nothing" : is_number ? "number" : entry.type_name();
    text += "\n";
    if (entry.is_object()) add_layout(entry, indent + "  ", text);
  }
}

class GoldenText : public ::testing::Test {
 protected:
  std::string printed(const std::vector<std::string>& arguments) {
    const ProgramResult ran = run_program(directory_.path(), arguments);
    EXPECT_EQ(ran.exit_code, 0) << ran.errors;
    return ran.output;
  }
  const std::filesystem::path& path() const { return directory_.path(); }

 private:
  TemporaryDirectory directory_;
};

// Builds may have fewer degrees with kernels of their own.
TEST_F(GoldenText, List) {
  const std::regex degrees("\\b" TESSERA_FAST_DEGREES "\\b");
  expect_golden("list.txt", std::regex_replace(printed({"list"}), degrees, "1-8"));
}

TEST_F(GoldenText, Defaults) { expect_golden("defaults.toml", printed({"defaults"})); }

TEST_F(GoldenText, DefaultsOfStudies) {
  expect_golden("defaults_study.toml", printed({"defaults", "--study"}));
}

TEST_F(GoldenText, Reference) {
  expect_golden("reference.md", printed({"defaults", "--reference"}));
}

TEST_F(GoldenText, ReferenceOfStudies) {
  expect_golden("reference_study.md", printed({"defaults", "--study", "--reference"}));
}

TEST_F(GoldenText, Schema) { expect_golden("schema.json", printed({"defaults", "--schema"})); }

TEST_F(GoldenText, SchemaOfStudies) {
  expect_golden("schema_study.json", printed({"defaults", "--study", "--schema"}));
}

constexpr char kCase[] =
    "title = \"golden\"\n[mesh]\ncells = [8, 6, 4]\nmap = [\"x\", \"y\", \"z + 0.1*x*y\"]\n"
    "[space]\ndegree = 2\n[problem]\nsource = \"1\"\nexact = \"x\"\n"
    "[solver]\npreconditioner = \"multigrid\"\n[run]\ndevice = \"cpu\"\nthreads = 1\n"
    "[output]\ndirectory = \"out\"\nprobes = [[0.5, 0.5, 0.5], [1, 1, 1.1]]\n";

// How much memory is available depends on the machine, and how much is needed on its vectors'
// width, to which cells are filled up.
TEST_F(GoldenText, Check) {
  write_file(path() / "case.toml", kCase);
  const std::string text = printed({"check", "case.toml"});
  const std::string without_sizes =
      std::regex_replace(text, std::regex(" *[0-9.]+ ([KMG]iB|B|%)"), " (a size)");
  expect_golden("check.txt", std::regex_replace(without_sizes, std::regex("[ -]*\\n"), "\n"));
}

// The energy counters of the machine are there or not, a number or null, and so are its caches.
TEST_F(GoldenText, LayoutOfResultJson) {
  write_file(path() / "case.toml", kCase);
  printed({"run", "case.toml"});
  const auto json = nlohmann::ordered_json::parse(read_file(path() / "out/result.json"));
  std::string layout;
  add_layout(json, "", layout);
  layout = std::regex_replace(
      layout, std::regex("((cpu_j|gpu_j|j_per_dof|cache_gbytes_per_s): )(number|null)"),
      "$1number or null");
  layout = std::regex_replace(layout, std::regex("caches: list of (nothing\n|object\n(    .*\n)+)"),
                              "caches: list of object or nothing\n");
  expect_golden("result_layout.txt", layout);
}

TEST(GoldenDifference, ShowsTheLinesThatDiffer) {
  EXPECT_EQ(difference("a\nb\nc\n", "a\nb\nc\n"), "");
  EXPECT_EQ(difference("a\nb\nc\n", "a\nx\nc\nd\n"), "2: - b\n3: + x\n4: + d\n");
}

}  // namespace
}  // namespace tessera::testing
