// These tests compare the numbers of solutions on the GPU with the host's.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "cases/expression/expression.hpp"
#include "mesh/errors.hpp"
#include "mesh/field/program_field.hpp"
#include "operators/load/interpolation.hpp"
#include "postprocess/device_error_norms.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/problems.hpp"

namespace tessera::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What is freed here is what the next allocations get.
void poison_gpu_memory() {
  const DeviceArray<double> poison(std::vector<double>(std::size_t{1} << 22, kNan));
}

DeviceErrorNorms on_gpu(const Discretization& discretization, HostVector<double>& u) {
  poison_gpu_memory();
  return {discretization, u};
}

bool same(double a, double b) { return std::memcmp(&a, &b, sizeof(a)) == 0; }

// |found - expected| <= tolerance * size, or both NaN.
void expect_near(const char* what, double found, double expected, double size, double tolerance) {
  SCOPED_TRACE(what);
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(found)) << found;
  } else {
    EXPECT_NEAR(found, expected, tolerance * size);
  }
}

// All numbers, for the whole class.
void expect_same(const SolutionNorms& found, const SolutionNorms& expected,
                 const ScalarField& coefficient, const ScalarField& exact, double tolerance,
                 double unit = 1.0) {
  EXPECT_EQ(found.extrema(), expected.extrema());
  const SolutionNumbers a = found.solution_numbers(coefficient, unit);
  const SolutionNumbers b = expected.solution_numbers(coefficient, unit);
  // Integrals of what changes its sign are small against what they are sums of.
  const double largest = std::max(std::abs(b.min), std::abs(b.max));
  const double size = b.volume * largest;
  EXPECT_EQ(a.min, b.min);
  EXPECT_EQ(a.max, b.max);
  expect_near("volume", a.volume, b.volume, b.volume, tolerance);
  expect_near("integral", a.integral, b.integral, size, tolerance);
  expect_near("energy", a.energy, b.energy, b.energy, tolerance);
  expect_near("integral alone", found.integral(unit), b.integral, size, tolerance);
  expect_near("mean", found.mean_value(unit), expected.mean_value(unit), largest, tolerance);
  const double mean = expected.mean_value(exact);
  expect_near("mean of a field", found.mean_value(exact), mean, 1.0 + std::abs(mean), tolerance);
  const ErrorNorms c = found.error_norms(exact, unit);
  const ErrorNorms d = expected.error_norms(exact, unit);
  expect_near("L2", c.l2, d.l2, d.l2, tolerance);
  expect_near("H1", c.h1_seminorm, d.h1_seminorm, d.h1_seminorm, tolerance);
  expect_near("max", c.max, d.max, d.max, tolerance);
  expect_near("max alone", found.max_error(exact, unit), d.max, d.max, tolerance);
}

ProblemOptions options_of(int dimension, int degree, const IndexTriple& cells, Geometry geometry) {
  ProblemOptions options;
  options.dimension = dimension;
  options.degree = degree;
  options.cells = cells;
  options.geometry = geometry;
  return options;
}

Discretization discretization_of(int dimension, int degree, const IndexTriple& cells,
                                 Geometry geometry) {
  return *make_problem(options_of(dimension, degree, cells, geometry)).discretization;
}

HostVector<double> random_solution(const Discretization& discretization) {
  return vector_of<double>(random_values(discretization.lattice.size(), 11));
}

ScalarField coefficient_of(int dimension) {
  return parse_expression(dimension == 2 ? "2 + 0.5*sin(3*x + y)" : "2 + 0.5*sin(3*x + y) + z^2",
                          dimension);
}
ScalarField exact_of(int dimension) {
  return parse_expression(
      dimension == 2 ? "exp(x)*sin(2*y) + x*y^3" : "exp(x)*sin(2*y) + x*y^3 + sqrt(1 + z^2)",
      dimension);
}

// 1 + x^2 + a u^2
ScalarField coefficient_of_u(double a) {
  return program_field({{{Operation::push, Operand::u, 0.0},
                         {Operation::integer_power, Operand::stack, 2.0},
                         {Operation::multiply, Operand::constant, a},
                         {Operation::push, Operand::x, 0.0},
                         {Operation::multiply, Operand::x, 0.0},
                         {Operation::add, Operand::stack, 0.0},
                         {Operation::add, Operand::constant, 1.0}},
                        2});
}

