// This file asks where ranks run, and judges it.
#include "src/machine/rank_places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "solvers/ranks/gather_texts.hpp"
#include "solvers/ranks/launched_processes.hpp"
#include "solvers/ranks/mpi_ranks.hpp"
#include "src/machine/machine.hpp"
#include "src/version.hpp"

namespace tessera {
namespace {

// How many ranks of the host may use each CPU.
std::map<int, int> users_of_cpus(const std::vector<RankPlace>& places, const std::string& host) {
  std::map<int, int> users;
  for (const RankPlace& place : places) {
    if (place.host != host) continue;
    for (const int cpu : place.cpus) ++users[cpu];
  }
  return users;
}

// Of the CPUs of a rank, those that it need not share, and its shares of the others.
double share_of(const RankPlace& place, const std::map<int, int>& users) {
  double share = 0.0;
  for (const int cpu : place.cpus) share += 1.0 / users.at(cpu);
  return share;
}

std::vector<int> ranks_on(const std::vector<RankPlace>& places, const std::string& host) {
  std::vector<int> ranks;
  for (std::size_t r = 0; r < places.size(); ++r) {
    if (places[r].host == host) ranks.push_back(static_cast<int>(r));
  }
  return ranks;
}

constexpr char kUnbound[] = "mpirun --bind-to none lets each have all";

// What is wrong on one host; empty if nothing is.
std::string host_warning(const std::vector<RankPlace>& places, const std::string& host) {
  // Sums of thirds and the like need not be whole.
  constexpr double kWhole = 1.0 - 1e-9;
  const std::map<int, int> users = users_of_cpus(places, host);
  const std::vector<int> ranks = ranks_on(places, host);
  const int count = static_cast<int>(ranks.size());
  const int host_cpus = places[ranks.front()].host_cpus;
  std::vector<int> crowded;
  std::vector<int> single;
  std::set<int> crowded_cpus;
  for (const int r : ranks) {
    const RankPlace& place = places[r];
    if (share_of(place, users) < kWhole) {
      crowded.push_back(r);
      crowded_cpus.insert(place.cpus.begin(), place.cpus.end());
    } else if (place.cores == 1) {
      single.push_back(r);
    }
  }
  const int cpus_in_use = static_cast<int>(users.size());
  if (!crowded.empty() && host_cpus < count) {
    return fmt::format("{} ranks on {} have {} core{}: fewer ranks are faster", count, host,
                       host_cpus, host_cpus == 1 ? "" : "s");
  }
  if (!crowded.empty()) {
    return fmt::format("ranks {} on {} share core{} {} of {}: {}", cpus_text(crowded), host,
                       crowded_cpus.size() == 1 ? "" : "s",
                       cpus_text({crowded_cpus.begin(), crowded_cpus.end()}), host_cpus, kUnbound);
  }
  if (!single.empty() && 2 * cpus_in_use <= host_cpus) {
    return fmt::format("rank{} {} on {} ha{} one core, and {} of {} are idle: {}",
                       single.size() == 1 ? "" : "s", cpus_text(single), host,
                       single.size() == 1 ? "s" : "ve", host_cpus - cpus_in_use, host_cpus,
                       kUnbound);
  }
  return "";
}

}  // namespace

RankPlace this_place() {
  RankPlace place{host_name(), usable_cpus(), static_cast<int>(one_cpu_per_core().size()), 1};
  place.host_cpus = host_cpu_count();
  return place;
}

std::vector<RankPlace> gather_places(const Communicator& ranks) {
  const RankPlace mine = this_place();
  const nlohmann::json text = {mine.host, mine.cpus, mine.cores, mine.host_cpus};
  std::vector<RankPlace> places;
  for (const std::string& one :
       gather_texts(ranks, text.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace))) {
    const nlohmann::json place = nlohmann::json::parse(one);
    places.push_back({place[0], place[1], place[2], place[3]});
  }
  return places;
}

int threads_of_rank(const std::vector<RankPlace>& places, int rank) {
  const RankPlace& place = places.at(static_cast<std::size_t>(rank));
  constexpr double kRounding = 1e-9;
  const double share = share_of(place, users_of_cpus(places, place.host));
  return std::max(1, static_cast<int>(share + kRounding));
}

int thread_count(int threads, const std::vector<RankPlace>& places, int rank) {
  return threads > 0 ? threads : threads_of_rank(places, rank);
}

int host_count(const std::vector<RankPlace>& places) {
  std::set<std::string> hosts;
  for (const RankPlace& place : places) hosts.insert(place.host);
  return static_cast<int>(hosts.size());
}

int max_ranks_on_host(const std::vector<RankPlace>& places) {
  std::map<std::string, int> count;
  int most = 0;
  for (const RankPlace& place : places) most = std::max(most, ++count[place.host]);
  return most;
}

std::string cpus_text(const std::vector<int>& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    text += text.empty() ? "" : ", ";
    text += last == i ? fmt::format("{}", cpus[i]) : fmt::format("{}-{}", cpus[i], cpus[last]);
    i = last + 1;
  }
  return text;
}

std::string binding_warning(const std::vector<RankPlace>& places) {
  std::set<std::string> asked;
  for (const RankPlace& place : places) {
    if (!asked.insert(place.host).second) continue;
    std::string warning = host_warning(places, place.host);
    if (!warning.empty()) return warning;
  }
  return "";
}

void require_same_version(const Communicator& ranks, std::string_view version) {
  const std::vector<std::string> versions = gather_texts(ranks, std::string(version));
  const std::vector<std::string> hosts = gather_texts(ranks, host_name());
  for (std::size_t r = 1; r < versions.size(); ++r) {
    if (versions[r] == versions[0]) continue;
    throw MpiError(
        fmt::format("the processes are of different versions: rank 0 on {} is {}, rank "
                    "{} on {} is {}; all hosts need the same program",
                    hosts[0], versions[0], r, hosts[r], versions[r]));
  }
}

void require_same_version(const Communicator& ranks) {
  require_same_version(ranks, fmt::format("{} ({})", kVersion, kCommit));
}

}  // namespace tessera
