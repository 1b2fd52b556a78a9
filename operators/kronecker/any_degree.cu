// This file applies the Kronecker operator of any degree on the GPU, slab by slab.
#include <algorithm>

#include "operators/kronecker/any_degree.hpp"
#include "solvers/memory/launch.cuh"

namespace tessera {
namespace {

constexpr int kThreads = 128;
// A slab of planes [first, first + count) of the lattice.
struct Slab {
  int first;
  int count;
};

// Calls f(column, entry, whether the column is free) for the band of row `node` of an axis.
template <class T, class F>
__device__ void for_each_entry(const DeviceAxis<T>& axis, int degree, int node, F&& f) {
  const int cell = node / degree;
  const int i = node - cell * degree;
  const EntryPair<T>* row = axis.rows + static_cast<std::int64_t>(cell) * degree * (degree + 2);
  if (i > 0) row += 2 * degree + 1 + (i - 1) * (degree + 1);
  const int first = i > 0 ? cell * degree : (cell - 1) * degree;
  const int count = i > 0 ? degree + 1 : 2 * degree + 1;
  for (int j = max(0, -first); j < min(count, axis.nodes - first); ++j) {
    f(first + j, row[j], first + j >= axis.first_free && first + j <= axis.last_free);
  }
}

// (M u)_node and (K u)_node along an axis. The rows of K sum to 0, so that (K u)_i is the sum of
// K_ij (u_j - u_i): of the values themselves rounding would leave a reaction term.
template <class T, class Value>
__device__ EntryPair<T> products(const DeviceAxis<T>& axis, int degree, int node, Value&& u) {
  const T own = node >= axis.first_free && node <= axis.last_free ? u(node) : T{0};
  EntryPair<T> sums{T{0}, T{0}};
  for_each_entry(axis, degree, node, [&](int column, EntryPair<T> e, bool is_free) {
    const T value = is_free ? u(column) : T{0};
    sums.mass += e.mass * value;
    sums.stiffness += e.stiffness * (value - own);
  });
  if (node == 0) sums.stiffness += axis.end_term[0] * own;
  if (node == axis.nodes - 1) sums.stiffness += axis.end_term[1] * own;
  return sums;
}

// Calls f({x, y, z}) for this thread's nodes of the slab. A block takes a piece of a row:
// blockIdx.x is the piece, y the row, or one of those that far apart, z the plane of the slab.
constexpr int kMaxBlocksAlongY = 65535;
struct Place {
  int x, y, z;
};
template <class T, class F>
__device__ void for_each_place(const KroneckerData<T>& g, Slab slab, F&& f) {
  const int x = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (x >= g.axis[0].nodes) return;
  for (int y = static_cast<int>(blockIdx.y); y < g.axis[1].nodes;
       y += static_cast<int>(gridDim.y)) {
    f(Place{x, y, static_cast<int>(slab.first + blockIdx.z)});
  }
}

// m = M_x u, k = K_x u on the slab: [plane of the slab][y][x].
template <class T>
__global__ void __launch_bounds__(kThreads)
    along_x_kernel(const KroneckerData<T> g, int degree, Slab slab, T* __restrict__ m,
                   T* __restrict__ k) {
  for_each_place(g, slab, [&](Place at) {
    const T* u = g.v.x + g.nodes.index(0, at.y, at.z);
    const EntryPair<T> sums = products(g.axis[0], degree, at.x, [&](int x) { return u[x]; });
    const std::int64_t to =
        (at.z - slab.first) * g.nodes.strides[2] + at.y * g.nodes.strides[1] + at.x;
    m[to] = sums.mass;
    k[to] = sums.stiffness;
  });
}

// a = M_y k + (K_y + r M_y) m, b = M_y m on the slab.
template <class T>
__global__ void __launch_bounds__(kThreads)
    along_y_kernel(const KroneckerData<T> g, int degree, Slab slab, const T* __restrict__ m,
                   const T* __restrict__ k, T* __restrict__ a, T* __restrict__ b) {
  for_each_place(g, slab, [&](Place at) {
    const std::int64_t plane = g.nodes.index(at.x, 0, at.z - slab.first);
    const auto along_line = [&](const T* values) {
      return products(g.axis[1], degree, at.y,
                      [&](int y) { return values[plane + y * g.nodes.strides[1]]; });
    };
    const EntryPair<T> of_m = along_line(m);
    a[plane + at.y * g.nodes.strides[1]] =
        along_line(k).mass + of_m.stiffness + g.reaction * of_m.mass;
    b[plane + at.y * g.nodes.strides[1]] = of_m.mass;
  });
}

// y = M_z a + K_z b in the planes `to`, of which the slab holds what they need; y = x at
// constrained nodes. In 2D y = a.
template <class T>
__global__ void __launch_bounds__(kThreads)
    along_z_kernel(const KroneckerData<T> g, int degree, int dimension, Slab slab, Slab to,
                   const T* __restrict__ a, const T* __restrict__ b) {
  for_each_place(g, to, [&](Place at) {
    const std::int64_t in_plane = g.nodes.index(at.x, at.y, 0);
    const std::int64_t node = g.nodes.index(at.x, at.y, at.z);
    const int position[3] = {at.x, at.y, at.z};
    bool constrained = false;
    for (int d = 0; d < dimension; ++d) {
      constrained |= position[d] < g.axis[d].first_free || position[d] > g.axis[d].last_free;
    }
    if (constrained) {
      g.v.y[node] = g.v.x[node];
      return;
    }
    if (dimension == 2) {
      g.v.y[node] = a[in_plane];
      return;
    }
    const auto along_line = [&](const T* values) {
      return products(g.axis[2], degree, at.z, [&](int z) {
        return values[(z - slab.first) * g.nodes.strides[2] + in_plane];
      });
    };
    g.v.y[node] = along_line(a).mass + along_line(b).stiffness;
  });
}

}  // namespace

template <class T>
KroneckerAny<T>::KroneckerAny(int degree, int dimension, const KroneckerData<T>& data)
    : degree_(degree),
      dimension_(dimension),
      planes_(static_cast<int>(kronecker_slab_planes(degree, dimension, data.axis[2].nodes))) {
  for (DeviceArray<T>& scratch : scratch_)
    scratch = DeviceArray<T>(planes_ * data.nodes.strides[2]);
}

template <class T>
void KroneckerAny<T>::apply(const KroneckerData<T>& data) const {
  const int planes = data.axis[2].nodes;
  const int step = planes_ == planes ? planes : planes_ - 2 * degree_;
  T* const m = scratch_[0].data();
  T* const k = scratch_[1].data();
  T* const a = scratch_[2].data();
  T* const b = scratch_[3].data();
  for (int first = 0; first < planes; first += step) {
    const Slab to{first, std::min(step, planes - first)};
    const int begin = std::max(0, first - degree_);
    const Slab slab{begin, std::min(planes, first + to.count + degree_) - begin};
    const dim3 grid(blocks_for(data.axis[0].nodes, kThreads),
                    std::min(data.axis[1].nodes, kMaxBlocksAlongY), slab.count);
    launch(along_x_kernel<T>, {"products along x", grid, kThreads}, data, degree_, slab, m, k);
    launch(along_y_kernel<T>, {"products along y", grid, kThreads}, data, degree_, slab, m, k, a,
           b);
    const dim3 to_grid(grid.x, grid.y, to.count);
    launch(along_z_kernel<T>, {"products along z", to_grid, kThreads}, data, degree_, dimension_,
           slab, to, a, b);
  }
}

template class KroneckerAny<double>;
template class KroneckerAny<float>;

}  // namespace tessera
