// This file has conjugate gradients on the host.
#include "solvers/krylov/cg.hpp"

#include <algorithm>
#include <cmath>

#include "solvers/krylov/host_iteration.hpp"
#include "solvers/memory/block_sum.hpp"

namespace tessera {

namespace {

enum class Beta { fletcher_reeves, polak_ribiere };

template <class T>
class CgIteration final : public HostIteration<T> {
  using Base = HostIteration<T>;
  using Base::kind_;
  using Base::r_;
  using Base::rr_;
  using Base::system_;

 public:
  CgIteration(const LinearOperator<T, Host>& a, const Preconditioner<T, Host>* m, Beta beta)
      : Base(a, m),
        beta_(beta),
        predicts_beta_(kind_ == PreconditionerKind::none && a.fused() != nullptr),
        p_(a.size()),
        q_(a.size()),
        z_(system_.size_if(kind_ == PreconditionerKind::general)) {}

  void start() {
    is_first_ = true;
    if (predicts_beta_) {
      copy(r_, p_);
      rz_ = rr_;
    } else if (kind_ == PreconditionerKind::diagonal) {
      next_rz_ = scaled_square();
    }
  }

  void replace_residual() {
    this->residual_norm();
    if (predicts_beta_) rz_ = rr_;
    if (kind_ == PreconditionerKind::diagonal) next_rz_ = scaled_square();
  }

  Step step() {
    if (!predicts_beta_) make_direction();
    const std::array<double, 2> dots = system_.apply_dot(p_, q_);
    pq_ = dots[0];
    if (const auto failure = failure_of(pq_)) return {.failure = failure};
    const double alpha = rz_ / pq_;
    const double energy = alpha * rz_;
    const T step = static_cast<T>(alpha);
    if (predicts_beta_) {
      // Rounding may make the prediction negative where r nearly vanishes; a NaN stays a NaN.
      const double foreseen = alpha * alpha * dots[1] / rz_ - 1.0;
      const double beta = foreseen < 0.0 ? 0.0 : foreseen;
      rr_ = update_all(step, static_cast<T>(beta), q_, system_.x(), r_, p_);
      rz_ = rr_;
    } else if (kind_ == PreconditionerKind::diagonal) {
      update_scaled(step);
    } else {
      rr_ = update_solution_and_residual(step, p_, q_, system_.x(), r_);
    }
    return {.rr = rr_, .energy = energy};
  }

 private:
  // r.M r.
  double scaled_square() const {
    return block_sum(r_.size(), [r = r_.data(), d = system_.diagonal()](std::int64_t i) {
      return static_cast<double>(r[i]) * static_cast<double>(d[i]) * static_cast<double>(r[i]);
    });
  }

  // x += alpha p, r -= alpha q; r.r and r.M r.
  void update_scaled(T alpha) {
    const auto sums =
        block_sums<2>(r_.size(), [alpha, p = p_.data(), q = q_.data(), d = system_.diagonal(),
                                  x = system_.x().data(), r = r_.data()](std::int64_t i) {
          x[i] += alpha * p[i];
          r[i] -= alpha * q[i];
          const double wide = static_cast<double>(r[i]);
          return std::array<double, 2>{wide * wide, wide * static_cast<double>(d[i]) * wide};
        });
    rr_ = sums[0];
    next_rz_ = sums[1];
  }

  // p = M r + beta p; beta = 0 in the first iteration.
  void make_direction() {
    double beta_numerator = 0.0;
    double beta_denominator = rz_;
    if (kind_ == PreconditionerKind::none) {
      beta_numerator = next_rz_ = rr_;
    } else if (kind_ == PreconditionerKind::diagonal) {
      beta_numerator = next_rz_;
    } else {
      system_.m().apply(r_, z_);
      if (beta_ == Beta::fletcher_reeves) {
        beta_numerator = next_rz_ = dot(r_, z_);
      } else {
        const auto sums =
            block_sums<2>(r_.size(), [r = r_.data(), z = z_.data(), q = q_.data()](std::int64_t i) {
              const double wide = static_cast<double>(z[i]);
              return std::array<double, 2>{static_cast<double>(r[i]) * wide,
                                           static_cast<double>(q[i]) * wide};
            });
        next_rz_ = sums[0];
        beta_numerator = -sums[1];
        beta_denominator = pq_;
      }
    }
    rz_ = next_rz_;
    const HostVector<T>& z = kind_ == PreconditionerKind::general ? z_ : r_;
    const T* const d = system_.diagonal();
    if (is_first_) {
      if (d != nullptr) {
        multiply(*system_.m().as_diagonal(), r_, p_);
      } else {
        copy(z, p_);
      }
      is_first_ = false;
      return;
    }
    const T beta = static_cast<T>(beta_numerator / beta_denominator);
    if (d == nullptr) {
      aypx(z, beta, p_);
      return;
    }
    const T* const r = r_.data();
    T* const p = p_.data();
#pragma omp parallel for simd schedule(static)
    for (std::int64_t i = 0; i < r_.size(); ++i) p[i] = d[i] * r[i] + beta * p[i];
  }

  Beta beta_;
  // The operator's pass gives beta ahead of the update.
  bool predicts_beta_;
  HostVector<T> p_, q_, z_;
  bool is_first_ = true;
  double rz_ = 0.0;       // of the direction p
  double next_rz_ = 0.0;  // of the residual r
  double pq_ = 0.0;
};

}  // namespace

template <>
std::unique_ptr<Solver<double, Host>> make_cg(const LinearOperator<double, Host>& a,
                                              const Preconditioner<double, Host>* m) {
  return make_host_solver<CgIteration<double>>(a, m, Beta::fletcher_reeves);
}
template <>
std::unique_ptr<Solver<float, Host>> make_cg(const LinearOperator<float, Host>& a,
                                             const Preconditioner<float, Host>* m) {
  return make_host_solver<CgIteration<float>>(a, m, Beta::fletcher_reeves);
}
template <>
std::unique_ptr<Solver<double, Host>> make_flexible_cg(const LinearOperator<double, Host>& a,
                                                       const Preconditioner<double, Host>* m) {
  return make_host_solver<CgIteration<double>>(a, m, Beta::polak_ribiere);
}
template <>
std::unique_ptr<Solver<float, Host>> make_flexible_cg(const LinearOperator<float, Host>& a,
                                                      const Preconditioner<float, Host>* m) {
  return make_host_solver<CgIteration<float>>(a, m, Beta::polak_ribiere);
}

}  // namespace tessera
