// These tests evaluate polynomials at equidistant points.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>
#include <vector>

#include "mesh/geometry/mapping.hpp"
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

template <class F>
std::vector<double> nodal_values(const Mapping& mapping, F&& f) {
  const auto n = static_cast<std::size_t>(mapping.lattice().size());
  std::vector<double> x(n), y(n), z(n), values(n);
  mapping.node_positions(0, mapping.lattice().size(), x.data(), y.data(), z.data());
  for (std::size_t i = 0; i < n; ++i) values[i] = f(x[i], y[i], z[i]);
  return values;
}

// The space's degree, and that of the points.
class Sampling : public ::testing::TestWithParam<std::tuple<int, int, int>> {
 protected:
  const int dimension = std::get<0>(GetParam());
  const int degree = std::get<1>(GetParam());
  const BoxMesh mesh{dimension, {3, 2, 2}, {0.0, -0.5, 0.25}, {1.0, 0.5, 1.0}};
  const NodeLattice lattice{mesh, degree};
  const NodeLattice points{mesh, std::get<2>(GetParam())};
  const std::vector<double> nodes = make_nodes(NodeFamily::gauss_lobatto, degree);
  const Mapping mapping{mesh, lattice, nodes};
  const Mapping at_points{mesh, points, make_nodes(NodeFamily::equidistant, points.degree())};
  const EquidistantSampler sampler{lattice, nodes, points};

  std::vector<double> sample(std::span<const double> function, Range range) const {
    std::vector<double> out(static_cast<std::size_t>(range.size()));
    std::vector<double> scratch(static_cast<std::size_t>(sampler.scratch_size(range.size())));
    sampler.sample(function, range, out.data(), scratch.data());
    return out;
  }
};

TEST_P(Sampling, IsExactForPolynomialsOfTheDegree) {
  const Polynomial polynomial(dimension, degree);
  const std::vector<double> nodal = nodal_values(mapping, polynomial);
  const std::vector<double> expected = nodal_values(at_points, polynomial);
  const std::vector<double> out = sample({nodal}, {0, points.size()});
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_NEAR(out[i], expected[i], 2e-13) << i;
}

TEST_P(Sampling, IsTheSameInPieces) {
  const std::vector<double> nodal = nodal_values(mapping, Polynomial(dimension, degree));
  const std::vector<double> all = sample({nodal}, {0, points.size()});
  for (const Index size : {1, 2, 5, 23}) {
    for (Index begin = 0; begin < points.size(); begin += size) {
      const Range range{begin, std::min(begin + size, points.size())};
      const std::vector<double> piece = sample({nodal}, range);
      ASSERT_TRUE(std::equal(piece.begin(), piece.end(), all.begin() + begin)) << begin;
    }
  }
}

TEST_P(Sampling, KeepsValuesAtVertices) {
  const auto f = [](double x, double y, double z) { return std::sin(9 * x + 5 * y) * (z + 2); };
  const std::vector<double> values = nodal_values(mapping, f);
  const std::vector<double> out = sample({values}, {0, points.size()});
  for (Index point = 0; point < points.size(); ++point) {
    IndexTriple at = points.node_position(point);
    bool is_vertex = true;
    for (int d = 0; d < dimension; ++d) {
      is_vertex = is_vertex && at[d] % points.degree() == 0;
      at[d] = at[d] / points.degree() * degree;
    }
    if (is_vertex) {
      ASSERT_EQ(out[point], values[lattice.node_index(at)]);
    }
  }
}

TEST_P(Sampling, GrowsNoMoreThanItSays) {
  std::mt19937 engine(7);
  std::uniform_int_distribution<int> sign(0, 1);
  std::vector<double> values(static_cast<std::size_t>(lattice.size()));
  for (double& value : values) value = sign(engine) == 0 ? -1.0 : 1.0;
  for (const double value : sample({values}, {0, points.size()})) {
    ASSERT_LE(std::abs(value), sampler.growth() * (1 + 1e-14));
  }
  EXPECT_GE(sampler.growth(), 1.0);
}

TEST(Equidistant, PointsThatAreNodesHaveTheirValues) {
  const BoxMesh mesh(3, {2, 2, 3}, {0.0, 0.0, 0.0}, {1.0, 1.0, 1.0});
  for (const int degree : {1, 3, 4, 8}) {
    const NodeLattice lattice(mesh, degree);
    const EquidistantSampler sampler(lattice, make_nodes(NodeFamily::equidistant, degree), lattice);
    std::vector<double> values(static_cast<std::size_t>(lattice.size()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i));
    std::vector<double> out(values.size());
    std::vector<double> scratch(static_cast<std::size_t>(sampler.scratch_size(lattice.size())));
    sampler.sample({values}, {0, lattice.size()}, out.data(), scratch.data());
    EXPECT_EQ(out, values) << degree;
  }
}

std::vector<std::tuple<int, int, int>> degrees() {
  std::vector<std::tuple<int, int, int>> all;
  for (const int dimension : {2, 3}) {
    for (const int degree : {1, 2, 3, 4, 5, 8}) {
      for (const int points : {degree, 1, 2, 3}) {
        const std::tuple<int, int, int> one{dimension, degree, points};
        if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
      }
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Degrees, Sampling, ::testing::ValuesIn(degrees()), [](const auto& test) {
  return fmt::format("d{}_p{}_m{}", std::get<0>(test.param), std::get<1>(test.param),
                     std::get<2>(test.param));
});

}  // namespace
}  // namespace tessera
