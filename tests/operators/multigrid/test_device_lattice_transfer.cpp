// These tests hold transfers as sparse matrices on the GPU to those on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
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

}  // namespace
}  // namespace tessera::testing
