// A Dual is a number with its derivatives in some directions.
#pragma once

#include <numbers>

#include "mesh/field/evaluate_program.hpp"

namespace tessera {

/// A value and its derivatives in some directions; arithmetic and functions follow the chain rule
/// (forward mode of automatic differentiation: Griewank and Walther, Evaluating Derivatives,
/// section 3.1), so that a program run for Duals gives exact derivatives. Where a function is not
/// smooth, as abs at 0, the derivative is that of one side; comparisons and rint have derivative 0.
/// @tparam directions 3 for a gradient, 1 for another derivative, such as that in time
template <class T, int directions = 3>
struct Dual {
  static_assert(directions == 1 || directions == 3);

  T value;
  T d[directions];

  constexpr Dual() = default;
  constexpr explicit Dual(double constant) : value(constant), d{} {}
  constexpr Dual(const T& v, const T& by) requires(directions == 1) : value(v), d{by} {}
  constexpr Dual(const T& v, const T& dx, const T& dy, const T& dz) requires(directions == 3)
      : value(v), d{dx, dy, dz} {}
};

/// The Dual whose derivative in direction k is derivative(k).
template <int directions, class T, class F>
constexpr Dual<T, directions> with_derivatives(const T& value, F&& derivative) {
  if constexpr (directions == 1) {
    return {value, derivative(0)};
  } else {
    return {value, derivative(0), derivative(1), derivative(2)};
  }
}

/// The derivative of f(a) in a direction in which that of a is d. In a single one, such as time,
/// much does not change, and then has derivative 0 even where f has none, as sqrt(x) at x = 0.
template <int directions, class T>
constexpr T along(const T& derivative, const T& d) {
  if constexpr (directions == 1) {
    return select(d, derivative * d, T(0.0));
  } else {
    return derivative * d;
  }
}
/// f(a) from the value and the derivative of f at a.
template <class T, int directions>
constexpr Dual<T, directions> chained(const Dual<T, directions>& a, const T& value,
                                      const T& derivative) {
  return with_derivatives<directions>(value,
                                      [&](int k) { return along<directions>(derivative, a.d[k]); });
}
/// f(a, b) from the value and the partial derivatives of f.
template <class T, int directions>
constexpr Dual<T, directions> chained(const Dual<T, directions>& a, const Dual<T, directions>& b,
                                      const T& value, const T& by_a, const T& by_b) {
  return with_derivatives<directions>(value, [&](int k) {
    return along<directions>(by_a, a.d[k]) + along<directions>(by_b, b.d[k]);
  });
}
/// What has derivative 0.
template <int directions, class T>
constexpr Dual<T, directions> piecewise_constant(const T& value) {
  return with_derivatives<directions>(value, [](int) { return T(0.0); });
}

template <class T, int directions>
constexpr Dual<T, directions> operator-(const Dual<T, directions>& a) {
  return with_derivatives<directions>(T(-a.value), [&](int k) { return -a.d[k]; });
}
template <class T, int directions>
constexpr Dual<T, directions> operator+(const Dual<T, directions>& a,
                                        const Dual<T, directions>& b) {
  return with_derivatives<directions>(T(a.value + b.value), [&](int k) { return a.d[k] + b.d[k]; });
}
template <class T, int directions>
constexpr Dual<T, directions> operator-(const Dual<T, directions>& a,
                                        const Dual<T, directions>& b) {
  return with_derivatives<directions>(T(a.value - b.value), [&](int k) { return a.d[k] - b.d[k]; });
}
template <class T, int directions>
constexpr Dual<T, directions> operator*(const Dual<T, directions>& a,
                                        const Dual<T, directions>& b) {
  return chained(a, b, T(a.value * b.value), b.value, a.value);
}
template <class T, int directions>
constexpr Dual<T, directions> operator/(const Dual<T, directions>& a,
                                        const Dual<T, directions>& b) {
  const T inverse = T(1.0) / b.value;
  const T value = a.value / b.value;
  return chained(a, b, value, inverse, T(-value * inverse));
}

template <class T, int directions>
constexpr Dual<T, directions> less(const Dual<T, directions>& a, const Dual<T, directions>& b) {
  return piecewise_constant<directions>(T(less(a.value, b.value)));
}
template <class T, int directions>
constexpr Dual<T, directions> less_equal(const Dual<T, directions>& a,
                                         const Dual<T, directions>& b) {
  return piecewise_constant<directions>(T(less_equal(a.value, b.value)));
}
template <class T, int directions>
constexpr Dual<T, directions> equal(const Dual<T, directions>& a, const Dual<T, directions>& b) {
  return piecewise_constant<directions>(T(equal(a.value, b.value)));
}
template <class T, int directions>
constexpr Dual<T, directions> select(const Dual<T, directions>& condition,
                                     const Dual<T, directions>& yes,
                                     const Dual<T, directions>& no) {
  const T& c = condition.value;
  return with_derivatives<directions>(T(select(c, yes.value, no.value)),
                                      [&](int k) { return select(c, yes.d[k], no.d[k]); });
}
template <class T, int directions>
constexpr Dual<T, directions> floor(const Dual<T, directions>& a) {
  using std::floor;
  return piecewise_constant<directions>(T(floor(a.value)));
}

template <class T, int directions>
constexpr Dual<T, directions> sin(const Dual<T, directions>& a) {
  using std::cos, std::sin;
  return chained(a, T(sin(a.value)), T(cos(a.value)));
}
template <class T, int directions>
constexpr Dual<T, directions> cos(const Dual<T, directions>& a) {
  using std::cos, std::sin;
  return chained(a, T(cos(a.value)), T(-sin(a.value)));
}
template <class T, int directions>
constexpr Dual<T, directions> tan(const Dual<T, directions>& a) {
  using std::tan;
  const T value = tan(a.value);
  return chained(a, value, T(1.0) + value * value);
}
template <class T, int directions>
constexpr Dual<T, directions> asin(const Dual<T, directions>& a) {
  using std::asin, std::sqrt;
  return chained(a, T(asin(a.value)), T(1.0) / T(sqrt(T(1.0) - a.value * a.value)));
}
template <class T, int directions>
constexpr Dual<T, directions> acos(const Dual<T, directions>& a) {
  using std::acos, std::sqrt;
  return chained(a, T(acos(a.value)), T(-1.0) / T(sqrt(T(1.0) - a.value * a.value)));
}
template <class T, int directions>
constexpr Dual<T, directions> atan(const Dual<T, directions>& a) {
  using std::atan;
  return chained(a, T(atan(a.value)), T(1.0) / (T(1.0) + a.value * a.value));
}
template <class T, int directions>
constexpr Dual<T, directions> sinh(const Dual<T, directions>& a) {
  using std::cosh, std::sinh;
  return chained(a, T(sinh(a.value)), T(cosh(a.value)));
}
template <class T, int directions>
constexpr Dual<T, directions> cosh(const Dual<T, directions>& a) {
  using std::cosh, std::sinh;
  return chained(a, T(cosh(a.value)), T(sinh(a.value)));
}
template <class T, int directions>
constexpr Dual<T, directions> tanh(const Dual<T, directions>& a) {
  using std::tanh;
  const T value = tanh(a.value);
  return chained(a, value, T(1.0) - value * value);
}
template <class T, int directions>
constexpr Dual<T, directions> asinh(const Dual<T, directions>& a) {
  using std::asinh, std::sqrt;
  return chained(a, T(asinh(a.value)), T(1.0) / T(sqrt(a.value * a.value + T(1.0))));
}
template <class T, int directions>
constexpr Dual<T, directions> acosh(const Dual<T, directions>& a) {
  using std::acosh, std::sqrt;
  return chained(a, T(acosh(a.value)), T(1.0) / T(sqrt(a.value * a.value - T(1.0))));
}
template <class T, int directions>
constexpr Dual<T, directions> atanh(const Dual<T, directions>& a) {
  using std::atanh;
  return chained(a, T(atanh(a.value)), T(1.0) / (T(1.0) - a.value * a.value));
}
template <class T, int directions>
constexpr Dual<T, directions> exp(const Dual<T, directions>& a) {
  using std::exp;
  const T value = exp(a.value);
  return chained(a, value, value);
}
template <class T, int directions>
constexpr Dual<T, directions> log(const Dual<T, directions>& a) {
  using std::log;
  return chained(a, T(log(a.value)), T(1.0) / a.value);
}
template <class T, int directions>
constexpr Dual<T, directions> log2(const Dual<T, directions>& a) {
  using std::log2;
  return chained(a, T(log2(a.value)), T(std::numbers::log2e) / a.value);
}
template <class T, int directions>
constexpr Dual<T, directions> log10(const Dual<T, directions>& a) {
  using std::log10;
  return chained(a, T(log10(a.value)), T(std::numbers::log10e) / a.value);
}
template <class T, int directions>
constexpr Dual<T, directions> sqrt(const Dual<T, directions>& a) {
  using std::sqrt;
  const T value = sqrt(a.value);
  return chained(a, value, T(0.5) / value);
}
template <class T, int directions>
constexpr Dual<T, directions> abs(const Dual<T, directions>& a) {
  using std::abs;
  return chained(a, T(abs(a.value)), less(T(0.0), a.value) - less(a.value, T(0.0)));
}
template <class T, int directions>
constexpr Dual<T, directions> atan2(const Dual<T, directions>& a, const Dual<T, directions>& b) {
  using std::atan2;
  const T squares = a.value * a.value + b.value * b.value;
  return chained(a, b, T(atan2(a.value, b.value)), b.value / squares, -a.value / squares);
}
/// Of a constant exponent the logarithm is not asked for: the base may be negative.
template <class T, int directions>
constexpr Dual<T, directions> pow(const Dual<T, directions>& a, const Dual<T, directions>& b) {
  using std::log, std::pow;
  const T value = pow(a.value, b.value);
  const T by_base = select(b.value, b.value * T(pow(a.value, b.value - T(1.0))), T(0.0));
  const T by_exponent = value * T(log(a.value));
  return with_derivatives<directions>(value, [&](int k) {
    return along<directions>(by_base, a.d[k]) + select(b.d[k], by_exponent * b.d[k], T(0.0));
  });
}

}  // namespace tessera
