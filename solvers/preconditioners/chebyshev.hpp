// Chebyshev is a preconditioner and smoother that is a polynomial in D^-1 A.
#pragma once

#include <vector>

#include "solvers/adding_operator.hpp"
#include "solvers/preconditioner.hpp"
#include "solvers/preconditioners/smoothing_passes.hpp"
#include "solvers/preconditioners/spectrum.hpp"
#include "solvers/smoother.hpp"

namespace tessera {

/// Coefficients of one step of Chebyshev's iteration (Saad, Iterative Methods for Sparse Linear
/// Systems, algorithm 12.1); momentum 0 is a step of damped Jacobi.
struct ChebyshevStep {
  double momentum;
  double scale;
};

/// The steps of Chebyshev's iteration of the first kind for eigenvalues of D^-1 A in [smallest,
/// largest], on which its residual polynomial is smallest (Saad, algorithm 12.1).
/// @throws std::invalid_argument unless 0 < smallest < largest and degree >= 1
std::vector<ChebyshevStep> chebyshev_steps(int degree, double smallest, double largest);

/// The steps of the iteration of the fourth kind, which needs no lower bound and minimizes a bound
/// for multigrid cycles (Lottes 2023, Optimal polynomial smoothers for multigrid V-cycles).
/// @throws std::invalid_argument unless 0 < largest and degree >= 1
std::vector<ChebyshevStep> fourth_kind_steps(int degree, double largest);

/// A polynomial in D^-1 A, D the diagonal of A, applied to D^-1 r: each step is
///   x_{k+1} = x_k + momentum (x_k - x_{k-1}) + scale D^-1 (b - A x_k),
/// the first one without momentum. As a preconditioner it starts from x = 0: z = q(D^-1 A) D^-1 r
/// is a symmetric map and takes steps - 1 applications of A. Everything of a step but A x is one
/// pass over 6 vectors, of which x_{k+1} takes the place of x_{k-1}; as measured, that is faster
/// than to fuse the step with the pass of the operator. Only one application may run at a time,
/// because the object owns vectors.
template <class T, class Space>
class Chebyshev final : public Preconditioner<T, Space>, public Smoother<T, Space> {
 public:
  using V = Vector<T, Space>;

  /// @param a the operator, which must outlive this object
  /// @param inverse_diagonal the entries of D^-1
  Chebyshev(const LinearOperator<T, Space>& a, V inverse_diagonal, std::vector<ChebyshevStep> steps)
      : a_(a),
        steps_(std::move(steps)),
        inverse_diagonal_(std::move(inverse_diagonal)),
        other_(a.layout()),
        product_(a.layout()),
        adding_(as_adding(a, kVectorsOfStep)) {}

  /// Takes the diagonal of the operator, which has changed, and the steps that steps_for() makes of
  /// an estimate of the spectrum, all in the memory that is there but for r.
  template <class StepsFor>
  void update(int lanczos_steps, V& r, StepsFor&& steps_for) {
    a_.diagonal(inverse_diagonal_);
    invert_entries(inverse_diagonal_);
    steps_ =
        steps_for(estimate_spectrum(a_, inverse_diagonal_, lanczos_steps, r, other_, product_));
    clear_product();
  }

  int degree() const { return static_cast<int>(steps_.size()); }

  std::int64_t size() const override { return a_.size(); }

  void do_apply(const V& r, V& z) const override { do_smooth_from_zero(r, z); }

  void do_smooth_from_zero(const V& b, V& x) const override {
    V& first = steps_.size() % 2 == 1 ? x : other_;
    first_step(static_cast<T>(steps_[0].scale), inverse_diagonal_, b, first);
    for (std::size_t k = 1; k < steps_.size(); ++k) {
      step(k, k == 1 ? IterateBefore::zero : IterateBefore::kept, b, x);
    }
  }

  void do_smooth(const V& b, V& x) const override {
    if (steps_.size() % 2 == 1) copy(x, other_);
    for (std::size_t k = 0; k < steps_.size(); ++k) {
      step(k, k == 0 ? IterateBefore::none : IterateBefore::kept, b, x);
    }
  }

 private:
  // What a step passes over, and what lies between its levels.
  static constexpr int kVectorsOfStep = 8;

  // Step k leads from x to the other vector or back, the last one to x.
  void step(std::size_t k, IterateBefore before, const V& b, V& x) const {
    const bool ends_in_x = (steps_.size() - k) % 2 == 1;
    const V& from = ends_in_x ? other_ : x;
    if (adding_ != nullptr) {
      adding_->apply_to_zeros(from, product_);
    } else {
      a_.apply(from, product_);
    }
    next_step(static_cast<T>(steps_[k].momentum), static_cast<T>(steps_[k].scale),
              inverse_diagonal_, b, product_, adding_ == nullptr ? Leave::as_it_is : Leave::zeros,
              before, from, ends_in_x ? x : other_);
  }
  void clear_product() {
    if (adding_ != nullptr) fill(product_, T{0});
  }

  const LinearOperator<T, Space>& a_;
  std::vector<ChebyshevStep> steps_;
  V inverse_diagonal_;
  mutable V other_;    // every second iterate
  mutable V product_;  // zeros between steps if the operator adds
  const AddingOperator<T, Space>* adding_;
};

}  // namespace tessera