TEST(DeviceErrorNormsOfStates, HaveTheEnergyOfTheHost) {
  TESSERA_REQUIRE_DEVICE();
  for (const Geometry geometry : {Geometry::cartesian, Geometry::curved}) {
    const Discretization mesh = discretization_of(3, 3, {4, 5, 3}, geometry);
    HostVector<double> u = random_solution(mesh);
    const ScalarField k = coefficient_of_u(2.0);
    ASSERT_TRUE(k.depends_on_u);
    DeviceErrorNorms found = on_gpu(mesh, u);
    for (const double unit : {1.0, 0.125}) {
      const SolutionNumbers a = found.solution_numbers(k, unit);
      const SolutionNumbers b = HostSolutionNorms(mesh, u).solution_numbers(k, unit);
      expect_near("energy", a.energy, b.energy, b.energy, 1e-12);
      expect_near("volume", a.volume, b.volume, b.volume, 1e-12);
    }
    // As if u were another.
    const double before = found.solution_numbers(k, 1.0).energy;
    found.subtract(0.5);
    const double after = HostSolutionNorms(mesh, u).solution_numbers(k, 1.0).energy;
    EXPECT_GT(std::abs(after - before), 1e-3 * before);
    expect_near("energy", found.solution_numbers(k, 1.0).energy, after, after, 1e-12);
    // Not positive somewhere: the host is asked, which takes it as it is.
    const ScalarField negative = coefficient_of_u(-1e3);
    const double expected = HostSolutionNorms(mesh, u).solution_numbers(negative, 1.0).energy;
    EXPECT_LT(expected, 0.0);
    EXPECT_EQ(found.solution_numbers(negative, 1.0).energy, expected);
    // What the host throws.
    ScalarField throws = coefficient_of_u(1.0);
    FieldProgram program = *throws.program;
    program.code.back() = {Operation::log, Operand::stack, 0.0};
    program.code.push_back({Operation::log, Operand::stack, 0.0});
    throws = program_field(std::move(program));
    const ScalarField plain = throws;
    throws.evaluate = [plain](const PointBlock& points, double* values) {
      plain.evaluate(points, values);
      for (std::size_t i = 0; i < points.n; ++i) {
        if (std::isnan(values[i])) throw std::runtime_error("not a number");
      }
    };
    EXPECT_THROW(HostSolutionNorms(mesh, u).solution_numbers(throws, 1.0), std::runtime_error);
    EXPECT_THROW(found.solution_numbers(throws, 1.0), std::runtime_error);
  }
}

class DeviceErrorNormsOfDegree : public ::testing::TestWithParam<std::tuple<int, int>> {
 protected:
  void SetUp() override { TESSERA_REQUIRE_DEVICE(); }
};

INSTANTIATE_TEST_SUITE_P(Degrees, DeviceErrorNormsOfDegree,
                         ::testing::Combine(::testing::Values(2, 3),
                                            ::testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 10, 17, 32)),
                         [](const auto& tested) {
                           return fmt::format("{}dDegree{}", std::get<0>(tested.param),
                                              std::get<1>(tested.param));
                         });

TEST_P(DeviceErrorNormsOfDegree, AreTheHosts) {
  const auto [dimension, degree] = GetParam();
  // Numbers of cells that no group of cells divides; few where each has thousands of points.
  const IndexTriple cells = degree <= 8 ? IndexTriple{7, 5, 3} : IndexTriple{3, 1, 1};
  const double tolerance = degree <= 8 ? 1e-12 : 1e-11;
  for (const Geometry geometry : {Geometry::cartesian, Geometry::graded, Geometry::curved}) {
    SCOPED_TRACE(describe(options_of(dimension, degree, cells, geometry)));
    const Discretization mesh = discretization_of(dimension, degree, cells, geometry);
    const ScalarField k = coefficient_of(dimension);
    const ScalarField exact = exact_of(dimension);
    // Far from the exact solution, where errors are large, and near it.
    HostVector<double> random = random_solution(mesh);
    expect_same(on_gpu(mesh, random), HostSolutionNorms(mesh, random), k, exact, tolerance);
    expect_same(on_gpu(mesh, random), HostSolutionNorms(mesh, random), constant_field(1.7),
                constant_field(0.3), tolerance);
    HostVector<double> near(mesh.lattice.size());
    interpolate(mesh, exact, near);
    const SolutionNumbers a = on_gpu(mesh, near).solution_numbers(k, 1.0);
    const SolutionNumbers b = solution_numbers(mesh, near.span(), k);
    expect_near("energy", a.energy, b.energy, b.energy, tolerance);
    const ErrorNorms c = on_gpu(mesh, near).error_norms(exact, 1.0);
    const ErrorNorms d = error_norms(mesh, near.span(), exact);
    // Of small errors what rounding leaves is relative to the solution.
    const double largest = b.max;
    EXPECT_NEAR(c.l2, d.l2, 1e-12 * (d.l2 + largest));
    EXPECT_NEAR(c.h1_seminorm, d.h1_seminorm, 1e-12 * (d.h1_seminorm + degree * degree * largest));
    EXPECT_NEAR(c.max, d.max, 1e-14 * largest);
  }
}

