// This file has the local kernels of the GPU and chooses their shapes.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "operators/local/device_local.hpp"
#include "operators/local/product.cuh"
#include "solvers/check.hpp"
#include "solvers/memory/device_array.hpp"

namespace tessera {
namespace {

// product_kernel() of some shape.
template <class T>
struct SharedProduct {
  void (*kernel)(LocalArguments<T>, const T*, const CellNode*) = nullptr;
  int cells = 0;
  int threads = 0;
  Index shared_bytes = 0;
  int max_nodes = 0;
};

constexpr int kAnyNodes = std::numeric_limits<int>::max();

template <class T, class Shape>
SharedProduct<T> make_product(int nodes, int max_nodes) {
  const Index values = static_cast<Index>(padded_nodes(nodes)) * Shape::kCellStride +
                       2 * Shape::kDepth * Shape::kRowStride;
  return {product_kernel<T, Shape>, Shape::kCells, Shape::kThreads,
          values * static_cast<Index>(sizeof(T)) +
              Shape::kCells * static_cast<Index>(sizeof(CellPlace)),
          max_nodes};
}

// The first that suits; without a kernel if u of the fewest cells does not fit.
template <class T>
SharedProduct<T> choose_product(int nodes, Index max_shared_bytes) {
  const SharedProduct<T> products[] = {
      make_product<T, ProductShape<16, 32, 1, 4, 16>>(nodes, 16),
      make_product<T, ProductShape<32, 32, 1, 4, 16>>(nodes, 32),
      make_product<T, ProductShape<32, 32, 2, 4, 16>>(nodes, 64),
      make_product<T, ProductShape<32, 32, 4, 8, 16>>(nodes, kAnyNodes),
      make_product<T, ProductShape<32, 16, 4, 8, 8>>(nodes, kAnyNodes),
      make_product<T, ProductShape<32, 8, 4, 8, 8>>(nodes, kAnyNodes)};
  for (const SharedProduct<T>& product : products) {
    if (nodes <= product.max_nodes && product.shared_bytes <= max_shared_bytes) return product;
  }
  return {};
}

Index max_shared_bytes() { return device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin); }

// What both kernels are: the matrices and how they lie.
template <class T>
class DeviceLocal : public DeviceCellKernel<T> {
 public:
  void apply(const CellRange& range, const CellSource<T>& source,
             const CellSink<T>& sink) const override {
    TESSERA_CHECK(sink.kind != SinkKind::patch);
    if (range.size() > 0) multiply({grid_, range, source, sink, nodes_});
  }

  void add_diagonal(const std::vector<CellRange>& colors, T* d) const override {
    for (const CellRange& range : colors) {
      const unsigned blocks = blocks_for(range.size() * nodes_, kThreads, 1 << 20);
      launch(add_diagonal_kernel<T>, {"diagonal of local matrices", blocks, kThreads},
             {grid_, range, {}, {}, nodes_}, matrices_.data(), cell_stride_, entry_stride_,
             table_.data(), d);
    }
  }

  std::optional<FactorStorage> factor_storage() const override { return std::nullopt; }
  std::string why_no_patches() const override { return "local matrices have no patches"; }

  double flops_per_cell() const override { return 2.0 * nodes_ * nodes_; }
  Index bytes() const override { return matrices_.bytes() + table_.bytes(); }
  Index streamed_bytes() const override { return matrices_.bytes(); }

 protected:
  explicit DeviceLocal(const BilinearForm& form)
      : grid_(make_cell_grid(form)),
        nodes_(form.discretization->lattice.nodes_per_cell()),
        is_shared_(factor_kind(form.discretization->mapping, form.coefficient, form.reaction) ==
                   FactorKind::constant),
        matrices_((is_shared_ ? 1 : all_cells(grid_).size()) * entries()),
        table_(nodes_) {
    launch(fill_table_kernel, {"table of a cell's nodes", blocks_for(nodes_, kThreads), kThreads},
           grid_, nodes_, table_.data());
  }

  Index entries() const { return static_cast<Index>(nodes_) * nodes_; }

  // Launches with at least one cell.
  virtual void multiply(const LocalArguments<T>& args) const = 0;

