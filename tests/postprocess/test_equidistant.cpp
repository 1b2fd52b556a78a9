// These tests interpolate polynomials at equidistant nodes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "postprocess/vtk/equidistant.hpp"

namespace tessera {
namespace {

// A random polynomial of full degree p in each coordinate, of moderate size on the unit cube.
class Polynomial {
 public:
  Polynomial(int dimension, int degree) {
    std::mt19937 engine(17u * degree + dimension);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    for (auto& c : coefficients_) {
      for (int i = 0; i <= degree; ++i) c.push_back(uniform(engine));
    }
    if (dimension == 2) coefficients_[2].assign(1, 1.0);
  }

  double operator()(double x, double y, double z) const {
    const double position[3] = {x, y, z};
    double product = 1.0;
    for (int d = 0; d < 3; ++d) {
      double sum = 0.0;
      for (std::size_t i = coefficients_[d].size(); i-- > 0;) {
        sum = sum * position[d] + coefficients_[d][i];
      }
      product *= sum;
    }
    return product;
  }

 private:
  std::array<std::vector<double>, 3> coefficients_;
};

template <class Positions, class F>
std::vector<double> sample(const NodeLattice& lattice, const Positions& positions, F&& f) {
  const auto n = static_cast<std::size_t>(lattice.size());
  std::vector<double> x(n), y(n), z(n), values(n);
  positions.node_positions(0, lattice.size(), x.data(), y.data(), z.data());
  for (std::size_t i = 0; i < n; ++i) values[i] = f(x[i], y[i], z[i]);
  return values;
}

class ToEquidistant : public ::testing::TestWithParam<std::tuple<int, int>> {
 protected:
  const int dimension = std::get<0>(GetParam());
  const int degree = std::get<1>(GetParam());
  const BoxMesh mesh{dimension, {3, 2, 2}, {0.0, -0.5, 0.25}, {1.0, 0.5, 1.0}};
  const NodeLattice lattice{mesh, degree};
  const std::vector<double> nodes = make_nodes(NodeFamily::gauss_lobatto, degree);
  const Mapping mapping{mesh, lattice, nodes};
  const EquidistantPositions positions{mesh, mapping, nodes};
};

TEST_P(ToEquidistant, IsExactForPolynomialsOfTheDegree) {
  const Polynomial polynomial(dimension, degree);
  const std::vector<double> nodal = sample(lattice, mapping, polynomial);
  const std::vector<double> expected = sample(lattice, positions, polynomial);
  std::vector<double> out(nodal.size());
  to_equidistant(lattice, nodes, nodal, out);
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_NEAR(out[i], expected[i], 2e-13) << i;
}

TEST_P(ToEquidistant, WorksInPlace) {
  const Polynomial polynomial(dimension, degree);
  std::vector<double> values = sample(lattice, mapping, polynomial);
  std::vector<double> out(values.size());
  to_equidistant(lattice, nodes, values, out);
  to_equidistant(lattice, nodes, values, values);
  EXPECT_EQ(values, out);
}

TEST_P(ToEquidistant, KeepsValuesAtEquidistantNodesAndAtVertices) {
  const auto f = [](double x, double y, double z) { return std::sin(9 * x + 5 * y) * (z + 2); };
  const std::vector<double> values = sample(lattice, mapping, f);
  std::vector<double> out(values.size());
  to_equidistant(lattice, make_nodes(NodeFamily::equidistant, degree), values, out);
  EXPECT_EQ(out, values);
  to_equidistant(lattice, nodes, values, out);
  for (Index node = 0; node < lattice.size(); ++node) {
    const IndexTriple at = lattice.node_position(node);
    if (at[0] % degree == 0 && at[1] % degree == 0 && at[2] % degree == 0) {
      ASSERT_EQ(out[node], values[node]);
    }
  }
}

TEST_P(ToEquidistant, PositionsOfAMapArePolynomialInterpolants) {
  const auto component = [](auto f) {
    return ScalarField{[f](const PointBlock& block, double* values) {
                         for (std::size_t i = 0; i < block.n; ++i) {
                           values[i] = f(block.x[i], block.y[i], block.z[i]);
                         }
                       },
                       {}};
  };
  // Of degree 1 in each coordinate, so that the interpolant is the map itself.
  const auto x = [](double a, double b, double) { return a + 0.2 * a * b; };
  const auto y = [](double a, double b, double) { return b - 0.1 * a * b; };
  const auto z = [](double a, double b, double c) { return c + 0.3 * a * b * c; };
  const Mapping mapped(mesh, lattice, nodes, {component(x), component(y), component(z)});
  const EquidistantPositions moved(mesh, mapped, nodes);
  const auto n = static_cast<std::size_t>(lattice.size());
  std::vector<double> px(n), py(n), pz(n);
  moved.node_positions(0, lattice.size(), px.data(), py.data(), pz.data());
  const std::vector<double> ex = sample(lattice, positions, x);
  const std::vector<double> ey = sample(lattice, positions, y);
  const std::vector<double> ez = sample(lattice, positions, z);
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_NEAR(px[i], ex[i], 1e-14);
    ASSERT_NEAR(py[i], ey[i], 1e-14);
    ASSERT_NEAR(pz[i], dimension == 3 ? ez[i] : 0.0, 1e-14);
  }
}

INSTANTIATE_TEST_SUITE_P(Degrees, ToEquidistant,
                         ::testing::Combine(::testing::Values(2, 3),
                                            ::testing::Values(1, 2, 3, 4, 5, 8)),
                         [](const auto& test) {
                           return fmt::format("d{}_p{}", std::get<0>(test.param),
                                              std::get<1>(test.param));
                         });

}  // namespace
}  // namespace tessera
