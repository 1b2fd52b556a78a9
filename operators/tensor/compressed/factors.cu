// This file compresses geometric factors to fixed point on the GPU.
#include <algorithm>

#include "operators/tensor/compressed/factors.hpp"
#include "operators/tensor/compressed/fixed_point.hpp"
#include "operators/tensor/compressed/point.cuh"
#include "operators/tensor/gpu/factor_layout.cuh"
#include "solvers/memory/entry_loop.cuh"
#include "solvers/memory/launch.cuh"
#include "solvers/memory/warp.cuh"

namespace tessera {
namespace {

constexpr int kThreads = 128;
constexpr int kEntries = 6;

struct PackArguments {
  const double* factors;  // of cells first_cell .., layout of DeviceFactors
  Index stride;
  const double* inverse_weights;  // [q], one axis
  Index first_cell;
  Index count;
  CompressedLayout layout;
  unsigned long long* errors;  // bits of the largest shares: as packed, and with few bits
};

__device__ double least_of(double a, double b) { return b < a ? b : a; }

// The least of two lanes' `lower` on the one whose bit is not set, of their `upper` on the other.
template <int bit>
__device__ double least_by_halves(int lane, double lower, double upper) {
  const bool is_upper = (lane & bit) != 0;
  const double given = __shfl_xor_sync(kAllLanes, is_upper ? lower : upper, bit);
  return least_of(is_upper ? upper : lower, given);
}

// The entries D_e / w_q of a cell's points.
struct CellPoints {
  const double* factors;  // [q_z][pair][q_y][q_x][2]
  const double* inverse_weights;
  int m;

