// These functions fold values about the middle of mirrored axes.
#pragma once

#include "operators/fast_diagonalization/host_axis.hpp"

namespace tessera {

// (a, b) = (a + b, a - b) for rows of values.
template <class T>
void butterfly(Index n, T* a, T* b) {
  for (Index i = 0; i < n; ++i) {
    const T sum = a[i] + b[i];
    b[i] = a[i] - b[i];
    a[i] = sum;
  }
}

template <class T>
void butterfly(Index n, const T* a, const T* b, T* sum, T* difference) {
  for (Index i = 0; i < n; ++i) {
    const T first = a[i];
    const T second = b[i];
    sum[i] = first + second;
    difference[i] = first - second;
  }
}

// (u_i, u_{n-1-i}) = (u_i + u_{n-1-i}, u_i - u_{n-1-i}).
template <class T>
void fold_row(Index n, T* u) {
  for (Index i = 0; i < n / 2; ++i) {
    const T a = u[i];
    const T b = u[n - 1 - i];
    u[i] = a + b;
    u[n - 1 - i] = a - b;
  }
}

/// Folds or unfolds a plane along x and the middle axis, where these are folded. [m][x]
template <class T>
void fold_plane(const HostAxis<T>& x, const HostAxis<T>& middle, T* plane) {
  const Index n = x.size();
  if (middle.is_folded()) {
    const Index last = middle.size() - 1;
    for (Index m = 0; m < middle.size() / 2; ++m) {
      butterfly(n, plane + m * n, plane + (last - m) * n);
    }
  }
  if (!x.is_folded()) return;
  for (Index m = 0; m < middle.size(); ++m) fold_row(n, plane + m * n);
}

}  // namespace tessera
