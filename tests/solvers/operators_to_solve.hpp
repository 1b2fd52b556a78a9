// These are small operators on the host for the tests of solvers.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "solvers/linear_operator.hpp"
#include "tests/solvers/dense_algebra.hpp"
#include "tests/thread_count.hpp"

namespace tessera::testing {

template <class T, class Values>
HostVector<T> vector_of(const Values& values) {
  HostVector<T> x(static_cast<std::int64_t>(values.size()));
  for (std::int64_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(values[i]);
  return x;
}

template <class T>
Eigen::VectorXd eigen_of(const HostVector<T>& x) {
  Eigen::VectorXd values(x.size());
  for (std::int64_t i = 0; i < x.size(); ++i) values[i] = static_cast<double>(x[i]);
  return values;
}

/// A vector whose entries are all NaN: an output that must be overwritten.
template <class T>
HostVector<T> poisoned(std::int64_t n) {
  HostVector<T> x(n);
  for (std::int64_t i = 0; i < n; ++i) x[i] = std::numeric_limits<T>::quiet_NaN();
  return x;
}

template <class T>
bool same_bits(const HostVector<T>& a, const HostVector<T>& b) {
  return a.size() == b.size() &&
         (a.size() == 0 ||
          std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(T)) == 0);
}

/// A matrix through the solvers' interface; sums in double.
template <class T>
class DenseOperator final : public LinearOperator<T, Host> {
 public:
  explicit DenseOperator(Eigen::MatrixXd matrix) : matrix_(std::move(matrix)) {}

  const Eigen::MatrixXd& matrix() const { return matrix_; }
  std::int64_t size() const override { return matrix_.rows(); }
  void do_apply(const HostVector<T>& x, HostVector<T>& y) const override {
    const Eigen::VectorXd product = multiplied(matrix_, eigen_of(x));
    for (std::int64_t i = 0; i < y.size(); ++i) y[i] = static_cast<T>(product[i]);
  }
  void do_diagonal(HostVector<T>& d) const override {
    for (std::int64_t i = 0; i < d.size(); ++i) d[i] = static_cast<T>(matrix_(i, i));
  }
  Cost cost() const override { return {}; }
  std::int64_t bytes() const override { return 0; }

 private:
  Eigen::MatrixXd matrix_;
};

/// y_i = d_i x_i, for sizes that no dense matrix has.
template <class T>
class DiagonalOperator final : public LinearOperator<T, Host> {
 public:
  explicit DiagonalOperator(std::vector<double> entries) : entries_(std::move(entries)) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(entries_.size()); }
  void do_apply(const HostVector<T>& x, HostVector<T>& y) const override {
    for (std::int64_t i = 0; i < size(); ++i) y[i] = static_cast<T>(entries_[i]) * x[i];
  }
  void do_diagonal(HostVector<T>& d) const override {
    for (std::int64_t i = 0; i < size(); ++i) d[i] = static_cast<T>(entries_[i]);
  }
  Cost cost() const override { return {}; }
  std::int64_t bytes() const override { return 0; }

 private:
  std::vector<double> entries_;
};

/// Another operator whose result is tampered with: change(number of the application from 1, y).
template <class T>
class TamperedOperator final : public LinearOperator<T, Host> {
 public:
  using Change = std::function<void(int application, HostVector<T>& y)>;

  TamperedOperator(const LinearOperator<T, Host>& original, Change change)
      : original_(original), change_(std::move(change)) {}

  std::int64_t size() const override { return original_.size(); }
  void do_apply(const HostVector<T>& x, HostVector<T>& y) const override {
    original_.apply(x, y);
    change_(++applications_, y);
  }
  void do_diagonal(HostVector<T>& d) const override { original_.diagonal(d); }
  Cost cost() const override { return {}; }
  std::int64_t bytes() const override { return 0; }

 private:
  const LinearOperator<T, Host>& original_;
  Change change_;
  mutable int applications_ = 0;
};

/// Another operator with fused forms, composed of its application and sums.
template <class T>
class WithFusedForms final : public LinearOperator<T, Host>, public FusedOperations<T, Host> {
 public:
  using V = HostVector<T>;

  explicit WithFusedForms(const LinearOperator<T, Host>& original) : original_(original) {}

  std::int64_t size() const override { return original_.size(); }
  void do_apply(const V& x, V& y) const override { original_.apply(x, y); }
  void do_diagonal(V& d) const override { original_.diagonal(d); }
  Cost cost() const override { return {}; }
  std::int64_t bytes() const override { return 0; }
  const FusedOperations<T, Host>* fused() const override { return this; }

  void do_apply_dot(const V& x, V& y, double* sums) const override {
    this->apply(x, y);
    sums[0] = dot(x, y);
    sums[1] = dot(y, y);
  }
  void do_residual(const V& b, const V& x, V& r, double* rr) const override {
    V ax(size());
    this->apply(x, ax);
    for (std::int64_t i = 0; i < size(); ++i) r[i] = b[i] - ax[i];
    *rr = dot(r, r);
  }

 private:
  const LinearOperator<T, Host>& original_;
};

}  // namespace tessera::testing
