// These functions foresee how well ranks share a case.
#pragma once

#include "mesh/partition/rank_grid.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// Ranks pay if at least this part of their time is work that has to be done.
inline constexpr double kGoodEfficiency = 0.8;

/// What an application costs each of several processes of one host on its cores.
///
/// All of them share the rate at which data move between cores and memory, so each has 1 / ranks of
/// it. A value of a shared plane is packed, copied to where both processes look, copied from there,
/// and added, 9 times 8 bytes; one of a plane across x is in a cache line of 64 bytes by itself.
/// @param application_bytes that an application moves for each DoF
/// @param copy_bytes_per_second of all cores of the host together
ExchangeCost cost_on_host(double application_bytes, double copy_bytes_per_second, int ranks);

/// What is foreseen of ranks that apply an operator and exchange the result.
struct RankForecast {
  /// An equal share of the work, and the slowest rank with its exchange, in seconds.
  double work_seconds;
  double seconds;
  /// The DoFs of a rank from which efficiency() is good, with as many ranks along each axis; 0:
  /// whatever the size.
  Index pays_from_dofs;

  double efficiency() const { return work_seconds / seconds; }
};

RankForecast forecast_ranks(const BoxMesh& mesh, int degree, const BoxPartition& partition,
                            const ExchangeCost& cost);

}  // namespace tessera
