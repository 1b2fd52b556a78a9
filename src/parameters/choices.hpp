// These enumerations are the choices that keys allow.
#pragma once

#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>

#include "cases/poisson_problem.hpp"
#include "mesh/element/basis_1d.hpp"
#include "mesh/element/quadrature.hpp"
#include "operators/form/factor_storage.hpp"
#include "postprocess/vtk/float_width.hpp"
#include "solvers/solver.hpp"

namespace tessera {

/// Floating-point type of the operator and the solver's vectors.
enum class Precision { double_precision, single_precision };

/// What multigrid halves first; `automatic`: cells up to degree 4 and for a start by full
/// multigrid, which wants errors of one order on all levels, else the degree.
enum class CoarseningChoice { automatic, degree_first, cells_first };

/// What multigrid smooths with on each level.
enum class SmootherChoice { chebyshev, block_jacobi, block_asynchronous_jacobi };

/// How the kernel tensor stores general geometric factors: a FactorStorage, or the one that suits.
enum class FactorsChoice { automatic, stored, compressed, on_the_fly };

/// The choice that names this storage.
constexpr FactorsChoice choice_of(FactorStorage storage) {
  switch (storage) {
    case FactorStorage::stored:
      return FactorsChoice::stored;
    case FactorStorage::compressed:
      return FactorsChoice::compressed;
    case FactorStorage::on_the_fly:
      return FactorsChoice::on_the_fly;
  }
  throw std::logic_error("a storage of factors without a choice");
}

/// The storage that the choice names; nothing for `automatic`.
constexpr std::optional<FactorStorage> storage_of(FactorsChoice choice) {
  switch (choice) {
    case FactorsChoice::automatic:
      return std::nullopt;
    case FactorsChoice::stored:
      return FactorStorage::stored;
    case FactorsChoice::compressed:
      return FactorStorage::compressed;
    case FactorsChoice::on_the_fly:
      return FactorStorage::on_the_fly;
  }
  throw std::logic_error("a choice of factors without a storage");
}

/// Where a run computes.
enum class RunDevice { cpu, cuda };

/// Geometry of a study's meshes: equal boxes, or the study's map.
enum class StudyGeometry { uniform, mapped };

/// Names in files, in the enumerators' order, which the definitions check as they are compiled; see
/// name_of in codec.hpp.
std::span<const std::string_view> enumerator_names(NodeFamily);
std::span<const std::string_view> enumerator_names(QuadratureRule);
std::span<const std::string_view> enumerator_names(Precision);
std::span<const std::string_view> enumerator_names(BoundaryType);
std::span<const std::string_view> enumerator_names(SolverMethod);
std::span<const std::string_view> enumerator_names(SmootherChoice);
std::span<const std::string_view> enumerator_names(CoarseningChoice);
std::span<const std::string_view> enumerator_names(FactorsChoice);
std::span<const std::string_view> enumerator_names(RunDevice);
std::span<const std::string_view> enumerator_names(StudyGeometry);
std::span<const std::string_view> enumerator_names(FloatWidth);

}  // namespace tessera
