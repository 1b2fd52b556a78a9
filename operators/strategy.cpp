#include "operators/strategy.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "mesh/cell_batches.hpp"
#include "operators/csr.hpp"
#include "operators/local_operator.hpp"
#include "operators/scatter.hpp"
#include "operators/tensor.hpp"

namespace tessera {
namespace {

Index factor_bytes(const OperatorSize& size) {
  return geometric_factor_bytes(size.factors, size.mesh.dimension(), size.mesh.cell_count(),
                                size.points, size.value_bytes);
}

Index matrix_bytes(const OperatorSize& size) {
  return csr_bytes(size.lattice, size.dirichlet, size.value_bytes);
}

Index local_bytes(const OperatorSize& size) {
  return local_matrix_bytes(size.factors, size.mesh.dimension(), size.mesh.cell_count(),
                            size.lattice.degree(), size.value_bytes);
}

constexpr std::array<KernelInfo, 3> kTable = {{
    {"csr", "assembled matrix in compressed sparse rows (full assembly)", TakesScatter::no,
     "any degree", "12 B a nonzero, about (p + 2)^d nonzeros a DoF", matrix_bytes,
     [](const OperatorSize& size) { return matrix_bytes(size) + factor_bytes(size); }},
    {"local",
     "precomputed local matrices, one for all cells where they are alike (element assembly)",
     TakesScatter::yes, "1-8 unrolled, others at run-time size",
     "one matrix on a uniform mesh with constant coefficient, else 4 (p + 1)^2d B a cell",
     local_bytes, [](const OperatorSize& size) { return local_bytes(size) + factor_bytes(size); }},
    {"tensor", "sum factorization, B^T D B by 1D matrices (partial assembly)", TakesScatter::yes,
     "1-8 with degree + 1 or degree + 2 points unrolled, others at run-time size",
     "a uniform mesh stores nothing; a mapped one d (d + 1) / 2 values a quadrature point",
     factor_bytes, factor_bytes},
}};

Index scatter_part(const StrategyName& strategy, const OperatorSize& size) {
  return scatter_bytes(strategy.scatter, size.lattice.size(), size.value_bytes);
}

const KernelInfo& kernel_row(const StrategyName& strategy) {
  const KernelInfo* row = find_kernel(strategy.kernel);
  if (row == nullptr) throw std::invalid_argument("no kernel is named " + strategy.kernel);
  if (row->scatter == TakesScatter::no && strategy.scatter != "none") {
    throw std::invalid_argument("the kernel " + strategy.kernel + " takes no scatter policy");
  }
  return *row;
}

// What one cell adds to a brick's part of x and y, with neighbors sharing its surface nodes.
Index cell_working_set(const NodeLattice& lattice, Index value_bytes) {
  return 2 * value_bytes * power(lattice.degree(), lattice.dimension());
}

}  // namespace

std::string StrategyName::text() const {
  return scatter == "none" ? kernel : kernel + "/" + scatter;
}

std::span<const KernelInfo> kernel_table() { return kTable; }

const KernelInfo* find_kernel(std::string_view name) {
  const auto* row = std::find_if(kTable.begin(), kTable.end(),
                                 [&](const KernelInfo& info) { return info.name == name; });
  return row == kTable.end() ? nullptr : row;
}

std::vector<StrategyName> all_strategies() {
  std::vector<StrategyName> strategies;
  for (const KernelInfo& kernel : kTable) {
    if (kernel.scatter == TakesScatter::no) {
      strategies.push_back({std::string(kernel.name), "none"});
      continue;
    }
    for (const ScatterInfo& scatter : scatter_table()) {
      strategies.push_back({std::string(kernel.name), std::string(scatter.name)});
    }
  }
  return strategies;
}

Index operator_bytes(const StrategyName& strategy, const OperatorSize& size) {
  return kernel_row(strategy).bytes(size) + scatter_part(strategy, size);
}

Index operator_peak_bytes(const StrategyName& strategy, const OperatorSize& size) {
  return kernel_row(strategy).peak_bytes(size) + scatter_part(strategy, size);
}

template <class T>
std::unique_ptr<LinearOperator<T, Host>> make_operator(const StrategyName& strategy,
                                                       const StiffnessForm& form) {
  kernel_row(strategy);
  const Discretization& discretization = *form.discretization;
  const auto batches = std::make_shared<const CellBatches>(
      discretization.mesh, kLanes<T>, cell_working_set(discretization.lattice, sizeof(T)),
      omp_get_max_threads());
  auto factors =
      std::make_shared<const GeometricFactors<T>>(discretization, *batches, form.coefficient);
  if (strategy.kernel == "csr") return make_csr_operator<T>(form, *batches, std::move(factors));
  auto scatter = make_scatter<T>(strategy.scatter, *batches, discretization.lattice);
  if (strategy.kernel == "local") {
    return make_local_operator<T>(form, batches, std::move(factors), std::move(scatter));
  }
  return make_tensor_operator<T>(form, batches, std::move(factors), std::move(scatter));
}

template std::unique_ptr<LinearOperator<double, Host>> make_operator(const StrategyName&,
                                                                     const StiffnessForm&);
template std::unique_ptr<LinearOperator<float, Host>> make_operator(const StrategyName&,
                                                                    const StiffnessForm&);

}  // namespace tessera
