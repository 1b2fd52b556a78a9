// These tests look at what a run in time on several ranks, which are threads, writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mesh/errors.hpp"
#include "operators/load/interpolation.hpp"
#include "postprocess/files/atomic_file.hpp"
#include "src/case/setup.hpp"
#include "src/commands/run/solution_file.hpp"
#include "src/commands/time/solution_series.hpp"
#include "tests/postprocess/rank_cases.hpp"
#include "tests/postprocess/temporary_directory.hpp"

namespace tessera::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kCase[] = R"toml(
title = "on ranks"
[mesh]
dimension = 2
cells = [5, 4]
[problem]
exact = "x*y"
[output]
probes = [[0.4, 0]]
vtk_precision = "double"
)toml";

ProblemOptions options() {
  ProblemOptions options;
  options.dimension = 2;
  options.cells = {5, 4, 1};
  return options;
}

// A series of one rank, or of several.
class Series {
 public:
  Series(const fs::path& path, const Discretization& space, const Communicator& ranks,
         const RankPart* part)
      : parameters_(make_case_registry().parse(kCase, "case.toml").parameters),
        files_(path, {}, ranks),
        space_(space),
        series_(parameters_, space_, files_, notes_, 3, part) {}
  Series(const Series&) = delete;
  Series& operator=(const Series&) = delete;

  void add(double t, const std::optional<ScalarField>& exact) {
    HostVector<double> u(space_.lattice.size());
    interpolate(space_, field_of([t](double x, double y, double) { return x * y + t; }), u);
    series_.add(t, u, exact, field_of([](double x, double, double) { return 2.0 + x; }));
    series_.add_picture(t, u);
    series_.add_step({t, 0.5, 1e-3, 4, 0});
    series_.add_probes(t, {{t + 1.0}, {t}});
  }
  void write() {
    const ScalarField exact = field_of([](double x, double y, double) { return x * y; });
    add(0.0, exact);
    add(0.5, exact);
    series_.finish("not converged: stagnated");
  }
  const std::vector<std::string>& notes() const { return notes_.all(); }

 private:
  CaseParameters parameters_;
  RunNotes notes_;
  ResultSet files_;
  const Discretization& space_;
  SolutionSeries series_;
};

std::vector<std::string> names_in(const fs::path& path) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) names.push_back(fs::relative(entry.path(), path).string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
  return text;
}

TEST(RankSeries, IsThatOfOneRankButForThePieces) {
  const TemporaryDirectory one;
  const Problem whole = make_problem(options());
  Series(one.path(), *whole.discretization, single_rank(), nullptr).write();
  const TemporaryDirectory several;
  run_on_threads(3, [&](const Communicator& ranks) {
    const RankCase ours(ranks, {1, 3, 1}, options());
    Series series(several.path(), ours.mine.discretization(), ranks, &ours.mine.part());
    series.write();
    EXPECT_THAT(series.notes(), IsEmpty());
  });
  EXPECT_THAT(names_in(several.path()),
              ElementsAre("animation.png", "probes.csv", "solution.pvd", "solution_0001.png",
                          "solution_0001.pvtu", "solution_0001/0000.vtu", "solution_0001/0001.vtu",
                          "solution_0001/0002.vtu", "solution_0002.png", "solution_0002.pvtu",
                          "solution_0002/0000.vtu", "solution_0002/0001.vtu",
                          "solution_0002/0002.vtu", "steps.csv", "view.py"));
  for (const char* const name : {"animation.png", "probes.csv", "solution_0001.png",
                                 "solution_0002.png", "steps.csv", "view.py"}) {
    EXPECT_TRUE(read_file(several.path() / name) == read_file(one.path() / name)) << name;
  }
  EXPECT_EQ(replaced(read_file(several.path() / "solution.pvd"), ".pvtu", ".vtu"),
            read_file(one.path() / "solution.pvd"));
  const std::string pvtu = read_file(several.path() / "solution_0002.pvtu");
  for (const char* const part :
       {"<Piece Source=\"solution_0002/0000.vtu\"/>", "<Piece Source=\"solution_0002/0002.vtu\"/>",
        "Name=\"solution\"", "Name=\"exact\"", "Name=\"error\"", "Name=\"coefficient\"",
        "Name=\"TimeValue\""}) {
    EXPECT_THAT(pvtu, HasSubstr(part));
  }
}

// What cannot be computed on one rank is in no piece, and all ranks say why.
TEST(RankSeries, LacksWhatOneRankLacks) {
  const TemporaryDirectory several;
  ::testing::internal::CaptureStderr();
  std::mutex mutex;
  std::set<std::vector<std::string>> notes;
  run_on_threads(2, [&](const Communicator& ranks) {
    const RankCase ours(ranks, {2, 1, 1}, options());
    Series series(several.path(), ours.mine.discretization(), ranks, &ours.mine.part());
    const bool is_last = ranks.rank() == 1;
    series.add(0.0, field_of([is_last](double x, double y, double z) {
                 if (is_last) throw BadFieldValue("exact is not finite", {x, y, z}, 0.0);
                 return x * y;
               }));
    const std::lock_guard lock(mutex);
    notes.insert(series.notes());
  });
  ::testing::internal::GetCapturedStderr();
  ASSERT_EQ(notes.size(), 1u);
  ASSERT_EQ(notes.begin()->size(), 1u);
  EXPECT_THAT(notes.begin()->front(),
              HasSubstr("solution_0001.pvtu has no exact solution and no error: exact is not"));
  for (const char* const name :
       {"solution_0001.pvtu", "solution_0001/0000.vtu", "solution_0001/0001.vtu"}) {
    EXPECT_THAT(read_file(several.path() / name), HasSubstr("Name=\"solution\"")) << name;
    EXPECT_THAT(read_file(several.path() / name), Not(HasSubstr("Name=\"exact\""))) << name;
  }
}

}  // namespace
}  // namespace tessera::testing
