// This file declares the keys of case files, but those of [solver], [time] and [nonlinear].
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "src/parameters/case_checks.hpp"
#include "src/parameters/case_parameters.hpp"
#include "src/parameters/limits.hpp"
#include "src/parameters/nonlinear/nonlinear_keys.hpp"
#include "src/parameters/solver_keys.hpp"
#include "src/parameters/time/time_keys.hpp"

namespace tessera {

namespace {

using CaseRegistry = Registry<CaseParameters>;

TomlValue text_array(std::initializer_list<const char*> texts) {
  TomlValue::Array array;
  for (const char* text : texts) array.push_back({std::string(text)});
  return {std::move(array)};
}

void add_mesh(CaseRegistry& registry) {
  registry.add(
      {.name = "mesh.dimension",
       .description = "Number of axes of the box.",
       .range = between(2, 3)},
      [](auto& p) -> auto& { return p.mesh.dimension; });
  registry.add(
      {.name = "mesh.cells",
       .description = "Number of cells along each axis.",
       .shape = Shape::per_axis,
       .presence = Presence::required,
       .range = at_least(1),
       .example = TomlValue{TomlValue::Array(3, TomlValue{std::int64_t{8}})}},
      [](auto& p) -> auto& { return p.mesh.cells; });
  registry.add(
      {.name = "mesh.lower",
       .description = "Lower corner of the box.",
       .shape = Shape::per_axis,
       .unit = "length units of the problem",
       .default_text = "0 on each axis, or its first grid line"},
      [](auto& p) -> auto& { return p.mesh.lower; });
  registry.add(
      {.name = "mesh.upper",
       .description = "Upper corner of the box, greater than the lower on each axis.",
       .shape = Shape::per_axis,
       .unit = "length units of the problem",
       .default_text = "1 on each axis, or its last grid line"},
      [](auto& p) -> auto& { return p.mesh.upper; });
  registry.add(
      {.name = "mesh.spacing",
       .description = "Cells of each axis: equal, or each R times as wide as the one before it, or "
                      "between cells + 1 grid lines from lower to upper.",
       .shape = Shape::per_axis,
       .default_text = "\"uniform\" on each axis"},
      [](auto& p) -> auto& { return p.mesh.spacing; });
  registry.add(
      {.name = "mesh.map",
       .description = "Physical point of each box point x, y, z, one expression per axis, "
                      "interpolated at the elements' nodes; left out, the mesh is Cartesian.",
       .type = ValueType::expression,
       .shape = Shape::per_axis,
       .presence = Presence::optional,
       .example = text_array({"x", "y", "z + 0.1*sin(pi*x)"})},
      [](auto& p) -> auto& { return p.mesh.map; });
}

void add_space(CaseRegistry& registry) {
  registry.add(
      {.name = "space.degree",
       .description = "Polynomial degree p of the elements along each axis.",
       .range = between(1, kMaxDegree)},
      [](auto& p) -> auto& { return p.space.degree; });
  registry.add(
      {.name = "space.nodes",
       .description = "Where the p + 1 nodes along an axis of an element lie; equidistant ones "
                      "are for degrees up to 10 in 2D and 7 in 3D: above, they lose digits, half "
                      "of them at degree 16, and few solvers converge, from 28 in 2D and 20 in 3D "
                      "on none."},
      [](auto& p) -> auto& { return p.space.nodes; });
  registry.add(
      {.name = "space.quadrature",
       .description = "Quadrature rule along each axis; gauss-lobatto with degree + 1 points "
                      "on gauss-lobatto nodes is the collocated spectral element."},
      [](auto& p) -> auto& { return p.space.quadrature; });
  registry.add(
      {.name = "space.points",
       .description = "Quadrature points along each axis, at least degree + 1; 0 stands for "
                      "degree + 1.",
       .range = between(0, kMaxPoints),
       .default_text = "degree + 1"},
      [](auto& p) -> auto& { return p.space.points; });
}

void add_problem(CaseRegistry& registry) {
  registry.add(
      {.name = "problem.coefficient",
       .description = "k in -div(k grad u) + reaction u = source, positive at the quadrature "
                      "points, which is where it is looked at; as a product of functions of one "
                      "coordinate, such as exp(x)*(1 + y^2), it suits the kernel kronecker; with "
                      "[nonlinear] it may depend on u.",
       .type = ValueType::expression},
      [](auto& p) -> auto& { return p.problem.coefficient; });
  registry.add(
      {.name = "problem.reaction",
       .description = "Factor of u in -div(k grad u) + reaction u = source, not negative at "
                      "the quadrature points.",
       .type = ValueType::expression},
      [](auto& p) -> auto& { return p.problem.reaction; });
  registry.add(
      {.name = "problem.capacity",
       .description = "Factor of du/dt in capacity du/dt - div(k grad u) + reaction u = source, "
                      "positive at the quadrature points; with [time] only.",
       .type = ValueType::expression,
       .example = TomlValue{std::string("1")}},
      [](auto& p) -> auto& { return p.problem.capacity; },
      [](const CaseParameters& p) { return p.time.has_value(); });
  registry.add(
      {.name = "problem.source",
       .description = "Right-hand side of -div(k grad u) + reaction u = source; with [nonlinear] "
                      "it may depend on u.",
       .type = ValueType::expression},
      [](auto& p) -> auto& { return p.problem.source; });
  registry.add(
      {.name = "problem.exact",
       .description = "Exact solution, if known; error norms are then reported.",
       .type = ValueType::expression,
       .presence = Presence::optional,
       .example = TomlValue{std::string("sin(pi*x)*sin(pi*y)*sin(pi*z)")}},
      [](auto& p) -> auto& { return p.problem.exact; });
}

void add_boundary(CaseRegistry& registry) {
  for (std::size_t face = 0; face < kFaceNames.size(); ++face) {
    const std::string name = "boundary." + std::string(kFaceNames[face]);
    const auto applies = [face](const CaseParameters& p) {
      return face < 4 || p.mesh.dimension == 3;
    };
    registry.add(
        {.name = name + ".type",
         .description = "Condition on a face (left, right: x; bottom, top: y; back, front: z, "
                        "3D only): u = value, or k du/dn = value, or k du/dn + alpha u = "
                        "value.",
         .family = "boundary.FACE.type"},
        [face](auto& p) -> auto& { return p.boundary[face].type; }, applies);
    registry.add(
        {.name = name + ".value",
         .description = "Right-hand side of the face's condition.",
         .type = ValueType::expression,
         .family = "boundary.FACE.value"},
        [face](auto& p) -> auto& { return p.boundary[face].value; }, applies);
    registry.add(
        {.name = name + ".alpha",
         .description = "Factor of u in the condition of a robin face.",
         .type = ValueType::expression,
         .presence = Presence::optional,
         .default_text = "none; required for robin, not allowed otherwise",
         .example = TomlValue{std::string("1")},
         .family = "boundary.FACE.alpha"},
        [face](auto& p) -> auto& { return p.boundary[face].alpha; }, applies);
  }
}

// "csr and kronecker": the kernels that take no scatter policy.
std::string without_scatter(const std::vector<KernelName>& kernels) {
  std::vector<std::string> names;
  for (const KernelName& kernel : kernels) {
    if (!kernel.takes_scatter) names.push_back(kernel.name);
  }
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " and ") + names[i];
  }
  return text;
}

