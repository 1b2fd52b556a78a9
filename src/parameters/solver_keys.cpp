// This file declares the keys of [solver].
#include "src/parameters/solver_keys.hpp"

#include "src/parameters/limits.hpp"

namespace tessera {

void add_chebyshev_keys(Keys<SolverParameters>& keys) {
  keys.add(
      {.name = "solver.chebyshev.degree",
       .description = "Applications of the operator and the diagonal in the preconditioner "
                      "chebyshev.",
       .range = between(1, kMaxSmootherDegree),
       .formerly = "study.chebyshev_degree"},
      [](auto& p) -> auto& { return p.chebyshev.degree; });
  keys.add(
      {.name = "solver.chebyshev.range",
       .description = "Largest over smallest eigenvalue of the interval that the polynomial of "
                      "chebyshev is made for; the largest is estimated.",
       .range = between(2, 1e6)},
      [](auto& p) -> auto& { return p.chebyshev.range; });
}

void add_multigrid_keys(Keys<SolverParameters>& keys) {
  keys.add(
      {.name = "solver.multigrid.levels",
       .description =
           "Most levels, the finest included; 0 = down to one of at most 1000 DoFs, or 400 on the "
           "CPU where its inverse counts.",
       .range = between(0, 64)},
      [](auto& p) -> auto& { return p.multigrid.levels; });
  keys.add(
      {.name = "solver.multigrid.coarsening",
       .description = "What is halved first: the degree, to 1, or the cells along each axis (auto: "
                      "cells up to degree 4, on a GPU not on small levels, and for a start by "
                      "full-multigrid); where cells are "
                      "much longer along some axes, the others come before either.",
       .formerly = "study.coarsening"},
      [](auto& p) -> auto& { return p.multigrid.coarsening; });
  keys.add(
      {.name = "solver.multigrid.smoother",
       .description = "What smooths on each level; the asynchronous one needs the method "
                      "flexible-cg, flexible-gmres or richardson.",
       .formerly = "study.smoother"},
      [](auto& p) -> auto& { return p.multigrid.smoother; });
  keys.add(
      {.name = "solver.multigrid.smoother_degree",
       .description = "Steps of the smoother before and after the coarser levels.",
       .range = between(1, kMaxSmootherDegree),
       .formerly = "study.smoother_degree"},
      [](auto& p) -> auto& { return p.multigrid.smoother_degree; });
  keys.add(
      {.name = "solver.multigrid.precision",
       .description = "Floating-point type of the cycle; the solution has that of the operator.",
       .formerly = "study.cycle_precision"},
      [](auto& p) -> auto& { return p.multigrid.precision; });
  keys.add(
      {.name = "solver.multigrid.start_cycles",
       .description = "Cycles on each level of a start by full multigrid.",
       .range = between(1, 20),
       .formerly = "study.start_cycles"},
      [](auto& p) -> auto& { return p.multigrid.start_cycles; });
}

void add_block_jacobi_keys(Keys<SolverParameters>& keys) {
  keys.add(
      {.name = "solver.block_jacobi.sweeps",
       .description = "Sweeps over all blocks in block-jacobi and block-asynchronous-jacobi.",
       .range = between(1, kMaxSmootherDegree),
       .formerly = "study.sweeps"},
      [](auto& p) -> auto& { return p.block_jacobi.sweeps; });
  keys.add(
      {.name = "solver.block_jacobi.local_sweeps",
       .description = "Sweeps within a block, on the values present, in each of them.",
       .range = between(1, kMaxSmootherDegree),
       .formerly = "study.local_sweeps"},
      [](auto& p) -> auto& { return p.block_jacobi.local_sweeps; });
}

Keys<SolverParameters> solver_keys(const std::vector<PreconditionerName>& preconditioners,
                                   SolverOf of) {
  Keys<SolverParameters> keys;
  keys.add(
      {.name = "solver.method",
       .description = "Iterative method: conjugate gradients, with one reduction an iteration, "
                      "with that reduction hidden (pipelined), for preconditioners that vary "
                      "(flexible), or x += M (b - A x) with the preconditioner M (richardson); "
                      "flexible-gmres and bicgstab need no symmetry.",
       .formerly = "study.method"},
      [](auto& p) -> auto& { return p.method; });
  if (of == SolverOf::one_case) {
    std::vector<std::string> names = names_of(preconditioners);
    names.insert(names.begin(), kAuto);
    keys.add(
        {.name = "solver.preconditioner",
         .description = "Approximate inverse that the method applies in each iteration: auto is "
                        "fast-diagonalization where it is the inverse, multigrid elsewhere.",
         .choices = names},
        [](auto& p) -> auto& { return p.preconditioner; });
  }
  keys.add(
      {.name = "solver.relative_tolerance",
       .description = std::string("The solver stops when ||b - A x|| / ||b|| is at most this; in "
                                  "single precision at least 1e-6.") +
                      (of == SolverOf::one_case
                           ? " Systems of [nonlinear] are solved to what its iteration asks for, "
                             "but not to less than this."
                           : ""),
       .range = inside(0, 1),
       .formerly = "study.relative_tolerance"},
      [](auto& p) -> auto& { return p.relative_tolerance; });
  keys.add(
      {.name = "solver.max_iterations",
       .description = "The solver gives up, and the run fails, after this many iterations.",
       .type = ValueType::count,
       .range = between(1, 2147483647),
       .formerly = "study.max_iterations"},
      [](auto& p) -> auto& { return p.max_iterations; });
  if (of == SolverOf::one_case) {
    keys.add(
        {.name = "solver.initial",
         .description = "Where the iteration starts, near the solution to save iterations; or "
                        "full-multigrid: from the solution on coarser meshes, level by level.",
         .type = ValueType::expression},
        [](auto& p) -> auto& { return p.initial; });
  }
  keys.add(
      {.name = "solver.residual_replacement",
       .description = "Iterations after which the residual is computed anew as b - A x, against "
                      "the drift of the one that is updated; 0 = only at the end.",
       .range = between(0, 1000000)},
      [](auto& p) -> auto& { return p.residual_replacement; });
  keys.add(
      {.name = "solver.restart",
       .description = "Iterations after which flexible-gmres gives up its directions and begins "
                      "anew; it keeps two vectors for each.",
       .range = between(1, kMaxRestart)},
      [](auto& p) -> auto& { return p.restart; });
  for (const PreconditionerName& preconditioner : preconditioners) {
    if (preconditioner.add_keys != nullptr) preconditioner.add_keys(keys);
  }
  return keys;
}

}  // namespace tessera