  __device__ void read(const PointNumbers& q, double (&value)[kEntries]) const {
    const int(&along)[3] = q.along;
    const double by_weight =
        inverse_weights[along[0]] * inverse_weights[along[1]] * inverse_weights[along[2]];
#pragma unroll
    for (int pair = 0; pair < kEntries / 2; ++pair) {
      const double2 two =
          *reinterpret_cast<const double2*>(factors + general_factor_offset(3, m, q, 2 * pair));
      value[2 * pair] = two.x * by_weight;
      value[2 * pair + 1] = two.y * by_weight;
    }
  }
};

// The smallest and the largest value of the lane's entry in the cell, by a warp; lanes from
// kEntries on have those of the last one.
__device__ double2 range_of_entry(const CellPoints& cell, int lane) {
  double low[kEntries];
  double high[kEntries];
#pragma unroll
  for (int e = 0; e < kEntries; ++e) {
    low[e] = INFINITY;
    high[e] = -INFINITY;
  }
  for (int q = lane; q < cell.m * cell.m * cell.m; q += kWarp) {
    double value[kEntries];
    cell.read(PointNumbers(q, cell.m, 3), value);
#pragma unroll
    for (int e = 0; e < kEntries; ++e) {
      low[e] = least_of(low[e], value[e]);
      high[e] = -least_of(-high[e], -value[e]);
    }
  }
  // Half of the warp goes on with the least, and half of each with three entries.
  double three[kEntries / 2];
#pragma unroll
  for (int i = 0; i < kEntries / 2; ++i) {
    const double first = least_by_halves<kWarp / 2>(lane, low[i], -high[i]);
    const double second = least_by_halves<kWarp / 2>(lane, low[i + 3], -high[i + 3]);
    three[i] = least_by_halves<kWarp / 4>(lane, first, second);
#pragma unroll
    for (int offset = kWarp / 8; offset > 0; offset /= 2) {
      three[i] = least_of(three[i], __shfl_xor_sync(kAllLanes, three[i], offset));
    }
  }
  const int entry = min(lane, kEntries - 1);
  const int from = entry < 3 ? 0 : kWarp / 4;
  double2 range{0.0, 0.0};
#pragma unroll
  for (int i = 0; i < kEntries / 2; ++i) {
    const double least = __shfl_sync(kAllLanes, three[i], from);
    const double most = -__shfl_sync(kAllLanes, three[i], from + kWarp / 2);
    if (entry % 3 == i) range = {least, most};
  }
  return range;
}

// The whole number nearest to x >= 0 that has so many bits.
template <int bits>
__device__ unsigned long long nearest_of_bits(double x) {
  // Conversions end at the least and the largest number.
  if constexpr (bits == 32) return __double2uint_rn(x);
  if constexpr (bits < 32) return min(__double2uint_rn(x), (1U << bits) - 1);
  return min(__double2ull_rn(x), (1ULL << bits) - 1);
}

// Returns the upper `bits` bits of a mantissa of `mantissa` bits. They are chosen such that the
// mantissa, whose lower bits will be `rest`, is nearest to the fraction.
template <int mantissa, int bits>
__device__ unsigned long long upper_bits(double fraction, unsigned long long rest) {
  return nearest_of_bits<bits>(fraction * power_of_two(bits) -
                               static_cast<double>(rest) * power_of_two(bits - mantissa));
}

template <class T, CompressedBits bits>
constexpr bool is_plain() {
  return static_cast<int>(bits) == 8 * sizeof(T);
}

// The fraction nearest to f among those of so many bits, as these bits.
template <int bits>
__device__ unsigned few_of(double f) {
  return static_cast<unsigned>(nearest_of_bits<bits>(f * power_of_two(bits)));
}

// @param number f of the six entries, or D itself where it is not packed
template <class T, CompressedBits bits>
__device__ void store_point(const double (&number)[6], const CompressedLayout& layout, int position,
                            char* points) {
  const int count = layout.lanes() * layout.steps();
  if constexpr (bits == CompressedBits::b64) {
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      reinterpret_cast<double2*>(points)[position + i * count] = {number[2 * i], number[2 * i + 1]};
    }
  } else if constexpr (bits == CompressedBits::b32) {
    unsigned w[6];
#pragma unroll
    for (int e = 0; e < 6; ++e) {
      w[e] = is_plain<T, bits>() ? __float_as_uint(static_cast<float>(number[e]))
                                 : few_of<32>(number[e]);
    }
    reinterpret_cast<uint4*>(points)[position] = {w[0], w[1], w[2], w[3]};
    reinterpret_cast<uint2*>(points + 16 * static_cast<Index>(count))[position] = {w[4], w[5]};
  } else if constexpr (bits == CompressedBits::b16) {
    unsigned w[3];
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      w[i] = few_of<16>(number[2 * i]) << 16 | few_of<16>(number[2 * i + 1]);
    }
    reinterpret_cast<uint2*>(points)[position] = {w[0], w[1]};
    reinterpret_cast<unsigned*>(points + 8 * static_cast<Index>(count))[position] = w[2];
  } else {
#pragma unroll
    for (int triple = 0; triple < 2; ++triple) {
      const double* f = number + 3 * triple;
      if constexpr (bits == CompressedBits::b42) {
        // The lower ten bits of a number are followed by those of the next.
        const unsigned long long c = upper_bits<52, 42>(f[2], 0);
        const unsigned long long b = upper_bits<52, 42>(f[1], c & 1023U);
        const unsigned long long a = upper_bits<52, 42>(f[0], b & 1023U);
        reinterpret_cast<uint4*>(points)[position + triple * count] = {
            static_cast<unsigned>(a >> 10), static_cast<unsigned>(b >> 10),
            static_cast<unsigned>(c >> 10),
            static_cast<unsigned>((a & 1023U) << 22 | (b & 1023U) << 12 | (c & 1023U) << 2)};
      } else {
        // 22 bits of the third number: 11 behind each of the first two.
        const unsigned long long c = upper_bits<23, 22>(f[2], 0);
        const unsigned long long a = upper_bits<23, 21>(f[0], c >> 20);
        const unsigned long long b = upper_bits<23, 21>(f[1], c >> 9 & 3U);
        reinterpret_cast<uint2*>(points)[2 * position + triple] = {
            static_cast<unsigned>(a << 11 | c >> 11),
            static_cast<unsigned>(b << 11 | (c & 0x7ffU))};
      }
    }
  }
}

