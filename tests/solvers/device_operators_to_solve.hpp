// These are small operators in GPU memory for the tests of solvers.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "solvers/linear_operator.hpp"
#include "solvers/preconditioner.hpp"

namespace tessera::testing {

template <class T>
HostVector<T> host_vector(const std::vector<double>& values) {
  HostVector<T> x(static_cast<std::int64_t>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) x[i] = static_cast<T>(values[i]);
  return x;
}

template <class T>
DeviceVector<T> device_vector(const std::vector<double>& values) {
  DeviceVector<T> x(static_cast<std::int64_t>(values.size()));
  copy(host_vector<T>(values), x);
  return x;
}

// y_i = d_i x_i.
template <class T>
class DeviceDiagonal final : public LinearOperator<T, Device> {
 public:
  explicit DeviceDiagonal(const std::vector<double>& entries)
      : entries_(device_vector<T>(entries)) {}

  std::int64_t size() const override { return entries_.size(); }
  void do_apply(const DeviceVector<T>& x, DeviceVector<T>& y) const override {
    multiply(entries_, x, y);
  }
  void do_diagonal(DeviceVector<T>& d) const override {
    HostVector<T> values(size());
    copy(entries_, values);
    copy(values, d);
  }
  Cost cost() const override { return {}; }
  std::int64_t bytes() const override { return 0; }

 private:
  DeviceVector<T> entries_;
};

// A preconditioner that does not say that it is a diagonal.
template <class T>
class OpaqueScaling final : public Preconditioner<T, Device> {
 public:
  explicit OpaqueScaling(const std::vector<double>& entries)
      : entries_(device_vector<T>(entries)) {}
  std::int64_t size() const override { return entries_.size(); }
  void do_apply(const DeviceVector<T>& r, DeviceVector<T>& z) const override {
    multiply(entries_, r, z);
  }

 private:
  DeviceVector<T> entries_;
};

// `count` different eigenvalues from 1 to `largest`, each many times.
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

template <class T>
double residual(const std::vector<double>& d, const std::vector<double>& b,
                const HostVector<T>& x) {
  double rr = 0.0;
  double bb = 0.0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double r = b[i] - d[i] * static_cast<double>(x[i]);
    rr += r * r;
    bb += b[i] * b[i];
  }
  return std::sqrt(rr / bb);
}

}  // namespace tessera::testing
