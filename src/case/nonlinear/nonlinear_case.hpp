// What a case's table [nonlinear] means.
#pragma once

#include <string_view>

#include "cases/expression.hpp"
#include "operators/form/form_shape.hpp"
#include "src/case/setup.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// The variables of the expression of a key of [problem] or [boundary].
Variables case_variables(std::string_view key, const CaseParameters& parameters);

/// Whether the coefficient or the source of the case depends on u; they are checked expressions.
bool is_nonlinear(const CaseParameters& parameters);

/// Whether the forms that the case is solved with depend on u: that of a Jacobian has the
/// coefficient and the derivative of the source, that of Picard's iteration the coefficient.
StateKind case_state(const CaseParameters& parameters);

/// @throws InputError if the case depends on u, which the command does not know
void require_linear(const LoadedCase& loaded, std::string_view command);

}  // namespace tessera
