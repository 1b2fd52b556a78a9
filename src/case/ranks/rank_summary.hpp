// A RankSummary is what a run says of the processes that computed it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "mesh/partition/box_partition.hpp"

namespace tessera {

/// How ranks tell each other what they share.
enum class RankExchange { none, threads, mpi };

/// "none", "threads", "MPI"
std::string exchange_name(RankExchange exchange);

/// The ranks of a run.
struct RankSummary {
  int count = 1;
  /// Ranks along each axis of the mesh.
  std::vector<int> grid = {};
  /// The hosts, each once, in the order of their first ranks.
  std::vector<std::string> hosts = {};
  RankExchange exchange = RankExchange::none;
  int threads_per_rank = 1;
  Index largest_part_dofs = 0;
  Index smallest_part_dofs = 0;
  /// The GPU of each rank, and how values go between them; empty on CPUs.
  std::vector<std::string> gpus = {};
  std::string between_gpus = {};
};

/// The summary of a partition. @param hosts of each rank
RankSummary summarize_ranks(const BoxPartition& partition, int degree,
                            const std::vector<std::string>& hosts, RankExchange exchange,
                            int threads_per_rank);

/// For result.json: {"count", "grid", "hosts", "exchange", "threads_per_rank",
/// "largest_part_dofs", "smallest_part_dofs"}, and where ranks compute on GPUs "gpus" and
/// "between_gpus".
nlohmann::json ranks_json(const RankSummary& ranks);

}  // namespace tessera
