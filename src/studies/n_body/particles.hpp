// Particles that attract each other, and what their forces must be like.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tessera {

/// Two numbers, x and y.
struct PlaneVector {
  double x = 0.0;
  double y = 0.0;
};

/// Positions and masses of particles.
struct Particles {
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> mass;

  std::size_t size() const { return x.size(); }
};

/// What acts between particles: softened gravity (pair_forces.hpp), or +1 along x on the first of a
/// pair i < j and -1 on the second, of which none can be lost unseen: F_i = n - 1 - 2 i.
enum class PairForce { gravity, counting };

/// Of the leapfrog: v += dt/2 f/m, x += dt v, forces, v += dt/2 f/m.
inline constexpr double kTimeStep = 1e-3;

/// n particles at rest in [-1, 1]^2, all of about the same mass, 1 together.
[[nodiscard]] Particles make_particles(std::size_t n, std::uint64_t seed);

/// sum m v^2 / 2 - sum over pairs of m_i m_j / sqrt(d^2 + kSoftening^2).
[[nodiscard]] double energy(const Particles& particles, std::span<const PlaneVector> velocities);

/// Which sum of PairForce::counting is not exact; empty: all are.
[[nodiscard]] std::string counting_fault(std::span<const PlaneVector> counts);

/// What is wrong with forces: they differ from the reference by more than 1e-12 of its largest, or
/// do not add up to 0 but for 1e-12 of their sizes. Empty: nothing is.
[[nodiscard]] std::string force_fault(std::span<const PlaneVector> forces,
                                      std::span<const PlaneVector> reference);

}  // namespace tessera
