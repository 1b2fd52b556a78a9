// This file decides how operators of a case keep their geometric factors.
#include "src/case/geometry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "operators/cells/scatter.hpp"
#include "src/case/kernel_choice.hpp"
#include "src/case/memory_estimate.hpp"

namespace tessera {
namespace {

constexpr char kKey[] = "space.geometry";

// What decides whether a form is possible.
constexpr std::array<const char*, 12> kGoesWith = {
    "mesh.dimension",      "mesh.cells",      "mesh.lower",       "mesh.upper",
    "mesh.spacing",        "mesh.map",        "space.degree",     "space.points",
    "problem.coefficient", "operator.kernel", "operator.scatter", "run.device"};

bool has_error(const Findings& findings) {
  return findings.has_error(kKey) ||
         std::any_of(kGoesWith.begin(), kGoesWith.end(),
                     [&](const char* key) { return findings.has_error(key); });
}

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
          parameters.space.points,
          parameters.operation.scatter};
}

GeometryForm case_geometry(const CaseParameters& parameters, const std::string& kernel) {
  const GeometrySetting setting = case_geometry_setting(parameters);
  if (!has_geometry_forms(kernel, setting.factors)) return GeometryForm::stored;
  const std::optional<GeometryForm> named = form_of(parameters.space.geometry);
  return named ? *named : choose_geometry(setting).form;
}

OperatorLabel case_label(const CaseParameters& parameters, const StrategyName& strategy) {
  CaseParameters with_strategy = parameters;
  with_strategy.operation.scatter = strategy.scatter;
  return operator_label(strategy, case_factor_kind(parameters),
                        case_geometry(with_strategy, strategy.kernel));
}

std::string strategy_text(const CaseParameters& parameters, const StrategyName& strategy) {
  return case_label(parameters, strategy).text();
}

std::string why_no_scatter(const CaseParameters& parameters, const StrategyName& strategy) {
  if (strategy.kernel != "tensor") return "";
  CaseParameters with_strategy = parameters;
  with_strategy.operation.scatter = strategy.scatter;
  return why_no_scatter(case_geometry(with_strategy, strategy.kernel),
                        case_geometry_setting(with_strategy));
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
  if (!form || has_error(findings)) return;
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

void check_scatter_of_geometry(const CaseParameters& parameters, Findings& findings) {
  if (has_error(findings)) return;
  CaseParameters resolved = parameters;
  choose_kernel(resolved);
  const auto why_not = [&](const std::string& scatter) {
    return why_no_scatter(resolved, {resolved.operation.kernel, scatter});
  };
  const std::string reason = why_not(resolved.operation.scatter);
  if (reason.empty()) return;
  std::string allowed;
  for (const ScatterInfo& scatter : scatter_table()) {
    const std::string name(scatter.name);
    const StrategyName strategy{resolved.operation.kernel, name};
    if (scatter.use != ScatterUse::all || !why_not(name).empty() ||
        !why_unavailable(strategy, case_processor(resolved)).empty()) {
      continue;
    }
    allowed += fmt::format("{}\"{}\"", allowed.empty() ? "" : ", ", name);
  }
  findings.report("operator.scatter", fmt::format("{}; allowed: {}", reason, allowed));
}

}  // namespace tessera
