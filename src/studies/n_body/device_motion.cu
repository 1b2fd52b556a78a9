// The kernels that sum forces between particles and move them.
#include <algorithm>

#include "solvers/memory/launch.cuh"
#include "src/studies/n_body/device_motion.hpp"
#include "src/studies/n_body/pair_forces.hpp"

namespace tessera {
namespace {

constexpr int kLanes = 32;  // particles of a tile
constexpr int kWarps = 8;
constexpr int kThreads = kLanes * kWarps;
constexpr std::int64_t kMaxPrivateArrays = 256;

struct Gravity {
  __device__ static PlaneVector on(const Body& a, const Body& b, int /*i*/, int /*j*/) {
    const double dx = b.x - a.x;
    const double dy = b.y - a.y;
    const double factor = attraction(a.mass, b.mass, dx * dx + dy * dy);
    return {factor * dx, factor * dy};
  }
};

struct Counting {
  __device__ static PlaneVector on(const Body& /*a*/, const Body& /*b*/, int i, int j) {
    return {counted(i, j), 0.0};
  }
};

__device__ void add(PlaneVector& sum, const PlaneVector& force) {
  sum.x += force.x;
  sum.y += force.y;
}

__device__ void subtract(PlaneVector& sum, const PlaneVector& force) {
  sum.x -= force.x;
  sum.y -= force.y;
}

__device__ PlaneVector sum_of_warps(const PlaneVector (&parts)[kWarps][kLanes], int lane) {
  PlaneVector sum;
  for (int warp = 0; warp < kWarps; ++warp) add(sum, parts[warp][lane]);
  return sum;
}

// A block has 32 particles, one a lane; each of its warps takes an eighth of all others. Every
// particle is read once a block, from shared memory by all lanes at the same time.
template <class Pair>
__global__ void __launch_bounds__(kThreads)
    twice_kernel(int n, const Body* __restrict__ bodies, PlaneVector* __restrict__ forces) {
  __shared__ Body tile[kThreads];
  __shared__ PlaneVector parts[kWarps][kLanes];
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % kLanes;
  const int warp = thread / kLanes;
  const int i = static_cast<int>(blockIdx.x) * kLanes + lane;
  const Body own = bodies[min(i, n - 1)];
  PlaneVector sum;
  for (int base = 0; base < n; base += kThreads) {
    if (base + thread < n) tile[thread] = bodies[base + thread];
    __syncthreads();
    const int end = min((warp + 1) * kLanes, n - base);
    for (int k = warp * kLanes; k < end; ++k) add(sum, Pair::on(own, tile[k], i, base + k));
    __syncthreads();
  }
  parts[warp][lane] = sum;
  __syncthreads();
  if (warp == 0 && i < n) forces[i] = sum_of_warps(parts, lane);
}

// The pairs i < j of two tiles, by a warp: a lane has one i, and at each step another j than all
// other lanes. Calls add_to_j(j, force on i), then waits for the warp. @returns the force on i
template <class Pair, class AddToJ>
__device__ PlaneVector add_tiles(int n, const Body* __restrict__ bodies, int tile_i, int tile_j,
                                 int lane, AddToJ&& add_to_j) {
  const int i = tile_i * kLanes + lane;
  const Body own = bodies[min(i, n - 1)];
  PlaneVector sum;
  for (int k = 0; k < kLanes; ++k) {
    const int j = tile_j * kLanes + (lane + k) % kLanes;
    if (i < j && j < n) {
      const PlaneVector force = Pair::on(own, bodies[j], i, j);
      add(sum, force);
      add_to_j(j, force);
    }
    __syncwarp();
  }
  return sum;
}

// A warp a pair of tiles. Launch: ceil(tiles / kWarps) x tiles blocks; forces are 0 at the start.
template <class Pair>
__global__ void __launch_bounds__(kThreads)
    atomic_kernel(int n, const Body* __restrict__ bodies, PlaneVector* forces) {
  const int tiles = (n + kLanes - 1) / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int tile_i = static_cast<int>(blockIdx.y);
  const int tile_j = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / kLanes;
  if (tile_j < tile_i || tile_j >= tiles) return;
  const auto add_to = [forces](int at, const PlaneVector& force, double sign) {
    atomicAdd(&forces[at].x, sign * force.x);
    atomicAdd(&forces[at].y, sign * force.y);
  };
  const PlaneVector sum =
      add_tiles<Pair>(n, bodies, tile_i, tile_j, lane,
                      [&](int j, const PlaneVector& force) { add_to(j, force, -1.0); });
  if (tile_i * kLanes + lane < n) add_to(tile_i * kLanes + lane, sum, 1.0);
}

// Blocks take tiles i in turn, and their warps different tiles j, so that no two threads ever add
// to the same entry of the block's own array at a time.
template <class Pair>
__global__ void __launch_bounds__(kThreads)
    private_kernel(int n, const Body* __restrict__ bodies, PlaneVector* arrays) {
  __shared__ PlaneVector parts[kWarps][kLanes];
  PlaneVector* const own = arrays + static_cast<std::int64_t>(blockIdx.x) * n;
  for (int i = static_cast<int>(threadIdx.x); i < n; i += kThreads) own[i] = {};
  __syncthreads();
  const int tiles = (n + kLanes - 1) / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int warp = static_cast<int>(threadIdx.x) / kLanes;
  for (int tile_i = static_cast<int>(blockIdx.x); tile_i < tiles;
       tile_i += static_cast<int>(gridDim.x)) {
    PlaneVector sum;
    for (int tile_j = tile_i + warp; tile_j < tiles; tile_j += kWarps) {
      add(sum,
          add_tiles<Pair>(n, bodies, tile_i, tile_j, lane,
                          [own](int j, const PlaneVector& force) { subtract(own[j], force); }));
    }
    parts[warp][lane] = sum;
    __syncthreads();
    const int i = tile_i * kLanes + lane;
    if (warp == 0 && i < n) add(own[i], sum_of_warps(parts, lane));
    // The next tiles may be those of another warp here, and write `parts` again.
    __syncthreads();
  }
}

__global__ void __launch_bounds__(kThreads)
    sum_arrays_kernel(int n, std::int64_t arrays, const PlaneVector* __restrict__ from,
                      PlaneVector* __restrict__ forces) {
  const std::int64_t i = thread_number<kThreads>();
  if (i >= n) return;
  PlaneVector sum;
  for (std::int64_t array = 0; array < arrays; ++array) add(sum, from[array * n + i]);
  forces[i] = sum;
}

__device__ void kick(PlaneVector& velocity, const PlaneVector& force, double mass) {
  velocity.x += 0.5 * kTimeStep / mass * force.x;
  velocity.y += 0.5 * kTimeStep / mass * force.y;
}

__global__ void __launch_bounds__(kThreads)
    kick_and_drift_kernel(int n, const PlaneVector* __restrict__ forces,
                          PlaneVector* __restrict__ velocities, Body* __restrict__ bodies) {
  const std::int64_t i = thread_number<kThreads>();
  if (i >= n) return;
  kick(velocities[i], forces[i], bodies[i].mass);
  bodies[i].x += kTimeStep * velocities[i].x;
  bodies[i].y += kTimeStep * velocities[i].y;
}

__global__ void __launch_bounds__(kThreads)
    kick_kernel(int n, const PlaneVector* __restrict__ forces, const Body* __restrict__ bodies,
                PlaneVector* __restrict__ velocities) {
  const std::int64_t i = thread_number<kThreads>();
  if (i < n) kick(velocities[i], forces[i], bodies[i].mass);
}

std::int64_t tiles_of(std::int64_t n) { return (n + kLanes - 1) / kLanes; }

std::vector<Body> bodies_of(const Particles& particles) {
  std::vector<Body> bodies;
  bodies.reserve(particles.size());
  for (std::size_t i = 0; i < particles.size(); ++i) {
    bodies.push_back({particles.x[i], particles.y[i], particles.mass[i]});
  }
  return bodies;
}

}  // namespace

DeviceMotion::DeviceMotion(const Particles& start, DeviceForceSums sums)
    : sums_(sums),
      start_(bodies_of(start)),
      bodies_(start_),
      velocities_(bodies_.size()),
      forces_(bodies_.size()) {
  if (sums == DeviceForceSums::private_sums) {
    private_arrays_ = std::min(tiles_of(bodies_.size()), kMaxPrivateArrays);
    private_ = DeviceArray<PlaneVector>(private_arrays_ * bodies_.size());
  }
  put_back();
}

void DeviceMotion::put_back() {
  copy_to_device(start_.data(), bodies_.bytes(), bodies_.data());
  zero_on_device(velocities_.data(), velocities_.bytes());
}

template <class Pair>
void DeviceMotion::add_up_with() {
  const int n = static_cast<int>(bodies_.size());
  const std::int64_t tiles = tiles_of(n);
  switch (sums_) {
    case DeviceForceSums::twice:
      launch(twice_kernel<Pair>, {"summing all forces", blocks_for(n, kLanes), kThreads}, n,
             bodies_.data(), forces_.data());
      break;
    case DeviceForceSums::atomic:
      zero_on_device(forces_.data(), forces_.bytes());
      launch(atomic_kernel<Pair>,
             {"adding forces atomically",
              dim3(blocks_for(tiles, kWarps), static_cast<unsigned>(tiles)), kThreads},
             n, bodies_.data(), forces_.data());
      break;
    case DeviceForceSums::private_sums:
      launch(private_kernel<Pair>,
             {"adding forces privately", static_cast<unsigned>(private_arrays_), kThreads}, n,
             bodies_.data(), private_.data());
      launch(sum_arrays_kernel, {"summing private forces", blocks_for(n, kThreads), kThreads}, n,
             private_arrays_, private_.data(), forces_.data());
      break;
  }
}

void DeviceMotion::add_up(PairForce force) {
  if (force == PairForce::gravity) {
    add_up_with<Gravity>();
  } else {
    add_up_with<Counting>();
  }
}

void DeviceMotion::step(int steps) {
  const int n = static_cast<int>(bodies_.size());
  const unsigned blocks = blocks_for(n, kThreads);
  for (int k = 0; k < steps; ++k) {
    launch(kick_and_drift_kernel, {"moving particles", blocks, kThreads}, n, forces_.data(),
           velocities_.data(), bodies_.data());
    add_up(PairForce::gravity);
    launch(kick_kernel, {"kicking particles", blocks, kThreads}, n, forces_.data(), bodies_.data(),
           velocities_.data());
  }
}

Particles DeviceMotion::particles() const {
  Particles particles;
  for (const Body& body : to_host(bodies_)) {
    particles.x.push_back(body.x);
    particles.y.push_back(body.y);
    particles.mass.push_back(body.mass);
  }
  return particles;
}

}  // namespace tessera
