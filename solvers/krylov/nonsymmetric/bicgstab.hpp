// BiCGStab, for vectors on the host or the GPU.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "solvers/krylov/nonsymmetric/methods.hpp"
#include "solvers/krylov/nonsymmetric/steered_iteration.hpp"

namespace tessera {

template <class T, class Space>
class BiCgStab final : public SteeredIteration<T, Space> {
  using Base = SteeredIteration<T, Space>;
  using Base::residual;
  using Base::x;

 public:
  using Base::size;
  using typename Base::V;

  BiCgStab(const LinearOperator<T, Space>& a, const Preconditioner<T, Space>* m)
      : Base(a, m, 2),
        shadow_(a.layout()),
        p_(a.layout()),
        v_(a.layout()),
        t_(a.layout()),
        z_(this->kind() == PreconditionerKind::none ? VectorLayout() : a.layout()) {}

  void bind(const V& b, V& solution) {
    Base::bind(b, solution);
    farthest_reach_ = 0.0;
  }
  double residual_norm(Guess guess = Guess::any) {
    rr_ = this->make_residual(guess);
    return std::sqrt(rr_);
  }
  void start() {
    copy(residual(), shadow_);
    copy(residual(), p_);
    rho_ = rr_;
    shadow_norm_ = std::sqrt(rr_);
    is_first_ = true;
  }
  void replace_residual() {
    residual_norm();
    start();
  }

  Step step() {
    // The residual has become orthogonal to the first one, but for rounding.
    if (std::abs(rho_) <= std::numeric_limits<T>::epsilon() * shadow_norm_ * std::sqrt(rr_)) {
      replace_residual();
    }
    const double before = rr_;
    if (!std::exchange(is_first_, false)) {
      const double beta = rho_ / previous_rho_ * (alpha_ / omega_);
      const T factors[] = {T{1}, static_cast<T>(beta), static_cast<T>(-beta * omega_)};
      const V* const vectors[] = {&residual(), &p_, &v_};
      combine<T>(factors, vectors, p_);
    }
    const V& y = this->preconditioned(p_, z_);
    this->a().apply(y, v_);
    const auto [projection, vv] = this->two_dots(shadow_, v_, v_);
    if (!std::isfinite(projection) || !std::isfinite(vv)) {
      return {.failure = SolveStatus::not_finite};
    }
    // There is no step along p but for rounding: A does not reach it, or v is orthogonal.
    constexpr double kRounding = 16.0 * std::numeric_limits<T>::epsilon();
    const double reach = std::sqrt(vv / rr_);
    farthest_reach_ = std::max(farthest_reach_, reach);
    if (reach <= kRounding * farthest_reach_ ||
        std::abs(projection) <= kRounding * shadow_norm_ * std::sqrt(vv)) {
      return {.broken_down = true};
    }
    alpha_ = rho_ / projection;
    axpy(static_cast<T>(alpha_), y, x());
    axpy(static_cast<T>(-alpha_), v_, residual());

    const V& z = this->preconditioned(residual(), z_);
    this->a().apply(z, t_);
    const std::array<double, 2> of_t = this->two_dots(residual(), t_, t_);
    if (!std::isfinite(of_t[0]) || !std::isfinite(of_t[1])) {
      return {.failure = SolveStatus::not_finite};
    }
    // t = 0 where the half step has found the solution.
    omega_ = of_t[1] > 0.0 ? of_t[0] / of_t[1] : 0.0;
    axpy(static_cast<T>(omega_), z, x());
    axpy(static_cast<T>(-omega_), t_, residual());
    const std::array<double, 2> of_r = this->two_dots(residual(), shadow_, residual());
    rr_ = of_r[0];
    previous_rho_ = rho_;
    rho_ = of_r[1];
    if (omega_ == 0.0 && rr_ > 0.0) return {.broken_down = true};
    return {.rr = rr_, .energy = std::max(0.0, before - rr_)};
  }

 private:
  V shadow_, p_, v_, t_, z_;
  double rr_ = 0.0;
  double shadow_norm_ = 0.0;
  double rho_ = 0.0;
  double previous_rho_ = 0.0;
  double alpha_ = 0.0;
  double omega_ = 0.0;
  double farthest_reach_ = 0.0;  // of A along a direction, in this solve
  bool is_first_ = true;
};

}  // namespace tessera
