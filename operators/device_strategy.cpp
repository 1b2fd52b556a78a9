#include "operators/device_strategy.hpp"

#include <stdexcept>

#include "operators/device_csr.hpp"
#include "operators/device_kronecker.hpp"
#include "operators/device_local.hpp"
#include "operators/device_matrix_free.hpp"
#include "operators/device_stencil.hpp"
#include "operators/device_tensor.hpp"
#include "solvers/errors.hpp"

namespace tessera {
namespace {

DeviceScatter scatter_named(const std::string& name) {
  if (name == "atomic") return DeviceScatter::atomic;
  if (name == "coloring") return DeviceScatter::coloring;
  if (name == "private") return DeviceScatter::private_cells;
  if (name == "patch") return DeviceScatter::patch;
  return DeviceScatter::unprotected;
}

}  // namespace

template <class T>
std::unique_ptr<LinearOperator<T, Device>> make_device_operator(const StrategyName& strategy,
                                                                const StiffnessForm& form) {
  for (const std::string& reason : {why_unavailable(strategy, Processor::gpu),
                                    why_unsuitable(strategy, form, Processor::gpu)}) {
    if (!reason.empty()) throw UnsuitableChoice(Choice::kernel, reason);
  }
  if (strategy.kernel == "kronecker") return make_device_kronecker_operator<T>(form);
  if (form.geometry == GeometryForm::stencil) return make_device_stencil_operator<T>(form);
  std::unique_ptr<DeviceCellKernel<T>> kernel = make_device_tensor_kernel<T>(form);
  if (strategy.kernel == "csr") return make_device_csr_operator<T>(form, *kernel);
  if (strategy.kernel == "local") kernel = make_device_local_kernel<T>(form, *kernel);
  if (strategy.kernel == "local-thread") kernel = make_device_local_thread_kernel<T>(form, *kernel);
  return make_device_matrix_free<T>(form, std::move(kernel), scatter_named(strategy.scatter));
}

template std::unique_ptr<LinearOperator<double, Device>> make_device_operator(const StrategyName&,
                                                                              const StiffnessForm&);
template std::unique_ptr<LinearOperator<float, Device>> make_device_operator(const StrategyName&,
                                                                             const StiffnessForm&);

}  // namespace tessera
