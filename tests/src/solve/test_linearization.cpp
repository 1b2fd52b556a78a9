// These tests keep the preconditioner of a linearization where u changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "operators/form/constrained_rows.hpp"
#include "src/case/choices.hpp"
#include "src/case/model.hpp"
#include "src/case/setup.hpp"
#include "src/solve/nonlinear/linearization.hpp"
#include "src/solve/vector_conversion.hpp"
#include "tests/everywhere.hpp"

namespace tessera::testing {
namespace {

constexpr char kCase[] = R"toml([mesh]
dimension = 2
cells = [24, 20]
map = ["x + 0.05*sin(pi*y)", "y + 0.1*x"]
[space]
degree = 2
[problem]
coefficient = "exp(u)"
[solver]
preconditioner = "multigrid"
relative_tolerance = 1e-8
max_iterations = 60
[nonlinear]
method = "picard"
)toml";

// Solves A(u) x = 1 at some u.
template <class Space>
class Solves {
 public:
  explicit Solves(const std::string& text)
      : parameters_(make_case_registry().parse(text, "case.toml").parameters) {
    parameters_.run.device =
        kProcessorOf<Space> == Processor::gpu ? RunDevice::cuda : RunDevice::cpu;
    resolve_choices(parameters_);
    model_.emplace(make_case_model(parameters_));
    linearization_.emplace(parameters_, timers_);
  }

  // At u = size x.
  void set(double size, Aging aging) {
    const BilinearForm form = stiffness_form(model_->problem, model_->discretization);
    HostVector<double> u(form.layout());
    interpolate(*model_, field_of_x(size), u);
    linearization_->set(form, model_->problem.source, moved_to<Space>(std::move(u)), aging);
  }

  SolveReport solve() {
    const BilinearForm form = stiffness_form(model_->problem, model_->discretization);
    HostVector<double> b(form.layout());
    fill(b, 1.0);
    for_each_face_node(model_->discretization.lattice, form.dirichlet,
                       [&](Index node) { b[node] = 0.0; });
    Vector<double, Space> x(form.layout());
    const SolveReport report = linearization_->solve(0.0, moved_to<Space>(std::move(b)), x);
    x_ = HostVector<double>(form.layout());
    copy(x, x_);
    return report;
  }

  bool keeps() const { return linearization_->keeps_preconditioner(); }
  Index operator_bytes() const { return linearization_->operator_bytes(); }
  const HostVector<double>& x() const { return x_; }

 private:
  static ScalarField field_of_x(double size) {
    return {[size](const PointBlock& points, double* values) {
              for (std::size_t i = 0; i < points.n; ++i) values[i] = size * points.x[i];
            },
            std::nullopt};
  }

