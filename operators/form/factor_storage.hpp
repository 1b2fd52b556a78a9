// How the kernel tensor gets the geometric factors of mapped and graded meshes.
#pragma once

#include <array>
#include <stdexcept>
#include <string_view>

namespace tessera {

/// How the kernel tensor gets D_q = w_q |J| k J^-1 J^-T at the quadrature points where the factors
/// are FactorKind::general; other factors are shared by all cells, and this means nothing.
enum class FactorStorage {
  stored,      // d (d + 1) / 2 values per point, in the precision of the operator
  compressed,  // the same in fixed point, relative to their range in the cell; 3D
  on_the_fly   // computed in every application from the positions of the cell's nodes, and k
};

inline constexpr std::array<FactorStorage, 3> kFactorStorages = {
    FactorStorage::stored, FactorStorage::compressed, FactorStorage::on_the_fly};

/// The name in files and messages.
constexpr std::string_view factor_storage_name(FactorStorage storage) {
  switch (storage) {
    case FactorStorage::stored:
      return "stored";
    case FactorStorage::compressed:
      return "compressed";
    case FactorStorage::on_the_fly:
      return "on-the-fly";
  }
  throw std::logic_error("a storage of factors has no name");
}

}  // namespace tessera
