// These tests hold loads, residuals and drifts of ranks, which are threads and share a GPU, to
// those of one rank on the host.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "mesh/errors.hpp"
#include "mesh/field/program_field.hpp"
#include "operators/load/device_load.hpp"
#include "operators/nonlinear/device_drift.hpp"
#include "operators/nonlinear/device_residual.hpp"
#include "operators/nonlinear/drift.hpp"
#include "solvers/ranks/thread_ranks.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/ranks/rank_problem.hpp"

namespace tessera::testing {
namespace {

constexpr double kTolerance = 1e-12;

// 1 + u^2 + x^2
ScalarField coefficient() {
  return program_field({{{Operation::push, Operand::u, 0.0},
                         {Operation::multiply, Operand::u, 0.0},
                         {Operation::push, Operand::x, 0.0},
                         {Operation::integer_power, Operand::stack, 2.0},
                         {Operation::add, Operand::stack, 0.0},
                         {Operation::add, Operand::constant, 1.0}},
                        2});
}

// sin(4 x) y - u
ScalarField source_of_u() {
  return program_field({{{Operation::push, Operand::x, 0.0},
                         {Operation::multiply, Operand::constant, 4.0},
                         {Operation::sin, Operand::stack, 0.0},
                         {Operation::multiply, Operand::y, 0.0},
                         {Operation::subtract, Operand::u, 0.0}},
                        1});
}

ScalarField source() {
  return program_field({{{Operation::push, Operand::x, 0.0},
                         {Operation::multiply, Operand::constant, 4.0},
                         {Operation::sin, Operand::stack, 0.0},
                         {Operation::multiply, Operand::y, 0.0}},
                        1});
}

// log(x - limit): not a number where x is smaller.
ScalarField good_beyond(double limit) {
  return program_field({{{Operation::push, Operand::x, 0.0},
                         {Operation::subtract, Operand::constant, limit},
                         {Operation::log, Operand::stack, 0.0}},
                        1});
}

// exp(x / 4)
ScalarField positive() {
  return program_field({{{Operation::push, Operand::x, 0.0},
                         {Operation::multiply, Operand::constant, 0.25},
                         {Operation::exp, Operand::stack, 0.0}},
                        1});
}

ScalarField varying() {
  return field_of([](double x, double y, double z) { return 1.0 + x + std::sin(y + z); });
}

std::vector<FluxTerm> fluxes() {
  return {{static_cast<int>(Face::bottom), varying()},
          {static_cast<int>(Face::right), constant_field(-1.5)}};
}

class DeviceFieldsOnRanks : public ::testing::TestWithParam<std::tuple<RankGrid, Geometry>> {
 protected:
  void SetUp() override { TESSERA_REQUIRE_DEVICE(); }

