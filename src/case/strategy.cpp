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
constexpr char kKernelKey[] = "operator.kernel";
constexpr char kScatterKey[] = "operator.scatter";
constexpr char kDeviceKey[] = "run.device";
constexpr char kTensor[] = "tensor";

// What decides, beside the shape, whether a storage of factors is possible.
constexpr std::array<const char*, 3> kDependsOn = {kKernelKey, kScatterKey, kDeviceKey};

// The kernel that the case's policy is for: without the policy tensor cannot be taken for `auto`.
std::string scattering_kernel(const OperatorParameters& operation) {
  return operation.kernel == kAuto ? kTensor : operation.kernel;
}

UsedBy use_of(const CaseParameters& parameters) {
  const SolverParameters& solver = parameters.solver;
  const bool is_plain =
      parameters.run.processes == 1 &&
      (solver.method == SolverMethod::cg || solver.method == SolverMethod::flexible_cg) &&
      solver.preconditioner == kNoPreconditioner && !has_varying_robin_face(parameters);
  return is_plain ? UsedBy::plain_cg : UsedBy::any;
}

bool has_error(const Findings& findings) {
  return has_shape_error(findings) || findings.has_error(kKey) ||
         std::any_of(kDependsOn.begin(), kDependsOn.end(),
                     [&](const char* key) { return findings.has_error(key); });
}

// Why the storage means nothing to the case, or is not possible in it; empty if it is possible.
std::string why_not(FactorStorage storage, const CaseParameters& parameters) {
  CaseParameters resolved = parameters;
  const std::vector<ChosenValue> choices = resolve_strategy(resolved);
  const std::string& kernel = resolved.operation.kernel;
  if (find_kernel(kernel)->factors == TakesFactors::no) {
    return fmt::format("{} is for the kernel tensor, and the kernel is {}{}",
                       factor_storage_name(storage), kernel, reason_text(choices, kKernelKey));
  }
  return why_no_factors(storage, resolved.operation.scatter, case_shape(resolved));
}

// Why the kernel is not for the shape, but for what the storage of factors forbids, which is
// reported at its own key; empty if it is.
std::string why_not_shape(std::string_view kernel, const FormShape& shape) {
  const KernelInfo& row = *find_kernel(kernel);
  if (row.why_not == nullptr || row.factors == TakesFactors::yes) return "";
  return row.why_not({std::string(kernel)}, shape);
}

// Whether the kernel has other bits in every run there, and the case demands the same.
bool has_other_bits(const CaseParameters& parameters, const KernelInfo& kernel,
                    Processor processor) {
  return parameters.run.deterministic && processor == Processor::gpu &&
         kernel.deterministic_on_gpu == Deterministic::no;
}

