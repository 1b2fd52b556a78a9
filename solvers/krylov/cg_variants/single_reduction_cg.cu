// This file has single-reduction conjugate gradients on the GPU.
#include "solvers/krylov/cg_variants/single_reduction_cg.hpp"
#include "solvers/krylov/device_system.cuh"

namespace tessera {
namespace {

template <class T>
struct SingleReductionArguments {
  Index n;
  const T* w;  // A u
  const T* d;  // the preconditioner's diagonal, or null
  T* u;        // M r; r itself without a preconditioner
  T* p;
  T* s;  // A p
  T* x;
  T* r;
  IterationState* state;
  Sums<2>* partial;
  unsigned* arrived;
};

// What is done with {w.u, r.u}.
template <PreconditionerKind kind>
struct ProductSumsEnd {
  IterationState* state;

  __device__ void operator()(const Sums<2>& total) const {
    if (state->status != DeviceStatus::running) return;
    state->dots[0] = total[0];
    if (kind == PreconditionerKind::general) state->rz = total[1];
  }
};

// Sums w.u, and r.u as well with a general preconditioner. Launch: as reduction.cuh; reads 2
// vectors, or 3; deterministic.
template <PreconditionerKind kind, class Entries, class T>
__global__ void __launch_bounds__(kReductionThreads)
    product_sums_kernel(const SingleReductionArguments<T> args, const Entries counted) {
  IterationState* const state = args.state;
  if (state->status != DeviceStatus::running) return;
  constexpr int kCount = kind == PreconditionerKind::general ? 2 : 1;
  const Sums<2> sum =
      products_of_thread<kCount, kReductionThreads>(args.n, counted, args.u, args.w, args.r);
  reduce_entries<Entries>(sum, args.partial, args.arrived, state, ProductSumsEnd<kind>{state});
}

// What is done with {r.r, r.u}, by one thread.
template <PreconditionerKind kind>
struct SingleReductionEnd {
  IterationState* state;

  __device__ void operator()(const Sums<2>& total) const {
    if (state->status != DeviceStatus::running) return;
    const RecurrenceStep step = recurrence_step(state->rz, state->dots[0], state->previous_rz,
                                                state->alpha, state->iteration == 0);
    finish_iteration(state, total[0], step.alpha * step.gamma);
    state->previous_rz = step.gamma;
    state->alpha = step.alpha;
    if (kind == PreconditionerKind::none) state->rz = total[0];
    if (kind == PreconditionerKind::diagonal) state->rz = total[1];
  }
};

// p = u + beta p, s = w + beta s, x += alpha p, r -= alpha s, and u = d r with a diagonal; r.r and
// r.u. Does nothing once the status is not `running`. Launch: as reduction.cuh; reads and writes 9
// vectors, 12 with a diagonal, 10 with a general preconditioner; about 10 flops per entry;
// deterministic.
template <PreconditionerKind kind, class Entries, class T>
__global__ void __launch_bounds__(kReductionThreads)
    single_reduction_kernel(const SingleReductionArguments<T> args, const Entries counted) {
  IterationState* const state = args.state;
  if (state->status != DeviceStatus::running) return;
  const RecurrenceStep step = step_by_recurrence(state);
  if (is_bad(step.pq)) return;
  const T alpha = static_cast<T>(step.alpha);
  const T beta = static_cast<T>(step.beta);
  Sums<2> sum;
  for_each_group_of<kInFlight>(args.n, [&](const Index(&entries)[kInFlight]) {
    T u[kInFlight] = {};
    T w[kInFlight];
    T p[kInFlight];
    T s[kInFlight];
    T x[kInFlight];
    T r[kInFlight];
    T d[kInFlight] = {};
    load_entries(args.w, args.n, entries, w);
    load_entries(args.p, args.n, entries, p);
    load_entries(args.s, args.n, entries, s);
    load_entries(args.x, args.n, entries, x);
    load_entries(args.r, args.n, entries, r);
    if constexpr (kind != PreconditionerKind::none) load_entries(args.u, args.n, entries, u);
    if constexpr (kind == PreconditionerKind::diagonal) load_entries(args.d, args.n, entries, d);
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      SingleReductionEntry<T> e{u[k], w[k], d[k], p[k], s[k], x[k], r[k]};
      advance<kind>(e, alpha, beta);
      u[k] = e.u;
      p[k] = e.p;
      s[k] = e.s;
      x[k] = e.x;
      r[k] = e.r;
      if (!counted.has(entries[k])) continue;
      const double wide = static_cast<double>(r[k]);
      sum[0] += wide * wide;
      if constexpr (kind == PreconditionerKind::diagonal) {
        sum[1] += wide * static_cast<double>(u[k]);
      }
    }
    store_entries(p, args.n, entries, args.p);
    store_entries(s, args.n, entries, args.s);
    store_entries(x, args.n, entries, args.x);
    store_entries(r, args.n, entries, args.r);
    if constexpr (kind == PreconditionerKind::diagonal) {
      store_entries(u, args.n, entries, args.u);
    }
  });
  reduce_entries<Entries>(sum, args.partial, args.arrived, state, SingleReductionEnd<kind>{state});
}

template <class T>
class DeviceSingleReductionCg final : public SystemIteration<T> {
  using Base = SystemIteration<T>;
  using Base::kind;
  using Base::over_entries;
  using Base::residual;
  using Base::state;

