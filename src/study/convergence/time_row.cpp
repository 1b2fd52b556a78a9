// This file integrates a case for its errors, and tells those of steps from those in space.
#include "src/study/convergence/time_row.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "postprocess/timing/timers.hpp"
#include "solvers/errors.hpp"
#include "solvers/interruption.hpp"
#include "src/case/choices.hpp"
#include "src/case/dispatch.hpp"
#include "src/case/model.hpp"
#include "src/case/shape.hpp"
#include "src/case/time/problem_in_time.hpp"
#include "src/case/time/time_case.hpp"
#include "src/machine/machine.hpp"
#include "src/solve/evaluation.hpp"
#include "src/solve/time/diffusion.hpp"
#include "src/solve/time/safe_start.hpp"
#include "src/solve/vector_conversion.hpp"
#include "src/study/convergence/meshes.hpp"
#include "src/study/convergence/rates.hpp"
#include "src/study/convergence/row.hpp"

namespace tessera {
namespace {

/// One integration, from start to end.
class TimedCase {
 public:
  TimedCase(const CaseParameters& parameters, const std::function<void(double)>& progress)
      : parameters_(parameters), progress_(progress), model_(make_case_model(parameters)) {}

  template <class Space>
  void solve(TimeRow& row) {
    std::optional<Diffusion<Space>> diffusion;
    Vector<double, Space> w;
    std::unique_ptr<TimeIntegrator<Space>> integrator;
    const ProblemInTime problem(parameters_);
    HostVector<double>& u = row.u;
    u = HostVector<double>(model_.discretization.lattice.size());
    const double begin = timers_.elapsed();
    diffusion.emplace(parameters_, problem, model_.discretization, model_.units, timers_);
    interpolate(model_, make_initial(parameters_), u);
    diffusion->clear_constrained(u);
    w = converted<double, Space>(u);
    require_safe_squares(*diffusion, parameters_.time->start, w);
    diffusion->require_stable_steps(parameters_.time->start);
    integrator = make_time_integrator<Space>(*diffusion, time_options(parameters_), w);
    row.setup_seconds = timers_.elapsed() - begin;
    for (const double until : output_times(*parameters_.time)) {
      if (until <= integrator->t()) continue;
      const double before = timers_.elapsed();
      while (integrator->t() < until) {
        stop_if_requested();
        row.iterations += integrator->step(until).linear_iterations;
        ++row.steps;
        progress_(integrator->t());
      }
      row.solve_seconds += timers_.elapsed() - before;
      copy(w, u);
      diffusion->add_dirichlet_values(until, u);
      row.error = norms_of(u, *make_exact(parameters_, until));
      row.largest = larger_of_each(row.largest, row.error);
    }
  }

  /// Of u - exact.
  ErrorNorms norms_of(HostVector<double>& u, const ScalarField& exact) {
    RunNotes notes;
    const std::optional<ScalarField> field = exact;
    const auto norms = make_solution_norms(model_, u, field, case_processor(parameters_), notes);
    return error_norms(model_, *norms, exact);
  }

  /// Of the difference of two solutions.
  ErrorNorms difference(const HostVector<double>& u, const HostVector<double>& other) {
    HostVector<double> d(u.size());
    for (std::int64_t i = 0; i < u.size(); ++i) d[i] = u[i] - other[i];
    return norms_of(d, constant_field(0.0));
  }

  /// What the space can do: of the function that is exact at the nodes at the end.
  ErrorNorms interpolation_error() {
    const ScalarField exact = *make_exact(parameters_, parameters_.time->end);
    HostVector<double> v(model_.discretization.lattice.size());
    interpolate(model_, exact, v);
    return norms_of(v, exact);
  }

  double elapsed() const { return timers_.elapsed(); }

