// This is the way from the data of a Kronecker operator to its kernel.
#pragma once

#include "mesh/with_constant.hpp"
#include "operators/kronecker/tiles/kernel.cuh"
#include "operators/kronecker/warps/kernel.cuh"

namespace tessera {

/// Whether the mesh suits the wide tiles, and a block may have the shared memory of one.
/// @throws DeviceError
template <class Wide>
bool uses_wide_tiles(const KroneckerData<typename Wide::T>& data) {
  static const bool has_room = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) >=
                               Wide::shared_bytes(3, KroneckerCells::alike);
  static const int multiprocessors = device_attribute(cudaDevAttrMultiProcessorCount);
  return has_room && suits_wide_tiles(Wide::shape, Wide::p, cells_with_free_nodes(data, 0, Wide::p),
                                      cells_with_free_nodes(data, 1, Wide::p), multiprocessors);
}

/// The kernel of the data's kind of cells and form.
template <int dimension, class Shape>
void launch_kronecker_form(const KroneckerData<typename Shape::T>& data, ChunksOfKernels& chunks) {
  const auto launch_any = [&]<KroneckerCells kind>() {
    launch_kronecker_tiles<dimension, Shape, kind, KroneckerPass::any>(data, chunks);
  };
  if (data.kind == KroneckerCells::different) {
    return launch_any.template operator()<KroneckerCells::different>();
  }
  if constexpr (dimension == 3) {
    if (data.kind == KroneckerCells::multiples_along_z) {
      return launch_any.template operator()<KroneckerCells::multiples_along_z>();
    }
    if (data.kind == KroneckerCells::alike_along_xy) {
      return launch_any.template operator()<KroneckerCells::alike_along_xy>();
    }
  }
  using T = typename Shape::T;
  constexpr int P = Shape::p;
  const auto launch_form = [&]<KroneckerPass form>() {
    constexpr TileUse use = form == KroneckerPass::step ? TileUse::step : TileUse::product;
    if constexpr (has_wide_kronecker_tile(dimension, P, sizeof(T), use)) {
      using Wide = KroneckerShape<T, P, wide_kronecker_tile(P, sizeof(T), use)>;
      if (uses_wide_tiles<Wide>(data)) {
        return launch_kronecker_tiles<dimension, Wide, KroneckerCells::alike, form>(data, chunks);
      }
    }
    if constexpr (has_warp_kernel(dimension, P, sizeof(T)) && use == TileUse::step) {
      using Step = KroneckerShape<T, P, kStepTiles[P - 1]>;
      launch_kronecker_tiles<dimension, Step, KroneckerCells::alike, form>(data, chunks);
    } else if constexpr (has_warp_kernel(dimension, P, sizeof(T))) {
      launch_kronecker_warps<T, P, form>(data, chunks);
    } else {
      launch_kronecker_tiles<dimension, Shape, KroneckerCells::alike, form>(data, chunks);
    }
  };
  switch (data.v.form) {
    case KroneckerPass::apply:
      return launch_form.template operator()<KroneckerPass::apply>();
    case KroneckerPass::apply_dot:
      return launch_form.template operator()<KroneckerPass::apply_dot>();
    case KroneckerPass::residual:
      return launch_form.template operator()<KroneckerPass::residual>();
    case KroneckerPass::step:
      if constexpr (has_step_kernel(dimension, sizeof(T))) {
        return launch_form.template operator()<KroneckerPass::step>();
      }
      break;
    case KroneckerPass::any:
      break;
  }
}

template <int dimension, int first, int last, class T>
void launch_kronecker_degrees(int p, const KroneckerData<T>& data, ChunksOfKernels& chunks) {
  with_constant<first, last>(p, [&]<int P>() {
    launch_kronecker_form<dimension, KroneckerShape<T, P, kronecker_tile(dimension, P, sizeof(T))>>(
        data, chunks);
  });
}

}  // namespace tessera
