#include "src/case_geometry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "src/kernel_choice.hpp"
#include "src/memory_estimate.hpp"

namespace tessera {
namespace {

constexpr char kKey[] = "space.geometry";

// What decides whether a form is possible.
constexpr std::array<const char*, 11> kGoesWith = {
    "mesh.dimension",      "mesh.cells",      "mesh.lower",   "mesh.upper",
    "mesh.spacing",        "mesh.map",        "space.degree", "space.points",
    "problem.coefficient", "operator.kernel", "run.device"};

// Why the form means nothing to the case, or is not possible in it; empty if it is possible.
std::string why_not(GeometryForm form, const CaseParameters& parameters) {
  CaseParameters resolved = parameters;
  const std::string choice = choose_kernel(resolved);
  const std::string& kernel = resolved.operation.kernel;
  if (kernel != "tensor") {
    return fmt::format("{} is for the kernel tensor, and the kernel is {}{}", geometry_name(form),
                       kernel, choice.empty() ? "" : fmt::format(" ({})", choice));
  }
  return why_no_geometry(form, case_geometry_setting(parameters));
}

}  // namespace

GeometrySetting case_geometry_setting(const CaseParameters& parameters) {
  return {case_processor(parameters),
          case_factor_kind(parameters),
          parameters.mesh.map.empty() ? NodePositions::implied : NodePositions::stored,
          parameters.mesh.dimension,
          parameters.space.degree,
          parameters.space.points};
}

GeometryForm case_geometry(const CaseParameters& parameters, const std::string& kernel) {
  const GeometrySetting setting = case_geometry_setting(parameters);
  if (!has_geometry_forms(kernel, setting.factors)) return GeometryForm::stored;
  const std::optional<GeometryForm> named = form_of(parameters.space.geometry);
  return named ? *named : choose_geometry(setting).form;
}

std::string strategy_text(const CaseParameters& parameters, const StrategyName& strategy) {
  if (!has_geometry_forms(strategy.kernel, case_factor_kind(parameters))) return strategy.text();
  return fmt::format("{}, {}", strategy.text(),
                     geometry_name(case_geometry(parameters, strategy.kernel)));
}

std::string choose_geometry(CaseParameters& parameters) {
  const GeometrySetting setting = case_geometry_setting(parameters);
  const bool matters = has_geometry_forms(parameters.operation.kernel, setting.factors);
  if (parameters.space.geometry != GeometryChoice::automatic) {
    return matters ? std::string(name_of(parameters.space.geometry)) : "";
  }
  const ChosenGeometry chosen =
      matters ? choose_geometry(setting) : ChosenGeometry{GeometryForm::stored, ""};
  parameters.space.geometry = choice_of(chosen.form);
  return matters ? fmt::format("{} (auto: {})", geometry_name(chosen.form), chosen.reason) : "";
}

void check_geometry_form(CaseParameters& parameters, Findings& findings) {
  const std::optional<GeometryForm> form = form_of(parameters.space.geometry);
  if (!form || findings.has_error(kKey)) return;
  const auto is_wrong = [&](const char* key) { return findings.has_error(key); };
  if (std::any_of(kGoesWith.begin(), kGoesWith.end(), is_wrong)) return;
  const std::string reason = why_not(*form, parameters);
  if (reason.empty() || *form == GeometryForm::stored) return;
  const auto is_replaced = [&](const char* key) {
    return findings.is_written(key, Layer::override_option);
  };
  if (findings.is_written(kKey, Layer::file) &&
      std::any_of(kGoesWith.begin(), kGoesWith.end(), is_replaced)) {
    parameters.space.geometry = GeometryChoice::automatic;
    return;
  }
  std::string allowed = "\"auto\"";
  for (const GeometryForm other : kGeometryForms) {
    if (other == GeometryForm::stored || why_not(other, parameters).empty()) {
      allowed += fmt::format(", \"{}\"", geometry_name(other));
    }
  }
  findings.report(kKey, fmt::format("{}; allowed: {}", reason, allowed));
}

}  // namespace tessera
