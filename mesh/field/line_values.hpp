// LineValues are the numbers of a field's program at the points of a line.
#pragma once

#include <cmath>

#include "mesh/field/dual.hpp"

namespace tessera {

/// Values at m points, for which a thread runs a program once: an instruction's decoding, which
/// costs more than its arithmetic, is shared by all of them.
template <int m>
struct LineValues {
  double v[m];

  constexpr LineValues() = default;
  constexpr explicit LineValues(double value) {
    for (int q = 0; q < m; ++q) v[q] = value;
  }
};

// What is not constexpr, and so of both sides, a program's instance would leave out unsaid.
static_assert(LineValues<2>(1.0).v[1] == 1.0);

/// f(a_q), and f(a_q, b_q), compiled for each point.
template <int m, class F>
constexpr LineValues<m> at_points(const LineValues<m>& a, F&& f) {
  LineValues<m> result;
  for (int q = 0; q < m; ++q) result.v[q] = f(a.v[q]);
  return result;
}
template <int m, class F>
constexpr LineValues<m> at_points(const LineValues<m>& a, const LineValues<m>& b, F&& f) {
  LineValues<m> result;
  for (int q = 0; q < m; ++q) result.v[q] = f(a.v[q], b.v[q]);
  return result;
}
/// The same, compiled once: of long functions.
template <int m, class F>
constexpr LineValues<m> one_by_one(const LineValues<m>& a, F&& f) {
  LineValues<m> result = a;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (int q = 0; q < m; ++q) result.v[q] = f(result.v[q]);
  return result;
}
template <int m, class F>
constexpr LineValues<m> one_by_one(const LineValues<m>& a, const LineValues<m>& b, F&& f) {
  LineValues<m> result = a;
  const LineValues<m> other = b;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (int q = 0; q < m; ++q) result.v[q] = f(result.v[q], other.v[q]);
  return result;
}

template <int m>
constexpr LineValues<m> operator-(const LineValues<m>& a) {
  return at_points(a, [](double x) { return -x; });
}
template <int m>
constexpr LineValues<m> operator+(const LineValues<m>& a, const LineValues<m>& b) {
  return at_points(a, b, [](double x, double y) { return x + y; });
}
template <int m>
constexpr LineValues<m> operator-(const LineValues<m>& a, const LineValues<m>& b) {
  return at_points(a, b, [](double x, double y) { return x - y; });
}
template <int m>
constexpr LineValues<m> operator*(const LineValues<m>& a, const LineValues<m>& b) {
  return at_points(a, b, [](double x, double y) { return x * y; });
}
template <int m>
constexpr LineValues<m> operator/(const LineValues<m>& a, const LineValues<m>& b) {
  return one_by_one(a, b, [](double x, double y) { return x / y; });
}

template <int m>
constexpr LineValues<m> less(const LineValues<m>& a, const LineValues<m>& b) {
  return at_points(a, b, [](double x, double y) { return less(x, y); });
}
template <int m>
constexpr LineValues<m> less_equal(const LineValues<m>& a, const LineValues<m>& b) {
  return at_points(a, b, [](double x, double y) { return less_equal(x, y); });
}
template <int m>
constexpr LineValues<m> equal(const LineValues<m>& a, const LineValues<m>& b) {
  return at_points(a, b, [](double x, double y) { return equal(x, y); });
}
template <int m>
constexpr LineValues<m> select(const LineValues<m>& condition, const LineValues<m>& yes,
                               const LineValues<m>& no) {
  LineValues<m> result;
  for (int q = 0; q < m; ++q) result.v[q] = select(condition.v[q], yes.v[q], no.v[q]);
  return result;
}

template <int m>
constexpr LineValues<m> abs(const LineValues<m>& a) {
  return at_points(a, [](double x) { return std::abs(x); });
}
template <int m>
constexpr LineValues<m> floor(const LineValues<m>& a) {
  return at_points(a, [](double x) { return std::floor(x); });
}
template <int m>
constexpr LineValues<m> sqrt(const LineValues<m>& a) {
  return one_by_one(a, [](double x) { return std::sqrt(x); });
}
template <int m>
constexpr LineValues<m> exp(const LineValues<m>& a) {
  return one_by_one(a, [](double x) { return std::exp(x); });
}
template <int m>
constexpr LineValues<m> log(const LineValues<m>& a) {
  return one_by_one(a, [](double x) { return std::log(x); });
}
template <int m>
constexpr LineValues<m> log2(const LineValues<m>& a) {
  return one_by_one(a, [](double x) { return std::log2(x); });
}
template <int m>
constexpr LineValues<m> log10(const LineValues<m>& a) {
  return one_by_one(a, [](double x) { return std::log10(x); });
}
template <int m>
constexpr LineValues<m> sin(const LineValues<m>& a) {
  return one_by_one(a, [](double x) { return std::sin(x); });
}
template <int m>
constexpr LineValues<m> cos(const LineValues<m>& a) {
  return one_by_one(a, [](double x) { return std::cos(x); });
}
template <int m>
constexpr LineValues<m> tan(const LineValues<m>& a) {
  return one_by_one(a, [](double x) { return std::tan(x); });
}
template <int m>
constexpr LineValues<m> asin(const LineValues<m>& a) {
  return one_by_one(a, [](double x) { return std::asin(x); });
}
template <int m>
constexpr LineValues<m> acos(const LineValues<m>& a) {
  return one_by_one(a, [](double x) { return std::acos(x); });
}
template <int m>
constexpr LineValues<m> atan(const LineValues<m>& a) {
  return one_by_one(a, [](double x) { return std::atan(x); });
}
template <int m>
constexpr LineValues<m> sinh(const LineValues<m>& a) {
  return one_by_one(a, [](double x) { return std::sinh(x); });
}
template <int m>
constexpr LineValues<m> cosh(const LineValues<m>& a) {
  return one_by_one(a, [](double x) { return std::cosh(x); });
}
template <int m>
constexpr LineValues<m> tanh(const LineValues<m>& a) {
  return one_by_one(a, [](double x) { return std::tanh(x); });
}
template <int m>
constexpr LineValues<m> asinh(const LineValues<m>& a) {
  return one_by_one(a, [](double x) { return std::asinh(x); });
}
template <int m>
constexpr LineValues<m> acosh(const LineValues<m>& a) {
  return one_by_one(a, [](double x) { return std::acosh(x); });
}
template <int m>
constexpr LineValues<m> atanh(const LineValues<m>& a) {
  return one_by_one(a, [](double x) { return std::atanh(x); });
}
template <int m>
constexpr LineValues<m> pow(const LineValues<m>& a, const LineValues<m>& b) {
  return one_by_one(a, b, [](double x, double y) { return std::pow(x, y); });
}
template <int m>
constexpr LineValues<m> atan2(const LineValues<m>& a, const LineValues<m>& b) {
  return one_by_one(a, b, [](double x, double y) { return std::atan2(x, y); });
}

}  // namespace tessera
