// SystemVectors are the right-hand side and the solution of a system as a solver works on them.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "cases/problem/poisson_problem.hpp"
#include "postprocess/timing/timers.hpp"
#include "src/solve/vector_conversion.hpp"

namespace tessera {

/// The values at their nodes, and 0 at all others.
template <class T, class Space>
Vector<T, Space> extended_by_zero(const DirichletValues& values, const VectorLayout& layout) {
  if constexpr (std::is_same_v<Space, Device>) {
    DeviceVector<T> x(layout);
    values.set(x);
    return x;
  } else {
    HostVector<double> x(layout);
    values.set(x);
    return converted<T, Host>(x);
  }
}

/// b of a system, which loses it where it is in GPU memory.
template <class T, class Space>
Vector<T, Space> taken_load(LinearSystem& system) {
  if constexpr (std::is_same_v<Space, Device>) {
    if (system.b_on_gpu != nullptr) {
      const auto b = std::exchange(system.b_on_gpu, nullptr);
      return in_precision<T>(std::move(*b));
    }
  }
  return converted<T, Space>(system.b);
}

/// What the solve of a system starts with. @param layout of x
template <class T, class Space>
Vector<T, Space> start_of(const LinearSystem& system, const VectorLayout& layout) {
  return system.start ? extended_by_zero<T, Space>(*system.start, layout)
                      : converted<T, Space>(system.x);
}

/// The right-hand side and the solution of a system as a solver works on them: the system's own
/// vectors on the host in double precision, else copies.
template <class T, class Space>
class SystemVectors {
 public:
  SystemVectors(LinearSystem& system, TimerTree& timers) : system_(system), timers_(timers) {
    if constexpr (!kInPlace) {
      // First, for what is computed must not be lost for want of memory.
      landing_ = make_landing<T, Space>(system.x.size());
      timed("copy to GPU", [&] {
        b_ = taken_load<T, Space>(system);
        x_ = start_of<T, Space>(system, b_.layout());
      });
    }
  }
  const Vector<T, Space>& b() const {
    if constexpr (kInPlace) {
      return system_.b;
    } else {
      return b_;
    }
  }
  Vector<T, Space>& x() {
    if constexpr (kInPlace) {
      return system_.x;
    } else {
      return x_;
    }
  }
  /// Puts the solution into the system; nothing may be asked afterwards.
  void finish() {
    if constexpr (std::is_same_v<Space, Device>) {
      if (system_.x.size() == 0) {
        system_.x_on_gpu =
            std::make_shared<DeviceVector<double>>(in_precision<double>(std::move(x_)));
        return;
      }
    }
    if constexpr (!kInPlace) {
      timed("copy from GPU", [&] { convert_back(x_, landing_, system_.x); });
    }
  }

 private:
  static constexpr bool kInPlace = std::is_same_v<T, double> && std::is_same_v<Space, Host>;

  template <class Copy>
  void timed(const char* part, Copy&& copy) {
    if constexpr (std::is_same_v<Space, Device>) {
      const auto scope = timers_.scope(part);
      copy();
    } else {
      copy();
    }
  }

  LinearSystem& system_;
  TimerTree& timers_;
  HostVector<T> landing_;
  Vector<T, Space> b_;
  Vector<T, Space> x_;
};

}  // namespace tessera
