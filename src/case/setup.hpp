// These functions make the mesh, the space and the problem of a case.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cases/problem/poisson_problem.hpp"
#include "mesh/discretization.hpp"
#include "operators/ranks/rank_part.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

using LoadedCase = Loaded<CaseParameters>;

/// The keys of case files, for the strategies that there are; expressions are parsed as part of the
/// checks.
Registry<CaseParameters> make_case_registry();

/// The case as a file that repeats a run, but does not replace results because that run did.
std::string repeatable_text(CaseParameters parameters);

/// The box of the case, without its map.
BoxMesh make_box_mesh(const CaseParameters& parameters);

/// mean_cell_widths() of the case, from a few values of its map.
Point case_cell_widths(const CaseParameters& parameters);

/// Mesh, space and map of the case; the map is evaluated.
Discretization make_discretization(const CaseParameters& parameters);

/// The same, or a rank's part of it, in its natural frame, which is that of the whole; on the GPU
/// node positions of a mapped mesh are evaluated and kept in its memory.
/// @param makes where positions are made
/// @param part null: the whole; else all ranks call this together
Discretization make_framed_discretization(const CaseParameters& parameters, Processor makes,
                                          const RankPart* part = nullptr);

/// The space that `make` makes of a rank's part or, without one, of the whole, in its natural
/// frame, which is that of the whole. @throws LostDigits, what `make` throws, on all ranks
Discretization in_natural_frame(const RankPart* part, const std::function<Discretization()>& make);

/// Whether they are, with the processor of the case, unless values are found that are not allowed.
bool makes_positions_on_gpu(const CaseParameters& parameters);

/// The continuous problem of the case; with `[time]` at its typical_time().
PoissonProblem make_problem(const CaseParameters& parameters);

/// `exact` of the case, with `[time]` at t.
std::optional<ScalarField> make_exact(const CaseParameters& parameters, double t = 0.0);

/// Where the case starts: `[time]`'s initial, or the solver's.
ScalarField make_initial(const CaseParameters& parameters);

/// Runs `work`, and turns what it throws about the values of the case's expressions into an
/// InputError that names file, line and key; NoDevice names them as well.
void with_case_errors(const LoadedCase& loaded, const std::function<void()>& work);

}  // namespace tessera
