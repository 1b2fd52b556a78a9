// The command info prints what the machine has, and where the processes of a run are.
#include <fmt/format.h>
#include <omp.h>

#include <string>
#include <vector>

#include "postprocess/files/human_units.hpp"
#include "postprocess/files/text_table.hpp"
#include "solvers/memory/device.hpp"
#include "solvers/ranks/launched_processes.hpp"
#include "src/commands.hpp"
#include "src/commands/run/solution_file.hpp"
#include "src/commands/standard_streams.hpp"
#include "src/machine/known_rates.hpp"
#include "src/machine/libraries.hpp"
#include "src/machine/machine.hpp"
#include "src/machine/rank_gpus.hpp"
#include "src/machine/rank_places.hpp"
#include "src/version.hpp"

namespace tessera {
namespace {

// Caches, if there are any, and the peak of `who`.
void add_peaks(TextTable& table, const std::string& who, const MeasuredRates& rates) {
  std::vector<std::string> caches;
  for (const CacheRate& cache : rates.caches) {
    caches.push_back(
        fmt::format("{} {}", cache.name, human_bytes_per_second(cache.bytes_per_second)));
  }
  if (!caches.empty()) {
    table.add_row({"caches, " + who, fmt::format("{}", fmt::join(caches, ", "))});
  }
  table.add_row({"peak, " + who, fmt::format("fma {} in double, {} in single precision",
                                             human_flops_per_second(rates.fma.in_double),
                                             human_flops_per_second(rates.fma.in_single))});
}

// What the GPU does, if there is one.
void add_gpu_rates(TextTable& table, Measure when) {
  if constexpr (kHasCuda) {
    try {
      const MeasuredRates rates = known_device_rates(require_device(), when);
      table.add_row(
          {"bandwidth, GPU", fmt::format("copy {}", human_bytes_per_second(rates.memory.copy))});
      add_peaks(table, "GPU", rates);
    } catch (const NoDevice&) {
      // The line above says so.
    }
  }
}

// Of one process: others on the same machine would be measured with it.
void add_rates(TextTable& table, Measure when) {
  const int threads = omp_get_num_procs();
  for (int n : {1, threads}) {
    const MeasuredRates rates = known_rates(n, when);
    const std::string who = fmt::format("{} thread{}", n, n == 1 ? "" : "s");
    table.add_row({"bandwidth, " + who, fmt::format("copy {}, update {}, read {}",
                                                    human_bytes_per_second(rates.memory.copy),
                                                    human_bytes_per_second(rates.memory.update),
                                                    human_bytes_per_second(rates.memory.read))});
    add_peaks(table, who, rates);
    if (threads == 1) break;
  }
}

void add_machine(TextTable& table) {
  const Machine machine = describe_machine();
  table.add_row({"compiler", kCompiler});
  table.add_row({"libraries", library_versions()});
  table.add_row({"system", machine.os});
  table.add_row({"CPU", machine.cpu_model});
  table.add_row({"cores", fmt::format("{} physical, {} logical", machine.physical_cores,
                                      machine.logical_cores)});
  table.add_row({"SIMD of this build", machine.simd});
  table.add_row(
      {"caches", fmt::format("L1d {}, L2 {}, L3 {}", bytes_text(machine.l1d_bytes),
                             bytes_text(machine.l2_bytes), bytes_text(machine.l3_bytes))});
  table.add_row({"memory", fmt::format("{}, {} available", bytes_text(machine.memory_bytes),
                                       bytes_text(machine.available_bytes))});
}

TextTable info_table() { return TextTable({{program_name(), Align::left}, {"", Align::left}}); }

void print_process(const InfoCommand& command) {
  TextTable table = info_table();
  add_machine(table);
  add_rates(table, command.measure);
  table.add_row({"GPU", gpu_summary()});
  add_gpu_rates(table, command.measure);
  fmt::print("{}", table.text());
  if (const auto file = rates_file(); !file.empty()) {
    fmt::print("Rates are measured once, kept in {}, and renewed by --measure.\n", file.string());
  }
}

void print_places(const std::vector<RankPlace>& places, const std::vector<RankGpu>& gpus) {
  TextTable table(
      {{"rank"}, {"host", Align::left}, {"cores", Align::left}, {"threads"}, {"GPU", Align::left}});
  for (std::size_t r = 0; r < places.size(); ++r) {
    const RankGpu& gpu = gpus[r];
    table.add_row({fmt::format("{}", r), places[r].host, cpus_text(places[r].cpus),
                   fmt::format("{}", threads_of_rank(places, static_cast<int>(r))),
                   gpu.why_none.empty() ? gpu.name + ", " + gpu.uuid : "none"});
  }
  fmt::print("{}", table.text());
  const std::string shared = sharing_warning(gpus);
  if (!shared.empty()) fmt::print("warning: {}\n", shared);
  const std::string warning = binding_warning(places);
  if (!warning.empty()) fmt::print("warning: {}\n", warning);
}

// By one of the processes that a build without MPI takes for strangers.
ExitCode print_strangers(int count) {
  if (launched_rank() != 0) return ExitCode::success;
  TextTable table = info_table();
  add_machine(table);
  fmt::print("{}", table.text());
  fmt::print("{} processes were started, but this build has no MPI: it computes on one\n", count);
  return ExitCode::success;
}

}  // namespace

ExitCode info(const InfoCommand& command, const Communicator& ranks) {
  if (ranks.size() == 1) {
    if (const int processes = launched_processes(); processes > 1) {
      return print_strangers(processes);
    }
    print_process(command);
    return ExitCode::success;
  }
  require_same_version(ranks);
  const std::vector<RankPlace> places = gather_places(ranks);
  const std::vector<RankGpu> gpus = choose_gpus(ranks, places);
  if (ranks.rank() != 0) return ExitCode::success;
  TextTable table = info_table();
  add_machine(table);
  table.add_row({"GPU", gpu_summary()});
  fmt::print("{}\n", table.text());
  print_places(places, gpus);
  fmt::print("Rates are those of one process: tessera info without mpirun has them.\n");
  return ExitCode::success;
}

}  // namespace tessera
