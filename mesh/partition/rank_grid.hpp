// This is the choice of a rank grid: along which axes a mesh is cut for a number of ranks.
#pragma once

#include "mesh/partition/box_partition.hpp"

namespace tessera {

/// What an application of an operator and the exchange after it cost, in seconds and bytes.
struct ExchangeCost {
  /// Of the messages to both neighbors along an axis.
  double latency;
  /// Of the kernel that packs planes which are not contiguous, those of x and y.
  double packing;
  /// Of a link, each way.
  double bytes_per_second;
  /// A value of a plane across x is one in a sector of 32 bytes by itself.
  double x_plane_weight;
  /// Of an operator's work.
  double seconds_per_dof;
  /// Of each cut axis but one: only slabs have their sums made along with their planes.
  double further_axis = 0.0;
};

/// Between the processes of one host, and over a network. Measured on four H200, whose kernels
/// store into each other's memory, on two H200 by NCCL's grouped send and receive, and CG's
/// iteration; as they are on other machines by far near enough to choose between grids.
inline constexpr ExchangeCost kWithinHost = {2.8e-6, 0.0, 170e9, 4.0, 1.0 / 45e9, 20e-6};
inline constexpr ExchangeCost kOverNetwork = {8e-6, 3e-6, 25e9, 4.0, 1.0 / 45e9};

/// Seconds of one application on the slowest rank: work of the largest part + sum over cut axes of
/// latency + packing + 2 planes / bandwidth + further_axis for all of them but one.
/// @throws std::invalid_argument as BoxPartition
double application_seconds(const BoxMesh& mesh, int degree, const RankGrid& grid,
                           const std::array<int, 3>& max_halvings, const ExchangeCost& cost);

/// The grid of `ranks` ranks with the least application_seconds(); of equal ones that with fewer
/// ranks along x, then along y: slabs within one host, nearly cubes over a network.
/// @throws std::invalid_argument in a user's words, if no grid has a cell for each rank
RankGrid choose_rank_grid(const BoxMesh& mesh, int degree, int ranks,
                          const std::array<int, 3>& max_halvings, const ExchangeCost& cost);

/// @throws std::invalid_argument in a user's words, unless the grid has `ranks` ranks
void require_rank_count(const RankGrid& grid, int ranks);

}  // namespace tessera
