// These tests look at what a run in time writes while it goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "postprocess/files/atomic_file.hpp"
#include "postprocess/picture/animation.hpp"
#include "postprocess/vtk/vtu_writer.hpp"
#include "src/case/model.hpp"
#include "src/case/setup.hpp"
#include "src/commands/run/solution_file.hpp"
#include "src/commands/time/solution_series.hpp"
#include "src/commands/time/time_json.hpp"
#include "src/parameters/case_parameters.hpp"
#include "tests/postprocess/temporary_directory.hpp"

namespace tessera::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kBent[] = R"toml(
[mesh]
dimension = 2
cells = [5, 4]
lower = [3, -2]
upper = [9, 2]
map = ["x", "y + 0.5*sin(x)"]
[space]
degree = 3
[problem]
coefficient = "2 + x"
exact = "x*y"
[output]
probes = [[4, 0], [5, 1]]
vtk_precision = "double"
vtk_compression = "none"
)toml";

class SolutionSeriesTest : public ::testing::Test {
 protected:
  void prepare(const std::string& text) {
    parameters_ = make_case_registry().parse(text, "case.toml").parameters;
    model_.emplace(make_case_model(parameters_));
    exact_ = make_exact(parameters_);
    u_ = HostVector<double>(model_->discretization.lattice.size());
    interpolate(*model_, *exact_, u_);
    files_.emplace(path());
    series_.emplace(parameters_, model_->discretization, *files_, notes_, 3);
  }
  void add(double t) { series_->add(t, u_, exact_, make_problem(parameters_).coefficient); }
  void add_picture(double t) {
    add(t);
    series_->add_picture(t, u_);
  }
  const std::filesystem::path& path() const { return directory_.path(); }
  std::string text(const std::string& name) const { return read_file(path() / name); }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path())) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  TemporaryDirectory directory_;
  CaseParameters parameters_;
  std::optional<CaseModel> model_;
  std::optional<ScalarField> exact_;
  HostVector<double> u_;
  RunNotes notes_;
  std::optional<ResultSet> files_;
  std::optional<SolutionSeries> series_;
};

TEST_F(SolutionSeriesTest, CanBeLookedAtAfterEachOutput) {
  prepare(kBent);
  write_text_file(path() / "result.json", "of an earlier run");
  add(0.0);
  EXPECT_THAT(names(), ElementsAre("solution.pvd", "solution_0001.vtu", "view.py"));
  add(0.1);
  series_->add_step({0.1, 0.1, 1e-3, 4, 0});
  EXPECT_EQ(
      text("steps.csv"),
      "t,dt,error_estimate,linear_iterations,rejected,nonlinear_iterations\n0.1,0.1,0.001,4,0,0\n");
  EXPECT_THAT(names(), ElementsAre("solution.pvd", "solution_0001.vtu", "solution_0002.vtu",
                                   "steps.csv", "view.py"));
  EXPECT_THAT(text("solution.pvd"), HasSubstr("timestep=\"0.10000000000000001\" part=\"0\" "
                                              "file=\"solution_0002.vtu\""));
  series_->add_probes(0.1, {{0.5, 1.0}, {0.25, 2.0}});
  series_->finish("not converged: stagnated");
  EXPECT_EQ(text("probes.csv"),
            "# " + program_name() +
                "\n# u1: 4, 0, 0\n# u2: 5, 1, 0\nt,u1,u2,exact1,exact2\n0.1,0.5,1,0.25,2\n");
  EXPECT_THAT(text("view.py"), HasSubstr("GRID = \"solution.pvd\""));
  EXPECT_THAT(text("view.py"), HasSubstr("STATUS = \"not converged: stagnated\""));
  EXPECT_THAT(notes_.all(), IsEmpty());
}

TEST_F(SolutionSeriesTest, FilesAreInPhysicalSpaceAndHaveTheirTime) {
  prepare(kBent);
  ASSERT_FALSE(model_->discretization.frame.is_physical());
  add(0.25);
  const Discretization physical = make_discretization(parameters_);
  ASSERT_TRUE(physical.frame.is_physical());
  SolutionFile expected(parameters_, physical, u_);
  expected.add_exact(*exact_);
  EXPECT_EQ(expected.add_coefficient(make_problem(parameters_).coefficient), "");
  const TemporaryDirectory elsewhere;
  ResultSet file(elsewhere.path());
  expected.add_to(file, "expected.vtu", "", 0.25);
  file.commit();
  EXPECT_TRUE(text("solution_0001.vtu") == read_file(elsewhere.path() / "expected.vtu"));
  EXPECT_THAT(text("solution_0001.vtu"), HasSubstr("Name=\"TimeValue\""));
}

TEST_F(SolutionSeriesTest, ColorsHaveTheRangeOfAllTimes) {
  prepare(kBent);
  for (const double value : {1.0, -3.0, 2.0}) {
    fill(u_, value);
    add(value);
  }
  u_[0] = std::nan("");
  add(4.0);
  series_->finish("");
  EXPECT_THAT(text("view.py"), HasSubstr("RANGE = (-3, 2)"));
}

