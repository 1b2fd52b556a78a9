// Decisions on a case's device and preconditioner.
#include "src/case/choices.hpp"

#include <fmt/format.h>

#include <array>

#include "postprocess/files/human_units.hpp"
#include "solvers/memory/device.hpp"
#include "src/case/memory/memory_estimate.hpp"
#include "src/case/memory/size_limits.hpp"
#include "src/case/nonlinear/nonlinear_case.hpp"
#include "src/case/shape.hpp"
#include "src/solve/preconditioner_table.hpp"

namespace tessera {
namespace {

constexpr char kDeviceKey[] = "run.device";
constexpr char kPreconditionerKey[] = "solver.preconditioner";

// The fastest first, where they are for the case (README.md of solvers).
constexpr std::array<const char*, 3> kPreconditioners = {kFastDiagonalization, kMultigrid,
                                                         kChebyshev};

RunDevice device_named(const std::string& name) {
  return name == name_of(RunDevice::cuda) ? RunDevice::cuda : RunDevice::cpu;
}

// Why the case cannot run on the GPU; empty if it can.
std::string why_not_on(const GpuOffer& gpu, CaseParameters parameters) {
  if (parameters.run.processes > 1) {
    return "several processes compute on GPUs where the case asks for \"cuda\"";
  }
  if (!gpu.why_none.empty()) return gpu.why_none;
  std::string reason = why_not_processor(parameters, Processor::gpu);
  if (!reason.empty()) return reason;
  parameters.run.device = RunDevice::cuda;
  resolve_choices(parameters);
  const std::string& preconditioner = parameters.solver.preconditioner;
  if (preconditioner != kNoPreconditioner &&
      preconditioner_row(preconditioner).make.get<double, Device>() == nullptr) {
    return preconditioner + " does not run on the GPU";
  }
  const std::vector<SizeProblem> problems = size_problems(parameters);
  if (!problems.empty()) return problems.front().limit;
  const Index needed = estimate_gpu_memory(parameters, case_strategy(parameters)).peak().bytes();
  if (needed <= gpu.free_bytes) return "";
  return fmt::format("it needs {} of GPU memory, and {} are free", bytes_text(needed),
                     bytes_text(gpu.free_bytes));
}

}  // namespace

GpuOffer offered_gpu() {
  if constexpr (kHasCuda) {
    try {
      const DeviceInfo device = require_device();
      return {device.name, device.free_bytes, ""};
    } catch (const NoDevice& error) {
      return {"", 0, error.what()};
    }
  } else {
    return {"", 0, "this build computes on the CPU only"};
  }
}

ChosenValue choose_device(const CaseParameters& parameters, const GpuOffer& gpu) {
  const std::string reason = why_not_on(gpu, parameters);
  const RunDevice device = reason.empty() ? RunDevice::cuda : RunDevice::cpu;
  return {kDeviceKey, std::string(name_of(device)), reason.empty() ? gpu.name : reason};
}

std::optional<ChosenValue> resolve_device(CaseParameters& parameters) {
  if (parameters.run.device != RunDevice::automatic) return std::nullopt;
  // Of several processes none may take a GPU before each has chosen its own.
  ChosenValue chosen =
      choose_device(parameters, parameters.run.processes > 1 ? GpuOffer{} : offered_gpu());
  parameters.run.device = device_named(chosen.value);
  return chosen;
}

ChosenValue choose_preconditioner(const CaseParameters& parameters) {
  std::string reasons;
  for (const char* name : kPreconditioners) {
    const PreconditionerInfo& row = preconditioner_row(name);
    const std::string reason = row.why_not == nullptr ? "" : row.why_not(parameters);
    if (reason.empty()) {
      return {kPreconditionerKey, name, reasons.empty() ? std::string(row.reason) : reasons};
    }
    reasons += (reasons.empty() ? "" : "; ") + reason;
  }
  throw std::logic_error("no preconditioner is for every case");
}

std::vector<ChosenValue> resolve_choices(CaseParameters& parameters) {
  std::vector<ChosenValue> choices;
  if (auto device = resolve_device(parameters)) choices.push_back(std::move(*device));
  if (auto method = resolve_nonlinear_method(parameters)) choices.push_back(std::move(*method));
  for (ChosenValue& choice : resolve_strategy(parameters)) choices.push_back(std::move(choice));
  if (parameters.solver.preconditioner == kAuto) {
    choices.push_back(choose_preconditioner(parameters));
    parameters.solver.preconditioner = choices.back().value;
  }
  return choices;
}

}  // namespace tessera
