// Decisions on a case's strategy, all of them by the case's FormShape.
#include "src/case/strategy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "operators/cells/scatter.hpp"
#include "operators/tensor/factor_choice.hpp"
#include "src/case/shape.hpp"
#include "src/case/strategy_names.hpp"

namespace tessera {
namespace {

constexpr char kKey[] = "operator.factors";

// What decides whether a storage of factors is possible.
constexpr std::array<const char*, 12> kDependsOn = {
    "mesh.dimension",      "mesh.cells",      "mesh.lower",       "mesh.upper",
    "mesh.spacing",        "mesh.map",        "space.degree",     "space.points",
    "problem.coefficient", "operator.kernel", "operator.scatter", "run.device"};

bool has_error(const Findings& findings) {
  return findings.has_error(kKey) ||
         std::any_of(kDependsOn.begin(), kDependsOn.end(),
                     [&](const char* key) { return findings.has_error(key); });
}

// Why the storage means nothing to the case, or is not possible in it; empty if it is possible.
std::string why_not(FactorStorage storage, const CaseParameters& parameters) {
  CaseParameters resolved = parameters;
  const std::string choice = resolve_kernel(resolved);
  const std::string& kernel = resolved.operation.kernel;
  if (find_kernel(kernel)->factors == TakesFactors::no) {
    return fmt::format("{} is for the kernel tensor, and the kernel is {}{}",
                       factor_storage_name(storage), kernel,
                       choice.empty() ? "" : fmt::format(" ({})", choice));
  }
  return why_no_factors(storage, resolved.operation.scatter, case_shape(resolved));
}

}  // namespace

StrategyName case_strategy(const CaseParameters& parameters) {
  return case_strategy(parameters, {parameters.operation.kernel, parameters.operation.scatter});
}

StrategyName case_strategy(const CaseParameters& parameters, const StrategyName& other) {
  const FormShape shape = case_shape(parameters);
  const std::optional<FactorStorage> named = storage_of(parameters.operation.factors);
  if (!named) return with_chosen_factors(other, shape);
  return labeled({other.kernel, other.scatter, named}, shape);
}

void set_strategy(CaseParameters& parameters, const StrategyName& strategy) {
  parameters.operation.kernel = strategy.kernel;
  parameters.operation.scatter = strategy.scatter;
  parameters.operation.factors = choice_of(strategy.factors.value_or(FactorStorage::stored));
}

std::string resolve_kernel(CaseParameters& parameters) {
  OperatorParameters& operation = parameters.operation;
  if (operation.kernel != kAutoKernel) return "";
  const ChosenKernel chosen = choose_kernel(case_shape(parameters));
  operation.kernel = chosen.kernel;
  if (find_kernel(chosen.kernel)->scatter == TakesScatter::no) operation.scatter = kNoScatter;
  return "auto: " + chosen.reason;
}

std::string resolve_factors(CaseParameters& parameters) {
  const FormShape shape = case_shape(parameters);
  OperatorParameters& operation = parameters.operation;
  const bool matters = has_factor_storages(operation.kernel, shape);
  if (operation.factors != FactorsChoice::automatic) {
    return matters ? std::string(name_of(operation.factors)) : "";
  }
  const ChosenFactors chosen =
      matters ? choose_factors(operation.scatter, shape) : ChosenFactors{FactorStorage::stored, ""};
  operation.factors = choice_of(chosen.storage);
  return matters ? fmt::format("{} (auto: {})", factor_storage_name(chosen.storage), chosen.reason)
                 : "";
}

void check_kernel(const CaseParameters& parameters, Findings& findings) {
  if (has_error(findings) || parameters.operation.kernel == kAutoKernel) return;
  const FormShape shape = case_shape(parameters);
  const auto reason_of = [&](std::string_view kernel) {
    const KernelInfo& row = *find_kernel(kernel);
    // What the storage of factors forbids is reported at its own key.
    if (row.why_not == nullptr || row.factors == TakesFactors::yes) return std::string();
    return row.why_not({std::string(kernel)}, shape);
  };
  const std::string reason = reason_of(parameters.operation.kernel);
  if (reason.empty()) return;
  std::vector<std::string> allowed = run_kernels(shape.processor);
  std::erase_if(allowed, [&](const std::string& kernel) {
    return kernel != kAutoKernel && !reason_of(kernel).empty();
  });
  findings.report("operator.kernel", fmt::format("{}; allowed: {}", reason, quoted_list(allowed)));
}

void check_factors(CaseParameters& parameters, Findings& findings) {
  const std::optional<FactorStorage> storage = storage_of(parameters.operation.factors);
  if (!storage || has_error(findings)) return;
  const std::string reason = why_not(*storage, parameters);
  if (reason.empty() || *storage == FactorStorage::stored) return;
  const auto is_replaced = [&](const char* key) {
    return findings.is_written(key, Layer::override_option);
  };
  if (findings.is_written(kKey, Layer::file) &&
      std::any_of(kDependsOn.begin(), kDependsOn.end(), is_replaced)) {
    parameters.operation.factors = FactorsChoice::automatic;
    return;
  }
  std::vector<std::string> allowed = {"auto"};
  for (const FactorStorage other : kFactorStorages) {
    if (other == FactorStorage::stored || why_not(other, parameters).empty()) {
      allowed.emplace_back(factor_storage_name(other));
    }
  }
  findings.report(kKey, fmt::format("{}; allowed: {}", reason, quoted_list(allowed)));
}

void check_scatter_of_factors(const CaseParameters& parameters, Findings& findings) {
  if (has_error(findings)) return;
  CaseParameters resolved = parameters;
  resolve_kernel(resolved);
  const FormShape shape = case_shape(resolved);
  const std::string& kernel = resolved.operation.kernel;
  if (find_kernel(kernel)->factors == TakesFactors::no) return;
  const auto why_not_policy = [&](const std::string& scatter) {
    const StrategyName strategy = case_strategy(resolved, {kernel, scatter});
    return why_no_scatter(strategy.factors.value_or(FactorStorage::stored), scatter, shape);
  };
  const std::string reason = why_not_policy(resolved.operation.scatter);
  if (reason.empty()) return;
  std::vector<std::string> allowed = run_scatters(kernel, shape.processor);
  std::erase_if(allowed,
                [&](const std::string& scatter) { return !why_not_policy(scatter).empty(); });
  findings.report("operator.scatter", fmt::format("{}; allowed: {}", reason, quoted_list(allowed)));
}

}  // namespace tessera
