#include "src/studies/assembly/assembly_target.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace tessera {
namespace {

using Nonzero = AssemblyTarget::Nonzero;

/// The diagonal and both directions of every side.
std::vector<Nonzero> nonzeros_of(const TriangleMesh& mesh) {
  std::vector<Nonzero> nonzeros;
  for (Index i = 0; i < std::ssize(mesh.points); ++i) nonzeros.push_back({i, i, 0});
  for (const auto& [i, j] : edges(mesh).points) {
    nonzeros.push_back({i, j, 0});
    nonzeros.push_back({j, i, 0});
  }
  std::sort(nonzeros.begin(), nonzeros.end(), [](const Nonzero& a, const Nonzero& b) {
    return a.row != b.row ? a.row < b.row : a.column < b.column;
  });
  return nonzeros;
}

std::vector<Index> first_of_rows(const std::vector<Nonzero>& nonzeros, Index rows) {
  std::vector<Index> first(rows + 1, 0);
  for (const Nonzero& nonzero : nonzeros) ++first[nonzero.row + 1];
  for (Index row = 0; row < rows; ++row) first[row + 1] += first[row];
  return first;
}

}  // namespace

AssemblyTarget assembly_target(const TriangleMesh& mesh, MatrixStorage storage) {
  const Index rows = std::ssize(mesh.points);
  AssemblyTarget target{.storage = storage,
                        .rows = rows,
                        .entries = rows * rows,
                        .places = {},
                        .nonzeros = nonzeros_of(mesh)};
  if (storage == MatrixStorage::csr) target.entries = std::ssize(target.nonzeros);
  if (target.entries > std::numeric_limits<std::int32_t>::max()) {
    throw std::length_error("A matrix of so many entries has places of more than 31 bits");
  }
  for (Index k = 0; k < std::ssize(target.nonzeros); ++k) {
    Nonzero& nonzero = target.nonzeros[k];
    nonzero.place = storage == MatrixStorage::full ? nonzero.row * rows + nonzero.column : k;
  }

  const std::vector<Index> first = first_of_rows(target.nonzeros, rows);
  const Index triangles = std::ssize(mesh.triangles);
  target.places.resize(kLocalEntries * triangles);
  for (Index t = 0; t < triangles; ++t) {
    for (int e = 0; e < kLocalEntries; ++e) {
      const Index row = mesh.triangles[t][e / 3];
      const Index column = mesh.triangles[t][e % 3];
      const auto found = std::find_if(
          target.nonzeros.begin() + first[row], target.nonzeros.begin() + first[row + 1],
          [&](const Nonzero& nonzero) { return nonzero.column == column; });
      target.places[e * triangles + t] = static_cast<std::int32_t>(found->place);
    }
  }
  return target;
}

std::vector<Index> addition_counts(const TriangleMesh& mesh, const AssemblyTarget& target) {
  const TriangleEdges sides = edges(mesh);
  const std::vector<Index> around = triangles_at_points(mesh).first;
  std::vector<Index> counts;
  counts.reserve(target.nonzeros.size());
  for (const Nonzero& nonzero : target.nonzeros) {
    if (nonzero.row == nonzero.column) {
      counts.push_back(around[nonzero.row + 1] - around[nonzero.row]);
      continue;
    }
    const auto [low, high] = std::minmax(nonzero.row, nonzero.column);
    const auto found =
        std::lower_bound(sides.points.begin(), sides.points.end(), std::array<Index, 2>{low, high});
    counts.push_back(sides.triangles[found - sides.points.begin()]);
  }
  return counts;
}

EntrySources entry_sources(const AssemblyTarget& target) {
  EntrySources result{.first = std::vector<Index>(target.entries + 1, 0),
                      .sources = std::vector<std::int32_t>(target.places.size())};
  for (const std::int32_t place : target.places) ++result.first[place + 1];
  for (Index k = 0; k < target.entries; ++k) result.first[k + 1] += result.first[k];
  std::vector<Index> next = result.first;
  for (Index source = 0; source < std::ssize(target.places); ++source) {
    result.sources[next[target.places[source]]++] = static_cast<std::int32_t>(source);
  }
  return result;
}

}  // namespace tessera
