// This file has the table of strategies.
#include "operators/strategy.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "mesh/lanes/cell_batches.hpp"
#include "mesh/saturated.hpp"
#include "operators/cells/scatter.hpp"
#include "operators/csr/csr.hpp"
#include "operators/csr/device_csr.hpp"
#include "operators/form/operator_name.hpp"
#include "operators/kronecker/device_kronecker.hpp"
#include "operators/kronecker/kronecker.hpp"
#include "operators/local/device_local.hpp"
#include "operators/local/unrolled.hpp"
#include "operators/stencil/stencil.hpp"
#include "operators/tensor/geometry_choice.hpp"
#include "operators/tensor/geometry_size.hpp"
#include "operators/tensor/tensor.hpp"
#include "solvers/errors.hpp"

namespace tessera {
namespace {

Index matrix_bytes(const OperatorSize& size) {
  return csr_bytes(size.lattice, size.dirichlet, size.value_bytes);
}

Index local_bytes(const OperatorSize& size) {
  return local_matrix_bytes(size.factors, size.mesh.dimension(), batched_cells(size),
                            size.lattice.degree(), size.value_bytes);
}

Index gpu_matrix_bytes(const OperatorSize& size) {
  return device_csr_bytes(size.lattice, size.dirichlet, size.value_bytes);
}

Index gpu_local_bytes(const OperatorSize& size) {
  return device_local_matrix_bytes(size.factors, size.mesh.dimension(), size.mesh.cell_count(),
                                   size.lattice.degree(), size.value_bytes);
}

// Kernels that are made from the tensor kernel hold its factors meanwhile.
Index gpu_matrix_peak_bytes(const OperatorSize& size) {
  return std::max<Index>(device_stored_factor_peak_bytes(size),
                         Saturated(device_stored_factor_bytes(size)) +
                             device_csr_peak_bytes(size.factors, size.mesh, size.lattice,
                                                   size.dirichlet, size.value_bytes));
}

Index gpu_local_peak_bytes(const OperatorSize& size) {
  return std::max<Index>(device_stored_factor_peak_bytes(size),
                         Saturated(device_stored_factor_bytes(size)) + gpu_local_bytes(size));
}

Index gpu_local_thread_peak_bytes(const OperatorSize& size) {
  return Saturated(gpu_local_peak_bytes(size)) +
         std::min(gpu_local_bytes(size), kLocalScratchBytes);
}

Index factor_1d_bytes(const OperatorSize& size) {
  return kronecker_bytes(size.mesh, size.lattice.degree(), size.value_bytes);
}

Index gpu_factor_1d_bytes(const OperatorSize& size) {
  return device_kronecker_bytes(size.mesh, size.lattice.degree(), size.value_bytes);
}

constexpr std::array<KernelInfo, 5> kTable = {{
    {"csr",
     "assembled matrix in compressed sparse rows (full assembly); GPU: cuSPARSE",
     TakesScatter::no,
     "any degree",
     "12 B a nonzero, about (p + 2)^d nonzeros a DoF",
     {matrix_bytes,
      [](const OperatorSize& size) -> Index {
        return Saturated(matrix_bytes(size)) + stored_factor_bytes(size);
      }},
     {gpu_matrix_bytes, gpu_matrix_peak_bytes}},
    {"local",
     "precomputed local matrices, one for all cells where they are alike (element assembly); GPU: "
     "a thread block a batch of cells",
     TakesScatter::yes,
     "CPU 1-8 unrolled, others at run-time size; GPU any",
     "one matrix on a uniform mesh with constant coefficient, else 4 (GPU: 8) (p + 1)^2d B a cell",
     {local_bytes,
      [](const OperatorSize& size) -> Index {
        return Saturated(local_bytes(size)) + stored_factor_bytes(size);
      }},
     {gpu_local_bytes, gpu_local_peak_bytes}},
    {"local-thread",
     "the same, one GPU thread a cell, as in the paper on matrix-free operators on GPUs",
     TakesScatter::yes,
     "any degree",
     "as local",
     {},
     {gpu_local_bytes, gpu_local_thread_peak_bytes}},
    {"tensor",
     "sum factorization, B^T D B by 1D matrices (partial assembly)",
     TakesScatter::yes,
     "1-8 with degree + 1 or degree + 2 points unrolled, others at run-time size",
     "a uniform mesh stores nothing; a mapped or graded one d (d + 1) / 2 values a quadrature "
     "point, "
     "or less: space.geometry",
     {geometry_bytes, geometry_peak_bytes},
     {device_geometry_bytes, device_geometry_peak_bytes}},
    {"kronecker",
     "sum of Kronecker products of assembled 1D matrices, without cells; axis-aligned meshes with "
     "a coefficient that is constant or a product of functions of one coordinate",
     TakesScatter::no,
     "1-8 unrolled, others at run-time size",
     "1D factors only",
     {factor_1d_bytes, factor_1d_bytes},
     {gpu_factor_1d_bytes, gpu_factor_1d_bytes}},
}};

Index scatter_part(const StrategyName& strategy, const OperatorSize& size) {
  // A stencil writes each node once.
  if (size.geometry == GeometryForm::stencil) return 0;
  if (size.processor == Processor::cpu) {
    return scatter_bytes(strategy.scatter, size.lattice.size(), size.value_bytes);
  }
  return strategy.scatter == "private"
             ? Saturated(size.mesh.cell_count()) * size.lattice.nodes_per_cell() * size.value_bytes
             : Saturated(0);
}

const KernelInfo& kernel_row(const StrategyName& strategy, Processor processor) {
  const std::string reason = why_unavailable(strategy, processor);
  if (!reason.empty()) throw UnsuitableChoice(Choice::kernel, reason);
  return *find_kernel(strategy.kernel);
}

template <class T>
std::shared_ptr<const CellBatches> make_batches(const Discretization& discretization) {
  return std::make_shared<const CellBatches>(discretization.mesh, kLanes<T>,
                                             cell_working_set(discretization.lattice, sizeof(T)),
                                             omp_get_max_threads());
}

}  // namespace

std::string StrategyName::text() const { return operator_name(kernel, scatter); }

std::string OperatorLabel::text() const { return operator_name(kernel, scatter, geometry); }

OperatorLabel operator_label(const StrategyName& strategy, FactorKind factors,
                             GeometryForm geometry) {
  if (!has_geometry_forms(strategy.kernel, factors)) {
    return {strategy.kernel, strategy.scatter, std::nullopt};
  }
  const bool adds = geometry != GeometryForm::stencil;
  return {strategy.kernel, adds ? strategy.scatter : std::string(kNoScatterName), geometry};
}

OperatorLabel operator_label(const StrategyName& strategy, const BilinearForm& form) {
  return operator_label(strategy, factor_kind(form.discretization->mapping, form.coefficient),
                        form.geometry);
}

void require_name(const std::string& made, const OperatorLabel& label) {
  if (made == label.text()) return;
  throw std::logic_error("the operator made for " + label.text() + " is " + made);
}

std::span<const KernelInfo> kernel_table() { return kTable; }

const KernelInfo* find_kernel(std::string_view name) {
  const auto* row = std::find_if(kTable.begin(), kTable.end(),
                                 [&](const KernelInfo& info) { return info.name == name; });
  return row == kTable.end() ? nullptr : row;
}

std::string why_unavailable(const StrategyName& strategy, Processor processor) {
  const KernelInfo* kernel = find_kernel(strategy.kernel);
  if (kernel == nullptr) return "no kernel is named " + strategy.kernel;
  const std::string where = processor == Processor::cpu ? "CPU" : "GPU";
  if (!kernel->runs_on(processor)) {
    return "the kernel " + strategy.kernel + " does not run on the " + where;
  }
  if (kernel->scatter == TakesScatter::no) {
    return strategy.scatter == "none"
               ? ""
               : "the kernel " + strategy.kernel + " takes no scatter policy";
  }
  const ScatterInfo* scatter = find_scatter(strategy.scatter);
  if (scatter == nullptr) return "no scatter policy is named " + strategy.scatter;
  if (!(processor == Processor::cpu ? scatter->on_cpu : scatter->on_gpu)) {
    return "the scatter policy " + strategy.scatter + " does not run on the " + where;
  }
  if (!scatter->only_kernel.empty() && scatter->only_kernel != strategy.kernel) {
    return "the scatter policy " + strategy.scatter + " is for the kernel " +
           std::string(scatter->only_kernel);
  }
  return "";
}

OperatorSize operator_size(const BilinearForm& form, Index value_bytes, Processor processor) {
  const Discretization& discretization = *form.discretization;
  return {discretization.mesh,
          discretization.lattice,
          form.dirichlet,
          factor_kind(discretization.mapping, form.coefficient),
          discretization.basis.point_count(),
          value_bytes,
          processor,
          form.geometry,
          form.coefficient.constant ? CoefficientKind::constant : CoefficientKind::varies};
}

bool has_geometry_forms(std::string_view kernel, FactorKind factors) {
  return kernel == "tensor" && factors == FactorKind::general;
}

std::string why_unsuitable(const StrategyName& strategy, const BilinearForm& form,
                           Processor processor) {
  if (form.geometry != GeometryForm::stored && strategy.kernel != "tensor") {
    return "the geometry " + std::string(geometry_name(form.geometry)) +
           " is for the kernel tensor";
  }
  if (strategy.kernel == "kronecker") return why_not_kronecker(form);
  const GeometrySetting setting = geometry_setting(form, processor, strategy.scatter);
  std::string reason = why_no_geometry(form.geometry, setting);
  if (!reason.empty() || strategy.kernel != "tensor") return reason;
  return why_no_scatter(form.geometry, setting);
}

std::vector<StrategyName> all_strategies(Processor processor) {
  std::vector<StrategyName> strategies;
  std::vector<StrategyName> for_comparison;
  for (const KernelInfo& kernel : kTable) {
    if (kernel.scatter == TakesScatter::no) {
      strategies.push_back({std::string(kernel.name), "none"});
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

Index operator_bytes(const StrategyName& strategy, const OperatorSize& size) {
  const KernelInfo& kernel = kernel_row(strategy, size.processor);
  return Saturated((size.processor == Processor::cpu ? kernel.cpu : kernel.gpu).held(size)) +
         scatter_part(strategy, size);
}

Index operator_peak_bytes(const StrategyName& strategy, const OperatorSize& size) {
  const KernelInfo& kernel = kernel_row(strategy, size.processor);
  return Saturated((size.processor == Processor::cpu ? kernel.cpu : kernel.gpu).peak(size)) +
         scatter_part(strategy, size);
}

template <class T>
std::unique_ptr<CsrMatrix<T>> make_csr_matrix(const BilinearForm& form) {
  const auto batches = make_batches<T>(*form.discretization);
  return make_csr_operator<T>(form, *batches,
                              std::make_shared<const GeometricFactors<T>>(
                                  *form.discretization, *batches, form.coefficient));
}

namespace {

template <class T>
using HostMaker = std::unique_ptr<LinearOperator<T, Host>> (*)(const StrategyName& strategy,
                                                               const BilinearForm& form);

template <class T>
std::unique_ptr<LinearOperator<T, Host>> make_csr(const StrategyName&, const BilinearForm& form) {
  return make_csr_matrix<T>(form);
}

template <class T>
std::unique_ptr<LinearOperator<T, Host>> make_local(const StrategyName& strategy,
                                                    const BilinearForm& form) {
  const Discretization& discretization = *form.discretization;
  const auto batches = make_batches<T>(discretization);
  auto factors =
      std::make_shared<const GeometricFactors<T>>(discretization, *batches, form.coefficient);
  return make_local_operator<T>(
      form, batches, std::move(factors),
      make_scatter<T>(strategy.scatter, *batches, discretization.lattice));
}

template <class T>
std::unique_ptr<LinearOperator<T, Host>> make_tensor(const StrategyName& strategy,
                                                     const BilinearForm& form) {
  if (form.geometry == GeometryForm::stencil) return make_stencil_operator<T>(form);
  const Discretization& discretization = *form.discretization;
  const auto batches = make_batches<T>(discretization);
  return make_tensor_operator<T>(
      form, batches, make_scatter<T>(strategy.scatter, *batches, discretization.lattice));
}

template <class T>
std::unique_ptr<LinearOperator<T, Host>> make_kronecker(const StrategyName&,
                                                        const BilinearForm& form) {
  return make_kronecker_operator<T>(form);
}

/// What makes the operators of a kernel on the host.
template <class T>
struct HostKernel {
  std::string_view name;
  HostMaker<T> make;
};

template <class T>
constexpr std::array<HostKernel<T>, 4> kHostKernels = {{{"csr", make_csr<T>},
                                                        {"local", make_local<T>},
                                                        {"tensor", make_tensor<T>},
                                                        {"kronecker", make_kronecker<T>}}};

/// @throws std::logic_error for a row of the table that nothing makes
template <class T>
HostMaker<T> find_maker(std::string_view kernel) {
  for (const HostKernel<T>& entry : kHostKernels<T>) {
    if (entry.name == kernel) return entry.make;
  }
  throw std::logic_error("nothing makes the kernel " + std::string(kernel));
}

}  // namespace

template <class T>
std::unique_ptr<LinearOperator<T, Host>> make_operator(const StrategyName& strategy,
                                                       const BilinearForm& form) {
  kernel_row(strategy, Processor::cpu);
  const std::string reason = why_unsuitable(strategy, form);
  if (!reason.empty()) throw UnsuitableChoice(Choice::kernel, reason);
  std::unique_ptr<LinearOperator<T, Host>> made = find_maker<T>(strategy.kernel)(strategy, form);
  require_name(made->name(), operator_label(strategy, form));
  return made;
}

template std::unique_ptr<CsrMatrix<double>> make_csr_matrix(const BilinearForm&);
template std::unique_ptr<CsrMatrix<float>> make_csr_matrix(const BilinearForm&);
template std::unique_ptr<LinearOperator<double, Host>> make_operator(const StrategyName&,
                                                                     const BilinearForm&);
template std::unique_ptr<LinearOperator<float, Host>> make_operator(const StrategyName&,
                                                                    const BilinearForm&);

}  // namespace tessera
