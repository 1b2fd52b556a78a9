// This file discretizes a form on coarser levels, and drops levels that do not resolve the data.
#include "operators/multigrid/hierarchy.hpp"

#include <utility>

#include "mesh/geometry/geometric_factors.hpp"
#include "operators/form/gathered_form.hpp"
#include "operators/form/robin_faces.hpp"
#include "operators/ranks/whole_widths.hpp"

namespace tessera {
namespace {

// The same bits on all ranks, which have as many threads each.
constexpr char kGatheredScatter[] = "coloring";

std::vector<LevelShape> planned(const BilinearForm& finest, const CoarseningRules& rules) {
  const Discretization& fine = *finest.discretization;
  const Point widths =
      finest.part ? mean_cell_widths(fine, *finest.part->rank) : mean_cell_widths(fine);
  return plan_levels({fine.basis.degree, fine.mesh.place().cells}, fine.mesh.dimension(), widths,
                     rules);
}

// The part of a coarser level that a rank has of a level that is shared out.
std::shared_ptr<const PartOfWhole> coarser_part(const PartOfWhole& fine, const LevelShape& shape) {
  const RankPart& rank = *fine.rank;
  return std::make_shared<const PartOfWhole>(PartOfWhole{
      std::make_shared<const RankPart>(rank.ranks(), rank.partition().merged(shape.cells),
                                       merge_cells(rank.whole_mesh(), shape.cells), shape.degree,
                                       rank.carrier()),
      fine.dirichlet, fine.robin});
}

bool is_to_gather(const RankPart& fine, const LevelShape& shape, Index gather_dofs) {
  return !fine.partition().fits(shape.cells) ||
         node_count(shape, fine.mesh().dimension()) <=
             gather_dofs * gathering_ranks(fine.ranks().size());
}

}  // namespace

Hierarchy::Hierarchy(const BilinearForm& finest, const CoarseningRules& rules, Index gather_dofs) {
  const std::vector<LevelShape> shapes = planned(finest, rules);
  forms_.push_back(finest);
  for (std::size_t l = 1; l < shapes.size(); ++l) {
    forms_.push_back(coarser_form(shapes[l], gather_dofs));
  }
}

BilinearForm Hierarchy::coarser_form(const LevelShape& shape, Index gather_dofs) {
  const BilinearForm& fine = forms_.back();
  if (fine.part != nullptr && is_to_gather(*fine.part->rank, shape, gather_dofs)) {
    gather_ = std::make_unique<const GatheredSpace>(*fine.discretization, *fine.part->rank, shape);
    coarser_.push_back(std::make_unique<const Discretization>(gather_->make()));
    return gathered_form(fine, *gather_, *coarser_.back());
  }
  coarser_.push_back(std::make_unique<const Discretization>(coarsen(*fine.discretization, shape)));
  BilinearForm form = fine;
  form.discretization = coarser_.back().get();
  if (fine.part != nullptr) form.part = coarser_part(*fine.part, shape);
  if (fine.state != nullptr) {
    form.state = fine.state->coarsened(*fine.discretization, *form.discretization);
  }
  return form;
}

LevelShape Hierarchy::shape(std::size_t l) const {
  const Discretization& discretization = *forms_[l].discretization;
  return {discretization.basis.degree, discretization.mesh.place().cells};
}

std::shared_ptr<const FormState> Hierarchy::state_on(std::size_t l) const {
  const BilinearForm& fine = forms_[l - 1];
  if (fine.state == nullptr) return nullptr;
  const GatheredSpace* const gather = gather_from(l - 1);
  if (gather == nullptr) {
    return fine.state->coarsened(*fine.discretization, *forms_[l].discretization);
  }
  return std::make_shared<const HostState>(gather->gathered(fine.state->data()));
}

void Hierarchy::set_fields(const BilinearForm& finest) {
  for (std::size_t l = 0; l < forms_.size(); ++l) {
    BilinearForm& form = forms_[l];
    form.coefficient = finest.coefficient;
    form.reaction = finest.reaction;
    form.reaction_sign = finest.reaction_sign;
    form.robin = is_gathered(l) ? finest.part->robin : finest.robin;
    if (form.part != nullptr) {
      form.part = std::make_shared<const PartOfWhole>(
          PartOfWhole{form.part->rank, finest.part->dirichlet, finest.part->robin});
    }
    form.state = l == 0 ? finest.state : state_on(l);
  }
}

void Hierarchy::truncate(std::size_t l) {
  forms_.erase(forms_.begin() + static_cast<std::ptrdiff_t>(l), forms_.end());
  coarser_.resize(l - 1);
  if (forms_.back().part != nullptr) gather_ = nullptr;
}

std::string Hierarchy::reason_of_any_rank(const std::string& reason) const {
  if (forms_[0].part == nullptr) return reason;
  return forms_[0].part->rank->ranks().agree(reason.empty() ? 0 : 1, reason).message;
}

std::string level_scatter(const Hierarchy& hierarchy, std::size_t l, const std::string& scatter) {
  return hierarchy.is_gathered(l) ? kGatheredScatter : scatter;
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
    std::string reason;
    try {
      check_geometry(*form.discretization, form.coefficient, form.reaction, form.context());
      make_weighted_faces(form);
    } catch (const InvertedCell& error) {
      reason = unresolved_map(error);
    } catch (const BadFieldValue& error) {
      reason = unresolved_data(error);
    }
    reason = hierarchy.reason_of_any_rank(reason);
    if (reason.empty()) continue;
    hierarchy.truncate(l);
    return reason;
  }
  return "";
}

}  // namespace tessera
