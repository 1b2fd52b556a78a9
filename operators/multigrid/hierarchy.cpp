// This file discretizes a form on coarser levels, and drops levels that do not resolve the data.
#include "operators/multigrid/hierarchy.hpp"

#include "mesh/geometry/geometric_factors.hpp"
#include "operators/form/robin_faces.hpp"

namespace tessera {
namespace {

// The state of a form at the nodes of a coarser level; null if it has none.
std::shared_ptr<const HostArray<double>> coarser_state(const BilinearForm& form,
                                                       const Discretization& coarser) {
  if (form.state == nullptr) return nullptr;
  return std::make_shared<const HostArray<double>>(
      coarsen(*form.discretization, form.state->data(), coarser));
}

}  // namespace

Hierarchy::Hierarchy(const BilinearForm& finest, const CoarseningRules& rules) {
  const Discretization* fine = finest.discretization;
  const std::vector<LevelShape> shapes =
      plan_levels({fine->basis.degree, fine->mesh.cells()}, fine->mesh.dimension(),
                  mean_cell_widths(*fine), rules);
  forms_.push_back(finest);
  for (std::size_t l = 1; l < shapes.size(); ++l) {
    coarser_.push_back(std::make_unique<const Discretization>(coarsen(*fine, shapes[l])));
    BilinearForm form = forms_.back();
    form.discretization = coarser_.back().get();
    form.state = coarser_state(forms_.back(), *form.discretization);
    fine = form.discretization;
    forms_.push_back(std::move(form));
  }
}

LevelShape Hierarchy::shape(std::size_t l) const {
  const Discretization& discretization = *forms_[l].discretization;
  return {discretization.basis.degree, discretization.mesh.cells()};
}

void Hierarchy::set_fields(const BilinearForm& finest) {
  for (std::size_t l = 0; l < forms_.size(); ++l) {
    BilinearForm& form = forms_[l];
    form.coefficient = finest.coefficient;
    form.reaction = finest.reaction;
    form.reaction_sign = finest.reaction_sign;
    form.robin = finest.robin;
    form.state = l == 0 ? finest.state : coarser_state(forms_[l - 1], *form.discretization);
  }
}

void Hierarchy::truncate(std::size_t l) {
  forms_.erase(forms_.begin() + static_cast<std::ptrdiff_t>(l), forms_.end());
  coarser_.resize(l - 1);
}

std::string unresolved_map(const InvertedCell& error) {
  return std::string("coarser meshes would not resolve the map: ") + error.what();
}

std::string unresolved_data(const BadFieldValue& error) {
  return std::string("no coarser meshes, as the coefficient or alpha at one's points ") +
         error.what();
}

std::string drop_unresolved(Hierarchy& hierarchy) {
  for (std::size_t l = 1; l < hierarchy.size(); ++l) {
    const BilinearForm& form = hierarchy.form(l);
    try {
      check_geometry(*form.discretization, form.coefficient, form.reaction, form.context());
      make_weighted_faces(form);
    } catch (const InvertedCell& error) {
      hierarchy.truncate(l);
      return unresolved_map(error);
    } catch (const BadFieldValue& error) {
      hierarchy.truncate(l);
      return unresolved_data(error);
    }
  }
  return "";
}

}  // namespace tessera
