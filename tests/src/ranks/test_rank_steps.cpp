// These tests hold cases in time on ranks, which are threads, to those on one rank: on the host,
// and on a GPU that the ranks share.
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
#include "tests/everywhere.hpp"
#include "tests/postprocess/temporary_directory.hpp"
#include "tests/src/ranks/case_on_rank.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;

// Everything moves: Dirichlet values, loads, a Robin term.
std::string moving_case(const std::string& time, const std::string& solver,
                        const std::string& cells = "[4, 5]") {
  return "[mesh]\ndimension = 2\ncells = " + cells +
         "\n[space]\ndegree = 2\n[problem]\n"
         "coefficient = \"1 + 0.3*x*y\"\ncapacity = \"1 + 0.2*x\"\n"
         "source = \"sin(3*x + y)*cos(2*t)\"\n[boundary]\n"
         "left = { type = \"dirichlet\", value = \"sin(t) + y\" }\n"
         "right = { type = \"robin\", value = \"1\", alpha = \"2 + t\" }\n"
         "bottom = { type = \"neumann\", value = \"x\" }\n"
         "top = { type = \"dirichlet\", value = \"sin(t) + 1\" }\n"
         "[time]\ninitial = \"y\"\n" +
         time + "[solver]\nrelative_tolerance = 1e-12\npreconditioner = \"" + solver + "\"\n";
}

/// What an integration came to.
struct Course {
  std::vector<double> times;
  int rejected = 0;
  int linear_iterations = 0;
  int nonlinear_iterations = 0;
  std::vector<double> u;
};

template <class Space>
HostVector<double> start_of(const CaseParameters& parameters, const CaseModel& model,
                            const Diffusion<Space>& diffusion) {
  HostVector<double> w(diffusion.layout());
  interpolate(model, make_initial(parameters), w);
  diffusion.clear_constrained(w);
  return w;
}

template <class Space>
Course integrated_on(const Communicator& ranks, const CaseParameters& parameters,
                     const RankGrid& grid) {
  const CaseOnRank mine(ranks, parameters, grid);
  const CaseModel& model = mine.model();
  const ProblemInTime problem(parameters, mine.part());
  TimerTree timers;
  Diffusion<Space> diffusion(parameters, problem, model.discretization, model.units, timers);
  auto w = in_space<Space>(start_of(parameters, model, diffusion));
  const auto integrator = make_time_integrator<Space>(diffusion, time_options(parameters), w);
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
  HostVector<double> u = testing::on_host(w);
  diffusion.add_dirichlet_values(end, u);
  EXPECT_TRUE(mine.on_rank().agrees(u));
  course.u = mine.on_rank().gathered(u);
  return course;
}

int rank_count(const RankGrid& grid) { return grid[0] * grid[1] * grid[2]; }