  static Problem make_whole() {
    ProblemOptions options;
    options.cells = {4, 3, 5};
    options.geometry = std::get<Geometry>(GetParam());
    options.reaction = Reaction::constant;
    Problem problem = make_problem(options);
    problem.form.coefficient = coefficient();
    HostArray<double> state(static_cast<std::size_t>(problem.size()));
    const std::vector<double> values = values_of_whole(problem);
    std::copy(values.begin(), values.end(), state.begin());
    problem.form.state = std::make_shared<const HostState>(std::move(state));
    return problem;
  }
  // u of the whole: anything inside, and smooth on Dirichlet faces.
  static std::vector<double> values_of_whole(const Problem& problem) {
    HostVector<double> u = vector_of<double>(random_values(problem.size(), 23));
    DirichletValues(problem.form, std::vector<ScalarField>(6, varying())).set(u);
    return values_of(u);
  }
  // Calls f(whole, mine) on all ranks.
  static void on_ranks(const std::function<void(const Problem&, const RankProblem&)>& f) {
    const auto& grid = std::get<RankGrid>(GetParam());
    const ThreadsInUse threads(1);
    run_on_threads(grid[0] * grid[1] * grid[2], [&](const Communicator& ranks) {
      const Problem whole = make_whole();
      f(whole, RankProblem(ranks, {whole.discretization->mesh, grid}, whole, Processor::gpu));
    });
  }
  static void expect_same(const RankProblem& mine, const DeviceVector<double>& several,
                          const HostVector<double>& one) {
    const HostVector<double> on_host = testing::on_host(several);
    EXPECT_TRUE(mine.agrees(on_host));
    EXPECT_LE(relative_difference(one, mine.gathered(on_host)), kTolerance);
  }
};

INSTANTIATE_TEST_SUITE_P(Grids, DeviceFieldsOnRanks,
                         ::testing::Combine(::testing::Values(RankGrid{1, 1, 1}, RankGrid{1, 1, 2},
                                                              RankGrid{3, 1, 1}, RankGrid{2, 1, 2}),
                                            ::testing::Values(Geometry::cartesian,
                                                              Geometry::curved)));

TEST_P(DeviceFieldsOnRanks, HaveTheLoadOfTheWhole) {
  on_ranks([](const Problem& whole, const RankProblem& mine) {
    BilinearForm form = whole.form;
    form.coefficient = positive();
    BilinearForm of_part = mine.form();
    of_part.coefficient = positive();
    for (const bool has_boundary : {true, false}) {
      const std::vector<FluxTerm> terms = has_boundary ? fluxes() : std::vector<FluxTerm>{};
      const std::vector<ScalarField> values(6, has_boundary ? varying() : constant_field(0.0));
      HostVector<double> expected(whole.size());
      assemble_load(form, source(), terms, {form, values}, expected);
      const auto b = assemble_device_load(of_part, source(), terms, {of_part, values});
      ASSERT_TRUE(b.has_value());
      EXPECT_EQ(b->layout(), mine.layout());
      expect_same(mine, *b, expected);
    }
  });
}

// One rank finds it, and the host is asked on all.
TEST_P(DeviceFieldsOnRanks, HaveNoLoadOnAnyWhereOneHasNone) {
  on_ranks([](const Problem& whole, const RankProblem& mine) {
    const BoxMesh& mesh = whole.discretization->mesh;
    const double limit = 0.5 * (mesh.lower()[0] + mesh.upper()[0]);
    BilinearForm form = mine.form();
    form.coefficient = varying();
    EXPECT_FALSE(assemble_device_load(form, good_beyond(limit), {}, {}).has_value());
  });
}

TEST_P(DeviceFieldsOnRanks, HaveTheResidualOfTheWhole) {
  on_ranks([](const Problem& whole, const RankProblem& mine) {
    DeviceResidual residual(mine.discretization());
    const std::vector<double> u = values_of_whole(whole);
    const auto mine_u = in_space<Device>(mine.taken<double>(u));
    // The second one has fluxes of before, the third others.
    for (const std::vector<FluxTerm>& terms : {fluxes(), fluxes(), std::vector<FluxTerm>{}}) {
      HostVector<double> expected(whole.size());
      assemble_residual(whole.form, source_of_u(), terms, vector_of<double>(u), expected);
      DeviceVector<double> r(mine.layout());
      fill(r, std::numeric_limits<double>::quiet_NaN());
      residual.compute(mine.form(), source_of_u(), terms, mine_u, r);
      expect_same(mine, r, expected);
    }
  });
}

TEST_P(DeviceFieldsOnRanks, FailOnAllWhereAValueIsBadOnOne) {
  on_ranks([](const Problem& whole, const RankProblem& mine) {
    const BoxMesh& mesh = whole.discretization->mesh;
    const double limit = 0.5 * (mesh.lower()[0] + mesh.upper()[0]);
    DeviceResidual residual(mine.discretization());
    const std::vector<double> u = values_of_whole(whole);
    const auto mine_u = in_space<Device>(mine.taken<double>(u));
    DeviceVector<double> r(mine.layout());
    EXPECT_THROW(residual.compute(mine.form(), good_beyond(limit), fluxes(), mine_u, r),
                 BadFieldValue);
    // And what follows is as if nothing had been.
    HostVector<double> expected(whole.size());
    assemble_residual(whole.form, source_of_u(), fluxes(), vector_of<double>(u), expected);
    residual.compute(mine.form(), source_of_u(), fluxes(), mine_u, r);
    expect_same(mine, r, expected);
  });
}

TEST_P(DeviceFieldsOnRanks, HaveTheDriftOfTheWhole) {
  on_ranks([](const Problem& whole, const RankProblem& mine) {
    const Drift one(whole.form);
    const DeviceDrift several(mine.form());
    const std::vector<double> v = random_values(whole.size(), 5);
    const std::vector<double> before = random_values(whole.size(), 6);
    HostVector<double> expected = vector_of<double>(before);
    one.add(vector_of<double>(v), expected);
    // Twice: the second one finds what the first has left.
    for (int repetition = 0; repetition < 2; ++repetition) {
      auto y = in_space<Device>(mine.taken<double>(before));
      several.add(in_space<Device>(mine.taken<double>(v)), y);
      expect_same(mine, y, expected);
    }
  });
}

}  // namespace
}  // namespace tessera::testing
