// This file scales a solution on the host and computes its numbers.
#include "postprocess/solution_norms.hpp"

namespace tessera {

template <class F>
auto HostSolutionNorms::in_unit(double unit, F&& f) const {
  const std::span<const double> values = u_->span();
  if (unit == 1.0) return f(values);
  HostVector<double> scaled(u_->size());
  axpy(1.0 / unit, *u_, scaled);
  return f(std::span<const double>(scaled.span()));
}

std::array<double, 2> HostSolutionNorms::extrema() const { return tessera::extrema(u_->span()); }

SolutionNumbers HostSolutionNorms::solution_numbers(const ScalarField& coefficient,
                                                    double unit) const {
  return in_unit(unit, [&](std::span<const double> u) {
    return tessera::solution_numbers(*discretization_, u, coefficient);
  });
}

double HostSolutionNorms::integral(double unit) const {
  return in_unit(unit,
                 [&](std::span<const double> u) { return tessera::integral(*discretization_, u); });
}

MeanParts HostSolutionNorms::mean_parts(double unit) const {
  return in_unit(
      unit, [&](std::span<const double> u) { return tessera::mean_parts(*discretization_, u); });
}

MeanParts HostSolutionNorms::mean_parts(const ScalarField& field) const {
  return tessera::mean_parts(*discretization_, field);
}

ErrorNorms HostSolutionNorms::error_norms(const ScalarField& exact, double unit) const {
  return in_unit(unit, [&](std::span<const double> u) {
    return tessera::error_norms(*discretization_, u, exact);
  });
}

double HostSolutionNorms::max_error(const ScalarField& exact, double unit) const {
  return in_unit(unit, [&](std::span<const double> u) {
    return tessera::max_error(*discretization_, u, exact);
  });
}

void HostSolutionNorms::subtract(double constant) { tessera::subtract(constant, *u_); }

void subtract(double constant, HostVector<double>& values) {
#pragma omp parallel for simd schedule(static)
  for (Index i = 0; i < values.size(); ++i) values[i] -= constant;
}

}  // namespace tessera