class DeviceErrorNormsTest : public ::testing::Test {
 protected:
  void SetUp() override { TESSERA_REQUIRE_DEVICE(); }
};

// More groups of cells, and more nodes, than blocks.
TEST_F(DeviceErrorNormsTest, OfManyCellsAreTheHostsAndHaveTheSameBitsTwice) {
  const std::tuple<int, int, IndexTriple> meshes[] = {
      {2, 1, {211, 150, 1}}, {3, 1, {23, 21, 19}}, {3, 3, {17, 15, 13}}};
  for (const auto& [dimension, degree, cells] : meshes) {
    for (const Geometry geometry : {Geometry::cartesian, Geometry::curved}) {
      SCOPED_TRACE(describe(options_of(dimension, degree, cells, geometry)));
      const Discretization mesh = discretization_of(dimension, degree, cells, geometry);
      HostVector<double> u = random_solution(mesh);
      const ScalarField k = coefficient_of(dimension);
      const ScalarField exact = exact_of(dimension);
      expect_same(on_gpu(mesh, u), HostSolutionNorms(mesh, u), k, exact, 1e-12);
      const auto numbers = [&] {
        const DeviceErrorNorms norms = on_gpu(mesh, u);
        const SolutionNumbers solution = norms.solution_numbers(k, 1.0);
        const ErrorNorms error = norms.error_norms(exact, 1.0);
        return std::vector{solution.integral, solution.energy,   solution.volume,
                           error.l2,          error.h1_seminorm, norms.mean_value(exact)};
      };
      const std::vector<double> once = numbers();
      const std::vector<double> twice = numbers();
      for (std::size_t i = 0; i < once.size(); ++i) EXPECT_TRUE(same(once[i], twice[i])) << i;
    }
  }
}

// x - (y - (x - (y - ...))), kept on the stack from left to right.
ScalarField deep_field(int depth) {
  FieldProgram program;
  for (int i = 0; i < depth; ++i) {
    program.code.push_back({Operation::push, i % 2 == 0 ? Operand::x : Operand::y, 0.0});
  }
  for (int i = 1; i < depth; ++i) {
    program.code.push_back({Operation::subtract, Operand::stack, 0.0});
  }
  // A positive coefficient: 3 + sin(...).
  program.code.push_back({Operation::sin, Operand::stack, 0.0});
  program.code.push_back({Operation::add, Operand::constant, 3.0});
  program.depth = depth;
  return program_field(std::move(program));
}

TEST_F(DeviceErrorNormsTest, TakeDeepPrograms) {
  // Of the deepest the stacks are for fewer blocks than there are groups of cells.
  for (const int depth : {DeviceProgram::kShallow, DeviceProgram::kShallow + 1, 100, 3000}) {
    SCOPED_TRACE(depth);
    const Discretization mesh = discretization_of(3, 3, {5, 4, 4}, Geometry::curved);
    HostVector<double> u = random_solution(mesh);
    const double tolerance = depth > 100 ? 1e-9 : 1e-12;
    expect_same(on_gpu(mesh, u), HostSolutionNorms(mesh, u), deep_field(depth), deep_field(depth),
                tolerance);
  }
  EXPECT_LT(norms_stack_blocks(3000), 40);
}

TEST_F(DeviceErrorNormsTest, FollowFramesOfTheirFields) {
  const Discretization mesh = discretization_of(3, 2, {3, 4, 2}, Geometry::graded);
  HostVector<double> u = random_solution(mesh);
  const Frame frame{{0.5, -1.0, 2.0}, 4.0};
  expect_same(on_gpu(mesh, u), HostSolutionNorms(mesh, u), in_frame(coefficient_of(3), frame, 4.0),
              in_frame(exact_of(3), frame, 0.25), 1e-12);
}

