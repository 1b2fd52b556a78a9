// Chebyshev is a preconditioner and smoother that is a polynomial in D^-1 A.
#pragma once

#include <vector>

#include "solvers/adding_operator.hpp"
#include "solvers/preconditioner.hpp"
#include "solvers/preconditioners/smoothing_passes.hpp"
#include "solvers/preconditioners/spectrum.hpp"
#include "solvers/smoother.hpp"

namespace tessera {

/// Lengths of the steps of Chebyshev's iteration of the first kind for eigenvalues of D^-1 A in
/// [smallest, largest], on which its residual polynomial is smallest: inverses of the roots
///   t_i = (largest + smallest) / 2 + (largest - smallest) / 2 cos((2 i - 1) pi / (2 degree)),
/// in Leja's order, in which steps let rounding grow little. [degree]
/// @throws UnsuitableChoice unless 0 < smallest < largest and degree >= 1
std::vector<double> chebyshev_steps(int degree, double smallest, double largest);

/// A polynomial in D^-1 A, D the diagonal of A, applied to D^-1 r: each step is
///   x += length D^-1 (b - A x),
/// which multiplies errors by 1 - length D^-1 A, so that the lengths are the inverses of the roots
/// of the polynomial that all steps together multiply them by. With two iterates in a step
/// (Saad, Iterative Methods for Sparse Linear Systems, algorithm 12.1) it would be the same
/// polynomial, and a vector more to read; but rounding then grows less with the degree. With roots
/// in Leja's order it grows 4 times at degree 4 and some thousand times at degree 60
/// (Reichel 1990, Newton interpolation at Leja points). As a preconditioner it starts from x = 0:
/// z = q(D^-1 A) D^-1 r is a symmetric map and takes steps - 1 applications of A. Where the
/// operator has fused steps, they are one pass over 4 vectors, to and fro between x and a vector of
/// this object; else everything of a step but A x is a pass over 5. Only one application may run at
/// a time, because the object owns a vector.
template <class T, class Space>
class Chebyshev final : public Preconditioner<T, Space>, public Smoother<T, Space> {
 public:
  using V = Vector<T, Space>;

  /// @param a the operator, which must outlive this object
  /// @param inverse_diagonal the entries of D^-1
  Chebyshev(const LinearOperator<T, Space>& a, V inverse_diagonal, std::vector<double> steps)
      : a_(a),
        steps_(std::move(steps)),
        inverse_diagonal_(std::move(inverse_diagonal)),
        product_(a.layout()),
        adding_(as_adding(a, kVectorsOfStep)) {}

  /// Takes the diagonal of the operator, which has changed, and the steps that steps_for() makes of
  /// an estimate of the spectrum, all in the memory that is there but for r and p.
  template <class StepsFor>
  void update(int lanczos_steps, V& r, V& p, StepsFor&& steps_for) {
    a_.diagonal(inverse_diagonal_);
    invert_entries(inverse_diagonal_);
    steps_ = steps_for(estimate_spectrum(a_, inverse_diagonal_, lanczos_steps, r, p, product_));
    clear_product();
  }

  int degree() const { return static_cast<int>(steps_.size()); }

  std::int64_t size() const override { return a_.size(); }

  void do_apply(const V& r, V& z) const override { do_smooth_from_zero(r, z); }

  void do_smooth_from_zero(const V& b, V& x) const override {
    // Fused steps go to and fro between two vectors, and the last one ends in x.
    const bool begins_in_x = !has_fused_steps() || steps_.size() % 2 == 1;
    V& start = begins_in_x ? x : product_;
    first_step(static_cast<T>(steps_[0]), inverse_diagonal_, b, start);
    steps_from(1, b, start, begins_in_x ? product_ : x);
  }

  void do_smooth(const V& b, V& x) const override {
    const bool is_even = steps_.size() % 2 == 0;
    if (has_fused_steps() && !is_even) step(0, b, x);
    steps_from(has_fused_steps() && !is_even ? 1 : 0, b, x, product_);
  }

 private:
  // What a step passes over, and what lies between its levels.
  static constexpr int kVectorsOfStep = 7;

  bool has_fused_steps() const { return a_.fused() != nullptr && a_.fused()->has_step(); }

  // The steps from k on, of x; fused ones leave what they make in the other vector first.
  void steps_from(std::size_t k, const V& b, V& x, V& other) const {
    if (!has_fused_steps()) {
      for (; k < steps_.size(); ++k) step(k, b, x);
      return;
    }
    V* from = &x;
    V* to = &other;
    for (; k < steps_.size(); ++k) {
      a_.fused()->step(static_cast<T>(steps_[k]), inverse_diagonal_, b, *from, *to);
      std::swap(from, to);
    }
  }

  void step(std::size_t k, const V& b, V& x) const {
    if (adding_ != nullptr) {
      adding_->apply_to_zeros(x, product_);
    } else {
      a_.apply(x, product_);
    }
    next_step(static_cast<T>(steps_[k]), inverse_diagonal_, b, product_,
              adding_ == nullptr ? Leave::as_it_is : Leave::zeros, x);
  }
  void clear_product() {
    if (adding_ != nullptr) fill(product_, T{0});
  }

  const LinearOperator<T, Space>& a_;
  std::vector<double> steps_;
  V inverse_diagonal_;
  mutable V product_;  // zeros between steps if the operator adds
  const AddingOperator<T, Space>* adding_;
};

}  // namespace tessera
