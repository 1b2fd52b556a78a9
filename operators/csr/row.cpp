// What the table of strategies says of the assembled matrix, and what makes its operators.
#include "operators/csr/row.hpp"

#include <algorithm>

#include "mesh/saturated.hpp"
#include "operators/cells/element_kernel.hpp"
#include "operators/csr/csr.hpp"
#include "operators/csr/cusparse.hpp"
#include "operators/csr/device_csr.hpp"

namespace tessera {
namespace {

OperatorBytes cpu_bytes(const StrategyName&, const FormShape& shape) {
  const Index matrix = csr_bytes(shape.lattice, shape.dirichlet, shape.value_bytes);
  return {matrix, Saturated(matrix) + element_factor_bytes(shape)};
}

// With what local matrices come from.
Index assembly_bytes(const FormShape& shape, Index assembled) {
  return std::max<Index>(device_element_kernel_peak_bytes(shape),
                         Saturated(device_element_kernel_bytes(shape)) + assembled);
}

Index csr_peak_bytes(const FormShape& shape) {
  return device_csr_peak_bytes(shape.factors(), shape.mesh, shape.lattice, shape.dirichlet,
                               shape.value_bytes);
}

OperatorBytes gpu_bytes(const StrategyName&, const FormShape& shape) {
  return {device_csr_bytes(shape.lattice, shape.dirichlet, shape.value_bytes),
          assembly_bytes(shape, csr_peak_bytes(shape))};
}

OperatorBytes rounded_bytes(const StrategyName& strategy, const FormShape& shape) {
  const OperatorBytes exact = gpu_bytes(strategy, shape);
  if (shape.value_bytes == sizeof(float)) return exact;
  const Index held = rounded_csr_bytes(shape.lattice, shape.dirichlet);
  // Both have the columns and the row starts, once.
  const Saturated entries = csr_nonzeros(shape.lattice, shape.dirichlet);
  const Index rounding = Saturated(held) + entries * sizeof(double);
  return {held, std::max(exact.peak, assembly_bytes(shape, rounding))};
}

OperatorBytes of_cusparse(const StrategyName&, const FormShape& shape) {
  const Index peak = cusparse_peak_bytes(shape.factors(), shape.mesh, shape.lattice,
                                         shape.dirichlet, shape.value_bytes);
  return {cusparse_bytes(shape.lattice, shape.dirichlet, shape.value_bytes),
          assembly_bytes(shape, peak)};
}

template <class T>
std::unique_ptr<LinearOperator<T, Host>> make(const StrategyName&, const BilinearForm& form) {
  return make_csr_matrix<T>(form);
}

template <class T>
std::unique_ptr<LinearOperator<T, Device>> make_on_device(const StrategyName&,
                                                          const BilinearForm& form) {
  return make_device_csr_operator<T>(form, *make_device_element_kernel<T>(form));
}

template <class T>
std::unique_ptr<LinearOperator<T, Device>> make_rounded_csr(const StrategyName&,
                                                            const BilinearForm& form) {
  return make_rounded_csr_operator<T>(form, *make_device_element_kernel<T>(form));
}

template <class T>
std::unique_ptr<LinearOperator<T, Device>> make_with_cusparse(const StrategyName&,
                                                              const BilinearForm& form) {
  return make_cusparse_operator<T>(form, *make_device_element_kernel<T>(form));
}

}  // namespace

KernelInfo csr_kernel() {
  return {.name = kCsr,
          .summary = "assembled matrix in compressed sparse rows (full assembly)",
          .fast_degrees = "any degree",
          .memory = "12 B per nonzero, about (p + 2)^d nonzeros per DoF",
          .max_dofs_on_gpu = kMaxRowsOnGpu,
          .cpu_bytes = cpu_bytes,
          .gpu_bytes = gpu_bytes,
          .make = makers_of<MakeOperator>([]<class T>() { return make<T>; },
                                          []<class T>() { return make_on_device<T>; })};
}

KernelInfo rounded_csr_kernel() {
  return {.name = kRoundedCsr,
          .summary =
              "csr with entries in single precision, sums of rows and vectors in the "
              "operator's: an approximation, to about 1e-7, s^2 times that along the long "
              "axis of cells stretched s times",
          .fast_degrees = "any degree",
          .memory = "8 B per nonzero, about (p + 2)^d nonzeros per DoF",
          .entry_rounding = 0x1p-24,
          .max_dofs_on_gpu = kMaxRowsOnGpu,
          .gpu_bytes = rounded_bytes,
          .make = makers_on_gpu<MakeOperator>([]<class T>() { return make_rounded_csr<T>; })};
}

KernelInfo cusparse_kernel() {
  return {.name = kCusparse,
          .summary = "csr multiplied by cuSPARSE, to compare with",
          .fast_degrees = "any degree",
          .memory = "12 B per nonzero, about (p + 2)^d nonzeros per DoF",
          .deterministic_on_gpu = Deterministic::no,
          .max_dofs_on_gpu = kMaxRowsOnGpu,
          .gpu_bytes = of_cusparse,
          .make = makers_on_gpu<MakeOperator>([]<class T>() { return make_with_cusparse<T>; })};
}

}  // namespace tessera
