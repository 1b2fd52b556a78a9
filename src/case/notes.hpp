// These notes tell a user what is unwise in a case.
#pragma once

#include <string>
#include <vector>

#include "mesh/element/basis_1d.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// max over [0, 1] of sum_i |l_i|, l_i the Lagrange polynomials of these nodes: by how much errors
/// of nodal values, rounding among them, can grow in between.
double lebesgue_constant(const std::vector<double>& nodes);

/// What rounding does to a case of its nodes, which is also why its solver may fail: the product of
/// the constants of all axes is by how much it grows at least. Empty where that is little.
std::string lost_digits_text(const CaseParameters& parameters);

/// What a user should know of a case that is allowed but unwise, a sentence each.
std::vector<std::string> case_notes(const CaseParameters& parameters);

}  // namespace tessera
