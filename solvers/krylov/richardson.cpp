// This file has Richardson's iteration on the host.
#include "solvers/krylov/richardson.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "solvers/krylov/host_iteration.hpp"

namespace tessera {
namespace {

template <class T>
class RichardsonIteration final : public HostIteration<T> {
  using Base = HostIteration<T>;
  using Base::kind_;
  using Base::r_;
  using Base::rr_;
  using Base::system_;

 public:
  RichardsonIteration(const LinearOperator<T, Host>& a, const Preconditioner<T, Host>* m,
                      double omega)
      : Base(a, m),
        omega_(static_cast<T>(omega)),
        z_(system_.size_if(kind_ == PreconditionerKind::general)) {}

  double max_growth() const { return kMaxGrowth; }
  void start() {}
  void replace_residual() {}

  Step step() {
    const double before = rr_;
    switch (kind_) {
      case PreconditionerKind::none:
        axpy(omega_, r_, system_.x());
        break;
      case PreconditionerKind::diagonal:
        add_scaled();
        break;
      case PreconditionerKind::general:
        system_.m().apply(r_, z_);
        axpy(omega_, z_, system_.x());
        break;
    }
    this->residual_norm();
    return {.rr = rr_, .energy = std::max(0.0, before - rr_)};
  }

 private:
  // x += omega d r.
  void add_scaled() {
    const T* const d = system_.diagonal();
    const T* const r = r_.data();
    T* const x = system_.x().data();
#pragma omp parallel for simd schedule(static)
    for (std::int64_t i = 0; i < r_.size(); ++i) x[i] += omega_ * d[i] * r[i];
  }

  T omega_;
  HostVector<T> z_;
};

}  // namespace

template <>
std::unique_ptr<Solver<double, Host>> make_richardson(const LinearOperator<double, Host>& a,
                                                      const Preconditioner<double, Host>* m,
                                                      double omega) {
  return make_host_solver<RichardsonIteration<double>>(a, m, omega);
}
template <>
std::unique_ptr<Solver<float, Host>> make_richardson(const LinearOperator<float, Host>& a,
                                                     const Preconditioner<float, Host>* m,
                                                     double omega) {
  return make_host_solver<RichardsonIteration<float>>(a, m, omega);
}

}  // namespace tessera
