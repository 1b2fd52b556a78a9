// The kernels that assemble a matrix on triangles.
#include <algorithm>

#include "solvers/memory/launch.cuh"
#include "src/studies/assembly/device_assembly.hpp"
#include "src/studies/assembly/triangle_stiffness.hpp"
#include "src/studies/sharing/device_adders.cuh"

namespace tessera {
namespace {

constexpr int kThreads = 128;
constexpr Index kMaxArrays = 32;

// The local matrices of StiffnessMatrices. The kernel's arguments are not known to the compiler, so
// that t stays a chain of operations.
struct DeviceStiffness {
  Index triangles;
  const PlanePoint* points;
  const std::int32_t* corners;
  int operations;
  double half;

  __device__ LocalMatrix operator()(Index triangle) const {
    double t = 1.0;
    for (int k = 0; k < operations; ++k) t = half * t + half;
    return triangle_stiffness<double>(
        {points[corners[triangle]], points[corners[triangles + triangle]],
         points[corners[2 * triangles + triangle]]},
        t);
  }
};

struct DeviceOnes {
  __device__ LocalMatrix operator()(Index /*triangle*/) const {
    return {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
  }
};

struct AddPlainly {
  __device__ static void add(double* entry, double value) { *entry += value; }
};
struct AddUnprotected {
  __device__ static void add(double* entry, double value) { add_unprotected(entry, value); }
};
struct AddAtomically {
  __device__ static void add(double* entry, double value) { atomicAdd(entry, value); }
};
struct AddByCas {
  __device__ static void add(double* entry, double value) { add_by_cas(entry, value); }
};

template <class Adder>
__device__ void add_matrix(const LocalMatrix& matrix, Index triangle, Index triangles,
                           const std::int32_t* __restrict__ places, double* values) {
#pragma unroll
  for (int e = 0; e < kLocalEntries; ++e) {
    Adder::add(&values[places[e * triangles + triangle]], matrix[e]);
  }
}

// A thread a triangle: all of them, or those of a list.
template <class Adder, class Local>
__global__ void __launch_bounds__(kThreads)
    add_kernel(Index count, const std::int32_t* __restrict__ list, Index triangles, Local local,
               const std::int32_t* __restrict__ places, double* values) {
  const Index k = thread_number<kThreads>();
  if (k >= count) return;
  const Index triangle = list == nullptr ? k : list[k];
  add_matrix<Adder>(local(triangle), triangle, triangles, places, values);
}

// A thread a triangle, and an array for each gridDim.x / arrays thread blocks, which are not
// neighbors.
template <class Local>
__global__ void __launch_bounds__(kThreads)
    add_to_arrays_kernel(Index triangles, Local local, const std::int32_t* __restrict__ places,
                         Index entries, Index arrays, double* values) {
  const Index triangle = thread_number<kThreads>();
  if (triangle >= triangles) return;
  add_matrix<AddAtomically>(local(triangle), triangle, triangles, places,
                            values + blockIdx.x % arrays * entries);
}

__global__ void __launch_bounds__(kThreads)
    sum_arrays_kernel(Index entries, Index arrays, const double* __restrict__ from,
                      double* __restrict__ values) {
  const Index k = thread_number<kThreads>();
  if (k >= entries) return;
  double sum = 0.0;
  for (Index array = 0; array < arrays; ++array) sum += from[array * entries + k];
  values[k] = sum;
}

// A thread a row: nobody else adds to its entries.
template <class Local>
__global__ void __launch_bounds__(kThreads)
    rows_kernel(Index rows, const Index* __restrict__ first,
                const std::int32_t* __restrict__ at_points, Index triangles, Local local,
                const std::int32_t* __restrict__ corners, const std::int32_t* __restrict__ places,
                double* __restrict__ values) {
  const Index row = thread_number<kThreads>();
  if (row >= rows) return;
  for (Index k = first[row]; k < first[row + 1]; ++k) {
    const Index triangle = at_points[k];
    const LocalMatrix matrix = local(triangle);
#pragma unroll
    for (int e = 0; e < kLocalEntries; ++e) {
      if (corners[e / 3 * triangles + triangle] != row) continue;
      values[places[e * triangles + triangle]] += matrix[e];
    }
  }
}

template <class Local>
__global__ void __launch_bounds__(kThreads)
    store_kernel(Index triangles, Local local, double* __restrict__ matrices) {
  const Index triangle = thread_number<kThreads>();
  if (triangle >= triangles) return;
  const LocalMatrix matrix = local(triangle);
#pragma unroll
  for (int e = 0; e < kLocalEntries; ++e) matrices[e * triangles + triangle] = matrix[e];
}

__global__ void __launch_bounds__(kThreads)
    gather_kernel(Index entries, const Index* __restrict__ first,
                  const std::int32_t* __restrict__ sources, const double* __restrict__ matrices,
                  double* __restrict__ values) {
  const Index k = thread_number<kThreads>();
  if (k >= entries) return;
  double sum = 0.0;
  for (Index s = first[k]; s < first[k + 1]; ++s) sum += matrices[sources[s]];
  values[k] = sum;
}

std::vector<std::int32_t> corners_of(const TriangleMesh& mesh) {
  const auto triangles = static_cast<Index>(mesh.triangles.size());
  std::vector<std::int32_t> corners(3 * mesh.triangles.size());
  for (Index t = 0; t < triangles; ++t) {
    for (int i = 0; i < 3; ++i) {
      corners[i * triangles + t] = static_cast<std::int32_t>(mesh.triangles[t][i]);
    }
  }
  return corners;
}

std::vector<std::int32_t> narrowed(const std::vector<Index>& numbers) {
  std::vector<std::int32_t> result;
  result.reserve(numbers.size());
  for (const Index number : numbers) result.push_back(static_cast<std::int32_t>(number));
  return result;
}

Launch one_thread_each(const char* name, Index items) {
  return {.name = name, .blocks = dim3(blocks_for(items, kThreads)), .threads = dim3(kThreads)};
}

}  // namespace

DeviceAssembly::DeviceAssembly(const TriangleMesh& mesh, const AssemblyTarget& target,
                               const std::vector<std::vector<Index>>& colors, DeviceAssemblyWay way)
    : way_(way),
      triangles_(static_cast<Index>(mesh.triangles.size())),
      rows_(target.rows),
      points_(mesh.points),
      corners_(corners_of(mesh)),
      places_(target.places),
      values_(target.entries) {
  if (way == DeviceAssemblyWay::coloring) {
    std::vector<std::int32_t> triangles;
    color_begin_.push_back(0);
    for (const std::vector<Index>& color : colors) {
      const std::vector<std::int32_t> own = narrowed(color);
      triangles.insert(triangles.end(), own.begin(), own.end());
      color_begin_.push_back(static_cast<Index>(triangles.size()));
    }
    by_color_ = DeviceArray<std::int32_t>(triangles);
  } else if (way == DeviceAssemblyWay::private_arrays) {
    array_count_ = std::min<Index>(blocks_for(triangles_, kThreads), kMaxArrays);
    arrays_ = DeviceArray<double>(array_count_ * target.entries);
  } else if (way == DeviceAssemblyWay::rows) {
    const PointTriangles at_points = triangles_at_points(mesh);
    first_ = DeviceArray<Index>(at_points.first);
    items_ = DeviceArray<std::int32_t>(narrowed(at_points.triangles));
  } else if (way == DeviceAssemblyWay::gather) {
    const EntrySources entries = entry_sources(target);
    first_ = DeviceArray<Index>(entries.first);
    items_ = DeviceArray<std::int32_t>(entries.sources);
    local_matrices_ = DeviceArray<double>(kLocalEntries * triangles_);
  }
}

Index DeviceAssembly::extra_bytes() const {
  return by_color_.bytes() + arrays_.bytes() + first_.bytes() + items_.bytes() +
         local_matrices_.bytes();
}

double DeviceAssembly::assemble(const Contribution& contribution) {
  zero_on_device(values_.data(), values_.bytes());
  if (array_count_ > 0) zero_on_device(arrays_.data(), arrays_.bytes());
  stopwatch_.start();
  if (contribution.kind == Contribution::Kind::ones) {
    add_up(DeviceOnes{});
  } else {
    constexpr double kHalf = 0.5;
    add_up(DeviceStiffness{triangles_, points_.data(), corners_.data(), contribution.operations,
                           kHalf});
  }
  return stopwatch_.stop();
}

template <class Local>
void DeviceAssembly::add_up(const Local& local) {
  const Launch as = one_thread_each("adding triangles", triangles_);
  const auto add = [&](auto kernel) {
    launch(kernel, as, triangles_, nullptr, triangles_, local, places_.data(), values_.data());
  };
  switch (way_) {
    case DeviceAssemblyWay::unprotected:
      return add(add_kernel<AddUnprotected, Local>);
    case DeviceAssemblyWay::atomic:
      return add(add_kernel<AddAtomically, Local>);
    case DeviceAssemblyWay::cas:
      return add(add_kernel<AddByCas, Local>);
    case DeviceAssemblyWay::coloring:
      return add_colors(local);
    case DeviceAssemblyWay::private_arrays:
      return add_private(local);
    case DeviceAssemblyWay::rows:
      launch(rows_kernel<Local>, one_thread_each("assembling rows", rows_), rows_, first_.data(),
             items_.data(), triangles_, local, corners_.data(), places_.data(), values_.data());
      return;
    case DeviceAssemblyWay::gather:
      return gather(local);
  }
}

template <class Local>
void DeviceAssembly::add_colors(const Local& local) {
  for (std::size_t color = 0; color + 1 < color_begin_.size(); ++color) {
    const Index first = color_begin_[color];
    const Index count = color_begin_[color + 1] - first;
    launch(add_kernel<AddPlainly, Local>, one_thread_each("adding a color", count), count,
           by_color_.data() + first, triangles_, local, places_.data(), values_.data());
  }
}

template <class Local>
void DeviceAssembly::add_private(const Local& local) {
  launch(add_to_arrays_kernel<Local>, one_thread_each("adding to arrays", triangles_), triangles_,
         local, places_.data(), values_.size(), array_count_, arrays_.data());
  launch(sum_arrays_kernel, one_thread_each("summing arrays", values_.size()), values_.size(),
         array_count_, arrays_.data(), values_.data());
}

template <class Local>
void DeviceAssembly::gather(const Local& local) {
  launch(store_kernel<Local>, one_thread_each("storing local matrices", triangles_), triangles_,
         local, local_matrices_.data());
  launch(gather_kernel, one_thread_each("gathering entries", values_.size()), values_.size(),
         first_.data(), items_.data(), local_matrices_.data(), values_.data());
}

}  // namespace tessera
