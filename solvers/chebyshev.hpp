#pragma once

#include <vector>

#include "solvers/preconditioner.hpp"
#include "solvers/smoother.hpp"
#include "solvers/smoothing_passes.hpp"

namespace tessera {

/// The steps of Chebyshev's iteration of the first kind on eigenvalues of D^-1 A in [smallest,
/// largest], where its residual polynomial is least (Saad, algorithm 12.1).
/// @throws std::invalid_argument unless 0 < smallest < largest and degree >= 1
std::vector<ChebyshevStep> chebyshev_steps(int degree, double smallest, double largest);

/// The steps of the iteration of the fourth kind, which needs no lower bound: least for the bound
/// of a multigrid cycle (Lottes 2023, Optimal polynomial smoothers for multigrid V-cycles).
/// @throws std::invalid_argument unless 0 < largest and degree >= 1
std::vector<ChebyshevStep> fourth_kind_steps(int degree, double largest);

/// A polynomial in D^-1 A, D the diagonal of A, applied to D^-1 r:
///   d = momentum d + scale D^-1 (b - A x), x += d  in each step.
/// As a preconditioner from x = 0: z = q(D^-1 A) D^-1 r, symmetric; steps - 1 applications of A,
/// the operator's fused form where it has one. One application at a time: it owns vectors.
template <class T, class Space>
class Chebyshev final : public Preconditioner<T, Space>, public Smoother<T, Space> {
 public:
  using V = Vector<T, Space>;

  /// @param a is referred to
  /// @param inverse_diagonal entries of D^-1
  Chebyshev(const LinearOperator<T, Space>& a, V inverse_diagonal, std::vector<ChebyshevStep> steps)
      : a_(a),
        steps_(std::move(steps)),
        inverse_diagonal_(std::move(inverse_diagonal)),
        d_(a.size()),
        scratch_(a.size()) {}

  int degree() const { return static_cast<int>(steps_.size()); }

  void apply(const V& r, V& z) const override { smooth_from_zero(r, z); }

  void smooth_from_zero(const V& b, V& x) const override {
    const std::size_t rest = steps_.size() - 1;
    const bool swaps = a_.fused() != nullptr && rest % 2 == 1;
    first_step(static_cast<T>(steps_[0].scale), inverse_diagonal_, b, d_, swaps ? scratch_ : x);
    if (a_.fused() != nullptr) {
      fused_steps(1, b, swaps ? scratch_ : x, swaps ? x : scratch_);
    } else {
      for (std::size_t k = 1; k < steps_.size(); ++k) plain_step(steps_[k], b, x);
    }
  }

  void smooth(const V& b, V& x) const override {
    if (a_.fused() != nullptr) {
      // A fused step goes from one vector to another: of an odd number the first is made in place.
      const std::size_t first = steps_.size() % 2;
      if (first == 1) plain_step(steps_[0], b, x);
      fused_steps(first, b, x, scratch_);
    } else {
      for (const ChebyshevStep& step : steps_) plain_step(step, b, x);
    }
  }

 private:
  void plain_step(const ChebyshevStep& step, const V& b, V& x) const {
    a_.apply(x, scratch_);
    next_step(static_cast<T>(step.momentum), static_cast<T>(step.scale), inverse_diagonal_, b,
              scratch_, d_, x);
  }
  // From `from` to the other and back, the last step's result in `from` if they are even.
  void fused_steps(std::size_t first, const V& b, V& from, V& to) const {
    V* x = &from;
    V* next = &to;
    for (std::size_t k = first; k < steps_.size(); ++k) {
      a_.fused()->chebyshev_step(steps_[k], b, *x, d_, *next);
      std::swap(x, next);
    }
  }

  const LinearOperator<T, Space>& a_;
  std::vector<ChebyshevStep> steps_;
  V inverse_diagonal_;
  mutable V d_;
  mutable V scratch_;
};

}  // namespace tessera
