// The command check validates a case and states its memory, but solves nothing.
#include <fmt/format.h>
#include <omp.h>

#include <optional>
#include <set>

#include "mesh/geometry/geometric_factors.hpp"
#include "operators/form/operator_name.hpp"
#include "operators/strategy.hpp"
#include "postprocess/files/human_units.hpp"
#include "postprocess/files/text_table.hpp"
#include "solvers/interruption.hpp"
#include "solvers/memory/device.hpp"
#include "src/case/geometry.hpp"
#include "src/case/kernel_choice.hpp"
#include "src/case/memory_estimate.hpp"
#include "src/case/model.hpp"
#include "src/case/notes.hpp"
#include "src/case/preconditioner_memory.hpp"
#include "src/case/setup.hpp"
#include "src/case/size_limits.hpp"
#include "src/commands.hpp"
#include "src/commands/interrupt.hpp"
#include "src/commands/level_table.hpp"
#include "src/machine/machine.hpp"
#include "src/solve/preconditioning.hpp"

namespace tessera {
namespace {

std::string bytes_text(Index bytes) { return human_bytes(static_cast<double>(bytes)); }

void print_phases(const MemoryEstimate& estimate) {
  TextTable table({{"memory", Align::left}, {"bytes"}});
  for (const MemoryPhase& phase : estimate.phases) {
    table.add_row({phase.name, bytes_text(phase.bytes())});
    for (const MemoryPart& part : phase.parts) {
      if (part.bytes > 0) table.add_row({"  " + part.name, bytes_text(part.bytes)});
    }
  }
  fmt::print("{}\n", table.text());
}

// The case with each form of the geometric factors that the strategy can have in it.
std::vector<CaseParameters> with_each_geometry(const CaseParameters& parameters,
                                               const StrategyName& strategy) {
  CaseParameters variant = parameters;
  variant.operation.scatter = strategy.scatter;
  const GeometrySetting setting = case_geometry_setting(variant);
  std::vector<CaseParameters> variants;
  const auto add = [&] {
    if (why_no_scatter(variant, strategy).empty()) variants.push_back(variant);
  };
  if (!has_geometry_forms(strategy.kernel, setting.factors)) {
    add();
    return variants;
  }
  for (const GeometryForm form : geometry_forms(setting)) {
    variant.space.geometry = choice_of(form);
    add();
  }
  return variants;
}

// Adds a row without bytes if the strategy does not suit the case; returns whether it did.
bool add_unsuitable(const StrategyName& strategy, const CaseParameters& parameters,
                    TextTable& table) {
  std::string reason = why_unsuitable(strategy.kernel, parameters);
  if (reason.empty() && with_each_geometry(parameters, strategy).empty()) {
    CaseParameters stored = parameters;
    stored.space.geometry = GeometryChoice::stored;
    reason = why_no_scatter(stored, strategy);
  }
  if (!reason.empty()) table.add_row({strategy.text(), "-", "-", "-", "-", "no: " + reason});
  return !reason.empty();
}

// The GPU's free memory; nothing where there is no GPU.
std::optional<Index> gpu_free_bytes() {
  if constexpr (kHasCuda) {
    try {
      return require_device().free_bytes;
    } catch (const NoDevice&) {
      return std::nullopt;
    }
  } else {
    return std::nullopt;
  }
}

// The GPU's memory, whether there is one here or not. Returns what is free.
std::optional<Index> print_gpu(const CaseParameters& parameters, const StrategyName& chosen) {
  const std::optional<Index> available = gpu_free_bytes();
  const MemoryEstimate estimate = estimate_gpu_memory(parameters, chosen);
  print_phases(estimate);
  const double dofs =
      static_cast<double>(NodeLattice(make_box_mesh(parameters), parameters.space.degree).size());
  TextTable table({{"strategy", Align::left},
                   {"operator on GPU"},
                   {"a DoF"},
                   {"while made"},
                   {"whole run"},
                   {"fits", Align::left}});
  std::set<std::string> shown;
  for (const StrategyName& strategy : all_strategies(Processor::gpu)) {
    if (add_unsuitable(strategy, parameters, table)) continue;
    for (const CaseParameters& variant : with_each_geometry(parameters, strategy)) {
      // A stencil is the same for every scatter policy.
      if (!shown.insert(strategy_text(variant, strategy)).second) continue;
      const StrategyBytes bytes = strategy_bytes(variant, strategy);
      const Index peak = estimate_gpu_memory(variant, strategy).peak().bytes();
      table.add_row({strategy_text(variant, strategy), bytes_text(bytes.held),
                     fmt::format("{:.1f} B", static_cast<double>(bytes.held) / dofs),
                     bytes_text(bytes.peak), bytes_text(peak),
                     !available           ? "no GPU here"
                     : peak <= *available ? "yes"
                                          : "no"});
    }
  }
  fmt::print("{}\n", table.text());
  fmt::print("largest at a time on the GPU {}, free {}\n", bytes_text(estimate.peak().bytes()),
             available ? bytes_text(*available) : "unknown: there is no GPU");
  return available;
}

void print_strategies(const CaseParameters& parameters, Index available) {
  const double dofs =
      static_cast<double>(NodeLattice(make_box_mesh(parameters), parameters.space.degree).size());
  TextTable table({{"strategy", Align::left},
                   {"operator"},
                   {"a DoF"},
                   {"while made"},
                   {"whole run"},
                   {"fits", Align::left}});
  std::set<std::string> shown;
  for (const StrategyName& strategy : all_strategies()) {
    if (add_unsuitable(strategy, parameters, table)) continue;
    for (const CaseParameters& variant : with_each_geometry(parameters, strategy)) {
      // A stencil is the same for every scatter policy.
      if (!shown.insert(strategy_text(variant, strategy)).second) continue;
      const StrategyBytes bytes = strategy_bytes(variant, strategy);
      const Index peak = estimate_memory(variant, strategy).peak().bytes();
      table.add_row({strategy_text(variant, strategy), bytes_text(bytes.held),
                     fmt::format("{:.1f} B", static_cast<double>(bytes.held) / dofs),
                     bytes_text(bytes.peak), bytes_text(peak), peak <= available ? "yes" : "no"});
    }
  }
  fmt::print("{}\n", table.text());
}

// Fewer levels than sizes alone make, as a run will find when it makes them.
void add_level_note(const CaseParameters& parameters, const BilinearForm& form,
                    std::vector<std::string>& notes) {
  Hierarchy hierarchy(form, multigrid_options(parameters).rules);
  const std::size_t planned = hierarchy.size();
  const std::string reason = drop_unresolved(hierarchy);
  if (reason.empty()) return;
  notes.push_back(fmt::format("multigrid will have the first {} of the {} levels above: {}",
                              hierarchy.size(), planned, reason));
}

// Everything of a run up to the solve, but the operator: evaluates map and expressions everywhere.
void try_case(const CaseParameters& parameters) {
  const CaseModel model = make_case_model(parameters);
  check_geometry(model.discretization, model.problem.coefficient);
  LinearSystem system = make_linear_system(model, make_initial(parameters));
  std::vector<std::string> notes = case_notes(parameters);
  notes.insert(notes.end(), system.notes.begin(), system.notes.end());
  if (parameters.solver.preconditioner == PreconditionerChoice::multigrid) {
    add_level_note(parameters, stiffness_form(model.problem, model.discretization), notes);
  }
  for (const std::string& note : notes) fmt::print("note: {}\n", note);
  if (const auto exact = make_exact(parameters)) interpolate(model, *exact, system.x);
}

// Prints all that is known from sizes alone, then tries the case.
void check_case(LoadedCase& loaded, const std::string& case_file) {
  const std::string choice = choose_kernel(loaded.parameters);
  const std::string geometry = choose_geometry(loaded.parameters);
  const CaseParameters& parameters = loaded.parameters;
  omp_set_num_threads(parameters.run.threads > 0 ? parameters.run.threads : omp_get_num_procs());
  const BoxMesh mesh = make_box_mesh(parameters);
  const NodeLattice lattice(mesh, parameters.space.degree);
  const StrategyName strategy{parameters.operation.kernel, parameters.operation.scatter};
  const MemoryEstimate estimate = estimate_memory(parameters, strategy);
  const Index available = available_memory_bytes();

  fmt::print("{}: {}\n\n", case_file, parameters.title.empty() ? "untitled" : parameters.title);
  fmt::print("{} DoFs ({}), {} cells of degree {}\n", lattice.size(),
             human_count(static_cast<double>(lattice.size())), mesh.cell_count(),
             parameters.space.degree);
  const OperatorLabel label = case_label(parameters, strategy);
  fmt::print("operator {}{}\n", operator_name(label.kernel, label.scatter),
             choice.empty() ? "" : fmt::format(" ({})", choice));
  if (!geometry.empty()) fmt::print("geometry {}\n", geometry);
  for (const std::string& note : size_notes(parameters)) fmt::print("note: {}\n", note);
  fmt::print("\n");
  if (parameters.solver.preconditioner == PreconditionerChoice::multigrid) {
    fmt::print("{}\n", level_table(planned_levels(parameters)));
  }
  print_phases(estimate);
  std::optional<Index> gpu_available;
  if (case_processor(parameters) == Processor::gpu) {
    gpu_available = print_gpu(parameters, strategy);
  } else {
    print_strategies(parameters, available);
  }
  fmt::print("largest at a time {}, available {}\n", bytes_text(estimate.peak().bytes()),
             bytes_text(available));
  std::fflush(stdout);
  stop_if_requested();
  require_memory(estimate, available);
  if (gpu_available) require_gpu_memory(estimate_gpu_memory(parameters, strategy), *gpu_available);
  try_case(parameters);
  fmt::print("map and expressions were evaluated at every node and quadrature point: no error\n");
}

}  // namespace

ExitCode check(const CheckCommand& command) {
  const InterruptGuard guard;
  LoadedCase loaded = make_case_registry().load(command.case_file, command.overrides);
  with_case_errors(loaded, [&] { check_case(loaded, command.case_file); });
  return ExitCode::success;
}

}  // namespace tessera
