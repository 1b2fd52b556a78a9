// This file prints grids, parts and forecasts.
#include "src/commands/check_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "mesh/box_text.hpp"
#include "postprocess/files/human_units.hpp"
#include "src/case/memory/application_bytes.hpp"
#include "src/case/ranks/rank_efficiency.hpp"
#include "src/case/ranks/rank_partition.hpp"
#include "src/case/ranks/rank_parts.hpp"
#include "src/case/shape.hpp"
#include "src/machine/known_rates.hpp"
#include "src/machine/machine.hpp"

namespace tessera {
namespace {

std::string part_text(const BoxPartition& partition, int rank, int degree) {
  return fmt::format("{} cells, {} DoFs",
                     box_text(partition.cells(rank).counts, partition.dimension()),
                     part_dofs(partition, rank, degree));
}

void print_forecast(const RankForecast& forecast, int ranks, double copy_rate) {
  fmt::print(
      "foreseen: parallel efficiency {} (an application takes {}, of which {} is an equal share of "
      "the work)\n",
      human_percent(forecast.efficiency()), human_seconds(forecast.seconds),
      human_seconds(forecast.work_seconds));
  fmt::print(
      "  if {} processes on one host like this one share its {}, and messages pass through its "
      "memory;\n  coarse levels of multigrid and sums of the iteration are left out\n",
      ranks, human_bytes_per_second(copy_rate));
  if (forecast.pays_from_dofs == 0) {
    fmt::print("  at least {} with any number of DoFs\n", human_percent(kGoodEfficiency));
    return;
  }
  fmt::print("  at least {} from about {} DoFs a process on\n", human_percent(kGoodEfficiency),
             human_count(static_cast<double>(forecast.pays_from_dofs)));
}

}  // namespace

CheckedRanks share_out(const CaseParameters& parameters, int ranks) {
  BoxPartition partition = case_partition(parameters, ranks);
  const int largest = largest_part(partition, parameters.space.degree);
  const int threads = parameters.run.threads > 0
                          ? parameters.run.threads
                          : std::max(1, thread_count(parameters.run.threads) / ranks);
  CaseParameters part = part_case(parameters, partition, largest);
  return {std::move(partition), std::move(part), largest, threads};
}

void print_ranks(const CaseParameters& parameters, const StrategyName& strategy,
                 const CheckedRanks& ranks) {
  const BoxPartition& partition = ranks.partition;
  const int degree = parameters.space.degree;
  const int count = partition.rank_count();
  const bool is_chosen = parameters.run.ranks.along.empty();
  fmt::print("{} processes as {}{}\n", count, box_text(partition.grid(), partition.dimension()),
             is_chosen ? " (auto: the least exchange within one host)" : "");
  fmt::print("largest part {}\n", part_text(partition, ranks.largest, degree));
  fmt::print("smallest part {}\n", part_text(partition, smallest_part(partition, degree), degree));
  if (case_processor(parameters) == Processor::gpu) {
    const MemoryEstimate memory =
        estimate_rank_gpu_memory(parameters, strategy, partition, ranks.largest);
    fmt::print("a GPU each; largest at a time of a process {} of GPU memory\n",
               bytes_text(memory.peak().bytes()));
    return;
  }
  const FormShape shape = case_shape(ranks.part);
  const double bytes_per_dof = static_cast<double>(application_bytes(strategy, shape)) /
                               static_cast<double>(shape.lattice.size());
  const double copy_rate = known_rates(thread_count(0)).memory.copy;
  print_forecast(forecast_ranks(make_box_mesh(parameters), degree, partition,
                                cost_on_host(bytes_per_dof, copy_rate, count)),
                 count, copy_rate);
}

void print_rank_memory(int ranks, Index rank_bytes, Index available) {
  const Index fitting = rank_bytes > 0 ? available / rank_bytes : ranks;
  fmt::print("largest at a time of a process {}, of {} on one host {}, available {}\n",
             bytes_text(rank_bytes), ranks,
             human_bytes(static_cast<double>(rank_bytes) * static_cast<double>(ranks)),
             bytes_text(available));
  if (fitting >= ranks) return;
  fmt::print("note: {} process{} of these fit{} into a host like this one\n", fitting,
             fitting == 1 ? "" : "es", fitting == 1 ? "s" : "");
}

}  // namespace tessera