  CellGrid grid_;
  int nodes_;
  bool is_shared_;
  DeviceArray<T> matrices_;
  DeviceArray<CellNode> table_;
  // As add_diagonal_kernel() takes them.
  Index cell_stride_ = 0;
  Index entry_stride_ = 1;
};

template <class T>
class DeviceLocalKernel final : public DeviceLocal<T> {
 public:
  DeviceLocalKernel(const BilinearForm& form, const DeviceCellKernel<T>& kernel)
      : DeviceLocal<T>(form) {
    const CellRange one_cell{{0, 0, 0}, {1, 1, 1}, 1};
    find_local_matrices(kernel, this->is_shared_ ? one_cell : all_cells(this->grid_), this->nodes_,
                        this->matrices_.data());
    if (this->is_shared_) {
      product_ = choose_product<T>(this->nodes_, max_shared_bytes());
    } else {
      this->cell_stride_ = this->entries();
    }
    // All there is, so that launches of other objects with the same kernel stay allowed.
    if (product_.kernel != nullptr) {
      allow_shared_memory(product_.kernel, max_shared_bytes());
      return;
    }
    cells_ = std::max(1, kThreads / this->nodes_);
    threads_ =
        std::min(kMaxThreads, static_cast<int>(ceil_div(cells_ * this->nodes_, kWarp)) * kWarp);
    const Index wanted = cells_ * static_cast<Index>(sizeof(CellPlace) +
                                                     streamed_nodes<T>(this->nodes_) * sizeof(T));
    if (wanted > max_shared_bytes()) {
      throw DeviceError("the kernel local needs " + std::to_string(wanted >> 10) +
                        " KiB of shared memory for this degree, this GPU has " +
                        std::to_string(max_shared_bytes() >> 10) + " KiB; use another kernel");
    }
    allow_shared_memory(stream_kernel<T>, max_shared_bytes());
  }

  std::string_view name() const override { return "local"; }

 private:
  void multiply(const LocalArguments<T>& args) const override {
    const Index count = args.range.size();
    if (product_.kernel != nullptr) {
      launch(product_.kernel,
             {"product with a shared local matrix", blocks_for(count, product_.cells),
              product_.threads, static_cast<std::size_t>(product_.shared_bytes)},
             args, this->matrices_.data(), this->table_.data());
      return;
    }
    const std::size_t shared_bytes =
        cells_ * (sizeof(CellPlace) + streamed_nodes<T>(this->nodes_) * sizeof(T));
    launch(stream_kernel<T>,
           {"products with local matrices", blocks_for(count, cells_), threads_, shared_bytes},
           args, this->matrices_.data(), this->cell_stride_, this->table_.data(), cells_);
  }

  SharedProduct<T> product_;
  // A block of stream_kernel(), which also serves shared matrices too large for product_kernel().
  int cells_ = 0;
  int threads_ = 0;
};

template <class T>
class DeviceLocalThreadKernel final : public DeviceLocal<T> {
 public:
  DeviceLocalThreadKernel(const BilinearForm& form, const DeviceCellKernel<T>& kernel)
      : DeviceLocal<T>(form) {
    if (this->is_shared_) {
      find_local_matrices(kernel, {{0, 0, 0}, {1, 1, 1}, 1}, this->nodes_, this->matrices_.data());
      return;
    }
    this->cell_stride_ = 1;
    this->entry_stride_ = all_cells(this->grid_).size();
    fill(kernel);
  }

  std::string_view name() const override { return "local-thread"; }

 private:
  void multiply(const LocalArguments<T>& args) const override {
    launch(thread_kernel<T>,
           {"local matrices by one thread a cell", blocks_for(args.range.size(), kCellThreads),
            kCellThreads},
           args, this->matrices_.data(), this->cell_stride_, this->entry_stride_,
           this->table_.data());
  }

  // Computes and transposes slab by slab.
  void fill(const DeviceCellKernel<T>& kernel) {
    const Index matrix_bytes = this->entries() * static_cast<Index>(sizeof(T));
    const CellRange largest = largest_slab(this->grid_, kLocalScratchBytes / matrix_bytes);
    DeviceArray<T> scratch(largest.size() * this->entries());
    for_each_slab(this->grid_, largest, [&](const CellRange& slab) {
      find_local_matrices(kernel, slab, this->nodes_, scratch.data());
      const Index tiles = ceil_div(this->entries(), kTile) * ceil_div(slab.size(), kTile);
      launch(transpose_kernel<T>,
             {"transposition of local matrices", blocks_for(tiles, 1), dim3(kTile, kTileRows)},
             scratch.data(), this->entries(), slab.size(), this->entry_stride_,
             this->matrices_.data() + cell_number(this->grid_, slab.first));
    });
    // Before the scratch goes.
    synchronize_device();
  }
};

}  // namespace

template <class T>
std::unique_ptr<DeviceCellKernel<T>> make_device_local_kernel(const BilinearForm& form,
                                                              const DeviceCellKernel<T>& kernel) {
  return std::make_unique<DeviceLocalKernel<T>>(form, kernel);
}

template <class T>
std::unique_ptr<DeviceCellKernel<T>> make_device_local_thread_kernel(
    const BilinearForm& form, const DeviceCellKernel<T>& kernel) {
  return std::make_unique<DeviceLocalThreadKernel<T>>(form, kernel);
}

template std::unique_ptr<DeviceCellKernel<double>> make_device_local_kernel(
    const BilinearForm&, const DeviceCellKernel<double>&);
template std::unique_ptr<DeviceCellKernel<float>> make_device_local_kernel(
    const BilinearForm&, const DeviceCellKernel<float>&);
template std::unique_ptr<DeviceCellKernel<double>> make_device_local_thread_kernel(
    const BilinearForm&, const DeviceCellKernel<double>&);
template std::unique_ptr<DeviceCellKernel<float>> make_device_local_thread_kernel(
    const BilinearForm&, const DeviceCellKernel<float>&);

}  // namespace tessera
