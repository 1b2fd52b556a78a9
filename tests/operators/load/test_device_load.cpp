// These tests compare loads that are assembled on the GPU with the host's.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "mesh/field/program_field.hpp"
#include "operators/cells/fields/device_program.hpp"
#include "operators/form/cell_grid.hpp"
#include "operators/form/constrained_rows.hpp"
#include "operators/load/device_load.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/problems.hpp"
#include "tests/operators/test_names.hpp"

namespace tessera::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// sin(4 x) y + z^2 - 0.3 in a frame and a unit of its own.
ScalarField source() {
  return program_field({{{Operation::push, Operand::x, 0.0},
                         {Operation::multiply, Operand::constant, 4.0},
                         {Operation::sin, Operand::stack, 0.0},
                         {Operation::multiply, Operand::y, 0.0},
                         {Operation::push, Operand::z, 0.0},
                         {Operation::integer_power, Operand::stack, 2.0},
                         {Operation::add, Operand::stack, 0.0},
                         {Operation::subtract, Operand::constant, 0.3}},
                        2,
                        {0.25, -0.5, 1.0},
                        2.0,
                        0.125,
                        4.0});
}

// log(x - limit): not a number where x is smaller.
ScalarField good_beyond(double limit) {
  return program_field({{{Operation::push, Operand::x, 0.0},
                         {Operation::subtract, Operand::constant, limit},
                         {Operation::log, Operand::stack, 0.0}},
                        1});
}

// exp((x y - 1) / 4)
ScalarField coefficient() {
  return program_field({{{Operation::push, Operand::x, 0.0},
                         {Operation::multiply, Operand::y, 0.0},
                         {Operation::subtract, Operand::constant, 1.0},
                         {Operation::multiply, Operand::constant, 0.25},
                         {Operation::exp, Operand::stack, 0.0}},
                        1});
}

std::vector<FluxTerm> fluxes(int dimension) {
  std::vector<FluxTerm> terms;
  terms.push_back({static_cast<int>(Face::bottom),
                   field_of([](double x, double, double z) { return std::cos(3.0 * x) + z; })});
  terms.push_back({static_cast<int>(Face::right),
                   field_of([](double, double y, double z) { return y * y - z; })});
  if (dimension == 3) terms.push_back({static_cast<int>(Face::front), constant_field(-1.5)});
  return terms;
}

ScalarField varying_dirichlet() {
  return field_of([](double x, double y, double z) { return 1.0 + x + std::sin(y + z); });
}

// Values on the Dirichlet faces that vary or are 0.
DirichletValues start(const Problem& problem, const ScalarField& dirichlet) {
  return {problem.form, std::vector<ScalarField>(6, dirichlet)};
}

// Memory that the load will get back holds no zeros.
void poison_device_memory() {
  const DeviceArray<double> poison(std::vector<double>(std::size_t{1} << 22, kNan));
}

void expect_equal_to_host(const ProblemOptions& options) {
  SCOPED_TRACE(describe(options));
  Problem problem = make_problem(options);
  problem.form.coefficient = coefficient();
  if (options.reaction == Reaction::variable) problem.form.reaction = coefficient();
  const auto check = [&](const char* what, const ScalarField& f, const ScalarField& dirichlet,
                         const std::vector<FluxTerm>& terms) {
    SCOPED_TRACE(what);
    const DirichletValues g = start(problem, dirichlet);
    HostVector<double> expected = poisoned<double>(problem.size());
    assemble_load(problem.form, f, terms, g, expected);
    const auto load = [&](HostVector<double>& values) {
      poison_device_memory();
      const auto b = assemble_device_load(problem.form, f, terms, g);
      ASSERT_TRUE(b.has_value());
      copy(*b, values);
    };
    HostVector<double> first = poisoned<double>(problem.size());
    HostVector<double> second = poisoned<double>(problem.size());
    load(first);
    load(second);
    EXPECT_TRUE(same_bits(first, second));
    for_each_face_node(problem.discretization->lattice, problem.form.dirichlet, [&](Index node) {
      if (first[node] != 0.0) ADD_FAILURE() << "constrained row " << node;
    });
    const double size = norm(expected);
    axpy(-1.0, expected, first);
    // Equidistant nodes of high degree amplify rounding.
    const bool amplifies = options.nodes == NodeFamily::equidistant && options.degree > 4;
    EXPECT_LE(norm(first), (amplifies ? 1e-9 : 1e-13) * size);
  };
  const ScalarField zero = constant_field(0.0);
  const std::vector<FluxTerm> terms = fluxes(options.dimension);
  check("all terms", source(), varying_dirichlet(), terms);
  check("a source alone", source(), zero, {});
  check("a constant source", constant_field(2.5), zero, {});
  check("no source", zero, varying_dirichlet(), terms);
  check("nothing", zero, zero, {});
}

