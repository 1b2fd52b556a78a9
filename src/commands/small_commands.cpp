// The commands defaults, list and info only print.
#include <fmt/format.h>
#include <omp.h>

#include <stdexcept>

#include "operators/cells/cell_kernel.hpp"
#include "operators/cells/scatter.hpp"
#include "operators/strategy.hpp"
#include "postprocess/files/human_units.hpp"
#include "postprocess/files/text_table.hpp"
#include "solvers/memory/device.hpp"
#include "src/case/setup.hpp"
#include "src/commands.hpp"
#include "src/commands/run/solution_file.hpp"
#include "src/machine/known_rates.hpp"
#include "src/machine/libraries.hpp"
#include "src/machine/machine.hpp"
#include "src/parameters/limits.hpp"
#include "src/solve/preconditioner_table.hpp"
#include "src/study/setup.hpp"
#include "src/version.hpp"

namespace tessera {
namespace {

template <class Parameters>
std::string text_of(const Registry<Parameters>& registry, DefaultsFormat format) {
  switch (format) {
    case DefaultsFormat::toml:
      return registry.defaults_text();
    case DefaultsFormat::schema:
      return registry.json_schema();
    case DefaultsFormat::markdown:
      return registry.reference();
  }
  throw std::logic_error("a format of the defaults without a text");
}

// Where a kernel or a scatter policy runs.
template <class Row>
std::string processors(const Row& row) {
  if (!row.runs_on(Processor::gpu)) return "CPU";
  return row.runs_on(Processor::cpu) ? "CPU, GPU" : "GPU";
}

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

}  // namespace

ExitCode print_defaults(const DefaultsCommand& command) {
  fmt::print("{}", command.kind == FileKind::case_file
                       ? text_of(make_case_registry(), command.format)
                       : text_of(make_study_registry(), command.format));
  return ExitCode::success;
}

ExitCode list(const ListCommand&) {
  TextTable kernels({{"kernel", Align::left},
                     {"runs on", Align::left},
                     {"scatter", Align::left},
                     {"dimensions", Align::left},
                     {"degrees with a fast path", Align::left},
                     {"memory", Align::left}});
  for (const KernelInfo& kernel : kernel_table()) {
    kernels.add_row({std::string(kernel.name), processors(kernel),
                     kernel.scatter == TakesScatter::yes ? "one of those below" : "none", "2, 3",
                     std::string(kernel.fast_degrees), std::string(kernel.memory)});
  }
  fmt::print("{}\n", kernels.text());
  for (const KernelInfo& kernel : kernel_table()) {
    fmt::print("  {:<12} {}\n", kernel.name, kernel.summary);
  }
  fmt::print("\nDegrees up to {} are possible with every kernel.\n\n", kMaxDegree);
  TextTable scatters({{"scatter", Align::left},
                      {"runs on", Align::left},
                      {"kernels", Align::left},
                      {"same bits in every run", Align::left},
                      {"", Align::left}});
  for (const ScatterInfo& scatter : scatter_table()) {
    scatters.add_row({std::string(scatter.name), processors(scatter),
                      scatter.only_kernel.empty() ? "all" : std::string(scatter.only_kernel),
                      scatter.deterministic == Deterministic::yes ? "yes" : "no",
                      std::string(scatter.summary)});
  }
  fmt::print("{}\n", scatters.text());
  TextTable preconditioners({{"preconditioner", Align::left}, {"", Align::left}});
  for (const PreconditionerInfo& row : preconditioner_table()) {
    preconditioners.add_row({std::string(row.name), std::string(row.summary)});
  }
  fmt::print("{}", preconditioners.text());
  return ExitCode::success;
}

ExitCode info(const InfoCommand& command) {
  const Machine machine = describe_machine();
  const int threads = omp_get_num_procs();
  TextTable table({{program_name(), Align::left}, {"", Align::left}});
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
  for (int n : {1, threads}) {
    const MeasuredRates rates = known_rates(n, command.measure);
    const std::string who = fmt::format("{} thread{}", n, n == 1 ? "" : "s");
    table.add_row({"bandwidth, " + who, fmt::format("copy {}, update {}, read {}",
                                                    human_bytes_per_second(rates.memory.copy),
                                                    human_bytes_per_second(rates.memory.update),
                                                    human_bytes_per_second(rates.memory.read))});
    add_peaks(table, who, rates);
    if (threads == 1) break;
  }
  table.add_row({"GPU", gpu_summary()});
  add_gpu_rates(table, command.measure);
  fmt::print("{}", table.text());
  if (const auto file = rates_file(); !file.empty()) {
    fmt::print("Rates are measured once, kept in {}, and renewed by --measure.\n", file.string());
  }
  return ExitCode::success;
}

}  // namespace tessera
