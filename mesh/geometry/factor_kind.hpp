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

/// The kind that this mapping and coefficient need.
FactorKind factor_kind(const Mapping& mapping, const ScalarField& coefficient);

/// Entries of one point's symmetric D_q: 3 in 2D, 6 in 3D.
constexpr int factor_entries(int dimension) { return dimension * (dimension + 1) / 2; }

}  // namespace tessera