 private:
  const CaseParameters& parameters_;
  const std::function<void(double)>& progress_;
  CaseModel model_;
  TimerTree timers_;
};

// Of the box, whatever the map makes of it.
double box_cell_size(const BoxMesh& mesh) {
  double volume = 1.0;
  for (int d = 0; d < mesh.dimension(); ++d) volume *= mesh.upper()[d] - mesh.lower()[d];
  return mean_cell_size(mesh, volume);
}

/// Below these, errors are not those of steps. The error in space has its part in one if the steps
/// do not explain nearly all of it, and the space cannot do much better.
void find_floors(TimedCase& timed, const CaseParameters& parameters, const TimeRow* before,
                 TimeRow& row) {
  // How much more than that of interpolation an error of the space may be.
  constexpr double kOfSpace = 20.0;
  // With less, rates are too low by more than is said to be wrong.
  constexpr double kExplained = 0.85;
  constexpr double kOfSolver = 10.0;
  double of_solvers = parameters.solver.relative_tolerance;
  if (parameters.nonlinear) {
    of_solvers = std::max(of_solvers, parameters.nonlinear->relative_tolerance);
  }
  const double rounding =
      kOfSolver * std::max(of_solvers, 1e2 * std::numeric_limits<double>::epsilon());
  const ErrorNorms size = timed.difference(row.u, HostVector<double>(row.u.size()));
  // Of a solution that hardly changes in space, the derivatives are rounding themselves. Its norm
  // in L2 is its size in a unit volume.
  const double of_derivatives = error_floors({.epsilon = std::numeric_limits<double>::epsilon(),
                                              .relative_residual = 0.0,
                                              .degree = parameters.space.degree,
                                              .cells = 1,
                                              .h = box_cell_size(make_box_mesh(parameters)),
                                              .magnitude = size.l2,
                                              .volume = 1.0})[1];
  row.mesh.floors = {rounding * size.l2, std::max(rounding * size.h1_seminorm, of_derivatives),
                     rounding * size.l2};
  if (before == nullptr || before->u.size() != row.u.size()) return;
  const ErrorNorms change = timed.difference(row.u, before->u);
  const ErrorNorms space = timed.interpolation_error();
  const double fall = std::pow(before->mesh.h / row.mesh.h, parameters.time->order) - 1.0;
  const std::array<double, kErrorNorms> of_steps = {change.l2, change.h1_seminorm, change.l2};
  const std::array<double, kErrorNorms> of_space = {space.l2, space.h1_seminorm, space.l2};
  for (int norm = 0; norm < kErrorNorms; ++norm) {
    const double error = row.mesh.errors[norm];
    row.is_of_space[norm] =
        of_steps[norm] / fall < kExplained * error && error < kOfSpace * of_space[norm];
    if (row.is_of_space[norm]) row.mesh.floors[norm] = std::max(row.mesh.floors[norm], error);
  }
}

}  // namespace

TimeRow solved_row(const LoadedCase& loaded, const TimeRow* before,
                   const std::function<void(double)>& progress) {
  TimeRow row{.step = loaded.parameters.time->step, .tolerance = loaded.parameters.time->tolerance};
  if (row.step) row.tolerance.reset();
  CaseParameters parameters = loaded.parameters;
  with_case_errors(loaded, [&] {
    omp_set_num_threads(thread_count(parameters.run.threads));
    resolve_choices(parameters);
    require_room(parameters);
    TimedCase timed(parameters, progress);
    try {
      with_scalar_and_space(Precision::double_precision, case_processor(parameters),
                            [&]<class T, class Space>() { timed.solve<Space>(row); });
    } catch (const TimeStepError& error) {
      row.left_out = error.what();
      row.what_steps_do = TimeRow::Steps::fail;
      return;
    } catch (const UnsuitableChoice& error) {
      if (error.choice() != Choice::time_step) throw;
      row.left_out = error.what();
      row.what_steps_do = TimeRow::Steps::are_unstable;
      return;
    }
    if (!std::isfinite(row.error.l2)) {
      row.left_out = "its errors are not finite";
      row.what_steps_do = TimeRow::Steps::fail;
      return;
    }
    const TimeParameters& time = *parameters.time;
    row.mesh.h = row.step ? *row.step : (time.end - time.start) / static_cast<double>(row.steps);
    row.mesh.errors = {row.error.l2, row.error.h1_seminorm, row.largest.l2};
    find_floors(timed, parameters, before, row);
    row.all_seconds = timed.elapsed();
  });
  return row;
}

}  // namespace tessera
