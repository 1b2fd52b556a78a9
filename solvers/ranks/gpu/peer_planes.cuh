// This kernel adds planes of ranks that store into the memory of each other's GPUs.
#pragma once

#include "solvers/memory/reduction.cuh"
#include "solvers/ranks/gpu/entry_planes.cuh"
#include "solvers/ranks/gpu/peer_kernels.cuh"

namespace tessera {
namespace {

// The kernel of peer_carrier.cu, which alone includes this.

/// What a rank and a neighbor add.
struct PeerPlane {
  NumberedPlane entries;
  Cut cut;
  bool is_others;  // the neighbor counts these entries in sums
  Link<PlaneCutting> link;
};

/// Those along an axis.
template <class T>
struct PeerPlanes {
  T* y;
  PeerPlane all[2];
  int count;
  volatile int* is_given_up;
};

/// The values of a chunk that a thread has in flight.
constexpr int kValuesInFlight = 4;

// slot[i] = y of the plane's entry number first + i, i < count.
template <class T>
__device__ void store_plane(const NumberedPlane& plane, const T* y, std::int64_t first, int count,
                            T* slot) {
  constexpr int kStep = kValuesInFlight * kThreads;
  for (int begin = static_cast<int>(threadIdx.x); begin < count; begin += kStep) {
    T values[kValuesInFlight];
#pragma unroll
    for (int k = 0; k < kValuesInFlight; ++k) {
      const int i = begin + k * kThreads;
      if (i < count) values[k] = y[plane.entry(first + i)];
    }
#pragma unroll
    for (int k = 0; k < kValuesInFlight; ++k) {
      const int i = begin + k * kThreads;
      if (i < count) slot[i] = values[k];
    }
  }
}

// y of the plane's entry number first + i += slot[i], i < count. Returns this thread's part of what
// that adds to the sum of y_i^2 over the entries that this rank counts, which are none of those
// that the neighbor counts: they are taken off as they were.
template <class T>
__device__ double add_plane(const NumberedPlane& plane, bool is_others, T* y, std::int64_t first,
                            int count, const T* slot) {
  constexpr int kStep = kValuesInFlight * kThreads;
  double change = 0.0;
  for (int begin = static_cast<int>(threadIdx.x); begin < count; begin += kStep) {
    T theirs[kValuesInFlight];
    T mine[kValuesInFlight];
#pragma unroll
    for (int k = 0; k < kValuesInFlight; ++k) {
      const int i = begin + k * kThreads;
      if (i >= count) continue;
      // Past the first-level cache, which does not know what another GPU has stored.
      theirs[k] = __ldcg(slot + i);
      mine[k] = y[plane.entry(first + i)];
    }
#pragma unroll
    for (int k = 0; k < kValuesInFlight; ++k) {
      const int i = begin + k * kThreads;
      if (i >= count) continue;
      const T after = mine[k] + theirs[k];
      y[plane.entry(first + i)] = after;
      const auto wide_before = static_cast<double>(mine[k]);
      const auto wide_after = is_others ? 0.0 : static_cast<double>(after);
      change += (wide_after - wide_before) * (wide_after + wide_before);
    }
  }
  return change;
}

// y_i += what the neighbors have of it, on the planes along an axis, which have no entry in common.
// With has_sums also the sums of all ranks. Launch: up to 128 blocks of kThreads, all on the
// GPU at once; chunks, places and counters are as those of exchange_kernel. A block adds to the
// entries that it has stored for the neighbor itself. Deterministic. Bytes: a value of a plane is
// read three times and written twice, once over the link.
template <bool has_sums, class T>
__global__ void __launch_bounds__(kThreads)
    add_peer_planes_kernel(const PeerPlanes<T> planes, const PlaneSums<T> sums,
                           const PeerNumbers peers, Sums<2>* partial, unsigned* arrived) {
  const int block = static_cast<int>(blockIdx.x);
  const auto values_of = [](std::int64_t bytes) {
    return bytes / static_cast<std::int64_t>(sizeof(T));
  };
  Sums<2> change;
  bool is_left = true;
  for (std::int64_t k = 0; is_left; ++k) {
    is_left = false;
    for (int m = 0; m < planes.count; ++m) {
      const PeerPlane& plane = planes.all[m];
      const std::int64_t begin = plane.cut.begin(block, k);
      if (begin >= plane.cut.bytes) continue;
      is_left = true;
      const bool is_sent = plane.link.send(block, planes.is_given_up, [&](char* place) {
        store_plane(plane.entries, planes.y, values_of(begin),
                    static_cast<int>(values_of(plane.cut.length(begin))),
                    reinterpret_cast<T*>(place));
      });
      if (!is_sent) return;
    }
    for (int m = 0; m < planes.count; ++m) {
      const PeerPlane& plane = planes.all[m];
      const std::int64_t begin = plane.cut.begin(block, k);
      if (begin >= plane.cut.bytes) continue;
      const bool has_come = plane.link.receive(block, planes.is_given_up, [&](const char* place) {
        change[1] += add_plane(plane.entries, plane.is_others, planes.y, values_of(begin),
                               static_cast<int>(values_of(plane.cut.length(begin))),
                               reinterpret_cast<const T*>(place));
      });
      if (!has_come) return;
    }
  }
  if constexpr (has_sums) {
    for (std::int64_t k = thread_number<kThreads>(); k < sums.row_count;
         k += thread_count<kThreads>()) {
      const auto value = static_cast<double>(planes.y[sums.rows[k]]);
      change[0] -= static_cast<double>(sums.x[sums.rows[k]]) * value;
      change[1] -= value * value;
    }
    reduce_over_grid<kThreads>(change, partial, arrived, [&](const Sums<2>& total) {
      const double mine[] = {sums.own[0] + total[0], sums.own[1] + total[1],
                             sums.mine == nullptr ? 0.0 : *sums.mine};
      add_numbers(peers, mine, sums.mine == nullptr ? 2 : 3, sums.sums);
    });
  }
}

}  // namespace
}  // namespace tessera
