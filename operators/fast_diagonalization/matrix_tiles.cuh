// These classes are the tiles that products of matrices are made by.
#pragma once

#include <cstdint>

#include "operators/cells/device_generation.cuh"

namespace tessera {

// A block makes a tile of c, from panels of kInner places of the sum of a and b, and has the panels
// of the next steps on their way to shared memory. From a panel of 64 rows and one of 64 columns
// come 8 flops a byte in double precision, for which the L2 cache is too slow: one of them has 128.
inline constexpr int kInner = 16;
inline constexpr int kStages = 3;

// Which index of a panel lies fastest in memory: that of the sum, or the other one. It is kept.
enum class Fastest { inner, outer };

// Entries of a panel from a place of its slow index to the next one, which begins in other banks of
// shared memory.
template <Fastest fastest, int outer>
inline constexpr int kPitch = (fastest == Fastest::inner ? kInner : outer) + 4;
// Of a panel in either order.
template <int outer>
inline constexpr int kPanel = kPitch<Fastest::inner, outer>* outer;

// A block's entries of c, rows by columns, and those of each of its warps.
template <int rows_, int columns_, int warp_rows_, int warp_columns_>
struct Tile {
  static constexpr int rows = rows_;
  static constexpr int columns = columns_;
  static constexpr int warp_rows = warp_rows_;
  static constexpr int warp_columns = warp_columns_;
  static constexpr int threads = 32 * (rows / warp_rows) * (columns / warp_columns);
  // On a multiprocessor: while the threads of one wait for each other, another one goes on.
  static constexpr int blocks = 2;
  static constexpr int panels = kPanel<rows> + kPanel<columns>;

  template <class T>
  static constexpr std::int64_t shared_bytes() {
    return std::int64_t{kStages} * panels * sizeof(T);
  }
};

// Where an entry is in a panel.
template <Fastest fastest, int outer_size, class T>
__device__ const T* entry(const T* panel, int outer, int inner) {
  constexpr int kStep = kPitch<fastest, outer_size>;
  return panel + (fastest == Fastest::inner ? outer * kStep + inner : inner * kStep + outer);
}

// Begins to copy so many bytes to shared memory, those beyond `valid` as 0.
template <int bytes>
__device__ void copy_async(unsigned to, const void* from, int valid) {
  if constexpr (bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(valid));
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(bytes),
                 "r"(valid));
  }
}

// Copies the panels of a factor, one after the other, `bytes` at a time; entries beyond the matrix
// are 0.
template <class T, Fastest fastest, int outer, int threads, int bytes>
class PanelCopies {
 public:
  // @param from the first entry of the first panel
  // @param outer_left rows or columns of the matrix from there on
  __device__ PanelCopies(const T* from, std::int64_t leading, std::int64_t outer_left)
      : from_(from + slow() * leading + fast()),
        step_(kInnerIsFast ? kInner : kInner * leading),
        leap_(kSlow * leading),
        outer_left_(static_cast<int>(outer_left < outer ? outer_left : outer)) {}

  // Begins to copy the next panel. @param inner_left places of the sum from there on
  // @param panel in shared memory
  __device__ void begin(int inner_left, unsigned panel) {
    constexpr int kSize = static_cast<int>(sizeof(T));
    const unsigned to = panel + (slow() * kPitch<fastest, outer> + fast()) * kSize;
    const auto copy = [&](auto&& values_of) {
#pragma unroll
      for (int k = 0; k < kCopies; ++k) {
        copy_async<bytes>(to + k * kSlow * kPitch<fastest, outer> * kSize, from_ + k * leap_,
                          values_of(k) * kSize);
      }
    };
    if (outer_left_ == outer && inner_left >= kInner) {
      copy([](int) { return kValues; });
    } else {
      const int slow_left = kInnerIsFast ? outer_left_ : inner_left;
      const int fast_left = min(kValues, (kInnerIsFast ? inner_left : outer_left_) - fast());
      copy([&](int k) { return slow() + k * kSlow < slow_left && fast_left > 0 ? fast_left : 0; });
    }
    from_ += step_;
  }

 private:
  static constexpr bool kInnerIsFast = fastest == Fastest::inner;
  static constexpr int kValues = bytes / static_cast<int>(sizeof(T));
  static constexpr int kFast = (kInnerIsFast ? kInner : outer) / kValues;  // copies side by side
  static constexpr int kSlow = threads / kFast;  // places of the slow index at a time
  static constexpr int kCopies = outer * kInner / kValues / threads;
  static_assert(threads % kFast == 0 && outer * kInner / kValues % threads == 0);

  static __device__ int slow() { return static_cast<int>(threadIdx.x) / kFast; }
  static __device__ int fast() { return static_cast<int>(threadIdx.x) % kFast * kValues; }

  const T* from_;
  std::int64_t step_;
  std::int64_t leap_;
  int outer_left_;
};

// What a thread has of a block's tile of c.
template <class T, class Tile>
struct TileSum;

// A warp has its entries as tensor cores lay them out.
template <class Tile>
struct TileSum<double, Tile> {
  static constexpr int kRows = Tile::warp_rows / 16;
  static constexpr int kColumns = Tile::warp_columns / 8;
  double sum[kRows][kColumns][4] = {};

