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
  PackingErrors errors;
};

// Packs kCells cells of a batch at a time; several threads may use one.
template <class T, CompressedBits bits>
class CellPacker {
 public:
  explicit CellPacker(const Discretization& discretization)
      : inverse_weights_(tensor_weights(discretization.basis.quadrature, 3)) {
    for (double& weight : inverse_weights_) weight = 1.0 / weight;
  }

  /// @param factors D_q [q][entry], then r_q [q] where `reactions` is not null
  PackingErrors pack(const Values* factors, int first_lane, WordLanes<T>* batch,
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
    for (std::size_t q = 0; q < points; ++q, words += kPointVectors<T, bits>) {
      const Values* const of_point = &values[q * kEntries];
      if constexpr (bits == kFew) {
        for (int i = 0; i < 3; ++i) pack_pair(cells, 2 * i, of_point, first_lane, words[i]);
      } else {
        for (int i = 0; i < 2; ++i) pack_triple(cells, 3 * i, of_point, first_lane, words + 2 * i);
      }
    }
    for (std::size_t q = 0; reactions != nullptr && q < points; ++q) {
      store_part(inverse_weights_[q] * factors[points * kEntries + q], reactions[q], first_lane);
    }
    return cells.errors;
  }

 private:
  using Bits = WordBits<T, bits>;
  static constexpr CompressedBits kFew = few_bits(sizeof(T));

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
        const auto find = [&](CompressedBits with) {
          return find_fixed_point<T>(low[e][lane], high[e][lane], least, static_cast<int>(with));
        };
        const FixedPoint entry = find(bits);
        cells.offset[e][lane] = entry.offset;
        cells.inverse[e][lane] =
            entry.exponent == kNoExponent ? 0.0 : power_of_two(-entry.exponent);
        const double error = fixed_point_error(entry, least, Bits::kUpper);
        cells.errors.add(
            {error,
             bits == kFew ? error : fixed_point_error(find(kFew), least, static_cast<int>(kFew))});
        std::memcpy(header + (e * kLanes<T> + first_lane + lane) * sizeof(entry.word), &entry.word,
                    sizeof(entry.word));
      }
    }
    return cells;
  }

  // (D_e - o_e) / 2^x_e - 1.
  static Values fraction(const CellsInFixedPoint& cells, int e, const Values* values) {
    return (values[e] - cells.offset[e]) * cells.inverse[e] - 1.0;
  }

  // The word that has this fraction in its upper bits, rounded with those of the others that
  // follow.
  static Words with_others(Values upper, Words others) {
    constexpr int kBehind = Bits::kMantissa - Bits::kUpper;
    const Words behind = others >> (Bits::kLower - kBehind);
    const Values wanted = upper * power_of_two(Bits::kUpper) -
                          __builtin_convertvector(behind, Values) * power_of_two(-kBehind);
    return rounded(wanted, Bits::kUpper) << Bits::kLower | others;
  }

  // The two entries from `first` on of `values`, as read_pair() wants them.
  static void pack_pair(const CellsInFixedPoint& cells, int first, const Values* values,
                        int first_lane, WordLanes<T>& word) {
    const Words second =
        rounded(fraction(cells, first + 1, values) * power_of_two(Bits::kLower), Bits::kLower);
    store_part(with_others(fraction(cells, first, values), second), word, first_lane);
  }

  // The three entries from `first` on of `values`, as read_triple() wants them.
  static void pack_triple(const CellsInFixedPoint& cells, int first, const Values* values,
                          int first_lane, WordLanes<T>* words) {
    const Words third = rounded(fraction(cells, first + 2, values) * power_of_two(2 * Bits::kLower),
                                2 * Bits::kLower);
    const Words halves[2] = {third >> Bits::kLower,
                             third & ((std::uint64_t{1} << Bits::kLower) - 1)};
    for (int i = 0; i < 2; ++i) {
      store_part(with_others(fraction(cells, first + i, values), halves[i]), words[i], first_lane);
    }
  }

  std::vector<double> inverse_weights_;  // 1 / w_q
};

}  // namespace

template <class T>
CompressedBatches<T>::CompressedBatches(const BilinearForm& form, const CellBatches& batches)
    : points_(static_cast<int>(power(form.discretization->basis.point_count(), 3))),
      reaction_(reaction_kind(form.reaction)) {
  if (reaction_ != ReactionKind::none) {
    reactions_.resize(static_cast<std::size_t>(batches.batch_count() * points_));
  }
  set_bits(few_bits(sizeof(T)), batches);
  pack(form, batches);
  if (are_packed()) return;
  set_bits(many_bits(sizeof(T)), batches);
  pack(form, batches);
}

template <class T>
void CompressedBatches<T>::set_bits(CompressedBits bits, const CellBatches& batches) {
  bits_ = bits;
  stride_ =
      kHeaderVectors<T> + points_ * compressed_point_bytes(bits) / static_cast<Index>(sizeof(T));
  words_ = HostArray<WordLanes<T>>();  // those before are given back first
  words_.resize(static_cast<std::size_t>(batches.batch_count() * stride_));
}

template <class T>
Updated CompressedBatches<T>::update(const BilinearForm& form, const CellBatches& batches) {
  pack(form, batches);
  return errors_.are_those_of_new<T>(bits_) ? Updated::yes : Updated::no;
}

template <class T>
void CompressedBatches<T>::pack(const BilinearForm& form, const CellBatches& batches) {
  with_packed_bits<T>(bits_, [&]<CompressedBits bits>() { pack_in<bits>(form, batches); });
  reaction_scale_ = form.reaction.constant.value_or(1.0);
}

template <class T>
template <CompressedBits bits>
void CompressedBatches<T>::pack_in(const BilinearForm& form, const CellBatches& batches) {
  const Discretization& discretization = *form.discretization;
  const CellPacker<T, bits> packer(discretization);
  PackingErrors errors;
  for_each_general_factors(
      discretization, batches, form.coefficient, form.reaction, form.context(),
      [&](const CellBatch& batch, int first_lane, const Lanes<double>* factors) {
        const PackingErrors of_cells = packer.pack(
            factors, first_lane, words_.data() + batch.index * stride_,
            reaction_ == ReactionKind::none ? nullptr : reactions_.data() + batch.index * points_);
#pragma omp critical(tessera_compressed_error)
        errors.add(of_cells);
        const bool others_are_tried = bits == few_bits(sizeof(T));
        return others_are_tried && !of_cells.are_small<T>() ? Pass::ends : Pass::goes_on;
      });
  errors_ = errors;
}

template <class T>
void CompressedBatches<T>::update_reaction(const BilinearForm& form) {
  check_reaction(form.discretization->mesh, *form.reaction.constant, form.reaction_sign);
  reaction_scale_ = *form.reaction.constant;
}

template class CompressedBatches<double>;
template class CompressedBatches<float>;

}  // namespace tessera
