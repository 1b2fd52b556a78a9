// A SteeredIteration has its scalars on the host, wherever its vectors are.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <span>

#include "solvers/krylov/cg.hpp"
#include "solvers/krylov/host_loop.hpp"
#include "solvers/memory/dot_products.hpp"

namespace tessera {

/// A x = b and what iterations for it share that wait for their sums.
template <class T, class Space>
class SteeredIteration {
 public:
  using V = Vector<T, Space>;

  /// @param max_sums how many dot products are computed at a time, at most
  SteeredIteration(const LinearOperator<T, Space>& a, const Preconditioner<T, Space>* m,
                   int max_sums)
      : a_(a), m_(m), kind_(kind_of(m)), dots_(max_sums), r_(a.layout()) {
    TESSERA_CHECK(m == nullptr || m->size() == a.size());
  }
  /// Sets right-hand side and solution of the next solve.
  void bind(const V& b, V& x) {
    b_ = &b;
    x_ = &x;
  }
  std::int64_t size() const { return a_.size(); }
  VectorLayout layout() const { return a_.layout(); }
  double max_growth() const { return std::numeric_limits<double>::infinity(); }

 protected:
  PreconditionerKind kind() const { return kind_; }
  V& x() { return *x_; }
  V& residual() { return r_; }
  const LinearOperator<T, Space>& a() const { return a_; }
  const V& diagonal() const { return *m_->as_diagonal(); }

  /// r = b - A x; returns r.r.
  double make_residual(Guess guess = Guess::any) {
    if (guess == Guess::zero) {
      copy(*b_, r_);
    } else {
      a_.apply(*x_, r_);
      const T factors[] = {T{1}, T{-1}};
      const V* const vectors[] = {b_, &r_};
      combine<T>(factors, vectors, r_);
    }
    return dot_of(r_, r_);
  }
  /// M v in z, or v where there is no preconditioner.
  const V& preconditioned(const V& v, V& z) const {
    if (kind_ == PreconditionerKind::none) return v;
    if (kind_ == PreconditionerKind::diagonal) {
      multiply(*m_->as_diagonal(), v, z);
    } else {
      m_->apply(v, z);
    }
    return z;
  }
  void sum(std::span<const V* const> x, const V& y, std::span<double> sums) {
    dots_.template sum<T>(x, y, sums);
  }
  double dot_of(const V& x, const V& y) {
    const V* const vectors[] = {&x};
    double result[1];
    sum(vectors, y, result);
    return result[0];
  }
  /// {x.y, z.y}
  std::array<double, 2> two_dots(const V& x, const V& z, const V& y) {
    const V* const vectors[] = {&x, &z};
    std::array<double, 2> results{};
    sum(vectors, y, results);
    return results;
  }

 private:
  const LinearOperator<T, Space>& a_;
  const Preconditioner<T, Space>* m_;
  PreconditionerKind kind_;
  const V* b_ = nullptr;
  V* x_ = nullptr;
  DotProducts<Space> dots_;
  V r_;
};

/// Such an iteration as a Solver.
template <class T, class Space, class Iteration>
class SteeredSolver final : public Solver<T, Space> {
 public:
  template <class... Arguments>
  explicit SteeredSolver(const Arguments&... arguments) : iteration_(arguments...) {}

  std::int64_t size() const override { return iteration_.size(); }
  SolveReport do_solve(const Vector<T, Space>& b, Vector<T, Space>& x,
                       const SolveOptions& options) override {
    iteration_.bind(b, x);
    return run_on_host(iteration_, options);
  }

 private:
  Iteration iteration_;
};

}  // namespace tessera
