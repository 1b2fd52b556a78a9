// These tests hold transfers on the GPU, and as sparse matrices there, to those on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "operators/multigrid/lattice_transfer.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/multigrid/transfer_pairs.hpp"

namespace tessera::testing {
namespace {

// A x with rows that lie on the GPU, which are in increasing order of columns and without zeros.
std::vector<double> product_of_rows(const DeviceSparseRows<double>& rows,
                                    const HostVector<double>& x) {
  const std::vector<Index> starts = to_host(rows.starts);
  const std::vector<std::int32_t> columns = to_host(rows.columns);
  const std::vector<double> values = to_host(rows.values);
  EXPECT_EQ(starts.back(), static_cast<Index>(values.size()));
  EXPECT_EQ(std::count(values.begin(), values.end(), 0.0), 0);
  std::vector<double> product;
  for (std::size_t row = 0; row + 1 < starts.size(); ++row) {
    EXPECT_TRUE(std::is_sorted(columns.begin() + starts[row], columns.begin() + starts[row + 1]));
    double sum = 0.0;
    for (Index entry = starts[row]; entry < starts[row + 1]; ++entry) {
      sum += values[entry] * x[columns[entry]];
    }
    product.push_back(sum);
  }
  return product;
}

class DeviceTransferRows : public ::testing::TestWithParam<int> {};

TEST_P(DeviceTransferRows, AreThoseOfTheTransferOnTheHost) {
  TESSERA_REQUIRE_DEVICE();
  for (const Pair& pair : pairs(GetParam())) {
    for (const FaceSet dirichlet : {FaceSet{}, FaceSet{0b001001}, FaceSet{0b111111}}) {
      const LatticeProlongation P = make_prolongation(pair.coarse, pair.fine, dirichlet);
      const LatticeTransfer<double, Host> transfer(P);
      const HostVector<double> x = vector_of<double>(random_values(transfer.coarse_size(), 5));
      const HostVector<double> y = vector_of<double>(random_values(transfer.fine_size(), 7));
      HostVector<double> prolonged(transfer.fine_size());
      transfer.add_prolonged(x, prolonged);
      HostVector<double> restricted(transfer.coarse_size());
      transfer.restrict_to_coarse(y, restricted);
      EXPECT_LT(relative_difference(prolonged, product_of_rows(prolongation_rows<double>(P), x)),
                kDoubleTolerance);
      EXPECT_LT(relative_difference(restricted, product_of_rows(restriction_rows<double>(P), y)),
                kDoubleTolerance);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dimensions, DeviceTransferRows, ::testing::Values(2, 3),
                         [](const auto& tested) { return std::to_string(tested.param) + "d"; });

// Spaces whose lattices take several tiles along each axis, rows of P^T that are long, and
// coarsening along some axes only.
std::vector<Pair> pairs_of_many_tiles(int dimension) {
  std::vector<Pair> all;
  const auto add = [&](int degree, const IndexTriple& cells, const LevelShape& shape) {
    ProblemOptions options;
    options.dimension = dimension;
    options.degree = degree;
    options.cells = cells;
    const Problem problem = make_problem(options);
    all.push_back({*problem.discretization, coarsen(*problem.discretization, shape)});
  };
  const Index layers = dimension == 3 ? 7 : 1;
  const Index half = ceil_div(layers, 2);
  add(4, {35, 19, layers}, {4, {18, 10, half}});
  add(1, {131, 70, layers}, {1, {66, 35, half}});
  add(3, {25, 14, layers}, {3, {13, 7, layers}});
  if (dimension == 3) add(2, {40, 21, layers}, {2, {40, 21, half}});
  add(8, {9, 5, layers}, {8, {5, 3, half}});
  add(8, {9, 5, layers}, {4, {9, 5, layers}});
  add(13, {5, 4, half}, {13, {3, 2, ceil_div(half, 2)}});
  return all;
}

template <class T>
void expect_transfer_of_host(const LatticeProlongation& P, double tolerance) {
  const LatticeTransfer<double, Host> expected(P);
  const LatticeTransfer<T, Device> transfer(P);
  const Index m = expected.coarse_size();
  const Index n = expected.fine_size();
  ASSERT_EQ(transfer.coarse_size(), m);
  ASSERT_EQ(transfer.fine_size(), n);
  const std::vector<double> x = random_input<T>(m, 5);
  const std::vector<double> y = random_input<T>(n, 7);
  HostVector<double> prolonged = vector_of<double>(y);
  expected.add_prolonged(vector_of<double>(x), prolonged);
  HostVector<double> restricted = poisoned<double>(m);
  expected.restrict_to_coarse(vector_of<double>(y), restricted);
  auto fine = vector_in<T, Device>(y);
  transfer.add_prolonged(vector_in<T, Device>(x), fine);
  EXPECT_LT(relative_difference(on_host(fine), values_of(prolonged)), tolerance);
  auto coarse = in_space<Device>(poisoned<T>(m));
  transfer.restrict_to_coarse(vector_in<T, Device>(y), coarse);
  EXPECT_LT(relative_difference(on_host(coarse), values_of(restricted)), tolerance);
  auto again = in_space<Device>(poisoned<T>(m));
  transfer.restrict_to_coarse(vector_in<T, Device>(y), again);
  EXPECT_TRUE(same_bits(on_host(coarse), on_host(again)));
}

class DeviceLatticeTransfers : public ::testing::TestWithParam<int> {};

TEST_P(DeviceLatticeTransfers, AreThoseOfTheHost) {
  TESSERA_REQUIRE_DEVICE();
  std::vector<Pair> tested = pairs(GetParam());
  for (Pair& pair : pairs_of_many_tiles(GetParam())) tested.push_back(std::move(pair));
  if (GetParam() == 3) {
    for (Pair& pair : pairs_of_equal_cells()) tested.push_back(std::move(pair));
  }
  for (const Pair& pair : tested) {
    for (const FaceSet dirichlet : {FaceSet{}, FaceSet{0b001001}, FaceSet{0b111111}}) {
      const LatticeProlongation P = make_prolongation(pair.coarse, pair.fine, dirichlet);
      SCOPED_TRACE(std::to_string(pair.fine.basis.degree) + " " + std::to_string(P.fine.size()));
      expect_transfer_of_host<double>(P, kDoubleTolerance);
      expect_transfer_of_host<float>(P, kFloatTolerance);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dimensions, DeviceLatticeTransfers, ::testing::Values(2, 3),
                         [](const auto& tested) { return std::to_string(tested.param) + "d"; });

template <class T>
void expect_bits_of_products(const Pair& pair, FaceSet dirichlet) {
  const LatticeTransfer<T, Device> transfer(make_prolongation(pair.coarse, pair.fine, dirichlet));
  EXPECT_EQ(transfer.bytes(), 0);
  const LatticeProduct<T> product(factors(pair, dirichlet), LineStore::add);
  const auto coarse = vector_in<T, Device>(random_input<T>(transfer.coarse_size(), 5));
  const std::vector<double> before = random_input<T>(transfer.fine_size(), 7);
  auto fine = vector_in<T, Device>(before);
  transfer.add_prolonged(coarse, fine);
  auto expected = vector_in<T, Device>(before);
  product.apply(coarse.data(), expected.data());
  EXPECT_TRUE(same_bits(on_host(fine), on_host(expected)));
}

// Two ranks have nodes in common, and maybe not the same kernel.
TEST(DeviceCellTransfers, ProlongateToTheBitsOfOtherKernels) {
  TESSERA_REQUIRE_DEVICE();
  for (const Pair& pair : pairs_of_equal_cells()) {
    for (const FaceSet dirichlet : {FaceSet{}, FaceSet{0b001001}, FaceSet{0b111111}}) {
      SCOPED_TRACE(pair.fine.basis.degree);
      expect_bits_of_products<double>(pair, dirichlet);
      expect_bits_of_products<float>(pair, dirichlet);
    }
  }
}

}  // namespace
}  // namespace tessera::testing
