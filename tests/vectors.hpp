// These functions make and compare vectors, and apply operators to them, on host and GPU.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "solvers/linear_operator.hpp"
#include "solvers/memory/vector.hpp"
#include "solvers/preconditioner.hpp"
#include "tests/random_values.hpp"

namespace tessera::testing {

template <class T, class Values = std::vector<double>>
HostVector<T> vector_of(const Values& values) {
  HostVector<T> x(static_cast<std::int64_t>(values.size()));
  for (std::int64_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(values[i]);
  return x;
}

/// The same entries in the memory of Space.
template <class Space, class T>
Vector<T, Space> in_space(const HostVector<T>& x) {
  Vector<T, Space> y(x.layout());
  copy(x, y);
  return y;
}
template <class T, class Space, class Values = std::vector<double>>
Vector<T, Space> vector_in(const Values& values) {
  return in_space<Space>(vector_of<T>(values));
}

template <class T, class Space>
HostVector<T> on_host(const Vector<T, Space>& x) {
  HostVector<T> y(x.layout());
  copy(x, y);
  return y;
}
template <class T, class Space>
std::vector<double> values_of(const Vector<T, Space>& x) {
  const HostVector<T> values = testing::on_host(x);
  return {values.data(), values.data() + values.size()};
}

/// A vector whose entries are all NaN: an output that must be overwritten.
template <class T, class Space = Host>
Vector<T, Space> poisoned(std::int64_t n) {
  Vector<T, Space> x(n);
  fill(x, std::numeric_limits<T>::quiet_NaN());
  return x;
}

/// Whether the two hold the same bits.
template <class T>
bool same_bits(const HostVector<T>& a, const HostVector<T>& b) {
  return a.size() == b.size() &&
         (a.size() == 0 ||
          std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(T)) == 0);
}

/// What an operator or a preconditioner in the memory of Space makes of x.
template <class T, class Space>
HostVector<T> applied(const LinearOperator<T, Space>& a, const HostVector<T>& x) {
  Vector<T, Space> y = poisoned<T, Space>(x.size());
  a.apply(in_space<Space>(x), y);
  return testing::on_host(y);
}
template <class T, class Space>
HostVector<T> applied(const Preconditioner<T, Space>& m, const HostVector<T>& r) {
  Vector<T, Space> z = poisoned<T, Space>(r.size());
  m.apply(in_space<Space>(r), z);
  return testing::on_host(z);
}

template <class T, class Space>
HostVector<T> diagonal_of(const LinearOperator<T, Space>& a) {
  Vector<T, Space> d = poisoned<T, Space>(a.size());
  a.diagonal(d);
  return testing::on_host(d);
}

}  // namespace tessera::testing
