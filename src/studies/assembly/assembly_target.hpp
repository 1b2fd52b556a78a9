// An AssemblyTarget says where the entries of a matrix lie that triangles add to.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "mesh/triangle_mesh.hpp"

namespace tessera {

/// Entry (i, j) of a triangle is number 3 i + j of nine.
inline constexpr int kLocalEntries = 9;
using LocalMatrix = std::array<double, kLocalEntries>;

/// A matrix of V x V doubles for V points, or its nonzeros alone, by rows (csr).
enum class MatrixStorage { full, csr };

struct AssemblyTarget {
  MatrixStorage storage;
  /// V.
  Index rows;
  /// The number of values.
  Index entries;
  /// Where entry e of triangle t lies among the values: places[e T + t].
  std::vector<std::int32_t> places;
  /// Row, column and place of each nonzero, by rows, columns increasing.
  struct Nonzero {
    Index row;
    Index column;
    Index place;
  };
  std::vector<Nonzero> nonzeros;

  [[nodiscard]] Index bytes() const { return entries * static_cast<Index>(sizeof(double)); }
};

/// @throws std::length_error if an entry's place exceeds 2^31 - 1
[[nodiscard]] AssemblyTarget assembly_target(const TriangleMesh& mesh, MatrixStorage storage);

/// How many triangles add to each nonzero: what stands there where each adds 1.
[[nodiscard]] std::vector<Index> addition_counts(const TriangleMesh& mesh,
                                                 const AssemblyTarget& target);

/// What each entry gathers: local entry e of triangle t is number e T + t, and entry k has the
/// numbers sources[first[k]] .. sources[first[k + 1] - 1].
struct EntrySources {
  std::vector<Index> first;
  std::vector<std::int32_t> sources;
};
[[nodiscard]] EntrySources entry_sources(const AssemblyTarget& target);

/// Where the local matrix of one triangle goes.
class Destination {
 public:
  Destination(const TriangleMesh& mesh, const AssemblyTarget& target, double* values,
              Index triangle)
      : corners_(mesh.triangles[triangle]),
        places_(target.places.data() + triangle),
        triangles_(std::ssize(mesh.triangles)),
        values_(values) {}

  [[nodiscard]] Index row(int i) const { return corners_[i]; }
  [[nodiscard]] Index place(int entry) const { return places_[entry * triangles_]; }
  [[nodiscard]] double& value(int entry) const { return values_[place(entry)]; }

 private:
  const Triangle& corners_;
  const std::int32_t* places_;
  Index triangles_;
  double* values_;
};

}  // namespace tessera
