// These tests solve one problem in many units.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "mesh/threads_in_use.hpp"
#include "operators/tensor/factor_choice.hpp"
#include "src/case/choices.hpp"
#include "src/case/model.hpp"
#include "src/case/setup.hpp"
#include "src/case/shape.hpp"
#include "src/solve/solve.hpp"
#include "tests/device_test.hpp"

namespace tessera::testing {
namespace {

// Units of length, of the coefficient and of the source.
struct Units {
  double length;
  double coefficient;
  double source;

  double solution() const { return source * length / coefficient * length; }
  std::string text() const {
    return fmt::format("lengths of {}, coefficients of {}, sources of {}", length, coefficient,
                       source);
  }
};

constexpr Units kPlain{1.0, 1.0, 1.0};
constexpr Units kUnits[] = {
    {1e-9, 8.85e-12, 1e-20},  // permittivity in a box of nanometers
    {1e-8, 6.1e-39, 1e-20},   // hbar^2 / 2 m
    {1.0, 1e40, 1e30},       {1e-15, 1e-30, 1e6}, {1e12, 1e-6, 1e-30}, {3.0, 0.7, 5.0},
};

enum class Kind { constant, separable, general, mapped };
constexpr Kind kKinds[] = {Kind::constant, Kind::separable, Kind::general, Kind::mapped};

// Dirichlet, Neumann and Robin faces; in other units the same problem.
std::string case_text(int dimension, Kind kind, const Units& units) {
  const double size = units.length;
  const std::string x = fmt::format("(x/{})", size);
  const std::string y = fmt::format("(y/{})", size);
  const std::string k = fmt::format("{}", units.coefficient);
  const std::string flux = fmt::format("{}", units.source * units.length);
  const bool is_flat = dimension == 2;
  std::string coefficient = k;
  if (kind == Kind::separable) coefficient = fmt::format("{}*(1 + {})*(2 - {})", k, x, y);
  if (kind == Kind::general) coefficient = fmt::format("{}*(1 + {}*{})", k, x, y);
  std::string text = fmt::format("[mesh]\ndimension = {}\ncells = {}\nupper = {}\n", dimension,
                                 is_flat ? "[10, 8]" : "[6, 5, 4]",
                                 is_flat ? fmt::format("[{}, {}]", size, size)
                                         : fmt::format("[{}, {}, {}]", size, size, size));
  if (kind == Kind::mapped) {
    text += fmt::format("map = [\"x + {}*sin(pi*{})\", \"y\"{}]\n", 0.1 * size, y,
                        is_flat ? "" : ", \"z\"");
  }
  text += fmt::format(
      "[space]\ndegree = 2\n[problem]\ncoefficient = \"{}\"\nsource = \"{}*(1 + {})\"\n[boundary]\n"
      "left = {{ value = \"{}*{}\" }}\nright = {{ type = \"neumann\", value = \"{}\" }}\n"
      "top = {{ type = \"robin\", alpha = \"{}\", value = \"{}\" }}\n",
      coefficient, units.source, x, units.solution(), y, flux, units.coefficient / units.length,
      flux);
  return text;
}

struct Solved {
  SolveReport report;
  HostVector<double> x;
};

// As a run does it.
Solved solved(const CaseParameters& parameters) {
  const CaseModel model = make_case_model(parameters);
  const BilinearForm form = stiffness_form(model.problem, model.discretization);
  LinearSystem system = make_linear_system(model, make_initial(parameters));
  TimerTree timers;
  { const auto setup = timers.scope("setup"); }
  SolveListeners listeners;
  listeners.iteration = [](int, double) { return Continue::yes; };
  listeners.preconditioner = [](const auto&, const auto&) {};
  SolveOutcome outcome = solve(parameters, model.problem, form, system, timers, listeners);
  return {outcome.report, std::move(system.x)};
}

// What the case is solved with.
struct Choices {
  std::string kernel = "tensor";
  FactorStorage factors = FactorStorage::stored;
  Precision precision = Precision::double_precision;
  std::string preconditioner = "jacobi";
  Precision cycle = Precision::double_precision;
  bool starts_with_full_multigrid = false;
  RunDevice device = RunDevice::cpu;
  int degree = 2;

