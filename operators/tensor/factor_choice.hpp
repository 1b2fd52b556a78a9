// Which storage of the geometric factors the kernel tensor can have, and which it gets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "operators/form/factor_storage.hpp"
#include "operators/form/form_shape.hpp"

namespace tessera {

/// The scatter policy of the GPU whose thread blocks add bricks of cells in shared memory: only the
/// unrolled tensor kernels with stored factors have it.
inline constexpr std::string_view kPatchScatter = "patch";

/// Why the kernel tensor cannot have the scatter policy with factors stored so, in a user's words;
/// empty if it can.
std::string why_no_scatter(FactorStorage storage, std::string_view scatter, const FormShape& shape);

/// Why the factors cannot be stored so, in a user's words; empty if they can. `stored` is not
/// refused for the scatter policy: no other storage has one that `stored` has not.
std::string why_no_factors(FactorStorage storage, std::string_view scatter, const FormShape& shape);

/// The storages that the factors can have, `stored` first: it is always there, and alone unless the
/// factors are general.
std::vector<FactorStorage> factor_storages(std::string_view scatter, const FormShape& shape);

/// A storage of the factors and why it was taken: "3D on the GPU".
struct ChosenFactors {
  FactorStorage storage;
  std::string_view reason;
};

/// The storage that applies fastest as far as is known, one of factor_storages().
ChosenFactors choose_factors(std::string_view scatter, const FormShape& shape);

}  // namespace tessera
