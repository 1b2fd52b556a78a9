// This file has conjugate gradients on the GPU as launches of a CUDA graph.
#include <algorithm>
#include <memory>

#include "solvers/adding_operator.hpp"
#include "solvers/krylov/cg.hpp"
#include "solvers/krylov/cg_fused_kernels.cuh"
#include "solvers/krylov/cg_held_kernels.cuh"
#include "solvers/krylov/cg_kernels.cuh"
#include "solvers/krylov/cg_on_ranks.hpp"
#include "solvers/krylov/device_system.cuh"

namespace tessera {
namespace {

template <class T>
class DeviceCg final : public SystemIteration<T> {
  using Base = SystemIteration<T>;
  using Base::kind;
  using Base::make_residual;
  using Base::over_entries;
  using Base::residual;
  using Base::state;

 public:
  using Base::system;

  DeviceCg(const LinearOperator<T, Device>& a, const Preconditioner<T, Device>* m, Beta beta)
      : Base(a, m),
        beta_(beta),
        is_general_(kind() == PreconditionerKind::general),
        fused_(a.fused()),
        resident_(kind() == PreconditionerKind::none && fused_ != nullptr
                      ? fused_->make_resident_cg()
                      : nullptr),
        predicts_beta_(kind() == PreconditionerKind::none && fused_ != nullptr &&
                       resident_ == nullptr),
        adding_(fused_ == nullptr && beta == Beta::fletcher_reeves ? as_adding(a, kVectorsOfUpdate)
                                                                   : nullptr),
        p_(a.layout()),
        q_(system().layout_if(resident_ == nullptr)),
        z_(system().layout_if(stores_correction(m))) {}

  // Makes p = M r and r.M r as well, unless M is general; with a general M the iteration makes p.
  void enqueue_residual() override {
    complete_solution();
    make_residual({p_.data(), &state()->rz});
  }

  void start() override {
    if (adding_ != nullptr) fill(q_, T{0});
  }

  bool iterates_in_one_kernel() const { return resident_ != nullptr; }

  int iterations_per_call() const override {
    return resident_ != nullptr ? in_one_kernel_ : predicts_beta_ ? 2 : 1;
  }
  void limit_call(int iterations) override {
    in_one_kernel_ = std::min(iterations, kIterationsOfResidentCg);
  }

  void enqueue() override {
    if (resident_ != nullptr) {
      resident_->enqueue(in_one_kernel_, {p_.data(), residual().data(), system().x()}, state());
    } else if (predicts_beta_) {
      enqueue_half<Half::first>();
      enqueue_half<Half::second>();
    } else if (is_general_) {
      system().with_correction(residual(), z_, [&]<class Z>(Z z) {
        const auto kernel = beta_ == Beta::fletcher_reeves
                                ? direction_kernel<Beta::fletcher_reeves, T, Z>
                                : direction_kernel<Beta::polak_ribiere, T, Z>;
        tessera::launch_update<T, Z>({kernel, update_blocks(kernel, system().size())}, arguments(),
                                     z);
      });
      enqueue_product({residual_kernel<DirectionSum::given, Product::whole, T>,
                       residual_kernel<DirectionSum::computed, Product::whole, T>,
                       residual_kernel<DirectionSum::computed, Product::added, T>});
    } else if (kind() == PreconditionerKind::diagonal) {
      enqueue_iteration<PreconditionerKind::diagonal>();
    } else {
      enqueue_iteration<PreconditionerKind::none>();
    }
  }

  void enqueue_replacement() override {
    complete_solution();
    // With a general preconditioner the r.z of the state is that of p.
    make_residual({nullptr, is_general_ ? nullptr : &state()->rz});
  }

 private:
  using Kernel = void (*)(IterationArguments<T>);
  // What passes over between the update that clears q and the operator: q, p, r, x.
  static constexpr int kVectorsOfUpdate = 4;

  void launch_update(Kernel kernel) {
    launch_update(UpdateLaunch<T>{kernel, update_blocks(kernel, system().size())});
  }
  void launch_update(const UpdateLaunch<T>& update) {
    tessera::launch_update<T>(update, arguments());
  }
  IterationArguments<T> arguments() {
    return {system().size(), q_.data(), system().diagonal(), p_.data(), residual().data(),
            system().x(),    state(),   grid_sums_.places()};
  }