TEST_F(DeviceErrorNormsTest, AreInUnitsThatSquaresNeed) {
  const Discretization mesh = discretization_of(3, 2, {3, 4, 2}, Geometry::curved);
  HostVector<double> u = random_solution(mesh);
  HostVector<double> huge(u.size());
  const double unit = 0x1p600;
  axpy(unit, u, huge);
  const ScalarField exact = exact_of(3);
  expect_same(on_gpu(mesh, huge), HostSolutionNorms(mesh, huge), coefficient_of(3), exact, 1e-12,
              unit);
  const ErrorNorms scaled = on_gpu(mesh, huge).error_norms(exact, unit);
  const ErrorNorms plain = on_gpu(mesh, u).error_norms(exact, 1.0);
  EXPECT_TRUE(same(scaled.l2, plain.l2));
  EXPECT_TRUE(same(scaled.h1_seminorm, plain.h1_seminorm));
  EXPECT_TRUE(same(scaled.max, plain.max));
}

TEST_F(DeviceErrorNormsTest, SubtractFromBoth) {
  const Discretization mesh = discretization_of(2, 3, {5, 4, 1}, Geometry::curved);
  HostVector<double> u = random_solution(mesh);
  HostVector<double> expected = random_solution(mesh);
  subtract(0.375, expected);
  DeviceErrorNorms norms = on_gpu(mesh, u);
  norms.subtract(0.375);
  EXPECT_TRUE(same_bits(u, expected));
  expect_same(norms, HostSolutionNorms(mesh, expected), coefficient_of(2), exact_of(2), 1e-12);
}

TEST_F(DeviceErrorNormsTest, AreNotNumbersWhereTheSolutionIsNot) {
  const Discretization mesh = discretization_of(3, 1, {13, 12, 11}, Geometry::cartesian);
  const Index n = mesh.lattice.size();
  for (const Index node : {Index{0}, Index{1}, n / 2, n - 1}) {
    HostVector<double> u = random_solution(mesh);
    u[node] = -kNan;
    const DeviceErrorNorms norms = on_gpu(mesh, u);
    EXPECT_TRUE(std::isnan(norms.extrema()[0])) << node;
    EXPECT_TRUE(std::isnan(norms.extrema()[1])) << node;
    EXPECT_TRUE(std::isnan(norms.integral(1.0))) << node;
    const ErrorNorms error = norms.error_norms(exact_of(3), 1.0);
    EXPECT_TRUE(std::isnan(error.l2)) << node;
    EXPECT_TRUE(std::isnan(error.h1_seminorm)) << node;
    EXPECT_TRUE(std::isnan(error.max)) << node;
    for (const double value : {kInfinity, -kInfinity, 7.0, -7.0}) {
      u[node] = value;
      EXPECT_EQ(on_gpu(mesh, u).extrema(), extrema(u.span())) << node << ": " << value;
      EXPECT_EQ(on_gpu(mesh, u).max_error(constant_field(0.0), 1.0), std::abs(value));
    }
  }
}

// A field that throws where its values are not allowed, as those of cases do.
ScalarField checked(const std::string& text, bool (*is_allowed)(double)) {
  ScalarField field = parse_expression(text, 3);
  return {[evaluate = field.evaluate, is_allowed](const PointBlock& points, double* values) {
            evaluate(points, values);
            for (std::size_t i = 0; i < points.n; ++i) {
              if (is_allowed(values[i])) continue;
              throw std::domain_error(fmt::format("{} at ({}, {}, {})", values[i], points.x[i],
                                                  points.y[i], points.z[i]));
            }
          },
          std::nullopt, nullptr, field.program};
}

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

// What each function throws, in the host's words.
void expect_same_errors(const Discretization& mesh, const ScalarField& coefficient,
                        const ScalarField& exact, const std::string& of_coefficient,
                        const std::string& of_exact) {
  HostVector<double> u = random_solution(mesh);
  const DeviceErrorNorms device = on_gpu(mesh, u);
  const HostSolutionNorms host(mesh, u);
  const auto expect = [&](const std::string& part, auto&& f) {
    const std::string expected = error_of([&] { f(host); });
    EXPECT_EQ(error_of([&] { f(device); }), expected);
    EXPECT_NE(expected.find(part), std::string::npos) << expected;
    EXPECT_EQ(expected.empty(), part.empty()) << expected;
  };
  expect(of_coefficient,
         [&](const SolutionNorms& norms) { norms.solution_numbers(coefficient, 1.0); });
  expect(of_exact, [&](const SolutionNorms& norms) { norms.error_norms(exact, 1.0); });
}

