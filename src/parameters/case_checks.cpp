// This file checks the keys of a case against each other.
#include "src/parameters/case_checks.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <system_error>

#include "mesh/node_lattice.hpp"
#include "src/parameters/limits.hpp"
#include "src/parameters/messages/suggestion.hpp"
#include "src/parameters/nonlinear/nonlinear_checks.hpp"
#include "src/parameters/probes/probe_file.hpp"
#include "src/parameters/time/time_checks.hpp"

namespace tessera {

namespace {

/// Checks that an array has one entry an axis; an empty one is a default and fits.
template <class T>
bool has_dimension(const char* key, const std::vector<T>& entries, int dimension,
                   Findings& findings) {
  if (findings.has_error(key) || findings.has_error("mesh.dimension")) return false;
  if (entries.empty() || entries.size() == static_cast<std::size_t>(dimension)) return true;
  findings.report(
      key,
      fmt::format("must have {} entries, one per axis, since mesh.dimension = {}{}; it has {}",
                  dimension, dimension,
                  findings.is_written("mesh.dimension") ? "" : " (the default)", entries.size()));
  return false;
}

/// A corner that is not written: where lists of grid lines end, `otherwise` along other axes.
template <class End>
void complete_corner(std::vector<double>& corner, const std::vector<AxisSpacing>& spacing,
                     double otherwise, End end) {
  if (!corner.empty()) return;
  for (const AxisSpacing& axis : spacing) {
    corner.push_back(axis.lines.empty() ? otherwise : end(axis.lines));
  }
}

/// Lengths of the arrays of [mesh], and lower < upper.
void check_box(MeshParameters& mesh, Findings& findings) {
  const auto axes = static_cast<std::size_t>(mesh.dimension);
  const bool lower_fits = has_dimension("mesh.lower", mesh.lower, mesh.dimension, findings);
  const bool upper_fits = has_dimension("mesh.upper", mesh.upper, mesh.dimension, findings);
  has_dimension("mesh.map", mesh.map, mesh.dimension, findings);
  if (!has_dimension("mesh.spacing", mesh.spacing, mesh.dimension, findings)) mesh.spacing.clear();
  if (mesh.spacing.empty()) mesh.spacing.resize(axes);
  complete_corner(mesh.lower, mesh.spacing, 0.0,
                  [](const GridLines& lines) { return lines.front(); });
  complete_corner(mesh.upper, mesh.spacing, 1.0,
                  [](const GridLines& lines) { return lines.back(); });
  if (!lower_fits || !upper_fits) return;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const double extent = mesh.upper[axis] - mesh.lower[axis];
    if (extent > 0 && std::isfinite(extent)) continue;
    const char* key = findings.is_written("mesh.upper") ? "mesh.upper" : "mesh.lower";
    findings.report(
        key, fmt::format("axis {}: upper = {} must be greater than lower = {}{}", axis_name(axis),
                         number_text(mesh.upper[axis]), number_text(mesh.lower[axis]),
                         extent > 0 ? ", by a finite number" : ""));
  }
}

/// Counts of nodes and of matrix entries a cell must not overflow 64 bits anywhere.
void check_size(const MeshParameters& mesh, const SpaceParameters& space, Findings& findings) {
  if (!has_dimension("mesh.cells", mesh.cells, mesh.dimension, findings)) return;
  constexpr double kMaxNodes = 1e17;
  double nodes = 1;
  for (const std::int64_t cells : mesh.cells) {
    nodes *= nodes_along(static_cast<double>(cells), space.degree);
  }
  if (nodes > kMaxNodes) {
    findings.report("mesh.cells", fmt::format("makes {:.3g} DoFs with space.degree = {}; "
                                              "at most {:.0e} are allowed",
                                              nodes, space.degree, kMaxNodes));
  }
}

/// Grid lines that are given go with the box and its cells, and those made do not meet.
void check_spacing(const MeshParameters& mesh, Findings& findings) {
  for (const char* key :
       {"mesh.dimension", "mesh.cells", "mesh.lower", "mesh.upper", "mesh.spacing"}) {
    if (findings.has_error(key)) return;
  }
  for (std::size_t axis = 0; axis < mesh.spacing.size(); ++axis) {
    const bool is_uniform = mesh.spacing[axis].lines.empty() && mesh.spacing[axis].ratio == 1.0;
    if (is_uniform) {
      const std::string error =
          position_error(mesh.lower[axis], mesh.upper[axis], mesh.cells[axis]);
      if (error.empty()) continue;
      const bool lower_is_larger = std::abs(mesh.lower[axis]) > std::abs(mesh.upper[axis]);
      const char* larger = lower_is_larger ? "mesh.lower" : "mesh.upper";
      const char* other = lower_is_larger ? "mesh.upper" : "mesh.lower";
      findings.report(findings.is_written(larger) ? larger : other,
                      fmt::format("axis {}: {}", axis_name(axis), error));
      continue;
    }
    const std::string error =
        spacing_error(mesh.spacing[axis], mesh.lower[axis], mesh.upper[axis], mesh.cells[axis]);
    if (error.empty()) continue;
    findings.report("mesh.spacing", fmt::format("axis {}: {}", axis_name(axis), error));
  }
}

void check_points(SpaceParameters& space, Findings& findings) {
  if (findings.has_error("space.points") || findings.has_error("space.degree")) return;
  if (space.points == 0) space.points = space.degree + 1;
  if (space.points < space.degree + 1) {
    findings.report(
        "space.points",
        fmt::format("must be from {} (degree + 1) to {}, or 0 for degree + 1, since "
                    "space.degree = {}; fewer points make the stiffness matrix singular",
                    space.degree + 1, kMaxPoints, space.degree));
  }
}

void check_boundary(CaseParameters& parameters, Findings& findings) {
  for (std::size_t face = 0; face < kFaceNames.size(); ++face) {
    const std::string key = fmt::format("boundary.{}", kFaceNames[face]);
    const std::string alpha = key + ".alpha";
    if (parameters.mesh.dimension == 2 && face >= 4) {
      if (findings.is_written(key) && !findings.has_error("mesh.dimension")) {
        findings.report(key,
                        "must be left out, since mesh.dimension = 2; a 2D box has the faces "
                        "left, right, bottom, top");
      }
      continue;
    }
    const BoundaryParameters& condition = parameters.boundary[face];
    if (findings.has_error(key + ".type") || findings.has_error(alpha)) continue;
    const bool robin = condition.type == BoundaryType::robin;
    if (robin && !condition.alpha) {
      // The diagnostic stands at the type, which asks for it.
      Diagnostic diagnostic = findings.diagnostic(key + ".type", "");
      diagnostic.key = alpha;
      diagnostic.value.clear();
      diagnostic.message =
          "is required, and missing, since the type is \"robin\": an expression, "
          "such as alpha = \"1\"";
      findings.report(std::move(diagnostic));
    } else if (!robin && condition.alpha) {
      findings.report(alpha, fmt::format("must be left out, since the type is \"{}\"; only "
                                         "\"robin\" takes alpha",
                                         name_of(condition.type)));
    }
  }
}

void check_scatter(OperatorParameters& operation, const std::vector<KernelName>& kernels,
                   const std::vector<std::string>& scatters, Findings& findings) {
  if (findings.has_error("operator.kernel") || findings.has_error("operator.scatter")) return;
  const bool takes_scatter = kernel_takes_scatter(kernels, operation.kernel);
  // A kernel from the command line is tried on a file written for another: the file's scatter is
  // then part of what is replaced.
  const bool follows_kernel = !findings.is_written("operator.scatter") ||
                              (findings.is_written("operator.kernel", Layer::override_option) &&
                               findings.is_written("operator.scatter", Layer::file));
  const bool fits = takes_scatter == (operation.scatter != kNoScatter);
  if (fits) return;
  if (follows_kernel || operation.scatter == kAuto) {
    operation.scatter = takes_scatter ? kAuto : kNoScatter;
    return;
  }
  findings.report(
      "operator.scatter",
      fmt::format("must be {}, or left out, since operator.kernel = \"{}\" takes {}",
                  takes_scatter ? fmt::format("one of \"{}\" | {}", kAuto, list_choices(scatters))
                                : fmt::format("\"{}\"", kNoScatter),
                  operation.kernel, takes_scatter ? "one" : "no scatter"));
}

void check_tolerance(const CaseParameters& parameters, Findings& findings) {
  const char* tolerance = "solver.relative_tolerance";
  if (parameters.operation.precision != Precision::single_precision ||
      parameters.solver.relative_tolerance >= kMinSingleTolerance ||
      findings.has_error(tolerance)) {
    return;
  }
  Diagnostic diagnostic =
      findings.diagnostic(tolerance, fmt::format("must be at least {} with operator.precision = "
                                                 "\"single\", whose rounding error of 6e-8 grows "
                                                 "in the residual and keeps it above that",
                                                 kMinSingleTolerance));
  if (!findings.is_written(tolerance)) {
    const Diagnostic precision = findings.diagnostic("operator.precision", "");
    diagnostic.file = precision.file;
    diagnostic.line = precision.line;
    diagnostic.value = number_text(parameters.solver.relative_tolerance) + " (the default)";
  }
  findings.report(std::move(diagnostic));
}

// Whether the preconditioner is another map in every application.
bool varies(const SolverParameters& solver,
            const std::vector<PreconditionerName>& preconditioners) {
  if (solver.preconditioner == kMultigrid) {
    return solver.multigrid.smoother == SmootherKind::block_asynchronous_jacobi;
  }
  return std::any_of(preconditioners.begin(), preconditioners.end(),
                     [&](const PreconditionerName& row) {
                       return row.name == solver.preconditioner && row.calls == MapOfCalls::another;
                     });
}

// What makes the preconditioner vary.
const char* key_of_sweeps(const SolverParameters& solver) {
  return solver.preconditioner == kMultigrid ? "solver.multigrid.smoother"
                                             : "solver.preconditioner";
}

// Where the method is the default, at the key that it does not suit.
void report_asynchronous(const SolverParameters& solver, Findings& findings) {
  Diagnostic diagnostic = findings.diagnostic(
      "solver.method",
      "must be \"flexible-cg\", \"flexible-gmres\" or \"richardson\" with asynchronous sweeps, "
      "which are another preconditioner in every iteration");
  if (!findings.is_written("solver.method")) {
    const Diagnostic cause = findings.diagnostic(key_of_sweeps(solver), "");
    diagnostic.file = cause.file;
    diagnostic.line = cause.line;
    diagnostic.value = fmt::format("\"{}\" (the default)", name_of(solver.method));
  }
  findings.report(std::move(diagnostic));
}

}  // namespace

