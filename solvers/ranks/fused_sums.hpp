// FusedSums make of the fused operations of each rank's own operator those of the sum of all.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "solvers/fused_operations.hpp"
#include "solvers/memory/device_array.hpp"
#include "solvers/ranks/gpu/gathered_sums.hpp"
#include "solvers/ranks/plane_exchange.hpp"

namespace tessera {

/// The entries of planes that may cross, each once, in increasing order.
std::vector<std::int64_t> distinct_entries(const std::vector<EntryPlane>& planes);

/// A x and its scalar products, where A = sum over ranks r of R_r^T A_r R_r and each A_r has fused
/// operations. x.y is the sum of the ranks' own x.A_r x, but for rows that are the identity on
/// several ranks and count once. y.y is the sum of their own with what the exchange of planes
/// changes in it, and without what others own. So there is no further pass over the vectors but
/// over planes, and one sum over ranks. Residuals nearly vanish where the parts of them do not:
/// their squares are summed after the exchange. In a step x + s D (b - A x) what does not depend on
/// A counts once, with the owner of an entry.
template <class T, class Space>
class FusedSums;

template <class T>
class FusedSums<T, Host> {
 public:
  using V = HostVector<T>;

  /// @param layout of the rank's vectors
  /// @param exchanged the planes that a PlaneExchange sums; they may cross
  FusedSums(VectorLayout layout, const std::vector<EntryPlane>& exchanged);

  /// y = A x, sums = {x.y, y.y} over all ranks, which call it together.
  /// @param local the rank's own operator @param exchange of those planes
  void apply_dot(const FusedOperations<T, Host>& local, const PlaneExchange<T, Host>& exchange,
                 const V& x, V& y, double* sums) const;
  /// r = b - A x, *rr = r.r unless rr is null; r may be b.
  void residual(const FusedOperations<T, Host>& local, const PlaneExchange<T, Host>& exchange,
                const V& b, const V& x, V& r, double* rr) const;

  std::int64_t bytes() const;

 private:
  VectorLayout layout_;
  std::vector<std::int64_t> entries_;     // on the planes, each once
  std::vector<std::int64_t> others_own_;  // those of them that another rank owns
  std::vector<std::int64_t> identity_;    // those that another rank owns and no plane has
  mutable std::vector<T> kept_;           // [entry of entries_]
};

/// The same on GPUs, with sums in GPU memory, all of it queued: a kernel over the planes and one
/// over what others own of them, beside the messages.
template <class T>
class FusedSums<T, Device> {
 public:
  using V = DeviceVector<T>;

  /// As on the host. @throws DeviceOutOfMemory
  FusedSums(VectorLayout layout, const std::vector<EntryPlane>& exchanged);
  ~FusedSums();
  FusedSums(const FusedSums&) = delete;
  FusedSums& operator=(const FusedSums&) = delete;

  /// As on the host; with `mine` there is sums[2], the sum over ranks of *mine. @throws DeviceError
  void apply_dot(const FusedOperations<T, Device>& local, const PlaneExchange<T, Device>& exchange,
                 const V& x, V& y, double* sums, const double* mine = nullptr) const;
  void residual(const FusedOperations<T, Device>& local, const PlaneExchange<T, Device>& exchange,
                const V& b, const V& x, V& r, double* rr) const;
  /// y = x + scale D (b - A x); only where the own operators of all ranks have that step.
  void step(const FusedOperations<T, Device>& local, const PlaneExchange<T, Device>& exchange,
            T scale, const V& d, const V& b, const V& x, V& y) const;

  std::int64_t bytes() const;

 private:
  struct Reduction;  // the sums of blocks

  /// sums = those of all ranks, of which this one's are in own_.
  void add_ranks(int count, double* sums) const;

  VectorLayout layout_;
  std::int64_t on_planes_ = 0;            // so many of the next are on the planes, and come first
  DeviceArray<std::int64_t> others_own_;  // the entries that another rank owns
  mutable DeviceArray<T> kept_;           // [those on the planes]
  mutable DeviceArray<double> own_;       // {x.y, y.y} of this rank, and what goes along
  mutable DeviceArray<double> change_;    // of y.y by the exchange, [axis]
  mutable GatheredSums gathered_;
  std::unique_ptr<Reduction> reduction_;
};

}  // namespace tessera
