// What the table of strategies says of the kernel stencil, and what makes its operators.
#include "operators/stencil/row.hpp"

#include <algorithm>

#include "operators/stencil/device_stencil.hpp"
#include "operators/stencil/stencil.hpp"

namespace tessera {
namespace {

OperatorBytes cpu_bytes(const StrategyName&, const FormShape& shape) {
  return {stencil_bytes(shape), stencil_peak_bytes(shape)};
}

OperatorBytes gpu_bytes(const StrategyName&, const FormShape& shape) {
  return {device_stencil_bytes(shape), device_stencil_peak_bytes(shape)};
}

std::string why_not(const StrategyName&, const FormShape& shape) {
  return why_not_stencil(shape.lattice);
}

template <class T>
std::unique_ptr<LinearOperator<T, Host>> make(const StrategyName&, const BilinearForm& form) {
  return make_stencil_operator<T>(form);
}

template <class T>
std::unique_ptr<LinearOperator<T, Device>> make_on_device(const StrategyName&,
                                                          const BilinearForm& form) {
  return make_device_stencil_operator<T>(form);
}

}  // namespace

KernelInfo stencil_kernel() {
  return {.name = "stencil",
          .summary =
              "the assembled matrix of degree 1 by diagonals, without indices; each node is "
              "written once",
          .fast_degrees = "1 only",
          .memory = "(3^d + 1) / 2 values per DoF",
          .cpu_bytes = cpu_bytes,
          .gpu_bytes = gpu_bytes,
          .why_not = why_not,
          .make = makers_of<MakeOperator>([]<class T>() { return make<T>; },
                                          []<class T>() { return make_on_device<T>; })};
}

}  // namespace tessera