// Packs cells, a warp a cell: an entry of its header a lane, then a point a lane.
template <class T, CompressedBits bits>
__global__ void __launch_bounds__(kThreads) pack_kernel(const PackArguments args, char* packed) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const CompressedLayout& layout = args.layout;
  const int m = layout.points;
  const Index warps = static_cast<Index>(gridDim.x) * (kThreads / kWarp);
  const EntryDiagonal diagonal = diagonal_of_entry(min(lane, kEntries - 1));
  unsigned long long shares[2] = {0, 0};  // the largest of the lane's entries
  for (Index c = thread_number<kThreads>() / kWarp; c < args.count; c += warps) {
    const CellPoints cell{args.factors + c * args.stride, args.inverse_weights, m};
    const Index number = args.first_cell + c;
    char* const group = packed + number / layout.cells * layout.group_bytes(bits);
    const int local = static_cast<int>(number % layout.cells);
    const double2 range = range_of_entry(cell, lane);
    const double least = sqrt(__shfl_sync(kAllLanes, range.x, diagonal.a) *
                              __shfl_sync(kAllLanes, range.x, diagonal.b));
    FixedPoint entry{};
    if (lane < kEntries) {
      entry = find_fixed_point<T>(range.x, range.y, least, static_cast<int>(bits));
      reinterpret_cast<unsigned*>(group + local * kCompressedHeaderBytes)[lane] =
          is_plain<T, bits>() ? 0U : entry.word;
      const auto take_share = [&](int place, const FixedPoint& of, CompressedBits with) {
        const double share = fixed_point_error(of, least, static_cast<int>(with));
        shares[place] =
            max(shares[place], static_cast<unsigned long long>(__double_as_longlong(share)));
      };
      take_share(0, entry, bits);
      if constexpr (bits == many_bits(sizeof(T))) {
        constexpr CompressedBits kFew = few_bits(sizeof(T));
        const auto few = static_cast<int>(kFew);
        take_share(1, find_fixed_point<T>(range.x, range.y, least, few), kFew);
      }
    }
    const double scale = entry.exponent == kNoExponent ? 0.0 : power_of_two(-entry.exponent);
    double scales[kEntries];
    double offsets[kEntries];
#pragma unroll
    for (int e = 0; e < kEntries; ++e) {
      scales[e] = __shfl_sync(kAllLanes, scale, e);
      offsets[e] = __shfl_sync(kAllLanes, entry.offset, e);
    }
    for (int q = lane; q < m * m * m; q += kWarp) {
      const PointNumbers at(q, m, 3);
      double number_of[kEntries];
      cell.read(at, number_of);
#pragma unroll
      for (int e = 0; e < kEntries && !is_plain<T, bits>(); ++e) {
        number_of[e] = (number_of[e] - offsets[e]) * scales[e] - 1.0;
      }
      store_point<T, bits>(number_of, layout,
                           layout.position(local, at.along[0], at.along[1], at.along[2]),
                           group + layout.cells * kCompressedHeaderBytes);
    }
  }
  for (int place = 0; place < 2; ++place) {
    unsigned long long largest = shares[place];
    for (int offset = kWarp / 2; offset > 0; offset /= 2) {
      largest = max(largest, __shfl_xor_sync(kAllLanes, largest, offset));
    }
    if (lane == 0 && largest > 0) atomicMax(args.errors + place, largest);
  }
}

}  // namespace

template <class T>
DeviceCompressedFactors<T>::DeviceCompressedFactors(const BilinearForm& form,
                                                    const CompressedLayout& layout)
    : bits_(few_bits(sizeof(T))) {
  for (const CompressedBits bits : {few_bits(sizeof(T)), many_bits(sizeof(T))}) {
    bits_ = bits;
    pack(form, layout);
    if (errors_.are_small<T>()) return;
  }
  bits_ = plain_bits(sizeof(T));
  const Index bytes = layout.bytes(bits_, form.discretization->mesh.cell_count());
  make_unpacked(errors_.of_these, compressed_tolerance<T>(), bytes, [&] { pack(form, layout); });
}

