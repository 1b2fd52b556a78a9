// These tests compare geometric factors with their formula.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "mesh/errors.hpp"
#include "mesh/geometry/cell_geometry.hpp"
#include "mesh/geometry/geometric_factors.hpp"
#include "tests/mesh/meshes.hpp"

namespace tessera::testing {
namespace {

double coefficient_at(const Eigen::Vector3d& x) { return 2.0 + 0.3 * x[0] - 0.2 * x[1] * x[2]; }

ScalarField variable_coefficient() {
  return field_of([](double x, double y, double z) { return coefficient_at({x, y, z}); });
}

// D of one point in `general` factors; 0 along unused axes, but 1 on the diagonal.
template <class T>
Eigen::Matrix3d stored_factor(const Lanes<T>* entries, int dimension, int lane) {
  Eigen::Matrix3d D = Eigen::Matrix3d::Identity();
  int entry = 0;
  for (int a = 0; a < dimension; ++a) {
    for (int b = a; b < dimension; ++b) {
      D(a, b) = D(b, a) = static_cast<double>(entries[entry++][lane]);
    }
  }
  return D;
}

// w |J| k J^-1 J^-T with J the derivative of the map of the reference cell; as stored_factor().
Eigen::Matrix3d expected_factor(const BoxMesh& mesh, const IndexTriple& cell, const SmoothMap& map,
                                const Eigen::Vector3d& X, double weight, double k) {
  Eigen::Matrix3d J = map.jacobian_of(mesh.dimension(), X);
  for (int d = 0; d < mesh.dimension(); ++d) J.col(d) *= mesh.cell_width(d, cell[d]);
  const Eigen::Matrix3d inverse = J.inverse();
  Eigen::Matrix3d D = weight * J.determinant() * k * inverse * inverse.transpose();
  if (mesh.dimension() == 2) D(2, 2) = 1.0;
  return D;
}

template <class T>
class Factors : public ::testing::Test {
 protected:
  static constexpr double kTolerance = 1e-12 + 4 * std::numeric_limits<T>::epsilon();
  Basis1D basis_ = make_basis(2, NodeFamily::gauss_lobatto, QuadratureRule::gauss, 4);

