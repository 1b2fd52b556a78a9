// This file has pipelined conjugate gradients on the GPU.
#include "solvers/krylov/cg_variants/pipelined_cg.hpp"
#include "solvers/krylov/device_system.cuh"

namespace tessera {
namespace {

// The vectors of the formulas in the header. u and q exist with a general preconditioner only, m
// with any preconditioner.
template <class T>
struct PipelinedArguments {
  Index n;
  const T* n_vector;
  const T* d;  // the preconditioner's diagonal, or null
  T* m;
  T* z;
  T* q;
  T* s;
  T* p;
  T* x;
  T* r;
  T* u;
  T* w;
  IterationState* state;
  Sums<3>* partial;
  unsigned* arrived;
};

__device__ inline void set_sums(IterationState* state, const Sums<3>& sums) {
  state->rz = sums[1];
  state->dots[0] = sums[2];
}

// What is done with {-, r.u, w.u} at the start and after a replacement.
struct PipelinedSumsEnd {
  IterationState* state;

  __device__ void operator()(const Sums<3>& total) const {
    if (state->status == DeviceStatus::running) set_sums(state, total);
  }
};

// What is done with {r.r, r.u, w.u}, by one thread.
struct PipelinedEnd {
  IterationState* state;

  __device__ void operator()(const Sums<3>& total) const {
    if (state->status != DeviceStatus::running) return;
    const RecurrenceStep step = recurrence_step(state->rz, state->dots[0], state->previous_rz,
                                                state->alpha, state->iteration == 0);
    finish_iteration(state, total[0], step.alpha * step.gamma);
    state->previous_rz = step.gamma;
    state->alpha = step.alpha;
    set_sums(state, total);
  }
};

// Sums r.u and w.u at the start and after a replacement. With a diagonal, u = d r, and m = d w is
// written as well. Launch: the shape of reduction.cuh. Reads 2 vectors, or 3 and writes 1.
// Deterministic.
template <PreconditionerKind kind, class Entries, class T>
__global__ void __launch_bounds__(kReductionThreads)
    pipelined_sums_kernel(const PipelinedArguments<T> args, const Entries counted) {
  IterationState* const state = args.state;
  if (state->status != DeviceStatus::running) return;
  Sums<3> sum;
  for_each_group_of<1>(args.n, [&](const Index(&entries)[1]) {
    const Index i = entries[0];
    const T r = args.r[i];
    const T w = args.w[i];
    T u = r;
    if constexpr (kind == PreconditionerKind::diagonal) {
      u = args.d[i] * r;
      args.m[i] = args.d[i] * w;
    }
    if constexpr (kind == PreconditionerKind::general) u = args.u[i];
    if (!counted.has(i)) return;
    sum[1] += static_cast<double>(r) * static_cast<double>(u);
    sum[2] += static_cast<double>(w) * static_cast<double>(u);
  });
  reduce_entries<Entries>(sum, args.partial, args.arrived, state, PipelinedSumsEnd{state});
}

// All vector updates and sums of an iteration. Does nothing once the status is not `running`.
// Launch: as reduction.cuh; reads and writes 13 vectors, 15 with a diagonal, 18 with a general
// preconditioner; about 18 flops per entry; deterministic.
template <PreconditionerKind kind, class Entries, class T>
__global__ void __launch_bounds__(kReductionThreads)
    pipelined_kernel(const PipelinedArguments<T> args, const Entries counted) {
  IterationState* const state = args.state;
  if (state->status != DeviceStatus::running) return;
  const RecurrenceStep step = step_by_recurrence(state);
  if (is_bad(step.pq)) return;
  const T alpha = static_cast<T>(step.alpha);
  const T beta = static_cast<T>(step.beta);
  // With more entries registers would spill.
  constexpr int kCount = 2;
  Sums<3> sum;
  for_each_group_of<kCount>(args.n, [&](const Index(&entries)[kCount]) {
    T n[kCount];
    T z[kCount];
    T s[kCount];
    T p[kCount];
    T x[kCount];
    T r[kCount];
    T w[kCount];
    T u[kCount] = {};
    T q[kCount] = {};
    T m[kCount] = {};
    T d[kCount] = {};
    load_entries(args.n_vector, args.n, entries, n);
    load_entries(args.z, args.n, entries, z);
    load_entries(args.s, args.n, entries, s);
    load_entries(args.p, args.n, entries, p);
    load_entries(args.x, args.n, entries, x);
    load_entries(args.r, args.n, entries, r);
    load_entries(args.w, args.n, entries, w);
    if constexpr (kind == PreconditionerKind::diagonal) load_entries(args.d, args.n, entries, d);
    if constexpr (kind == PreconditionerKind::general) {
      load_entries(args.u, args.n, entries, u);
      load_entries(args.q, args.n, entries, q);
      load_entries(args.m, args.n, entries, m);
    }
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      PipelinedEntry<T> e{n[k], m[k], d[k], z[k], q[k], s[k], p[k], x[k], r[k], u[k], w[k]};
      advance<kind>(e, alpha, beta);
      m[k] = e.m;
      z[k] = e.z;
      q[k] = e.q;
      s[k] = e.s;
      p[k] = e.p;
      x[k] = e.x;
      r[k] = e.r;
      u[k] = e.u;
      w[k] = e.w;
      if (!counted.has(entries[k])) continue;
      const double wide = static_cast<double>(r[k]);
      const double wide_u = static_cast<double>(u[k]);
      sum[0] += wide * wide;
      sum[1] += wide * wide_u;
      sum[2] += static_cast<double>(w[k]) * wide_u;
    }
    store_entries(z, args.n, entries, args.z);
    store_entries(s, args.n, entries, args.s);
    store_entries(p, args.n, entries, args.p);
    store_entries(x, args.n, entries, args.x);
    store_entries(r, args.n, entries, args.r);
    store_entries(w, args.n, entries, args.w);
    if constexpr (kind == PreconditionerKind::diagonal) store_entries(m, args.n, entries, args.m);
    if constexpr (kind == PreconditionerKind::general) {
      store_entries(q, args.n, entries, args.q);
      store_entries(u, args.n, entries, args.u);
    }
  });
  reduce_entries<Entries>(sum, args.partial, args.arrived, state, PipelinedEnd{state});
}

template <class T>
class DevicePipelinedCg final : public SystemIteration<T> {
  using Base = SystemIteration<T>;
  using Base::kind;
  using Base::residual;
  using Base::state;

