// This file looks for choices that are allowed but unwise.
#include "src/case/notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "operators/strategy.hpp"
#include "src/case/nonlinear/nonlinear_case.hpp"
#include "src/case/time/time_case.hpp"

namespace tessera {

double lebesgue_constant(const std::vector<double>& nodes) {
  // There is one maximum between two nodes.
  constexpr int kSamples = 32;
  std::vector<double> points;
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    for (int s = 0; s <= kSamples; ++s) {
      points.push_back(nodes[i - 1] + (nodes[i] - nodes[i - 1]) * s / kSamples);
    }
  }
  const Matrix1D values = lagrange_values(nodes, points);
  double largest = 0.0;
  for (int a = 0; a < values.rows; ++a) {
    double sum = 0.0;
    for (int i = 0; i < values.columns; ++i) sum += std::abs(values(a, i));
    largest = std::max(largest, sum);
  }
  return largest;
}

std::string lost_digits_text(const CaseParameters& parameters) {
  // Up to there solvers were seen to converge: to degree 10 in 2D and 7 in 3D.
  constexpr double kDigits = 3.0;
  const SpaceParameters& space = parameters.space;
  const int dimension = parameters.mesh.dimension;
  const double digits =
      dimension * std::log10(lebesgue_constant(make_nodes(space.nodes, space.degree)));
  if (digits < kDigits) return "";
  const int of = parameters.operation.precision == Precision::double_precision ? 16 : 7;
  return fmt::format(
      "{} nodes at degree {} lose at least {:.0f} of {} digits in {}D, by which iterations may not "
      "converge; space.nodes = \"gauss-lobatto\" loses none",
      name_of(space.nodes), space.degree, std::min<double>(digits, of), of, dimension);
}

namespace {

std::vector<std::string> rounding_notes(const CaseParameters& parameters) {
  // What is left of the solution's error where the matrix is rounded, on cells that are not
  // stretched.
  constexpr double kMinTolerance = 1e-6;
  const KernelInfo* const kernel = find_kernel(parameters.operation.kernel);
  const bool is_rounded = kernel != nullptr && kernel->entry_rounding > 0.0 &&
                          parameters.operation.precision == Precision::double_precision;
  if (!is_rounded || parameters.solver.relative_tolerance >= kMinTolerance) return {};
  return {
      fmt::format("{} rounds the entries of its matrix, by which the solution errs by up to "
                  "{:g} (more on stretched cells), whatever the residual says; csr does not",
                  kernel->name, kMinTolerance)};
}

// Of what is given to parts of solvers that the case does not have.
std::vector<std::string> notes_without_effect(const SolverParameters& solver) {
  const SolverParameters otherwise;
  const bool has_multigrid =
      solver.preconditioner == kMultigrid || solver.initial == kFullMultigrid;
  const bool has_blocks = solver.preconditioner.starts_with("block-") ||
                          (has_multigrid && solver.multigrid.smoother != SmootherKind::chebyshev);
  std::vector<std::string> notes;
  const auto add = [&](const char* key, const std::string& owner) {
    notes.push_back(fmt::format("{} means nothing here: it is for {}", key, owner));
  };
  if (solver.restart != otherwise.restart && solver.method != SolverMethod::flexible_gmres) {
    add("solver.restart", "the method flexible-gmres");
  }
  if (solver.residual_replacement != otherwise.residual_replacement &&
      solver.method == SolverMethod::richardson) {
    add("solver.residual_replacement", "methods that compute the residual by recurrence");
  }
  if (solver.multigrid != otherwise.multigrid && !has_multigrid) {
    add("solver.multigrid", "the preconditioner multigrid");
  }
  if (solver.chebyshev != otherwise.chebyshev && solver.preconditioner != "chebyshev") {
    add("solver.chebyshev", "the preconditioner chebyshev");
  }
  if (solver.block_jacobi != otherwise.block_jacobi && !has_blocks) {
    add("solver.block_jacobi", "preconditioners and smoothers of blocks");
  }
  return notes;
}

}  // namespace

std::vector<std::string> case_notes(const CaseParameters& parameters) {
  std::vector<std::string> notes;
  if (std::string lost = lost_digits_text(parameters); !lost.empty()) {
    notes.push_back(std::move(lost));
  }
  for (std::string& note : rounding_notes(parameters)) notes.push_back(std::move(note));
  if (solves_systems(parameters)) {
    for (std::string& note : notes_without_effect(parameters.solver)) {
      notes.push_back(std::move(note));
    }
  }
  if (parameters.nonlinear && !is_nonlinear(parameters)) {
    notes.emplace_back(
        "neither coefficient nor source depends on u: the problem is linear, and [nonlinear] means "
        "nothing");
  }
  return notes;
}

}  // namespace tessera
