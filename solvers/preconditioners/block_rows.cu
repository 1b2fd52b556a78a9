// This file has the sweeps over blocks of rows on the GPU.
#include <algorithm>
#include <stdexcept>

#include "solvers/errors.hpp"
#include "solvers/memory/launch.cuh"
#include "solvers/memory/running_sum.cuh"
#include "solvers/preconditioners/block_rows.hpp"
#include "solvers/preconditioners/block_rows_kernels.cuh"
#include "solvers/preconditioners/ordered_sweeps.hpp"

namespace tessera {
namespace {

template <class T>
Matrix<T> view(const BlockRows<T, Device>& a) {
  return {a.block_count,    a.max_rows,       a.begin.data(),
          a.rows.data(),    a.entries.data(), a.inside.data(),
          a.columns.data(), a.values.data(),  a.inverse_diagonal.data()};
}

template <class T>
Sweep<T> in_precision(const BlockSweep& sweep) {
  return {sweep.local_sweeps, static_cast<T>(sweep.damping), static_cast<T>(sweep.factor)};
}

template <class T>
std::size_t shared_bytes(const BlockRows<T, Device>& a) {
  return 4 * static_cast<std::size_t>(a.max_rows) * sizeof(T);
}

// Calls f with the number of lanes per row as a constant, such that each lane has a few entries.
template <class T, class F>
void with_lanes(const BlockRows<T, Device>& a, F&& f) {
  const Index average = a.values.size() / std::max<Index>(a.size(), 1);
  if (average < 16) {
    f(std::integral_constant<int, 4>());
  } else if (average < 64) {
    f(std::integral_constant<int, 8>());
  } else if (average < 128) {
    f(std::integral_constant<int, 16>());
  } else {
    f(std::integral_constant<int, 32>());
  }
}

template <class T, class Access>
void launch_sweep(const BlockRows<T, Device>& a, const BlockSweep& sweep, const DeviceVector<T>& b,
                  const Access& access) {
  if (a.block_count == 0) return;
  with_lanes(a, [&](auto lanes) {
    launch(sweep_kernel<lanes(), T, Access>,
           {"sweeping over blocks", blocks_for(a.block_count, 1), kThreads, shared_bytes(a)},
           view(a), in_precision<T>(sweep), b.data(), access);
  });
}

// @param order of the items, or null: sweep by sweep
template <class T>
void take_items(const BlockRows<T, Device>& a, const BlockSweep& sweep, Index items,
                const std::int32_t* order, QueueWorkers workers, const DeviceVector<T>& b,
                DeviceVector<T>& x) {
  if (items == 0) return;
  zero_on_device(a.queue.data(), a.queue.bytes());
  with_lanes(a, [&](auto lanes) {
    const auto kernel = asynchronous_sweeps_kernel<lanes(), T>;
    const Index most =
        workers == QueueWorkers::one ? 1 : resident_blocks(kernel, kThreads, shared_bytes(a));
    launch(kernel,
           {"sweeping over blocks asynchronously", blocks_for(std::min(most, items), 1), kThreads,
            shared_bytes(a)},
           view(a), in_precision<T>(sweep), static_cast<unsigned long long>(items), order, b.data(),
           Present<T>{x.data()}, a.queue.data());
  });
}

}  // namespace

template <class T>
BlockRows<T, Device> make_block_rows(const DeviceSparseRows<T>& matrix, const RowBlocks& blocks) {
  if (blocks.max_rows() > kMaxDeviceBlockRows) {
    throw UnsuitableChoice(Choice::preconditioner,
                           "a block has more rows than the GPU's shared memory is for");
  }
  const auto n = static_cast<Index>(blocks.rows.size());
  const Index nonzeros = matrix.values.size();
  BlockRows<T, Device> a;
  a.block_count = blocks.count();
  a.max_rows = static_cast<int>(blocks.max_rows());
  a.begin = DeviceArray<Index>(blocks.begin);
  a.rows = DeviceArray<std::int32_t>(blocks.rows);
  a.entries = DeviceArray<Index>(n + 1);
  a.inside = DeviceArray<std::int32_t>(n);
  a.columns = DeviceArray<std::int32_t>(nonzeros);
  a.values = DeviceArray<T>(nonzeros);
  a.inverse_diagonal = DeviceArray<T>(n);
  a.queue = DeviceArray<unsigned long long>(1);
  if (n == 0) return a;

  DeviceArray<std::int32_t> places(n);
  launch(place_rows_kernel,
         {"placing rows in blocks", blocks_for(n + 1, kThreads, kMaxGrid), kThreads}, n,
         a.rows.data(), matrix.starts.data(), places.data(), a.entries.data());
  sum_preceding(a.entries);
  launch(fill_block_rows_kernel<T>,
         {"filling the rows of blocks", blocks_for(a.block_count, 1), kThreads}, a.begin.data(),
         a.rows.data(), matrix.starts.data(), matrix.columns.data(), matrix.values.data(),
         places.data(), a.entries.data(), a.inside.data(), a.columns.data(), a.values.data(),
         a.inverse_diagonal.data());
  // From here on the matrix and temporary arrays may be freed.
  synchronize_device();
  return a;
}

template <class T>
std::int64_t block_rows_bytes(const BlockRows<T, Device>& a) {
  return a.begin.bytes() + a.rows.bytes() + a.entries.bytes() + a.inside.bytes() +
         a.columns.bytes() + a.values.bytes() + a.inverse_diagonal.bytes() + a.queue.bytes();
}

template <class T>
void relax(const BlockRows<T, Device>& a, const BlockSweep& sweep, const DeviceVector<T>& b,
           const DeviceVector<T>& from, DeviceVector<T>& to) {
  launch_sweep(a, sweep, b, Frozen<T>{from.data(), to.data()});
}

template <class T>
void relax_from_zero(const BlockRows<T, Device>& a, const BlockSweep& sweep,
                     const DeviceVector<T>& b, DeviceVector<T>& to) {
  launch_sweep(a, sweep, b, FromZero<T>{to.data()});
}

template <class T>
void relax_asynchronously(const BlockRows<T, Device>& a, const BlockSweep& sweep, int sweeps,
                          const DeviceVector<T>& b, DeviceVector<T>& x) {
  take_items(a, sweep, sweeps * a.block_count, nullptr, QueueWorkers::all, b, x);
}

template <class T>
void relax_in_order(const BlockRows<T, Device>& a, const BlockSweep& sweep,
                    const DeviceArray<std::int32_t>& order, QueueWorkers workers,
                    const DeviceVector<T>& b, DeviceVector<T>& x) {
  take_items(a, sweep, order.size(), order.data(), workers, b, x);
}

template <class T>
void relax_in_place(const BlockRows<T, Device>& a, const BlockSweep& sweep,
                    const DeviceVector<T>& b, DeviceVector<T>& x) {
  launch_sweep(a, sweep, b, Present<T>{x.data()});
}

#define TESSERA_INSTANTIATE(T)                                                                 \
  template BlockRows<T, Device> make_block_rows(const DeviceSparseRows<T>&, const RowBlocks&); \
  template std::int64_t block_rows_bytes(const BlockRows<T, Device>&);                         \
  template void relax(const BlockRows<T, Device>&, const BlockSweep&, const DeviceVector<T>&,  \
                      const DeviceVector<T>&, DeviceVector<T>&);                               \
  template void relax_from_zero(const BlockRows<T, Device>&, const BlockSweep&,                \
                                const DeviceVector<T>&, DeviceVector<T>&);                     \
  template void relax_asynchronously(const BlockRows<T, Device>&, const BlockSweep&, int,      \
                                     const DeviceVector<T>&, DeviceVector<T>&);                \
  template void relax_in_order(const BlockRows<T, Device>&, const BlockSweep&,                 \
                               const DeviceArray<std::int32_t>&, QueueWorkers,                 \
                               const DeviceVector<T>&, DeviceVector<T>&);                      \
  template void relax_in_place(const BlockRows<T, Device>&, const BlockSweep&,                 \
                               const DeviceVector<T>&, DeviceVector<T>&);

TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(float)
#undef TESSERA_INSTANTIATE

}  // namespace tessera
