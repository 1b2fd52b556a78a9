// These sweeps over blocks of rows work in place, in an order that the caller gives or the hardware
// chooses.
#pragma once

#include <cstdint>
#include <vector>

#include "solvers/preconditioners/block_rows.hpp"

namespace tessera {

/// Who takes the items of a queue: all threads (on the GPU: as many thread blocks as run at a
/// time), or one of them alone.
enum class QueueWorkers { all, one };

/// As relax_asynchronously(), but the queue holds these blocks in this order, each as often as it
/// is named. With one worker it is block Gauss-Seidel in this order, and the same bits in every
/// run.
template <class T>
void relax_in_order(const BlockRows<T, Host>& a, const BlockSweep& sweep,
                    const std::vector<std::int32_t>& order, QueueWorkers workers,
                    const HostVector<T>& b, HostVector<T>& x);
template <class T>
void relax_in_order(const BlockRows<T, Device>& a, const BlockSweep& sweep,
                    const DeviceArray<std::int32_t>& order, QueueWorkers workers,
                    const DeviceVector<T>& b, DeviceVector<T>& x);

/// One sweep in place without a queue: every block is relaxed once and sees what the others have
/// written by then. On the host each thread has a contiguous part of the blocks. On the GPU it is
/// one launch with a thread block for each block of rows, which the hardware starts in its order.
template <class T>
void relax_in_place(const BlockRows<T, Host>& a, const BlockSweep& sweep, const HostVector<T>& b,
                    HostVector<T>& x);
template <class T>
void relax_in_place(const BlockRows<T, Device>& a, const BlockSweep& sweep,
                    const DeviceVector<T>& b, DeviceVector<T>& x);

}  // namespace tessera
