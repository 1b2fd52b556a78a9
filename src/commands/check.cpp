// The command check validates a case and states its memory, but solves nothing.
#include <fmt/format.h>
#include <omp.h>

#include <memory>
#include <optional>

#include "mesh/geometry/geometric_factors.hpp"
#include "operators/cells/scatter.hpp"
#include "operators/form/operator_name.hpp"
#include "operators/strategy.hpp"
#include "operators/tensor/factor_choice.hpp"
#include "postprocess/files/human_units.hpp"
#include "postprocess/files/output_directory.hpp"
#include "postprocess/files/text_table.hpp"
#include "solvers/interruption.hpp"
#include "solvers/memory/device.hpp"
#include "src/case/choices.hpp"
#include "src/case/memory/memory_estimate.hpp"
#include "src/case/memory/multigrid_memory.hpp"
#include "src/case/memory/size_limits.hpp"
#include "src/case/model.hpp"
#include "src/case/nonlinear/nonlinear_case.hpp"
#include "src/case/notes.hpp"
#include "src/case/probes.hpp"
#include "src/case/ranks/rank_parts.hpp"
#include "src/case/setup.hpp"
#include "src/case/shape.hpp"
#include "src/case/time/time_case.hpp"
#include "src/commands.hpp"
#include "src/commands/check_ranks.hpp"
#include "src/commands/interrupt.hpp"
#include "src/commands/level_table.hpp"
#include "src/commands/nonlinear/texts.hpp"
#include "src/commands/run/solution_file.hpp"
#include "src/commands/time/tried_times.hpp"
#include "src/machine/machine.hpp"
#include "src/solve/nonlinear/nonlinear_solve.hpp"
#include "src/solve/preconditioning.hpp"
#include "src/solve/time/diffusion.hpp"

