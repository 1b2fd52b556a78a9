// This file declares the keys of [time].
#include "src/parameters/time/time_keys.hpp"

#include "src/parameters/limits.hpp"

namespace tessera {

Keys<TimeParameters> time_keys() {
  constexpr char kUnit[] = "time units of the problem";
  Keys<TimeParameters> keys;
  keys.add(
      {.name = "time.start", .description = "Time at which u is given.", .unit = kUnit},
      [](auto& p) -> auto& { return p.start; });
  keys.add(
      {.name = "time.end",
       .description = "Time up to which the problem is integrated, greater than start.",
       .presence = Presence::required_in_table,
       .unit = kUnit,
       .example = TomlValue{1.0}},
      [](auto& p) -> auto& { return p.end; });
  keys.add(
      {.name = "time.initial",
       .description = "u at start; Dirichlet faces have their own values.",
       .type = ValueType::expression},
      [](auto& p) -> auto& { return p.initial; });
  keys.add(
      {.name = "time.method",
       .description =
           "How steps are made: sdirk is diagonally implicit Runge-Kutta, bdf has several steps "
           "and varies its order, both for stiff problems such as diffusion; explicit-rk solves "
           "no system, and takes steps as small as its stability on the mesh needs; for that its "
           "mass matrix is diagonal (lumped), another discretization than that of the other "
           "methods, with errors of the same order in space."},
      [](auto& p) -> auto& { return p.method; });
  keys.add(
      {.name = "time.order",
       .description = "Order of the method, of bdf the highest: 2 to 4 for sdirk and explicit-rk, "
                      "1 to 5 for bdf, 1 for backward-euler.",
       .range = between(1, kMaxTimeOrder),
       .default_text = "3 for sdirk and explicit-rk, 5 for bdf, 1 for backward-euler",
       .example = TomlValue{std::int64_t{3}}},
      [](auto& p) -> auto& { return p.order; });
  keys.add(
      {.name = "time.tolerance",
       .description =
           "Steps adapt so that the estimated error of each, as a root mean square, is at "
           "most this times the solution's, or absolute_tolerance where that is more.",
       .presence = Presence::optional,
       .range = inside(1e-15, 1),
       .default_text = "1e-4 unless step is given",
       .example = TomlValue{1e-4}},
      [](auto& p) -> auto& { return p.tolerance; });
  keys.add(
      {.name = "time.absolute_tolerance",
       .description = "Error of a step that is always allowed, as a root mean square: it matters "
                      "where the solution is small, and is best tolerance times the size of values "
                      "of which nothing smaller is of interest.",
       .presence = Presence::optional,
       .range = greater_than(0),
       .unit = "units of the solution",
       .default_text = "tolerance, as for a solution of about 1",
       .example = TomlValue{1e-4}},
      [](auto& p) -> auto& { return p.absolute_tolerance; });
  keys.add(
      {.name = "time.step",
       .description = "Length of steps that are all the same, in the place of tolerance; those "
                      "that end at an output or at end may be shorter.",
       .presence = Presence::optional,
       .range = greater_than(0),
       .unit = kUnit,
       .default_text = "none: steps adapt to tolerance",
       .example = TomlValue{0.01}},
      [](auto& p) -> auto& { return p.step; });
  keys.add(
      {.name = "time.max_step",
       .description =
           "Length that no adaptive step exceeds. The data are looked at in steps and at "
           "their ends: what happens for less than this time may be passed over.",
       .presence = Presence::optional,
       .range = greater_than(0),
       .unit = kUnit,
       .default_text = "none: the tolerance alone decides",
       .example = TomlValue{0.1}},
      [](auto& p) -> auto& { return p.max_step; });
  keys.add(
      {.name = "time.output_interval",
       .description = "Time between two solutions that are written, counted from start; start and "
                      "end are written too.",
       .presence = Presence::optional,
       .range = greater_than(0),
       .unit = kUnit,
       .default_text = "none: only start and end are written",
       .example = TomlValue{0.1}},
      [](auto& p) -> auto& { return p.output_interval; });
  keys.add(
      {.name = "time.checkpoint_interval",
       .description = "Time between two checkpoints (checkpoint.h5, from which tessera run "
                      "--restart goes on), counted from start: the first step that ends at or "
                      "after each multiple writes one, and so does the end of the run.",
       .presence = Presence::optional,
       .range = greater_than(0),
       .unit = kUnit,
       .default_text = "none: only a run that is interrupted writes one",
       .example = TomlValue{0.5}},
      [](auto& p) -> auto& { return p.checkpoint_interval; });
  return keys;
}

}  // namespace tessera
