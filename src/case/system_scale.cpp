// This file scales a linear system by a power of 2.
#include "src/case/system_scale.hpp"

#include <algorithm>
#include <cmath>

#include "cases/problem/safe_squares.hpp"
#include "operators/form/constrained_rows.hpp"
#include "solvers/memory/device.hpp"
#include "solvers/preconditioners/smoothing_passes.hpp"

namespace tessera {
namespace {

// b counts for the scale only where it is at least this share of x: smaller ones are left to the
// range of single precision, which x must not leave.
constexpr double kMinShare = 0x1p-40;

double largest_start(const LinearSystem& system, const BilinearForm& form) {
  if (!system.start) return largest_entry(system.x);
  double largest = system.start->largest();
  if (const auto& shared = form.layout().shared) shared->ranks().max({&largest, 1});
  return largest;
}

HostVector<double> free_part(const HostVector<double>& b, const BilinearForm& form) {
  HostVector<double> free(b.layout());
  copy(b, free);
  clear_constrained_rows(form, free);
  return free;
}

}  // namespace

double system_scale(const LinearSystem& system, const BilinearForm& form) {
  const double root_n = std::sqrt(static_cast<double>(form.layout().whole_size()));
  double size = system.reference_norm / root_n;
  if (!has_safe_squares(system.reference_norm)) {
    HostVector<double> b = free_part(system.b, form);
    const double largest = power_of_2_next_to(largest_entry(b));
    multiply(b, 1.0 / largest);
    size = largest * (norm(b) / root_n);
  }
  return power_of_2_next_to(std::max(size, kMinShare * largest_start(system, form)));
}

void divide(LinearSystem& system, const BilinearForm& form, double scale) {
  if (scale == 1.0 && has_safe_squares(system.reference_norm)) return;
  multiply(system.x, 1.0 / scale);
  if (system.start) system.start->multiply(1.0 / scale);
  multiply(system.b, 1.0 / scale);
  if constexpr (kHasCuda) {
    for (const auto& vector : {system.b_on_gpu, system.x_on_gpu}) {
      if (vector != nullptr) convert(*vector, 1.0 / scale, *vector);
    }
  }
  system.reference_norm = has_safe_squares(system.reference_norm) ? system.reference_norm / scale
                                                                  : norm(free_part(system.b, form));
}

double power_of_2_next_to(double size) {
  return size > 0.0 && std::isfinite(size) ? std::exp2(std::round(std::log2(size))) : 1.0;
}

double largest_entry(const HostVector<double>& values) {
  double largest = 0.0;
#pragma omp parallel for schedule(static) reduction(max : largest)
  for (Index i = 0; i < values.size(); ++i) largest = std::max(largest, std::abs(values[i]));
  if (const auto& shared = values.layout().shared) shared->ranks().max({&largest, 1});
  return largest;
}

void multiply(HostVector<double>& values, double factor) {
  if (factor == 1.0) return;
#pragma omp parallel for simd schedule(static)
  for (Index i = 0; i < values.size(); ++i) values[i] *= factor;
}

}  // namespace tessera
