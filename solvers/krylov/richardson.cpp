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
  using Base::kind;
  using Base::residual;
  using Base::residual_square;

 public:
  using Base::system;

  RichardsonIteration(const LinearOperator<T, Host>& a, const Preconditioner<T, Host>* m,
                      double omega)
      : Base(a, m),
        omega_(static_cast<T>(omega)),
        z_(system().layout_if(kind() == PreconditionerKind::general)) {}

  double max_growth() const { return kMaxGrowth; }
  void start() {}
  void replace_residual() {}

  Step step() {
    const double before = residual_square();
    switch (kind()) {
      case PreconditionerKind::none:
        axpy(omega_, residual(), system().x());
        break;
      case PreconditionerKind::diagonal:
        add_scaled();
        break;
      case PreconditionerKind::general:
        system().m().apply(residual(), z_);
        axpy(omega_, z_, system().x());
        break;
    }
    this->residual_norm();
    return {.rr = residual_square(), .energy = std::max(0.0, before - residual_square())};
  }

 private:
  // x += omega d r.
  void add_scaled() {
    const T* const d = system().diagonal();
    const T* const r = residual().data();
    T* const x = system().x().data();
#pragma omp parallel for simd schedule(static)
    for (std::int64_t i = 0; i < residual().size(); ++i) x[i] += omega_ * d[i] * r[i];
  }

  T omega_;
  HostVector<T> z_;
};

}  // namespace

template <>
std::unique_ptr<Solver<double, Host>> make_richardson(
    const LinearOperator<double, Host>& a, const Preconditioner<double, Host>* preconditioner,
    double omega) {
  return make_host_solver<RichardsonIteration<double>>(a, preconditioner, omega);
}
template <>
std::unique_ptr<Solver<float, Host>> make_richardson(
    const LinearOperator<float, Host>& a, const Preconditioner<float, Host>* preconditioner,
    double omega) {
  return make_host_solver<RichardsonIteration<float>>(a, preconditioner, omega);
}

}  // namespace tessera