  CaseParameters parameters_;
  std::optional<CaseModel> model_;
  TimerTree timers_;
  std::optional<Linearization<Space>> linearization_;
  HostVector<double> x_;
};

double largest_difference(const HostVector<double>& a, const HostVector<double>& b) {
  double largest = 0.0;
  for (Index i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

template <class Space>
void expect_aging() {
  Solves<Space> solves(kCase);
  solves.set(0.0, Aging::kept_while_good);
  EXPECT_FALSE(solves.keeps()) << "there was none";
  const SolveReport first = solves.solve();
  ASSERT_EQ(first.status, SolveStatus::converged);
  // Nearly as good.
  solves.set(0.1, Aging::kept_while_good);
  EXPECT_TRUE(solves.keeps());
  const SolveReport near = solves.solve();
  EXPECT_EQ(near.status, SolveStatus::converged);
  EXPECT_LE(near.iterations, first.iterations + 2);
  // Enough once, but not again.
  solves.set(3.0, Aging::kept_while_good);
  EXPECT_TRUE(solves.keeps());
  const SolveReport worn = solves.solve();
  EXPECT_EQ(worn.status, SolveStatus::converged);
  EXPECT_TRUE(solves.keeps());
  EXPECT_GT(worn.iterations, first.iterations + 8);
  solves.set(3.0, Aging::kept_while_good);
  EXPECT_FALSE(solves.keeps());
  EXPECT_LT(solves.solve().iterations, worn.iterations);
  // Not enough: the solve takes another.
  solves.set(16.0, Aging::kept_while_good);
  EXPECT_TRUE(solves.keeps());
  const SolveReport again = solves.solve();
  EXPECT_EQ(again.status, SolveStatus::converged);
  EXPECT_FALSE(solves.keeps());
  Solves<Space> fresh(kCase);
  fresh.set(16.0, Aging::updated);
  const SolveReport once = fresh.solve();
  EXPECT_EQ(once.status, SolveStatus::converged);
  EXPECT_EQ(again.iterations, 60 + once.iterations) << "it begins anew";
  const HostVector<double> zeros(fresh.x().size());
  const double largest = largest_difference(fresh.x(), zeros);
  EXPECT_GT(largest, 0.0);
  EXPECT_LE(largest_difference(fresh.x(), solves.x()), 1e-6 * largest);
}

TEST(Aging, LastsWhileThePreconditionerIsGood) { expect_aging<Host>(); }

TEST(DeviceAging, LastsWhileThePreconditionerIsGood) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) expect_aging<Device>();
}

// Compressed factors, which take more room where exp(u) varies more within a cell: the operator has
// to be made anew, the preconditioner has not.
template <class Space>
void expect_that_it_outlives_the_operator() {
  const std::string text = R"toml([mesh]
dimension = 3
cells = [6, 5, 4]
map = ["x + 0.01*sin(pi*y)", "y", "z"]
[space]
degree = 2
[problem]
coefficient = "exp(u)"
[operator]
kernel = "tensor"
factors = "compressed"
[solver]
preconditioner = "multigrid"
relative_tolerance = 1e-8
[nonlinear]
method = "picard"
)toml";
  Solves<Space> solves(text);
  solves.set(0.0, Aging::kept_while_good);
  const SolveReport first = solves.solve();
  ASSERT_EQ(first.status, SolveStatus::converged);
  const Index bytes_at_0 = solves.operator_bytes();
  for (const double size : {0.8, 0.0}) {
    solves.set(size, Aging::kept_while_good);
    EXPECT_TRUE(solves.keeps());
    EXPECT_EQ(solves.solve().status, SolveStatus::converged);
    EXPECT_TRUE(solves.keeps());
    Solves<Space> fresh(text);
    fresh.set(size, Aging::updated);
    EXPECT_EQ(fresh.solve().status, SolveStatus::converged);
    EXPECT_EQ(solves.operator_bytes(), fresh.operator_bytes());
    EXPECT_EQ(solves.operator_bytes() > bytes_at_0, size > 0.0);
    EXPECT_LE(largest_difference(solves.x(), fresh.x()), 1e-6);
  }
  // Both anew: as if there had been nothing before, to the bits.
  solves.set(1.5, Aging::updated);
  EXPECT_FALSE(solves.keeps());
  EXPECT_EQ(solves.solve().status, SolveStatus::converged);
  Solves<Space> fresh(text);
  fresh.set(1.5, Aging::updated);
  EXPECT_EQ(fresh.solve().status, SolveStatus::converged);
  if (kProcessorOf<Space> == Processor::cpu) {
    EXPECT_EQ(largest_difference(solves.x(), fresh.x()), 0.0);
  }
}

TEST(Aging, OutlivesTheOperator) { expect_that_it_outlives_the_operator<Host>(); }

TEST(DeviceAging, OutlivesTheOperator) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) expect_that_it_outlives_the_operator<Device>();
}

// A cycle in double precision has the finest operator of the system, which is updated.
TEST(Aging, IsForPreconditionersThatStandAlone) {
  Solves<Host> solves(std::string(kCase) + "[solver.multigrid]\nprecision = \"double\"\n");
  for (const double size : {0.0, 0.1}) {
    solves.set(size, Aging::kept_while_good);
    EXPECT_FALSE(solves.keeps());
    EXPECT_EQ(solves.solve().status, SolveStatus::converged);
  }
}

}  // namespace
}  // namespace tessera::testing