  template <Fastest of_a, Fastest of_b>
  __device__ void add(const double* a, const double* b) {
#pragma unroll
    for (int k = 0; k < kInner; k += 8) {
      double from_a[kRows][4];
      double from_b[kColumns][2];
#pragma unroll
      for (int m = 0; m < kRows; ++m) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          from_a[m][i] = *entry<of_a, Tile::rows>(a, first_row() + 16 * m + i % 2 * 8,
                                                  k + i / 2 * 4 + in_four());
        }
      }
#pragma unroll
      for (int n = 0; n < kColumns; ++n) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          from_b[n][i] = *entry<of_b, Tile::columns>(b, first_column() + 8 * n + in_eight(),
                                                     k + 4 * i + in_four());
        }
      }
#pragma unroll
      for (int m = 0; m < kRows; ++m) {
#pragma unroll
        for (int n = 0; n < kColumns; ++n) multiply_add_16x8x8(from_a[m], from_b[n], sum[m][n]);
      }
    }
  }

  // f(row, column, entry) of each.
  template <Fastest of_a, Fastest of_b, class F>
  __device__ void for_each(F&& f) const {
#pragma unroll
    for (int n = 0; n < kColumns; ++n) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
#pragma unroll
        for (int m = 0; m < kRows; ++m) {
#pragma unroll
          for (int half = 0; half < 2; ++half) {
            f(first_row() + 16 * m + 8 * half, first_column() + 8 * n + 2 * in_four() + j,
              sum[m][n][2 * half + j]);
          }
        }
      }
    }
  }

 private:
  static constexpr int kWarpsOfAColumn = Tile::rows / Tile::warp_rows;
  static __device__ int warp() { return static_cast<int>(threadIdx.x) / 32; }
  static __device__ int in_four() { return static_cast<int>(threadIdx.x) % 4; }
  static __device__ int in_eight() { return static_cast<int>(threadIdx.x) % 32 / 4; }
  static __device__ int first_row() {
    return warp() % kWarpsOfAColumn * Tile::warp_rows + in_eight();
  }
  static __device__ int first_column() { return warp() / kWarpsOfAColumn * Tile::warp_columns; }
};

// A thread has 8 columns of some rows: four side by side where these lie so in a panel, and all
// apart where four places of the sum do.
template <class Tile>
struct TileSum<float, Tile> {
  static constexpr int kColumns = 8;
  static constexpr int kRows = Tile::rows * Tile::columns / Tile::threads / kColumns;
  float sum[kRows][kColumns] = {};

  template <Fastest of_a, Fastest of_b>
  __device__ void add(const float* a, const float* b) {
#pragma unroll
    for (int k = 0; k < kInner; k += 4) {
      float from_a[4][kRows];
      float from_b[4][kColumns];
      load<of_a, Tile::rows>(a, in_row(), k, from_a);
      load<of_b, Tile::columns>(b, in_column(), k, from_b);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int m = 0; m < kRows; ++m) {
#pragma unroll
          for (int n = 0; n < kColumns; ++n) sum[m][n] += from_a[i][m] * from_b[i][n];
        }
      }
    }
  }

  template <Fastest of_a, Fastest of_b, class F>
  __device__ void for_each(F&& f) const {
#pragma unroll
    for (int n = 0; n < kColumns; ++n) {
#pragma unroll
      for (int m = 0; m < kRows; ++m) {
        f(place<of_a, Tile::rows, kRows>(in_row(), m),
          place<of_b, Tile::columns, kColumns>(in_column(), n), sum[m][n]);
      }
    }
  }

 private:
  static constexpr int kThreadsOfAColumn = Tile::rows / kRows;
  static __device__ int in_row() { return static_cast<int>(threadIdx.x) % kThreadsOfAColumn; }
  static __device__ int in_column() { return static_cast<int>(threadIdx.x) / kThreadsOfAColumn; }

  // The place of entry m of `count` of a thread, of which there are size / count.
  template <Fastest fastest, int size, int count>
  static __device__ int place(int thread, int m) {
    constexpr int kThreads = size / count;
    return fastest == Fastest::inner ? m * kThreads + thread
                                     : m / 4 * (4 * kThreads) + 4 * thread + m % 4;
  }

  template <Fastest fastest, int size, int count>
  static __device__ void load(const float* panel, int thread, int k, float (&values)[4][count]) {
    if constexpr (fastest == Fastest::inner) {
#pragma unroll
      for (int m = 0; m < count; ++m) {
        const auto four = *reinterpret_cast<const float4*>(
            entry<fastest, size>(panel, place<fastest, size, count>(thread, m), k));
        values[0][m] = four.x;
        values[1][m] = four.y;
        values[2][m] = four.z;
        values[3][m] = four.w;
      }
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int m = 0; m < count; m += 4) {
          const auto four = *reinterpret_cast<const float4*>(
              entry<fastest, size>(panel, place<fastest, size, count>(thread, m), k + i));
          values[i][m] = four.x;
          values[i][m + 1] = four.y;
          values[i][m + 2] = four.z;
          values[i][m + 3] = four.w;
        }
      }
    }
  }
};

}  // namespace tessera
