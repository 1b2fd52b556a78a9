// What operators are called.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "operators/form/factor_storage.hpp"

namespace tessera {

/// The scatter policy's name where an operator has none.
inline constexpr std::string_view kNoScatterName = "none";

/// What an operator is called wherever it is printed: its kernel, "/" and its scatter policy unless
/// it has none, and ", " and how it stores its geometric factors where that is a choice: "csr",
/// "local/coloring", "tensor/patch, stored".
inline std::string operator_name(std::string_view kernel, std::string_view scatter = kNoScatterName,
                                 std::optional<FactorStorage> factors = std::nullopt) {
  std::string name(kernel);
  if (scatter != kNoScatterName) name.append("/").append(scatter);
  if (factors) name.append(", ").append(factor_storage_name(*factors));
  return name;
}

}  // namespace tessera
