// This file has pipelined conjugate gradients on the host.
#include "solvers/krylov/cg_variants/pipelined_cg.hpp"

#include <cmath>

#include "solvers/krylov/formulas.hpp"
#include "solvers/krylov/host_iteration.hpp"
#include "solvers/memory/entry_sums.hpp"

namespace tessera {
namespace {

template <class T>
class PipelinedIteration final : public HostIteration<T> {
  using Base = HostIteration<T>;
  using Base::kind;
  using Base::residual;
  using Base::residual_square;

 public:
  using Base::system;

  PipelinedIteration(const LinearOperator<T, Host>& a, const Preconditioner<T, Host>* m)
      : Base(a, m),
        u_(system().layout_if(kind() == PreconditionerKind::general)),
        w_(a.layout()),
        m_(system().layout_if(kind() != PreconditionerKind::none)),
        n_(a.layout()),
        p_(a.layout()),
        q_(system().layout_if(kind() == PreconditionerKind::general)),
        s_(a.layout()),
        z_(a.layout()) {}

  void start() {
    is_first_ = true;
    for (HostVector<T>* v : {&p_, &q_, &s_, &z_}) fill(*v, T{0});
    begin_residual();
  }

  void replace_residual() {
    this->residual_norm();
    system().a().apply(p_, s_);
    if (kind() == PreconditionerKind::general) system().m().apply(s_, q_);
    system().a().apply(preconditioned(s_, q_), z_);
    begin_residual();
  }

  Step step() {
    if (kind() == PreconditionerKind::general) system().m().apply(w_, m_);
    system().a().apply(kind() == PreconditionerKind::none ? w_ : m_, n_);
    const auto [gamma, beta, pq, alpha] =
        recurrence_step(gamma_, delta_, previous_gamma_, alpha_, is_first_);
    if (const auto failure = failure_of(pq)) {
      if (is_first_ || failure != SolveStatus::indefinite) return {.failure = failure};
      aypx(preconditioned(residual(), u_), static_cast<T>(beta), p_);
      system().a().apply(p_, s_);
      const auto confirmed = failure_of(dot(p_, s_));
      return {.failure = confirmed, .broken_down = !confirmed};
    }
    is_first_ = false;
    alpha_ = alpha;
    previous_gamma_ = gamma;
    const double energy = alpha_ * gamma_;
    with_kind(kind(), [&, beta = static_cast<T>(beta)]<PreconditionerKind kind>() {
      update<kind>(static_cast<T>(alpha_), beta);
    });
    return {.rr = residual_square(), .energy = energy};
  }

 private:
  // Returns M v: v itself without a preconditioner, `made` with a general one, and with a diagonal
  // one m, which it computes.
  const HostVector<T>& preconditioned(const HostVector<T>& v, const HostVector<T>& made) {
    if (kind() == PreconditionerKind::none) return v;
    if (kind() == PreconditionerKind::general) return made;
    multiply(*system().m().as_diagonal(), v, m_);
    return m_;
  }

  // u = M r, w = A u, and the sums and m of the next iteration.
  void begin_residual() {
    if (kind() == PreconditionerKind::general) system().m().apply(residual(), u_);
    const HostVector<T>& u = preconditioned(residual(), u_);
    system().a().apply(u, w_);
    gamma_ = dot(residual(), u);
    delta_ = dot(w_, u);
    if (kind() == PreconditionerKind::diagonal) preconditioned(w_, m_);
  }

  // All vectors by the formulas; {r.r, r.u, w.u}.
  template <PreconditionerKind kind>
  void update(T alpha, T beta) {
    T* const x = system().x().data();
    T* const r = residual().data();
    T* const u = u_.data();
    T* const w = w_.data();
    T* const m = m_.data();
    const T* const n = n_.data();
    T* const p = p_.data();
    T* const q = q_.data();
    T* const s = s_.data();
    T* const z = z_.data();
    const T* const d = system().diagonal();
    const auto next = [=](std::int64_t i) {
      PipelinedEntry<T> e{n[i], T{0}, T{0}, z[i], T{0}, s[i], p[i], x[i], r[i], T{0}, w[i]};
      if constexpr (kind == PreconditionerKind::diagonal) e.d = d[i];
      if constexpr (kind == PreconditionerKind::general) {
        e.m = m[i];
        e.q = q[i];
        e.u = u[i];
      }
      advance<kind>(e, alpha, beta);
      z[i] = e.z;
      s[i] = e.s;
      p[i] = e.p;
      x[i] = e.x;
      r[i] = e.r;
      w[i] = e.w;
      if constexpr (kind == PreconditionerKind::diagonal) m[i] = e.m;
      if constexpr (kind == PreconditionerKind::general) {
        q[i] = e.q;
        u[i] = e.u;
      }
      const double wide = static_cast<double>(e.r);
      return std::array<double, 3>{wide * wide, wide * static_cast<double>(e.u),
                                   static_cast<double>(e.w) * static_cast<double>(e.u)};
    };
    // u is kept only where the preconditioner is general; a diagonal one makes it anew.
    const auto products = [=](std::int64_t i) {
      T u_i = r[i];
      if constexpr (kind == PreconditionerKind::diagonal) u_i *= d[i];
      if constexpr (kind == PreconditionerKind::general) u_i = u[i];
      const double wide = static_cast<double>(r[i]);
      return std::array<double, 3>{wide * wide, wide * static_cast<double>(u_i),
                                   static_cast<double>(w[i]) * static_cast<double>(u_i)};
    };
    const auto sums = entry_sums<3>(residual().layout(), next, products);
    residual_square() = sums[0];
    gamma_ = sums[1];
    delta_ = sums[2];
  }

  HostVector<T> u_, w_, m_, n_, p_, q_, s_, z_;
  bool is_first_ = true;
  double gamma_ = 0.0;  // r.u, and before the last update
  double previous_gamma_ = 0.0;
  double delta_ = 0.0;  // w.u
  double alpha_ = 0.0;
};

}  // namespace

template <>
std::unique_ptr<Solver<double, Host>> make_pipelined_cg(
    const LinearOperator<double, Host>& a, const Preconditioner<double, Host>* preconditioner) {
  return make_host_solver<PipelinedIteration<double>>(a, preconditioner);
}
template <>
std::unique_ptr<Solver<float, Host>> make_pipelined_cg(
    const LinearOperator<float, Host>& a, const Preconditioner<float, Host>* preconditioner) {
  return make_host_solver<PipelinedIteration<float>>(a, preconditioner);
}

}  // namespace tessera
