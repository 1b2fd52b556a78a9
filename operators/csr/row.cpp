// What the table of strategies says of the kernel csr, and what makes its operators.
#include "operators/csr/row.hpp"

#include <algorithm>

#include "mesh/saturated.hpp"
#include "operators/cells/element_kernel.hpp"
#include "operators/csr/csr.hpp"
#include "operators/csr/device_csr.hpp"

namespace tessera {
namespace {

OperatorBytes cpu_bytes(const StrategyName&, const FormShape& shape) {
  const Index matrix = csr_bytes(shape.lattice, shape.dirichlet, shape.value_bytes);
  return {matrix, Saturated(matrix) + element_factor_bytes(shape)};
}

OperatorBytes gpu_bytes(const StrategyName&, const FormShape& shape) {
  const Index held = device_csr_bytes(shape.lattice, shape.dirichlet, shape.value_bytes);
  const Index made = Saturated(device_element_kernel_bytes(shape)) +
                     device_csr_peak_bytes(shape.factors(), shape.mesh, shape.lattice,
                                           shape.dirichlet, shape.value_bytes);
  return {held, std::max(device_element_kernel_peak_bytes(shape), made)};
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

}  // namespace

KernelInfo csr_kernel() {
  return {.name = "csr",
          .summary = "assembled matrix in compressed sparse rows (full assembly); GPU: cuSPARSE",
          .fast_degrees = "any degree",
          .memory = "12 B per nonzero, about (p + 2)^d nonzeros per DoF",
          .deterministic_on_gpu = Deterministic::no,
          .cpu_bytes = cpu_bytes,
          .gpu_bytes = gpu_bytes,
          .make = makers_of<MakeOperator>([]<class T>() { return make<T>; },
                                          []<class T>() { return make_on_device<T>; })};
}

}  // namespace tessera
