// This file makes particles and judges sums of their forces.
#include "src/studies/n_body/particles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mesh/larger_or_nan.hpp"
#include "solvers/memory/hashed_value.hpp"
#include "src/studies/n_body/pair_forces.hpp"

namespace tessera {
namespace {

constexpr double kTolerance = 1e-12;

double length(const PlaneVector& v) { return std::hypot(v.x, v.y); }

}  // namespace

Particles make_particles(std::size_t n, std::uint64_t seed) {
  Particles particles;
  for (std::size_t i = 0; i < n; ++i) {
    const auto number = static_cast<std::int64_t>(3 * (seed * n + i));
    particles.x.push_back(2.0 * hashed_value(number));
    particles.y.push_back(2.0 * hashed_value(number + 1));
    particles.mass.push_back((1.0 + hashed_value(number + 2)) / static_cast<double>(n));
  }
  return particles;
}

double energy(const Particles& particles, std::span<const PlaneVector> velocities) {
  double energy = 0.0;
  for (std::size_t i = 0; i < particles.size(); ++i) {
    const PlaneVector& v = velocities[i];
    energy += 0.5 * particles.mass[i] * (v.x * v.x + v.y * v.y);
    for (std::size_t j = 0; j < i; ++j) {
      const double dx = particles.x[i] - particles.x[j];
      const double dy = particles.y[i] - particles.y[j];
      energy -= particles.mass[i] * particles.mass[j] /
                std::sqrt(dx * dx + dy * dy + kSoftening * kSoftening);
    }
  }
  return energy;
}

std::string counting_fault(std::span<const PlaneVector> counts) {
  const auto n = static_cast<double>(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = n - 1.0 - 2.0 * static_cast<double>(i);
    if (counts[i].x != expected) {
      return fmt::format("count of particle {} is {}, not {}", i, counts[i].x, expected);
    }
  }
  return "";
}

std::string force_fault(std::span<const PlaneVector> forces,
                        std::span<const PlaneVector> reference) {
  double difference = 0.0;
  double largest = 0.0;
  double sizes = 0.0;
  PlaneVector sum;
  for (std::size_t i = 0; i < forces.size(); ++i) {
    const double own =
        std::max(std::abs(forces[i].x - reference[i].x), std::abs(forces[i].y - reference[i].y));
    difference = larger_or_nan(difference, own);
    largest = std::max(largest, length(reference[i]));
    sizes += length(forces[i]);
    sum.x += forces[i].x;
    sum.y += forces[i].y;
  }
  if (!(difference <= kTolerance * largest)) {
    return fmt::format("forces differ from the serial ones by {:.1e}", difference / largest);
  }
  if (!(length(sum) <= kTolerance * sizes)) {
    return fmt::format("the forces add up to {:.1e} of their sizes", length(sum) / sizes);
  }
  return "";
}

}  // namespace tessera
