// This file has Richardson's iteration on the GPU.
#include "solvers/krylov/device_system.cuh"
#include "solvers/krylov/richardson.hpp"

namespace tessera {
namespace {

// x += omega d v, or x += omega v without d, while the status is `running`. Reads 2 vectors, 3 with
// d, and writes 1.
template <class T>
__global__ void __launch_bounds__(kReductionThreads)
    correction_kernel(Index n, T omega, const T* __restrict__ d, const T* __restrict__ v,
                      T* __restrict__ x, const IterationState* state) {
  if (state->status != DeviceStatus::running) return;
  const Index stride = static_cast<Index>(gridDim.x) * kReductionThreads;
  for (Index i = static_cast<Index>(blockIdx.x) * kReductionThreads + threadIdx.x; i < n;
       i += stride) {
    x[i] += omega * (d != nullptr ? d[i] * v[i] : v[i]);
  }
}

// Ends the iteration by one thread, when rr and the r.r before are known. Kernels that are queued
// behind the last iteration leave the state as it is.
__global__ void finish_kernel(IterationState* state) {
  if (state->status != DeviceStatus::running) return;
  finish_iteration(state, state->rr, fmax(0.0, state->previous_rz - state->rr));
  state->previous_rz = state->rr;
}

template <class T>
class DeviceRichardson final : public DeviceIteration {
 public:
  DeviceRichardson(const LinearOperator<T, Device>& a, const Preconditioner<T, Device>* m,
                   double omega)
      : system_(a, m),
        omega_(static_cast<T>(omega)),
        r_(system_.size()),
        z_(system_.size_if(system_.kind() == PreconditionerKind::general)) {}

  DeviceSystem<T>& system() { return system_; }
  const DeviceSystem<T>& system() const { return system_; }

  void enqueue_residual() override {
    system_.enqueue_residual(r_, {nullptr, &state()->rz}, state());
  }

  double max_growth() const override { return kMaxGrowth; }

  void start() override {
    check_cuda(cudaMemcpyAsync(&state()->previous_rz, &state()->rr, sizeof(double),
                               cudaMemcpyDeviceToDevice, device_stream()),
               "copying a scalar");
  }

  void enqueue() override {
    const bool is_general = system_.kind() == PreconditionerKind::general;
    if (is_general) system_.m().apply(r_, z_);
    correction_kernel<<<reduction_blocks(system_.size()), kReductionThreads, 0, device_stream()>>>(
        system_.size(), omega_, system_.diagonal(), is_general ? z_.data() : r_.data(), system_.x(),
        state());
    check_launch("correction of Richardson's iteration");
    if (const FusedOperations<T, Device>* const fused = system_.a().fused(); fused != nullptr) {
      fused->residual(system_.b(), system_.solution(), r_, &state()->rr);
    } else {
      system_.enqueue_residual(r_, {nullptr, nullptr}, state());
    }
    finish_kernel<<<1, 1, 0, device_stream()>>>(state());
    check_launch("end of Richardson's iteration");
  }

  // There is nothing to replace, because every residual is b - A x.
  void enqueue_replacement() override {}

 private:
  DeviceSystem<T> system_;
  T omega_;
  DeviceVector<T> r_, z_;
};

}  // namespace

template <>
std::unique_ptr<Solver<double, Device>> make_richardson(
    const LinearOperator<double, Device>& a, const Preconditioner<double, Device>* preconditioner,
    double omega) {
  return make_device_solver<DeviceRichardson<double>>(a, preconditioner, omega);
}
template <>
std::unique_ptr<Solver<float, Device>> make_richardson(
    const LinearOperator<float, Device>& a, const Preconditioner<float, Device>* preconditioner,
    double omega) {
  return make_device_solver<DeviceRichardson<float>>(a, preconditioner, omega);
}

}  // namespace tessera