TEST_F(SolutionSeriesTest, ColorsHaveNoRangeIfNothingIsFinite) {
  prepare(kBent);
  fill(u_, std::nan(""));
  add(0.0);
  series_->finish("");
  EXPECT_THAT(text("view.py"), HasSubstr("RANGE = None"));
}

TEST_F(SolutionSeriesTest, WhatFailsIsNotedOnceAndTheRestIsWritten) {
  prepare(kBent);
  ::testing::internal::CaptureStderr();
  add(0.0);
  {
    const FileSizeLimit limit(300);
    add(0.1);
    add(0.2);
  }
  add(0.3);
  series_->finish("");
  EXPECT_THAT(names(),
              ElementsAre("solution.pvd", "solution_0001.vtu", "solution_0004.vtu", "view.py"));
  EXPECT_THAT(notes_.all(), ElementsAre(StartsWith("solution_0002.vtu is missing: cannot write "),
                                        "2 of 4 solutions are missing"));
  EXPECT_TRUE(notes_.lacks_resources());
  EXPECT_THAT(text("solution.pvd"), Not(HasSubstr("0002")));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr(notes_.all()[1]));
}

TEST_F(SolutionSeriesTest, EachOutputHasAPictureAndAllHaveAnAnimation) {
  prepare(std::string(kBent) + "vtk = false\n");
  write_text_file(path() / "result.json", "of an earlier run");
  add_picture(0.0);
  EXPECT_THAT(names(), ElementsAre("solution_0001.png"));
  add_picture(0.5);
  EXPECT_THAT(names(), ElementsAre("solution_0001.png", "solution_0002.png"));
  series_->finish("");
  EXPECT_THAT(names(), ElementsAre("animation.png", "solution_0001.png", "solution_0002.png"));
  EXPECT_THAT(text("animation.png"), HasSubstr(std::string("acTL\0\0\0\2", 8)));
  EXPECT_THAT(notes_.all(), IsEmpty());
}

TEST_F(SolutionSeriesTest, AnAnimationHasTheLastOfManyOutputs) {
  prepare(std::string(kBent) + "vtk = false\n");
  // Kept: 0, 2, ..., 46, then those and 48, and the last one.
  for (int i = 0; i < kMaxAnimationFrames + 2; ++i) add_picture(0.1 * i);
  series_->finish("");
  EXPECT_THAT(text("animation.png"), HasSubstr(std::string("acTL\0\0\0\x1A", 8)));
  EXPECT_EQ(names().size(), kMaxAnimationFrames + 3U);
}

TEST_F(SolutionSeriesTest, OneOutputIsNoAnimation) {
  prepare(std::string(kBent) + "vtk = false\n");
  add_picture(0.0);
  series_->finish("");
  EXPECT_THAT(names(), ElementsAre("solution_0001.png"));
}

TEST_F(SolutionSeriesTest, PicturesThatAreNotWantedAreNotDrawn) {
  prepare(std::string(kBent) + "vtk = false\npicture = false\n");
  add_picture(0.0);
  add_picture(0.5);
  series_->finish("");
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(SolutionSeriesTest, APictureThatFailsIsNotedAndTheRestIsDrawn) {
  prepare(std::string(kBent) + "vtk = false\n");
  ::testing::internal::CaptureStderr();
  add_picture(0.0);
  {
    const FileSizeLimit limit(300);
    add_picture(0.1);
  }
  add_picture(0.2);
  series_->finish("");
  EXPECT_THAT(names(), ElementsAre("animation.png", "solution_0001.png", "solution_0003.png"));
  EXPECT_THAT(notes_.all(), ElementsAre(StartsWith("solution_0002.png is missing: cannot write ")));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr(notes_.all()[0]));
}

TEST_F(SolutionSeriesTest, WithoutVtkOnlyTablesAreWritten) {
  prepare(std::string(kBent) + "vtk = false\n");
  add(0.0);
  series_->add_step({0.1, 0.1, std::nan(""), 4, 0});
  series_->finish("");
  EXPECT_THAT(names(), ElementsAre("steps.csv"));
}

TEST_F(SolutionSeriesTest, StaysWhenTheOtherResultsAreNamed) {
  prepare(kBent);
  add(0.0);
  files_->add("result.json", "{}");
  files_->commit();
  EXPECT_THAT(names(), ElementsAre("result.json", "solution.pvd", "solution_0001.vtu", "view.py"));
}

TEST(TimeSummary, IsWrittenWithOrWithoutErrors) {
  TimeSummary time{"sdirk", 3, 0.0, 1.0, 20, 2, 11, 140, 1e-3, 0.1};
  EXPECT_EQ(
      time_json(time).dump(),
      R"({"method":"sdirk","order":3,"start":0.0,"end":1.0,"steps":20,"rejected":2,)"
      R"("outputs":11,"linear_iterations":140,"nonlinear_iterations":0,"smallest_step":0.001,"largest_step":0.1,)"
      R"("max_error":null})");
  time.max_error = ErrorNorms{0.5, 1.5, 2.5};
  EXPECT_EQ(time_json(time)["max_error"].dump(), R"({"l2":0.5,"h1_seminorm":1.5,"max":2.5})");
}

}  // namespace
}  // namespace tessera::testing
