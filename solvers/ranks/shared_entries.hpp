// SharedEntries say which entries of a rank's vectors other ranks have, too.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "solvers/ranks/communicator.hpp"

namespace tessera {

class DeviceCarrier;

/// Entries first + a strides[0] + b strides[1] of a vector, a < counts[0], b < counts[1].
struct EntryPlane {
  std::int64_t first;
  std::array<std::int64_t, 2> counts;
  std::array<std::int64_t, 2> strides;

  std::int64_t count() const { return counts[0] * counts[1]; }
  std::int64_t entry(std::int64_t a, std::int64_t b) const {
    return first + a * strides[0] + b * strides[1];
  }
};

/// A plane of entries that this rank and a neighbor have, both in the same order.
struct SharedPlane {
  int neighbor;
  EntryPlane entries;
};

/// The numbers that a rank's entries have in the whole vector, of which the rank has a box: entry
/// x + row_length (y + rows z) is number first + x + whole_strides[0] y + whole_strides[1] z.
struct WholeNumbers {
  std::int64_t first;
  std::int64_t row_length;
  std::int64_t rows;
  std::array<std::int64_t, 2> whole_strides;
  /// How many entries the whole vector has.
  std::int64_t whole_size;

  std::int64_t of(std::int64_t entry) const {
    const std::int64_t row = entry / row_length;
    return first + entry % row_length + whole_strides[0] * (row % rows) +
           whole_strides[1] * (row / rows);
  }
};

/// How the vectors of one rank belong to those of the others. Every rank has the values of all of
/// its entries; those that several have, they have with the same bits. One of them owns an entry,
/// and sums count it there.
class SharedEntries {
 public:
  /// @param ranks must outlive this object
  /// @param not_owned the entries that other ranks own, each in one plane
  /// @param carrier what moves values that lie on GPUs; null: none do
  SharedEntries(const Communicator& ranks, std::vector<EntryPlane> not_owned,
                const WholeNumbers& numbers, std::shared_ptr<const DeviceCarrier> carrier = nullptr)
      : ranks_(ranks),
        not_owned_(std::move(not_owned)),
        numbers_(numbers),
        carrier_(std::move(carrier)) {}

  const Communicator& ranks() const { return ranks_; }
  const std::vector<EntryPlane>& not_owned() const { return not_owned_; }
  const WholeNumbers& numbers() const { return numbers_; }
  const std::shared_ptr<const DeviceCarrier>& carrier() const { return carrier_; }

 private:
  const Communicator& ranks_;
  std::vector<EntryPlane> not_owned_;
  WholeNumbers numbers_;
  std::shared_ptr<const DeviceCarrier> carrier_;
};

}  // namespace tessera
