// A DeviceMotion is particles in GPU memory that move as their forces tell.
#pragma once

#include <string>
#include <vector>

#include "solvers/memory/device_array.hpp"
#include "src/studies/n_body/particles.hpp"

namespace tessera {

/// How the forces of a step are summed on a GPU.
enum class DeviceForceSums {
  twice,        ///< each thread owns a particle and takes all others, tile by tile in shared memory
  atomic,       ///< pairs of tiles i <= j: the sums of i are kept, those of j added by atomicAdd
  private_sums  ///< the same with a force array a thread block, summed after: no atomics
};

/// A particle as kernels read it.
struct Body {
  double x = 0.0;
  double y = 0.0;
  double mass = 0.0;
};

class DeviceMotion {
 public:
  /// Particles at rest. @throws DeviceOutOfMemory, DeviceError
  DeviceMotion(const Particles& start, DeviceForceSums sums);

  /// Back to the start, at rest.
  void put_back();
  /// Sums the forces at the present positions.
  void add_up(PairForce force);
  /// So many steps of the leapfrog; the forces must be those of the positions.
  void step(int steps);

  [[nodiscard]] std::vector<PlaneVector> forces() const { return to_host(forces_); }
  [[nodiscard]] std::vector<PlaneVector> velocities() const { return to_host(velocities_); }
  [[nodiscard]] Particles particles() const;

 private:
  template <class Pair>
  void add_up_with();

  DeviceForceSums sums_;
  std::vector<Body> start_;
  DeviceArray<Body> bodies_;
  DeviceArray<PlaneVector> velocities_;
  DeviceArray<PlaneVector> forces_;
  // Of DeviceForceSums::private_sums: an array a thread block.
  std::int64_t private_arrays_ = 0;
  DeviceArray<PlaneVector> private_;
};

}  // namespace tessera