  // Calls f(batch, lane, q, box point, weight) for every cell and point.
  template <class F>
  void for_each_point(const BoxMesh& mesh, const CellBatches& batches, F&& f) {
    const std::vector<double> weights = tensor_weights(basis_.quadrature, mesh.dimension());
    for (const Brick& brick : batches.bricks()) {
      batches.for_each_batch(brick, [&](const CellBatch& batch) {
        for (int lane = 0; lane < batches.lanes(); ++lane) {
          for (std::size_t q = 0; q < weights.size(); ++q) {
            const Eigen::Vector3d xi =
                reference_point(basis_.quadrature.points, mesh.dimension(), static_cast<int>(q));
            f(batch, lane, static_cast<int>(q), box_point(mesh, batch.cells[lane], xi), weights[q]);
          }
        }
      });
    }
  }
};

using Precisions = ::testing::Types<double, float>;
TYPED_TEST_SUITE(Factors, Precisions);

TYPED_TEST(Factors, OfMappedMeshesAreTheSymmetricPositiveDefiniteMatrix) {
  using T = TypeParam;
  for (const int dimension : {2, 3}) {
    const BoxMesh mesh = general_box(dimension, {19, 3, 2});
    for (const SmoothMap& map : {identity_map(), affine_map(), quadratic_map()}) {
      const Discretization discretization = make_mapped(mesh, this->basis_, components_of(map));
      for (const int threads : {1, 3}) {
        const ThreadsInUse count(threads);
        const CellBatches batches(mesh, kLanes<T>, 1000, threads);
        const GeometricFactors<T> factors(discretization, batches, variable_coefficient());
        ASSERT_EQ(factors.kind(), FactorKind::general);
        const int entries = factor_entries(dimension);
        this->for_each_point(
            mesh, batches,
            [&](const CellBatch& batch, int lane, int q, const Eigen::Vector3d& X, double weight) {
              Eigen::Vector3d x = map.position(X);
              if (dimension == 2) x[2] = 0.0;
              const Eigen::Matrix3d D =
                  stored_factor<T>(factors.batch(batch.index) + q * entries, dimension, lane);
              const Eigen::Matrix3d expected =
                  expected_factor(mesh, batch.cells[lane], map, X, weight, coefficient_at(x));
              ASSERT_LT((D - expected).norm(), this->kTolerance * expected.norm())
                  << map.name << " batch " << batch.index << " lane " << lane << " point " << q;
              // Sylvester's criterion.
              ASSERT_GT(D(0, 0), 0.0);
              ASSERT_GT(D(0, 0) * D(1, 1) - D(0, 1) * D(1, 0), 0.0);
              ASSERT_GT(D.determinant(), 0.0);
            });
        EXPECT_EQ(factors.bytes(), batches.batch_count() * kLanes<T> * power(4, dimension) *
                                       entries * Index{sizeof(T)});
      }
    }
  }
}

TYPED_TEST(Factors, OfCartesianMeshesAreAScalarTimesADiagonal) {
  using T = TypeParam;
  for (const int dimension : {2, 3}) {
    const BoxMesh mesh = general_box(dimension, {19, 3, 2});
    const Discretization discretization = make_cartesian(mesh, this->basis_);
    const CellBatches batches(mesh, kLanes<T>, 1000, 2);
    const GeometricFactors<T> scaled(discretization, batches, variable_coefficient());
    const GeometricFactors<T> constant(discretization, batches, constant_field(1.7));
    ASSERT_EQ(scaled.kind(), FactorKind::scaled);
    ASSERT_EQ(constant.kind(), FactorKind::constant);
    ASSERT_EQ(constant.shared_points().size(), static_cast<std::size_t>(power(4, dimension)));
    this->for_each_point(
        mesh, batches,
        [&](const CellBatch& batch, int lane, int q, const Eigen::Vector3d& X, double weight) {
          const auto expect_equal = [&](const GeometricFactors<T>& factors, T point, double k) {
            const Eigen::Matrix3d expected =
                expected_factor(mesh, batch.cells[lane], identity_map(), X, weight, k);
            for (int d = 0; d < dimension; ++d) {
              const double entry =
                  static_cast<double>(point) * static_cast<double>(factors.axis_scale()[d]);
              ASSERT_NEAR(entry, expected(d, d), this->kTolerance * expected(d, d)) << "axis " << d;
            }
          };
          expect_equal(scaled, scaled.batch(batch.index)[q][lane], coefficient_at(X));
          expect_equal(constant, constant.shared_points()[q], 1.7);
        });
    EXPECT_EQ(constant.bytes(), power(4, dimension) * Index{sizeof(T)});
    EXPECT_EQ(scaled.bytes(),
              batches.batch_count() * kLanes<T> * power(4, dimension) * Index{sizeof(T)});
  }
}

TYPED_TEST(Factors, OfGradedMeshesAreDiagonalMatrices) {
  using T = TypeParam;
  for (const int dimension : {2, 3}) {
    const BoxMesh mesh = graded_box(dimension, {19, 3, 4});
    const Discretization discretization = make_cartesian(mesh, this->basis_);
    const CellBatches batches(mesh, kLanes<T>, 1000, 2);
    for (const bool constant : {true, false}) {
      const GeometricFactors<T> factors(discretization, batches,
                                        constant ? constant_field(1.7) : variable_coefficient());
      ASSERT_EQ(factors.kind(), FactorKind::general);
      const int entries = factor_entries(dimension);
      this->for_each_point(
          mesh, batches,
          [&](const CellBatch& batch, int lane, int q, const Eigen::Vector3d& X, double weight) {
            const Eigen::Matrix3d D =
                stored_factor<T>(factors.batch(batch.index) + q * entries, dimension, lane);
            const Eigen::Matrix3d expected =
                expected_factor(mesh, batch.cells[lane], identity_map(), X, weight,
                                constant ? 1.7 : coefficient_at(X));
            ASSERT_LT((D - expected).norm(), this->kTolerance * expected.norm())
                << "batch " << batch.index << " lane " << lane << " point " << q;
          });
    }
  }
}

TEST(FactorKinds, FollowFromMeshMapAndCoefficient) {
  const Basis1D basis = make_basis(1, NodeFamily::gauss_lobatto, QuadratureRule::gauss, 2);
  const BoxMesh mesh = general_box(2, {2, 2, 1});
  const Mapping cartesian = make_cartesian(mesh, basis).mapping;
  const Mapping mapped = make_mapped(mesh, basis, components_of(identity_map())).mapping;
  EXPECT_EQ(factor_kind(cartesian, constant_field(1.0), constant_field(0.0)), FactorKind::constant);
  EXPECT_EQ(factor_kind(cartesian, variable_coefficient(), constant_field(0.0)),
            FactorKind::scaled);
  const Mapping graded = make_cartesian(graded_box(2, {2, 2, 1}), basis).mapping;
  EXPECT_EQ(factor_kind(graded, constant_field(1.0), constant_field(0.0)), FactorKind::general);
  EXPECT_EQ(factor_kind(graded, variable_coefficient(), constant_field(0.0)), FactorKind::general);
  EXPECT_EQ(factor_kind(mapped, constant_field(1.0), constant_field(0.0)), FactorKind::general);
  EXPECT_EQ(factor_kind(mapped, variable_coefficient(), constant_field(0.0)), FactorKind::general);
}

// x runs backwards beyond 6 where y > 2.5, on cells of edge 1: of the cells that touch both, the
// first in number is (6, 2).
std::array<ScalarField, 3> folded() {
  return {field_of([](double x, double y, double) {
            return x > 6.0 && y > 2.5 ? 6.0 - 3.0 * (x - 6.0) : x;
          }),
          field_of([](double, double y, double) { return y; }),
          field_of([](double, double, double z) { return z; })};
}

void expect_refused_cell(const Discretization& discretization, int threads, const IndexTriple& cell,
                         const std::string& text) {
  const CellBatches batches(discretization.mesh, kLanes<double>, 1000, threads);
  const CellBatches wider(discretization.mesh, kLanes<float>, 1000, threads);

  const auto expect_cell = [&](auto&& evaluate) {
    try {
      evaluate();
      FAIL() << "accepted an inverted cell";
    } catch (const InvertedCell& error) {
      EXPECT_EQ(error.cell(), cell);
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  };
  expect_cell([&] { check_geometry(discretization, constant_field(1.0)); });
  expect_cell([&] { GeometricFactors<double>(discretization, batches, variable_coefficient()); });
  expect_cell([&] { GeometricFactors<float>(discretization, wider, constant_field(1.0)); });
}

TEST(InvertedCells, TheFirstIsNamedForAnyNumberOfThreads) {
  const Basis1D basis = make_basis(1, NodeFamily::gauss_lobatto, QuadratureRule::gauss, 2);
  for (const int dimension : {2, 3}) {
    const BoxMesh mesh(dimension, {41, 9, 4}, {0, 0, 0}, {41, 9, 4});
    const Discretization discretization = make_mapped(mesh, basis, folded());
    for (const int threads : {1, 2, 3}) {
      const ThreadsInUse count(threads);
      expect_refused_cell(discretization, threads, {6, 2, 0},
                          dimension == 2 ? "cell (6, 2) " : "cell (6, 2, 0) ");
    }
  }
}

TEST(InvertedCells, ReflectionsAndFlatCellsAreRefused) {
  const Basis1D basis = make_basis(2, NodeFamily::gauss_lobatto, QuadratureRule::gauss, 3);
  const BoxMesh mesh = general_box(3, {3, 2, 2});
  for (int d = 0; d < 3; ++d) {
    std::array<ScalarField, 3> components = components_of(identity_map());
    components[d] = field_of([d](double x, double y, double z) { return -Point{x, y, z}[d]; });
    expect_refused_cell(make_mapped(mesh, basis, components), 1, {0, 0, 0}, "positive");
    components[d] = constant_field(0.5);
    expect_refused_cell(make_mapped(mesh, basis, components), 1, {0, 0, 0}, "positive");
  }
}

TEST(CheckedGeometry, PassesAndFailsAsTheFactorsDo) {
  const Basis1D basis = make_basis(2, NodeFamily::gauss_lobatto, QuadratureRule::gauss, 3);
  const BoxMesh mesh = general_box(3, {9, 3, 2});
  const Discretization cartesian = make_cartesian(mesh, basis);
  const Discretization mapped = make_mapped(mesh, basis, components_of(quadratic_map()));
  const CellBatches batches(mesh, kLanes<double>, 1000, 1);
  for (const Discretization* discretization : {&cartesian, &mapped}) {
    EXPECT_NO_THROW(check_geometry(*discretization, constant_field(1.0)));
    EXPECT_NO_THROW(check_geometry(*discretization, variable_coefficient()));
    for (const double bad : {0.0, -1.0, std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()}) {
      const ScalarField somewhere =
          field_of([bad](double x, double y, double) { return x > 0.5 && y > 0.9 ? bad : 1.0; });
      for (const ScalarField& k : {constant_field(bad), somewhere}) {
        EXPECT_THROW(check_geometry(*discretization, k), BadFieldValue) << bad;
        EXPECT_THROW(GeometricFactors<double>(*discretization, batches, k), BadFieldValue) << bad;
      }
    }
  }
}

TEST(FactorBytes, AreThoseOfTheKind) {
  EXPECT_EQ(factor_entries(2), 3);
  EXPECT_EQ(factor_entries(3), 6);
  EXPECT_EQ(geometric_factor_bytes(FactorKind::constant, ReactionKind::none, 2, 1000, 4, 8),
            16 * 8);
  EXPECT_EQ(geometric_factor_bytes(FactorKind::scaled, ReactionKind::none, 2, 1000, 4, 8),
            1000 * 16 * 8);
  EXPECT_EQ(geometric_factor_bytes(FactorKind::general, ReactionKind::none, 2, 1000, 4, 4),
            1000 * 16 * 3 * 4);
  EXPECT_EQ(geometric_factor_bytes(FactorKind::general, ReactionKind::none, 3, 3'000'000'000, 4, 4),
            Index{3'000'000'000} * 64 * 6 * 4);
}

}  // namespace
}  // namespace tessera::testing
