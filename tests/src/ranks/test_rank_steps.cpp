// These tests hold cases in time on ranks, which are threads, to those on one rank.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "postprocess/checkpoint/checkpoint.hpp"
#include "solvers/ranks/thread_ranks.hpp"
#include "src/case/time/problem_in_time.hpp"
#include "src/case/time/time_case.hpp"
#include "src/solve/time/diffusion.hpp"
#include "tests/postprocess/temporary_directory.hpp"
#include "tests/src/ranks/rank_case.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;

// Everything moves: Dirichlet values, loads, a Robin term.
std::string moving_case(const std::string& time, const std::string& solver,
                        const std::string& more = "") {
  return "[mesh]\ndimension = 2\ncells = [4, 5]\n[space]\ndegree = 2\n[problem]\n"
         "coefficient = \"1 + 0.3*x*y\"\ncapacity = \"1 + 0.2*x\"\n"
         "source = \"sin(3*x + y)*cos(2*t)\"\n[boundary]\n"
         "left = { type = \"dirichlet\", value = \"sin(t) + y\" }\n"
         "right = { type = \"robin\", value = \"1\", alpha = \"2 + t\" }\n"
         "bottom = { type = \"neumann\", value = \"x\" }\n"
         "top = { type = \"dirichlet\", value = \"sin(t) + 1\" }\n"
         "[time]\ninitial = \"y\"\n" +
         time + "[solver]\nrelative_tolerance = 1e-12\npreconditioner = \"" + solver + "\"\n" +
         more;
}

/// What an integration came to.
struct Course {
  std::vector<double> times;
  int rejected = 0;
  int linear_iterations = 0;
  int nonlinear_iterations = 0;
  std::vector<double> u;
};

Course integrated_on(const Communicator& ranks, const CaseParameters& parameters,
                     const RankGrid& grid) {
  const RankCase mine(ranks, parameters, grid);
  const CaseModel& model = mine.model();
  const ProblemInTime problem(parameters, mine.part());
  TimerTree timers;
  Diffusion<Host> diffusion(parameters, problem, model.discretization, model.units, timers);
  HostVector<double> w(diffusion.layout());
  interpolate(model, make_initial(parameters), w);
  diffusion.clear_constrained(w);
  const auto integrator = make_time_integrator<Host>(diffusion, time_options(parameters), w);
  Course course;
  const double end = parameters.time->end;
  while (integrator->t() < end) {
    const TimeStep step = integrator->step(end);
    course.times.push_back(step.t);
    course.rejected += step.rejected;
    course.linear_iterations += step.linear_iterations;
    course.nonlinear_iterations += step.nonlinear_iterations;
  }
  for (const std::size_t steps : ranks.all_gather(course.times.size())) {
    EXPECT_EQ(steps, course.times.size());
  }
  const double sum_of_times = std::accumulate(course.times.begin(), course.times.end(), 0.0);
  for (const double sum : ranks.all_gather(sum_of_times)) EXPECT_EQ(sum, sum_of_times);
  diffusion.add_dirichlet_values(end, w);
  EXPECT_TRUE(mine.on_rank().agrees(w));
  course.u = mine.on_rank().gathered(w);
  return course;
}

Course integrated(const std::string& text, const RankGrid& grid) {
  const ThreadCount threads(1);
  const CaseParameters parameters = resolved(text);
  Course of_first;
  run_on_threads(grid[0] * grid[1] * grid[2], [&](const Communicator& ranks) {
    Course mine = integrated_on(ranks, parameters, grid);
    if (ranks.rank() == 0) of_first = std::move(mine);
  });
  return of_first;
}

void expect_same_course(const Course& one, const Course& several) {
  EXPECT_EQ(several.times.size(), one.times.size());
  EXPECT_EQ(several.rejected, one.rejected);
  EXPECT_EQ(several.nonlinear_iterations, one.nonlinear_iterations);
  ASSERT_EQ(several.u.size(), one.u.size());
  for (std::size_t i = 0; i < one.u.size(); ++i) EXPECT_NEAR(several.u[i], one.u[i], 1e-9);
}

void expect_the_course_of_one_rank(const std::string& text) {
  SCOPED_TRACE(text);
  const Course one = integrated(text, {1, 1, 1});
  EXPECT_GE(one.times.size(), 3U);
  for (const RankGrid& grid : {RankGrid{1, 2, 1}, RankGrid{1, 3, 1}, RankGrid{2, 2, 1}}) {
    expect_same_course(one, integrated(text, grid));
  }
  const Course several = integrated(text, {2, 2, 1});
  const Course again = integrated(text, {2, 2, 1});
  EXPECT_EQ(again.times, several.times);
  EXPECT_EQ(again.u, several.u);
}

constexpr char kAdaptive[] = "end = 0.03\ntolerance = 1e-2\n";
constexpr char kFixed[] = "end = 0.03\nstep = 0.01\n";

