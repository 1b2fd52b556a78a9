// These tests read grids of processes.
#include "tests/src/parameters/registries.hpp"

namespace tessera {
namespace {

std::string with_ranks(const std::string& ranks) {
  return case_with("[run]\nranks = " + ranks + "\n");
}

TEST(Ranks, AreChosenUnlessTheFileDoes) {
  EXPECT_TRUE(parse_case(case_with("")).run.ranks.along.empty());
  EXPECT_TRUE(parse_case(with_ranks("\"auto\"")).run.ranks.along.empty());
  EXPECT_EQ(parse_case(with_ranks("[1, 2, 4]")).run.ranks.along,
            (std::vector<std::int64_t>{1, 2, 4}));
}

TEST(Ranks, AreInTheResolvedCase) {
  for (const char* const written : {"\"auto\"", "[1, 2, 4]"}) {
    const CaseParameters parameters = parse_case(with_ranks(written));
    const std::string text = case_registry().to_toml(parameters);
    EXPECT_NE(text.find(std::string("\nranks = ") + written + "\n"), std::string::npos) << text;
    EXPECT_EQ(parse_case(text).run.ranks, parameters.run.ranks);
  }
}

TEST(Ranks, AreOneNumberForEachAxis) {
  expect_errors(case_errors(with_ranks("[2, 2]")),
                {"case.toml:4: run.ranks = [2, 2]: must have 3 entries, one per axis, since "
                 "mesh.dimension = 3; it has 2"});
  expect_errors(case_errors("mesh = { dimension = 2, cells = [4, 4] }\nrun.ranks = [2, 2, 1]\n"),
                {"case.toml:2: run.ranks = [2, 2, 1]: must have 2 entries, one per axis, since "
                 "mesh.dimension = 2; it has 3"});
  EXPECT_EQ(case_errors("mesh = { dimension = 2, cells = [4, 4] }\nrun.ranks = [2, 4]\n"),
            std::vector<std::string>());
}

TEST(Ranks, HaveACellEach) {
  expect_errors(case_errors(with_ranks("[5, 4, 6]")),
                {"case.toml:4: run.ranks = [5, 4, 6]: axis x: 5 processes need a cell each, and "
                 "mesh.cells has 4",
                 "case.toml:4: run.ranks = [5, 4, 6]: axis z: 6 processes need a cell each, and "
                 "mesh.cells has 4"});
}

TEST(Ranks, OfAnotherKindAreErrors) {
  const std::string must_be =
      ": must be \"auto\" or an array, one entry per axis, of numbers of processes, each from 1 to "
      "100000";
  expect_errors(case_errors(with_ranks("\"slabs\"")),
                {"case.toml:4: run.ranks = \"slabs\"" + must_be});
  expect_errors(case_errors(with_ranks("4")),
                {"case.toml:4: run.ranks = 4" + must_be + ", not an integer"});
  expect_errors(case_errors(with_ranks("[]")), {"case.toml:4: run.ranks = []" + must_be +
                                                "; it has 0 entries, but a mesh has 2 or 3 axes"});
  expect_errors(case_errors(with_ranks("[4]")), {"case.toml:4: run.ranks = [4]" + must_be +
                                                 "; it has 1 entry, but a mesh has 2 or 3 axes"});
  for (const char* const entry : {"0", "-1", "1.5", "\"2\"", "100001", "[1]"}) {
    expect_errors(case_errors(with_ranks(std::string("[1, ") + entry + ", 1]")),
                  {std::string("case.toml:4: run.ranks = [1, ") + entry +
                   ", 1]: entry 2 (axis y) is " + entry + ": must be an integer from 1 to 100000"});
  }
}

TEST(Ranks, AreSetOnTheCommandLine) {
  EXPECT_EQ(parse_case(case_with(""), {{"run.ranks=[2, 1, 2]"}}).run.ranks.along,
            (std::vector<std::int64_t>{2, 1, 2}));
  expect_errors(case_errors(case_with(""), {{"run.ranks=[8, 1, 1]"}}),
                {"--set run.ranks=[8, 1, 1]: run.ranks = [8, 1, 1]: axis x: 8 processes need a "
                 "cell each, and mesh.cells "
                 "has 4"});
}

}  // namespace
}  // namespace tessera
