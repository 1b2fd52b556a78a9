// A RankPlace is where a rank runs: its host, and the CPUs that it may use there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "solvers/ranks/communicator.hpp"

namespace tessera {

/// Where one rank runs.
struct RankPlace {
  std::string host;
  /// The numbers of the logical CPUs in its affinity, increasing.
  std::vector<int> cpus;
  /// The physical cores that these are of.
  int cores = 1;
  /// The logical CPUs of the host, whoever may use them, but not more than a container's quota.
  int host_cpus = 1;

  bool operator==(const RankPlace&) const = default;
};

/// Of this process.
RankPlace this_place();

/// The places of all ranks, in their order. All ranks call it together.
std::vector<RankPlace> gather_places(const Communicator& ranks);

/// The threads of a rank: its CPUs, of which those that several ranks of its host may use count for
/// each as one shared out among them; at least 1. Of ranks with the same CPUs each gets as many.
int threads_of_rank(const std::vector<RankPlace>& places, int rank);

/// The same, but what a file asks for if that is not 0.
int thread_count(int threads, const std::vector<RankPlace>& places, int rank);

/// How many hosts these are, and how many ranks the fullest one has.
int host_count(const std::vector<RankPlace>& places);
int max_ranks_on_host(const std::vector<RankPlace>& places);

/// "0-3, 8"
std::string cpus_text(const std::vector<int>& cpus);

/// What is wrong with where ranks are bound, in one line that says what to do: several have to
/// share a CPU though others are idle, or there are not enough, or each has a single core while
/// others are idle. Empty if nothing is.
std::string binding_warning(const std::vector<RankPlace>& places);

/// All ranks call it together, with the version of their program.
/// @throws MpiError on all ranks, with the same message, unless all versions are the same
void require_same_version(const Communicator& ranks, std::string_view version);
/// The same with the version and the commit of this build.
void require_same_version(const Communicator& ranks);

}  // namespace tessera
