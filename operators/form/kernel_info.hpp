// A row of the table of strategies: what is known of a kernel, and what makes its operators.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "operators/form/factor_storage.hpp"
#include "operators/form/form_shape.hpp"
#include "operators/form/makers.hpp"
#include "operators/form/operator_name.hpp"
#include "solvers/linear_operator.hpp"

namespace tessera {

/// A strategy by names: a local kernel, a scatter policy where the kernel takes one, and a storage
/// of geometric factors where there is a choice.
struct StrategyName {
  std::string kernel;
  std::string scatter = std::string(kNoScatterName);
  /// Without one, factors are stored.
  std::optional<FactorStorage> factors = std::nullopt;

  /// As operator_name().
  std::string text() const { return operator_name(kernel, scatter, factors); }
};

/// Whether a kernel's cells add into a shared vector.
enum class TakesScatter { yes, no };

/// Whether a kernel has a choice of how general geometric factors are stored.
enum class TakesFactors { yes, no };

/// Whether something gives the same bits in every run with the same number of threads.
enum class Deterministic { yes, no };

/// Bytes held by an operator, and the most held while it is made.
struct OperatorBytes {
  Index held;
  Index peak;
};

/// Bytes of an operator of this shape, without its scatter policy's.
using BytesFunction = OperatorBytes (*)(const StrategyName& strategy, const FormShape& shape);

template <class T, class Space>
using MakeOperator = std::unique_ptr<LinearOperator<T, Space>> (*)(const StrategyName& strategy,
                                                                   const BilinearForm& form);

/// What makes the operators of a kernel.
using OperatorMakers = Makers<MakeOperator>;

/// One row of the table of kernels. Each kernel's folder defines its own.
struct KernelInfo {
  std::string_view name;
  std::string_view summary;
  std::string_view fast_degrees;
  std::string_view memory;
  TakesScatter scatter = TakesScatter::no;
  TakesFactors factors = TakesFactors::no;
  /// On the CPU all kernels are, but for their scatter policy.
  Deterministic deterministic_on_gpu = Deterministic::yes;
  /// Measured: on the GPU conjugate gradients are faster with tensor and the fastest scatter policy
  /// below so many DoFs. Null: nowhere.
  Index (*min_dofs_on_gpu)(const FormShape& shape) = nullptr;
  /// The least and the most of these, "0.1 to 3 million"; empty without any.
  std::string min_dofs_text = {};
  /// Whether conjugate gradients without a preconditioner take one kernel for whole iterations on a
  /// GPU of the size of those measured, and are the fastest. Null: nowhere.
  bool (*iterates_in_one_kernel)(const FormShape& shape) = nullptr;
  /// Whether the operator of the shape has FusedOperations::step(). Null: none has.
  bool (*fuses_steps)(const FormShape& shape) = nullptr;
  /// How far entries of the matrix are from the form's, relative to themselves, where the kernel
  /// rounds them more than the operator's precision does.
  double entry_rounding = 0.0;
  /// The most DoFs on the GPU; 0: no limit but memory.
  Index max_dofs_on_gpu = 0;
  /// Null where the processor does not have the kernel.
  BytesFunction cpu_bytes = nullptr;
  BytesFunction gpu_bytes = nullptr;
  /// Bytes of what is there only while the GPU finds the diagonal. Null: none.
  Index (*diagonal_bytes_on_gpu)(const StrategyName& strategy, const FormShape& shape) = nullptr;
  /// Why there is no operator of this shape by the strategy, in a user's words; empty if there is.
  /// Null: every shape has one.
  std::string (*why_not)(const StrategyName& strategy, const FormShape& shape) = nullptr;
  OperatorMakers make = {};

  BytesFunction bytes(Processor processor) const {
    return processor == Processor::cpu ? cpu_bytes : gpu_bytes;
  }
  bool runs_on(Processor processor) const { return bytes(processor) != nullptr; }
};

}  // namespace tessera