namespace tessera {
namespace {

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

// The strategy with each storage of the geometric factors that it can have in the case; why there
// is none, in a user's words, if there is none.
std::vector<StrategyName> possible_strategies(const StrategyName& strategy, const FormShape& shape,
                                              std::string& reason) {
  std::vector<StrategyName> possible;
  const auto add = [&](const StrategyName& name) {
    const std::string why_not = why_unsuitable(name, shape);
    if (why_not.empty()) {
      possible.push_back(labeled(name, shape));
    } else if (reason.empty()) {
      reason = why_not;
    }
  };
  if (!has_factor_storages(strategy.kernel, shape)) {
    add(strategy);
    return possible;
  }
  for (const FactorStorage storage : factor_storages(strategy.scatter, shape)) {
    add({strategy.kernel, strategy.scatter, storage});
  }
  return possible;
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

// A row per strategy of the case's processor, with what `fits` says of the peak of a run.
// @param parameters of the case, or of a rank's part of it
template <class Estimate, class Fits>
void print_strategies(const CaseParameters& parameters, const std::string& operator_title,
                      Estimate estimate, Fits fits) {
  const FormShape shape = case_shape(parameters);
  const auto dofs = static_cast<double>(shape.lattice.dof_count());
  TextTable table({{"strategy", Align::left},
                   {operator_title},
                   {"per DoF"},
                   {"while made"},
                   {"whole run"},
                   {"fits", Align::left}});
  for (const StrategyName& name : all_strategies(shape.processor)) {
    // A run refuses what gives wrong results.
    const ScatterInfo* const scatter = find_scatter(name.scatter);
    if (scatter != nullptr && scatter->use == ScatterUse::comparison) continue;
    std::string reason;
    for (const StrategyName& strategy : possible_strategies(name, shape, reason)) {
      const OperatorBytes bytes = operator_bytes(strategy, shape);
      const Index peak = estimate(parameters, strategy).peak().bytes();
      table.add_row({strategy.text(), bytes_text(bytes.held),
                     fmt::format("{:.1f} B", static_cast<double>(bytes.held) / dofs),
                     bytes_text(bytes.peak), bytes_text(peak), fits(peak)});
      reason.clear();
    }
    if (!reason.empty()) table.add_row({name.text(), "-", "-", "-", "-", "no: " + reason});
  }
  fmt::print("{}\n", table.text());
}

// The GPU's memory, whether there is one here or not. Returns what is free.
std::optional<Index> print_gpu(const CaseParameters& parameters, const StrategyName& chosen) {
  const std::optional<Index> available = gpu_free_bytes();
  const MemoryEstimate estimate = estimate_gpu_memory(parameters, chosen);
  print_phases(estimate);
  print_strategies(parameters, "operator on GPU", estimate_gpu_memory, [&](Index peak) {
    return !available ? "no GPU here" : peak <= *available ? "yes" : "no";
  });
  fmt::print("largest at a time on the GPU {}, free {}\n", bytes_text(estimate.peak().bytes()),
             available ? bytes_text(*available) : "unknown: there is no GPU");
  return available;
}

bool has_multigrid(const CaseParameters& parameters) {
  return parameters.solver.preconditioner == kMultigrid && solves_systems(parameters);
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

// Where the iteration of a non-linear case starts, at which all that depends on u is evaluated.
std::shared_ptr<const FormState> try_start(const CaseModel& model,
                                           const CaseParameters& parameters) {
  const HostVector<double> u = nonlinear_start(model, make_initial(parameters));
  const BilinearForm form = stiffness_form(model.problem, model.discretization);
  if (!parameters.time) require_determined(parameters, form);
  HostVector<double> r(u.size());
  assemble_residual(form, model.problem.source, flux_terms(model.problem), u, r);
  return std::make_shared<const HostState>(HostArray<double>(u.data(), u.data() + u.size()));
}

// Whether explicit steps of one length are stable, for which their operator is made. On a GPU only
// a run looks.
void try_steps(const CaseParameters& parameters, const CaseModel& model) {
  const TimeParameters& time = *parameters.time;
  if (time.method != TimeMethod::explicit_rk || !time.step ||
      case_processor(parameters) == Processor::gpu) {
    return;
  }
  TimerTree timers;
  const ProblemInTime problem(parameters);
  Diffusion<Host>(parameters, problem, model.discretization, model.units, timers)
      .require_stable_steps(parameters.time->start);
}

// Everything of a run up to the solve, but the operator: evaluates map and expressions wherever it
// does. Returns at how many times after the start.
std::size_t try_case(const LoadedCase& loaded) {
  const CaseParameters& parameters = loaded.parameters;
  CaseModel model = make_case_model(parameters);
  const std::shared_ptr<const FormState> state =
      is_nonlinear(parameters) ? try_start(model, parameters) : nullptr;
  const FieldContext context{state == nullptr ? nullptr : state->data()};
  check_geometry(model.discretization, model.problem.coefficient, model.problem.reaction, context);
  if (parameters.time) {
    check_geometry(model.discretization, model.problem.coefficient, model.problem.capacity,
                   context);
    // A step's operator has the mass, which makes it definite whatever the faces are.
    model.problem.reaction = model.problem.capacity;
  }
  std::vector<std::string> notes = case_notes(parameters);
  if (!is_nonlinear(parameters)) {
    const LinearSystem system = make_linear_system(model, make_initial(parameters));
    notes.insert(notes.end(), system.notes.begin(), system.notes.end());
  }
  const std::size_t times = try_times(parameters, model, notes);
  if (has_multigrid(parameters)) {
    BilinearForm form = stiffness_form(model.problem, model.discretization);
    form.state = state;
    add_level_note(parameters, form, notes);
  }
  for (const std::string& note : notes) fmt::print("note: {}\n", note);
  const std::optional<ScalarField> exact = make_exact(parameters);
  if (exact) try_at_nodes(model, *exact);
  const std::optional<Probes> probes = make_probes(model, loaded, exact);
  if (probes) fmt::print("probes: {}, all of them in the mesh\n", probes->size());
  if (parameters.time) try_steps(parameters, model);
  return times;
}

// The first lines: sizes, and what stands for each `auto`.
void print_case(const CaseParameters& parameters, const StrategyName& strategy,
                const std::vector<ChosenValue>& choices, const std::string& case_file) {
  const BoxMesh mesh = make_box_mesh(parameters);
  const NodeLattice lattice(mesh, parameters.space.degree);
  fmt::print("{}: {}\n\n", case_file, parameters.title.empty() ? "untitled" : parameters.title);
  fmt::print("{} DoFs ({}), {} cells of degree {}\n", lattice.dof_count(),
             human_count(static_cast<double>(lattice.dof_count())), mesh.cell_count(),
             parameters.space.degree);
  fmt::print("operator {}{}\n", operator_name(strategy.kernel, strategy.scatter),
             reason_text(choices, "operator.kernel"));
  if (strategy.factors) {
    fmt::print("factors {}{}\n", factor_storage_name(*strategy.factors),
               reason_text(choices, "operator.factors"));
  }
  const auto print_choice = [&](const char* title, const char* key, const std::string& value) {
    const std::string reason = reason_text(choices, key);
    if (!reason.empty()) fmt::print("{} {}{}\n", title, value, reason);
  };
  print_choice("scatter", "operator.scatter", parameters.operation.scatter);
  if (solves_systems(parameters)) {
    print_choice("method", "solver.method", std::string(name_of(parameters.solver.method)));
    print_choice("preconditioner", "solver.preconditioner", parameters.solver.preconditioner);
  } else {
    fmt::print("solver none: {} solves no systems\n", name_of(parameters.time->method));
  }
  print_choice("device", "run.device", std::string(name_of(parameters.run.device)));
  if (is_nonlinear(parameters)) fmt::print("nonlinear {}\n", nonlinear_text(parameters));
  if (parameters.time) fmt::print("time {}\n", time_text(*parameters.time));
  for (const std::string& note : size_notes(parameters)) fmt::print("note: {}\n", note);
  fmt::print("\n");
  if (has_multigrid(parameters)) {
    fmt::print("{}\n", level_table(planned_levels(parameters), parameters.mesh.dimension));
  }
}

// Prints all that is known of several processes that share the case from sizes alone. Returns
// whether one of them has room for the whole case, as its values are tried on the whole.
bool check_processes(const CaseParameters& parameters, const StrategyName& strategy,
                     const CheckedRanks& ranks) {
  const int count = ranks.partition.rank_count();
  print_ranks(parameters, strategy, ranks);
  fmt::print("\n");
  const Index available = available_memory_bytes();
  const Index whole = estimate_memory(parameters, strategy).phases.front().bytes();
  // Threads have memory of their own.
  omp_set_num_threads(ranks.threads);
  const auto estimate = [&](const CaseParameters&, const StrategyName& other) {
    return estimate_rank_memory(parameters, other, ranks.partition, ranks.largest, count);
  };
  const MemoryEstimate memory = estimate(ranks.part, strategy);
  const Index peak = memory.peak().bytes();
  print_phases(memory);
  if (case_processor(parameters) == Processor::cpu) {
    print_strategies(ranks.part, "operator of a process", estimate,
                     [&](Index bytes) { return bytes <= available / count ? "yes" : "no"; });
  }
  print_rank_memory(count, peak, available);
  if (parameters.output.vtk) fmt::print("{}\n", solution_size_text(parameters));
  std::fflush(stdout);
  stop_if_requested();
  require_memory("memory", memory, available);
  omp_set_num_threads(thread_count(parameters.run.threads));
  return whole <= available;
}

// The same of one process.
void check_process(const CaseParameters& parameters, const StrategyName& strategy) {
  const MemoryEstimate estimate = estimate_memory(parameters, strategy);
  const Index available = available_memory_bytes();
  print_phases(estimate);
  std::optional<Index> gpu_available;
  if (case_processor(parameters) == Processor::gpu) {
    gpu_available = print_gpu(parameters, strategy);
  } else {
    print_strategies(parameters, "operator", estimate_memory,
                     [&](Index peak) { return peak <= available ? "yes" : "no"; });
  }
  fmt::print("largest at a time {}, available {}\n", bytes_text(estimate.peak().bytes()),
             bytes_text(available));
  if (parameters.output.vtk) fmt::print("{}\n", solution_size_text(parameters));
  std::fflush(stdout);
  stop_if_requested();
  require_memory("memory", estimate, available);
  if (gpu_available) {
    require_memory("GPU memory", estimate_gpu_memory(parameters, strategy), *gpu_available);
  }
}

// What a run will not do for a reason that can change before it starts.
void print_earlier_results(const OutputParameters& output) {
  if (output.overwrite || results_in(output.directory).empty()) return;
  fmt::print("note: {} holds results: a run needs another directory, or --overwrite\n",
             output.directory);
}

// Prints all that is known from sizes alone, then tries the case.
void check_case(LoadedCase& loaded, const CheckCommand& command) {
  const CaseParameters& parameters = loaded.parameters;
  loaded.parameters.run.processes = command.ranks;
  omp_set_num_threads(thread_count(parameters.run.threads));
  const std::vector<ChosenValue> choices = resolve_choices(loaded.parameters);
  const StrategyName strategy = case_strategy(parameters);
  std::optional<CheckedRanks> ranks;
  if (command.ranks > 1) ranks = share_out(parameters, command.ranks);
  print_case(parameters, strategy, choices, command.case_file);
  if (!ranks) {
    check_process(parameters, strategy);
  } else if (!check_processes(parameters, strategy, *ranks)) {
    fmt::print("map and expressions were not tried: the whole case does not fit in here\n");
    return;
  }
  const std::size_t times = try_case(loaded);
  print_earlier_results(parameters.output);
  fmt::print(
      "map, Dirichlet values, initial and exact were evaluated at every node, the other "
      "expressions at every quadrature point, which is where a run looks at them{}: no error\n",
      times == 0 ? ""
                 : fmt::format(", at the start and {} later times up to the end; a run looks "
                               "at more",
                               times));
}

}  // namespace

ExitCode check(const CheckCommand& command) {
  const InterruptGuard guard;
  LoadedCase loaded = make_case_registry().load(command.case_file, command.overrides);
  with_case_errors(loaded, [&] { check_case(loaded, command); });
  return ExitCode::success;
}

}  // namespace tessera
