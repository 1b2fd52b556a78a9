// These tests measure studies on ranks, which are threads, and join what calls measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "postprocess/report/studies/scaling.hpp"
#include "solvers/ranks/thread_ranks.hpp"
#include "src/case/ranks/rank_partition.hpp"
#include "src/study/joined_rows.hpp"
#include "src/study/measurement.hpp"
#include "src/study/solver_measurement.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;

StudyParameters quick_study() {
  StudyParameters study;
  study.applications = 1;
  study.repetitions = 2;
  study.time_limit_s = 0.01;
  study.threads = {1};
  study.solver.relative_tolerance = 1e-9;
  return study;
}

// The results of all strategies agree with the first's on ranks as well, and what is said of the
// problem is what one rank says.
TEST(RankStudies, ApplicationsAgreeOnRanks) {
  StudyParameters study = quick_study();
  study.kernels = {"csr", "tensor", "kronecker"};
  for (const StudyGeometry geometry : {StudyGeometry::uniform, StudyGeometry::mapped}) {
    const StudyProblem problem{3, geometry, 3000, 2, Precision::double_precision, 1};
    const StudyRanks alone;
    Bench one(study, problem, alone);
    run_on_threads(3, [&](const Communicator& ranks) {
      const StudyRanks several(ranks);
      Bench bench(study, problem, several);
      EXPECT_EQ(bench.dofs(), one.dofs());
      EXPECT_EQ(bench.nonzeros(), one.nonzeros());
      int measured = 0;
      for (const StrategyName& strategy : study_strategies(study, problem)) {
        const Measurement m = bench.measure(strategy, Index{1} << 34);
        if (!m.unsuitable.empty()) continue;
        ++measured;
        EXPECT_LT(m.difference, 1e-12) << strategy.text();
        EXPECT_GE(m.repetitions, 2);
        EXPECT_GT(m.min_seconds, 0.0);
        // All ranks say the same.
        double seconds = m.min_seconds;
        ranks.max({&seconds, 1});
        EXPECT_EQ(seconds, m.min_seconds);
      }
      EXPECT_GE(measured, 2);
    });
  }
}

// A strategy whose operator is wrong on one rank only is found wrong by all.
TEST(RankStudies, ADifferenceOfOneRankIsThatOfAll) {
  const std::vector<double> first = {1.0, -4.0, 2.0};
  run_on_threads(3, [&](const Communicator& ranks) {
    std::vector<double> y = first;
    if (ranks.rank() == 1) y[0] = 3.0;
    EXPECT_EQ(relative_difference<double>(y, first, ranks), 0.5);
    if (ranks.rank() == 2) y[0] = std::nan("");
    EXPECT_TRUE(std::isnan(relative_difference<double>(y, first, ranks)));
  });
}

TEST(RankStudies, SolvesTakeTheIterationsOfOneRank) {
  StudyParameters study = quick_study();
  study.solvers = {"multigrid", "jacobi", "full-multigrid"};
  for (const StudyGeometry geometry : {StudyGeometry::uniform, StudyGeometry::mapped}) {
    const StudyProblem problem{2, geometry, 1500, 2, Precision::double_precision, 1};
    const StudyRanks alone;
    const auto one = make_solver_bench(study, problem, alone);
    std::vector<SolverMeasurement> expected;
    for (const std::string& solver : study.solvers)
      expected.push_back(one->measure(solver, LaunchReports::no));
    run_on_threads(2, [&](const Communicator& ranks) {
      const StudyRanks several(ranks);
      const auto bench = make_solver_bench(study, problem, several);
      EXPECT_EQ(bench->dofs(), one->dofs());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const SolverMeasurement m = bench->measure(study.solvers[i], LaunchReports::no);
        EXPECT_NEAR(m.report.iterations, expected[i].report.iterations, 1) << study.solvers[i];
        ASSERT_TRUE(m.l2_error && expected[i].l2_error);
        EXPECT_NEAR(*m.l2_error, *expected[i].l2_error, 1e-3 * *expected[i].l2_error);
      }
    });
  }
}

// Kernels without a scatter policy leave coarser levels the fastest one.
TEST(RankStudies, SolvesHaveLevelsWhicheverKernelIsNamed) {
  StudyParameters study = quick_study();
  study.solvers = {"multigrid", "full-multigrid"};
  study.kernels = {"csr"};
  const StudyProblem problem{2, StudyGeometry::mapped, 1500, 2, Precision::double_precision, 1};
  const StudyRanks alone;
  const auto bench = make_solver_bench(study, problem, alone);
  EXPECT_EQ(bench->strategy(), "csr");
  for (const std::string& solver : study.solvers) {
    const SolverMeasurement m = bench->measure(solver, LaunchReports::no);
    EXPECT_EQ(m.left_out, "") << solver;
    ASSERT_TRUE(m.l2_error) << solver;
    EXPECT_LT(*m.l2_error, 1e-2) << solver;
  }
}

TEST(RankStudies, SizesForEachRankGrowWithThem) {
  StudyParameters study = quick_study();
  study.degrees = {2};
  study.dofs = {1000};
  study.dofs_per_rank = {1000};
  study.processes = 4;
  const std::vector<StudyProblem> problems = study_problems(study);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].target_dofs, 1000);
  EXPECT_EQ(problems[0].dofs_per_rank, 0);
  EXPECT_EQ(problems[1].target_dofs, 4000);
  EXPECT_EQ(problems[1].dofs_per_rank, 1000);
}

TEST(RankStudies, TooManyRanksAreRefused) {
  const StudyParameters study = quick_study();
  const StudyProblem problem{2, StudyGeometry::uniform, 9, 2, Precision::double_precision, 1};
  run_on_threads(3, [&](const Communicator& ranks) {
    const StudyRanks several(ranks);
    EXPECT_THROW(std::ignore = several.partition(study, problem), UnsuitableRanks);
  });
}

