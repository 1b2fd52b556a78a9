// These are matrices with known properties for the tests of solvers.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "tests/solvers/operators_to_solve.hpp"
#include "tests/solvers/solve_once.hpp"

namespace tessera::testing {

inline constexpr std::array<SolverMethod, 4> kVariants = {
    SolverMethod::cg, SolverMethod::single_reduction_cg, SolverMethod::pipelined_cg,
    SolverMethod::flexible_cg};

inline std::string name_of(SolverMethod variant) {
  switch (variant) {
    case SolverMethod::cg:
      return "standard";
    case SolverMethod::single_reduction_cg:
      return "single reduction";
    case SolverMethod::pipelined_cg:
      return "pipelined";
    case SolverMethod::flexible_cg:
      return "flexible";
    case SolverMethod::richardson:
    case SolverMethod::flexible_gmres:
    case SolverMethod::bicgstab:
      break;
  }
  return "";
}

/// The five-point difference matrix of an n x n grid: 4 on the diagonal, -1 for each neighbor.
template <class T>
class FivePointOperator final : public LinearOperator<T, Host> {
 public:
  explicit FivePointOperator(int n) : n_(n) {}

  std::int64_t size() const override { return std::int64_t{n_} * n_; }
  void do_apply(const HostVector<T>& x, HostVector<T>& y) const override {
    for (int j = 0; j < n_; ++j) {
      for (int i = 0; i < n_; ++i) {
        const std::int64_t at = std::int64_t{n_} * j + i;
        T value = T{4} * x[at];
        if (i > 0) value -= x[at - 1];
        if (i + 1 < n_) value -= x[at + 1];
        if (j > 0) value -= x[at - n_];
        if (j + 1 < n_) value -= x[at + n_];
        y[at] = value;
      }
    }
  }
  void do_diagonal(HostVector<T>& d) const override { fill(d, T{4}); }
  Cost cost() const override { return {}; }
  std::int64_t bytes() const override { return 0; }

 private:
  int n_;
};

/// M = 2 I - A / largest, two terms of a Neumann series: symmetric, positive definite where no
/// eigenvalue of A is above `largest`, and no diagonal.
template <class T>
class NeumannSeries final : public Preconditioner<T, Host> {
 public:
  NeumannSeries(const LinearOperator<T, Host>& a, double largest) : a_(a), largest_(largest) {}
  std::int64_t size() const override { return a_.size(); }
  void do_apply(const HostVector<T>& r, HostVector<T>& z) const override {
    a_.apply(r, z);
    for (std::int64_t i = 0; i < z.size(); ++i) {
      z[i] = T{2} * r[i] - z[i] / static_cast<T>(largest_);
    }
  }

 private:
  const LinearOperator<T, Host>& a_;
  double largest_;
};

/// M = diag(A)^-1 diag(1 + variation e_k), e_k random in [-1, 1) and new in every call.
template <class T>
class VaryingPreconditioner final : public Preconditioner<T, Host> {
 public:
  VaryingPreconditioner(const LinearOperator<T, Host>& a, double variation)
      : jacobi_(a), variation_(variation) {}
  std::int64_t size() const override { return jacobi_.size(); }
  void do_apply(const HostVector<T>& r, HostVector<T>& z) const override {
    jacobi_.apply(r, z);
    const std::vector<double> noise = random_values(r.size(), 1000 + calls_++);
    for (std::int64_t i = 0; i < r.size(); ++i) {
      z[i] *= static_cast<T>(1.0 + variation_ * noise[static_cast<std::size_t>(i)]);
    }
  }

 private:
  Jacobi<T> jacobi_;
  double variation_;
  mutable unsigned calls_ = 0;
};

}  // namespace tessera::testing
