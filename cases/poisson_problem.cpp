#include "cases/poisson_problem.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "operators/constrained_rows.hpp"
#include "operators/interpolation.hpp"
#include "operators/load_vector.hpp"
#include "solvers/interruption.hpp"

namespace tessera {
namespace {

constexpr double kMostImbalance = 1e-3;

FaceSet dirichlet_faces(const PoissonProblem& problem) {
  FaceSet faces;
  for (int face = 0; face < face_count(problem.dimension); ++face) {
    faces[face] = problem.boundary[face].type == BoundaryType::dirichlet;
  }
  return faces;
}

std::vector<FluxTerm> flux_terms(const PoissonProblem& problem) {
  std::vector<FluxTerm> fluxes;
  for (int face = 0; face < face_count(problem.dimension); ++face) {
    const BoundaryCondition& condition = problem.boundary[face];
    if (condition.type != BoundaryType::dirichlet) fluxes.push_back({face, condition.value});
  }
  return fluxes;
}

std::vector<ScalarField> dirichlet_fields(const PoissonProblem& problem) {
  std::vector<ScalarField> fields;
  for (const BoundaryCondition& condition : problem.boundary) fields.push_back(condition.value);
  return fields;
}

double free_norm(const NodeLattice& lattice, FaceSet dirichlet, const HostVector<double>& b) {
  if (dirichlet.none()) return norm(b);
  HostVector<double> free(b.size());
  copy(b, free);
  for_each_face_node(lattice, dirichlet, [&](Index node) { free[node] = 0.0; });
  return norm(free);
}

// b -= (sum b / volume) * integral of each phi_i, so that b is in the range of the singular matrix.
double balance(const StiffnessForm& form, const ScalarField& source, double load_unit,
               HostVector<double>& b) {
  const HostVector<double> zero(b.size());
  HostVector<double> ones(b.size());
  fill(ones, 1.0);
  const double total = dot(b, ones);
  double absolute = 0.0;
#pragma omp parallel for simd schedule(static) reduction(+ : absolute)
  for (Index i = 0; i < b.size(); ++i) absolute += std::abs(b[i]);
  HostVector<double> load(b.size());
  if (std::abs(total) > kMostImbalance * absolute) {
    assemble_load(form, source, {}, zero, load);
    const double from_source = dot(load, ones);
    throw IncompatibleData(from_source * load_unit, (total - from_source) * load_unit);
  }
  assemble_load(form, constant_field(1.0), {}, zero, load);
  const double defect = total / dot(load, ones);
  axpy(-defect, load, b);
  return defect;
}

}  // namespace

IncompatibleData::IncompatibleData(double source, double flux)
    : std::runtime_error(fmt::format(
          "a problem with no other than Neumann faces has a solution only if source and boundary "
          "values "
          "balance: the integral of the source is {:.6g}, that of the boundary values {:.6g}, and "
          "their sum must be 0; change one of them, or make a face dirichlet or robin",
          source, flux)) {}

bool is_pure_neumann(const PoissonProblem& problem) {
  for (int face = 0; face < face_count(problem.dimension); ++face) {
    const BoundaryCondition& condition = problem.boundary[face];
    if (condition.type == BoundaryType::dirichlet) return false;
    if (condition.type == BoundaryType::robin && !is_zero(*condition.alpha)) return false;
  }
  return true;
}

StiffnessForm stiffness_form(const PoissonProblem& problem, const Discretization& discretization) {
  StiffnessForm form{&discretization, problem.coefficient, dirichlet_faces(problem), {}};
  for (int face = 0; face < face_count(problem.dimension); ++face) {
    const BoundaryCondition& condition = problem.boundary[face];
    if (condition.type == BoundaryType::robin) form.robin.push_back({face, *condition.alpha});
  }
  return form;
}

LinearSystem make_linear_system(const PoissonProblem& problem, const Discretization& discretization,
                                const ScalarField& initial) {
  const NodeLattice& lattice = discretization.lattice;
  const StiffnessForm form = stiffness_form(problem, discretization);
  LinearSystem system{HostVector<double>(lattice.size()), HostVector<double>(lattice.size())};
  interpolate(discretization, initial, system.x);
  stop_if_requested();
  set_dirichlet_values(discretization, form.dirichlet, dirichlet_fields(problem), system.x);
  assemble_load(form, problem.source, flux_terms(problem), system.x, system.b);
  stop_if_requested();
  if (is_pure_neumann(problem)) {
    system.balance_defect =
        balance(form, problem.source, problem.load_unit, system.b) * problem.source_unit;
  }
  system.reference_norm = free_norm(lattice, form.dirichlet, system.b);
  return system;
}

ScalarField shifted(const ScalarField& field, double subtracted) {
  if (field.constant) return constant_field(*field.constant - subtracted);
  return {[field, subtracted](const PointBlock& points, double* values) {
            field.evaluate(points, values);
            for (std::size_t i = 0; i < points.n; ++i) values[i] -= subtracted;
          },
          std::nullopt};
}

}  // namespace tessera
