// These tests prolongate polynomials, and check that restriction is the transpose.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "operators/multigrid/lattice_transfer.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/multigrid/transfer_pairs.hpp"
#include "tests/operators/problems.hpp"

namespace tessera::testing {
namespace {

// x^p + y^p + ... with products, of the coarser degree along each axis.
double polynomial(int degree, const Point& at) {
  double value = 1.0;
  for (int d = 0; d < 3; ++d) value *= 0.7 + std::pow(at[d] - 0.2 * d, degree) - 0.3 * at[d];
  return value;
}

std::vector<double> nodal_values(const Discretization& space, int degree) {
  std::vector<double> values;
  for (Index node = 0; node < space.lattice.size(); ++node) {
    Point at{};
    space.mapping.node_positions(node, 1, at.data(), at.data() + 1, at.data() + 2);
    values.push_back(polynomial(degree, at));
  }
  return values;
}

double product(const HostVector<double>& x, const HostVector<double>& y) {
  double sum = 0.0;
  for (Index i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

class LatticeTransfers : public ::testing::TestWithParam<int> {};

TEST_P(LatticeTransfers, PutTheCoarserFunctionOnTheFinerNodes) {
  for (const Pair& pair : pairs(GetParam())) {
    const LatticeTransfer<double, Host> transfer(
        make_prolongation(pair.coarse, pair.fine, FaceSet{}));
    const int degree = pair.coarse.basis.degree;
    std::vector<double> expected = nodal_values(pair.fine, degree);
    // It is added.
    HostVector<double> fine = vector_of<double>(random_values(pair.fine.lattice.size(), 3));
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += fine[i];
    transfer.add_prolonged(vector_of<double>(nodal_values(pair.coarse, degree)), fine);
    EXPECT_LT(relative_difference(fine, expected), kDoubleTolerance);
  }
}

TEST_P(LatticeTransfers, RestrictByTheTranspose) {
  for (const Pair& pair : pairs(GetParam())) {
    for (const FaceSet dirichlet : {FaceSet{}, FaceSet{0b001001}, FaceSet{0b111111}}) {
      const LatticeProlongation P = make_prolongation(pair.coarse, pair.fine, dirichlet);
      const LatticeTransfer<double, Host> transfer(P);
      const LatticeTransfer<float, Host> rounded(P);
      const Index n = pair.fine.lattice.size();
      const Index m = pair.coarse.lattice.size();
      const HostVector<double> x = vector_of<double>(random_input<float>(m, 5));
      const HostVector<double> y = vector_of<double>(random_input<float>(n, 7));
      HostVector<double> prolonged(n);
      transfer.add_prolonged(x, prolonged);
      HostVector<double> restricted = poisoned<double>(m);
      transfer.restrict_to_coarse(y, restricted);
      EXPECT_NEAR(product(prolonged, y), product(x, restricted), 1e-13 * norm(prolonged) * norm(y));
      HostVector<float> single_prolonged(n);
      rounded.add_prolonged(vector_of<float>(random_input<float>(m, 5)), single_prolonged);
      HostVector<float> single_restricted = poisoned<float>(m);
      rounded.restrict_to_coarse(vector_of<float>(random_input<float>(n, 7)), single_restricted);
      EXPECT_LT(relative_difference(single_prolonged, values_of(prolonged)), kFloatTolerance);
      EXPECT_LT(relative_difference(single_restricted, values_of(restricted)), kFloatTolerance);
    }
  }
}

TEST_P(LatticeTransfers, LeaveConstrainedNodesAlone) {
  const int dimension = GetParam();
  for (const Pair& pair : pairs(dimension)) {
    for (const FaceSet dirichlet : {FaceSet{0b000001}, FaceSet{0b001010}, FaceSet{0b111111}}) {
      const LatticeProlongation P = make_prolongation(pair.coarse, pair.fine, dirichlet);
      FaceSet masked;
      for (const AxisSweep& sweep : P.sweeps) {
        masked[2 * sweep.d] = dirichlet[2 * sweep.d];
        masked[2 * sweep.d + 1] = dirichlet[2 * sweep.d + 1];
      }
      const LatticeTransfer<double, Host> transfer(P);
      HostVector<double> fine(pair.fine.lattice.size());
      transfer.add_prolonged(vector_of<double>(random_values(pair.coarse.lattice.size(), 9)), fine);
      HostVector<double> coarse = poisoned<double>(pair.coarse.lattice.size());
      transfer.restrict_to_coarse(vector_of<double>(random_values(fine.size(), 11)), coarse);
      const auto check = [&](const NodeLattice& lattice, const HostVector<double>& values) {
        for (Index node = 0; node < lattice.size(); ++node) {
          if (lattice.on_faces(lattice.node_position(node), masked)) {
            EXPECT_EQ(values[node], 0.0);
          } else {
            EXPECT_NE(values[node], 0.0);
          }
        }
      };
      check(pair.fine.lattice, fine);
      check(pair.coarse.lattice, coarse);
    }
  }
}

TEST_P(LatticeTransfers, AreTheSameBitsForAnyThreads) {
  for (const Pair& pair : pairs(GetParam())) {
    const LatticeTransfer<double, Host> transfer(
        make_prolongation(pair.coarse, pair.fine, FaceSet{0b000101}));
    const auto run = [&](int threads) {
      const ThreadsInUse scope(threads);
      HostVector<double> coarse(pair.coarse.lattice.size());
      transfer.restrict_to_coarse(vector_of<double>(random_values(pair.fine.lattice.size(), 3)),
                                  coarse);
      HostVector<double> fine(pair.fine.lattice.size());
      transfer.add_prolonged(coarse, fine);
      return fine;
    };
    const HostVector<double> expected = run(1);
    for (const int threads : {2, 3}) EXPECT_TRUE(same_bits(run(threads), expected));
  }
}

template <class T>
void expect_host(const Pair& pair, FaceSet dirichlet) {
  const LatticeProlongation P = make_prolongation(pair.coarse, pair.fine, dirichlet);
  const LatticeTransfer<T, Host> host(P);
  const LatticeTransfer<T, Device> device(P);
  const HostVector<T> fine = vector_of<T>(random_values(pair.fine.lattice.size(), 3));
  const HostVector<T> coarse = vector_of<T>(random_values(pair.coarse.lattice.size(), 5));
  HostVector<T> expected = poisoned<T>(coarse.size());
  host.restrict_to_coarse(fine, expected);
  auto device_coarse = poisoned<T, Device>(coarse.size());
  device.restrict_to_coarse(in_space<Device>(fine), device_coarse);
  EXPECT_LT(relative_difference(on_host(device_coarse), values_of(expected)), tolerance<T>());
  HostVector<T> expected_fine = on_host(fine);
  host.add_prolonged(coarse, expected_fine);
  auto device_fine = in_space<Device>(fine);
  device.add_prolonged(in_space<Device>(coarse), device_fine);
  EXPECT_LT(relative_difference(on_host(device_fine), values_of(expected_fine)), tolerance<T>());
}

TEST_P(LatticeTransfers, OnTheGpuAreThoseOfTheHost) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    for (const Pair& pair : pairs(GetParam())) {
      for (const FaceSet dirichlet : {FaceSet{}, FaceSet{0b001001}, FaceSet{0b111111}}) {
        expect_host<double>(pair, dirichlet);
        expect_host<float>(pair, dirichlet);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dimensions, LatticeTransfers, ::testing::Values(2, 3),
                         [](const auto& tested) { return std::to_string(tested.param) + "d"; });

Index entries_along(const LatticeProlongation& prolongation, int d) {
  for (const AxisSweep& sweep : prolongation.sweeps) {
    if (sweep.d != d) continue;
    return std::count_if(sweep.matrix.entries.begin(), sweep.matrix.entries.end(),
                         [](double entry) { return entry != 0.0; });
  }
  return prolongation.fine.extents[d];
}

TEST(ProlongationEntries, AreForeseen) {
  for (const Geometry geometry : {Geometry::cartesian, Geometry::graded}) {
    for (int degree = 1; degree <= 6; ++degree) {
      ProblemOptions options;
      options.degree = degree;
      options.cells = {6, 3, 5};
      options.geometry = geometry;
      const Problem problem = make_problem(options);
      const Discretization& fine = *problem.discretization;
      for (const LevelShape& shape :
           {LevelShape{std::max(1, degree / 2), {6, 3, 5}}, LevelShape{degree, {3, 2, 3}},
            LevelShape{degree, {3, 3, 5}}}) {
        const Discretization coarse = coarsen(fine, shape);
        const LatticeProlongation prolongation = make_prolongation(coarse, fine, {});
        Index entries = 1;
        for (int d = 0; d < 3; ++d) entries *= entries_along(prolongation, d);
        EXPECT_EQ(max_prolongation_entries(coarse.lattice, fine.lattice, fine.mesh), entries)
            << describe(options) << " to degree " << shape.degree;
      }
    }
  }
}

}  // namespace
}  // namespace tessera::testing
