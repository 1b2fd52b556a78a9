// This file makes the operators of strategies in GPU memory.
#include "operators/device_strategy.hpp"

#include <stdexcept>

#include "operators/cells/device_matrix_free.hpp"
#include "operators/csr/device_csr.hpp"
#include "operators/kronecker/device_kronecker.hpp"
#include "operators/local/device_local.hpp"
#include "operators/stencil/device_stencil.hpp"
#include "operators/tensor/device_tensor.hpp"
#include "solvers/errors.hpp"

namespace tessera {
namespace {

DeviceScatter scatter_named(const std::string& name) {
  for (const DeviceScatter scatter : kDeviceScatters) {
    if (scatter_name(scatter) == name) return scatter;
  }
  throw std::logic_error("nothing on the GPU adds by the scatter policy " + name);
}

template <class T>
std::unique_ptr<LinearOperator<T, Device>> make_unnamed(const StrategyName& strategy,
                                                        const BilinearForm& form) {
  const std::string& name = strategy.kernel;
  if (name == "kronecker") return make_device_kronecker_operator<T>(form);
  if (name == "tensor" && form.geometry == GeometryForm::stencil) {
    return make_device_stencil_operator<T>(form);
  }
  std::unique_ptr<DeviceCellKernel<T>> kernel = make_device_tensor_kernel<T>(form);
  if (name == "csr") return make_device_csr_operator<T>(form, *kernel);
  if (name == "local") {
    kernel = make_device_local_kernel<T>(form, *kernel);
  } else if (name == "local-thread") {
    kernel = make_device_local_thread_kernel<T>(form, *kernel);
  } else if (name != "tensor") {
    throw std::logic_error("nothing makes the kernel " + name + " on the GPU");
  }
  return make_device_matrix_free<T>(form, std::move(kernel), scatter_named(strategy.scatter));
}

}  // namespace

template <class T>
std::unique_ptr<LinearOperator<T, Device>> make_device_operator(const StrategyName& strategy,
                                                                const BilinearForm& form) {
  for (const std::string& reason : {why_unavailable(strategy, Processor::gpu),
                                    why_unsuitable(strategy, form, Processor::gpu)}) {
    if (!reason.empty()) throw UnsuitableChoice(Choice::kernel, reason);
  }
  std::unique_ptr<LinearOperator<T, Device>> made = make_unnamed<T>(strategy, form);
  require_name(made->name(), operator_label(strategy, form));
  return made;
}

template std::unique_ptr<LinearOperator<double, Device>> make_device_operator(const StrategyName&,
                                                                              const BilinearForm&);
template std::unique_ptr<LinearOperator<float, Device>> make_device_operator(const StrategyName&,
                                                                             const BilinearForm&);

}  // namespace tessera
