// Flexible GMRES, for vectors on the host or the GPU.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "solvers/krylov/nonsymmetric/methods.hpp"
#include "solvers/krylov/nonsymmetric/steered_iteration.hpp"

namespace tessera {

template <class T, class Space>
class FlexibleGmres final : public SteeredIteration<T, Space> {
  using Base = SteeredIteration<T, Space>;
  using Base::kind;
  using Base::residual;
  using Base::x;

 public:
  using Base::size;
  using typename Base::V;

  FlexibleGmres(const LinearOperator<T, Space>& a, const Preconditioner<T, Space>* m, int restart)
      : Base(a, m, restart + 1),
        restart_(restart),
        columns_of_r_(static_cast<std::size_t>(restart) * (restart + 1) / 2),
        rotations_(restart),
        g_(restart + 1),
        sums_(restart + 1),
        terms_(restart + 1) {
    TESSERA_CHECK(restart >= 1);
    for (int k = 0; k <= restart; ++k) basis_.emplace_back(a.layout());
    for (int k = 0; k < restart && kind() == PreconditionerKind::general; ++k) {
      preconditioned_.emplace_back(a.layout());
    }
  }

  void bind(const V& b, V& solution) {
    Base::bind(b, solution);
    longest_product_ = 0.0;
  }
  /// Completes x, and computes r = b - A x.
  double residual_norm(Guess guess = Guess::any) {
    add_corrections();
    return norm_ = std::sqrt(this->make_residual(guess));
  }
  void start() {
    columns_ = 0;
    g_[0] = norm_;
    scale(1.0 / norm_, residual(), basis_[0]);
  }
  void replace_residual() {
    residual_norm();
    start();
  }

  Step step() {
    if (columns_ == restart_) replace_residual();
    const int k = columns_;
    V& w = basis_[k + 1];
    this->a().apply(this->preconditioned(basis_[k], scratch(k)), w);
    double* const column = column_of_r(k);
    std::fill_n(column, k + 1, 0.0);
    double ww = make_orthogonal(w, k, column);
    if (!std::isfinite(ww)) return {.failure = SolveStatus::not_finite};
    // What is left of a product is compared with the longest one: where A is singular, products of
    // what it does not reach are all rounding.
    longest_product_ = std::max(longest_product_, std::sqrt(ww));
    const double smallest = 16.0 * std::numeric_limits<T>::epsilon() * longest_product_;
    ww = make_orthogonal(w, k, column);
    // What the second pass takes away is little, so that the difference is exact enough.
    for (int i = 0; i <= k; ++i) ww -= sums_[i] * sums_[i];
    const double length = std::sqrt(std::max(0.0, ww));
    const double next = length > smallest ? length : 0.0;
    if (next > 0.0) scale(1.0 / next, w, w);

    for (int i = 0; i < k; ++i) {
      const Rotation& q = rotations_[i];
      const double upper = q.c * column[i] + q.s * column[i + 1];
      column[i + 1] = q.c * column[i + 1] - q.s * column[i];
      column[i] = upper;
    }
    const double pivot = std::hypot(column[k], next);
    if (!(pivot > smallest)) return {.broken_down = true};
    const Rotation q{column[k] / pivot, next / pivot};
    rotations_[k] = q;
    column[k] = pivot;
    const double before = g_[k] * g_[k];
    g_[k + 1] = -q.s * g_[k];
    g_[k] *= q.c;
    ++columns_;
    const double rr = g_[k + 1] * g_[k + 1];
    return {.rr = rr, .energy = before - rr};
  }

 private:
  struct Rotation {
    double c = 1.0;
    double s = 0.0;
  };

  // Column k of the triangle R, its entries from the first row to the diagonal.
  double* column_of_r(int k) {
    return columns_of_r_.data() + static_cast<std::ptrdiff_t>(k) * (k + 1) / 2;
  }

  // Where M v_k goes; without a general M it is not kept.
  V& scratch(int k) {
    return kind() == PreconditionerKind::general ? preconditioned_[k] : residual();
  }

  // y = factor x
  static void scale(double factor, const V& x, V& y) {
    const T factors[] = {static_cast<T>(factor)};
    const V* const vectors[] = {&x};
    combine<T>(factors, vectors, y);
  }

  // y += sum_i factor(i) vectors[i], i < count.
  template <class Factor>
  static void add_all(int count, const std::vector<V>& vectors, Factor factor, V& y) {
    constexpr int kTerms = kMaxCombinedVectors - 1;
    for (int first = 0; first < count; first += kTerms) {
      std::array<T, kMaxCombinedVectors> factors{T{1}};
      std::array<const V*, kMaxCombinedVectors> terms{&y};
      const int end = std::min(count, first + kTerms);
      std::size_t used = 1;
      for (int i = first; i < end; ++i, ++used) {
        factors[used] = static_cast<T>(factor(i));
        terms[used] = &vectors[i];
      }
      combine<T>(std::span(factors).first(used), std::span(terms).first(used), y);
    }
  }

  // Subtracts from w its projections on the first k + 1 of the basis, and adds their lengths to the
  // column; sums_ has them. Returns w.w of before.
  double make_orthogonal(V& w, int k, double* column) {
    for (int i = 0; i <= k; ++i) terms_[i] = &basis_[i];
    const std::size_t all = static_cast<std::size_t>(k) + 1;
    terms_[all] = &w;
    this->sum(std::span(terms_).first(all + 1), w, std::span(sums_).first(all + 1));
    add_all(
        k + 1, basis_, [&](int i) { return -sums_[i]; }, w);
    for (int i = 0; i <= k; ++i) column[i] += sums_[i];
    return sums_[all];
  }

  // x += M V y with the y of least residual.
  void add_corrections() {
    const int count = std::exchange(columns_, 0);
    if (count == 0) return;
    std::vector<double>& y = g_;
    for (int i = count - 1; i >= 0; --i) {
      for (int j = i + 1; j < count; ++j) y[i] -= column_of_r(j)[i] * y[j];
      y[i] /= column_of_r(i)[i];
    }
    const auto factor = [&](int i) { return y[i]; };
    switch (kind()) {
      case PreconditionerKind::none:
        return add_all(count, basis_, factor, x());
      case PreconditionerKind::general:
        return add_all(count, preconditioned_, factor, x());
      case PreconditionerKind::diagonal:
        fill(residual(), T{0});
        add_all(count, basis_, factor, residual());
        multiply(this->diagonal(), residual(), residual());
        axpy(T{1}, residual(), x());
    }
  }

  int restart_;
  int columns_ = 0;  // of this cycle so far
  double norm_ = 0.0;
  double longest_product_ = 0.0;  // of this solve
  std::vector<V> basis_;
  std::vector<V> preconditioned_;
  std::vector<double> columns_of_r_;
  std::vector<Rotation> rotations_;
  std::vector<double> g_;  // the residual in the rotated basis
  std::vector<double> sums_;
  std::vector<const V*> terms_;
};

}  // namespace tessera
