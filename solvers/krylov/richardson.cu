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
  const Index stride = thread_count<kReductionThreads>();
  for (Index i = thread_number<kReductionThreads>(); i < n; i += stride) {
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
class DeviceRichardson final : public SystemIteration<T> {
  using Base = SystemIteration<T>;
  using Base::kind;
  using Base::make_residual;
  using Base::over_entries;
  using Base::residual;
  using Base::state;

 public:
  using Base::system;

  static constexpr bool kIteratesOnRightHandSide = true;

  DeviceRichardson(const LinearOperator<T, Device>& a, const Preconditioner<T, Device>* m,
                   double omega)
      : Base(a, m),
        omega_(static_cast<T>(omega)),
        z_(system().layout_if(kind() == PreconditionerKind::general)) {}

  void enqueue_residual() override { make_residual({nullptr, &state()->rz}); }

  double max_growth() const override { return kMaxGrowth; }

  void start() override {
    enqueue_copy(&state()->previous_rz, &state()->rr, sizeof(double), cudaMemcpyDeviceToDevice,
                 "copying a scalar");
  }

  void enqueue() override {
    const bool is_general = kind() == PreconditionerKind::general;
    if (is_general) system().m().apply(residual(), z_);
    launch(correction_kernel<T>, over_entries("correction of Richardson's iteration"),
           system().size(), omega_, system().diagonal(), is_general ? z_.data() : residual().data(),
           system().x(), state());
    if (const FusedOperations<T, Device>* const fused = system().a().fused(); fused != nullptr) {
      fused->residual(system().b(), system().solution(), residual(), &state()->rr);
    } else {
      make_residual({nullptr, nullptr});
    }
    launch(finish_kernel, {"end of Richardson's iteration", 1, 1}, state());
  }

  // There is nothing to replace, because every residual is b - A x.
  void enqueue_replacement() override {}

 private:
  T omega_;
  DeviceVector<T> z_;
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