 public:
  using Base::system;

  DevicePipelinedCg(const LinearOperator<T, Device>& a, const Preconditioner<T, Device>* m)
      : Base(a, m),
        u_(system().layout_if(kind() == PreconditionerKind::general)),
        w_(a.layout()),
        m_(system().layout_if(kind() != PreconditionerKind::none)),
        n_(a.layout()),
        p_(a.layout()),
        q_(system().layout_if(kind() == PreconditionerKind::general)),
        s_(a.layout()),
        z_(a.layout()) {}

  void enqueue_residual() override { this->make_residual({nullptr, nullptr}); }

  void start() override {
    for (DeviceVector<T>* v : {&p_, &q_, &s_, &z_}) fill(*v, T{0});
    enqueue_sums();
  }

  void enqueue() override {
    if (kind() == PreconditionerKind::general) system().m().apply(w_, m_);
    system().a().apply(kind() == PreconditionerKind::none ? w_ : m_, n_);
    with_kind(kind(), [&]<PreconditionerKind kind>() {
      with_entries(this->layout(), [&](auto counted) {
        launch_update(pipelined_kernel<kind, decltype(counted), T>, counted);
      });
    });
    this->template finish_on_ranks<3>(PipelinedEnd{state()});
  }

  void enqueue_replacement() override {
    enqueue_residual();
    system().a().apply(p_, s_);
    system().a().apply(preconditioned(s_, q_), z_);
    enqueue_sums();
  }

  bool is_indefinite() override {
    IterationState now;
    copy_to_host(state(), sizeof(IterationState), &now);
    if (now.iteration == 0) return true;
    const DeviceVector<T>& u =
        kind() == PreconditionerKind::general ? u_ : preconditioned(residual(), u_);
    return system().has_no_curvature(u, now.rz / now.previous_rz, p_, s_);
  }

 private:
  // Returns M v: v itself without a preconditioner, else computed into m (diagonal) or `own`
  // (general).
  const DeviceVector<T>& preconditioned(const DeviceVector<T>& v, DeviceVector<T>& own) {
    if (kind() == PreconditionerKind::none) return v;
    DeviceVector<T>& result = kind() == PreconditionerKind::general ? own : m_;
    system().m().apply(v, result);
    return result;
  }

  // u = M r, w = A u, and the sums and m of the next iteration.
  void enqueue_sums() {
    system().a().apply(preconditioned(residual(), u_), w_);
    with_kind(kind(), [&]<PreconditionerKind kind>() {
      with_entries(this->layout(), [&](auto counted) {
        launch_update(pipelined_sums_kernel<kind, decltype(counted), T>, counted);
      });
    });
    this->template finish_on_ranks<3>(PipelinedSumsEnd{state()});
  }

  template <class Entries>
  void launch_update(void (*kernel)(PipelinedArguments<T>, Entries), const Entries& counted) {
    launch(kernel, this->over_entries("vector updates of pipelined CG"),
           {system().size(), n_.data(), system().diagonal(), m_.data(), z_.data(), q_.data(),
            s_.data(), p_.data(), system().x(), residual().data(), u_.data(), w_.data(), state(),
            sums_.partial(), sums_.arrived()},
           counted);
  }

  DeviceVector<T> u_, w_, m_, n_, p_, q_, s_, z_;
  ReductionBuffer<3> sums_;
};

}  // namespace

template <>
std::unique_ptr<Solver<double, Device>> make_pipelined_cg(
    const LinearOperator<double, Device>& a, const Preconditioner<double, Device>* preconditioner) {
  return make_device_solver<DevicePipelinedCg<double>>(a, preconditioner);
}
template <>
std::unique_ptr<Solver<float, Device>> make_pipelined_cg(
    const LinearOperator<float, Device>& a, const Preconditioner<float, Device>* preconditioner) {
  return make_device_solver<DevicePipelinedCg<float>>(a, preconditioner);
}

}  // namespace tessera
