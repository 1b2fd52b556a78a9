// This enumeration names the ways in which the kernel tensor keeps its geometric factors.
#pragma once

#include <array>
#include <stdexcept>
#include <string_view>

namespace tessera {

/// How the kernel tensor gets D_q = w_q |J| k J^-1 J^-T at the quadrature points where the factors
/// are FactorKind::general; with other factors it is `stored` and means nothing.
enum class GeometryForm {
  stored,      // d (d + 1) / 2 values per point, in the precision of the operator
  compressed,  // the same, 42 bits (float: 21) each, relative to their range in the cell; 3D
  on_the_fly,  // computed in every application from the positions of the cell's nodes, and k
  stencil      // p = 1: no D_q; the matrix, (3^d + 1) / 2 values a node without indices
};

inline constexpr std::array<GeometryForm, 4> kGeometryForms = {
    GeometryForm::stored, GeometryForm::compressed, GeometryForm::on_the_fly,
    GeometryForm::stencil};

/// The form's name in files and messages.
constexpr std::string_view geometry_name(GeometryForm form) {
  switch (form) {
    case GeometryForm::stored:
      return "stored";
    case GeometryForm::compressed:
      return "compressed";
    case GeometryForm::on_the_fly:
      return "on-the-fly";
    case GeometryForm::stencil:
      return "stencil";
  }
  throw std::logic_error("a geometry form has no name");
}

}  // namespace tessera
