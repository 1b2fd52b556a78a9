// The table of strategies, and the decisions that follow from it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "operators/form/kernel_info.hpp"

namespace tessera {

/// All kernels, in the order of `tessera list`.
std::span<const KernelInfo> kernel_table();

/// Adds a row to the table: for programs with kernels of their own, before they use the table.
void add_kernel(const KernelInfo& kernel);

/// The row of this name, or null. It is valid until a kernel is added.
const KernelInfo* find_kernel(std::string_view name);

/// Why the processor does not have this strategy, in a user's words; empty if it has.
std::string why_unavailable(const StrategyName& strategy, Processor processor);

/// Why there is no operator of this shape by the strategy, which shape.processor must have, in a
/// user's words; empty if there is.
std::string why_unsuitable(const StrategyName& strategy, const FormShape& shape);

/// Every kernel with every scatter policy that it takes on the processor; those for comparisons
/// only come last.
std::vector<StrategyName> all_strategies(Processor processor = Processor::cpu);

/// Whether a storage of geometric factors means anything to the kernel in this shape.
bool has_factor_storages(std::string_view kernel, const FormShape& shape);

/// The strategy as its operators are called: `stored` where it names no storage of factors though
/// that means something, and no storage where it means nothing.
StrategyName labeled(const StrategyName& strategy, const FormShape& shape);

/// The strategy with the storage of factors that suits the shape, if it means anything.
StrategyName with_chosen_factors(const StrategyName& strategy, const FormShape& shape);

/// A kernel and why it was taken: "the mesh is mapped".
struct ChosenKernel {
  std::string kernel;
  std::string reason;
};

/// A scatter policy and why it was taken: "the fastest measured on the GPU".
struct ChosenScatter {
  std::string scatter;
  std::string reason;
};

/// The policy that was measured fastest on the processor among those of the kernel, which takes
/// one; with `demanded` among those that give the same bits in every run.
ChosenScatter choose_scatter(std::string_view kernel, Processor processor, Deterministic demanded);

/// What the operator is for.
enum class UsedBy { any, plain_cg };

/// Whether conjugate gradients without a preconditioner go in one kernel of the GPU with an
/// operator of this kernel and shape, unless a Robin face keeps it from fused forms.
bool iterates_in_one_kernel(std::string_view kernel, const FormShape& shape);
/// Whether its operator of the shape computes steps of smoothers itself; see KernelInfo.
bool fuses_steps(std::string_view kernel, const FormShape& shape);

/// The kernel that applies fastest as far as is known, where tensor would have the scatter policy:
/// kronecker where the form is a sum of products (on the GPU if it is not small, or if conjugate
/// gradients without a preconditioner, plain_cg, go in one kernel), stencil at degree 1, else
/// tensor.
ChosenKernel choose_kernel(const FormShape& shape, std::string_view scatter,
                           UsedBy use = UsedBy::any);

/// The kernel with the scatter policy, if it takes one.
StrategyName with_scatter(std::string_view kernel, std::string_view scatter);

/// The whole strategy by choose_kernel(); `scatter` is for a kernel that takes one.
StrategyName choose_strategy(const FormShape& shape, const std::string& scatter);

/// Bytes of an operator by the strategy, scatter policy included, in the memory of shape.processor.
/// @throws UnsuitableChoice for a strategy that the processor does not have
OperatorBytes operator_bytes(const StrategyName& strategy, const FormShape& shape);

/// Bytes of what is there only while diagonal() of such an operator runs.
Index diagonal_bytes(const StrategyName& strategy, const FormShape& shape);

/// Makes the operator of a form; the form's discretization must outlive it. Of a form of which
/// ranks have parts it is that of the whole, and all ranks call this and its functions together.
/// @throws UnsuitableChoice (a std::invalid_argument) for an unknown strategy or one that is not
///         for the form, std::invalid_argument for one that depends on u and has no state,
///         InvertedCell, BadFieldValue, std::bad_alloc, DeviceOutOfMemory,
///         DeviceError; std::logic_error if what was made is not called labeled().text()
template <class T, class Space = Host>
std::unique_ptr<LinearOperator<T, Space>> make_operator(const StrategyName& strategy,
                                                        const BilinearForm& form);

}  // namespace tessera
