// This file has conjugate gradients on the host.
#include "solvers/krylov/cg.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "solvers/krylov/formulas.hpp"
#include "solvers/krylov/host_iteration.hpp"
#include "solvers/memory/entry_sums.hpp"

namespace tessera {

namespace {

enum class Beta { fletcher_reeves, polak_ribiere };

template <class T>
class CgIteration final : public HostIteration<T> {
  using Base = HostIteration<T>;
  using Base::kind;
  using Base::residual;
  using Base::residual_square;

 public:
  using Base::system;

  CgIteration(const LinearOperator<T, Host>& a, const Preconditioner<T, Host>* m, Beta beta)
      : Base(a, m),
        beta_(beta),
        predicts_beta_(kind() == PreconditionerKind::none && a.fused() != nullptr),
        p_(a.layout()),
        q_(a.layout()),
        z_(system().layout_if(stores_correction(m))) {}

  // As HostIteration; x has all steps then.
  double residual_norm(Guess x = Guess::any) {
    if (delayed_ != 0.0) {
      add_differences(static_cast<T>(delayed_), p_, residual(), system().x());
      delayed_ = 0.0;
    }
    return Base::residual_norm(x);
  }

  void start() {
    is_first_ = true;
    if (predicts_beta_) {
      copy(residual(), p_);
      rz_ = residual_square();
    } else if (kind() == PreconditionerKind::diagonal) {
      next_rz_ = scaled_square();
    }
  }

  void replace_residual() {
    residual_norm();
    if (predicts_beta_) rz_ = residual_square();
    if (kind() == PreconditionerKind::diagonal) next_rz_ = scaled_square();
  }

  Step step() {
    if (!predicts_beta_) make_direction();
    const std::array<double, 2> dots = system().apply_dot(p_, q_);
    pq_ = dots[0];
    if (const auto failure = failure_of(pq_)) return {.failure = failure};
    const double alpha = rz_ / pq_;
    const double energy = alpha * rz_;
    const T step = static_cast<T>(alpha);
    if (predicts_beta_) {
      residual_square() = update(step, static_cast<T>(foreseen_beta(alpha, dots[1], rz_)));
      rz_ = residual_square();
    } else if (kind() == PreconditionerKind::diagonal) {
      update_scaled(step);
    } else {
      residual_square() = update_solution_and_residual(step, p_, q_, system().x(), residual());
    }
    return {.rr = residual_square(), .energy = energy};
  }

 private:
  // r -= alpha q, p = r + beta p; x follows every second time, by both steps; returns r.r.
  double update(T alpha, T beta) {
    const double delayed = delayed_;
    delayed_ =
        delayed == 0.0 ? delayed_step(static_cast<double>(alpha), static_cast<double>(beta)) : 0.0;
    if (delayed_ != 0.0) return update_residual_and_direction(alpha, beta, q_, residual(), p_);
    return update_all(alpha, beta, static_cast<T>(delayed), q_, system().x(), residual(), p_);
  }

  // r.M r.
  double scaled_square() const {
    return entry_sum(
        residual().layout(), [r = residual().data(), d = system().diagonal()](std::int64_t i) {
          return static_cast<double>(r[i]) * static_cast<double>(d[i]) * static_cast<double>(r[i]);
        });
  }

  // x += alpha p, r -= alpha q; r.r and r.M r.
  void update_scaled(T alpha) {
    const auto squares = [d = system().diagonal(), r = residual().data()](std::int64_t i) {
      const double wide = static_cast<double>(r[i]);
      return std::array<double, 2>{wide * wide, wide * static_cast<double>(d[i]) * wide};
    };
    const auto sums = entry_sums<2>(
        residual().layout(),
        [alpha, p = p_.data(), q = q_.data(), x = system().x().data(), r = residual().data(),
         squares](std::int64_t i) {
          x[i] += alpha * p[i];
          r[i] -= alpha * q[i];
          return squares(i);
        },
        squares);
    residual_square() = sums[0];
    next_rz_ = sums[1];
  }