// From where on auto takes the kernel kronecker.
std::string where_it_suits(const std::vector<KernelName>& kernels) {
  std::string text = "where it suits the case";
  for (const KernelName& kernel : kernels) {
    if (kernel.name != "kronecker" || kernel.min_dofs_on_gpu.empty()) continue;
    text += fmt::format(
        " (on the GPU in 3D from {} DoFs on, by degree, and below for plain CG in one kernel)",
        kernel.min_dofs_on_gpu);
  }
  return text;
}

void add_operator(CaseRegistry& registry, const std::vector<KernelName>& kernels,
                  std::vector<std::string> scatters) {
  std::vector<std::string> names = names_of(kernels);
  names.insert(names.begin(), kAuto);
  registry.add(
      {.name = "operator.kernel",
       .description =
           fmt::format("How the stiffness operator is applied; `tessera list` tells them apart, "
                       "and auto is kronecker {}, stencil at degree 1, tensor elsewhere.",
                       where_it_suits(kernels)),
       .choices = names},
      [](auto& p) -> auto& { return p.operation.kernel; });
  scatters.insert(scatters.begin(), kAuto);
  if (std::find(scatters.begin(), scatters.end(), kNoScatter) == scatters.end()) {
    scatters.emplace_back(kNoScatter);
  }
  registry.add(
      {.name = "operator.scatter",
       .description = fmt::format("How cells add into shared nodes: auto is the policy that was "
                                  "measured fastest on the processor, with run.deterministic of "
                                  "those with the same bits in every run; none for {}, and for "
                                  "them alone; with kernel auto, what tensor gets.",
                                  without_scatter(kernels)),
       .choices = scatters},
      [](auto& p) -> auto& { return p.operation.scatter; });
  registry.add(
      {.name = "operator.factors",
       .description = "How the kernel tensor stores the geometric factors on a mapped or graded "
                      "mesh: stored at each quadrature point, compressed (in 3D), or "
                      "not at all, computed on-the-fly (mapped only); auto is the one that suits.",
       .formerly = "space.geometry"},
      [](auto& p) -> auto& { return p.operation.factors; });
  registry.add(
      {.name = "operator.precision",
       .description = "Floating-point type of the operator and the solver's vectors."},
      [](auto& p) -> auto& { return p.operation.precision; });
}