bool allows_another_map(SolverMethod method) {
  return method == SolverMethod::flexible_cg || method == SolverMethod::flexible_gmres ||
         method == SolverMethod::richardson;
}

bool bears_single_precision_cycles(const CaseParameters& parameters) {
  return parameters.solver.method != SolverMethod::pipelined_cg ||
         parameters.operation.precision == Precision::single_precision ||
         parameters.solver.multigrid.precision == Precision::double_precision;
}

void check_asynchronous(const CaseParameters& parameters,
                        const std::vector<PreconditionerName>& preconditioners,
                        Findings& findings) {
  const SolverParameters& solver = parameters.solver;
  if (findings.has_error("solver.method") || findings.has_error("solver.preconditioner")) return;
  if (!varies(solver, preconditioners) || allows_another_map(solver.method)) return;
  report_asynchronous(solver, findings);
}

void check_solver(const CaseParameters& parameters,
                  const std::vector<PreconditionerName>& preconditioners, Findings& findings) {
  const SolverParameters& solver = parameters.solver;
  if (findings.has_error("solver.method") || findings.has_error("solver.preconditioner")) return;
  if (parameters.run.deterministic && varies(solver, preconditioners)) {
    findings.report(key_of_sweeps(solver),
                    "asynchronous sweeps have another result in every run, and run.deterministic = "
                    "true; use \"block-jacobi\"");
  }
  if (solver.preconditioner == kMultigrid && !bears_single_precision_cycles(parameters)) {
    findings.report("solver.method",
                    "\"pipelined-cg\" takes its residuals by recurrence through the "
                    "preconditioner, whose rounding in single precision it cannot bear; set "
                    "solver.multigrid.precision = \"double\", or use another method");
  }
  // Newton's may have another method for its own.
  if (!parameters.nonlinear || findings.is_written("solver.method")) {
    check_asynchronous(parameters, preconditioners, findings);
  }
  if (solver.method == SolverMethod::richardson && solver.preconditioner == kNoPreconditioner) {
    findings.report("solver.method",
                    "\"richardson\" needs a preconditioner: x + (b - A x) alone diverges");
  }
  if (solver.initial == kFullMultigrid && solver.preconditioner != kMultigrid) {
    findings.report("solver.initial",
                    fmt::format("\"{}\" needs solver.preconditioner = \"multigrid\", on whose "
                                "levels it works",
                                kFullMultigrid));
  }
}