constexpr char kComments[] = "# Tessera 1\n# title: t\n# command: a\n# machine: m\n# toml: x = 1\n";
constexpr char kHeader[] =
    "dimension,geometry,degree,points,dofs,precision,threads,kernel,scatter,geometry_form,min_s,"
    "ranks,rank_grid,dofs_per_rank,model_s\n";

std::string rows_text(const std::vector<std::string>& rows) {
  std::string text = std::string(kComments) + kHeader;
  for (const std::string& row : rows) text += row + "\n";
  return text;
}

std::string row_of(int ranks, int dofs, double seconds, double model, const char* for_each = "") {
  return "3,uniform,4,5," + std::to_string(dofs) + ",double,1,kronecker,none,none," +
         std::to_string(seconds) + "," + std::to_string(ranks) + ",1x1x" + std::to_string(ranks) +
         "," + for_each + "," + std::to_string(model);
}

TEST(JoinedRows, TakeThePlaceOfThoseOfAsManyRanks) {
  const std::string earlier = rows_text({row_of(1, 1000, 4.0, 1.0), row_of(2, 1000, 3.0, 1.0)});
  const std::string again = rows_text({row_of(2, 1000, 2.0, 0.5)});
  EXPECT_EQ(joined_rows("a.csv", earlier, again),
            rows_text({row_of(1, 1000, 4.0, 1.0), row_of(2, 1000, 2.0, 0.5)}));
  // What was not measured again, as after an interruption, stays.
  EXPECT_EQ(
      joined_rows("a.csv", earlier + row_of(2, 8000, 9.0, 1.0) + "\n", again),
      rows_text({row_of(1, 1000, 4.0, 1.0), row_of(2, 8000, 9.0, 1.0), row_of(2, 1000, 2.0, 0.5)}));
}

TEST(JoinedRows, OfAnotherStudyMachineOrProgramAreRefused) {
  const std::string earlier = rows_text({row_of(1, 1000, 4.0, 1.0)});
  EXPECT_NO_THROW(require_same_study("a.csv", earlier, rows_text({})));
  const auto refusal = [&](const std::string& part, const std::string& other) {
    std::string csv = rows_text({});
    csv.replace(csv.find(part), part.size(), other);
    try {
      require_same_study("a.csv", earlier, csv);
    } catch (const report::BadInput& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal("command: a", "command: b"), "");
  EXPECT_THAT(refusal("Tessera 1", "Tessera 2"),
              HasSubstr("a.csv: its rows are of another program"));
  EXPECT_THAT(refusal("machine: m", "machine: n"),
              HasSubstr("another machine (\"m\", here \"n\")"));
  EXPECT_THAT(refusal("x = 1", "x = 2"), HasSubstr("another study (\"x = 1\", here \"x = 2\")"));
  EXPECT_THAT(refusal("# toml: x = 1\n", ""), HasSubstr("another study"));
  EXPECT_THAT(refusal("points,", "point,"), HasSubstr("other columns"));
}

// Fewer of the host's threads are of no matter there.
TEST(Scalings, OfGpusAreComparedWhateverTheThreadsOfTheHost) {
  std::string of_two = row_of(2, 1000, 1.0, 0.0);
  const std::string threads = ",double,1,";
  of_two.replace(of_two.find(threads), threads.size(), ",double,8,");
  std::string text = rows_text({row_of(1, 1000, 1.5, 0.0), of_two});
  EXPECT_EQ(report::scalings(report::CsvTable("a.csv", text)).size(), 0U);
  text.insert(text.find("# toml"), "# gpu: some\n");
  const std::vector<report::Scaling> on_gpus = report::scalings(report::CsvTable("a.csv", text));
  ASSERT_EQ(on_gpus.size(), 1U);
  EXPECT_THAT(on_gpus[0].title, HasSubstr("a GPU a process"));
  EXPECT_NEAR(on_gpus[0].rows.at(1).efficiency, 0.75, 1e-12);
}

TEST(Scalings, HaveSpeedUpAndEfficiencyAgainstTheFewestRanks) {
  // Strong, weak, and one that nothing is compared with.
  const report::CsvTable table(
      "a.csv", rows_text({row_of(4, 1000, 1.0, 0.3), row_of(1, 1000, 3.0, 1.0),
                          row_of(1, 500, 2.0, 1.0, "500"), row_of(4, 2000, 2.5, 1.0, "500"),
                          row_of(1, 77, 2.0, 1.0)}));
  const std::vector<report::Scaling> all = report::scalings(table);
  ASSERT_EQ(all.size(), 2U);
  ASSERT_EQ(all[0].rows.size(), 2U);
  EXPECT_THAT(all[0].title, HasSubstr("1000 DoFs"));
  EXPECT_EQ(all[0].rows[0].ranks, 1);
  EXPECT_EQ(all[0].rows[0].efficiency, 1.0);
  EXPECT_NEAR(all[0].rows[1].speed_up, 3.0, 1e-12);
  EXPECT_NEAR(all[0].rows[1].efficiency, 0.75, 1e-12);
  EXPECT_NEAR(*all[0].rows[1].foreseen_efficiency, 1.0 / 0.3 / 4.0, 1e-6);
  EXPECT_THAT(all[1].title, HasSubstr("500 DoFs a rank"));
  EXPECT_NEAR(all[1].rows[1].efficiency, 2.0 / 2.5, 1e-12);
  EXPECT_THAT(report::scaling_text(table), HasSubstr("80.0 %"));
  EXPECT_THAT(report::scaling_text(report::CsvTable("b.csv", rows_text({}))),
              HasSubstr("another number of processes"));
}

}  // namespace
}  // namespace tessera::testing
