// This file has conjugate gradients on the GPU as launches of a CUDA graph.
#include "solvers/krylov/cg.hpp"
#include "solvers/krylov/cg_fused_kernels.cuh"
#include "solvers/krylov/cg_kernels.cuh"
#include "solvers/krylov/device_system.cuh"

namespace tessera {
namespace {

template <class T>
class DeviceCg final : public DeviceIteration {
 public:
  DeviceCg(const LinearOperator<T, Device>& a, const Preconditioner<T, Device>* m, Beta beta)
      : system_(a, m),
        beta_(beta),
        is_general_(system_.kind() == PreconditionerKind::general),
        fused_(system_.a().fused()),
        predicts_beta_(system_.kind() == PreconditionerKind::none && fused_ != nullptr),
        r_(system_.size()),
        p_(system_.size()),
        second_p_(system_.size_if(predicts_beta_)),
        q_(system_.size()),
        z_(system_.size_if(is_general_)),
        partial_(3 * kMaxUpdateBlocks) {}

  DeviceSystem<T>& system() { return system_; }
  const DeviceSystem<T>& system() const { return system_; }

  // Makes p = M r and r.M r as well, unless M is general; with a general M the iteration makes p.
  void enqueue_residual() override {
    complete_solution();
    system_.enqueue_residual(r_, {p_.data(), &state()->rz}, state());
  }

  int iterations_per_call() const override { return predicts_beta_ ? 2 : 1; }

  void enqueue() override {
    if (predicts_beta_) {
      enqueue_half<Half::first>(p_);
      enqueue_half<Half::second>(second_p_);
    } else if (is_general_) {
      system_.m().apply(r_, z_);
      if (beta_ == Beta::fletcher_reeves) {
        launch(direction_kernel<Beta::fletcher_reeves, T>);
      } else {
        launch(direction_kernel<Beta::polak_ribiere, T>);
      }
      enqueue_product(residual_kernel<DirectionSum::given, T>,
                      residual_kernel<DirectionSum::computed, T>);
    } else if (system_.kind() == PreconditionerKind::diagonal) {
      enqueue_iteration<PreconditionerKind::diagonal>();
    } else {
      enqueue_iteration<PreconditionerKind::none>();
    }
  }

  void enqueue_replacement() override {
    complete_solution();
    // With a general preconditioner the r.z of the state is that of p.
    system_.enqueue_residual(r_, {nullptr, is_general_ ? nullptr : &state()->rz}, state());
  }

 private:
  using Kernel = void (*)(IterationArguments<T>);

  void launch(Kernel kernel) {
    launch_cooperatively(kernel,
                         {system_.size(), q_.data(), system_.diagonal(), z_.data(), p_.data(),
                          r_.data(), system_.x(), state(), partial_.data()},
                         "vector updates of CG");
  }

  // Queues q = A p and the kernel that uses it.
  void enqueue_product(Kernel with_sum_given, Kernel with_sum_computed) {
    if (fused_ != nullptr) {
      fused_->apply_dot(p_, q_, state()->dots);
      launch(with_sum_given);
    } else {
      system_.a().apply(p_, q_);
      launch(with_sum_computed);
    }
  }

  template <PreconditionerKind kind>
  void enqueue_iteration() {
    enqueue_product(iteration_kernel<kind, DirectionSum::given, T>,
                    iteration_kernel<kind, DirectionSum::computed, T>);
  }

  template <Half half>
  void enqueue_half(const DeviceVector<T>& p) {
    fused_->apply_dot(p, q_, state()->dots);
    const FusedIterationArguments<T> args{system_.size(),   q_.data(),       p_.data(),
                                          second_p_.data(), r_.data(),       system_.x(),
                                          state(),          sums_.partial(), sums_.arrived()};
    fused_iteration_kernel<half>
        <<<reduction_blocks(system_.size()), kReductionThreads, 0, device_stream()>>>(args);
    check_launch("vector updates of CG");
  }

  void complete_solution() {
    if (!is_general_) return;
    completion_kernel<<<reduction_blocks(system_.size()), kReductionThreads, 0, device_stream()>>>(
        system_.size(), p_.data(), system_.x(), state());
    check_launch("completing the solution of CG");
    check_cuda(cudaMemsetAsync(&state()->pending, 0, sizeof(double), device_stream()),
               "clearing a scalar of CG");
  }

  DeviceSystem<T> system_;
  Beta beta_;
  bool is_general_;
  const FusedOperations<T, Device>* fused_;
  // The operator's pass gives beta ahead of the update.
  bool predicts_beta_;
  DeviceVector<T> r_, p_, second_p_, q_, z_;
  DeviceArray<Sums<2>> partial_;
  ReductionBuffer<2> sums_;
};

}  // namespace

template <>
std::unique_ptr<Solver<double, Device>> make_cg(
    const LinearOperator<double, Device>& a, const Preconditioner<double, Device>* preconditioner) {
  return make_device_solver<DeviceCg<double>>(a, preconditioner, Beta::fletcher_reeves);
}
template <>
std::unique_ptr<Solver<float, Device>> make_cg(
    const LinearOperator<float, Device>& a, const Preconditioner<float, Device>* preconditioner) {
  return make_device_solver<DeviceCg<float>>(a, preconditioner, Beta::fletcher_reeves);
}

template <>
std::unique_ptr<Solver<double, Device>> make_flexible_cg(
    const LinearOperator<double, Device>& a, const Preconditioner<double, Device>* preconditioner) {
  return make_device_solver<DeviceCg<double>>(a, preconditioner, Beta::polak_ribiere);
}
template <>
std::unique_ptr<Solver<float, Device>> make_flexible_cg(
    const LinearOperator<float, Device>& a, const Preconditioner<float, Device>* preconditioner) {
  return make_device_solver<DeviceCg<float>>(a, preconditioner, Beta::polak_ribiere);
}

}  // namespace tessera
