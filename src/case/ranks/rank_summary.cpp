// This file says who computed a result.
#include "src/case/ranks/rank_summary.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "src/case/ranks/rank_parts.hpp"

namespace tessera {

std::string exchange_name(RankExchange exchange) {
  switch (exchange) {
    case RankExchange::none:
      return "none";
    case RankExchange::threads:
      return "threads";
    case RankExchange::mpi:
      return "MPI";
  }
  throw std::logic_error("an exchange without a name");
}

RankSummary summarize_ranks(const BoxPartition& partition, int degree,
                            const std::vector<std::string>& hosts, RankExchange exchange,
                            int threads_per_rank) {
  RankSummary summary;
  summary.count = partition.rank_count();
  summary.grid.assign(partition.grid().begin(), partition.grid().begin() + partition.dimension());
  for (const std::string& host : hosts) {
    const auto same = std::find(summary.hosts.begin(), summary.hosts.end(), host);
    if (same == summary.hosts.end()) summary.hosts.push_back(host);
  }
  summary.exchange = exchange;
  summary.threads_per_rank = threads_per_rank;
  summary.largest_part_dofs = part_dofs(partition, largest_part(partition, degree), degree);
  summary.smallest_part_dofs = part_dofs(partition, smallest_part(partition, degree), degree);
  return summary;
}

nlohmann::json ranks_json(const RankSummary& ranks) {
  nlohmann::json json = {{"count", ranks.count},
                         {"grid", ranks.grid},
                         {"hosts", ranks.hosts},
                         {"exchange", exchange_name(ranks.exchange)},
                         {"threads_per_rank", ranks.threads_per_rank},
                         {"largest_part_dofs", ranks.largest_part_dofs},
                         {"smallest_part_dofs", ranks.smallest_part_dofs}};
  if (ranks.gpus.empty()) return json;
  json["gpus"] = ranks.gpus;
  json["between_gpus"] = ranks.between_gpus;
  return json;
}

}  // namespace tessera
