// A HostIteration is what the methods with vectors on the host share.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "solvers/krylov/cg.hpp"
#include "solvers/krylov/host_loop.hpp"
#include "solvers/memory/entry_sums.hpp"
#include "solvers/preconditioners/residual.hpp"

namespace tessera {

/// A x = b with vectors on the host, as all iterations see it.
template <class T>
class HostSystem {
 public:
  using V = HostVector<T>;

  HostSystem(const LinearOperator<T, Host>& a, const Preconditioner<T, Host>* m)
      : a_(a), m_(m), kind_(kind_of(m)) {
    TESSERA_CHECK(m == nullptr || m->size() == a.size());
  }
  /// Sets right-hand side and solution of the next solve.
  void bind(const V& b, V& x) {
    b_ = &b;
    x_ = &x;
  }

  std::int64_t size() const { return a_.size(); }
  VectorLayout layout() const { return a_.layout(); }
  /// That of the vector if it is needed, else of none: some vectors are for one kind of
  /// preconditioner only.
  VectorLayout layout_if(bool needed) const { return needed ? layout() : VectorLayout(); }
  PreconditionerKind kind() const { return kind_; }
  const LinearOperator<T, Host>& a() const { return a_; }
  const Preconditioner<T, Host>& m() const { return *m_; }
  V& x() const { return *x_; }
  /// The entries of M if it is diagonal, else null.
  const T* diagonal() const {
    return kind_ == PreconditionerKind::diagonal ? m_->as_diagonal()->data() : nullptr;
  }
  /// r = b - A x; returns r.r.
  double residual(V& r) const { return residual_square(a_, *b_, *x_, r); }
  /// r = b, which is the residual of x = 0; returns r.r.
  double residual_of_zero(V& r) const {
    const auto square = [b = b_->data()](std::int64_t i) {
      return static_cast<double>(b[i]) * static_cast<double>(b[i]);
    };
    return entry_sum(
        r.layout(),
        [b = b_->data(), r = r.data(), square](std::int64_t i) {
          r[i] = b[i];
          return square(i);
        },
        square);
  }
  /// y = A v; returns v.y and, if the operator has fused operations, y.y.
  std::array<double, 2> apply_dot(const V& v, V& y) const {
    double sums[2] = {};
    if (const FusedOperations<T, Host>* const fused = a_.fused(); fused != nullptr) {
      fused->apply_dot(v, y, sums);
    } else {
      a_.apply(v, y);
      sums[0] = dot(v, y);
    }
    return {sums[0], sums[1]};
  }

 private:
  const LinearOperator<T, Host>& a_;
  const Preconditioner<T, Host>* m_;
  PreconditionerKind kind_;
  const V* b_ = nullptr;
  V* x_ = nullptr;
};

/// What all iterations on the host have.
template <class T>
class HostIteration {
 public:
  HostIteration(const LinearOperator<T, Host>& a, const Preconditioner<T, Host>* m)
      : system_(a, m), r_(a.layout()) {}

  VectorLayout layout() const { return system_.layout(); }
  HostSystem<T>& system() { return system_; }
  const HostSystem<T>& system() const { return system_; }
  /// Computes r = b - A x and returns its norm.
  double residual_norm(Guess x = Guess::any) {
    rr_ = x == Guess::zero ? system_.residual_of_zero(r_) : system_.residual(r_);
    return std::sqrt(rr_);
  }
  /// The iteration has diverged if the residual is more than this many times the initial one.
  double max_growth() const { return std::numeric_limits<double>::infinity(); }

 protected:
  PreconditionerKind kind() const { return system_.kind(); }
  /// The residual by recurrence, and its square.
  HostVector<T>& residual() { return r_; }
  const HostVector<T>& residual() const { return r_; }
  double& residual_square() { return rr_; }
  double residual_square() const { return rr_; }

 private:
  HostSystem<T> system_;
  HostVector<T> r_;
  double rr_ = 0.0;
};

/// An iteration on the host as a Solver.
template <class T, class Iteration>
class HostSolver final : public Solver<T, Host> {
 public:
  template <class... Arguments>
  explicit HostSolver(const Arguments&... arguments) : iteration_(arguments...) {}

  std::int64_t size() const override { return iteration_.system().size(); }
  SolveReport do_solve(const HostVector<T>& b, HostVector<T>& x,
                       const SolveOptions& options) override {
    iteration_.system().bind(b, x);
    return run_on_host(iteration_, options);
  }

 private:
  Iteration iteration_;
};

template <class Iteration, class T, class... More>
std::unique_ptr<Solver<T, Host>> make_host_solver(const LinearOperator<T, Host>& a,
                                                  const Preconditioner<T, Host>* m,
                                                  const More&... more) {
  return std::make_unique<HostSolver<T, Iteration>>(a, m, more...);
}

}  // namespace tessera
