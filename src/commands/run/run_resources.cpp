// This file takes threads, memory and GPUs for a run.
#include "src/commands/run/run_resources.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <cstdint>
#include <string>
#include <utility>

#include "postprocess/timing/gpu_energy.hpp"
#include "src/case/memory/memory_estimate.hpp"
#include "src/case/ranks/rank_partition.hpp"
#include "src/case/ranks/rank_parts.hpp"
#include "src/machine/known_rates.hpp"
#include "src/machine/machine.hpp"

namespace tessera {

void RunResources::find_ranks() {
  if (ranks_.size() == 1) return;
  places_ = gather_places(ranks_);
  if (run_.on_gpu()) choose_rank_gpus();
}

void RunResources::take() {
  peak_bytes_ = ranks_.size() > 1 ? take_rank() : take_process();
  if (run_.on_gpu()) take_gpu();
}

Index RunResources::take_process() const {
  const int threads = thread_count(run_.parameters.run.threads);
  omp_set_num_threads(threads);
  const int cpus = omp_get_num_procs();
  if (threads > cpus) {
    run_.notes.add(fmt::format("{} threads take turns on {} {}; run.threads = {} is faster",
                               threads, cpus, cpus == 1 ? "CPU" : "CPUs", cpus));
  }
  std::int64_t wanted = 1;
  for (const std::int64_t along : run_.parameters.run.ranks.along) wanted *= along;
  if (wanted > 1) {
    run_.notes.add(fmt::format("{} is for {} processes, and there is one: mpirun -n {} starts them",
                               kRanksKey, wanted, wanted));
  }
  const MemoryEstimate estimate = estimate_memory(run_.parameters, run_.strategy);
  require_memory("memory", estimate, available_memory_bytes());
  return estimate.peak().bytes();
}

Index RunResources::take_rank() {
  // As many on all ranks: the bits of levels that every rank has depend on it.
  double threads = thread_count(run_.parameters.run.threads, places_, ranks_.rank());
  ranks_.min({&threads, 1});
  omp_set_num_threads(static_cast<int>(threads));
  run_.parameters.run.hosts = host_count(places_);
  partition_ = case_partition(run_.parameters, ranks_.size(), run_.parameters.run.hosts);
  const BoxPartition& partition = *partition_;
  const int degree = run_.parameters.space.degree;
  const int on_host = max_ranks_on_host(places_);
  const MemoryEstimate estimate = estimate_rank_memory(run_.parameters, run_.strategy, partition,
                                                       largest_part(partition, degree), on_host);
  // The same decision on all ranks.
  double available = static_cast<double>(available_memory_bytes()) / on_host;
  ranks_.min({&available, 1});
  require_memory("memory of a process", estimate, static_cast<Index>(available));
  std::vector<std::string> hosts;
  hosts.reserve(places_.size());
  for (const RankPlace& place : places_) hosts.push_back(place.host);
  run_.ranks = summarize_ranks(partition, degree, hosts, RankExchange::mpi, omp_get_max_threads());
  const std::string warning = binding_warning(places_);
  if (!warning.empty()) run_.notes.add(warning);
  return estimate.peak().bytes() * on_host;
}

// Before anything happens on a GPU.
void RunResources::choose_rank_gpus() {
  gpus_ = choose_gpus(ranks_, places_);
  require_gpus(gpus_, places_);
  ChosenCarrier chosen = choose_carrier(ranks_, gpus_, places_);
  carrier_ = std::move(chosen.carrier);
  for (const std::string& note : {sharing_warning(gpus_), chosen.note}) {
    if (!note.empty()) run_.notes.add(note);
  }
}

void RunResources::take_rank_gpu() {
  if constexpr (kHasCuda) {
    run_.gpu = require_device();
    const MemoryEstimate estimate =
        estimate_rank_gpu_memory(run_.parameters, run_.strategy, *partition_,
                                 largest_part(*partition_, run_.parameters.space.degree));
    // The same decision on all ranks.
    double available = static_cast<double>(run_.gpu.free_bytes) /
                       static_cast<double>(ranks_on_gpu(gpus_, ranks_.rank()).size());
    ranks_.min({&available, 1});
    require_memory("GPU memory of a process", estimate, static_cast<Index>(available));
    gpu_peak_bytes_ = estimate.peak().bytes();
    for (const RankGpu& gpu : gpus_) run_.ranks->gpus.push_back(gpu.name + ", " + gpu.uuid);
    run_.ranks->between_gpus = carrier_->name();
  }
}

void RunResources::take_gpu() {
  if constexpr (kHasCuda) {
    if (ranks_.size() > 1) return take_rank_gpu();
    start_gpu_energy();
    run_.gpu = require_device();
    const MemoryEstimate estimate = estimate_gpu_memory(run_.parameters, run_.strategy);
    require_memory("GPU memory", estimate, run_.gpu.free_bytes);
    gpu_peak_bytes_ = estimate.peak().bytes();
    // Now: afterwards there may be no memory for it.
    run_.rates = known_device_rates(run_.gpu);
  }
}

}  // namespace tessera
