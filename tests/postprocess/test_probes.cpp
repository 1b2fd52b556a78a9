// These tests find points in meshes and evaluate functions there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "mesh/geometry/natural_frame.hpp"
#include "postprocess/probes/probes.hpp"
#include "tests/postprocess/temporary_directory.hpp"

namespace tessera {
namespace {

constexpr double kPi = std::numbers::pi;

using Map = std::function<Point(const Point&)>;

struct TestMesh {
  std::string name;
  int dimension;
  IndexTriple cells;
  Point lower;
  Point upper;
  Map map;  // none: a box
  double ratio = 1.0;
};

Point pipe(const Point& b) {
  return {b[0] * std::cos(kPi / 2 * b[1]), b[0] * std::sin(kPi / 2 * b[1]), b[2]};
}

Point twist(const Point& b) {
  const double angle = kPi / 4 * b[2];
  return {b[0] * std::cos(angle) - b[1] * std::sin(angle),
          b[0] * std::sin(angle) + b[1] * std::cos(angle), b[2]};
}

std::vector<TestMesh> meshes() {
  const auto exponential = [](double t) { return std::expm1(3 * t) / std::expm1(3.0); };
  return {
      {"uniform 2D", 2, {3, 5, 1}, {-1, 0, 0}, {2, 1, 0}, nullptr},
      {"graded 3D", 3, {4, 3, 2}, {0, -1, 5}, {1, 1, 6}, nullptr, 1.7},
      {"far from 0", 3, {4, 3, 2}, {1e6, -1, 5}, {1e6 + 1, 1, 6}, nullptr, 1.3},
      {"twisted bar", 3, {2, 3, 9}, {-0.5, -0.5, 0}, {0.5, 0.5, 4}, twist},
      {"thin shell", 3, {2, 12, 3}, {1, 0, 0}, {1.05, 1, 1.5}, pipe},
      {"pipe in one cell", 3, {1, 1, 1}, {1, 0, 0}, {2, 1, 1.5}, pipe},
      {"layer 2D",
       2,
       {9, 7, 1},
       {0, 0, 0},
       {1, 1, 0},
       [=](const Point& b) {
         return Point{exponential(b[0]), exponential(b[1]), 0};
       }},
      {"waves 2D",
       2,
       {8, 8, 1},
       {0, 0, 0},
       {1, 1, 0},
       [](const Point& b) {
         return Point{b[0] + 0.06 * std::sin(2 * kPi * b[1]),
                      b[1] + 0.06 * std::sin(2 * kPi * b[0]), 0};
       }},
      {"moved pipe",
       3,
       {2, 6, 2},
       {1, 0, 0},
       {2, 1, 1.5},
       [](const Point& b) {
         const Point x = pipe(b);
         return Point{1e3 + 1e-2 * x[0], 1e-2 * x[1], -5 + 1e-2 * x[2]};
       }},
  };
}

Discretization discretize(const TestMesh& m, int degree, NodeFamily family) {
  std::array<GridLines, 3> lines;
  for (int d = 0; d < m.dimension; ++d) {
    lines[d] = geometric_lines(m.lower[d], m.upper[d], m.cells[d], m.ratio);
  }
  const BoxMesh mesh(m.dimension, m.cells, m.lower, m.upper, lines);
  const NodeLattice lattice(mesh, degree);
  Basis1D basis = make_basis(degree, family, QuadratureRule::gauss, degree + 1);
  if (!m.map) {
    Mapping mapping(mesh, lattice, basis.nodes);
    return {mesh, std::move(basis), lattice, std::move(mapping)};
  }
  std::array<ScalarField, 3> fields;
  for (int d = 0; d < m.dimension; ++d) {
    fields[d].evaluate = [map = m.map, d](const PointBlock& points, double* values) {
      for (std::size_t i = 0; i < points.n; ++i) {
        values[i] = map({points.x[i], points.y[i], points.z[i]})[d];
      }
    };
  }
  Mapping mapping(mesh, lattice, basis.nodes, fields);
  return {mesh, std::move(basis), lattice, std::move(mapping)};
}

// A nodal function at a place of a cell, by the basis of the mesh itself.
double value_in(const Discretization& discretization, const std::vector<double>& nodal,
                const IndexTriple& cell, const Point& reference) {
  const NodeLattice& lattice = discretization.lattice;
  const Matrix1D l = lagrange_values(discretization.basis.nodes, reference);
  const int n = lattice.degree() + 1;
  double value = 0.0;
  for (int k = 0; k < (lattice.dimension() == 3 ? n : 1); ++k) {
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        value += l(0, i) * l(1, j) * (lattice.dimension() == 3 ? l(2, k) : 1.0) *
                 nodal[lattice.first_node(cell) + lattice.offset(i, j, k)];
      }
    }
  }
  return value;
}

