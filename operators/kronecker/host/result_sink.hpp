// A ResultSink takes A x, cache line by cache line, to where it belongs.
#pragma once

#include "mesh/lanes/lane_parts.hpp"
#include "mesh/lanes/simd.hpp"
#include "operators/cells/streaming_store.hpp"
#include "operators/kronecker/host/lanes.hpp"

namespace tessera {

/// What is made of A x: y = A x; y = A x with the sums x.y and y.y; y = b - A x with the sum y.y.
enum class SweepResult { apply, apply_dot, residual };

/// The vectors of a sweep; b of a residual only, and it may be y.
template <class T>
struct SweepVectors {
  const T* x;
  T* y;
  WriteTo where;
  const T* b = nullptr;
};

/// Two sums over nodes, lane by lane.
struct LaneSums {
  Lanes<double> first{};
  Lanes<double> second{};
};

template <class T, SweepResult kind>
class ResultSink {
 public:
  explicit ResultSink(const SweepVectors<T>& vectors) : v_(vectors) {}

  /// Takes A x of the nodes of a cache line of y, from `node` on; may change it where it is.
  [[gnu::always_inline]] void line(Index node, T* ax, LaneSums& sums) const {
    for (Index i = 0; i < kLineValues<T>; i += kLanes<T>) {
      Lanes<T> y = load_lanes(ax + i);
      if constexpr (kind == SweepResult::residual) {
        y = load_lanes(v_.b + node + i) - y;
        store_lanes<T>(y, ax + i);
      }
      if constexpr (kind == SweepResult::apply_dot) {
        add_products(load_lanes(v_.x + node + i), y, sums.first);
      }
      if constexpr (kind != SweepResult::apply) add_products(y, y, sums.second);
      if (v_.where == WriteTo::cache) store_lanes<T>(y, v_.y + node + i);
    }
    if (v_.where == WriteTo::memory) stream_line(ax, v_.y + node);
  }

  /// The same of the nodes node + begin .. node + end - 1 of the line.
  void part_of_line(Index node, const T* ax, Index begin, Index end, LaneSums& sums) const {
    for (Index i = begin; i < end; ++i) {
      T y = ax[i];
      if constexpr (kind == SweepResult::residual) y = v_.b[node + i] - y;
      if constexpr (kind == SweepResult::apply_dot) {
        sums.first[0] += static_cast<double>(v_.x[node + i]) * static_cast<double>(y);
      }
      if constexpr (kind != SweepResult::apply) {
        sums.second[0] += static_cast<double>(y) * static_cast<double>(y);
      }
      v_.y[node + i] = y;
    }
  }

 private:
  [[gnu::always_inline]] static void add_products(Lanes<T> a, Lanes<T> b, Lanes<double>& sum) {
    for (int lane = 0; lane < kLanes<T>; lane += kLanes<double>) {
      sum += load_part<Lanes<double>>(a, lane) * load_part<Lanes<double>>(b, lane);
    }
  }

  SweepVectors<T> v_;
};

}  // namespace tessera
