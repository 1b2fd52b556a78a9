// These functions choose how the kernel tensor keeps its geometric factors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mesh/geometry/factor_kind.hpp"
#include "mesh/geometry/geometry_form.hpp"
#include "operators/form/bilinear_form.hpp"
#include "solvers/execution.hpp"

namespace tessera {

/// Whether the mesh has the position of every node in memory: a mapped one has, a graded one not.
enum class NodePositions { stored, implied };

/// What decides which forms the factors of the kernel tensor can have.
struct GeometrySetting {
  Processor processor;
  FactorKind factors;
  NodePositions positions;
  int dimension;
  int degree;
  /// Quadrature points an axis.
  int points;
  /// The policy by which the kernel tensor's cells add; it means nothing to a stencil.
  std::string scatter;
};

/// The scatter policy of the GPU whose thread blocks add bricks of cells in shared memory: only the
/// unrolled tensor kernels with stored factors have it.
inline constexpr std::string_view kPatchScatter = "patch";

/// @param scatter policy of the kernel tensor
GeometrySetting geometry_setting(const BilinearForm& form, Processor processor,
                                 const std::string& scatter);

/// Why the kernel tensor cannot have the scatter policy with factors of this form, in a user's
/// words; empty if it can.
std::string why_no_scatter(GeometryForm form, const GeometrySetting& setting);

/// Why the factors cannot have this form, in a user's words; empty if they can. `stored` is not
/// refused for the scatter policy: no other form has one that `stored` has not.
std::string why_no_geometry(GeometryForm form, const GeometrySetting& setting);

/// The forms that the factors can have, `stored` first: it is always there, and alone unless the
/// factors are general.
std::vector<GeometryForm> geometry_forms(const GeometrySetting& setting);

/// A form and why it was taken: "degree 1".
struct ChosenGeometry {
  GeometryForm form;
  std::string_view reason;
};

/// The form that applies fastest as far as is known, one of geometry_forms().
ChosenGeometry choose_geometry(const GeometrySetting& setting);

}  // namespace tessera
