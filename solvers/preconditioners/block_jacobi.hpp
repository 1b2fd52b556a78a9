// BlockJacobi is a preconditioner and smoother that sweeps within blocks of rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "solvers/preconditioner.hpp"
#include "solvers/preconditioners/block_rows.hpp"
#include "solvers/preconditioners/smoothing_passes.hpp"
#include "solvers/smoother.hpp"

namespace tessera {

/// How blocks learn of each other's values.
enum class BlockExchange {
  synchronous,  // all together, after every outer sweep
  asynchronous  // any time: a block reads what is there
};

struct BlockJacobiOptions {
  int sweeps = 1;        // outer sweeps
  int local_sweeps = 4;  // sweeps of a block in an outer sweep
  /// The damping of the local sweeps; with 0, damping and relaxation are found from eigenvalues.
  double damping = 0.0;
  BlockExchange exchange = BlockExchange::synchronous;
};

/// Two-stage Jacobi iteration: `sweeps` outer sweeps, in each of which every block of rows does
/// `local_sweeps` damped Jacobi sweeps on its own rows, with what it knows of the others frozen.
///
/// With B the block diagonal of A, D its diagonal, w the damping, v the relaxation, an outer sweep
/// of the synchronous method is x = x + P (b - A x), P = v (I - (I - w D^-1 B)^local_sweeps) B^-1.
/// P is symmetric, and so is M = (I - (I - P A)^sweeps) A^-1, as conjugate gradients need it. M is
/// positive definite if w lambda_max(D^-1 B) < 2 and lambda_max(P A) < 2 (the first condition
/// matters only if local_sweeps is even, the second only if sweeps is). Both are made to hold: w =
/// 1.5 / lambda_max(D^-1 A), where lambda_max(D^-1 A) is at least lambda_max(D^-1 B) because blocks
/// are principal submatrices, and then v = min(1, 1.5 / lambda_max(P A)). The eigenvalues come from
/// twenty steps of power iteration with synchronous sweeps. If A is singular, P is still regular.
///
/// The asynchronous method is for smoothing, for fixed-point iteration and for flexible Krylov
/// methods, because it is another map at every call. It converges for every order of events if
/// rho(|I - D^-1 A|) < 1 (Chazan and Miranker 1969), where A is an M-matrix for example.
///
/// apply() and the smoothing functions allocate nothing on the GPU, do not wait for it, and can be
/// captured in a CUDA graph. They share scratch memory, so only one call may run at a time.
/// Anzt, Tomov, Dongarra, Heuveline, J. Parallel Distrib. Comput. 73 (2013): async-(local_sweeps).
template <class T, class Space>
class BlockJacobi final : public Preconditioner<T, Space>, public Smoother<T, Space> {
 public:
  using V = Vector<T, Space>;

  BlockJacobi(BlockRows<T, Space> rows, const BlockJacobiOptions& options);

  std::int64_t size() const override { return rows_.size(); }
  void do_apply(const V& r, V& z) const override { do_smooth_from_zero(r, z); }
  void do_smooth_from_zero(const V& b, V& x) const override;
  void do_smooth(const V& b, V& x) const override;

  const BlockRows<T, Space>& rows() const { return rows_; }
  /// An outer sweep, with the damping and the relaxation in use.
  const BlockSweep& sweep() const { return sweep_; }
  double damping() const { return sweep_.damping; }
  double relaxation() const { return sweep_.factor; }
  /// The memory that the preconditioner holds.
  std::int64_t bytes() const {
    return block_rows_bytes(rows_) + scratch_.size() * static_cast<std::int64_t>(sizeof(T));
  }

 private:
  // lambda_max(P A) with the P of this sweep.
  double largest_eigenvalue(const BlockSweep& sweep) const;
  // Whether outer sweep number `sweep` leaves its result in x: the last one does, and they
  // alternate.
  bool is_to_x(int sweep) const { return (sweeps_ - sweep) % 2 == 1; }
  void relax_from_sweep(int first, const V& b, V& x) const;

  BlockRows<T, Space> rows_;
  int sweeps_;
  BlockExchange exchange_;
  BlockSweep sweep_;
  // The x of every other synchronous sweep.
  mutable V scratch_;
};

template <class T, class Space>
BlockJacobi<T, Space>::BlockJacobi(BlockRows<T, Space> rows, const BlockJacobiOptions& options)
    : rows_(std::move(rows)),
      sweeps_(options.sweeps),
      exchange_(options.exchange),
      sweep_{options.local_sweeps, options.damping, 1.0} {
  if (options.damping == 0.0) {
    constexpr double kTarget = 1.5;
    sweep_.damping = kTarget / largest_eigenvalue({1, 1.0, 1.0});
    const double factor = kTarget / largest_eigenvalue(sweep_);
    sweep_.factor = factor > 1.0 ? 1.0 : factor;  // a NaN stays one
  }
  if (exchange_ == BlockExchange::synchronous) scratch_ = V(rows_.size());
}

template <class T, class Space>
double BlockJacobi<T, Space>::largest_eigenvalue(const BlockSweep& sweep) const {
  // x = (I - 4 P A) x grows by 4 lambda_max - 1 a step once the other errors are small beside it.
  constexpr int kSteps = 20;
  constexpr double kStretch = 4.0;
  const std::int64_t n = rows_.size();
  const V zero(n);
  V x(n);
  V next(n);
  V scale(n);
  fill_random(x);
  double norm = std::sqrt(dot(x, x));
  for (int step = 0; step < kSteps; ++step) {
    fill(scale, static_cast<T>(1.0 / norm));
    multiply(x, scale, x);
    relax(rows_, {sweep.local_sweeps, sweep.damping, kStretch * sweep.factor}, zero, x, next);
    std::swap(x, next);
    norm = std::sqrt(dot(x, x));
  }
  return (norm + 1.0) / kStretch;
}

template <class T, class Space>
void BlockJacobi<T, Space>::relax_from_sweep(int first, const V& b, V& x) const {
  for (int sweep = first; sweep < sweeps_; ++sweep) {
    V& to = is_to_x(sweep) ? x : scratch_;
    relax(rows_, sweep_, b, &to == &x ? scratch_ : x, to);
  }
}

template <class T, class Space>
void BlockJacobi<T, Space>::do_smooth_from_zero(const V& b, V& x) const {
  if (exchange_ == BlockExchange::asynchronous) {
    fill(x, T{0});
    relax_asynchronously(rows_, sweep_, sweeps_, b, x);
    return;
  }
  relax_from_zero(rows_, sweep_, b, is_to_x(0) ? x : scratch_);
  relax_from_sweep(1, b, x);
}

template <class T, class Space>
void BlockJacobi<T, Space>::do_smooth(const V& b, V& x) const {
  if (exchange_ == BlockExchange::asynchronous) {
    relax_asynchronously(rows_, sweep_, sweeps_, b, x);
    return;
  }
  if (is_to_x(0)) copy(x, scratch_);
  relax_from_sweep(0, b, x);
}

}  // namespace tessera
