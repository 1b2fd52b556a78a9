// This file asks the model of rank grids for times.
#include "src/case/ranks/rank_efficiency.hpp"

#include <algorithm>
#include <cmath>

#include "mesh/node_lattice.hpp"

namespace tessera {
namespace {

// Between two processes of one host: MPI's messages along an axis.
constexpr double kMessageSeconds = 5e-6;

double share_of_dofs(const IndexTriple& cells, int dimension, int degree, int ranks) {
  double dofs = 1.0;
  for (int d = 0; d < dimension; ++d) dofs *= static_cast<double>(nodes_along(cells[d], degree));
  return dofs / ranks;
}

// Where all parts have equal cells, so many times as large along each axis as those of the case.
struct ScaledCase {
  IndexTriple cells{1, 1, 1};
  double efficiency = 0.0;
  double dofs = 0.0;  // of a rank
};

ScaledCase scaled(const BoxMesh& mesh, int degree, const RankGrid& grid, double scale,
                  const ExchangeCost& cost) {
  const int dimension = mesh.dimension();
  const int ranks = grid[0] * grid[1] * grid[2];
  ScaledCase result;
  for (int d = 0; d < dimension; ++d) {
    const double part = static_cast<double>(mesh.cells()[d]) / grid[d];
    result.cells[d] = grid[d] * std::max<Index>(1, std::llround(part * scale));
  }
  const BoxMesh box(dimension, result.cells, {0.0, 0.0, 0.0}, {1.0, 1.0, 1.0});
  result.dofs = share_of_dofs(result.cells, dimension, degree, ranks);
  result.efficiency =
      result.dofs * cost.seconds_per_dof / application_seconds(box, degree, grid, {0, 0, 0}, cost);
  return result;
}

Index dofs_to_pay(const BoxMesh& mesh, int degree, const RankGrid& grid, const ExchangeCost& cost) {
  // A cell for each rank, and sizes that no host has.
  double low = std::log(1e-12);
  double high = std::log(1e3);
  if (scaled(mesh, degree, grid, std::exp(low), cost).efficiency >= kGoodEfficiency) return 0;
  constexpr int kSteps = 60;
  for (int step = 0; step < kSteps; ++step) {
    const double middle = 0.5 * (low + high);
    const bool is_good =
        scaled(mesh, degree, grid, std::exp(middle), cost).efficiency >= kGoodEfficiency;
    (is_good ? high : low) = middle;
  }
  return std::llround(scaled(mesh, degree, grid, std::exp(high), cost).dofs);
}

}  // namespace

ExchangeCost cost_on_host(double application_bytes, double copy_bytes_per_second, int ranks) {
  const double rate = copy_bytes_per_second / ranks;
  constexpr double kValue = sizeof(double);
  // Three copies, and a sum of two values.
  constexpr double kMovedBytes = (3 * 2 + 3) * kValue;
  constexpr double kValuesPerCacheLine = 8.0;
  return {kMessageSeconds, 0.0, rate * kValue / kMovedBytes, kValuesPerCacheLine,
          application_bytes / rate};
}

RankForecast forecast_ranks(const BoxMesh& mesh, int degree, const BoxPartition& partition,
                            const ExchangeCost& cost) {
  const std::array<int, 3> halvings = {partition.cuts(0).halvings, partition.cuts(1).halvings,
                                       partition.cuts(2).halvings};
  const double share =
      share_of_dofs(mesh.cells(), mesh.dimension(), degree, partition.rank_count());
  return {share * cost.seconds_per_dof,
          application_seconds(mesh, degree, partition.grid(), halvings, cost),
          dofs_to_pay(mesh, degree, partition.grid(), cost)};
}

}  // namespace tessera
