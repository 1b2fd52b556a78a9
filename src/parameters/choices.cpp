#include "src/parameters/choices.hpp"

namespace tessera {

std::span<const std::string_view> enumerator_names(NodeFamily) {
  static constexpr std::string_view kNames[] = {"gauss-lobatto", "equidistant"};
  return kNames;
}

std::span<const std::string_view> enumerator_names(QuadratureRule) {
  static constexpr std::string_view kNames[] = {"gauss", "gauss-lobatto"};
  return kNames;
}

std::span<const std::string_view> enumerator_names(Precision) {
  static constexpr std::string_view kNames[] = {"double", "single"};
  return kNames;
}

std::span<const std::string_view> enumerator_names(BoundaryType) {
  static constexpr std::string_view kNames[] = {"dirichlet", "neumann", "robin"};
  return kNames;
}

std::span<const std::string_view> enumerator_names(SolverMethod) {
  static constexpr std::string_view kNames[] = {"cg", "single-reduction-cg", "pipelined-cg",
                                                "flexible-cg", "richardson"};
  return kNames;
}

std::span<const std::string_view> enumerator_names(PreconditionerChoice) {
  static constexpr std::string_view kNames[] = {"none",
                                                "jacobi",
                                                "chebyshev",
                                                "multigrid",
                                                "fast-diagonalization",
                                                "block-jacobi",
                                                "block-asynchronous-jacobi"};
  return kNames;
}

std::span<const std::string_view> enumerator_names(StudySolver) {
  static constexpr std::string_view kNames[] = {"none",
                                                "jacobi",
                                                "chebyshev",
                                                "multigrid",
                                                "fast-diagonalization",
                                                "block-jacobi",
                                                "block-asynchronous-jacobi",
                                                "full-multigrid"};
  return kNames;
}

std::span<const std::string_view> enumerator_names(SmootherChoice) {
  static constexpr std::string_view kNames[] = {"chebyshev", "block-jacobi",
                                                "block-asynchronous-jacobi"};
  return kNames;
}

std::span<const std::string_view> enumerator_names(CoarseningChoice) {
  static constexpr std::string_view kNames[] = {"auto", "degree-first", "cells-first"};
  return kNames;
}

std::span<const std::string_view> enumerator_names(GeometryChoice) {
  static constexpr std::string_view kNames[] = {
      "auto", geometry_name(GeometryForm::stored), geometry_name(GeometryForm::compressed),
      geometry_name(GeometryForm::on_the_fly), geometry_name(GeometryForm::stencil)};
  return kNames;
}

std::span<const std::string_view> enumerator_names(RunDevice) {
  static constexpr std::string_view kNames[] = {"cpu", "cuda"};
  return kNames;
}

std::span<const std::string_view> enumerator_names(StudyGeometry) {
  static constexpr std::string_view kNames[] = {"uniform", "mapped"};
  return kNames;
}

std::span<const std::string_view> enumerator_names(FloatWidth) {
  static constexpr std::string_view kNames[] = {"single", "double"};
  return kNames;
}

}  // namespace tessera