TEST_F(DeviceErrorNormsTest, NameThePlacesThatTheHostNames) {
  const auto is_finite = [](double value) { return std::isfinite(value); };
  const auto is_positive = [](double value) { return std::isfinite(value) && value > 0.0; };
  for (const int degree : {1, 2, 4}) {
    for (const Geometry geometry : {Geometry::cartesian, Geometry::graded, Geometry::curved}) {
      const ProblemOptions options = options_of(3, degree, {7, 6, 5}, geometry);
      SCOPED_TRACE(describe(options));
      const Discretization mesh = *make_problem(options).discretization;
      // The box is [-0.5, 1] x [0.25, 1.35] x [1, 1.8].
      expect_same_errors(mesh, checked("0.7 - y", is_positive), checked("log(1.2 - y)", is_finite),
                         "-", "nan at");
      expect_same_errors(mesh, checked("2 + x*z", is_positive),
                         checked("1/(x > 0.8 ? 0 : 1)", is_finite), "", "inf at");
    }
  }
  // Only at nodes: the maximum is over them.
  const Discretization mesh = discretization_of(3, 2, {6, 4, 4}, Geometry::cartesian);
  expect_same_errors(mesh, constant_field(1.0), checked("1/(x - 0.25)", is_finite), "",
                     "inf at (0.25, 0.25, 1)");
  HostVector<double> u = random_solution(mesh);
  const ScalarField exact = checked("1/(x - 0.25)", is_finite);
  EXPECT_EQ(error_of([&] { on_gpu(mesh, u).max_error(exact, 1.0); }),
            error_of([&] { max_error(mesh, u.span(), exact); }));
  // Fields that allow everything have the host's results.
  const ScalarField unchecked = parse_expression("log(1.2 - y)", 3);
  EXPECT_TRUE(std::isnan(on_gpu(mesh, u).error_norms(unchecked, 1.0).l2));
  EXPECT_TRUE(std::isnan(on_gpu(mesh, u).max_error(unchecked, 1.0)));
  const ScalarField negative = parse_expression("x", 3);
  const double energy = solution_numbers(mesh, u.span(), negative).energy;
  EXPECT_NEAR(on_gpu(mesh, u).solution_numbers(negative, 1.0).energy, energy,
              1e-11 * std::abs(energy));
}

TEST_F(DeviceErrorNormsTest, NameTheCellThatFoldsOver) {
  for (const int dimension : {2, 3}) {
    for (const int degree : {1, 3}) {
      const BoxMesh mesh = dimension == 2 ? BoxMesh(2, {8, 5, 1}, {0, 0, 0}, {1, 1, 0})
                                          : BoxMesh(3, {8, 5, 3}, {0, 0, 0}, {1, 1, 1});
      const Discretization folded = make_mapped_discretization(
          mesh, make_basis(degree, NodeFamily::gauss_lobatto, QuadratureRule::gauss, degree + 1),
          {field_of([](double x, double, double) { return x < 0.75 ? x : 1.5 - x; }),
           field_of([](double x, double y, double) { return y + 0.1 * x; }),
           field_of([](double, double, double z) { return z; })});
      expect_same_errors(folded, coefficient_of(dimension), exact_of(dimension),
                         "has Jacobian determinant", "has Jacobian determinant");
      HostVector<double> u = random_solution(folded);
      const DeviceErrorNorms norms = on_gpu(folded, u);
      EXPECT_NEAR(norms.mean_value(1.0), mean_value(folded, u.span()), 1e-12);
      const double mean = mean_value(folded, exact_of(dimension));
      EXPECT_NEAR(norms.mean_value(exact_of(dimension)), mean, 1e-12 * (1.0 + std::abs(mean)));
      EXPECT_EQ(error_of([&] { norms.integral(1.0); }),
                error_of([&] { integral(folded, u.span()); }));
      EXPECT_NE(error_of([&] { norms.integral(1.0); }), "");
    }
  }
}

TEST(DeviceErrorNormsMemory, IsWhatWasForeseen) {
  TESSERA_REQUIRE_DEVICE();
  const Discretization mesh = discretization_of(3, 2, {40, 40, 40}, Geometry::curved);
  const Index foreseen = device_error_norms_bytes(mesh.mesh, mesh.lattice, true, 100);
  if (peak_device_bytes() > foreseen / 2) GTEST_SKIP() << "other tests have taken more before";
  HostVector<double> u = random_solution(mesh);
  const DeviceErrorNorms norms(mesh, u);
  norms.error_norms(deep_field(100), 1.0);
  EXPECT_LE(peak_device_bytes(), foreseen + (Index{1} << 20));
  EXPECT_GE(peak_device_bytes(), foreseen / 2);
}

}  // namespace
}  // namespace tessera::testing
