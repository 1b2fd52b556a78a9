// The commands defaults and list only print.
#include <fmt/format.h>

#include <stdexcept>

#include "operators/cells/cell_kernel.hpp"
#include "operators/cells/scatter.hpp"
#include "operators/strategy.hpp"
#include "postprocess/files/text_table.hpp"
#include "src/case/setup.hpp"
#include "src/commands.hpp"
#include "src/parameters/limits.hpp"
#include "src/solve/preconditioner_table.hpp"
#include "src/study/setup.hpp"

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

}  // namespace tessera
