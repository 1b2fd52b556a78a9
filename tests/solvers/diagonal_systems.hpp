// These are systems of diagonal matrices, of any size, for the tests of solvers on host and GPU.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "tests/solvers/operators_to_solve.hpp"

namespace tessera::testing {

/// `count` different eigenvalues from 1 to `largest`, each many times.
inline std::vector<double> eigenvalues(int n, int count, double largest) {
  std::vector<double> values;
  values.reserve(n);
  for (int i = 0; i < n; ++i) {
    values.push_back(1.0 + (largest - 1.0) * static_cast<double>(i % count) / (count - 1));
  }
  return values;
}

inline std::vector<double> wavy(int n) {
  std::vector<double> values;
  values.reserve(n);
  for (int i = 0; i < n; ++i) values.push_back(std::sin(0.37 * i) + 0.2);
  return values;
}

/// ||b - D x|| / ||b||.
template <class T, class Space>
double relative_residual(const std::vector<double>& d, const std::vector<double>& b,
                         const Vector<T, Space>& x) {
  const HostVector<T> values = on_host(x);
  double rr = 0.0;
  double bb = 0.0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double r = b[i] - d[i] * static_cast<double>(values[i]);
    rr += r * r;
    bb += b[i] * b[i];
  }
  return std::sqrt(rr / bb);
}

/// A wavy right-hand side, n eigenvalues up to `largest`, and one preconditioner of each kind.
template <class T, class Space>
class DiagonalSystem {
 public:
  DiagonalSystem(int n, double largest)
      : d_(eigenvalues(n, n, largest)), b_(wavy(n)), a_(d_), jacobi_(a_), opaque_(scaling()) {}

  const DiagonalOperator<T, Space>& a() const { return a_; }
  int size() const { return static_cast<int>(b_.size()); }
  Vector<T, Space> b() const { return vector_in<T, Space>(b_); }
  std::array<Preconditioning<T, Space>, 3> preconditioners() const {
    return {nullptr, &jacobi_, &opaque_};
  }
  double residual_of(const Vector<T, Space>& x) const { return relative_residual(d_, b_, x); }

 private:
  // Not the inverse, so that there is something to iterate.
  std::vector<double> scaling() const {
    std::vector<double> values;
    values.reserve(d_.size());
    for (const double entry : d_) values.push_back(1.0 / std::sqrt(entry));
    return values;
  }

  std::vector<double> d_;
  std::vector<double> b_;
  DiagonalOperator<T, Space> a_;
  Jacobi<T, Space> jacobi_;
  OpaqueScaling<T, Space> opaque_;
};

}  // namespace tessera::testing
