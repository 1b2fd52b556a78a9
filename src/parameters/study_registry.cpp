// This file declares the keys of study files, but those of [solver].
#include <fmt/format.h>

#include <utility>

#include "src/parameters/limits.hpp"
#include "src/parameters/solver_keys.hpp"
#include "src/parameters/study_parameters.hpp"

namespace tessera {

namespace {

using StudyRegistry = Registry<StudyParameters>;

void add_strategies(StudyRegistry& registry, const std::vector<KernelName>& kernels,
                    std::vector<std::string> scatters) {
  scatters.insert(scatters.begin(), kAuto);
  registry.add(
      {.name = "study.kernels",
       .description =
           "Kernels to measure; `tessera list` tells them apart. Solves take the one that auto "
           "would, if it is named here, else the first that is for the problem.",
       .choices = names_of(kernels)},
      [](auto& p) -> auto& { return p.kernels; });
  registry.add(
      {.name = "study.scatters",
       .description = "Scatter policies to measure, each with every kernel that takes one; auto is "
                      "the fastest on the study's processor.",
       .choices = scatters},
      [](auto& p) -> auto& { return p.scatters; });
  registry.add(
      {.name = "study.factors",
       .description = "How the kernel tensor stores the geometric factors on mapped meshes, as "
                      "operator.factors of a case file; measured one after another.",
       .formerly = "study.geometry_forms"},
      [](auto& p) -> auto& { return p.factors; });
  registry.add(
      {.name = "study.precision", .description = "Floating-point types of the operators."},
      [](auto& p) -> auto& { return p.precision; });
  registry.add(
      {.name = "study.device",
       .description = "Where the operators run.",
       .choices = {std::string(name_of(RunDevice::cpu)), std::string(name_of(RunDevice::cuda))}},
      [](auto& p) -> auto& { return p.device; });
  registry.add(
      {.name = "study.transfers",
       .description = "On the GPU, also time each repetition with the copy of x to the GPU before "
                      "and of y back after its applications."},
      [](auto& p) -> auto& { return p.transfers; });
  registry.add(
      {.name = "study.threads",
       .description = "Numbers of threads on the CPU; 0 = all cores.",
       .range = between(0, kMaxThreads)},
      [](auto& p) -> auto& { return p.threads; });
}

void add_problems(StudyRegistry& registry) {
  registry.add(
      {.name = "study.degrees",
       .description = "Polynomial degrees p of the elements.",
       .range = between(1, kMaxDegree)},
      [](auto& p) -> auto& { return p.degrees; });
  registry.add(
      {.name = "study.dimensions",
       .description = "Numbers of axes of the unit box.",
       .range = between(2, 3)},
      [](auto& p) -> auto& { return p.dimensions; });
  registry.add(
      {.name = "study.dofs",
       .description = "Sizes to aim at, met as nearly as whole cells allow; 1e6 is taken too.",
       .type = ValueType::count,
       .range = between(1, 1e15),
       .unit = "DoFs"},
      [](auto& p) -> auto& { return p.dofs; });
  registry.add(
      {.name = "study.dofs_per_rank",
       .description = "Sizes to aim at for each process, measured after those of study.dofs: the "
                      "problem grows with the processes, where that of study.dofs does not.",
       .type = ValueType::count,
       .presence = Presence::optional,
       .range = between(1, 1e12),
       .unit = "DoFs",
       .default_text = "none",
       .example = TomlValue{TomlValue::Array(1, TomlValue{std::int64_t{1000000}})}},
      [](auto& p) -> auto& { return p.dofs_per_rank; });
  registry.add(
      {.name = "study.geometry",
       .description = "Equal boxes, or the study's map, which gives every cell its own "
                      "geometric factors."},
      [](auto& p) -> auto& { return p.geometry; });
  registry.add(
      {.name = "study.map",
       .description = "Physical point of each point x, y, z of the unit cube, for geometry "
                      "\"mapped\"; three expressions, of which 2D takes the first two with "
                      "z = 0.",
       .type = ValueType::expression,
       .shape = Shape::per_axis},
      [](auto& p) -> auto& { return p.map; });
  registry.add(
      {.name = "study.quadrature", .description = "Quadrature rule along each axis."},
      [](auto& p) -> auto& { return p.quadrature; });
  registry.add(
      {.name = "study.extra_points",
       .description = "Quadrature points along an axis beyond the degree: 1 makes degree + 1 "
                      "points, 2 the points of BP3.",
       .range = between(1, kMaxPoints - kMaxDegree)},
      [](auto& p) -> auto& { return p.extra_points; });
}

void add_measurement(StudyRegistry& registry) {
  registry.add(
      {.name = "study.applications",
       .description = "Operator applications that one repetition times together.",
       .range = between(1, 1000000)},
      [](auto& p) -> auto& { return p.applications; });
  registry.add(
      {.name = "study.repetitions",
       .description = "Repetitions of each measurement.",
       .range = between(1, 1000000)},
      [](auto& p) -> auto& { return p.repetitions; });
  registry.add(
      {.name = "study.time_limit_s",
       .description = "Time for one measurement; once exceeded, fewer repetitions are made, "
                      "but at least 3.",
       .range = inside(0, 1e6),
       .unit = "seconds"},
      [](auto& p) -> auto& { return p.time_limit_s; });
  registry.add(
      {.name = "study.agree_tolerance",
       .description = "Largest relative difference between two strategies' results that "
                      "counts as agreement, in double precision; 4e-6 for csr-single.",
       .range = inside(0, 1)},
      [](auto& p) -> auto& { return p.agree_tolerance; });
  registry.add(
      {.name = "study.memory_limit",
       .description = "Measurements that need more memory are left out, and said so; 0 = the "
                      "memory of the machine.",
       .type = ValueType::count,
       .range = at_least(0),
       .unit = "bytes"},
      [](auto& p) -> auto& { return p.memory_limit; });
  registry.add(
      {.name = "study.output",
       .description = "CSV file for the measurements; an empty string = none."},
      [](auto& p) -> auto& { return p.output; });
  registry.add(
      {.name = "study.append",
       .description = "Leave the rows in study.output that were measured by other numbers of "
                      "processes, if they are of the same study, machine and program, and print "
                      "how well processes share the work."},
      [](auto& p) -> auto& { return p.append; });
}

void add_solvers(StudyRegistry& registry, const std::vector<PreconditionerName>& preconditioners) {
  std::vector<std::string> names = names_of(preconditioners);
  names.emplace_back(kFullMultigrid);
  registry.add(
      {.name = "study.solvers",
       .description = "Preconditioners to measure solves with, instead of applications: the "
                      "Poisson problem whose solution is the product of exp(t)*sin(pi*t) over "
                      "the axes, by the kernel that study.kernels says; full-multigrid is one "
                      "start without iterations. Left out, applications are measured.",
       .presence = Presence::optional,
       .choices = names,
       .default_text = "none: applications are measured",
       .example = TomlValue{TomlValue::Array(1, TomlValue{std::string("multigrid")})}},
      [](auto& p) -> auto& { return p.solvers; });
}

void check_study(StudyParameters& parameters, Findings& findings) {
  if (!findings.has_error("study.map") && parameters.map.size() != 3) {
    findings.report("study.map",
                    fmt::format("must have 3 entries, one per axis, in 2D too; it has {}",
                                parameters.map.size()));
  }
  if (parameters.append && parameters.output.empty() && !findings.has_error("study.output")) {
    findings.report("study.append", "needs study.output, the file that rows are added to");
  }
}

}  // namespace

Registry<StudyParameters> make_study_registry(
    const std::vector<KernelName>& kernels, const std::vector<std::string>& scatters,
    const std::vector<PreconditionerName>& preconditioners) {
  StudyParameters defaults;
  defaults.kernels = names_of(kernels);
  StudyRegistry registry("The study file", std::move(defaults));
  registry.add(
      {.name = "title", .description = "What is compared, in the tables."},
      [](auto& p) -> auto& { return p.title; });
  add_strategies(registry, kernels, scatters);
  add_problems(registry);
  add_measurement(registry);
  add_solvers(registry, preconditioners);
  registry.add(solver_keys(preconditioners, SolverOf::study), &StudyParameters::solver);
  registry.add_check(check_study);
  return registry;
}

}  // namespace tessera