TEST(CaseStepsOnRanks, OfSdirkAreThoseOfOneRank) {
  expect_the_course_of_one_rank(moving_case(std::string(kAdaptive) + "order = 3\n", "jacobi"));
  expect_the_course_of_one_rank(moving_case(std::string(kFixed) + "order = 2\n", "chebyshev"));
}

TEST(CaseStepsOnRanks, OfBdfAreThoseOfOneRank) {
  expect_the_course_of_one_rank(moving_case(std::string(kAdaptive) + "method = \"bdf\"\n", "none"));
}

// The mass matrix, too, is inverted by the same method on any number of ranks.
TEST(CaseStepsOnRanks, OfBdfTakeTheIterationsOfOneRank) {
  const std::string text =
      "[mesh]\ndimension = 2\ncells = [3, 6]\n[space]\ndegree = 3\n[problem]\nsource = \"x\"\n"
      "capacity = \"2\"\n[boundary]\nleft = { type = \"neumann\", value = \"0\" }\n"
      "top = { type = \"dirichlet\", value = \"cos(t)\" }\n[time]\nend = 1e-3\n"
      "tolerance = 1e-4\nmethod = \"bdf\"\n[solver]\npreconditioner = \"fast-diagonalization\"\n";
  const Course one = integrated(text, {1, 1, 1});
  EXPECT_LE(one.linear_iterations, 2 * static_cast<int>(one.times.size()) + 2);
  for (const RankGrid& grid : {RankGrid{1, 3, 1}, RankGrid{2, 2, 1}}) {
    const Course several = integrated(text, grid);
    expect_same_course(one, several);
    EXPECT_EQ(several.linear_iterations, one.linear_iterations);
  }
}

TEST(CaseStepsOnRanks, OfImplicitEulerAreThoseOfOneRank) {
  const std::string euler = "method = \"backward-euler\"\n";
  expect_the_course_of_one_rank(moving_case(kFixed + euler, "jacobi"));
  expect_the_course_of_one_rank(moving_case("end = 0.05\ntolerance = 1e-2\n" + euler, "jacobi"));
}

TEST(CaseStepsOnRanks, OfExplicitMethodsAreThoseOfOneRank) {
  const std::string method = "method = \"explicit-rk\"\norder = 3\n";
  expect_the_course_of_one_rank(moving_case("end = 0.003\nstep = 3e-4\n" + method, "none"));
  expect_the_course_of_one_rank(moving_case("end = 3e-4\ntolerance = 1e-7\n" + method, "none"));
}

std::string nonlinear_case(const std::string& time) {
  return "[mesh]\ndimension = 2\ncells = [4, 4]\n[space]\ndegree = 2\n[problem]\n"
         "coefficient = \"1 + u^2\"\nsource = \"1 - u^3 + t*x\"\n[boundary]\n"
         "left = { type = \"dirichlet\", value = \"sin(t) + y\" }\n"
         "right = { type = \"neumann\", value = \"y\" }\n[time]\ninitial = \"y\"\n" +
         time + "[solver]\nrelative_tolerance = 1e-12\npreconditioner = \"jacobi\"\n[nonlinear]\n" +
         "relative_tolerance = 1e-12\n";
}

TEST(CaseStepsOnRanks, ThatAreNotLinearAreThoseOfOneRank) {
  expect_the_course_of_one_rank(nonlinear_case("end = 0.03\nstep = 0.01\norder = 2\n"));
  expect_the_course_of_one_rank(nonlinear_case("end = 0.03\ntolerance = 1e-2\n"));
}

TEST(CaseStepsOnRanks, OfMappedCellsIn3DAreThoseOfOneRank) {
  const CaseParameters parameters = resolved(
      "[mesh]\ndimension = 3\ncells = [2, 3, 4]\nmap = [\"x + 0.1*sin(pi*y)*x*(1 - x)\", \"y\", "
      "\"z\"]\n[space]\ndegree = 2\n[problem]\nsource = \"exp(-t)*z\"\n[time]\nend = 0.02\n"
      "step = 0.01\ninitial = \"z\"\n[solver]\nrelative_tolerance = 1e-12\n"
      "preconditioner = \"jacobi\"\n");
  std::map<int, Course> courses;
  for (const RankGrid& grid : {RankGrid{1, 1, 1}, RankGrid{1, 1, 3}, RankGrid{1, 2, 2}}) {
    run_on_threads(grid[1] * grid[2], [&](const Communicator& ranks) {
      Course mine = integrated_on(ranks, parameters, grid);
      if (ranks.rank() == 0) courses[ranks.size()] = std::move(mine);
    });
  }
  expect_same_course(courses.at(1), courses.at(3));
  expect_same_course(courses.at(1), courses.at(4));
}