  std::string text() const {
    return fmt::format("{}, {}, {}, {}, cycle {}{}", kernel, factor_storage_name(factors),
                       name_of(precision), preconditioner, name_of(cycle),
                       starts_with_full_multigrid ? ", full multigrid" : "");
  }
};

CaseParameters parameters_of(int dimension, Kind kind, const Units& units, const Choices& choices) {
  CaseParameters parameters =
      make_case_registry().parse(case_text(dimension, kind, units), "case.toml").parameters;
  const bool is_double = choices.precision == Precision::double_precision;
  parameters.space.degree = choices.degree;
  parameters.space.points = choices.degree + 1;
  parameters.operation.kernel = choices.kernel;
  const KernelInfo* kernel = find_kernel(choices.kernel);
  parameters.operation.scatter =
      kernel->scatter == TakesScatter::no ? std::string(kNoScatter) : "coloring";
  parameters.operation.precision = choices.precision;
  parameters.operation.factors = choice_of(choices.factors);
  parameters.run.device = choices.device;
  parameters.solver.preconditioner = choices.preconditioner;
  parameters.solver.multigrid.precision = choices.cycle;
  parameters.solver.relative_tolerance = is_double ? 1e-10 : 1e-4;
  if (choices.starts_with_full_multigrid) parameters.solver.initial = kFullMultigrid;
  return parameters;
}

void expect_same(int dimension, Kind kind, const Choices& choices) {
  const Solved expected = solved(parameters_of(dimension, kind, kPlain, choices));
  ASSERT_EQ(expected.report.status, SolveStatus::converged);
  const double tolerance = std::max(choices.precision == Precision::double_precision ? 1e-9 : 1e-3,
                                    100.0 * find_kernel(choices.kernel)->entry_rounding);
  double largest = 0.0;
  for (Index i = 0; i < expected.x.size(); ++i) {
    largest = std::max(largest, std::abs(expected.x[i]));
  }
  ASSERT_GT(largest, 0.1);
  for (const Units& units : kUnits) {
    SCOPED_TRACE(units.text());
    const Solved found = solved(parameters_of(dimension, kind, units, choices));
    EXPECT_EQ(found.report.status, SolveStatus::converged);
    // Units that are no powers of 2 round elsewhere, which may move the end of many iterations.
    EXPECT_LE(std::abs(found.report.iterations - expected.report.iterations),
              expected.report.iterations / 50);
    double difference = 0.0;
    for (Index i = 0; i < found.x.size(); ++i) {
      ASSERT_TRUE(std::isfinite(found.x[i]));
      difference = std::max(difference, std::abs(found.x[i] / units.solution() - expected.x[i]));
    }
    EXPECT_LT(difference, tolerance * largest);
  }
}

std::vector<Choices> kernels_of(int dimension, Kind kind, RunDevice device) {
  const Processor processor = device == RunDevice::cuda ? Processor::gpu : Processor::cpu;
  std::vector<Choices> all;
  for (const KernelInfo& kernel : kernel_table()) {
    if (!kernel.runs_on(processor)) continue;
    Choices choices;
    choices.kernel = kernel.name;
    choices.device = device;
    if (kernel.name == "kronecker" && kind != Kind::constant && kind != Kind::separable) continue;
    if (kernel.name == "stencil") choices.degree = 1;
    all.push_back(choices);
    if (kernel.factors == TakesFactors::no || kind != Kind::mapped) continue;
    const FormShape shape = case_shape(parameters_of(dimension, kind, kPlain, choices));
    for (const FactorStorage storage : factor_storages("coloring", shape)) {
      if (storage == FactorStorage::stored) continue;
      choices.factors = storage;
      all.push_back(choices);
    }
  }
  return all;
}

void expect_same_for_kernels(RunDevice device) {
  const ThreadsInUse threads(1);
  for (const int dimension : {2, 3}) {
    for (const Kind kind : kKinds) {
      for (Choices choices : kernels_of(dimension, kind, device)) {
        for (const Precision precision :
             {Precision::double_precision, Precision::single_precision}) {
          choices.precision = precision;
          SCOPED_TRACE(
              fmt::format("{}D, kind {}, {}", dimension, static_cast<int>(kind), choices.text()));
          expect_same(dimension, kind, choices);
        }
      }
    }
  }
}

void expect_same_for_preconditioners(RunDevice device) {
  const ThreadsInUse threads(1);
  const char* const kChoices[] = {
      "none", "chebyshev", "multigrid", "fast-diagonalization", "block-jacobi",
  };
  for (const Kind kind : kKinds) {
    for (const std::string choice : kChoices) {
      for (const Precision precision : {Precision::double_precision, Precision::single_precision}) {
        Choices choices;
        choices.kernel = kind == Kind::constant ? "kronecker" : "tensor";
        choices.preconditioner = choice;
        choices.precision = precision;
        choices.device = device;
        std::vector<Choices> all = {choices};
        if (choice == "multigrid") {
          all.back().starts_with_full_multigrid = true;
          choices.cycle = Precision::single_precision;
          all.push_back(choices);
          choices.starts_with_full_multigrid = true;
          all.push_back(choices);
        }
        for (const Choices& each : all) {
          SCOPED_TRACE(fmt::format("kind {}, {}", static_cast<int>(kind), each.text()));
          expect_same(3, kind, each);
        }
      }
    }
  }
}

TEST(NaturalUnits, KernelsTakeTheSameStepsInAllUnits) { expect_same_for_kernels(RunDevice::cpu); }
TEST(NaturalUnits, PreconditionersTakeTheSameStepsInAllUnits) {
  expect_same_for_preconditioners(RunDevice::cpu);
}
TEST(NaturalUnits, KernelsOnTheGpuTakeTheSameStepsInAllUnits) {
  TESSERA_REQUIRE_DEVICE();
  expect_same_for_kernels(RunDevice::cuda);
}
TEST(NaturalUnits, PreconditionersOnTheGpuTakeTheSameStepsInAllUnits) {
  TESSERA_REQUIRE_DEVICE();
  expect_same_for_preconditioners(RunDevice::cuda);
}

// Of a problem whose units are powers of 4 the numbers are the same to the last bit.
TEST(NaturalUnits, PowersOfFourChangeNothing) {
  const ThreadsInUse threads(1);
  const Units units{0x1p-60, 0x1p-80, 0x1p30};
  for (const Kind kind : kKinds) {
    Choices choices;
    choices.preconditioner = "multigrid";
    choices.cycle = Precision::single_precision;
    SCOPED_TRACE(static_cast<int>(kind));
    const Solved expected = solved(parameters_of(3, kind, kPlain, choices));
    const Solved found = solved(parameters_of(3, kind, units, choices));
    EXPECT_EQ(found.report.history, expected.report.history);
    for (Index i = 0; i < found.x.size(); ++i) {
      ASSERT_EQ(found.x[i] / units.solution(), expected.x[i]) << i;
    }
  }
}

// A source so small that squares of b's entries are 0 in double precision.
TEST(NaturalUnits, SquaresThatVanishAreNotMissed) {
  Choices choices;
  const Solved expected = solved(parameters_of(3, Kind::constant, kPlain, choices));
  const Units units{1.0, 1.0, 1e-200};
  const Solved found = solved(parameters_of(3, Kind::constant, units, choices));
  EXPECT_EQ(found.report.status, SolveStatus::converged);
  EXPECT_EQ(found.report.iterations, expected.report.iterations);
  for (Index i = 0; i < found.x.size(); ++i) {
    ASSERT_NEAR(found.x[i] / units.source, expected.x[i], 1e-9);
  }
}

// The same box, moved far from 0 by what differences of its positions do not lose.
TEST(FarBoxes, HaveTheSolutionsOfNearOnes) {
  const std::string kind = R"toml(
[space]
degree = 2
[problem]
source = "1"
[boundary]
right = { type = "neumann", value = "1" }
top = { type = "robin", alpha = "1", value = "2" }
)toml";
  const auto solution_of = [&](const std::string& mesh) {
    CaseParameters parameters =
        make_case_registry().parse("[mesh]\ndimension = 2\n" + mesh + kind, "case.toml").parameters;
    parameters.run.device = RunDevice::cpu;
    resolve_choices(parameters);
    return solved(parameters);
  };
  const std::pair<std::string, std::string> pairs[] = {
      {"cells = [12, 9]\n",
       "cells = [12, 9]\nlower = [4e9, -8e9]\nupper = [4000000001, -7999999999]\n"},
      {"cells = [2, 3]\nspacing = [[0, 0.25, 1], \"uniform\"]\n",
       "cells = [2, 3]\nspacing = [[2097152, 2097152.25, 2097153], \"uniform\"]\n"
       "lower = [2097152, 1048576]\nupper = [2097153, 1048577]\n"},
      {"cells = [8, 8]\nmap = [\"x + 0.125*y\", \"y\"]\n",
       "cells = [8, 8]\nmap = [\"x + 0.125*y + 4194304\", \"y - 8388608\"]\n"},
  };
  for (const auto& [near, far] : pairs) {
    SCOPED_TRACE(far);
    const Solved expected = solution_of(near);
    const Solved found = solution_of(far);
    EXPECT_EQ(found.report.iterations, expected.report.iterations);
    for (Index i = 0; i < found.x.size(); ++i) ASSERT_NEAR(found.x[i], expected.x[i], 1e-9) << i;
  }
}

TEST(NaturalFrames, AreTakenBackToTheLastBit) {
  for (const std::string mesh : {"cells = [5, 4]\nlower = [1e6, -3e-3]\nupper = [1000001.7, 0.1]\n",
                                 "cells = [5, 4]\nmap = [\"1e3 + 3*x\", \"1e-3*y + 1e-4*x\"]\n"}) {
    const CaseParameters parameters =
        make_case_registry().parse("[mesh]\ndimension = 2\n" + mesh, "case.toml").parameters;
    const Discretization before = make_discretization(parameters);
    Discretization copy = make_discretization(parameters);
    const Frame frame = natural_frame(copy);
    EXPECT_FALSE(frame.is_physical());
    const Discretization after = to_physical(to_frame(std::move(copy), frame), before.mesh);
    for (Index i = 0; i < before.lattice.size(); ++i) {
      Point x{};
      Point y{};
      before.mapping.node_positions(i, 1, &x[0], &x[1], &x[2]);
      after.mapping.node_positions(i, 1, &y[0], &y[1], &y[2]);
      ASSERT_EQ(x, y) << i;
    }
  }
}

std::string error_of(const std::string& mesh) {
  try {
    const LoadedCase loaded =
        make_case_registry().parse("[mesh]\ndimension = 2\n" + mesh, "case.toml");
    with_case_errors(loaded, [&] { make_discretization(loaded.parameters); });
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(FarBoxes, AreRefusedWhereTheirDigitsDoNotTellPointsApart) {
  EXPECT_EQ(
      error_of("cells = [50, 50]\nlower = [1e16, 0]\nupper = [1.0000000000000002e16, 1]\n"),
      "case.toml:5: mesh.upper = [1.0000000000000002e+16, 1]: axis x: 50 equal cells from 1e+16 to "
      "1.0000000000000002e+16 are 0.04 wide: 0 digits of it are left in double precision; at "
      "least 1e+04 is allowed, 1e-12 of the largest coordinate, or the box be moved nearer "
      "to 0");
  EXPECT_EQ(error_of("cells = [4, 4]\nmap = [\"1e12 + x\", \"y\"]\n"),
            "case.toml:4: mesh.map = [\"1e12 + x\", \"y\"]: cell (0, 0) has an edge of 0.25 where "
            "coordinates are up to "
            "1e+12: 3 digits of it are left in double precision; at least 100 is allowed, or the "
            "map be moved nearer to 0");
  EXPECT_EQ(error_of("cells = [4, 4]\nlower = [1e10, 0]\nupper = [10000000001, 1]\n"), "");
}

}  // namespace
}  // namespace tessera::testing
