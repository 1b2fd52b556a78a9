// These device functions write y at a node, once A x is known there.
#pragma once

#include <cstdint>

#include "operators/kronecker/device_data.hpp"
#include "solvers/memory/reduction.cuh"

namespace tessera {

/// What the form wants at a node beside A x: a value, or those of a step.
template <KroneckerPass form, class T>
struct BesideProduct {
  using type = T;
};
template <class T>
struct BesideProduct<KroneckerPass::step, T> {
  struct type {
    T x;
    T b;
    T d;
  };
};
template <KroneckerPass form, class T>
using Beside = typename BesideProduct<form, T>::type;

template <KroneckerPass form, class T>
__device__ __forceinline__ Beside<form, T> load_beside(const KroneckerVectors<T>& v,
                                                       std::int64_t node) {
  if constexpr (form == KroneckerPass::step) {
    return {__ldg(v.x + node), __ldg(v.b + node), __ldg(v.d + node)};
  } else if constexpr (form == KroneckerPass::apply_dot) {
    return __ldg(v.x + node);
  } else if constexpr (form == KroneckerPass::residual) {
    return v.b[node];
  } else {
    return T{0};
  }
}

/// What the form makes of `value` = A x at a node, and what it adds to its sums.
template <KroneckerPass form, class T>
__device__ __forceinline__ void store_result(const KroneckerVectors<T>& v, std::int64_t node,
                                             T value, Beside<form, T> beside, Sums<2>& sums) {
  const auto add = [&](T x, T y) {
    sums[0] += static_cast<double>(x) * static_cast<double>(y);
    sums[1] += static_cast<double>(y) * static_cast<double>(y);
  };
  if constexpr (form == KroneckerPass::residual) {
    value = beside - value;
    add(value, value);
  }
  if constexpr (form == KroneckerPass::apply_dot) add(beside, value);
  if constexpr (form == KroneckerPass::step) {
    value = beside.x + v.scale * beside.d * (beside.b - value);
  }
  v.y[node] = value;
}

/// Calls f with the form as a template argument, of a kernel that is compiled for one or for any.
template <KroneckerPass compiled, class T, class F>
__device__ __forceinline__ void with_form(const KroneckerVectors<T>& v, F&& f) {
  if constexpr (compiled != KroneckerPass::any) {
    f.template operator()<compiled>();
  } else if (v.form == KroneckerPass::apply) {
    f.template operator()<KroneckerPass::apply>();
  } else if (v.form == KroneckerPass::apply_dot) {
    f.template operator()<KroneckerPass::apply_dot>();
  } else {
    f.template operator()<KroneckerPass::residual>();
  }
}

}  // namespace tessera