TEST(CaseStepsOnRanks, OfOneRankAreThoseWithoutRanks) {
  const CaseParameters parameters =
      resolved(moving_case(std::string(kFixed) + "order = 2\n", "jacobi"));
  const CaseModel model = make_case_model(parameters);
  const ProblemInTime problem(parameters);
  TimerTree timers;
  Diffusion<Host> diffusion(parameters, problem, model.discretization, model.units, timers);
  HostVector<double> w(diffusion.size());
  interpolate(model, make_initial(parameters), w);
  diffusion.clear_constrained(w);
  const auto integrator = make_time_integrator<Host>(diffusion, time_options(parameters), w);
  while (integrator->t() < parameters.time->end) integrator->step(parameters.time->end);
  diffusion.add_dirichlet_values(parameters.time->end, w);
  const Course one =
      integrated(moving_case(std::string(kFixed) + "order = 2\n", "jacobi"), {1, 1, 1});
  for (Index i = 0; i < w.size(); ++i) EXPECT_NEAR(w[i], one.u[i], 1e-10);
}

// Steps from a checkpoint, or from the start without one, to `end`, where another checkpoint is
// written.
std::vector<double> continued_on(const Communicator& ranks, const CaseParameters& parameters,
                                 const RankGrid& grid, double start, double end,
                                 const std::filesystem::path& from,
                                 const std::filesystem::path& to) {
  const RankCase mine(ranks, parameters, grid);
  const CaseModel& model = mine.model();
  const ProblemInTime problem(parameters, mine.part());
  TimerTree timers;
  Diffusion<Host> diffusion(parameters, problem, model.discretization, model.units, timers);
  HostVector<double> w(diffusion.layout());
  if (from.empty()) {
    interpolate(model, make_initial(parameters), w);
    diffusion.clear_constrained(w);
  } else {
    read_checkpoint_vector(from, w);
  }
  TimeOptions options = time_options(parameters);
  options.start = start;
  const auto integrator = make_time_integrator<Host>(diffusion, options, w);
  while (integrator->t() < end) integrator->step(end);
  if (ranks.rank() == 0) {
    AtomicFile file(to);
    Checkpoint checkpoint;
    checkpoint.dofs = w.layout().whole_size();
    checkpoint.time.end = end;
    write_checkpoint(file, checkpoint, w);
    file.commit();
  }
  finish_checkpoint(w);
  return mine.on_rank().gathered(w);
}

TEST(CaseStepsOnRanks, GoOnFromTheCheckpointOfAnyNumberOfRanks) {
  const ThreadCount threads(1);
  const TemporaryDirectory root;
  const CaseParameters parameters = resolved(moving_case("end = 0.04\nstep = 0.01\n", "jacobi"));
  const auto run = [&](const RankGrid& grid, double start, double end, const char* from,
                       const char* to) {
    std::vector<double> w;
    run_on_threads(grid[0] * grid[1], [&](const Communicator& ranks) {
      std::vector<double> mine = continued_on(
          ranks, parameters, grid, start, end,
          from == nullptr ? std::filesystem::path() : root.path() / from, root.path() / to);
      if (ranks.rank() == 0) w = std::move(mine);
    });
    return w;
  };
  const std::vector<double> straight = run({1, 1, 1}, 0.0, 0.04, nullptr, "end");
  run({1, 3, 1}, 0.0, 0.02, nullptr, "of_three");
  run({1, 1, 1}, 0.0, 0.02, nullptr, "of_one");
  for (const char* from : {"of_three", "of_one"}) {
    for (const RankGrid& grid : {RankGrid{1, 1, 1}, RankGrid{1, 2, 1}, RankGrid{2, 2, 1}}) {
      const std::vector<double> w = run(grid, 0.02, 0.04, from, "later");
      ASSERT_EQ(w.size(), straight.size());
      for (std::size_t i = 0; i < w.size(); ++i) EXPECT_NEAR(w[i], straight[i], 1e-9);
    }
  }
  // With fixed steps and as many ranks, to the bit.
  const std::vector<double> of_three = run({1, 3, 1}, 0.0, 0.04, nullptr, "end");
  EXPECT_EQ(run({1, 3, 1}, 0.02, 0.04, "of_three", "later"), of_three);
}

// Only the ranks on the left have the point where the source has no value.
TEST(CaseStepsOnRanks, FailOnAllWhereTheCaseHasNoValueOnOne) {
  for (const char* time : {"step = 0.02\n", "tolerance = 1e-3\n"}) {
    const CaseParameters parameters =
        resolved(std::string("[mesh]\ndimension = 2\ncells = [6, 4]\n[problem]\n"
                             "source = \"sqrt(0.03 - t + x)\"\n[time]\nend = 0.1\n") +
                 time + "[solver]\npreconditioner = \"jacobi\"\n");
    run_on_threads(3, [&](const Communicator& ranks) {
      try {
        integrated_on(ranks, parameters, {3, 1, 1});
        ADD_FAILURE() << "nothing is thrown";
      } catch (const BadFieldValue& error) {
        EXPECT_THAT(error.text(), HasSubstr("problem.source"));
      }
      EXPECT_EQ(ranks.sum(1.0), 3.0);
    });
  }
}

}  // namespace
}  // namespace tessera::testing
