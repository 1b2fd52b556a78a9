// The strategies are rows of a table, from which their operators, names and memory follow.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mesh/geometry/factor_kind.hpp"
#include "operators/form/bilinear_form.hpp"
#include "solvers/linear_operator.hpp"

namespace tessera {

template <class T>
class CsrMatrix;

/// A strategy: a local kernel by name and, where the kernel takes one, a scatter policy by name.
struct StrategyName {
  std::string kernel;
  std::string scatter;  // "none" where the kernel takes none

  /// "tensor/coloring", or "csr" where there is no scatter.
  std::string text() const;
};

/// Whether a kernel's cells add into a shared vector.
enum class TakesScatter { yes, no };

/// Whether the coefficient k depends on position.
enum class CoefficientKind { constant, varies };

/// What the size of an operator depends on.
struct OperatorSize {
  const BoxMesh& mesh;
  const NodeLattice& lattice;
  FaceSet dirichlet;
  FactorKind factors;
  int points;
  Index value_bytes;
  Processor processor = Processor::cpu;
  GeometryForm geometry = GeometryForm::stored;
  CoefficientKind coefficient = CoefficientKind::varies;
};

/// The size of operators of this form, which must outlive it.
OperatorSize operator_size(const BilinearForm& form, Index value_bytes, Processor processor);

/// Bytes of an operator of this size.
using SizeFunction = Index (*)(const OperatorSize& size);

/// Bytes held by an operator (without its scatter), and the most held while it is made; null where
/// the processor does not have the kernel.
struct KernelBytes {
  SizeFunction held = nullptr;
  SizeFunction peak = nullptr;
};

/// One row of the table of kernels.
struct KernelInfo {
  std::string_view name;
  std::string_view summary;
  TakesScatter scatter;
  std::string_view fast_degrees;
  std::string_view memory;
  KernelBytes cpu;
  KernelBytes gpu;

  bool runs_on(Processor processor) const {
    return (processor == Processor::cpu ? cpu : gpu).held != nullptr;
  }
};

/// All kernels, in the order of `tessera list`.
std::span<const KernelInfo> kernel_table();

/// The row of this name, or null.
const KernelInfo* find_kernel(std::string_view name);

/// Why the processor does not have this strategy, in a user's words; empty if it has.
std::string why_unavailable(const StrategyName& strategy, Processor processor);

/// What an operator of the strategy is called, whether it has been made or not: its name().
/// @param geometry of the factors; it means something where has_geometry_forms()
struct OperatorLabel {
  std::string kernel;
  std::string scatter;  // "none" for a kernel without, and for a stencil, which adds nothing
  std::optional<GeometryForm> geometry;

  /// As operator_name().
  std::string text() const;
};
OperatorLabel operator_label(const StrategyName& strategy, FactorKind factors,
                             GeometryForm geometry);
OperatorLabel operator_label(const StrategyName& strategy, const BilinearForm& form);

/// Whether the form of the geometric factors means anything: to the kernel tensor where they are
/// general.
bool has_geometry_forms(std::string_view kernel, FactorKind factors);

/// Why the strategy, or the form's geometry with it, is not for this form, in a user's words; empty
/// if it is. make_operator() and make_device_operator() then throw std::invalid_argument.
std::string why_unsuitable(const StrategyName& strategy, const BilinearForm& form,
                           Processor processor = Processor::cpu);

/// Every kernel with every scatter policy that it takes on the processor; those for comparisons
/// only come last.
std::vector<StrategyName> all_strategies(Processor processor = Processor::cpu);

/// Bytes that the strategy holds, and the most while it is made, scatter included, in the memory of
/// size.processor.
Index operator_bytes(const StrategyName& strategy, const OperatorSize& size);
Index operator_peak_bytes(const StrategyName& strategy, const OperatorSize& size);

/// Makes the operator of a form; the form's discretization must outlive it.
/// @throws std::invalid_argument for an unknown kernel, scatter or combination, or one that is not
///         for the form, InvertedCell, BadFieldValue, std::bad_alloc; std::logic_error if what was
///         made does not have the name of operator_label()
template <class T>
std::unique_ptr<LinearOperator<T, Host>> make_operator(const StrategyName& strategy,
                                                       const BilinearForm& form);

/// Aborts the making of an operator that is not what its label says.
/// @throws std::logic_error unless the names are the same
void require_name(const std::string& made, const OperatorLabel& label);

/// The matrix that the strategy csr is; how the form has its geometry does not matter.
/// @throws InvertedCell, BadFieldValue, std::bad_alloc
template <class T>
std::unique_ptr<CsrMatrix<T>> make_csr_matrix(const BilinearForm& form);

}  // namespace tessera
