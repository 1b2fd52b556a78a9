// These tests look at what is promised of Butcher tables.
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "solvers/time/butcher_tables.hpp"
#include "solvers/time/stability_limit.hpp"

namespace tessera::testing {
namespace {

// sum_j A_ij c_j = c_i^2 / 2 for all stages: moving Dirichlet values cost no order.
void expect_stage_order_two(const ARKodeButcherTableMem& table) {
  for (int i = 0; i < table.stages; ++i) {
    double sum = 0.0;
    double moment = 0.0;
    for (int j = 0; j < table.stages; ++j) {
      sum += table.A[i][j];
      moment += table.A[i][j] * table.c[j];
    }
    EXPECT_NEAR(sum, table.c[i], 1e-14);
    EXPECT_NEAR(moment, 0.5 * table.c[i] * table.c[i], 1e-12);
  }
}

TEST(ButcherTables, OfSdirkAreStifflyAccurateWithAnExplicitFirstStageAndStageOrderTwo) {
  constexpr int kStages[] = {3, 4, 6};
  for (const int order : {2, 3, 4}) {
    for (const StepLength length : {StepLength::fixed, StepLength::adaptive}) {
      const auto table = make_butcher_table(TimeMethod::sdirk, order, length);
      EXPECT_EQ(table->stages, kStages[order - 2]);
      EXPECT_EQ(table->q, order);
      EXPECT_EQ(table->c[0], 0.0);
      EXPECT_EQ(table->A[0][0], 0.0);
      EXPECT_TRUE(ends_with_solution(*table));
      for (int i = 1; i < table->stages; ++i) EXPECT_NEAR(table->A[i][i], table->A[1][1], 1e-15);
      expect_stage_order_two(*table);
    }
  }
}

TEST(ButcherTables, AreStableUpToTheirLimit) {
  for (const int order : {2, 3, 4}) {
    const auto growth = [order](double z) {
      double term = 1.0;
      double sum = 1.0;
      for (int k = 1; k <= order; ++k) sum += term *= -z / k;
      return std::abs(sum);
    };
    const double limit = stability_limit(order);
    for (double z = 0.01; z < limit; z += 0.01) EXPECT_LE(growth(z), 1.0) << order << ", " << z;
    EXPECT_NEAR(growth(limit), 1.0, 1e-9);
    EXPECT_GT(growth(1.0001 * limit), 1.0);
  }
  EXPECT_THROW(stability_limit(1), std::invalid_argument);
}

TEST(ButcherTables, ForFixedStepsHaveNoStagesForTheErrorEstimateOnly) {
  EXPECT_EQ(make_butcher_table(TimeMethod::backward_euler, 1, StepLength::adaptive)->stages, 2);
  EXPECT_EQ(make_butcher_table(TimeMethod::backward_euler, 1, StepLength::fixed)->stages, 1);
  for (const int order : {2, 3, 4}) {
    const auto table = make_butcher_table(TimeMethod::explicit_rk, order, StepLength::fixed);
    EXPECT_EQ(table->stages, order);
  }
}

}  // namespace
}  // namespace tessera::testing
