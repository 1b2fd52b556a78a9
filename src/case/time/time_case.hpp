// What a case's table [time] means.
#pragma once

#include <string>
#include <vector>

#include "mesh/scalar_field.hpp"
#include "operators/form/bilinear_form.hpp"
#include "solvers/time/time_integrator.hpp"
#include "src/case/setup.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// When solutions are written: at start, at each whole number of output intervals after it, and at
/// end, which the last of these stands for where they differ by rounding alone.
std::vector<double> output_times(const TimeParameters& time);

/// Times of output that are no further apart than this are the same.
double time_rounding(const TimeParameters& time);

/// Whether [solver] means anything: explicit steps divide by a lumped mass.
bool solves_systems(const CaseParameters& parameters);

/// What the method of a case in time is asked for.
TimeOptions time_options(const CaseParameters& parameters);

/// When a case in time begins and ends, how it steps and what it writes: "0 to 1, sdirk of order 3,
/// steps by tolerance 0.0001, output every 0.1 (11 times)".
std::string time_text(const TimeParameters& time);

/// A moment of a case in time that is like most others; 0 for other cases.
double typical_time(const CaseParameters& parameters);

/// A field of the case as decisions by its structure see it, before anything is computed: where it
/// depends on time, at typical_time(). The text is a checked expression.
ScalarField typical_field(const CaseParameters& parameters, const std::string& text);

/// The kind of the reaction in the operator of the case: with `[time]`, that of
/// capacity / (gamma dt) + reaction, which a step has; with `[nonlinear]` that of a Jacobian.
ReactionKind operator_reaction(const CaseParameters& parameters);

}  // namespace tessera
