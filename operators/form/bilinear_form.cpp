// This file decides whether terms of a form vanish or are those of another form, and whether it has
// a null space.
#include "operators/form/bilinear_form.hpp"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "mesh/element/face_quadrature.hpp"
#include "mesh/field/field_program.hpp"
#include "mesh/geometry/cell_geometry.hpp"
#include "mesh/geometry/factor_kind.hpp"
#include "mesh/lanes/cell_batches.hpp"
#include "mesh/partition.hpp"
#include "operators/form/on_all_ranks.hpp"
#include "operators/form/updatable.hpp"

namespace tessera {

bool vanishes(const RobinTerm& term, const Discretization& discretization) {
  if (term.alpha.constant) return *term.alpha.constant == 0.0;
  const FaceQuadrature quadrature = make_face_quadrature(discretization, term.face);
  std::vector<double> alpha(quadrature.measure.size());
  term.alpha.evaluate(quadrature.positions(), alpha.data());
  // NaN is not 0: whoever uses the term refuses it.
  return std::all_of(alpha.begin(), alpha.end(), [](double value) { return value == 0.0; });
}

bool vanishes(const ScalarField& field, const Discretization& discretization, const double* u) {
  if (field.constant) return *field.constant == 0.0;
  const CellBatches batches(discretization.mesh, kLanes<double>, sizeof(double), 1);
  std::atomic<bool> is_zero = true;
  parallel_ranges(static_cast<Index>(batches.bricks().size()), [&](Range range) {
    CellGeometry geometry(discretization, discretization.basis, u);
    std::vector<double> values;
    for (Index b = range.begin; b < range.end && is_zero; ++b) {
      batches.for_each_batch(batches.bricks()[b], [&](const CellBatch& batch) {
        if (!is_zero) return;
        geometry.evaluate(std::span(batch.cells.data(), kLanes<double>));
        values.resize(geometry.positions().n);
        field.evaluate(geometry.positions(), values.data());
        if (std::any_of(values.begin(), values.end(), [](double value) { return value != 0.0; })) {
          is_zero = false;
        }
      });
    }
  });
  return is_zero;
}

bool is_pure_neumann(const BilinearForm& form) {
  const bool is_so_here = on_all_ranks(form, [&] {
    return form.dirichlet.none() &&
           vanishes(form.reaction, *form.discretization, form.context().u) &&
           std::all_of(form.robin.begin(), form.robin.end(),
                       [&](const RobinTerm& term) { return vanishes(term, *form.discretization); });
  });
  return form.part ? !form.part->rank->ranks().any(!is_so_here) : is_so_here;
}

BilinearForm form_on_part(BilinearForm whole, const Discretization& part,
                          std::shared_ptr<const RankPart> rank) {
  BilinearForm form = std::move(whole);
  form.discretization = &part;
  form.state = nullptr;
  form.part = std::make_shared<const PartOfWhole>(PartOfWhole{rank, form.dirichlet, form.robin});
  form.dirichlet &= rank->domain_faces();
  std::erase_if(form.robin,
                [&](const RobinTerm& term) { return !rank->domain_faces()[term.face]; });
  return form;
}

void sum_over_ranks(const BilinearForm& form, HostVector<double>& b) {
  if (form.part) form.part->rank->exchange<double>(form.dirichlet).add(b);
}

namespace {

bool are_same(const FieldProgram& a, const FieldProgram& b) {
  const auto is_same = [](const Instruction& one, const Instruction& other) {
    return one.operation == other.operation && one.operand == other.operand &&
           one.value == other.value;
  };
  return a.origin == b.origin && a.length == b.length && a.subtracted == b.subtracted &&
         a.divisor == b.divisor && a.t == b.t && a.unit_of_u == b.unit_of_u &&
         std::equal(a.code.begin(), a.code.end(), b.code.begin(), b.code.end(), is_same);
}

}  // namespace

bool are_same(const ScalarField& a, const ScalarField& b) {
  if (a.constant || b.constant) return a.constant == b.constant;
  if (a.program == nullptr || b.program == nullptr) return false;
  // Made anew at each time, also where the time does not matter.
  return a.program == b.program || are_same(*a.program, *b.program);
}

bool are_same(const std::vector<RobinTerm>& a, const std::vector<RobinTerm>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const RobinTerm& one, const RobinTerm& other) {
                      return one.face == other.face && are_same(one.alpha, other.alpha);
                    });
}

bool differ_in_number_only(const BilinearForm& a, const BilinearForm& b) {
  // The same fields have other values at another u.
  if (a.depends_on_u() || b.depends_on_u()) return false;
  return are_same(a.coefficient, b.coefficient) && are_same(a.robin, b.robin) &&
         reaction_kind(a.reaction) == reaction_kind(b.reaction) &&
         (a.reaction.constant || are_same(a.reaction, b.reaction));
}

}  // namespace tessera
