// These classes are A x = b with vectors on the GPU, and what all iterations on it share.
#pragma once

#include <type_traits>
#include <utility>

#include "solvers/krylov/iteration_kernels.cuh"
#include "solvers/ranks/gpu/gathered_sums.hpp"

namespace tessera {

/// A x = b with vectors on the GPU, as all iterations see it.
template <class T>
class DeviceSystem {
 public:
  using V = DeviceVector<T>;

  DeviceSystem(const LinearOperator<T, Device>& a, const Preconditioner<T, Device>* m)
      : a_(a), m_(m), kind_(kind_of(m)), of_ranks_(a.layout(), kMaxSums) {
    TESSERA_CHECK(m == nullptr || m->size() == a.size());
  }
  /// Sets right-hand side and solution of the next solve.
  void bind(const V& b, V& x) {
    b_ = &b;
    x_ = &x;
  }

  Index size() const { return a_.size(); }
  VectorLayout layout() const { return a_.layout(); }
  /// That of the vector if it is needed, else of none: some vectors are for one kind of
  /// preconditioner only.
  VectorLayout layout_if(bool needed) const { return needed ? layout() : VectorLayout(); }
  PreconditionerKind kind() const { return kind_; }
  const LinearOperator<T, Device>& a() const { return a_; }
  const Preconditioner<T, Device>& m() const { return *m_; }
  const V& b() const { return *b_; }
  const V& solution() const { return *x_; }
  T* x() { return x_->data(); }
  /// The entries of M if it is diagonal, else null.
  const T* diagonal() const {
    return kind_ == PreconditionerKind::diagonal ? m_->as_diagonal()->data() : nullptr;
  }

  /// Queues M r, with a general M, and calls f(M r) with what kernels can load: a pointer into z,
  /// which is used where stores_correction(), or a ScaledSingle.
  template <class F>
  void with_correction(const V& r, V& z, F&& f) const {
    if constexpr (std::is_same_v<T, double>) {
      if (const auto* const single = m_->as_single(); single != nullptr) {
        return f(ScaledSingle{single->apply_in_single(r).data(), single->scale()});
      }
    }
    m_->apply(r, z);
    f(static_cast<const T*>(z.data()));
  }

  /// Queues r = b - A x and the outputs that are asked for. @throws DeviceError
  void enqueue_residual(V& r, ResidualOutputs<T> outputs, IterationState* state) {
    a_.apply(*x_, r);
    with_entries(layout(), [&](auto counted) {
      launch(residual_from_product_kernel<decltype(counted), T>,
             reduction_launch("residual of an iteration", size()), size(), counted, b_->data(),
             diagonal(), r.data(), outputs, state, sums_.partial(), sums_.arrived());
    });
    finish_on_ranks<2>(state, ResidualEnd{state, outputs.rz});
  }

  /// Whether ranks iterate together.
  bool is_on_ranks() const { return of_ranks_.are_of_several(); }
  /// Queues finish(sum over ranks of what reduce_entries() has left) where there are several.
  /// @throws DeviceError
  template <int count, class Finish>
  void finish_on_ranks(IterationState* state, const Finish& finish) {
    static_assert(count <= kMaxSums);
    if (!is_on_ranks()) return;
    of_ranks_.add(state->of_rank, count, state->of_all);
    launch(finish_kernel<count, Finish>, {"what follows of sums", 1, 1}, state, finish);
  }

  /// Computes p = u + beta p and s = A p, and returns whether p.Ap <= 0. It is called when p.Ap by
  /// recurrence is not positive. @throws DeviceError
  bool has_no_curvature(const V& u, double beta, V& p, V& s) {
    launch(aypx_kernel<T>, reduction_launch("direction of an iteration", size()), size(), u.data(),
           static_cast<T>(beta), p.data());
    a_.apply(p, s);
    return !(dot(p, s) > 0.0);
  }

 private:
  static constexpr int kMaxSums = 3;

  const LinearOperator<T, Device>& a_;
  const Preconditioner<T, Device>* m_;
  const V* b_ = nullptr;
  V* x_ = nullptr;
  PreconditionerKind kind_;
  ReductionBuffer<2> sums_;
  GatheredSums of_ranks_;
};

/// What all iterations on the GPU have.
template <class T>
class SystemIteration : public DeviceIteration {
 public:
  /// Whether enqueue() queues work that reads b.
  static constexpr bool kIteratesOnRightHandSide = false;
  /// As Solver.
  bool iterates_in_one_kernel() const { return false; }

  SystemIteration(const LinearOperator<T, Device>& a, const Preconditioner<T, Device>* m)
      : system_(a, m), r_(a.layout()) {}

  VectorLayout layout() const override { return system_.layout(); }

  DeviceSystem<T>& system() { return system_; }
  const DeviceSystem<T>& system() const { return system_; }

 protected:
  PreconditionerKind kind() const { return system_.kind(); }
  /// The residual by recurrence.
  DeviceVector<T>& residual() { return r_; }
  /// Queues r = b - A x and the outputs that are asked for. @throws DeviceError
  void make_residual(ResidualOutputs<T> outputs) {
    system_.enqueue_residual(r_, outputs, this->state());
  }
  /// As DeviceSystem.
  template <int count, class Finish>
  void finish_on_ranks(const Finish& finish) {
    system_.template finish_on_ranks<count>(this->state(), finish);
  }
  /// A launch of the shape of reduction.cuh over all entries.
  Launch over_entries(const char* name) const { return reduction_launch(name, system_.size()); }

 private:
  DeviceSystem<T> system_;
  DeviceVector<T> r_;
};

/// An iteration on the GPU as a Solver.
template <class T, class Iteration>
class DeviceSolver final : public Solver<T, Device> {
 public:
  template <class... Arguments>
  explicit DeviceSolver(const Arguments&... arguments) : iteration_(arguments...) {}

  Index size() const override { return iteration_.system().size(); }
  void update() override { run_.forget_graphs(); }
  bool iterates_in_one_kernel() const override { return iteration_.iterates_in_one_kernel(); }
  SolveReport do_solve(const DeviceVector<T>& b, DeviceVector<T>& x,
                       const SolveOptions& options) override {
    if (x.data() != recorded_x_ ||
        (Iteration::kIteratesOnRightHandSide && b.data() != recorded_b_)) {
      run_.forget_graphs();
    }
    recorded_b_ = b.data();
    recorded_x_ = x.data();
    iteration_.system().bind(b, x);
    return run_.solve(iteration_, options);
  }

 private:
  Iteration iteration_;
  DeviceRun run_;
  const T* recorded_b_ = nullptr;
  const T* recorded_x_ = nullptr;
};

template <class Iteration, class T, class... More>
std::unique_ptr<Solver<T, Device>> make_device_solver(const LinearOperator<T, Device>& a,
                                                      const Preconditioner<T, Device>* m,
                                                      const More&... more) {
  return std::make_unique<DeviceSolver<T, Iteration>>(a, m, more...);
}

}  // namespace tessera
