// These enumerations are the choices that keys allow, with their names in files.
#pragma once

#include <optional>
#include <stdexcept>

#include "cases/problem/poisson_problem.hpp"
#include "mesh/element/basis_1d.hpp"
#include "mesh/element/quadrature.hpp"
#include "operators/form/factor_storage.hpp"
#include "operators/multigrid/multigrid.hpp"
#include "postprocess/vtk/vtu_options.hpp"
#include "solvers/nonlinear/nonlinear_method.hpp"
#include "solvers/solver.hpp"
#include "solvers/time/time_method.hpp"
#include "src/parameters/names.hpp"

namespace tessera {

/// Floating-point type of the operator and the solver's vectors.
enum class Precision { double_precision, single_precision };

/// What multigrid halves first; `automatic`: cells up to degree 4 and for a start by full
/// multigrid, which wants errors of one order on all levels, else the degree.
enum class CoarseningChoice { automatic, degree_first, cells_first };

/// How the kernel tensor stores general geometric factors: a FactorStorage, or the one that suits.
enum class FactorsChoice { automatic, stored, compressed, on_the_fly };

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

/// The choice that names this storage.
constexpr FactorsChoice choice_of(FactorStorage storage) {
  for (const auto choice :
       {FactorsChoice::stored, FactorsChoice::compressed, FactorsChoice::on_the_fly}) {
    if (storage_of(choice) == storage) return choice;
  }
  throw std::logic_error("a storage of factors without a choice");
}

/// Where a run computes; `automatic`: on a GPU that can be used for the case, else on the CPU.
enum class RunDevice { automatic, cpu, cuda };

/// Geometry of a study's meshes: equal boxes, or the study's map.
enum class StudyGeometry { uniform, mapped };

template <>
inline constexpr auto kNamesOf<NodeFamily> = names_in_order<NodeFamily>(
    {{NodeFamily::gauss_lobatto, "gauss-lobatto"}, {NodeFamily::equidistant, "equidistant"}});
template <>
inline constexpr auto kNamesOf<QuadratureRule> = names_in_order<QuadratureRule>(
    {{QuadratureRule::gauss, "gauss"}, {QuadratureRule::gauss_lobatto, "gauss-lobatto"}});
template <>
inline constexpr auto kNamesOf<Precision> = names_in_order<Precision>(
    {{Precision::double_precision, "double"}, {Precision::single_precision, "single"}});
template <>
inline constexpr auto kNamesOf<BoundaryType> =
    names_in_order<BoundaryType>({{BoundaryType::dirichlet, "dirichlet"},
                                  {BoundaryType::neumann, "neumann"},
                                  {BoundaryType::robin, "robin"}});
template <>
inline constexpr auto kNamesOf<NonlinearMethod> = names_in_order<NonlinearMethod>(
    {{NonlinearMethod::newton, "newton"}, {NonlinearMethod::picard, "picard"}});
template <>
inline constexpr auto kNamesOf<SolverMethod> =
    names_in_order<SolverMethod>({{SolverMethod::cg, "cg"},
                                  {SolverMethod::single_reduction_cg, "single-reduction-cg"},
                                  {SolverMethod::pipelined_cg, "pipelined-cg"},
                                  {SolverMethod::flexible_cg, "flexible-cg"},
                                  {SolverMethod::richardson, "richardson"},
                                  {SolverMethod::flexible_gmres, "flexible-gmres"},
                                  {SolverMethod::bicgstab, "bicgstab"}});
template <>
inline constexpr auto kNamesOf<TimeMethod> =
    names_in_order<TimeMethod>({{TimeMethod::backward_euler, "backward-euler"},
                                {TimeMethod::bdf, "bdf"},
                                {TimeMethod::sdirk, "sdirk"},
                                {TimeMethod::explicit_rk, "explicit-rk"}});
template <>
inline constexpr auto kNamesOf<SmootherKind> = names_in_order<SmootherKind>(
    {{SmootherKind::chebyshev, "chebyshev"},
     {SmootherKind::block_jacobi, "block-jacobi"},
     {SmootherKind::block_asynchronous_jacobi, "block-asynchronous-jacobi"}});
template <>
inline constexpr auto kNamesOf<CoarseningChoice> =
    names_in_order<CoarseningChoice>({{CoarseningChoice::automatic, "auto"},
                                      {CoarseningChoice::degree_first, "degree-first"},
                                      {CoarseningChoice::cells_first, "cells-first"}});
template <>
inline constexpr auto kNamesOf<FactorsChoice> = names_in_order<FactorsChoice>(
    {{FactorsChoice::automatic, "auto"},
     {FactorsChoice::stored, factor_storage_name(FactorStorage::stored)},
     {FactorsChoice::compressed, factor_storage_name(FactorStorage::compressed)},
     {FactorsChoice::on_the_fly, factor_storage_name(FactorStorage::on_the_fly)}});
template <>
inline constexpr auto kNamesOf<RunDevice> = names_in_order<RunDevice>(
    {{RunDevice::automatic, "auto"}, {RunDevice::cpu, "cpu"}, {RunDevice::cuda, "cuda"}});
template <>
inline constexpr auto kNamesOf<StudyGeometry> = names_in_order<StudyGeometry>(
    {{StudyGeometry::uniform, "uniform"}, {StudyGeometry::mapped, "mapped"}});
template <>
inline constexpr auto kNamesOf<FloatWidth> = names_in_order<FloatWidth>(
    {{FloatWidth::single_precision, "single"}, {FloatWidth::double_precision, "double"}});
template <>
inline constexpr auto kNamesOf<VtkCompression> = names_in_order<VtkCompression>(
    {{VtkCompression::none, "none"}, {VtkCompression::lz4, "lz4"}, {VtkCompression::zlib, "zlib"}});

}  // namespace tessera
