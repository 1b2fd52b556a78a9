// This file declares the keys of [nonlinear].
#include "src/parameters/nonlinear/nonlinear_keys.hpp"

#include "solvers/nonlinear/nonlinear_method.hpp"

namespace tessera {

Keys<NonlinearParameters> nonlinear_keys() {
  Keys<NonlinearParameters> keys;
  keys.add(
      {.name = "nonlinear.method",
       .description =
           "How a problem is solved whose coefficient or source depends on u: newton solves with "
           "the exact Jacobian and squares the error near the solution; picard solves with the "
           "coefficient of the iterate before, and may get there from further away."},
      [](auto& p) -> auto& { return p.method; });
  keys.add(
      {.name = "nonlinear.relative_tolerance",
       .description =
           "The iteration stops when the residual of the non-linear equations is at most this, "
           "relative to that of u = 0 with the Dirichlet values, or to that of the start where "
           "that is 0 or not finite; in time, with steps of a fixed length, when what is left of "
           "the step's change is at most this, relative to u.",
       .range = inside(0, 1)},
      [](auto& p) -> auto& { return p.relative_tolerance; });
  keys.add(
      {.name = "nonlinear.max_iterations",
       .description = "Newton's or Picard's iteration gives up, and the run fails, after this "
                      "many linear systems.",
       .type = ValueType::count,
       .range = between(1, 2147483647)},
      [](auto& p) -> auto& { return p.max_iterations; });
  keys.add(
      {.name = "nonlinear.acceleration",
       .description = "Earlier iterates that picard combines (Anderson acceleration), three "
                      "vectors each; 0 = none.",
       .range = between(0, kMaxAcceleration)},
      [](auto& p) -> auto& { return p.acceleration; });
  keys.add(
      {.name = "nonlinear.line_search",
       .description = "Whether newton shortens its steps until the residual falls."},
      [](auto& p) -> auto& { return p.line_search; });
  return keys;
}

}  // namespace tessera
