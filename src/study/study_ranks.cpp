// This file shares a study's problem out among processes, and makes their decisions one.
#include "src/study/study_ranks.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>

#include "mesh/geometry/natural_frame.hpp"
#include "solvers/interruption.hpp"
#include "solvers/memory/device.hpp"
#include "src/case/ranks/rank_partition.hpp"
#include "src/case/setup.hpp"
#include "src/commands/interrupt.hpp"
#include "src/study/solver_measurement.hpp"

namespace tessera {

StudyRanks::StudyRanks(const Communicator& ranks, Processor processor)
    : ranks_(ranks), places_(gather_places(ranks)), hosts_(host_count(places_)) {
  if (size() == 1 || processor == Processor::cpu) return;
  gpus_ = choose_gpus(ranks_, places_);
  require_gpus(gpus_, places_);
  chosen_ = choose_carrier(ranks_, gpus_, places_);
}

std::vector<std::string> StudyRanks::host_names() const {
  std::vector<std::string> names;
  names.reserve(places_.size());
  for (const RankPlace& place : places_) names.push_back(place.host);
  return names;
}

std::vector<std::string> StudyRanks::notes() const {
  if (size() == 1) return {};
  std::vector<std::string> notes = {binding_warning(places_), sharing_warning(gpus_), chosen_.note};
  std::erase(notes, "");
  return notes;
}

std::string StudyRanks::text() const {
  if (size() == 1) return "";
  const std::string gpus =
      gpus_.empty() ? "" : fmt::format("; values between GPUs go {}", chosen_.carrier->name());
  return fmt::format("{} processes, {} host{}{}", size(), hosts_, hosts_ == 1 ? "" : "s", gpus);
}

int StudyRanks::threads(int asked) const {
  if (size() == 1) return thread_count(asked);
  double threads = thread_count(asked, places_, ranks_.rank());
  ranks_.min({&threads, 1});
  return static_cast<int>(threads);
}

Index StudyRanks::available(Index limit) const {
  Index on_host = available_memory_bytes();
  if (limit > 0) on_host = std::min(limit, on_host);
  const Index share = on_host / max_ranks_on_host(places_);
  auto least = static_cast<double>(share);
  ranks_.min({&least, 1});
  return static_cast<Index>(least);
}

Index StudyRanks::available_on_gpu(Index limit) const {
  double least = 0.0;
  if constexpr (kHasCuda) {
    Index of_gpu = require_device().free_bytes;
    if (limit > 0) of_gpu = std::min(limit, of_gpu);
    const Index share = of_gpu / sharing();
    least = static_cast<double>(share);
  }
  ranks_.min({&least, 1});
  return static_cast<Index>(least);
}

MeasuredRates StudyRanks::measured_gpu_rates() const {
  if (size() > 1) return device_rates_of_ranks(ranks_, sharing());
  if constexpr (kHasCuda) return known_device_rates(require_device(), Measure::anew);
  return {};
}

std::optional<double> StudyRanks::joules_of_all(std::optional<double> mine) const {
  if (ranks_.any(!mine)) return std::nullopt;
  const bool counts = gpus_.empty() || ranks_on_gpu(gpus_, ranks_.rank()).front() == ranks_.rank();
  return ranks_.sum(counts ? *mine : 0.0);
}

int StudyRanks::sharing() const {
  return gpus_.empty() ? 1 : static_cast<int>(ranks_on_gpu(gpus_, ranks_.rank()).size());
}

MeasuredRates StudyRanks::measured_rates(int threads) const {
  return size() == 1 ? known_rates(threads, Measure::anew)
                     : rates_of_ranks(ranks_, threads, hosts_);
}

std::optional<BoxPartition> StudyRanks::partition(const StudyParameters& study,
                                                  const StudyProblem& problem) const {
  if (size() == 1) return std::nullopt;
  // Multigrid wants parts cut where its coarser meshes are cut; all others take any.
  const auto has_levels = [](const std::string& solver) {
    return solver == kMultigrid || solver == kFullMultigrid;
  };
  const bool any = std::any_of(study.solvers.begin(), study.solvers.end(), has_levels);
  std::string solver = any ? kMultigrid : kNoPreconditioner;
  // Fast diagonalization alone wants slabs.
  if (study.solvers.size() == 1) solver = study.solvers.front();
  return case_partition(solver_case(study, problem, solver), size(), hosts_);
}

void StudyRanks::stop_if_asked() const {
  agree_on_stop(ranks_);
  stop_if_requested();
}

double StudyRanks::slowest(double seconds) const {
  ranks_.max({&seconds, 1});
  return seconds;
}

Index StudyRanks::largest(Index number) const {
  return static_cast<Index>(slowest(static_cast<double>(number)));
}

bool StudyRanks::as_root_says(bool is_so) const {
  ranks_.broadcast(std::as_writable_bytes(std::span(&is_so, 1)));
  return is_so;
}

StudyPart make_study_part(const StudyParameters& study, const StudyProblem& problem,
                          const StudyRanks& ranks) {
  omp_set_num_threads(ranks.threads(problem.threads));
  const BoxMesh mesh = make_study_mesh(problem);
  const std::optional<BoxPartition> partition = ranks.partition(study, problem);
  const auto part_of = [&](const BoxMesh& whole) -> std::shared_ptr<const RankPart> {
    if (!partition) return nullptr;
    return std::make_shared<const RankPart>(ranks.all(), *partition, whole, problem.degree,
                                            ranks.carrier());
  };
  const auto physical = part_of(mesh);
  Discretization discretization = in_natural_frame(physical.get(), [&] {
    return make_study_discretization(study, problem, physical ? physical->mesh() : mesh);
  });
  auto part = part_of(mesh_in_frame(mesh, discretization));
  return {std::move(part), std::move(discretization)};
}

}  // namespace tessera