  // p = M r + beta p; beta = 0 in the first iteration.
  void make_direction() {
    const T* const r = residual().data();
    if (kind() == PreconditionerKind::none) {
      next_rz_ = residual_square();
      extend_direction(next_rz_ / rz_, [r](std::int64_t i) { return r[i]; });
    } else if (kind() == PreconditionerKind::diagonal) {
      const T* const d = system().diagonal();
      extend_direction(next_rz_ / rz_, [d, r](std::int64_t i) { return d[i] * r[i]; });
    } else if (const auto* const single = system().m().as_single(); single != nullptr) {
      if constexpr (std::is_same_v<T, double>) {
        const float* const z = single->apply_in_single(residual()).data();
        extend_direction_by([z, scale = single->scale()](std::int64_t i) {
          return scale * static_cast<double>(z[i]);
        });
      }
    } else {
      system().m().apply(residual(), z_);
      extend_direction_by([z = z_.data()](std::int64_t i) { return z[i]; });
    }
  }

  // The same with the entries z(i) of M r, M being general.
  template <class Z>
  void extend_direction_by(Z z) {
    const T* const r = residual().data();
    if (beta_ == Beta::fletcher_reeves) {
      next_rz_ = entry_sum(residual().layout(), [r, z](std::int64_t i) {
        return static_cast<double>(r[i]) * static_cast<double>(z(i));
      });
      return extend_direction(next_rz_ / rz_, z);
    }
    const auto sums = entry_sums<2>(residual().layout(), [r, z, q = q_.data()](std::int64_t i) {
      const double wide = static_cast<double>(z(i));
      return std::array<double, 2>{static_cast<double>(r[i]) * wide,
                                   static_cast<double>(q[i]) * wide};
    });
    next_rz_ = sums[0];
    extend_direction(-sums[1] / pq_, z);
  }

  // p = z + beta p, without the second part in the first iteration.
  template <class Z>
  void extend_direction(double beta, Z z) {
    rz_ = next_rz_;
    T* const p = p_.data();
    const std::int64_t n = p_.size();
    if (is_first_) {
      is_first_ = false;
#pragma omp parallel for simd schedule(static)
      for (std::int64_t i = 0; i < n; ++i) p[i] = z(i);
      return;
    }
    const T of_p = static_cast<T>(beta);
#pragma omp parallel for simd schedule(static)
    for (std::int64_t i = 0; i < n; ++i) p[i] = z(i) + of_p * p[i];
  }

  Beta beta_;
  // The operator's pass gives beta ahead of the update.
  bool predicts_beta_;
  HostVector<T> p_, q_, z_;
  bool is_first_ = true;
  double delayed_ = 0.0;  // x still lacks this many times p - r
  double rz_ = 0.0;       // of the direction p
  double next_rz_ = 0.0;  // of the residual r
  double pq_ = 0.0;
};

}  // namespace

template <>
std::unique_ptr<Solver<double, Host>> make_cg(const LinearOperator<double, Host>& a,
                                              const Preconditioner<double, Host>* preconditioner) {
  return make_host_solver<CgIteration<double>>(a, preconditioner, Beta::fletcher_reeves);
}
template <>
std::unique_ptr<Solver<float, Host>> make_cg(const LinearOperator<float, Host>& a,
                                             const Preconditioner<float, Host>* preconditioner) {
  return make_host_solver<CgIteration<float>>(a, preconditioner, Beta::fletcher_reeves);
}
template <>
std::unique_ptr<Solver<double, Host>> make_flexible_cg(
    const LinearOperator<double, Host>& a, const Preconditioner<double, Host>* preconditioner) {
  return make_host_solver<CgIteration<double>>(a, preconditioner, Beta::polak_ribiere);
}
template <>
std::unique_ptr<Solver<float, Host>> make_flexible_cg(
    const LinearOperator<float, Host>& a, const Preconditioner<float, Host>* preconditioner) {
  return make_host_solver<CgIteration<float>>(a, preconditioner, Beta::polak_ribiere);
}

}  // namespace tessera
