// These tests look at the numbers of a case's solution, on the host and the GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "src/case/fields.hpp"
#include "src/case/setup.hpp"
#include "src/solve/evaluation.hpp"
#include "tests/everywhere.hpp"
#include "tests/random_values.hpp"

namespace tessera::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Far from 0 and from the units of its frame; the exact solution is known up to a constant.
constexpr char kMapped[] = R"toml(
[mesh]
cells = [5, 4, 3]
lower = [1000, 2000, 0]
upper = [1030, 2020, 16]
map = ["x + 0.1*z", "y - 0.05*x", "z + 2*sin(0.1*x)"]
[space]
degree = 3
[problem]
coefficient = "1e6*(2 + sin(0.1*x*z))"
source = "0"
exact = "3 + cos(0.1*x)*y"
)toml";

class Evaluations : public EveryProcessorTest<std::tuple<Processor>> {
 protected:
  Evaluations()
      : parameters_(make_case_registry().parse(kMapped, "case.toml").parameters),
        model_(make_case_model(parameters_)),
        exact_(make_exact(parameters_)),
        u_(model_.discretization.lattice.size()) {
    const std::vector<double> change = random_values(u_.size(), 5);
    interpolate(model_, *exact_, u_);
    for (Index i = 0; i < u_.size(); ++i) u_[i] += 0.25 + 0.125 * change[i];
  }

  // Without and with the GPU, of the same solution.
  void compare(double factor) {
    for (Index i = 0; i < u_.size(); ++i) u_[i] *= factor;
    HostVector<double> same(u_.size());
    copy(u_, same);
    const auto host = make_solution_norms(model_, same, exact_, Processor::cpu, notes_);
    const Evaluation expected = evaluate(model_, *host, exact_, notes_);
    const auto norms = make_solution_norms(model_, u_, exact_, processor(), notes_);
    const Evaluation found = evaluate(model_, *norms, exact_, notes_);
    EXPECT_EQ(found.solution.min, expected.solution.min);
    EXPECT_EQ(found.solution.max, expected.solution.max);
    EXPECT_NEAR(found.solution.volume / expected.solution.volume, 1.0, 1e-12);
    EXPECT_NEAR(found.solution.integral / expected.solution.integral, 1.0, 1e-12);
    EXPECT_NEAR(found.error->l2 / expected.error->l2, 1.0, 1e-11);
    EXPECT_NEAR(found.error->max / expected.error->max, 1.0, 1e-11);
    EXPECT_NEAR(found.error->h1_seminorm / expected.error->h1_seminorm, 1.0, 1e-11);
    if (std::isfinite(expected.solution.energy)) {
      EXPECT_NEAR(found.solution.energy / expected.solution.energy, 1.0, 1e-11);
    } else {
      EXPECT_EQ(found.solution.energy, expected.solution.energy);
    }
  }

  CaseParameters parameters_;
  CaseModel model_;
  std::optional<ScalarField> exact_;
  HostVector<double> u_;
  RunNotes notes_;
};

INSTANTIATE_TEST_SUITE_P(Places, Evaluations,
                         ::testing::Combine(::testing::ValuesIn(every_processor())),
                         [](const auto& tested) { return place_name(std::get<0>(tested.param)); });

TEST_P(Evaluations, AreTheHosts) {
  compare(1.0);
  EXPECT_THAT(notes_.all(), IsEmpty());
  EXPECT_LT(std::abs(evaluate(model_, *make_solution_norms(model_, u_, exact_, processor(), notes_),
                              exact_, notes_)
                         .error->max),
            0.5);
}

TEST_P(Evaluations, AreKnownWhereSquaresAreNotNumbers) {
  compare(1e120);
  EXPECT_THAT(notes_.all(), IsEmpty());
}

TEST_P(Evaluations, ShiftMeansToZero) {
  const auto norms = make_solution_norms(model_, u_, exact_, processor(), notes_);
  const double before = evaluate(model_, *norms, exact_, notes_).error->max;
  shift_to_mean_zero(model_, *norms, exact_, notes_);
  const Evaluation shifted = evaluate(model_, *norms, exact_, notes_);
  EXPECT_NEAR(shifted.solution.integral, 0.0, 1e-9 * shifted.solution.volume);
  EXPECT_NEAR(mean_value(model_, *norms, *exact_), 0.0, 1e-9);
  EXPECT_LT(shifted.error->max, before - 0.1);
  // The solution of the run is shifted as well.
  const auto host = make_solution_norms(model_, u_, exact_, Processor::cpu, notes_);
  EXPECT_NEAR(host->mean_value(1.0), 0.0, 1e-9);
  EXPECT_THAT(notes_.all(), IsEmpty());
}

TEST_P(Evaluations, OfFieldsWithoutProgramsAreTheHosts) {
  exact_->program = nullptr;
  compare(1.0);
  if (processor() == Processor::gpu) {
    EXPECT_THAT(notes_.all(), ElementsAre(HasSubstr("are computed on the host: a field is not")));
  }
}

TEST_P(Evaluations, TellWhatIsMissing) {
  u_[7] = std::numeric_limits<double>::quiet_NaN();
  exact_ = make_case_field("problem.exact", "log(x - 1010)", 3, Requirement::finite);
  const auto norms = make_solution_norms(model_, u_, exact_, processor(), notes_);
  const Evaluation evaluation = evaluate(model_, *norms, exact_, notes_);
  EXPECT_TRUE(std::isnan(evaluation.solution.max));
  EXPECT_TRUE(std::isnan(evaluation.error->l2));
  EXPECT_THAT(notes_.all(),
              ElementsAre("the solution has values that are not finite",
                          HasSubstr("error.h1_seminorm are not known: problem.exact is "),
                          HasSubstr("error.max is not known: problem.exact is ")));
}

}  // namespace
}  // namespace tessera::testing
