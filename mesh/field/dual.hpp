// A Dual is a number with its derivatives with respect to x, y and z.
#pragma once

#include <numbers>

#include "mesh/field/evaluate_program.hpp"

namespace tessera {

/// A value and its gradient; arithmetic and functions follow the chain rule (forward mode of
/// automatic differentiation: Griewank and Walther, Evaluating Derivatives, section 3.1), so that a
/// program run for Duals gives exact derivatives. Where a function is not smooth, as abs at 0, the
/// derivative is that of one side; comparisons and rint have derivative 0.
template <class T>
struct Dual {
  T value;
  T d[3];

  constexpr Dual() = default;
  constexpr explicit Dual(double constant) : Dual(T(constant), T(0.0), T(0.0), T(0.0)) {}
  constexpr Dual(const T& v, const T& dx, const T& dy, const T& dz) : value(v), d{dx, dy, dz} {}
};

/// f(a) from the value and the derivative of f at a.
template <class T>
constexpr Dual<T> chained(const Dual<T>& a, const T& value, const T& derivative) {
  return {value, derivative * a.d[0], derivative * a.d[1], derivative * a.d[2]};
}
/// f(a, b) from the value and the partial derivatives of f.
template <class T>
constexpr Dual<T> chained(const Dual<T>& a, const Dual<T>& b, const T& value, const T& by_a,
                          const T& by_b) {
  return {value, by_a * a.d[0] + by_b * b.d[0], by_a * a.d[1] + by_b * b.d[1],
          by_a * a.d[2] + by_b * b.d[2]};
}
/// What has derivative 0.
template <class T>
constexpr Dual<T> piecewise_constant(const T& value) {
  return {value, T(0.0), T(0.0), T(0.0)};
}

template <class T>
constexpr Dual<T> operator-(const Dual<T>& a) {
  return {-a.value, -a.d[0], -a.d[1], -a.d[2]};
}
template <class T>
constexpr Dual<T> operator+(const Dual<T>& a, const Dual<T>& b) {
  return {a.value + b.value, a.d[0] + b.d[0], a.d[1] + b.d[1], a.d[2] + b.d[2]};
}
template <class T>
constexpr Dual<T> operator-(const Dual<T>& a, const Dual<T>& b) {
  return {a.value - b.value, a.d[0] - b.d[0], a.d[1] - b.d[1], a.d[2] - b.d[2]};
}
template <class T>
constexpr Dual<T> operator*(const Dual<T>& a, const Dual<T>& b) {
  return chained(a, b, a.value * b.value, b.value, a.value);
}
template <class T>
constexpr Dual<T> operator/(const Dual<T>& a, const Dual<T>& b) {
  const T inverse = T(1.0) / b.value;
  const T value = a.value / b.value;
  return chained(a, b, value, inverse, -value * inverse);
}

template <class T>
constexpr Dual<T> less(const Dual<T>& a, const Dual<T>& b) {
  return piecewise_constant(less(a.value, b.value));
}
template <class T>
constexpr Dual<T> less_equal(const Dual<T>& a, const Dual<T>& b) {
  return piecewise_constant(less_equal(a.value, b.value));
}
template <class T>
constexpr Dual<T> equal(const Dual<T>& a, const Dual<T>& b) {
  return piecewise_constant(equal(a.value, b.value));
}
template <class T>
constexpr Dual<T> select(const Dual<T>& condition, const Dual<T>& yes, const Dual<T>& no) {
  const T& c = condition.value;
  return {select(c, yes.value, no.value), select(c, yes.d[0], no.d[0]),
          select(c, yes.d[1], no.d[1]), select(c, yes.d[2], no.d[2])};
}
template <class T>
constexpr Dual<T> floor(const Dual<T>& a) {
  using std::floor;
  return piecewise_constant(floor(a.value));
}

template <class T>
constexpr Dual<T> sin(const Dual<T>& a) {
  using std::cos, std::sin;
  return chained(a, T(sin(a.value)), T(cos(a.value)));
}
template <class T>
constexpr Dual<T> cos(const Dual<T>& a) {
  using std::cos, std::sin;
  return chained(a, T(cos(a.value)), T(-sin(a.value)));
}
template <class T>
constexpr Dual<T> tan(const Dual<T>& a) {
  using std::tan;
  const T value = tan(a.value);
  return chained(a, value, T(1.0) + value * value);
}
template <class T>
constexpr Dual<T> asin(const Dual<T>& a) {
  using std::asin, std::sqrt;
  return chained(a, T(asin(a.value)), T(1.0) / T(sqrt(T(1.0) - a.value * a.value)));
}
template <class T>
constexpr Dual<T> acos(const Dual<T>& a) {
  using std::acos, std::sqrt;
  return chained(a, T(acos(a.value)), T(-1.0) / T(sqrt(T(1.0) - a.value * a.value)));
}
template <class T>
constexpr Dual<T> atan(const Dual<T>& a) {
  using std::atan;
  return chained(a, T(atan(a.value)), T(1.0) / (T(1.0) + a.value * a.value));
}
template <class T>
constexpr Dual<T> sinh(const Dual<T>& a) {
  using std::cosh, std::sinh;
  return chained(a, T(sinh(a.value)), T(cosh(a.value)));
}
template <class T>
constexpr Dual<T> cosh(const Dual<T>& a) {
  using std::cosh, std::sinh;
  return chained(a, T(cosh(a.value)), T(sinh(a.value)));
}
template <class T>
constexpr Dual<T> tanh(const Dual<T>& a) {
  using std::tanh;
  const T value = tanh(a.value);
  return chained(a, value, T(1.0) - value * value);
}
template <class T>
constexpr Dual<T> asinh(const Dual<T>& a) {
  using std::asinh, std::sqrt;
  return chained(a, T(asinh(a.value)), T(1.0) / T(sqrt(a.value * a.value + T(1.0))));
}
template <class T>
constexpr Dual<T> acosh(const Dual<T>& a) {
  using std::acosh, std::sqrt;
  return chained(a, T(acosh(a.value)), T(1.0) / T(sqrt(a.value * a.value - T(1.0))));
}
template <class T>
constexpr Dual<T> atanh(const Dual<T>& a) {
  using std::atanh;
  return chained(a, T(atanh(a.value)), T(1.0) / (T(1.0) - a.value * a.value));
}
template <class T>
constexpr Dual<T> exp(const Dual<T>& a) {
  using std::exp;
  const T value = exp(a.value);
  return chained(a, value, value);
}
template <class T>
constexpr Dual<T> log(const Dual<T>& a) {
  using std::log;
  return chained(a, T(log(a.value)), T(1.0) / a.value);
}
template <class T>
constexpr Dual<T> log2(const Dual<T>& a) {
  using std::log2;
  return chained(a, T(log2(a.value)), T(std::numbers::log2e) / a.value);
}
template <class T>
constexpr Dual<T> log10(const Dual<T>& a) {
  using std::log10;
  return chained(a, T(log10(a.value)), T(std::numbers::log10e) / a.value);
}
template <class T>
constexpr Dual<T> sqrt(const Dual<T>& a) {
  using std::sqrt;
  const T value = sqrt(a.value);
  return chained(a, value, T(0.5) / value);
}
template <class T>
constexpr Dual<T> abs(const Dual<T>& a) {
  using std::abs;
  return chained(a, T(abs(a.value)), less(T(0.0), a.value) - less(a.value, T(0.0)));
}
template <class T>
constexpr Dual<T> atan2(const Dual<T>& a, const Dual<T>& b) {
  using std::atan2;
  const T squares = a.value * a.value + b.value * b.value;
  return chained(a, b, T(atan2(a.value, b.value)), b.value / squares, -a.value / squares);
}
/// Of a constant exponent the logarithm is not asked for: the base may be negative.
template <class T>
constexpr Dual<T> pow(const Dual<T>& a, const Dual<T>& b) {
  using std::log, std::pow;
  const T value = pow(a.value, b.value);
  const T by_base = select(b.value, b.value * T(pow(a.value, b.value - T(1.0))), T(0.0));
  const T by_exponent = value * T(log(a.value));
  const auto derivative = [&](int axis) {
    return by_base * a.d[axis] + select(b.d[axis], by_exponent * b.d[axis], T(0.0));
  };
  return {value, derivative(0), derivative(1), derivative(2)};
}

}  // namespace tessera