std::vector<std::vector<double>> node_positions(const Discretization& discretization) {
  const auto n = static_cast<std::size_t>(discretization.lattice.size());
  std::vector<std::vector<double>> x(3, std::vector<double>(n));
  discretization.mapping.node_positions(0, static_cast<Index>(n), x[0].data(), x[1].data(),
                                        x[2].data());
  return x;
}

double largest_coordinate(const std::vector<std::vector<double>>& positions) {
  double largest = 0.0;
  for (const auto& x : positions) {
    for (const double value : x) largest = std::max(largest, std::abs(value));
  }
  return largest;
}

std::vector<double> random_values(std::size_t n, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::vector<double> values(n);
  for (double& value : values) value = uniform(engine);
  return values;
}

class ProbesIn : public ::testing::TestWithParam<std::tuple<int, int, NodeFamily>> {
 protected:
  const TestMesh test_mesh = meshes()[static_cast<std::size_t>(std::get<0>(GetParam()))];
  const int degree = std::get<1>(GetParam());
  const Discretization physical = discretize(test_mesh, degree, std::get<2>(GetParam()));
  const std::vector<std::vector<double>> positions = node_positions(physical);
  const Discretization discretization = to_frame(Discretization(physical), natural_frame(physical));
};

TEST_P(ProbesIn, FindRandomPointsToTwelveDigits) {
  // Mapped cells of low degree with strongly curved shapes are not what the map is, but still
  // cells.
  constexpr int kPoints = 400;
  std::mt19937 engine(7);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  const auto u = random_values(positions[0].size(), 3);
  std::vector<Point> points;
  std::vector<double> expected;
  for (int i = 0; i < kPoints; ++i) {
    IndexTriple cell{};
    Point reference{};
    Point x{};
    for (int d = 0; d < test_mesh.dimension; ++d) {
      cell[d] = static_cast<Index>(uniform(engine) * static_cast<double>(test_mesh.cells[d]));
      // Faces, edges and corners among them.
      reference[d] = i % 5 == d ? std::round(uniform(engine)) : uniform(engine);
    }
    for (int d = 0; d < test_mesh.dimension; ++d) {
      x[d] = value_in(physical, positions[d], cell, reference);
    }
    points.push_back(x);
    expected.push_back(value_in(physical, u, cell, reference));
  }
  const Probes probes(discretization, points);
  const double scale = largest_coordinate(positions);
  std::vector<double> values(points.size());
  for (int d = 0; d < test_mesh.dimension; ++d) {
    probes.evaluate(positions[d], values);
    for (int i = 0; i < kPoints; ++i) EXPECT_NEAR(values[i], points[i][d], 2e-12 * scale);
  }
  // Random nodal values have steep slopes; those far from 0 also have fewer digits of position.
  const double tolerance = 1e-10 * scale * degree * degree;
  probes.evaluate(u, values);
  for (int i = 0; i < kPoints; ++i) EXPECT_NEAR(values[i], expected[i], tolerance) << i;
}

TEST_P(ProbesIn, HaveTheValuesOfNodesAtNodes) {
  const auto u = random_values(positions[0].size(), 5);
  std::vector<Point> points;
  for (std::size_t i = 0; i < u.size(); ++i) {
    points.push_back({positions[0][i], positions[1][i], positions[2][i]});
  }
  const Probes probes(discretization, points);
  std::vector<double> values(points.size());
  probes.evaluate(u, values);
  const double tolerance = 1e-10 * largest_coordinate(positions) * degree * degree;
  for (std::size_t i = 0; i < u.size(); ++i) ASSERT_NEAR(values[i], u[i], tolerance) << i;
}

INSTANTIATE_TEST_SUITE_P(Meshes, ProbesIn,
                         ::testing::Combine(::testing::Range(0, 9), ::testing::Range(2, 9),
                                            ::testing::Values(NodeFamily::gauss_lobatto)));