TEST(LayersAtFaces, HaveEachCellOnce) {
  for (const IndexTriple& cells :
       {IndexTriple{5, 4, 3}, IndexTriple{1, 3, 2}, IndexTriple{1, 1, 1}}) {
    for (const int dimension : {2, 3}) {
      ProblemOptions options;
      options.dimension = dimension;
      options.cells = cells;
      const Problem problem = make_problem(options);
      const CellGrid grid = make_cell_grid(problem.form);
      for (unsigned set = 0; set < 1u << (2 * dimension); ++set) {
        const FaceSet faces(set);
        std::vector<int> visits(static_cast<std::size_t>(all_cells(grid).size()));
        for (const CellRange& layer : layers_at(grid, faces)) {
          for (const CellRange& color : cell_colors(grid, layer)) {
            for (Index i = 0; i < color.size(); ++i) {
              const int at[3] = {color.first[0] + color.step * static_cast<int>(i % color.count[0]),
                                 color.first[1] + color.step * static_cast<int>(i / color.count[0] %
                                                                                color.count[1]),
                                 color.first[2] + color.step * static_cast<int>(i / color.count[0] /
                                                                                color.count[1])};
              ++visits[cell_number(grid, at)];
            }
          }
        }
        for (Index c = 0; c < all_cells(grid).size(); ++c) {
          const Index at[3] = {c % grid.cells[0], c / grid.cells[0] % grid.cells[1],
                               c / grid.cells[0] / grid.cells[1]};
          bool touches = false;
          for (int d = 0; d < dimension; ++d) {
            touches = touches || (faces[2 * d] && at[d] == 0) ||
                      (faces[2 * d + 1] && at[d] == grid.cells[d] - 1);
          }
          ASSERT_EQ(visits[c], touches ? 1 : 0) << "cell " << c << ", faces " << faces;
        }
      }
    }
  }
}

class DeviceLoad : public ::testing::TestWithParam<DimensionAndDegree> {
 protected:
  void SetUp() override { TESSERA_REQUIRE_DEVICE(); }
};

TEST_P(DeviceLoad, EqualsTheHosts) {
  ProblemOptions options;
  options.dimension = std::get<0>(GetParam());
  options.degree = std::get<1>(GetParam());
  options.cells = options.degree <= 3 ? IndexTriple{7, 4, 3} : IndexTriple{3, 2, 1};
  for (const Geometry geometry : {Geometry::cartesian, Geometry::graded, Geometry::curved}) {
    options.geometry = geometry;
    for (const Boundary boundary : {Boundary::mixed, Boundary::dirichlet, Boundary::none}) {
      options.boundary = boundary;
      expect_equal_to_host(options);
    }
  }
  options.boundary = Boundary::mixed;
  for (const Reaction reaction : {Reaction::constant, Reaction::variable}) {
    options.reaction = reaction;
    expect_equal_to_host(options);
  }
  // One layer of cells has the nodes of opposite faces.
  options.boundary = Boundary::dirichlet;
  options.cells = {1, 2, 1};
  expect_equal_to_host(options);
  options.cells = {4, 3, 3};
  // More points than nodes, and fewer of a rule that has the ends.
  options.points = options.degree + 3;
  expect_equal_to_host(options);
  options.rule = QuadratureRule::gauss_lobatto;
  options.points = options.degree + 1;
  options.nodes = NodeFamily::equidistant;
  expect_equal_to_host(options);
}

// Tensors of a cell lie in shared memory for low degrees, in GPU memory for high ones.
INSTANTIATE_TEST_SUITE_P(Degrees, DeviceLoad,
                         ::testing::Combine(::testing::Values(2, 3),
                                            ::testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 11)),
                         name_of);