namespace {

void check_output(const CaseParameters& parameters, Findings& findings) {
  const OutputParameters& output = parameters.output;
  if (output.directory.empty()) {
    findings.report("output.directory", "must not be empty; \".\" is the current directory");
  }
  if (findings.has_error("output.vtk_degree") || findings.has_error("space.degree")) return;
  if (output.vtu.degree > parameters.space.degree) {
    findings.report("output.vtk_degree",
                    fmt::format("must be at most space.degree = {}, which has all that there is",
                                parameters.space.degree));
  }
}

// The number of coordinates of listed points.
void check_coordinates(const ProbePoints& probes, int dimension, Findings& findings) {
  std::vector<Index> wrong;
  for (std::size_t i = 0; i < probes.coordinates.size(); ++i) {
    if (probes.coordinates[i] != dimension) wrong.push_back(static_cast<Index>(i));
  }
  report_points(
      probes, dimension == 2 ? 3 : 2, wrong,
      fmt::format("must have {} coordinates, since mesh.dimension = {}", dimension, dimension),
      findings);
}

/// Reads points that are in a file.
void check_probes(const MeshParameters& mesh, ProbePoints& probes, Findings& findings) {
  if (findings.has_error(kProbesKey) || findings.has_error("mesh.dimension")) return;
  if (probes.file.empty()) return check_coordinates(probes, mesh.dimension, findings);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(probes.file, ignored)) {
    findings.report(kProbesKey, std::filesystem::exists(probes.file, ignored)
                                    ? "it is no file, but a directory, a device or a pipe"
                                    : "there is no such file, seen from the working directory");
    return;
  }
  try {
    read_probe_points(read_text_file(probes.file), mesh.dimension, probes, findings);
  } catch (const InputError& error) {
    findings.report(kProbesKey, error.diagnostics().front().message);
  }
}

}  // namespace

void check_case(CaseParameters& parameters, const std::vector<KernelName>& kernels,
                const std::vector<std::string>& scatters,
                const std::vector<PreconditionerName>& preconditioners, Findings& findings) {
  check_box(parameters.mesh, findings);
  check_size(parameters.mesh, parameters.space, findings);
  check_spacing(parameters.mesh, findings);
  check_points(parameters.space, findings);
  check_boundary(parameters, findings);
  check_time(parameters, findings);
  check_nonlinear(parameters, findings);
  check_scatter(parameters.operation, kernels, scatters, findings);
  check_tolerance(parameters, findings);
  if (parameters.solver.preconditioner != kAuto) {
    check_solver(parameters, preconditioners, findings);
  }
  check_ranks(parameters.run.ranks, parameters.mesh.cells, findings);
  check_output(parameters, findings);
  check_probes(parameters.mesh, parameters.output.probes, findings);
}

}  // namespace tessera