INSTANTIATE_TEST_SUITE_P(Lines, ProbesIn,
                         ::testing::Combine(::testing::Values(0, 1, 3, 4, 6, 8),
                                            ::testing::Values(1),
                                            ::testing::Values(NodeFamily::gauss_lobatto)));
INSTANTIATE_TEST_SUITE_P(Equidistant, ProbesIn,
                         ::testing::Combine(::testing::Values(1, 3, 5, 7), ::testing::Values(2, 6),
                                            ::testing::Values(NodeFamily::equidistant)));

TEST(Probes, NameThePointsThatAreOutside) {
  const TestMesh shell = meshes()[4];
  const Discretization discretization = discretize(shell, 3, NodeFamily::gauss_lobatto);
  const std::vector<Point> points = {{1.02, 0, 0.5}, {0.5, 0.5, 0.5}, {0.72, 0.72, 0.1},
                                     {0, 1.06, 0.5}, {1.02, 0, 1.5},  {std::nan(""), 0, 0}};
  try {
    const Probes probes(discretization, points);
    FAIL();
  } catch (const PointsOutside& error) {
    EXPECT_EQ(error.points(), (std::vector<Index>{1, 3, 5}));
    EXPECT_NE(std::string(error.what()).find("to 1.05, y from 0 to 1.05, z from 0 to 1.5"),
              std::string::npos)
        << error.what();
  }
}

TEST(Probes, TakePointsThatRoundingPutsOutside) {
  for (const TestMesh& test_mesh : meshes()) {
    const Discretization physical = discretize(test_mesh, 4, NodeFamily::gauss_lobatto);
    const auto positions = node_positions(physical);
    const double scale = largest_coordinate(positions);
    for (const double push : {-3e-16, 3e-16}) {
      std::vector<Point> points;
      for (std::size_t i = 0; i < positions[0].size(); ++i) {
        Point x{positions[0][i], positions[1][i], positions[2][i]};
        for (int d = 0; d < test_mesh.dimension; ++d) x[d] += push * scale;
        points.push_back(x);
      }
      EXPECT_NO_THROW(Probes(physical, points)) << test_mesh.name;
    }
  }
}

TEST(Probes, TakePointsOfTheCurvedBoundary) {
  const TestMesh shell = meshes()[4];
  for (int degree = 1; degree <= 8; ++degree) {
    const Discretization discretization = discretize(shell, degree, NodeFamily::gauss_lobatto);
    std::vector<Point> points;
    for (int i = 0; i <= 1000; ++i) {
      for (const double r : {1.0, 1.05}) points.push_back(pipe({r, 1e-3 * i, 0.7}));
    }
    const Probes probes(discretization, points);
    std::vector<double> values(points.size());
    probes.evaluate(node_positions(discretization)[0], values);
    for (std::size_t i = 0; i < points.size(); ++i) {
      EXPECT_NEAR(values[i], points[i][0], 3e-3 * std::pow(0.2, degree - 1)) << degree;
    }
  }
}

TEST(Probes, WriteAllDigits) {
  const testing::TemporaryDirectory directory;
  const std::vector<Point> points = {{0.1, 0.2, 0.0}, {1.0 / 3.0, 1e-300, 0.0}};
  AtomicFile file(directory.path() / "probes.csv");
  write_probes_csv(file, points, {{1.0, 0.1}, {0.75, 0.3}});
  file.commit();
  EXPECT_EQ(testing::read_file(directory.path() / "probes.csv"),
            "x,y,z,u,exact,error\n0.1,0.2,0,1,0.75,0.25\n"
            "0.3333333333333333,1e-300,0,0.1,0.3,-0.19999999999999998\n");
}

TEST(Probes, EvaluateFieldsAtPoints) {
  std::vector<Point> points;
  for (int i = 0; i < 3000; ++i) points.push_back({0.5 * i, 1.0, -1.0 * i});
  const ScalarField field{[](const PointBlock& block, double* values) {
                            for (std::size_t i = 0; i < block.n; ++i) {
                              values[i] = block.x[i] + block.y[i] + block.z[i];
                            }
                          },
                          {}};
  const std::vector<double> values = values_at(points, field);
  for (int i = 0; i < 3000; ++i) EXPECT_EQ(values[static_cast<std::size_t>(i)], 1.0 - 0.5 * i);
}

}  // namespace
}  // namespace tessera
