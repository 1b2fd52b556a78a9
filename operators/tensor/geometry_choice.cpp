// This file knows which ways to keep factors are possible, and which is fastest.
#include "operators/tensor/geometry_choice.hpp"

#include <array>
#include <stdexcept>

#include "operators/tensor/tensor.hpp"

namespace tessera {
namespace {

std::string size_text(const GeometrySetting& setting) {
  return "degree " + std::to_string(setting.degree) + " with " + std::to_string(setting.points) +
         " points";
}

std::string why_not_unrolled(GeometryForm form, const GeometrySetting& setting) {
  if (has_fast_tensor_kernel(setting.degree, setting.points)) return "";
  return std::string(geometry_name(form)) + " is for degrees 1 to " +
         std::to_string(kMaxFastDegree) + " with degree + 1 or degree + 2 points, not for " +
         size_text(setting);
}

// The unrolled kernels on equal cells with a constant coefficient are for every rule.
bool has_patches(const GeometrySetting& setting) {
  return setting.factors == FactorKind::constant
             ? setting.degree <= kMaxFastDegree
             : has_fast_tensor_kernel(setting.degree, setting.points);
}

struct Rule {
  Processor processor;
  int dimension;
  GeometryForm form;
  std::string_view reason;
};

// Of degrees above 1.
constexpr std::array<Rule, 4> kRules = {{
    {Processor::cpu, 2, GeometryForm::stored, "2D on the CPU"},
    {Processor::cpu, 3, GeometryForm::stored, "3D on the CPU"},
    {Processor::gpu, 2, GeometryForm::stored, "2D on the GPU"},
    {Processor::gpu, 3, GeometryForm::compressed, "3D on the GPU"},
}};

}  // namespace

GeometrySetting geometry_setting(const BilinearForm& form, Processor processor,
                                 const std::string& scatter) {
  const Discretization& discretization = *form.discretization;
  return {processor,
          factor_kind(discretization.mapping, form.coefficient),
          discretization.mapping.is_cartesian() ? NodePositions::implied : NodePositions::stored,
          discretization.mesh.dimension(),
          discretization.basis.degree,
          discretization.basis.point_count(),
          scatter};
}

std::string why_no_scatter(GeometryForm form, const GeometrySetting& setting) {
  if (form == GeometryForm::stencil || setting.scatter != kPatchScatter) return "";
  if (form != GeometryForm::stored) {
    return std::string(geometry_name(form)) +
           " is for the other scatter policies: patch has stored and, for degree 1, stencil";
  }
  if (has_patches(setting)) return "";
  return "the scatter policy patch is for degrees 1 to " + std::to_string(kMaxFastDegree) +
         (setting.factors == FactorKind::constant ? "" : " with degree + 1 or degree + 2 points") +
         ", not for " + size_text(setting);
}

namespace {

std::string why_not_unrolled_or_scattered(GeometryForm form, const GeometrySetting& setting) {
  const std::string reason = why_not_unrolled(form, setting);
  return reason.empty() ? why_no_scatter(form, setting) : reason;
}

}  // namespace

std::string why_no_geometry(GeometryForm form, const GeometrySetting& setting) {
  if (form == GeometryForm::stored) return "";
  const std::string name(geometry_name(form));
  if (setting.factors != FactorKind::general) {
    return name + " is for mapped and graded meshes: equal cells share their factors";
  }
  switch (form) {
    case GeometryForm::stored:
      return "";
    case GeometryForm::compressed:
      if (setting.processor == Processor::cpu) {
        return name + " is for the GPU: the CPU has stored, on-the-fly and stencil";
      }
      if (setting.dimension == 2) return name + " is for 3D: 2D has stored, on-the-fly and stencil";
      return why_not_unrolled_or_scattered(form, setting);
    case GeometryForm::on_the_fly:
      if (setting.positions == NodePositions::implied) {
        return name + " is for mapped meshes: a graded one stores no positions of nodes";
      }
      return why_not_unrolled_or_scattered(form, setting);
    case GeometryForm::stencil:
      if (setting.degree == 1) return "";
      return name + " is for degree 1, not for degree " + std::to_string(setting.degree);
  }
  throw std::logic_error("a geometry form without a rule");
}

std::vector<GeometryForm> geometry_forms(const GeometrySetting& setting) {
  std::vector<GeometryForm> forms;
  for (const GeometryForm form : kGeometryForms) {
    if (why_no_geometry(form, setting).empty()) forms.push_back(form);
  }
  return forms;
}

ChosenGeometry choose_geometry(const GeometrySetting& setting) {
  if (setting.factors != FactorKind::general) return {GeometryForm::stored, "equal cells"};
  if (setting.degree == 1) return {GeometryForm::stencil, "degree 1"};
  if (!has_fast_tensor_kernel(setting.degree, setting.points)) {
    return {GeometryForm::stored, "no unrolled kernel of this size"};
  }
  for (const Rule& rule : kRules) {
    if (rule.processor != setting.processor || rule.dimension != setting.dimension) continue;
    if (!why_no_scatter(rule.form, setting).empty()) {
      return {GeometryForm::stored, "scatter policy patch"};
    }
    return {rule.form, rule.reason};
  }
  throw std::logic_error("no rule for the geometry on this processor in this dimension");
}

}  // namespace tessera
