// The table of strategies is put together of the rows that the kernels' folders define.
#include "operators/strategy.hpp"

#include <algorithm>
#include <stdexcept>

#include "mesh/saturated.hpp"
#include "operators/cells/scatter.hpp"
#include "operators/csr/row.hpp"
#include "operators/form/on_all_ranks.hpp"
#include "operators/form/operator_on_ranks.hpp"
#include "operators/kronecker/row.hpp"
#include "operators/local/row.hpp"
#include "operators/stencil/row.hpp"
#include "operators/tensor/factor_choice.hpp"
#include "operators/tensor/row.hpp"
#include "solvers/errors.hpp"

namespace tessera {
namespace {

constexpr char kKronecker[] = "kronecker";
constexpr char kStencil[] = "stencil";
constexpr char kTensor[] = "tensor";

const char* processor_text(Processor processor) {
  return processor == Processor::cpu ? "CPU" : "GPU";
}

std::vector<KernelInfo>& table() {
  static std::vector<KernelInfo> rows = {
      csr_kernel(),    cusparse_kernel(), local_kernel(),     local_thread_kernel(),
      tensor_kernel(), stencil_kernel(),  kronecker_kernel(), rounded_csr_kernel()};
  return rows;
}

// The row of a strategy that the processor has.
const KernelInfo& row_of(const StrategyName& strategy, Processor processor) {
  const std::string reason = why_unavailable(strategy, processor);
  if (!reason.empty()) throw UnsuitableChoice(Choice::kernel, reason);
  return *find_kernel(strategy.kernel);
}

bool suits(const char* kernel, const FormShape& shape) {
  return find_kernel(kernel)->runs_on(shape.processor) && why_unsuitable({kernel}, shape).empty();
}

// "400 thousand", "1.4 million".
std::string rounded_text(Index count) {
  constexpr Index kMillion = 1'000'000;
  if (count < kMillion) return std::to_string(count / 1000) + " thousand";
  const Index tenths = count % kMillion / (kMillion / 10);
  return std::to_string(count / kMillion) + (tenths > 0 ? "." + std::to_string(tenths) : "") +
         " million";
}

Index min_dofs_on_gpu(const char* kernel, const FormShape& shape) {
  const auto min_dofs = find_kernel(kernel)->min_dofs_on_gpu;
  return min_dofs == nullptr ? 0 : min_dofs(shape);
}

// Whether tensor with the policy is faster on the GPU; what was measured is its fastest one.
bool is_small_for(const char* kernel, const FormShape& shape, std::string_view scatter) {
  return shape.processor == Processor::gpu &&
         shape.lattice.dof_count() < min_dofs_on_gpu(kernel, shape) &&
         scatter == choose_scatter(kTensor, Processor::gpu, Deterministic::no).scatter;
}

}  // namespace

std::span<const KernelInfo> kernel_table() { return table(); }

void add_kernel(const KernelInfo& kernel) { table().push_back(kernel); }

const KernelInfo* find_kernel(std::string_view name) {
  const auto row = std::find_if(table().begin(), table().end(),
                                [&](const KernelInfo& info) { return info.name == name; });
  return row == table().end() ? nullptr : &*row;
}

std::string why_unavailable(const StrategyName& strategy, Processor processor) {
  const KernelInfo* kernel = find_kernel(strategy.kernel);
  if (kernel == nullptr) return "no kernel is named " + strategy.kernel;
  const std::string where = processor_text(processor);
  if (!kernel->runs_on(processor)) {
    return "the kernel " + strategy.kernel + " does not run on the " + where;
  }
  if (kernel->scatter == TakesScatter::no) {
    return strategy.scatter == kNoScatterName
               ? ""
               : "the kernel " + strategy.kernel + " takes no scatter policy";
  }
  const ScatterInfo* scatter = find_scatter(strategy.scatter);
  if (scatter == nullptr) return "no scatter policy is named " + strategy.scatter;
  if (!scatter->runs_on(processor)) {
    return "the scatter policy " + strategy.scatter + " does not run on the " + where;
  }
  if (!scatter->only_kernel.empty() && scatter->only_kernel != strategy.kernel) {
    return "the scatter policy " + strategy.scatter + " is for the kernel " +
           std::string(scatter->only_kernel);
  }
  return "";
}

std::string why_unsuitable(const StrategyName& strategy, const FormShape& shape) {
  const KernelInfo& kernel = *find_kernel(strategy.kernel);
  const FactorStorage factors = strategy.factors.value_or(FactorStorage::stored);
  if (factors != FactorStorage::stored && kernel.factors == TakesFactors::no) {
    return std::string(factor_storage_name(factors)) + " is for the kernel tensor";
  }
  return kernel.why_not == nullptr ? "" : kernel.why_not(strategy, shape);
}

std::vector<StrategyName> all_strategies(Processor processor) {
  std::vector<StrategyName> strategies;
  std::vector<StrategyName> for_comparison;
  for (const KernelInfo& kernel : table()) {
    if (kernel.scatter == TakesScatter::no) {
      if (kernel.runs_on(processor)) strategies.push_back({std::string(kernel.name)});
      continue;
    }
    for (const ScatterInfo& scatter : scatter_table()) {
      const StrategyName name{std::string(kernel.name), std::string(scatter.name)};
      if (!why_unavailable(name, processor).empty()) continue;
      (scatter.use == ScatterUse::all ? strategies : for_comparison).push_back(name);
    }
  }
  strategies.insert(strategies.end(), for_comparison.begin(), for_comparison.end());
  return strategies;
}

bool has_factor_storages(std::string_view kernel, const FormShape& shape) {
  const KernelInfo* row = find_kernel(kernel);
  return row != nullptr && row->factors == TakesFactors::yes &&
         shape.factors() == FactorKind::general;
}

StrategyName labeled(const StrategyName& strategy, const FormShape& shape) {
  StrategyName label = strategy;
  label.factors = has_factor_storages(strategy.kernel, shape)
                      ? std::optional(strategy.factors.value_or(FactorStorage::stored))
                      : std::nullopt;
  return label;
}

StrategyName with_chosen_factors(const StrategyName& strategy, const FormShape& shape) {
  StrategyName chosen = strategy;
  chosen.factors = has_factor_storages(strategy.kernel, shape)
                       ? std::optional(choose_factors(strategy.scatter, shape).storage)
                       : std::nullopt;
  return chosen;
}

ChosenScatter choose_scatter(std::string_view kernel, Processor processor, Deterministic demanded) {
  const ScatterInfo* fastest = nullptr;
  for (const ScatterInfo& row : scatter_table()) {
    const bool is_allowed =
        row.use == ScatterUse::all &&
        (demanded == Deterministic::no || row.deterministic == Deterministic::yes) &&
        why_unavailable({std::string(kernel), std::string(row.name)}, processor).empty();
    if (!is_allowed) continue;
    if (fastest == nullptr || row.speed(processor) > fastest->speed(processor)) fastest = &row;
  }
  if (fastest == nullptr) throw std::logic_error("a kernel without a scatter policy");
  return {std::string(fastest->name),
          std::string("the fastest measured on the ") + processor_text(processor) +
              (demanded == Deterministic::yes ? " with the same bits in every run" : "")};
}

bool iterates_in_one_kernel(std::string_view kernel, const FormShape& shape) {
  const auto iterates = find_kernel(kernel)->iterates_in_one_kernel;
  return iterates != nullptr && iterates(shape);
}

bool fuses_steps(std::string_view kernel, const FormShape& shape) {
  const auto fuses = find_kernel(kernel)->fuses_steps;
  return fuses != nullptr && fuses(shape);
}

ChosenKernel choose_kernel(const FormShape& shape, std::string_view scatter, UsedBy use) {
  const bool is_small = suits(kKronecker, shape) && is_small_for(kKronecker, shape, scatter) &&
                        !(use == UsedBy::plain_cg && iterates_in_one_kernel(kKronecker, shape));
  if (suits(kKronecker, shape) && !is_small) {
    return {kKronecker, shape.coefficient == CoefficientKind::constant
                            ? "axis-aligned mesh, constant coefficient"
                            : "axis-aligned mesh, separable coefficient"};
  }
  const std::string reason =
      is_small
          ? "fewer than " + rounded_text(min_dofs_on_gpu(kKronecker, shape)) + " DoFs on the GPU"
      : shape.mesh_kind == MeshKind::mapped ? "the mesh is mapped"
      : shape.state != StateKind::none      ? "the coefficient or the reaction depends on u"
      : shape.coefficient == CoefficientKind::general
          ? "the coefficient is no product of functions of one coordinate"
      : shape.reaction == ReactionKind::varying
          ? "the reaction varies"
          : "there is a reaction beside a coefficient that varies";
  if (shape.factors() == FactorKind::general && suits(kStencil, shape)) {
    return {kStencil, "degree 1, " + reason};
  }
  return {kTensor, reason};
}

StrategyName with_scatter(std::string_view kernel, std::string_view scatter) {
  StrategyName strategy{std::string(kernel)};
  if (find_kernel(kernel)->scatter == TakesScatter::yes) strategy.scatter = scatter;
  return strategy;
}

StrategyName choose_strategy(const FormShape& shape, const std::string& scatter) {
  return with_chosen_factors(with_scatter(choose_kernel(shape, scatter).kernel, scatter), shape);
}

OperatorBytes operator_bytes(const StrategyName& strategy, const FormShape& shape) {
  const KernelInfo& kernel = row_of(strategy, shape.processor);
  const OperatorBytes bytes = kernel.bytes(shape.processor)(strategy, shape);
  const Index scatter = scatter_bytes(strategy.scatter, shape);
  return {Saturated(bytes.held) + scatter, Saturated(bytes.peak) + scatter};
}

Index diagonal_bytes(const StrategyName& strategy, const FormShape& shape) {
  const auto bytes = row_of(strategy, shape.processor).diagonal_bytes_on_gpu;
  return bytes == nullptr || shape.processor == Processor::cpu ? 0 : bytes(strategy, shape);
}

template <class T, class Space>
std::unique_ptr<LinearOperator<T, Space>> make_operator(const StrategyName& strategy,
                                                        const BilinearForm& form) {
  const FormShape shape = form_shape(form, kProcessorOf<Space>, sizeof(T));
  if (form.depends_on_u() && form.state == nullptr) {
    throw std::invalid_argument("a form whose coefficient or reaction depends on u has no state");
  }
  const KernelInfo& kernel = row_of(strategy, shape.processor);
  const std::string reason = why_unsuitable(strategy, shape);
  if (!reason.empty()) throw UnsuitableChoice(Choice::kernel, reason);
  const auto make = kernel.make.get<T, Space>();
  if (make == nullptr) {
    throw std::logic_error("nothing makes the kernel " + strategy.kernel + " in this build");
  }
  auto made = on_all_ranks(form, [&] { return make(strategy, form); });
  const std::string label = labeled(strategy, shape).text();
  if (made->name() != label) {
    throw std::logic_error("the operator made for " + label + " is " + made->name());
  }
  return form.part ? operator_on_ranks(std::move(made), form) : std::move(made);
}

#define TESSERA_INSTANTIATE(T, Space)                                                   \
  template std::unique_ptr<LinearOperator<T, Space>> make_operator(const StrategyName&, \
                                                                   const BilinearForm&);
TESSERA_INSTANTIATE(double, Host)
TESSERA_INSTANTIATE(float, Host)
TESSERA_INSTANTIATE(double, Device)
TESSERA_INSTANTIATE(float, Device)
#undef TESSERA_INSTANTIATE

}  // namespace tessera
