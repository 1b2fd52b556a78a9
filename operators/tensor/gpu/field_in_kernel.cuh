// These device functions evaluate a field in a kernel that is at its points, and write values.
#pragma once

#include "operators/cells/fields/device_field.cuh"
#include "operators/tensor/gpu/field_at_points.hpp"

namespace tessera {

/// Reports a value of a field that is not allowed. @param number of the point, cell * points + q
__device__ inline void check_in_kernel(const FieldInKernel& f, double value, Index number) {
  if (is_allowed(value, f.allowed)) return;
  atomicMin(reinterpret_cast<unsigned long long*>(f.forbidden),
            static_cast<unsigned long long>(number));
}

/// The value of a field at a point, reported where it is not allowed.
/// @param u there; means nothing to fields that do not depend on it
/// @param number of the point, cell * points + q
__device__ inline double value_in_kernel(const FieldInKernel& f, const double (&x)[3], double u,
                                         Index number) {
  const double value = value_at(f.field, x, u);
  check_in_kernel(f, value, number);
  return value;
}

/// Whether there is an array to write to.
__device__ inline bool is_there(const RoundedValues& values) {
  return values.doubles != nullptr || values.singles != nullptr;
}

__device__ inline void set(const RoundedValues& values, Index i, double value) {
  if (values.singles != nullptr) {
    values.singles[i] = static_cast<float>(value);
  } else {
    values.doubles[i] = value;
  }
}

/// Values i and i + 1, i even.
__device__ inline void set_two(const RoundedValues& values, Index i, double first, double second) {
  if (values.singles != nullptr) {
    *reinterpret_cast<float2*>(values.singles + i) = {static_cast<float>(first),
                                                      static_cast<float>(second)};
  } else {
    *reinterpret_cast<double2*>(values.doubles + i) = {first, second};
  }
}

}  // namespace tessera
