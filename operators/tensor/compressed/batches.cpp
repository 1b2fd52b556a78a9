// This file compresses the geometric factors of batches to fixed point on the host.
#include "operators/tensor/compressed/batches.hpp"

#include <cmath>
#include <cstring>
#include <vector>

#include "mesh/geometry/cell_geometry.hpp"
#include "mesh/geometry/geometric_factors.hpp"
#include "mesh/lanes/lane_parts.hpp"

namespace tessera {
namespace {

constexpr int kEntries = 6;
constexpr int kCells = kLanes<double>;
using Values = Lanes<double>;
using Words = WordLanes<double>;

Values smaller(Values a, Values b) { return a < b ? a : b; }
Values larger(Values a, Values b) { return a > b ? a : b; }

// The integer nearest to each value, which is put into 0 .. 2^bits - 1.
Words rounded(Values values, int bits) {
  constexpr double kFirst = 0x1p52;  // from which on doubles are integers
  const Values inside = smaller(larger(values, Values{}), broadcast(power_of_two(bits) - 1.0));
  return reinterpret_cast<Words>(inside + kFirst) & ((std::uint64_t{1} << 52) - 1);
}

// How the entries of kCells cells are held.
struct CellsInFixedPoint {
  Values offset[kEntries];
  Values inverse[kEntries];  // 2^-x
  double error = 0.0;        // the largest share
};

// Packs kCells cells of a batch at a time; several threads may use one.
template <class T>
class CellPacker {
 public:
  explicit CellPacker(const Discretization& discretization)
      : inverse_weights_(tensor_weights(discretization.basis.quadrature, 3)) {
    for (double& weight : inverse_weights_) weight = 1.0 / weight;
  }

  /// @param factors D_q [q][entry], then r_q [q] where `reactions` is not null
  /// @returns the largest error of an entry as a share
  double pack(const Values* factors, int first_lane, WordLanes<T>* batch,
              Lanes<T>* reactions) const {
    const std::size_t points = inverse_weights_.size();
    thread_local HostArray<Values> values;  // D_q / w_q, [q][entry]
    values.resize(points * kEntries);
    for (std::size_t q = 0; q < points; ++q) {
      for (int e = 0; e < kEntries; ++e) {
        values[q * kEntries + e] = inverse_weights_[q] * factors[q * kEntries + e];
      }
    }
    const CellsInFixedPoint cells = find_cells(values, first_lane, batch);
    WordLanes<T>* words = batch + kHeaderVectors<T>;
    for (std::size_t q = 0; q < points; ++q, words += kPointVectors) {
      pack_triple(cells, 0, &values[q * kEntries], first_lane, words);
      pack_triple(cells, 3, &values[q * kEntries], first_lane, words + 2);
    }
    for (std::size_t q = 0; reactions != nullptr && q < points; ++q) {
      store_part(inverse_weights_[q] * factors[points * kEntries + q], reactions[q], first_lane);
    }
    return cells.error;
  }

 private:
  using Bits = TripleBits<T>;

  static CellsInFixedPoint find_cells(const HostArray<Values>& values, int first_lane,
                                      WordLanes<T>* batch) {
    Values low[kEntries];
    Values high[kEntries];
    for (int e = 0; e < kEntries; ++e) low[e] = high[e] = values[e];
    for (std::size_t i = kEntries; i < values.size(); i += kEntries) {
      for (int e = 0; e < kEntries; ++e) {
        low[e] = smaller(low[e], values[i + e]);
        high[e] = larger(high[e], values[i + e]);
      }
    }
    CellsInFixedPoint cells;
    auto* const header = reinterpret_cast<char*>(batch);
    for (int e = 0; e < kEntries; ++e) {
      const EntryDiagonal diagonal = diagonal_of_entry(e);
      for (int lane = 0; lane < kCells; ++lane) {
        const double least = std::sqrt(low[diagonal.a][lane] * low[diagonal.b][lane]);
        const FixedPoint entry =
            find_fixed_point<T>(low[e][lane], high[e][lane], least, Bits::kUpper);
        cells.offset[e][lane] = entry.offset;
        cells.inverse[e][lane] =
            entry.exponent == kNoExponent ? 0.0 : power_of_two(-entry.exponent);
        const double error = fixed_point_error(entry, least, Bits::kUpper);
        if (!(error <= cells.error)) cells.error = error;
        std::memcpy(header + (e * kLanes<T> + first_lane + lane) * sizeof(entry.word), &entry.word,
                    sizeof(entry.word));
      }
    }
    return cells;
  }

  // The three entries from `first` on of `values`, as read_triple() wants them.
  static void pack_triple(const CellsInFixedPoint& cells, int first, const Values* values,
                          int first_lane, WordLanes<T>* words) {
    constexpr int kBehind = Bits::kMantissa - Bits::kUpper;  // bits of the third number
    constexpr double kOne = power_of_two(Bits::kUpper);
    const auto fraction = [&](int e) {
      return (values[e] - cells.offset[e]) * cells.inverse[e] - 1.0;
    };
    const Words third =
        rounded(fraction(first + 2) * power_of_two(2 * Bits::kHalf), 2 * Bits::kHalf);
    const Words halves[2] = {third >> Bits::kHalf, third & ((std::uint64_t{1} << Bits::kHalf) - 1)};
    for (int i = 0; i < 2; ++i) {
      const Words behind = halves[i] >> (Bits::kHalf - kBehind);
      const Values wanted = fraction(first + i) * kOne -
                            __builtin_convertvector(behind, Values) * power_of_two(-kBehind);
      store_part(rounded(wanted, Bits::kUpper) << Bits::kHalf | halves[i], words[i], first_lane);
    }
  }

  std::vector<double> inverse_weights_;  // 1 / w_q
};

}  // namespace

template <class T>
CompressedBatches<T>::CompressedBatches(const BilinearForm& form, const CellBatches& batches)
    : points_(static_cast<int>(power(form.discretization->basis.point_count(), 3))),
      stride_(kHeaderVectors<T> + Index{kPointVectors} * points_),
      reaction_(reaction_kind(form.reaction)),
      words_(static_cast<std::size_t>(batches.batch_count() * stride_)) {
  if (reaction_ != ReactionKind::none) {
    reactions_.resize(static_cast<std::size_t>(batches.batch_count() * points_));
  }
  update(form, batches);
}

template <class T>
void CompressedBatches<T>::update(const BilinearForm& form, const CellBatches& batches) {
  const Discretization& discretization = *form.discretization;
  error_bound_ = 0.0;
  const CellPacker<T> packer(discretization);
  for_each_general_factors(
      discretization, batches, form.coefficient, form.reaction, form.context(),
      [&](const CellBatch& batch, int first_lane, const Lanes<double>* factors) {
        const double error = packer.pack(
            factors, first_lane, words_.data() + batch.index * stride_,
            reaction_ == ReactionKind::none ? nullptr : reactions_.data() + batch.index * points_);
#pragma omp critical(tessera_compressed_error)
        if (!(error <= error_bound_)) error_bound_ = error;
      });
  reaction_scale_ = form.reaction.constant.value_or(1.0);
}

template <class T>
void CompressedBatches<T>::update_reaction(const BilinearForm& form) {
  check_reaction(form.discretization->mesh, *form.reaction.constant, form.reaction_sign);
  reaction_scale_ = *form.reaction.constant;
}

template class CompressedBatches<double>;
template class CompressedBatches<float>;

}  // namespace tessera
