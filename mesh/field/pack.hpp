// A Pack holds the values of one quantity at several points, in SIMD registers.
#pragma once

#include "mesh/lanes/simd.hpp"

namespace tessera {

/// Values at kPoints points. Functions are those of the system's vector library where it has one
/// (glibc's libmvec: at most 4 units in the last place off), else of <cmath>, point by point;
/// which of both it is does not depend on where in a pack a point is.
struct Pack {
  static constexpr int kRegisters = 8;
  static constexpr int kPoints = kRegisters * kLanes<double>;

  Lanes<double> lanes[kRegisters];

  Pack() = default;
  explicit Pack(double value) {
    for (Lanes<double>& one : lanes) one = broadcast(value);
  }
};

/// f(a) register by register.
template <class F>
inline Pack mapped(const Pack& a, F&& f) {
  Pack result;
  for (int r = 0; r < Pack::kRegisters; ++r) result.lanes[r] = f(a.lanes[r]);
  return result;
}
template <class F>
inline Pack mapped(const Pack& a, const Pack& b, F&& f) {
  Pack result;
  for (int r = 0; r < Pack::kRegisters; ++r) result.lanes[r] = f(a.lanes[r], b.lanes[r]);
  return result;
}

inline Pack operator-(const Pack& a) {
  return mapped(a, [](Lanes<double> v) { return -v; });
}
inline Pack operator+(const Pack& a, const Pack& b) {
  return mapped(a, b, [](Lanes<double> v, Lanes<double> w) { return v + w; });
}
inline Pack operator-(const Pack& a, const Pack& b) {
  return mapped(a, b, [](Lanes<double> v, Lanes<double> w) { return v - w; });
}
inline Pack operator*(const Pack& a, const Pack& b) {
  return mapped(a, b, [](Lanes<double> v, Lanes<double> w) { return v * w; });
}
inline Pack operator/(const Pack& a, const Pack& b) {
  return mapped(a, b, [](Lanes<double> v, Lanes<double> w) { return v / w; });
}
inline Pack less(const Pack& a, const Pack& b) {
  return mapped(a, b, [](Lanes<double> v, Lanes<double> w) {
    return v < w ? broadcast(1.0) : broadcast(0.0);
  });
}
inline Pack less_equal(const Pack& a, const Pack& b) {
  return mapped(a, b, [](Lanes<double> v, Lanes<double> w) {
    return v <= w ? broadcast(1.0) : broadcast(0.0);
  });
}
inline Pack equal(const Pack& a, const Pack& b) {
  return mapped(a, b, [](Lanes<double> v, Lanes<double> w) {
    return v == w ? broadcast(1.0) : broadcast(0.0);
  });
}
inline Pack select(const Pack& condition, const Pack& yes, const Pack& no) {
  Pack result;
  for (int r = 0; r < Pack::kRegisters; ++r) {
    result.lanes[r] = condition.lanes[r] != broadcast(0.0) ? yes.lanes[r] : no.lanes[r];
  }
  return result;
}

Pack abs(const Pack& a);
Pack floor(const Pack& a);
Pack sqrt(const Pack& a);
Pack sin(const Pack& a);
Pack cos(const Pack& a);
Pack tan(const Pack& a);
Pack asin(const Pack& a);
Pack acos(const Pack& a);
Pack atan(const Pack& a);
Pack sinh(const Pack& a);
Pack cosh(const Pack& a);
Pack tanh(const Pack& a);
Pack asinh(const Pack& a);
Pack acosh(const Pack& a);
Pack atanh(const Pack& a);
Pack exp(const Pack& a);
Pack log(const Pack& a);
Pack log2(const Pack& a);
Pack log10(const Pack& a);
Pack atan2(const Pack& a, const Pack& b);
Pack pow(const Pack& a, const Pack& b);

}  // namespace tessera
