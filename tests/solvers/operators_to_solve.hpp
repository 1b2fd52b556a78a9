// These are small operators for the tests of solvers.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "mesh/threads_in_use.hpp"
#include "solvers/linear_operator.hpp"
#include "tests/solvers/dense_algebra.hpp"
#include "tests/vectors.hpp"

namespace tessera::testing {

template <class T>
Eigen::VectorXd eigen_of(const HostVector<T>& x) {
  Eigen::VectorXd values(x.size());
  for (std::int64_t i = 0; i < x.size(); ++i) values[i] = static_cast<double>(x[i]);
  return values;
}

template <class T, class Space = Host>
using Preconditioning = const Preconditioner<T, Space>*;

template <class T, class Space = Host>
constexpr Preconditioning<T, Space> kNone = nullptr;

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
template <class T, class Space = Host>
class DiagonalOperator final : public LinearOperator<T, Space> {
 public:
  explicit DiagonalOperator(const std::vector<double>& entries)
      : entries_(vector_in<T, Space>(entries)) {}

  std::int64_t size() const override { return entries_.size(); }
  void do_apply(const Vector<T, Space>& x, Vector<T, Space>& y) const override {
    multiply(entries_, x, y);
  }
  void do_diagonal(Vector<T, Space>& d) const override { copy(entries_, d); }
  Cost cost() const override { return {}; }
  std::int64_t bytes() const override { return 0; }

 private:
  Vector<T, Space> entries_;
};

/// z_i = d_i r_i, which does not say that it is a diagonal.
template <class T, class Space>
class OpaqueScaling final : public Preconditioner<T, Space> {
 public:
  explicit OpaqueScaling(const std::vector<double>& entries)
      : entries_(vector_in<T, Space>(entries)) {}
  std::int64_t size() const override { return entries_.size(); }
  void do_apply(const Vector<T, Space>& r, Vector<T, Space>& z) const override {
    multiply(entries_, r, z);
  }

 private:
  Vector<T, Space> entries_;
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

/// Another operator, one application of which is wrong by a factor.
template <class T>
TamperedOperator<T> wrong_once(const LinearOperator<T, Host>& original, int application,
                               double factor) {
  return TamperedOperator<T>(original, [=](int number, HostVector<T>& y) {
    if (number != application) return;
    for (T& value : y.span()) value *= static_cast<T>(factor);
  });
}

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
    if (rr != nullptr) *rr = dot(r, r);
  }

 private:
  const LinearOperator<T, Host>& original_;
};

}  // namespace tessera::testing