 public:
  using Base::system;

  DeviceSingleReductionCg(const LinearOperator<T, Device>& a, const Preconditioner<T, Device>* m)
      : Base(a, m),
        own_u_(system().layout_if(kind() != PreconditionerKind::none)),
        w_(a.layout()),
        p_(a.layout()),
        s_(a.layout()) {}

  // Makes u = M r and r.u as well, unless M is general. With a general M the next iteration makes
  // both, and r.u has to remain that of u: is_indefinite() reads it if a replacement was queued
  // behind a failure.
  void enqueue_residual() override {
    this->make_residual({kind() == PreconditionerKind::diagonal ? own_u_.data() : nullptr,
                         kind() == PreconditionerKind::general ? nullptr : &state()->rz});
  }

  void start() override {
    fill(p_, T{0});
    fill(s_, T{0});
  }

  void enqueue() override {
    with_kind(kind(), [&]<PreconditionerKind kind>() { enqueue_as<kind>(); });
  }

  void enqueue_replacement() override {
    enqueue_residual();
    system().a().apply(p_, s_);
  }

  bool is_indefinite() override {
    IterationState now;
    copy_to_host(state(), sizeof(IterationState), &now);
    return now.iteration == 0 || system().has_no_curvature(u(), now.rz / now.previous_rz, p_, s_);
  }

 private:
  DeviceVector<T>& u() { return kind() == PreconditionerKind::none ? residual() : own_u_; }

  template <PreconditionerKind kind>
  void enqueue_as() {
    const SingleReductionArguments<T> args{system().size(), w_.data(),         system().diagonal(),
                                           u().data(),      p_.data(),         s_.data(),
                                           system().x(),    residual().data(), state(),
                                           sums_.partial(), sums_.arrived()};
    const FusedOperations<T, Device>* const fused = system().a().fused();
    if (kind != PreconditionerKind::general && fused != nullptr) {
      fused->apply_dot(u(), w_, state()->dots);
    } else {
      if (kind == PreconditionerKind::general) system().m().apply(residual(), own_u_);
      system().a().apply(u(), w_);
      with_entries(this->layout(), [&](auto counted) {
        launch(product_sums_kernel<kind, decltype(counted), T>,
               over_entries("sums of single-reduction CG"), args, counted);
      });
      this->template finish_on_ranks<2>(ProductSumsEnd<kind>{state()});
    }
    with_entries(this->layout(), [&](auto counted) {
      launch(single_reduction_kernel<kind, decltype(counted), T>,
             over_entries("vector updates of single-reduction CG"), args, counted);
    });
    this->template finish_on_ranks<2>(SingleReductionEnd<kind>{state()});
  }

  DeviceVector<T> own_u_, w_, p_, s_;
  ReductionBuffer<2> sums_;
};

}  // namespace

template <>
std::unique_ptr<Solver<double, Device>> make_single_reduction_cg(
    const LinearOperator<double, Device>& a, const Preconditioner<double, Device>* preconditioner) {
  return make_device_solver<DeviceSingleReductionCg<double>>(a, preconditioner);
}
template <>
std::unique_ptr<Solver<float, Device>> make_single_reduction_cg(
    const LinearOperator<float, Device>& a, const Preconditioner<float, Device>* preconditioner) {
  return make_device_solver<DeviceSingleReductionCg<float>>(a, preconditioner);
}

}  // namespace tessera
