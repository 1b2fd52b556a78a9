// This file sums over Robin faces on the GPU.
#include "operators/form/device_robin_faces.hpp"
#include "operators/form/robin_faces.hpp"
#include "solvers/memory/launch.cuh"

namespace tessera {
namespace {

constexpr int kThreads = 64;

template <class T>
struct FaceArguments {
  int degree;
  FaceNodes nodes;
  unsigned fixed;
  int first_cell[2];  // of the color
  int color_cells[2];
  int row_cells;
  int points_per_cell;
  int nodes_per_cell;
  const T* shape;
  const T* alpha_measure;
};

struct FaceNode {
  Index lattice;
  bool fixed;
};

template <class T>
__device__ FaceNode face_node(const FaceArguments<T>& face, const int (&cell)[2], int local) {
  const int n = face.degree + 1;
  const int in_cell[2] = {local % n, local / n};
  int at[2];
  bool fixed = false;
  for (int t = 0; t < 2; ++t) {
    at[t] = face.degree * cell[t] + in_cell[t];
    if (at[t] == 0 && (face.fixed >> (2 * t) & 1U) != 0U) fixed = true;
    const int last = static_cast<int>(face.nodes.counts[t]) - 1;
    if (at[t] == last && (face.fixed >> (2 * t) & 2U) != 0U) fixed = true;
  }
  return {face.nodes.node(at[0], at[1]), fixed};
}

// The face cell of the block: cells of one color are two apart.
template <class T>
__device__ const T* locate_cell(const FaceArguments<T>& face, int (&cell)[2]) {
  const int block = static_cast<int>(blockIdx.x);
  cell[0] = face.first_cell[0] + 2 * (block % face.color_cells[0]);
  cell[1] = face.first_cell[1] + 2 * (block / face.color_cells[0]);
  const Index number = cell[0] + static_cast<Index>(face.row_cells) * cell[1];
  return face.alpha_measure + number * face.points_per_cell;
}

// Room for u and for the values at the points in shared memory: loops that the compiler unrolls by
// four may read, and not use, what lies behind.
__host__ __device__ constexpr int padded(int values) { return (values + 3) / 4 * 4; }

// v_i = sum_q phi_i(q) alpha_q dS_q sum_j phi_j(q) u_j. One block a face cell; shared memory: u and
// the values at the points. Cells of one launch share no node: deterministic.
template <class T>
__global__ void __launch_bounds__(kThreads)
    add_faces_kernel(const FaceArguments<T> face, const T* x, T* y) {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  T* const u = reinterpret_cast<T*>(shared_memory);
  T* const at_points = u + padded(face.nodes_per_cell);
  int cell[2];
  const T* weights = locate_cell(face, cell);
  for (int i = threadIdx.x; i < face.nodes_per_cell; i += kThreads) {
    const FaceNode node = face_node(face, cell, i);
    u[i] = node.fixed ? T{0} : x[node.lattice];
  }
  __syncthreads();
  for (int q = threadIdx.x; q < face.points_per_cell; q += kThreads) {
    T value{0};
    for (int i = 0; i < face.nodes_per_cell; ++i) {
      value += face.shape[q * face.nodes_per_cell + i] * u[i];
    }
    at_points[q] = value * weights[q];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < face.nodes_per_cell; i += kThreads) {
    const FaceNode node = face_node(face, cell, i);
    if (node.fixed) continue;
    T value{0};
    for (int q = 0; q < face.points_per_cell; ++q) {
      value += face.shape[q * face.nodes_per_cell + i] * at_points[q];
    }
    y[node.lattice] += value;
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    add_face_diagonal_kernel(const FaceArguments<T> face, T* d) {
  int cell[2];
  const T* weights = locate_cell(face, cell);
  for (int i = threadIdx.x; i < face.nodes_per_cell; i += kThreads) {
    T value{0};
    for (int q = 0; q < face.points_per_cell; ++q) {
      const T shape = face.shape[q * face.nodes_per_cell + i];
      value += shape * shape * weights[q];
    }
    d[face_node(face, cell, i).lattice] += value;
  }
}

template <class T>
std::vector<T> converted(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

template <class T>
DeviceRobinFaces<T>::DeviceRobinFaces(const BilinearForm& form)
    : degree_(form.discretization->lattice.degree()) {
  for (const WeightedFace& weighted : make_weighted_faces(form)) {
    const FaceQuadrature& quadrature = weighted.quadrature;
    Face face{quadrature.nodes,
              {static_cast<int>(quadrature.cells[0]), static_cast<int>(quadrature.cells[1])},
              0U,
              quadrature.points_per_cell,
              quadrature.nodes_per_cell,
              DeviceArray<T>(converted<T>(quadrature.shape)),
              DeviceArray<T>(converted<T>(weighted.alpha_measure))};
    for (int t = 0; t < quadrature.dimension - 1; ++t) {
      const int axis = quadrature.nodes.axes[t];
      if (form.dirichlet[2 * axis]) face.fixed |= 1U << (2 * t);
      if (form.dirichlet[2 * axis + 1]) face.fixed |= 2U << (2 * t);
    }
    faces_.push_back(std::move(face));
  }
}

// f(arguments, blocks) for each face and color that has cells.
template <class T>
template <class F>
void DeviceRobinFaces<T>::for_each_color(F&& f) const {
  for (const Face& face : faces_) {
    for (int color = 0; color < 4; ++color) {
      const int first[2] = {color % 2, color / 2};
      const int count[2] = {(face.cells[0] - first[0] + 1) / 2, (face.cells[1] - first[1] + 1) / 2};
      if (count[0] <= 0 || count[1] <= 0) continue;
      const FaceArguments<T> arguments{degree_,
                                       face.nodes,
                                       face.fixed,
                                       {first[0], first[1]},
                                       {count[0], count[1]},
                                       face.cells[0],
                                       face.points_per_cell,
                                       face.nodes_per_cell,
                                       face.shape.data(),
                                       face.alpha_measure.data()};
      f(arguments, static_cast<unsigned>(count[0]) * static_cast<unsigned>(count[1]));
    }
  }
}

template <class T>
void DeviceRobinFaces<T>::add(const DeviceVector<T>& x, DeviceVector<T>& y) const {
  for_each_color([&](const FaceArguments<T>& face, unsigned blocks) {
    const std::size_t shared =
        (padded(face.nodes_per_cell) + padded(face.points_per_cell)) * sizeof(T);
    launch(add_faces_kernel<T>, {"Robin faces", blocks, kThreads, shared}, face, x.data(),
           y.data());
  });
}

template <class T>
void DeviceRobinFaces<T>::add_diagonal(DeviceVector<T>& d) const {
  for_each_color([&](const FaceArguments<T>& face, unsigned blocks) {
    launch(add_face_diagonal_kernel<T>, {"diagonal of Robin faces", blocks, kThreads}, face,
           d.data());
  });
}

template <class T>
Index DeviceRobinFaces<T>::bytes() const {
  Index sum = 0;
  for (const Face& face : faces_) sum += face.shape.bytes() + face.alpha_measure.bytes();
  return sum;
}

template class DeviceRobinFaces<double>;
template class DeviceRobinFaces<float>;

}  // namespace tessera
