// This file has the manufactured solution of studies, and measures solvers on it.
#include "src/study/solver_measurement.hpp"

#include <numbers>

#include "cases/problem/natural_units.hpp"
#include "src/case/dispatch.hpp"
#include "src/case/strategy.hpp"
#include "src/case/system_scale.hpp"
#include "src/study/solver_bench.hpp"

namespace tessera {
namespace {

constexpr double kPi = std::numbers::pi;

// f(t) = exp(t) sin(pi t), 0 at both ends, and f''.
double bump(double t) { return std::exp(t) * std::sin(kPi * t); }
double bump_curvature(double t) {
  return std::exp(t) * ((1.0 - kPi * kPi) * std::sin(kPi * t) + 2.0 * kPi * std::cos(kPi * t));
}

// u = f(x) f(y) f(z); in 2D f(x) f(y).
double solution_at(int dimension, double x, double y, double z) {
  return bump(x) * bump(y) * (dimension == 2 ? 1.0 : bump(z));
}

// -div grad u.
double source_at(int dimension, double x, double y, double z) {
  const double in_plane = bump_curvature(x) * bump(y) + bump(x) * bump_curvature(y);
  if (dimension == 2) return -in_plane;
  return -(in_plane * bump(z) + bump(x) * bump(y) * bump_curvature(z));
}

template <class Value>
ScalarField field_of(int dimension, Value value) {
  return {[dimension, value](const PointBlock& points, double* values) {
            for (std::size_t i = 0; i < points.n; ++i) {
              values[i] = value(dimension, points.x[i], points.y[i], points.z[i]);
            }
          },
          {}};
}

PoissonProblem poisson_problem(int dimension, const StudyPart& part) {
  PoissonProblem problem;
  problem.dimension = dimension;
  problem.part = part.part;
  problem.source = field_of(dimension, source_at);
  for (BoundaryCondition& condition : problem.boundary) {
    condition.value = field_of(dimension, solution_at);
  }
  return problem;
}

PoissonProblem in_natural_units(const PoissonProblem& problem,
                                const Discretization& discretization) {
  return in_units(problem, natural_units(problem, discretization));
}

}  // namespace

CaseParameters solver_case(const StudyParameters& study, const StudyProblem& problem,
                           const std::string& solver) {
  const BoxMesh mesh = make_study_mesh(problem);
  const auto axes = static_cast<std::size_t>(problem.dimension);
  CaseParameters parameters;
  parameters.mesh.dimension = problem.dimension;
  parameters.mesh.cells.assign(mesh.cells().begin(), mesh.cells().begin() + problem.dimension);
  parameters.mesh.lower.assign(axes, 0.0);
  parameters.mesh.upper.assign(axes, 1.0);
  parameters.mesh.spacing.resize(axes);
  parameters.space.degree = problem.degree;
  parameters.space.points = problem.degree + study.extra_points;
  parameters.space.quadrature = study.quadrature;
  const bool is_mapped = problem.geometry == StudyGeometry::mapped;
  // In 2D the study's map may use z, which a case's may not; sizes do not depend on it.
  if (is_mapped) {
    parameters.mesh.map = axes == 3 ? study.map : std::vector<std::string>{"x", "y"};
  }
  set_strategy(parameters, study_solver_strategy(study, problem));
  parameters.operation.precision = problem.precision;
  parameters.run.device = study.device;
  parameters.solver = study.solver;
  parameters.solver.preconditioner = solver == kFullMultigrid ? kMultigrid : solver;
  if (solver == kFullMultigrid) parameters.solver.initial = kFullMultigrid;
  return parameters;
}

SolveStatus status_of_start(double relative_residual, double relative_tolerance) {
  if (!std::isfinite(relative_residual)) return SolveStatus::not_finite;
  if (relative_residual <= relative_tolerance) return SolveStatus::converged;
  constexpr double kFallen = 1e-2;
  return relative_residual <= kFallen ? SolveStatus::iteration_limit : SolveStatus::diverged;
}

DiscretizedProblem::DiscretizedProblem(const StudyParameters& study_in,
                                       const StudyProblem& problem_in, const StudyRanks& ranks_in)
    : study(study_in),
      ranks(ranks_in),
      problem(problem_in),
      part(make_study_part(study, problem, ranks)),
      poisson(in_natural_units(poisson_problem(problem.dimension, part), part.discretization)),
      solution(in_frame(field_of(problem.dimension, solution_at), part.discretization.frame)),
      form(stiffness_form(poisson, part.discretization)),
      strategy(study_solver_strategy(study, problem)),
      system(make_linear_system(poisson, part.discretization, constant_field(0.0))),
      scale(system_scale(system, form)) {
  divide(system, form, scale);
}

std::unique_ptr<SolverBench> make_solver_bench(const StudyParameters& study,
                                               const StudyProblem& problem,
                                               const StudyRanks& ranks) {
  return with_scalar_and_space(problem.precision, study_processor(study),
                               [&]<class T, class Space>() -> std::unique_ptr<SolverBench> {
                                 return std::make_unique<SolverBenchIn<T, Space>>(study, problem,
                                                                                  ranks);
                               });
}

}  // namespace tessera