namespace {

// to[cell][q] = r_q / w_q.
template <class T>
void divide_by_weights(const double* reaction, const double* weights, int m, Index cells, T* to) {
  const int points = m * m * m;
  for_each_entry(cells * points, "reaction at the points", [=] __device__(Index i) {
    const PointNumbers q(static_cast<int>(i % points), m, 3);
    to[i] = static_cast<T>(reaction[i] /
                           (weights[q.along[0]] * weights[q.along[1]] * weights[q.along[2]]));
  });
}

}  // namespace

template <class T>
Updated DeviceCompressedFactors<T>::update(const BilinearForm& form,
                                           const CompressedLayout& layout) {
  const bool has_reaction = reaction_kind(form.reaction) != ReactionKind::none;
  if (bits_ == plain_bits(sizeof(T)) || has_reaction != (reaction_.size() > 0)) {
    return Updated::no;
  }
  pack(form, layout);
  return errors_.are_those_of_new<T>(bits_) ? Updated::yes : Updated::no;
}

template <class T>
void DeviceCompressedFactors<T>::pack(const BilinearForm& form, const CompressedLayout& layout) {
  const Discretization& discretization = *form.discretization;
  const Index cells = discretization.mesh.cell_count();
  const int m = layout.points;
  if (data_.size() != layout.bytes(bits_, cells)) {
    data_ = DeviceArray<char>();  // one form at a time
    data_ = DeviceArray<char>(layout.bytes(bits_, cells));
  }
  zero_on_device(data_.data(), data_.bytes());
  DeviceFactorMaker<double> maker(form);
  const Index chunk = std::min(factor_chunk_cells(3, m, sizeof(double)), cells);
  const Index stride = device_factor_stride(FactorKind::general, 3, m, sizeof(double));
  DeviceArray<double> factors(chunk * stride);
  const DeviceArray<double> weights(discretization.basis.quadrature.weights);
  std::vector<double> of_weights = discretization.basis.quadrature.weights;
  for (double& weight : of_weights) weight = 1.0 / weight;
  const DeviceArray<double> inverse_weights(of_weights);
  DeviceArray<unsigned long long> errors(std::vector<unsigned long long>{0, 0});
  const bool are_few = bits_ == few_bits(sizeof(T));
  const auto errors_so_far = [&]() -> PackingErrors {
    const std::vector<unsigned long long> found = to_host(errors);
    const auto of_these = __builtin_bit_cast(double, found[0]);
    return {.of_these = of_these,
            .of_few = are_few ? of_these : __builtin_bit_cast(double, found[1])};
  };
  const Index points = power(m, 3);
  DeviceArray<double> reaction;
  if (reaction_kind(form.reaction) != ReactionKind::none) {
    reaction = DeviceArray<double>(chunk * points);
    if (reaction_.size() == 0) reaction_ = DeviceArray<T>(cells * points);
  }
  // Where few bits do not suffice, the first cells tell it already, most often.
  constexpr Index kFirst = 1 << 11;
  Index count = 0;
  for (Index first = 0; first < cells; first += count) {
    count = std::min(are_few && first == 0 ? std::min(chunk, kFirst) : chunk, cells - first);
    maker.make(first, count, factors.data(), reaction.data());
    if (reaction_.size() > 0) {
      divide_by_weights(reaction.data(), weights.data(), m, count,
                        reaction_.data() + first * points);
    }
    const PackArguments args{factors.data(), stride, inverse_weights.data(), first,
                             count,          layout, errors.data()};
    with_bits<T>(bits_, [&]<CompressedBits bits>() {
      launch(
          pack_kernel<T, bits>,
          {"packing of geometric factors", blocks_for(count, kThreads / kWarp, 1 << 20), kThreads},
          args, data_.data());
    });
    if (are_few) {
      errors_ = errors_so_far();
      if (!errors_.are_small<T>()) return;
    }
  }
  maker.check();
  if (are_few) return;
  errors_ = errors_so_far();
  if (bits_ == plain_bits(sizeof(T))) errors_.of_these = 0.0;
}

template class DeviceCompressedFactors<double>;
template class DeviceCompressedFactors<float>;

}  // namespace tessera