template <class Space>
Course integrated(const std::string& text, const RankGrid& grid) {
  const ThreadsInUse threads(1);
  const CaseParameters parameters = resolved(text, kProcessorOf<Space>);
  Course of_first;
  run_on_threads(rank_count(grid), [&](const Communicator& ranks) {
    Course mine = integrated_on<Space>(ranks, parameters, grid);
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

// Ranks that share a GPU wait for each other at every sum.
template <class Space>
bool is_too_slow(const RankGrid& grid) {
  return std::is_same_v<Space, Device> && rank_count(grid) > 3;
}

template <class Space>
void expect_the_course_of_one_rank(const std::string& text) {
  SCOPED_TRACE(text);
  const Course one = integrated<Space>(text, {1, 1, 1});
  EXPECT_GE(one.times.size(), 3U);
  for (const RankGrid& grid : {RankGrid{2, 1, 1}, RankGrid{1, 3, 1}, RankGrid{2, 2, 1}}) {
    if (!is_too_slow<Space>(grid)) expect_same_course(one, integrated<Space>(text, grid));
  }
  const Course several = integrated<Space>(text, {1, 2, 1});
  expect_same_course(one, several);
  const Course again = integrated<Space>(text, {1, 2, 1});
  EXPECT_EQ(again.times, several.times);
  EXPECT_EQ(again.u, several.u);
}

constexpr char kAdaptive[] = "end = 0.03\ntolerance = 1e-2\n";
constexpr char kFixed[] = "end = 0.03\nstep = 0.01\n";

class CaseStepsOnRanks : public EveryProcessorTest<std::tuple<Processor>> {};

INSTANTIATE_TEST_SUITE_P(Places, CaseStepsOnRanks,
                         ::testing::Combine(::testing::ValuesIn(every_processor())),
                         [](const auto& tested) {
                           return place_name(std::get<Processor>(tested.param));
                         });

TEST_P(CaseStepsOnRanks, OfSdirkAreThoseOfOneRank) {
  in_space_of_processor([&]<class Space>() {
    expect_the_course_of_one_rank<Space>(
        moving_case(std::string(kAdaptive) + "order = 3\n", "jacobi"));
    expect_the_course_of_one_rank<Space>(
        moving_case(std::string(kFixed) + "order = 2\n", "chebyshev"));
  });
}

TEST_P(CaseStepsOnRanks, ThatMultigridSolvesAreThoseOfOneRank) {
  in_space_of_processor([&]<class Space>() {
    for (const char* const time : {kAdaptive, kFixed}) {
      expect_the_course_of_one_rank<Space>(moving_case(time, "multigrid", "[24, 20]"));
    }
  });
}

TEST_P(CaseStepsOnRanks, OfBdfAreThoseOfOneRank) {
  in_space_of_processor([&]<class Space>() {
    expect_the_course_of_one_rank<Space>(
        moving_case(std::string(kAdaptive) + "method = \"bdf\"\n", "none"));
  });
}

// The mass matrix, too, is inverted by the same method on any number of ranks.
TEST(CaseStepsOnTheHost, OfBdfTakeTheIterationsOfOneRank) {
  const std::string text =
      "[mesh]\ndimension = 2\ncells = [3, 6]\n[space]\ndegree = 3\n[problem]\nsource = \"x\"\n"
      "capacity = \"2\"\n[boundary]\nleft = { type = \"neumann\", value = \"0\" }\n"
      "top = { type = \"dirichlet\", value = \"cos(t)\" }\n[time]\nend = 1e-3\n"
      "tolerance = 1e-4\nmethod = \"bdf\"\n[solver]\npreconditioner = \"fast-diagonalization\"\n";
  const Course one = integrated<Host>(text, {1, 1, 1});
  EXPECT_LE(one.linear_iterations, 2 * static_cast<int>(one.times.size()) + 2);
  for (const RankGrid& grid : {RankGrid{1, 3, 1}, RankGrid{2, 2, 1}}) {
    const Course several = integrated<Host>(text, grid);
    expect_same_course(one, several);
    EXPECT_EQ(several.linear_iterations, one.linear_iterations);
  }
}

TEST_P(CaseStepsOnRanks, OfImplicitEulerAreThoseOfOneRank) {
  in_space_of_processor([&]<class Space>() {
    const std::string euler = "method = \"backward-euler\"\n";
    expect_the_course_of_one_rank<Space>(moving_case(kFixed + euler, "jacobi"));
    expect_the_course_of_one_rank<Space>(
        moving_case("end = 0.05\ntolerance = 1e-2\n" + euler, "jacobi"));
  });
}

TEST_P(CaseStepsOnRanks, OfExplicitMethodsAreThoseOfOneRank) {
  in_space_of_processor([&]<class Space>() {
    const std::string method = "method = \"explicit-rk\"\norder = 3\n";
    expect_the_course_of_one_rank<Space>(
        moving_case("end = 0.003\nstep = 3e-4\n" + method, "none"));
    expect_the_course_of_one_rank<Space>(
        moving_case("end = 3e-4\ntolerance = 1e-7\n" + method, "none"));
  });
}

std::string nonlinear_case(const std::string& time) {
  return "[mesh]\ndimension = 2\ncells = [4, 4]\n[space]\ndegree = 2\n[problem]\n"
         "coefficient = \"1 + u^2\"\nsource = \"1 - u^3 + t*x\"\n[boundary]\n"
         "left = { type = \"dirichlet\", value = \"sin(t) + y\" }\n"
         "right = { type = \"neumann\", value = \"y\" }\n[time]\ninitial = \"y\"\n" +
         time + "[solver]\nrelative_tolerance = 1e-12\npreconditioner = \"jacobi\"\n[nonlinear]\n" +
         "relative_tolerance = 1e-12\n";
}

TEST_P(CaseStepsOnRanks, ThatAreNotLinearAreThoseOfOneRank) {
  in_space_of_processor([&]<class Space>() {
    expect_the_course_of_one_rank<Space>(nonlinear_case("end = 0.03\nstep = 0.01\norder = 2\n"));
    expect_the_course_of_one_rank<Space>(nonlinear_case("end = 0.03\ntolerance = 1e-2\n"));
    expect_the_course_of_one_rank<Space>(
        nonlinear_case("end = 0.03\ntolerance = 1e-2\nmethod = \"bdf\"\n"));
  });
}

// The mass matrix moves as well.
TEST_P(CaseStepsOnRanks, OfMappedCellsIn3DAreThoseOfOneRank) {
  in_space_of_processor([&]<class Space>() {
    const CaseParameters parameters = resolved(
        "[mesh]\ndimension = 3\ncells = [2, 3, 4]\nmap = [\"x + 0.1*sin(pi*y)*x*(1 - x)\", "
        "\"y\", \"z\"]\n[space]\ndegree = 2\n[problem]\nsource = \"exp(-t)*z\"\n"
        "capacity = \"1 + t*x\"\n[time]\nend = 0.02\nstep = 0.01\ninitial = \"z\"\n[solver]\n"
        "relative_tolerance = 1e-12\npreconditioner = \"jacobi\"\n",
        kProcessorOf<Space>);
    const auto course_on = [&](const RankGrid& grid) {
      Course of_first;
      run_on_threads(rank_count(grid), [&](const Communicator& ranks) {
        Course mine = integrated_on<Space>(ranks, parameters, grid);
        if (ranks.rank() == 0) of_first = std::move(mine);
      });
      return of_first;
    };
    const Course one = course_on({1, 1, 1});
    for (const RankGrid& grid : {RankGrid{1, 1, 3}, RankGrid{1, 2, 1}, RankGrid{1, 2, 2}}) {
      if (!is_too_slow<Space>(grid)) expect_same_course(one, course_on(grid));
    }
  });
}

TEST(CaseStepsOnTheHost, OfOneRankAreThoseWithoutRanks) {
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
      integrated<Host>(moving_case(std::string(kFixed) + "order = 2\n", "jacobi"), {1, 1, 1});
  for (Index i = 0; i < w.size(); ++i) EXPECT_NEAR(w[i], one.u[i], 1e-10);
}

// Steps from a checkpoint, or from the start without one, to `end`, where another checkpoint is
// written.
template <class Space>
std::vector<double> continued_on(const Communicator& ranks, const CaseParameters& parameters,
                                 const RankGrid& grid, double start, double end,
                                 const std::filesystem::path& from,
                                 const std::filesystem::path& to) {
  const CaseOnRank mine(ranks, parameters, grid);
  const CaseModel& model = mine.model();
  const ProblemInTime problem(parameters, mine.part());
  TimerTree timers;
  Diffusion<Space> diffusion(parameters, problem, model.discretization, model.units, timers);
  HostVector<double> on_host = start_of(parameters, model, diffusion);
  if (!from.empty()) read_checkpoint_vector(from, on_host);
  auto stepped = in_space<Space>(on_host);
  TimeOptions options = time_options(parameters);
  options.start = start;
  const auto integrator = make_time_integrator<Space>(diffusion, options, stepped);
  while (integrator->t() < end) integrator->step(end);
  const HostVector<double> w = testing::on_host(stepped);
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

TEST_P(CaseStepsOnRanks, GoOnFromTheCheckpointOfAnyNumberOfRanks) {
  in_space_of_processor([&]<class Space>() {
    const ThreadsInUse threads(1);
    const TemporaryDirectory root;
    const CaseParameters parameters =
        resolved(moving_case("end = 0.04\nstep = 0.01\n", "jacobi"), kProcessorOf<Space>);
    const auto run = [&](const RankGrid& grid, double start, double end, const char* from,
                         const char* to) {
      std::vector<double> w;
      run_on_threads(rank_count(grid), [&](const Communicator& ranks) {
        std::vector<double> mine = continued_on<Space>(
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
        if (is_too_slow<Space>(grid)) continue;
        const std::vector<double> w = run(grid, 0.02, 0.04, from, "later");
        ASSERT_EQ(w.size(), straight.size());
        for (std::size_t i = 0; i < w.size(); ++i) EXPECT_NEAR(w[i], straight[i], 1e-9);
      }
    }
    // With fixed steps and as many ranks, to the bit.
    const std::vector<double> of_three = run({1, 3, 1}, 0.0, 0.04, nullptr, "end");
    EXPECT_EQ(run({1, 3, 1}, 0.02, 0.04, "of_three", "later"), of_three);
  });
}

// Only the ranks on the left have the point where the source has no value.
TEST_P(CaseStepsOnRanks, FailOnAllWhereTheCaseHasNoValueOnOne) {
  in_space_of_processor([&]<class Space>() {
    for (const char* time : {"step = 0.02\n", "tolerance = 1e-3\n"}) {
      const CaseParameters parameters =
          resolved(std::string("[mesh]\ndimension = 2\ncells = [6, 4]\n[problem]\n"
                               "source = \"sqrt(0.03 - t + x)\"\n[time]\nend = 0.1\n") +
                       time + "[solver]\npreconditioner = \"jacobi\"\n",
                   kProcessorOf<Space>);
      run_on_threads(3, [&](const Communicator& ranks) {
        try {
          integrated_on<Space>(ranks, parameters, {3, 1, 1});
          ADD_FAILURE() << "nothing is thrown";
        } catch (const BadFieldValue& error) {
          EXPECT_THAT(error.text(), HasSubstr("problem.source"));
        }
        EXPECT_EQ(ranks.sum(1.0), 3.0);
      });
    }
  });
}

// The iteration for a stage takes one rank to a u at which the coefficient is not allowed.
TEST_P(CaseStepsOnRanks, ThatAreNotLinearFailOnAllWhereOneHasNoValue) {
  in_space_of_processor([&]<class Space>() {
    const std::string text =
        "[mesh]\ndimension = 2\ncells = [6, 4]\n[problem]\n"
        "coefficient = \"(x > 0.7) ? 0.3 - u : 1\"\nsource = \"40*x*u + 1\"\n[time]\n"
        "end = 0.2\nstep = 0.1\norder = 2\n[solver]\npreconditioner = \"jacobi\"\n[nonlinear]\n";
    std::string of_one;
    for (const RankGrid& grid : {RankGrid{1, 1, 1}, RankGrid{3, 1, 1}}) {
      const CaseParameters parameters = resolved(text, kProcessorOf<Space>);
      run_on_threads(rank_count(grid), [&](const Communicator& ranks) {
        std::string failure;
        try {
          integrated_on<Space>(ranks, parameters, grid);
        } catch (const TimeStepError& error) {
          failure = error.what();
        }
        EXPECT_EQ(ranks.broadcast(failure), failure);
        if (ranks.rank() != 0) return;
        if (ranks.size() == 1) of_one = failure;
        EXPECT_EQ(failure, of_one);
        EXPECT_FALSE(failure.empty());
      });
    }
  });
}

}  // namespace
}  // namespace tessera::testing
