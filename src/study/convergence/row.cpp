// This file solves a case for its errors.
#include "src/study/convergence/row.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <optional>

#include "postprocess/timing/timers.hpp"
#include "solvers/interruption.hpp"
#include "solvers/memory/device.hpp"
#include "src/case/choices.hpp"
#include "src/case/memory/memory_estimate.hpp"
#include "src/case/model.hpp"
#include "src/case/nonlinear/nonlinear_case.hpp"
#include "src/case/shape.hpp"
#include "src/machine/machine.hpp"
#include "src/solve/evaluation.hpp"
#include "src/solve/nonlinear/nonlinear_solve.hpp"
#include "src/solve/solve.hpp"
#include "src/study/convergence/meshes.hpp"

namespace tessera {
void require_room(const CaseParameters& parameters) {
  const StrategyName strategy = case_strategy(parameters);
  require_memory("memory", estimate_memory(parameters, strategy), available_memory_bytes());
  if constexpr (kHasCuda) {
    if (case_processor(parameters) == Processor::gpu) {
      require_memory("GPU memory", estimate_gpu_memory(parameters, strategy),
                     require_device().free_bytes);
    }
  }
}

namespace {

double epsilon_of(Precision precision) {
  return precision == Precision::single_precision
             ? static_cast<double>(std::numeric_limits<float>::epsilon())
             : std::numeric_limits<double>::epsilon();
}

bool is_solved(const SolveReport& report, Precision precision) {
  return report.status == SolveStatus::converged ||
         (report.status == SolveStatus::stagnated &&
          report.true_relative_residual < std::sqrt(epsilon_of(precision)));
}

SolvedMesh mesh_of(const CaseParameters& parameters, const Evaluation& evaluation,
                   const SolveReport& report) {
  const SolutionNumbers& numbers = evaluation.solution;
  const ErrorNorms& error = *evaluation.error;
  SolvedMesh mesh;
  const BoxMesh box = make_box_mesh(parameters);
  mesh.h = cell_size(box, numbers.volume);
  mesh.errors = {error.l2, error.h1_seminorm, error.max};
  mesh.floors = error_floors(
      {.epsilon = epsilon_of(parameters.operation.precision),
       .relative_residual = report.true_relative_residual,
       .degree = parameters.space.degree,
       .cells = *std::max_element(parameters.mesh.cells.begin(), parameters.mesh.cells.end()),
       .h = mean_cell_size(box, numbers.volume),
       .magnitude = std::max(std::abs(numbers.min), std::abs(numbers.max)),
       .volume = numbers.volume});
  return mesh;
}

// The system, which is made first ("setup" in the timers), or the non-linear case.
SolveReport solve(const CaseParameters& parameters, const CaseModel& model, LinearSystem& system,
                  TimerTree& timers, const std::function<Continue(int, double)>& iteration) {
  const SolveListeners listeners{
      iteration, [](const std::vector<LevelSummary>&, const std::vector<std::string>&) {}};
  const ScalarField initial = make_initial(parameters);
  if (is_nonlinear(parameters)) {
    system.x = nonlinear_start(model, initial);
    return solve_nonlinear_case(parameters, model, system.x, timers, listeners).report;
  }
  {
    const auto setup = timers.resume("setup");
    system = make_linear_system(model, initial, case_processor(parameters));
  }
  const BilinearForm form = stiffness_form(model.problem, model.discretization);
  return solve(parameters, model.problem, form, system, timers, listeners).report;
}

}  // namespace

ConvergenceRow unsolved_row(const CaseParameters& parameters) {
  const NodeLattice lattice(make_box_mesh(parameters), parameters.space.degree);
  return {.degree = parameters.space.degree,
          .cells = parameters.mesh.cells,
          .dofs = lattice.dof_count()};
}

ConvergenceRow solved_row(const LoadedCase& loaded,
                          const std::function<Continue(int, double)>& iteration) {
  CaseParameters parameters = loaded.parameters;
  ConvergenceRow row = unsolved_row(parameters);
  with_case_errors(loaded, [&] {
    omp_set_num_threads(thread_count(parameters.run.threads));
    resolve_choices(parameters);
    require_room(parameters);
    TimerTree timers;
    std::optional<ScalarField> exact = make_exact(parameters);
    std::optional<CaseModel> model;
    LinearSystem system;
    {
      const auto setup = timers.scope("setup");
      model.emplace(make_case_model(parameters));
    }
    row.report = solve(parameters, *model, system, timers, iteration);
    if (row.report.status == SolveStatus::interrupted) throw Interrupted();
    row.is_solved = is_solved(row.report, parameters.operation.precision);
    RunNotes notes;
    const auto norms =
        make_solution_norms(*model, system.x, exact, case_processor(parameters), notes);
    if (system.is_singular) shift_to_mean_zero(*model, *norms, exact, notes);
    const Evaluation evaluation = evaluate(*model, *norms, exact, notes);
    stop_if_requested();
    if (!evaluation.error || !std::isfinite(evaluation.error->l2)) {
      row.left_out = notes.all().empty() ? "its errors are not known" : notes.all().back();
      return;
    }
    row.mesh = mesh_of(parameters, evaluation, row.report);
    row.setup_seconds = timers.seconds("setup");
    row.solve_seconds = timers.seconds("full multigrid") + timers.seconds("solve");
    row.all_seconds = timers.elapsed();
  });
  return row;
}

std::string why_left_out_by_exception(int level) {
  try {
    throw;
  } catch (const InputError& error) {
    if (level == 0) throw;
    return error.diagnostics().front().message;
  } catch (const NotEnoughMemory& error) {
    return error.what();
  } catch (const DeviceOutOfMemory& error) {
    return error.what();
  } catch (const std::bad_alloc&) {
    return "out of memory";
  }
}

}  // namespace tessera