class DeviceLoadOfSources : public ::testing::Test {
 protected:
  void SetUp() override { TESSERA_REQUIRE_DEVICE(); }
};

TEST_F(DeviceLoadOfSources, LeavesToTheHostWhatItCannotDo) {
  const Problem problem = make_problem({});
  const DirichletValues g = start(problem, constant_field(0.0));
  const auto is_done = [&](const ScalarField& f) {
    return assemble_device_load(problem.form, f, {}, g).has_value();
  };
  const auto deep = [](int depth) {
    FieldProgram program;
    for (int i = 0; i < depth; ++i) {
      program.code.push_back({Operation::push, Operand::x, 0.0});
    }
    for (int i = 1; i < depth; ++i) {
      program.code.push_back({Operation::add, Operand::stack, 0.0});
    }
    program.depth = depth;
    return program_field(std::move(program));
  };
  EXPECT_FALSE(is_done(varying_dirichlet()));
  EXPECT_TRUE(is_done(deep(DeviceProgram::kShallow)));
  EXPECT_FALSE(is_done(deep(DeviceProgram::kShallow + 1)));
  EXPECT_TRUE(is_done(good_beyond(-100.0)));
  EXPECT_FALSE(is_done(good_beyond(100.0)));
  EXPECT_FALSE(is_done(constant_field(kNan)));
  double middle = 0.0;
  double y = 0.0;
  double z = 0.0;
  problem.discretization->mapping.node_positions(problem.size() / 2, 1, &middle, &y, &z);
  EXPECT_FALSE(is_done(good_beyond(middle)));
}

TEST_F(DeviceLoadOfSources, LeavesLiftingToTheHostOnlyWhereTheFormHasNoProgram) {
  const Problem problem = make_problem({});
  Problem with_program = make_problem({});
  with_program.form.coefficient = coefficient();
  const auto is_done = [&](const Problem& of, double value) {
    return assemble_device_load(of.form, source(), {}, start(of, constant_field(value)))
        .has_value();
  };
  EXPECT_TRUE(is_done(problem, 0.0));
  EXPECT_FALSE(is_done(problem, 1.0));
  EXPECT_TRUE(is_done(with_program, 1.0));
}

TEST_F(DeviceLoadOfSources, FindsTheOneNodeWhereAFieldIsNotFinite) {
  // 1 / |x - center|^2
  const auto pole = [](const Point& center) {
    FieldProgram program;
    for (int d = 0; d < 3; ++d) {
      const auto axis = static_cast<Operand>(static_cast<int>(Operand::x) + d);
      program.code.push_back({Operation::push, axis, 0.0});
      program.code.push_back({Operation::subtract, Operand::constant, center[d]});
      program.code.push_back({Operation::integer_power, Operand::stack, 2.0});
      if (d > 0) program.code.push_back({Operation::add, Operand::stack, 0.0});
    }
    program.code.push_back({Operation::reversed_divide, Operand::constant, 1.0});
    program.depth = 2;
    return program_field(std::move(program));
  };
  for (const int dimension : {2, 3}) {
    for (const Geometry geometry : {Geometry::cartesian, Geometry::graded, Geometry::curved}) {
      ProblemOptions options;
      options.dimension = dimension;
      options.geometry = geometry;
      const Problem problem = make_problem(options);
      SCOPED_TRACE(describe(options));
      const auto is_finite = [&](const ScalarField& field) {
        return is_finite_at_nodes(*problem.discretization, field);
      };
      const Mapping& mapping = problem.discretization->mapping;
      for (const Index node : {Index{0}, problem.size() / 3, problem.size() - 1}) {
        Point at{};
        mapping.node_positions(node, 1, &at[0], &at[1], &at[2]);
        EXPECT_FALSE(is_finite(pole(at))) << node;
        at[0] += 1e-6;
        EXPECT_TRUE(is_finite(pole(at))) << node;
      }
      EXPECT_TRUE(is_finite(constant_field(1.0)));
      EXPECT_FALSE(is_finite(varying_dirichlet())) << "the GPU cannot tell";
    }
  }
}

}  // namespace
}  // namespace tessera::testing