void add_run_and_output(CaseRegistry& registry) {
  registry.add(
      {.name = "run.device",
       .description = "Where the operator and solver run: auto is cuda if there is a GPU that can "
                      "be used and whose memory the case fits into, else cpu."},
      [](auto& p) -> auto& { return p.run.device; });
  registry.add(
      {.name = kRanksKey,
       .description = "Processes along each axis, whose product is the number that mpirun starts; "
                      "auto is the grid that exchanges least, within one machine slabs."},
      [](auto& p) -> auto& { return p.run.ranks; });
  registry.add(
      {.name = "run.threads",
       .description = "Threads on the CPU, of each process; 0 = all cores that it has to itself.",
       .range = between(0, kMaxThreads)},
      [](auto& p) -> auto& { return p.run.threads; });
  registry.add(
      {.name = "run.deterministic",
       .description = "Whether every run on a machine gives the same bits; what does not is "
                      "refused."},
      [](auto& p) -> auto& { return p.run.deterministic; });
  registry.add(
      {.name = "output.directory",
       .description = "Directory that the results are written to; made if missing."},
      [](auto& p) -> auto& { return p.output.directory; });
  registry.add(
      {.name = "output.vtk", .description = "Whether the solution is written for ParaView."},
      [](auto& p) -> auto& { return p.output.vtk; });
  registry.add(
      {.name = "output.vtk_precision",
       .description = "Floating-point type in solution.vtu; double for further computations. What "
                      "is too large or too small for single has double in any case."},
      [](auto& p) -> auto& { return p.output.vtu.width; });
  registry.add(
      {.name = "output.vtk_compression",
       .description =
           "How solution.vtu is compressed: zlib makes it about a third smaller than lz4, and "
           "takes six times as long; none is the fastest where the disk is."},
      [](auto& p) -> auto& { return p.output.vtu.compression; });
  registry.add(
      {.name = "output.vtk_degree",
       .description = "Degree of the cells in solution.vtu, which have vtk_degree + 1 points along "
                      "each axis with the solution's values there: what is less than space.degree "
                      "makes the file of a large run smaller; 0 stands for space.degree.",
       .range = between(0, kMaxDegree),
       .default_text = "space.degree"},
      [](auto& p) -> auto& { return p.output.vtu.degree; });
  registry.add(
      {.name = "output.picture",
       .description = "Whether the solution is drawn, as solution.png: in 2D with iso-lines, in 3D "
                      "cut open; in time each output, too, and animation.png."},
      [](auto& p) -> auto& { return p.output.picture; });
  registry.add(
      {.name = "output.overwrite",
       .description = "Whether results already in the directory may be replaced."},
      [](auto& p) -> auto& { return p.output.overwrite; });
  registry.add(
      {.name = kProbesKey,
       .description = "Points of the domain whose values are written to probes.csv: listed, or in "
                      "a CSV file with a point per line, whose name is relative to the working "
                      "directory.",
       .presence = Presence::optional,
       .unit = "length units of the problem",
       .example = TomlValue{TomlValue::Array(1, TomlValue{TomlValue::Array(3, TomlValue{0.5})})}},
      [](auto& p) -> auto& { return p.output.probes; });
}

}  // namespace

bool kernel_takes_scatter(const std::vector<KernelName>& kernels, const std::string& name) {
  if (name == kAuto) return true;
  for (const KernelName& kernel : kernels) {
    if (kernel.name == name) return kernel.takes_scatter;
  }
  throw std::logic_error("an unchecked kernel reached the scatter policies: " + name);
}

Registry<CaseParameters> make_case_registry(
    const std::vector<KernelName>& kernels, const std::vector<std::string>& scatters,
    const std::vector<PreconditionerName>& preconditioners) {
  CaseRegistry registry("The case file", {});
  registry.add(
      {.name = "title", .description = "What the case is, in results and plots."},
      [](auto& p) -> auto& { return p.title; });
  add_mesh(registry);
  add_space(registry);
  add_problem(registry);
  add_boundary(registry);
  registry.add(time_keys(), &CaseParameters::time);
  registry.add(nonlinear_keys(), &CaseParameters::nonlinear);
  add_operator(registry, kernels, scatters);
  registry.add(solver_keys(preconditioners, SolverOf::one_case), &CaseParameters::solver);
  add_run_and_output(registry);
  registry.add_check(
      [kernels, scatters, preconditioners](CaseParameters& parameters, Findings& findings) {
        check_case(parameters, kernels, scatters, preconditioners, findings);
      });
  return registry;
}

}  // namespace tessera
