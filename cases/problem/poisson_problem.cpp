// This file makes the bilinear form and the linear system of a problem.
#include "cases/problem/poisson_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "cases/problem/safe_squares.hpp"
#include "mesh/field/field_program.hpp"
#include "mesh/field/field_terms.hpp"
#include "operators/form/on_all_ranks.hpp"
#include "operators/load/device_load.hpp"
#include "operators/load/interpolation.hpp"
#include "operators/load/load_vector.hpp"
#include "solvers/interruption.hpp"
#include "solvers/memory/device.hpp"

namespace tessera {
namespace {

// Assembles the load in GPU memory. Returns whether that was possible.
bool assemble_on_gpu(const PoissonProblem& problem, const BilinearForm& form,
                     const std::vector<FluxTerm>& fluxes, const DirichletValues& g,
                     LinearSystem& system) {
  if constexpr (kHasCuda) {
    auto b = assemble_device_load(form, problem.source, fluxes, g);
    if (!b) return false;
    const double norm = std::sqrt(dot(*b, *b));
    // The host scales what loses digits as a square.
    if (!has_safe_squares(norm)) return false;
    system.reference_norm = norm;
    g.set(*b);
    system.b_on_gpu = std::make_shared<DeviceVector<double>>(std::move(*b));
    return true;
  } else {
    return false;
  }
}

std::string balance_note(const LinearSystem& system, const PoissonProblem& problem) {
  const auto is_robin = [](const BoundaryCondition& condition) {
    return condition.type == BoundaryType::robin;
  };
  const bool has_robin = std::any_of(
      problem.boundary.begin(), problem.boundary.begin() + face_count(problem.dimension), is_robin);
  return fmt::format(
      "Neumann faces only{}: source and boundary values balance but for {:.2g} a unit volume, "
      "taken off the source; the solution with mean 0 is computed, and compared with `exact` less "
      "its mean",
      has_robin ? " (alpha is 0 at all points of the Robin faces)" : "", system.balance_defect);
}

// The form of the domain, or what a rank has of it.
BilinearForm of_rank(const PoissonProblem& problem, BilinearForm form) {
  if (problem.part == nullptr) return form;
  const Discretization& discretization = *form.discretization;
  return form_on_part(std::move(form), discretization, problem.part);
}

}  // namespace

FaceSet dirichlet_faces(const PoissonProblem& problem) {
  FaceSet faces;
  for (int face = 0; face < face_count(problem.dimension); ++face) {
    faces[face] = problem.boundary[face].type == BoundaryType::dirichlet;
  }
  return faces;
}

BilinearForm stiffness_form(const PoissonProblem& problem, const Discretization& discretization) {
  const auto holds_on_all = [&](const auto& is_so) {
    const bool is_so_here = on_all_ranks(problem.part.get(), is_so);
    return problem.part ? !problem.part->ranks().any(!is_so_here) : is_so_here;
  };
  const auto vanishes_here = [&](const RobinTerm& term) {
    const bool has_face = problem.part == nullptr || problem.part->domain_faces()[term.face];
    return !has_face || vanishes(term, discretization);
  };
  BilinearForm form{&discretization, problem.coefficient, dirichlet_faces(problem), {}};
  for (int face = 0; face < face_count(problem.dimension); ++face) {
    const BoundaryCondition& condition = problem.boundary[face];
    if (condition.type != BoundaryType::robin) continue;
    const RobinTerm term{face, *condition.alpha};
    if (!holds_on_all([&] { return vanishes_here(term); })) form.robin.push_back(term);
  }
  const bool may_be_singular = form.dirichlet.none() && form.robin.empty();
  if (!may_be_singular ||
      !holds_on_all([&] { return vanishes(problem.reaction, discretization); })) {
    form.reaction = problem.reaction;
  }
  return of_rank(problem, std::move(form));
}

std::vector<ScalarField> dirichlet_fields(const PoissonProblem& problem) {
  std::vector<ScalarField> fields;
  for (const BoundaryCondition& condition : problem.boundary) fields.push_back(condition.value);
  return fields;
}

std::vector<FluxTerm> flux_terms(const PoissonProblem& problem) {
  std::vector<FluxTerm> fluxes;
  for (int face = 0; face < face_count(problem.dimension); ++face) {
    const BoundaryCondition& condition = problem.boundary[face];
    if (condition.type != BoundaryType::dirichlet) fluxes.push_back({face, condition.value});
  }
  return fluxes;
}

BilinearForm mass_form(const PoissonProblem& problem, const Discretization& discretization) {
  return of_rank(
      problem,
      {&discretization, constant_field(0.0), dirichlet_faces(problem), {}, problem.capacity});
}

BilinearForm with_mass(BilinearForm form, const ScalarField& capacity, double factor) {
  form.reaction = sum(form.reaction, capacity, factor);
  return form;
}

LinearSystem make_linear_system(const PoissonProblem& problem, const Discretization& discretization,
                                const ScalarField& initial, Processor assembles,
                                SolutionPlace wanted) {
  return make_linear_system(problem, stiffness_form(problem, discretization), initial,
                            Imbalance::refused, assembles, wanted);
}

LinearSystem make_linear_system(const PoissonProblem& problem, const BilinearForm& form,
                                const ScalarField& initial, Imbalance imbalance,
                                Processor assembles, SolutionPlace wanted) {
  const Discretization& discretization = *form.discretization;
  const std::vector<FluxTerm> fluxes = flux_terms(problem);
  LinearSystem system;
  system.is_singular = is_pure_neumann(form);
  const DirichletValues g(form, dirichlet_fields(problem));
  const bool is_for_gpu = assembles == Processor::gpu && !system.is_singular;
  const bool is_on_gpu = is_for_gpu && assemble_on_gpu(problem, form, fluxes, g, system);
  if (is_on_gpu && is_zero(initial)) {
    if (wanted == SolutionPlace::host) system.x = HostVector<double>(form.layout());
    system.start = g;
    return system;
  }
  system.x = HostVector<double>(form.layout());
  on_all_ranks(form, [&] { interpolate(discretization, initial, system.x); });
  stop_if_requested();
  g.set(system.x);
  if (is_on_gpu) return system;
  system.b = HostVector<double>(form.layout());
  assemble_load(form, problem.source, fluxes, g, system.b);
  stop_if_requested();
  if (system.is_singular) {
    system.balance_defect =
        balance_load(form, problem.source, fluxes, imbalance, problem.load_unit, system.b) *
        problem.source_unit;
    system.notes.push_back(balance_note(system, problem));
  }
  system.reference_norm = norm(system.b);
  g.set(system.b);
  return system;
}

ScalarField shifted(const ScalarField& field, double subtracted) {
  if (field.constant) return constant_field(*field.constant - subtracted);
  ScalarField result = {[field, subtracted](const PointBlock& points, double* values) {
                          field.evaluate(points, values);
                          for (std::size_t i = 0; i < points.n; ++i) values[i] -= subtracted;
                        },
                        std::nullopt, nullptr, nullptr, field.depends_on_u};
  if (field.program != nullptr) {
    FieldProgram program = *field.program;
    program.subtracted += subtracted * program.divisor;
    result.program = std::make_shared<const FieldProgram>(std::move(program));
  }
  return result;
}

ScalarField scaled(const ScalarField& field, double factor) {
  if (field.constant) return constant_field(factor * *field.constant);
  if (field.program == nullptr) return add_fields(constant_field(0.0), field, factor);
  ScalarField result = {[field, factor](const PointBlock& points, double* values) {
                          field.evaluate(points, values);
                          for (std::size_t i = 0; i < points.n; ++i) values[i] *= factor;
                        },
                        std::nullopt, nullptr, nullptr, field.depends_on_u};
  FieldProgram program = *field.program;
  program.divisor /= factor;
  result.program = std::make_shared<const FieldProgram>(std::move(program));
  return result;
}

ScalarField sum(const ScalarField& a, const ScalarField& b, double factor) {
  if (is_zero(a)) return scaled(b, factor);
  return add_fields(a, b, factor);
}

}  // namespace tessera
