// This file has Richardson's iteration on the host.
#include "solvers/krylov/richardson.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "solvers/krylov/host_iteration.hpp"

namespace tessera {
namespace {

template <class T>
class RichardsonIteration {
 public:
  RichardsonIteration(const HostSystem<T>& system, double omega)
      : system_(system),
        omega_(static_cast<T>(omega)),
        r_(system.a.size()),
        z_(system.size_if(system.kind() == PreconditionerKind::general)) {}

  double residual_norm() {
    rr_ = system_.residual(r_);
    return std::sqrt(rr_);
  }
  void start() {}
  void replace_residual() {}

  Step step() {
    const double before = rr_;
    switch (system_.kind()) {
      case PreconditionerKind::none:
        axpy(omega_, r_, system_.x);
        break;
      case PreconditionerKind::diagonal:
        add_scaled();
        break;
      case PreconditionerKind::general:
        system_.m->apply(r_, z_);
        axpy(omega_, z_, system_.x);
        break;
    }
    residual_norm();
    return {.rr = rr_, .energy = std::max(0.0, before - rr_)};
  }

 private:
  // x += omega d r.
  void add_scaled() {
    const T* const d = system_.diagonal();
    const T* const r = r_.data();
    T* const x = system_.x.data();
#pragma omp parallel for simd schedule(static)
    for (std::int64_t i = 0; i < r_.size(); ++i) x[i] += omega_ * d[i] * r[i];
  }

  HostSystem<T> system_;
  T omega_;
  HostVector<T> r_, z_;
  double rr_ = 0.0;
};

}  // namespace

template <class T, class Space>
SolveReport richardson(const LinearOperator<T, Space>& a,
                       const Preconditioner<T, Space>* preconditioner, const Vector<T, Space>& b,
                       Vector<T, Space>& x, double omega, const CgOptions& options) {
  RichardsonIteration<T> iteration({a, preconditioner, b, x}, omega);
  return run_on_host(iteration, options, kMaxGrowth);
}

template SolveReport richardson(const LinearOperator<double, Host>&,
                                const Preconditioner<double, Host>*, const HostVector<double>&,
                                HostVector<double>&, double, const CgOptions&);
template SolveReport richardson(const LinearOperator<float, Host>&,
                                const Preconditioner<float, Host>*, const HostVector<float>&,
                                HostVector<float>&, double, const CgOptions&);

}  // namespace tessera
