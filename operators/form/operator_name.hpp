// This function composes the name of an operator as it is printed everywhere.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mesh/geometry/geometry_form.hpp"

namespace tessera {

/// The scatter policy's name where an operator has none.
inline constexpr std::string_view kNoScatterName = "none";

/// What an operator is called wherever it is printed: its kernel, "/" and its scatter policy unless
/// it has none, and ", " and how it gets its geometric factors where they may have several forms:
/// "csr", "local/coloring", "tensor/patch, stored", "tensor, stencil".
inline std::string operator_name(std::string_view kernel, std::string_view scatter = kNoScatterName,
                                 std::optional<GeometryForm> geometry = std::nullopt) {
  std::string name(kernel);
  if (scatter != kNoScatterName) name.append("/").append(scatter);
  if (geometry) name.append(", ").append(geometry_name(*geometry));
  return name;
}

}  // namespace tessera
