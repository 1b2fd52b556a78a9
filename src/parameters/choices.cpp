// This file names the choices of keys as files write them.
#include "src/parameters/choices.hpp"

#include <array>
#include <cstddef>

namespace tessera {
namespace {

template <class E>
struct Named {
  E enumerator;
  std::string_view name;
};

// The names of enumerators 0, 1, 2, ...; does not compile unless the table has them in this order.
template <class E, std::size_t count>
consteval std::array<std::string_view, count> names_in_order(const Named<E> (&table)[count]) {
  std::array<std::string_view, count> names;
  for (std::size_t i = 0; i < count; ++i) {
    if (static_cast<std::size_t>(table[i].enumerator) != i) {
      throw std::logic_error("the names are not in the enumerators' order");
    }
    names[i] = table[i].name;
  }
  return names;
}

}  // namespace

std::span<const std::string_view> enumerator_names(NodeFamily) {
  static constexpr auto kNames = names_in_order<NodeFamily>(
      {{NodeFamily::gauss_lobatto, "gauss-lobatto"}, {NodeFamily::equidistant, "equidistant"}});
  return kNames;
}

std::span<const std::string_view> enumerator_names(QuadratureRule) {
  static constexpr auto kNames = names_in_order<QuadratureRule>(
      {{QuadratureRule::gauss, "gauss"}, {QuadratureRule::gauss_lobatto, "gauss-lobatto"}});
  return kNames;
}

std::span<const std::string_view> enumerator_names(Precision) {
  static constexpr auto kNames = names_in_order<Precision>(
      {{Precision::double_precision, "double"}, {Precision::single_precision, "single"}});
  return kNames;
}

std::span<const std::string_view> enumerator_names(BoundaryType) {
  static constexpr auto kNames =
      names_in_order<BoundaryType>({{BoundaryType::dirichlet, "dirichlet"},
                                    {BoundaryType::neumann, "neumann"},
                                    {BoundaryType::robin, "robin"}});
  return kNames;
}

std::span<const std::string_view> enumerator_names(SolverMethod) {
  static constexpr auto kNames =
      names_in_order<SolverMethod>({{SolverMethod::cg, "cg"},
                                    {SolverMethod::single_reduction_cg, "single-reduction-cg"},
                                    {SolverMethod::pipelined_cg, "pipelined-cg"},
                                    {SolverMethod::flexible_cg, "flexible-cg"},
                                    {SolverMethod::richardson, "richardson"}});
  return kNames;
}

std::span<const std::string_view> enumerator_names(SmootherChoice) {
  static constexpr auto kNames = names_in_order<SmootherChoice>(
      {{SmootherChoice::chebyshev, "chebyshev"},
       {SmootherChoice::block_jacobi, "block-jacobi"},
       {SmootherChoice::block_asynchronous_jacobi, "block-asynchronous-jacobi"}});
  return kNames;
}

std::span<const std::string_view> enumerator_names(CoarseningChoice) {
  static constexpr auto kNames =
      names_in_order<CoarseningChoice>({{CoarseningChoice::automatic, "auto"},
                                        {CoarseningChoice::degree_first, "degree-first"},
                                        {CoarseningChoice::cells_first, "cells-first"}});
  return kNames;
}

std::span<const std::string_view> enumerator_names(FactorsChoice) {
  static constexpr auto kNames = names_in_order<FactorsChoice>(
      {{FactorsChoice::automatic, "auto"},
       {FactorsChoice::stored, factor_storage_name(FactorStorage::stored)},
       {FactorsChoice::compressed, factor_storage_name(FactorStorage::compressed)},
       {FactorsChoice::on_the_fly, factor_storage_name(FactorStorage::on_the_fly)}});
  return kNames;
}

std::span<const std::string_view> enumerator_names(RunDevice) {
  static constexpr auto kNames =
      names_in_order<RunDevice>({{RunDevice::cpu, "cpu"}, {RunDevice::cuda, "cuda"}});
  return kNames;
}

std::span<const std::string_view> enumerator_names(StudyGeometry) {
  static constexpr auto kNames = names_in_order<StudyGeometry>(
      {{StudyGeometry::uniform, "uniform"}, {StudyGeometry::mapped, "mapped"}});
  return kNames;
}

std::span<const std::string_view> enumerator_names(FloatWidth) {
  static constexpr auto kNames = names_in_order<FloatWidth>(
      {{FloatWidth::single_precision, "single"}, {FloatWidth::double_precision, "double"}});
  return kNames;
}

}  // namespace tessera