  // Kernels that use q, by what the operator does.
  struct ProductKernels {
    Kernel with_sum_given;
    Kernel with_sum_computed;
    Kernel leaving_zeros;
  };

  // Queues q = A p and the kernel that uses it: `held` in place of the last two, unless null.
  void enqueue_product(const ProductKernels& kernels, const UpdateLaunch<T>& held = {}) {
    if (fused_ != nullptr) {
      fused_->apply_dot(p_, q_, state()->dots);
      launch_update(kernels.with_sum_given);
      return;
    }
    if (adding_ != nullptr) {
      adding_->apply_to_zeros(p_, q_);
    } else {
      system().a().apply(p_, q_);
    }
    if (held.kernel != nullptr) {
      launch_update(held);
    } else {
      launch_update(adding_ != nullptr ? kernels.leaving_zeros : kernels.with_sum_computed);
    }
  }

  template <PreconditionerKind kind>
  void enqueue_iteration() {
    enqueue_product({iteration_kernel<kind, DirectionSum::given, Product::whole, T>,
                     iteration_kernel<kind, DirectionSum::computed, Product::whole, T>,
                     iteration_kernel<kind, DirectionSum::computed, Product::added, T>},
                    find_held<kind>());
  }

  // For the operator's product, if the vectors are short enough; none with fused operations.
  template <PreconditionerKind kind>
  UpdateLaunch<T> find_held() const {
    if (fused_ != nullptr) return {};
    const Index n = system().size();
    return adding_ != nullptr ? find_held_kernel<kind, Product::added, T>(n)
                              : find_held_kernel<kind, Product::whole, T>(n);
  }

  template <Half half>
  void enqueue_half() {
    fused_->apply_dot(p_, q_, state()->dots);
    launch(fused_iteration_kernel<half, AllEntries, T>, over_entries("vector updates of CG"),
           {system().size(), q_.data(), p_.data(), residual().data(), system().x(), state(),
            sums_.partial(), sums_.arrived()},
           AllEntries());
  }

  void complete_solution() {
    if (!is_general_) return;
    launch(completion_kernel<T>, over_entries("completing the solution of CG"), system().size(),
           p_.data(), system().x(), state());
    zero_on_device(&state()->pending, sizeof(double));
  }

  Beta beta_;
  bool is_general_;
  const FusedOperations<T, Device>* fused_;
  // All of an iteration in one kernel, or null.
  std::unique_ptr<ResidentCg<T>> resident_;
  int in_one_kernel_ = kIterationsOfResidentCg;
  // The operator's pass gives beta ahead of the update.
  bool predicts_beta_;
  // The operator if it adds to the zeros that the update leaves, else null. Polak and Ribiere's
  // beta needs the q of the iteration before.
  const AddingOperator<T, Device>* adding_;
  DeviceVector<T> p_, q_, z_;
  GridSumBuffer grid_sums_;
  ReductionBuffer<1> sums_;
};

template <class T>
std::unique_ptr<Solver<T, Device>> make_solver_of(const LinearOperator<T, Device>& a,
                                                  const Preconditioner<T, Device>* m, Beta beta) {
  if (a.layout().shared != nullptr) return make_cg_on_ranks(a, m, beta);
  return make_device_solver<DeviceCg<T>>(a, m, beta);
}

}  // namespace

template <>
std::unique_ptr<Solver<double, Device>> make_cg(
    const LinearOperator<double, Device>& a, const Preconditioner<double, Device>* preconditioner) {
  return make_solver_of(a, preconditioner, Beta::fletcher_reeves);
}
template <>
std::unique_ptr<Solver<float, Device>> make_cg(
    const LinearOperator<float, Device>& a, const Preconditioner<float, Device>* preconditioner) {
  return make_solver_of(a, preconditioner, Beta::fletcher_reeves);
}

template <>
std::unique_ptr<Solver<double, Device>> make_flexible_cg(
    const LinearOperator<double, Device>& a, const Preconditioner<double, Device>* preconditioner) {
  return make_solver_of(a, preconditioner, Beta::polak_ribiere);
}
template <>
std::unique_ptr<Solver<float, Device>> make_flexible_cg(
    const LinearOperator<float, Device>& a, const Preconditioner<float, Device>* preconditioner) {
  return make_solver_of(a, preconditioner, Beta::polak_ribiere);
}

}  // namespace tessera