// Those that would not be refused; where the shape is not known, by what is.
std::vector<std::string> allowed_kernels(const CaseParameters& parameters, Processor processor,
                                         const Findings& findings) {
  std::optional<FormShape> shape;
  if (!has_shape_error(findings)) {
    shape = case_shape(parameters);
    shape->processor = processor;
  }
  std::vector<std::string> allowed = run_kernels(processor);
  std::erase_if(allowed, [&](const std::string& kernel) {
    if (kernel == kAuto) return false;
    return has_other_bits(parameters, *find_kernel(kernel), processor) ||
           (shape && !why_not_shape(kernel, *shape).empty());
  });
  return allowed;
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

std::string reason_text(const std::vector<ChosenValue>& choices, std::string_view key) {
  for (const ChosenValue& choice : choices) {
    if (choice.key == key) return fmt::format(" (auto: {})", choice.reason);
  }
  return "";
}

std::vector<ChosenValue> resolve_strategy(CaseParameters& parameters) {
  const FormShape shape = case_shape(parameters);
  OperatorParameters& operation = parameters.operation;
  std::vector<ChosenValue> choices;
  std::optional<ChosenScatter> scatter;
  if (operation.scatter == kAuto &&
      find_kernel(scattering_kernel(operation))->scatter == TakesScatter::yes) {
    scatter =
        choose_scatter(scattering_kernel(operation), shape.processor, demanded_bits(parameters));
    operation.scatter = scatter->scatter;
  }
  if (operation.kernel == kAuto) {
    const ChosenKernel chosen = choose_kernel(shape, operation.scatter, use_of(parameters));
    operation.kernel = chosen.kernel;
    choices.push_back({kKernelKey, chosen.kernel, chosen.reason});
  }
  if (find_kernel(operation.kernel)->scatter == TakesScatter::no) {
    operation.scatter = kNoScatter;
  } else if (scatter) {
    choices.push_back({kScatterKey, scatter->scatter, scatter->reason});
  }
  if (operation.factors == FactorsChoice::automatic) {
    const bool matters = has_factor_storages(operation.kernel, shape);
    const ChosenFactors chosen = matters ? choose_factors(operation.scatter, shape)
                                         : ChosenFactors{FactorStorage::stored, ""};
    operation.factors = choice_of(chosen.storage);
    if (matters) {
      choices.push_back(
          {kKey, std::string(factor_storage_name(chosen.storage)), std::string(chosen.reason)});
    }
  }
  return choices;
}

bool case_iterates_in_one_kernel(const CaseParameters& parameters, const std::string& kernel) {
  return use_of(parameters) == UsedBy::plain_cg &&
         iterates_in_one_kernel(kernel, case_shape(parameters));
}

Deterministic demanded_bits(const CaseParameters& parameters) {
  return parameters.run.deterministic ? Deterministic::yes : Deterministic::no;
}

std::string level_scatter(const CaseParameters& parameters) {
  const std::string& named = parameters.operation.scatter;
  if (named != kAuto && named != kNoScatter) return named;
  return choose_scatter(kTensor, case_processor(parameters), demanded_bits(parameters)).scatter;
}

std::string why_not_processor(const CaseParameters& parameters, Processor processor) {
  const OperatorParameters& operation = parameters.operation;
  const std::string kernel = scattering_kernel(operation);
  const KernelInfo& row = *find_kernel(kernel);
  if (has_other_bits(parameters, row, processor)) {
    return fmt::format("{} on the GPU has other bits in every run, and run.deterministic = true",
                       kernel);
  }
  // A policy that is not named is one that the processor has.
  if (operation.scatter == kAuto && row.runs_on(processor)) return "";
  return why_unavailable({kernel, operation.scatter}, processor);
}

void check_processor(const CaseParameters& parameters, const std::string& why_device,
                     Findings& findings) {
  for (const char* key : {kKernelKey, kScatterKey, kDeviceKey}) {
    if (findings.has_error(key)) return;
  }
  const Processor processor = case_processor(parameters);
  const std::string device = fmt::format("run.device = \"{}\"{}", name_of(parameters.run.device),
                                         why_device.empty() ? "" : ", auto: " + why_device);
  const std::string& named = parameters.operation.scatter;
  const std::string kernel = scattering_kernel(parameters.operation);
  const ScatterInfo* scatter = find_scatter(named);
  const bool for_comparison = scatter != nullptr && scatter->use == ScatterUse::comparison;
  const std::string reason = why_not_processor(parameters, processor);
  if (reason.empty() && !for_comparison) return;
  const bool takes_policy =
      find_kernel(kernel)->scatter == TakesScatter::yes && find_kernel(kernel)->runs_on(processor);
  if (!takes_policy) {
    const std::vector<std::string> allowed = allowed_kernels(parameters, processor, findings);
    findings.report(kKernelKey,
                    fmt::format("{} ({}); allowed: {}", reason, device, quoted_list(allowed)));
    return;
  }
  findings.report(
      kScatterKey,
      fmt::format(
          "{} ({}); allowed: {}",
          for_comparison ? "\"" + named + "\" gives wrong results and is for compare only" : reason,
          device, quoted_list(run_scatters(kernel, processor))));
}

void check_deterministic(const CaseParameters& parameters, Findings& findings) {
  if (!parameters.run.deterministic) return;
  if (findings.has_error(kScatterKey) || findings.has_error(kDeviceKey)) return;
  const ScatterInfo* scatter = find_scatter(parameters.operation.scatter);
  if (scatter == nullptr || scatter->deterministic == Deterministic::yes) return;
  std::vector<std::string> allowed =
      run_scatters(scattering_kernel(parameters.operation), case_processor(parameters));
  std::erase_if(allowed, [](const std::string& name) {
    return name != kAuto && find_scatter(name)->deterministic == Deterministic::no;
  });
  findings.report(kScatterKey, fmt::format("{} adds in another order in every run, and "
                                           "run.deterministic = true; allowed: {}",
                                           scatter->name, quoted_list(allowed)));
}

void check_kernel(const CaseParameters& parameters, Findings& findings) {
  if (has_error(findings)) return;
  const FormShape shape = case_shape(parameters);
  if (parameters.operation.kernel == kAuto) return;
  const std::string& named = parameters.operation.kernel;
  std::string reason = why_not_shape(named, shape);
  if (reason.empty()) return;
  FormShape without_reaction = shape;
  without_reaction.reaction = ReactionKind::none;
  if (parameters.time && why_not_shape(named, without_reaction).empty()) {
    reason += " (a time step has the reaction capacity / (gamma dt) + reaction)";
  }
  const std::vector<std::string> allowed = allowed_kernels(parameters, shape.processor, findings);
  findings.report(kKernelKey, fmt::format("{}; allowed: {}", reason, quoted_list(allowed)));
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
      (std::any_of(kShapeKeys.begin(), kShapeKeys.end(), is_replaced) ||
       std::any_of(kDependsOn.begin(), kDependsOn.end(), is_replaced))) {
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
  resolve_strategy(resolved);
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
  std::erase_if(allowed, [&](const std::string& scatter) {
    return scatter != kAuto && !why_not_policy(scatter).empty();
  });
  findings.report(kScatterKey, fmt::format("{}; allowed: {}", reason, quoted_list(allowed)));
}

}  // namespace tessera
