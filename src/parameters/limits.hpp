// These are the limits of key values.
#pragma once

namespace tessera {

/// The highest polynomial degree.
inline constexpr int kMaxDegree = 32;
/// The most quadrature points along an axis.
inline constexpr int kMaxPoints = 40;
inline constexpr int kMaxThreads = 4096;
/// The most processes that share a case.
inline constexpr int kMaxRanks = 100'000;
/// The most cells along an axis whose grid lines are stored.
inline constexpr int kMaxGradedCells = 1'000'000;

/// The most steps of a smoother, sweeps of a preconditioner or degree of its polynomial.
inline constexpr int kMaxSmootherDegree = 100;

/// The most directions that flexible GMRES keeps.
inline constexpr int kMaxRestart = 1000;

/// The least relative tolerance of solves in single precision, below which rounding keeps
/// residuals.
inline constexpr double kMinSingleTolerance = 1e-6;

/// The highest order of a method in time.
inline constexpr int kMaxTimeOrder = 5;
/// The most solutions that a case in time writes.
inline constexpr int kMaxOutputs = 1'000'000;

}  // namespace tessera
