// A FactorKind says how much of the geometric factors differs from cell to cell.
#pragma once

#include "mesh/geometry/mapping.hpp"
#include "mesh/index.hpp"
#include "mesh/scalar_field.hpp"

namespace tessera {

/// How much of D_q = w_q |J| k J^-1 J^-T differs from cell to cell.
enum class FactorKind {
  constant,  // equal cells, k constant: one scalar per point, shared by all cells, times a diagonal
  scaled,    // equal cells, k varies: one scalar per point and cell, times a shared diagonal
  general    // graded or mapped: d (d + 1) / 2 entries per point and cell
};

/// What a form has beside its gradient term: nothing, or (c u, v) with c a number or a function.
enum class ReactionKind { none, constant, varying };

/// What values a reaction may have: those of a Jacobian may be negative.
enum class ReactionSign { non_negative, any };

/// What a form's coefficient and reaction are evaluated with.
struct FieldContext {
  /// u at the nodes, null if it is not known.
  const double* u = nullptr;
  ReactionSign reaction_sign = ReactionSign::non_negative;
};

/// The kind of a reaction c; `none` if it is the number 0.
ReactionKind reaction_kind(const ScalarField& reaction);

/// The kind that cells, equal or not, need with this coefficient and reaction.
FactorKind factor_kind(const Mapping& mapping, const ScalarField& coefficient,
                       const ScalarField& reaction);

/// Whether a form is (c u, v) alone: k is the number 0.
inline bool is_mass(const ScalarField& coefficient, const ScalarField& reaction) {
  return is_zero(coefficient) && reaction_kind(reaction) != ReactionKind::none;
}

/// Entries of one point's symmetric D_q: 3 in 2D, 6 in 3D.
constexpr int factor_entries(int dimension) { return dimension * (dimension + 1) / 2; }

/// Values of one point: the entries of D_q, or a scalar, and w_q |J| c where there is a reaction.
constexpr int factor_values(FactorKind kind, ReactionKind reaction, int dimension) {
  return (kind == FactorKind::general ? factor_entries(dimension) : 1) +
         (reaction == ReactionKind::none ? 0 : 1);
}

}  // namespace tessera
