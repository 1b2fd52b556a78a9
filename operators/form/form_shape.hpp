// All that decisions about a form's operators depend on.
#pragma once

#include "mesh/box_mesh.hpp"
#include "mesh/face.hpp"
#include "mesh/geometry/factor_kind.hpp"
#include "mesh/node_lattice.hpp"
#include "operators/form/bilinear_form.hpp"
#include "solvers/execution.hpp"

namespace tessera {

/// Where the cells of a mesh are: equal boxes, boxes between grid lines of any spacing, or images
/// of boxes, whose node positions are then in memory.
enum class MeshKind { uniform, graded, mapped };

/// How the coefficient k depends on position: not at all, as a product of functions of one
/// coordinate, or in another way.
enum class CoefficientKind { constant, separable, general };

/// Whether coefficient or reaction depend on the solution u, and are taken at a state.
enum class StateKind { none, given };

/// Which terms a form has: those of a BilinearForm, or (c u, v) alone, k being 0.
enum class FormTerms { all, mass };

/// The size and structure of a form and of the vectors of its operator, but no values. It is made
/// from a form or, before anything is allocated, from a case's parameters; strategies, memory and
/// levels are chosen and counted by it, so that both ways end in the same decision.
struct FormShape {
  Processor processor = Processor::cpu;
  /// Bytes of a value of the operator.
  Index value_bytes = sizeof(double);
  BoxMesh mesh;
  NodeLattice lattice;
  /// Quadrature points per axis.
  int points;
  MeshKind mesh_kind;
  CoefficientKind coefficient;
  FaceSet dirichlet;
  ReactionKind reaction = ReactionKind::none;
  StateKind state = StateKind::none;
  FormTerms terms = FormTerms::all;

  int dimension() const { return mesh.dimension(); }
  int degree() const { return lattice.degree(); }
  /// How much of D_q differs from cell to cell.
  FactorKind factors() const;
};

/// The shape of a form's operators on a processor, with values of so many bytes.
FormShape form_shape(const BilinearForm& form, Processor processor, Index value_bytes);

/// That of the whole, where the form is a part of it: what all ranks have to decide alike is
/// decided by it.
FormShape whole_shape(const BilinearForm& form, Processor processor, Index value_bytes);

/// The same form on a coarser mesh and with another degree, with as many more points than the
/// degree: a coarser level.
FormShape on_level(const FormShape& shape, const BoxMesh& mesh, int degree);

/// The kinds of a mesh without a map, of a discretization's mesh, and of a coefficient.
MeshKind unmapped_kind(const BoxMesh& mesh);
MeshKind mesh_kind(const Discretization& discretization);
CoefficientKind coefficient_kind(const ScalarField& coefficient);

}  // namespace tessera
