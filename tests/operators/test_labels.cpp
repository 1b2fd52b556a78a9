// These tests check that operators are what their labels say.
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "operators/cells/device_matrix_free.hpp"
#include "operators/cells/scatter.hpp"
#include "operators/strategy.hpp"
#include "operators/tensor/factor_choice.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/problems.hpp"

namespace tessera::testing {
namespace {

// What must be printed for the strategy on the problem, apart from labeled().
std::string expected_name(const StrategyName& strategy, const ProblemOptions& options,
                          FactorStorage storage) {
  const bool has_forms = strategy.kernel == "tensor" && options.geometry != Geometry::cartesian;
  std::string name = strategy.kernel;
  if (strategy.scatter != "none") name += "/" + strategy.scatter;
  if (has_forms) name += ", " + std::string(factor_storage_name(storage));
  return name;
}

// Every degree with a path of its own, and one beyond the unrolled ones; rules with and without an
// unrolled kernel, and collocated ones.
std::vector<ProblemOptions> every_problem() {
  std::vector<ProblemOptions> problems;
  for (const int dimension : {2, 3}) {
    for (const int degree : {1, 3, 9}) {
      for (const int extra : {1, 3}) {
        if (degree == 9 && extra == 3) continue;
        for (const Geometry geometry : {Geometry::cartesian, Geometry::curved, Geometry::graded}) {
          for (const Coefficient coefficient : {Coefficient::constant, Coefficient::variable}) {
            ProblemOptions options;
            options.dimension = dimension;
            options.degree = degree;
            options.points = degree + extra;
            options.cells = {2, 1, 1};
            options.geometry = geometry;
            options.coefficient = coefficient;
            problems.push_back(options);
            if (degree != 3) continue;
            options.rule = QuadratureRule::gauss_lobatto;
            problems.push_back(options);
          }
        }
      }
    }
  }
  return problems;
}

// Tries all rows of both tables with all storages of factors; returns what was made.
template <class T, class Make>
std::set<std::string> names_of_all(Processor processor, Make&& make) {
  std::set<std::string> made;
  for (const ProblemOptions& options : every_problem()) {
    SCOPED_TRACE(describe(options));
    const Problem problem = make_problem(options);
    const FormShape shape = form_shape(problem.form, processor, sizeof(T));
    for (const KernelInfo& kernel : kernel_table()) {
      std::vector<std::string> scatters = {"none"};
      for (const ScatterInfo& row : scatter_table()) scatters.emplace_back(row.name);
      for (const std::string& scatter : scatters) {
        for (const FactorStorage storage : kFactorStorages) {
          const StrategyName strategy{std::string(kernel.name), scatter, storage};
          const bool possible = why_unavailable(strategy, processor).empty() &&
                                why_unsuitable(strategy, shape).empty();
          if (!possible) {
            EXPECT_THROW(make(strategy, problem.form), std::invalid_argument) << strategy.text();
            continue;
          }
          const std::string name = make(strategy, problem.form)->name();
          EXPECT_EQ(name, expected_name(strategy, options, storage));
          EXPECT_EQ(name, labeled(strategy, shape).text());
          made.insert(name);
        }
      }
    }
  }
  return made;
}

// All rows of both tables but one are there for the processor.
void expect_every_row(const std::set<std::string>& made, Processor processor) {
  for (const KernelInfo& kernel : kernel_table()) {
    if (!kernel.runs_on(processor)) continue;
    if (kernel.scatter == TakesScatter::no) {
      EXPECT_TRUE(made.contains(std::string(kernel.name))) << kernel.name;
      continue;
    }
    for (const ScatterInfo& row : scatter_table()) {
      if (!row.runs_on(processor)) continue;
      if (!row.only_kernel.empty() && row.only_kernel != kernel.name) continue;
      const std::string name = std::string(kernel.name) + "/" + std::string(row.name);
      EXPECT_TRUE(made.contains(name)) << name;
    }
  }
}

template <class T>
void expect_names_on_host() {
  const std::set<std::string> made =
      names_of_all<T>(Processor::cpu, [](const StrategyName& strategy, const BilinearForm& form) {
        return make_operator<T>(strategy, form);
      });
  expect_every_row(made, Processor::cpu);
  for (const char* name : {"stencil", "tensor/private, stored", "tensor/atomic, on-the-fly",
                           "tensor/coloring, compressed"})
    EXPECT_TRUE(made.contains(name)) << name;
}

TEST(Labels, OfEveryRowAreWhatRunsOnTheHost) { expect_names_on_host<double>(); }
TEST(Labels, OfEveryRowAreWhatRunsOnTheHostInSinglePrecision) { expect_names_on_host<float>(); }

template <class T>
void expect_names_on_device() {
  if constexpr (kHasCuda) {
    const std::set<std::string> made =
        names_of_all<T>(Processor::gpu, [](const StrategyName& strategy, const BilinearForm& form) {
          return make_operator<T, Device>(strategy, form);
        });
    expect_every_row(made, Processor::gpu);
    for (const char* name : {"stencil", "tensor/patch, stored", "tensor/atomic, compressed",
                             "tensor/coloring, on-the-fly"}) {
      EXPECT_TRUE(made.contains(name)) << name;
    }
  }
}

TEST(DeviceLabels, OfEveryRowAreWhatRuns) {
  TESSERA_REQUIRE_DEVICE();
  expect_names_on_device<double>();
}
TEST(DeviceLabels, OfEveryRowAreWhatRunsInSinglePrecision) {
  TESSERA_REQUIRE_DEVICE();
  expect_names_on_device<float>();
}

}  // namespace
}  // namespace tessera::testing
