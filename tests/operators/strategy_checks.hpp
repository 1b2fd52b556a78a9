// These functions hold strategies to the reference, on host and GPU.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "operators/cells/scatter.hpp"
#include "operators/strategy.hpp"
#include "tests/operators/problems.hpp"
#include "tests/operators/reference.hpp"
#include "tests/operators/suitable.hpp"

namespace tessera::testing {

inline bool is_for_comparison(const StrategyName& strategy) {
  const ScatterInfo* scatter = find_scatter(strategy.scatter);
  return scatter != nullptr && scatter->use == ScatterUse::comparison;
}

/// All strategies of the processor whose products are right.
inline std::vector<StrategyName> right_strategies(Processor processor) {
  std::vector<StrategyName> strategies = all_strategies(processor);
  std::erase_if(strategies, is_for_comparison);
  return strategies;
}

/// `tolerance` of exact matrices, or what a strategy that rounds its entries needs: errors of many
/// of them meet in a value of A x.
inline double with_rounding(double tolerance, const StrategyName& strategy) {
  return std::max(tolerance, 16.0 * find_kernel(strategy.kernel)->entry_rounding);
}

/// How near to the reference the operators of a strategy are.
template <class T>
double tolerance_of(const StrategyName& strategy) {
  return with_rounding(tolerance<T>(), strategy);
}

/// Fewer cells where cells are dear; on the host rows longer than a SIMD vector where they are
/// cheap.
inline IndexTriple cells_for(Processor processor, int dimension, int degree) {
  if (processor == Processor::cpu) {
    if (dimension == 2) return degree <= 4 ? IndexTriple{11, 3, 1} : IndexTriple{9, 2, 1};
    if (degree <= 2) return {9, 3, 2};
    if (degree <= 4) return {9, 2, 1};
    return {2, 1, 3};
  }
  if (dimension == 2) return degree <= 4 ? IndexTriple{11, 7, 1} : IndexTriple{9, 4, 1};
  if (degree <= 2) return {9, 5, 3};
  if (degree <= 4) return {5, 2, 3};
  return {3, 1, 2};
}

inline ProblemOptions options_for(Processor processor, int dimension, int degree) {
  ProblemOptions options;
  options.dimension = dimension;
  options.degree = degree;
  options.cells = cells_for(processor, dimension, degree);
  return options;
}

/// Products and diagonal of those of the strategies that are for the form.
template <class T, class Space = Host>
void expect_equal_to_reference(const Problem& problem,
                               const std::vector<StrategyName>& strategies) {
  const Reference reference(problem.form);
  const std::vector<double> input = random_input<T>(problem.size(), 17);
  const HostVector<T> x = vector_of<T>(input);
  const std::vector<double> expected = reference.apply(input);
  const std::vector<double> expected_diagonal = reference.diagonal();
  for (const StrategyName& variant : variants(strategies, problem.form, kProcessorOf<Space>)) {
    SCOPED_TRACE(variant.text());
    const auto a = make_operator<T, Space>(variant, problem.form);
    ASSERT_EQ(a->size(), problem.size());
    const double tolerance = tolerance_of<T>(variant);
    EXPECT_LT(relative_difference(applied(*a, x), expected), tolerance) << "apply";
    EXPECT_LT(relative_difference(diagonal_of(*a), expected_diagonal), tolerance) << "diagonal";
    // A second application sees buffers that the first one left behind.
    EXPECT_LT(relative_difference(applied(*a, x), expected), tolerance) << "second apply";
  }
}

template <class T, class Space = Host>
void expect_equal_to_reference(
    const ProblemOptions& options,
    const std::vector<StrategyName>& strategies = right_strategies(kProcessorOf<Space>)) {
  SCOPED_TRACE(describe(options));
  expect_equal_to_reference<T, Space>(make_problem(options), strategies);
}

}  // namespace tessera::testing
