// This file multiplies matrices on the GPU by tiles, in double precision on tensor cores.
#include <cuda_pipeline.h>

#include <algorithm>
#include <type_traits>

#include "mesh/index.hpp"
#include "operators/fast_diagonalization/matrix_products.hpp"
#include "operators/fast_diagonalization/matrix_tiles.cuh"
#include "solvers/check.hpp"
#include "solvers/memory/launch.cuh"

namespace tessera {
namespace {

template <class T>
struct ProductArguments {
  MatrixProduct<T> products[kMaxProductsAtATime];
  std::int64_t first;
};

// c_k = op_a(a_k) op_b(b_k). Launch: Tile::threads for each tile of c, those side by side that
// share the larger factor; k the grid's y, a product a blockIdx.z. Shared memory:
// Tile::shared_bytes(). An entry of a or b is read once for each tile along the other factor;
// 2 rows columns inner flops. Deterministic.
template <class T, Factor op_a, Factor op_b, int bytes, class Tile>
__global__ void __launch_bounds__(Tile::threads, Tile::blocks)
    product_kernel(ProductArguments<T> arguments) {
  constexpr Fastest kOfA = op_a == Factor::plain ? Fastest::outer : Fastest::inner;
  constexpr Fastest kOfB = op_b == Factor::plain ? Fastest::inner : Fastest::outer;
  extern __shared__ __align__(16) unsigned char shared[];
  T* const panels = reinterpret_cast<T*>(shared);
  const MatrixProduct<T>& p = arguments.products[blockIdx.z];
  const std::int64_t row_tiles = ceil_div(p.rows, Tile::rows);
  const std::int64_t column_tiles = ceil_div(p.columns, Tile::columns);
  const std::int64_t tile = blockIdx.x;
  if (tile >= row_tiles * column_tiles) return;
  const bool rows_first = row_tiles <= column_tiles;
  const std::int64_t row = (rows_first ? tile % row_tiles : tile / column_tiles) * Tile::rows;
  const std::int64_t column = (rows_first ? tile / row_tiles : tile % column_tiles) * Tile::columns;
  const std::int64_t k = arguments.first + blockIdx.y;
  PanelCopies<T, kOfA, Tile::rows, Tile::threads, bytes> of_a(
      p.a.data + k * p.a.stride + row * (kOfA == Fastest::inner ? p.a.leading : 1), p.a.leading,
      p.rows - row);
  PanelCopies<T, kOfB, Tile::columns, Tile::threads, bytes> of_b(
      p.b.data + k * p.b.stride + column * (kOfB == Fastest::inner ? p.b.leading : 1), p.b.leading,
      p.columns - column);
  constexpr unsigned kStageBytes = Tile::panels * unsigned{sizeof(T)};
  int to_copy = static_cast<int>(p.inner);
  const auto first_panel = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  unsigned to = 0;
  const auto copy = [&] {
    if (to_copy > 0) {
      of_a.begin(to_copy, first_panel + to);
      of_b.begin(to_copy, first_panel + to + kPanel<Tile::rows> * unsigned{sizeof(T)});
      to_copy -= kInner;
      to = to == (kStages - 1) * kStageBytes ? 0 : to + kStageBytes;
    }
    __pipeline_commit();
  };
  TileSum<T, Tile> sum;
  for (int stage = 0; stage < kStages - 1; ++stage) copy();
  const T* from = panels;
  for (int left = static_cast<int>(p.inner); left > 0; left -= kInner) {
    __pipeline_wait_prior(kStages - 2);
    // Panels are there for all, and those that are copied over now have been used.
    __syncthreads();
    copy();
    sum.template add<kOfA, kOfB>(from, from + kPanel<Tile::rows>);
    from = from == panels + (kStages - 1) * Tile::panels ? panels : from + Tile::panels;
  }
  T* const c = p.c.data + k * p.c.stride;
  sum.template for_each<kOfA, kOfB>([&](int i, int j, T value) {
    if (row + i < p.rows && column + j < p.columns) {
      c[row + i + (column + j) * p.c.leading] = value;
    }
  });
}

// Whether all panels can be copied 16 bytes at a time.
template <class T>
bool are_aligned(const DeviceMatrix<const T>& matrix) {
  constexpr std::int64_t kValues = 16 / sizeof(T);
  return reinterpret_cast<std::uintptr_t>(matrix.data) % 16 == 0 && matrix.leading % kValues == 0 &&
         matrix.stride % kValues == 0;
}

template <class T, int bytes, class Tile>
auto kernel_of(Factor op_a, Factor op_b) {
  if (op_a == Factor::transposed) {
    TESSERA_CHECK(op_b == Factor::plain);
    return product_kernel<T, Factor::transposed, Factor::plain, bytes, Tile>;
  }
  return op_b == Factor::plain ? product_kernel<T, Factor::plain, Factor::plain, bytes, Tile>
                               : product_kernel<T, Factor::plain, Factor::transposed, bytes, Tile>;
}

// Entries of the tiles of all products.
template <class Tile, class T>
std::int64_t area_of_tiles(std::span<const MatrixProduct<T>> products) {
  std::int64_t tiles = 0;
  for (const MatrixProduct<T>& product : products) {
    tiles += ceil_div(product.rows, Tile::rows) * ceil_div(product.columns, Tile::columns);
  }
  return tiles * Tile::rows * Tile::columns;
}

template <class T, int bytes, class Tile>
void launch_products(Factor op_a, Factor op_b, std::span<const MatrixProduct<T>> products,
                     std::int64_t count, cudaStream_t stream) {
  ProductArguments<T> arguments{};
  std::int64_t tiles = 0;
  for (std::size_t i = 0; i < products.size(); ++i) {
    arguments.products[i] = products[i];
    tiles = std::max(tiles, ceil_div(products[i].rows, Tile::rows) *
                                ceil_div(products[i].columns, Tile::columns));
  }
  if (tiles == 0) return;
  constexpr std::int64_t kShared = Tile::template shared_bytes<T>();
  const auto kernel = kernel_of<T, bytes, Tile>(op_a, op_b);
  allow_shared_memory(kernel, kShared);
  constexpr std::int64_t kMaxAlongY = 65535;
  for (; arguments.first < count; arguments.first += kMaxAlongY) {
    const dim3 blocks(static_cast<unsigned>(tiles),
                      static_cast<unsigned>(std::min(count - arguments.first, kMaxAlongY)),
                      static_cast<unsigned>(products.size()));
    launch(kernel,
           {"a matrix product", blocks, Tile::threads, static_cast<std::size_t>(kShared), stream},
           arguments);
  }
}

}  // namespace

template <class T>
void multiply(Factor op_a, Factor op_b, std::span<const MatrixProduct<T>> products,
              std::int64_t count, cudaStream_t stream) {
  TESSERA_CHECK(products.size() <= kMaxProductsAtATime);
  const bool is_aligned =
      std::all_of(products.begin(), products.end(), [](const MatrixProduct<T>& product) {
        return are_aligned(product.a) && are_aligned(product.b);
      });
  constexpr int kBytes = static_cast<int>(sizeof(T));
  if (!is_aligned) {
    return launch_products<T, kBytes, Tile<128, 64, 64, 32>>(op_a, op_b, products, count, stream);
  }
  using Upright = Tile<128, 64, 64, 32>;
  using Flat = Tile<64, 128, 32, 64>;
  if (area_of_tiles<Upright>(products) < area_of_tiles<Flat>(products)) {
    launch_products<T, 16, Upright>(op_a, op_b, products, count, stream);
  } else {
    launch_products<T, 16, Flat>(op_a, op_b, products, count, stream);
  }
}

template void multiply(Factor, Factor, std::span<const MatrixProduct<double>>, std::int64_t,
                       cudaStream_t);
template void multiply(Factor, Factor, std::span<const MatrixProduct<float>>, std::int64_t,
                       cudaStream_t);

}  // namespace tessera
