// This file finds the points of quadrature rules by Newton's method on Legendre polynomials.
#include "mesh/element/quadrature.hpp"

#include <cmath>
#include <numbers>
#include <stdexcept>

namespace tessera {
namespace {

struct Legendre {
  double value;       // P_n(x)
  double previous;    // P_{n-1}(x)
  double derivative;  // P_n'(x), |x| < 1
};

Legendre legendre(int n, double x) {
  double previous = 1.0;
  double value = x;
  for (int k = 2; k <= n; ++k) {
    const double next = ((2.0 * k - 1.0) * x * value - (k - 1.0) * previous) / k;
    previous = value;
    value = next;
  }
  return {value, previous, n * (previous - x * value) / (1.0 - x * x)};
}

constexpr int kNewtonSteps = 100;
constexpr double kNewtonTolerance = 1e-16;

// Node i of n on [-1, 1], i below the middle, as the negative of a positive root.
double gauss_root(int n, int i) {
  double x = std::cos(std::numbers::pi * (i + 0.75) / (n + 0.5));
  for (int step = 0; step < kNewtonSteps; ++step) {
    const Legendre l = legendre(n, x);
    const double dx = l.value / l.derivative;
    x -= dx;
    if (std::abs(dx) < kNewtonTolerance) break;
  }
  return x;
}

// Interior Gauss-Lobatto nodes are the roots of P'_{n-1}; (1 - x^2) P'' = 2 x P' - m (m + 1) P.
double lobatto_root(int n, int i) {
  const int m = n - 1;
  double x = std::cos(std::numbers::pi * i / m);
  for (int step = 0; step < kNewtonSteps; ++step) {
    const Legendre l = legendre(m, x);
    const double second = (2.0 * x * l.derivative - m * (m + 1.0) * l.value) / (1.0 - x * x);
    const double dx = l.derivative / second;
    x -= dx;
    if (std::abs(dx) < kNewtonTolerance) break;
  }
  return x;
}

}  // namespace

Quadrature make_quadrature(QuadratureRule rule, int n) {
  const bool lobatto = rule == QuadratureRule::gauss_lobatto;
  if (n < (lobatto ? 2 : 1)) throw std::invalid_argument("too few quadrature points");
  Quadrature quadrature{std::vector<double>(n), std::vector<double>(n)};
  for (int i = 0; i < (n + 1) / 2; ++i) {
    double x = 0.0;
    double weight = 0.0;
    const bool middle = 2 * i + 1 == n;
    if (lobatto) {
      x = i == 0 ? 1.0 : middle ? 0.0 : lobatto_root(n, i);
      const double value = i == 0 ? 1.0 : legendre(n - 1, x).value;
      weight = 1.0 / (n * (n - 1.0) * value * value);
    } else {
      x = middle ? 0.0 : gauss_root(n, i);
      const double derivative = n == 1 ? 1.0 : legendre(n, x).derivative;
      weight = 1.0 / ((1.0 - x * x) * derivative * derivative);
    }
    quadrature.points[i] = 0.5 - 0.5 * x;
    quadrature.points[n - 1 - i] = 0.5 + 0.5 * x;
    quadrature.weights[i] = quadrature.weights[n - 1 - i] = weight;
  }
  return quadrature;
}

}  // namespace tessera
