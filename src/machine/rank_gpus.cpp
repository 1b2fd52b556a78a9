// This file gives each rank a GPU, and the ranks a way between these.
#include "src/machine/rank_gpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "solvers/memory/device.hpp"
#include "solvers/memory/device_choice.hpp"
#include "solvers/ranks/gather_texts.hpp"
#include "solvers/ranks/gpu/nccl_carrier.hpp"
#include "solvers/ranks/gpu/peer_carrier.hpp"

namespace tessera {
namespace {

// The number of a rank among those of its host.
int number_on_host(const std::vector<RankPlace>& places, int rank) {
  int number = 0;
  for (int other = 0; other < rank; ++other) {
    if (places[other].host == places[rank].host) ++number;
  }
  return number;
}

// "0 and 1", "0-2, 5"
std::string ranks_text(const std::vector<int>& ranks) {
  return ranks.size() == 2 ? fmt::format("{} and {}", ranks[0], ranks[1]) : cpus_text(ranks);
}

RankGpu choose_gpu(int number) {
  if constexpr (kHasCuda) {
    try {
      leave_one_device(number);
      const int count = visible_devices();
      if (count > 0) choose_device(number % count);
      const DeviceInfo device = require_device();
      return {device.name, device_uuid(), ""};
    } catch (const std::exception& error) {
      return {"", "", error.what()};
    }
  } else {
    return {"", "", fmt::format("no GPU {}: this build computes on the CPU only", number)};
  }
}

// The word of rank 0 for all; empty: the fastest.
std::string wanted_carrier(const Communicator& ranks) {
  const char* const said = std::getenv(kCarrierVariable);
  std::string wanted = ranks.broadcast(std::string(said == nullptr ? "" : said));
  constexpr std::array kAllowed = {"", "peers", "nccl", "host"};
  if (std::find(kAllowed.begin(), kAllowed.end(), wanted) == kAllowed.end()) {
    throw DeviceError(
        fmt::format("{} = \"{}\": allowed are peers, nccl and host", kCarrierVariable, wanted));
  }
  return wanted;
}

}  // namespace

std::vector<RankGpu> choose_gpus(const Communicator& ranks, const std::vector<RankPlace>& places) {
  const RankGpu mine = choose_gpu(number_on_host(places, ranks.rank()));
  const nlohmann::json text = {mine.name, mine.uuid, mine.why_none};
  std::vector<RankGpu> gpus;
  for (const std::string& one :
       gather_texts(ranks, text.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace))) {
    const nlohmann::json gpu = nlohmann::json::parse(one);
    gpus.push_back({gpu[0], gpu[1], gpu[2]});
  }
  if constexpr (kHasCuda) {
    share_device(static_cast<int>(ranks_on_gpu(gpus, ranks.rank()).size()));
  }
  return gpus;
}

std::vector<int> ranks_on_gpu(const std::vector<RankGpu>& gpus, int rank) {
  std::vector<int> ranks;
  for (std::size_t r = 0; r < gpus.size(); ++r) {
    if (gpus[r].uuid == gpus[rank].uuid) ranks.push_back(static_cast<int>(r));
  }
  return ranks;
}

std::string sharing_warning(const std::vector<RankGpu>& gpus) {
  std::set<std::string> seen;
  std::vector<std::string> shared;
  for (std::size_t r = 0; r < gpus.size(); ++r) {
    if (!gpus[r].why_none.empty() || !seen.insert(gpus[r].uuid).second) continue;
    const std::vector<int> ranks = ranks_on_gpu(gpus, static_cast<int>(r));
    if (ranks.size() == 1) continue;
    shared.push_back(fmt::format("ranks {} share GPU {}", ranks_text(ranks), gpus[r].uuid));
  }
  if (shared.empty()) return "";
  return fmt::format("{}: they take turns; start one process per GPU", fmt::join(shared, ", "));
}

void require_gpus(const std::vector<RankGpu>& gpus, const std::vector<RankPlace>& places) {
  for (std::size_t r = 0; r < gpus.size(); ++r) {
    if (gpus[r].why_none.empty()) continue;
    throw NoDevice(fmt::format("rank {} on {}: {}", r, places[r].host, gpus[r].why_none));
  }
}

ChosenCarrier choose_carrier(const Communicator& ranks, const std::vector<RankGpu>& gpus,
                             const std::vector<RankPlace>& places) {
  if constexpr (kHasCuda) {
    constexpr const char* kStaged = "values go between GPUs by way of the host";
    if (!sharing_warning(gpus).empty()) {
      return {make_staged_carrier(ranks), fmt::format("{}, as ranks share a GPU", kStaged)};
    }
    const std::string wanted = wanted_carrier(ranks);
    std::string why_not;
    if (wanted == "host") return {make_staged_carrier(ranks), kStaged};
    if (wanted == "peers" && host_count(places) > 1) {
      throw DeviceError("GPUs as peers: the ranks are on several hosts");
    }
    if (wanted != "nccl" && host_count(places) == 1) {
      auto peers = make_peer_carrier(ranks, why_not);
      if (peers != nullptr) return {std::move(peers), ""};
      if (wanted == "peers") throw DeviceError(fmt::format("GPUs as peers: {}", why_not));
    }
    auto nccl = make_nccl_carrier(ranks, kNcclLibrary, why_not);
    if (nccl != nullptr) return {std::move(nccl), ""};
    return {make_staged_carrier(ranks), fmt::format("{}: {}", kStaged, why_not)};
  } else {
    return {};
  }
}

}  // namespace tessera
