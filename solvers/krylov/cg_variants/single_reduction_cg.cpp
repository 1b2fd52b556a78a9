// This file has single-reduction conjugate gradients on the host.
#include "solvers/krylov/cg_variants/single_reduction_cg.hpp"

#include <cmath>

#include "solvers/krylov/formulas.hpp"
#include "solvers/krylov/host_iteration.hpp"
#include "solvers/memory/entry_sums.hpp"

namespace tessera {
namespace {

template <class T>
class SingleReductionIteration final : public HostIteration<T> {
  using Base = HostIteration<T>;
  using Base::kind;
  using Base::residual;
  using Base::residual_square;

 public:
  using Base::system;

  SingleReductionIteration(const LinearOperator<T, Host>& a, const Preconditioner<T, Host>* m)
      : Base(a, m),
        own_u_(system().layout_if(kind() != PreconditionerKind::none)),
        w_(a.layout()),
        p_(a.layout()),
        s_(a.layout()) {}

  void start() {
    is_first_ = true;
    fill(p_, T{0});
    fill(s_, T{0});
    begin_residual();
  }

  void replace_residual() {
    this->residual_norm();
    system().a().apply(p_, s_);
    begin_residual();
  }

  Step step() {
    const double previous_gamma = gamma_;
    double delta = 0.0;
    if (kind() == PreconditionerKind::general) {
      system().m().apply(residual(), own_u_);
      system().a().apply(own_u_, w_);
      const auto sums =
          entry_sums<2>(residual().layout(),
                        [r = residual().data(), u = own_u_.data(), w = w_.data()](std::int64_t i) {
                          const double wide = static_cast<double>(u[i]);
                          return std::array<double, 2>{static_cast<double>(r[i]) * wide,
                                                       static_cast<double>(w[i]) * wide};
                        });
      gamma_ = sums[0];
      delta = sums[1];
    } else {
      delta = system().apply_dot(u(), w_)[0];
      gamma_ = next_gamma_;
    }
    const auto [gamma, beta, pq, alpha] =
        recurrence_step(gamma_, delta, previous_gamma, alpha_, is_first_);
    if (const auto failure = failure_of(pq)) {
      if (is_first_ || failure != SolveStatus::indefinite) return {.failure = failure};
      aypx(u(), static_cast<T>(beta), p_);
      system().a().apply(p_, s_);
      const auto confirmed = failure_of(dot(p_, s_));
      return {.failure = confirmed, .broken_down = !confirmed};
    }
    is_first_ = false;
    alpha_ = alpha;
    update(static_cast<T>(alpha_), static_cast<T>(beta));
    return {.rr = residual_square(), .energy = alpha_ * gamma_};
  }

 private:
  HostVector<T>& u() { return kind() == PreconditionerKind::none ? residual() : own_u_; }

  // u and gamma from r, where they are made in passing.
  void begin_residual() {
    next_gamma_ = residual_square();
    if (kind() != PreconditionerKind::diagonal) return;
    multiply(*system().m().as_diagonal(), residual(), own_u_);
    next_gamma_ = dot(residual(), own_u_);
  }

  // p = u + beta p, s = w + beta s, x += alpha p, r -= alpha s; u and gamma of the next iteration.
  void update(T alpha, T beta) {
    T* const x = system().x().data();
    T* const r = residual().data();
    T* const v = u().data();
    const T* const w = w_.data();
    T* const p = p_.data();
    T* const s = s_.data();
    const T* const d = system().diagonal();
    const auto next = [=]<PreconditionerKind kind>(std::int64_t i) {
      SingleReductionEntry<T> e{v[i], w[i], T{0}, p[i], s[i], x[i], r[i]};
      if constexpr (kind == PreconditionerKind::diagonal) e.d = d[i];
      advance<kind>(e, alpha, beta);
      p[i] = e.p;
      s[i] = e.s;
      x[i] = e.x;
      r[i] = e.r;
      if constexpr (kind == PreconditionerKind::diagonal) v[i] = e.u;
      const double wide = static_cast<double>(e.r);
      return std::array<double, 2>{wide * wide, wide * static_cast<double>(e.u)};
    };
    if (kind() == PreconditionerKind::diagonal) {
      const auto sums = entry_sums<2>(
          residual().layout(),
          [=](std::int64_t i) { return next.template operator()<PreconditionerKind::diagonal>(i); },
          [=](std::int64_t i) {
            const double wide = static_cast<double>(r[i]);
            return std::array<double, 2>{wide * wide, wide * static_cast<double>(v[i])};
          });
      residual_square() = sums[0];
      next_gamma_ = sums[1];
    } else {
      residual_square() = entry_sums<1>(
          residual().layout(),
          [=](std::int64_t i) {
            return std::array<double, 1>{
                next.template operator()<PreconditionerKind::general>(i)[0]};
          },
          [=](std::int64_t i) {
            return std::array<double, 1>{static_cast<double>(r[i]) * static_cast<double>(r[i])};
          })[0];
      next_gamma_ = residual_square();
    }
  }

  HostVector<T> own_u_, w_, p_, s_;
  bool is_first_ = true;
  double gamma_ = 0.0;       // r.u of the last step
  double next_gamma_ = 0.0;  // of the residual r
  double alpha_ = 0.0;
};

}  // namespace

template <>
std::unique_ptr<Solver<double, Host>> make_single_reduction_cg(
    const LinearOperator<double, Host>& a, const Preconditioner<double, Host>* preconditioner) {
  return make_host_solver<SingleReductionIteration<double>>(a, preconditioner);
}
template <>
std::unique_ptr<Solver<float, Host>> make_single_reduction_cg(
    const LinearOperator<float, Host>& a, const Preconditioner<float, Host>* preconditioner) {
  return make_host_solver<SingleReductionIteration<float>>(a, preconditioner);
}

}  // namespace tessera
