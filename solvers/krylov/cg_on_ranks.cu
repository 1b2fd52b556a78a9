// This file has conjugate gradients where ranks with a GPU each share the vectors.
#include "solvers/krylov/cg_fused_kernels.cuh"
#include "solvers/krylov/cg_on_ranks.hpp"
#include "solvers/krylov/cg_rank_kernels.cuh"
#include "solvers/krylov/device_system.cuh"

namespace tessera {
namespace {

// As DeviceCg of cg.cu, but by the kernels that ranks need.
template <class T>
class DeviceCgOnRanks final : public SystemIteration<T> {
  using Base = SystemIteration<T>;
  using Base::kind;
  using Base::make_residual;
  using Base::over_entries;
  using Base::residual;
  using Base::state;

 public:
  using Base::system;

  DeviceCgOnRanks(const LinearOperator<T, Device>& a, const Preconditioner<T, Device>* m, Beta beta)
      : Base(a, m),
        beta_(beta),
        fused_(a.fused()),
        predicts_beta_(kind() == PreconditionerKind::none && fused_ != nullptr &&
                       fused_->takes_sums_along()),
        p_(a.layout()),
        q_(a.layout()),
        z_(system().layout_if(stores_correction(m))) {}

  void enqueue_residual() override {
    complete_solution();
    make_residual({p_.data(), &state()->rz});
  }

  int iterations_per_call() const override { return predicts_beta_ ? 2 : 1; }

  void enqueue() override {
    if (predicts_beta_) {
      enqueue_half<Half::first>();
      enqueue_half<Half::second>();
      return;
    }
    with_kind(kind(), [&]<PreconditionerKind kind>() {
      if constexpr (kind == PreconditionerKind::general) {
        if (beta_ == Beta::fletcher_reeves) {
          enqueue_direction<Beta::fletcher_reeves>();
        } else {
          enqueue_direction<Beta::polak_ribiere>();
        }
      }
      enqueue_product<kind>();
      enqueue_sums<ResidualUpdateEnd<kind>>(rank_residual_kernel<kind, T>);
      if constexpr (kind != PreconditionerKind::general) {
        enqueue_solution<kind>(static_cast<const T*>(this->residual().data()));
      }
    });
  }

  void enqueue_end() override {
    if (predicts_beta_) this->template finish_on_ranks<1>(UnfinishedEnd{state()});
  }

  void enqueue_replacement() override {
    complete_solution();
    // With a general preconditioner the r.z of the state is that of p.
    const bool is_general = kind() == PreconditionerKind::general;
    make_residual({nullptr, is_general ? nullptr : &state()->rz});
  }

 private:
  IterationArguments<T> arguments() {
    return {
        system().size(), q_.data(), system().diagonal(), p_.data(), residual().data(), system().x(),
        state(),         {}};
  }

  template <Half half>
  void enqueue_half() {
    fused_->apply_dot_and_sum(p_, q_, state()->of_rank, state()->dots);
    launch(fused_iteration_kernel<half, OwnedEntries, T>, over_entries("vector updates of CG"),
           {system().size(), q_.data(), p_.data(), residual().data(), system().x(), state(),
            square_.partial(), square_.arrived()},
           OwnedEntries(this->layout()));
  }

  // Queues q = A p, and what follows of p.q.
  template <PreconditionerKind kind>
  void enqueue_product() {
    if (fused_ != nullptr) {
      fused_->apply_dot(p_, q_, state()->dots);
      launch(given_direction_kernel<kind>, {"p.q of CG", 1, 1}, state());
    } else {
      system().a().apply(p_, q_);
      enqueue_sums<DirectionEnd<kind>>(direction_sum_kernel<kind, T>);
    }
  }

  template <Beta choice>
  void enqueue_direction() {
    system().with_correction(residual(), z_, [&]<class Z>(Z z) {
      enqueue_sums<CorrectionEnd<choice>>(correction_sums_kernel<choice, T, Z>, z);
      enqueue_solution<PreconditionerKind::general>(z);
    });
  }

  // Queues a kernel that sums, and what follows when the sums of all ranks are added.
  template <class End, class... Z>
  void enqueue_sums(void (*kernel)(IterationArguments<T>, OwnedEntries, Sums<2>*, unsigned*, Z...),
                    Z... z) {
    launch(kernel, over_entries("sums of CG"), arguments(), OwnedEntries(this->layout()),
           sums_.partial(), sums_.arrived(), z...);
    this->template finish_on_ranks<2>(End{state()});
  }

  template <PreconditionerKind kind, class From>
  void enqueue_solution(From from) {
    launch(rank_solution_kernel<kind, T, From>, over_entries("vector updates of CG"), arguments(),
           from);
  }

  void complete_solution() {
    if (kind() != PreconditionerKind::general) return;
    launch(completion_kernel<T>, over_entries("completing the solution of CG"), system().size(),
           p_.data(), system().x(), state());
    zero_on_device(&state()->pending, sizeof(double));
  }

  Beta beta_;
  const FusedOperations<T, Device>* fused_;
  // As in DeviceCg.
  bool predicts_beta_;
  DeviceVector<T> p_, q_, z_;
  ReductionBuffer<2> sums_;
  ReductionBuffer<1> square_;
};

}  // namespace

template <class T>
std::unique_ptr<Solver<T, Device>> make_cg_on_ranks(const LinearOperator<T, Device>& a,
                                                    const Preconditioner<T, Device>* m, Beta beta) {
  return make_device_solver<DeviceCgOnRanks<T>>(a, m, beta);
}

template std::unique_ptr<Solver<double, Device>> make_cg_on_ranks(
    const LinearOperator<double, Device>&, const Preconditioner<double, Device>*, Beta);
template std::unique_ptr<Solver<float, Device>> make_cg_on_ranks(
    const LinearOperator<float, Device>&, const Preconditioner<float, Device>*, Beta);

}  // namespace tessera
