// A DeviceAssembly assembles a matrix on triangles in GPU memory.
#pragma once

#include <cstdint>
#include <vector>

#include "solvers/memory/device.hpp"
#include "solvers/memory/device_array.hpp"
#include "src/studies/assembly/assembly_target.hpp"
#include "src/studies/assembly/contribution.hpp"

namespace tessera {

/// How threads of a GPU add to entries that triangles share. But for rows and gather a thread has
/// a triangle.
enum class DeviceAssemblyWay {
  unprotected,     ///< load, add, store
  atomic,          ///< atomicAdd() whose result nobody waits for
  cas,             ///< a loop of compare-and-swap
  coloring,        ///< a launch for each color
  private_arrays,  ///< thread blocks take turns with up to 32 arrays, which are added up
  rows,            ///< a thread has a row, and computes the triangles at its point
  gather           ///< local matrices are stored, then a thread has an entry
};

class DeviceAssembly {
 public:
  /// @param colors of triangles that share no point
  /// @throws DeviceOutOfMemory, DeviceError
  DeviceAssembly(const TriangleMesh& mesh, const AssemblyTarget& target,
                 const std::vector<std::vector<Index>>& colors, DeviceAssemblyWay way);

  /// Assembles into zeros. @returns the seconds, without those of zeroing
  double assemble(const Contribution& contribution);

  [[nodiscard]] std::vector<double> values() const { return to_host(values_); }
  /// Memory beyond mesh, places and values.
  [[nodiscard]] Index extra_bytes() const;

 private:
  template <class Local>
  void add_up(const Local& local);
  template <class Local>
  void add_colors(const Local& local);
  template <class Local>
  void add_private(const Local& local);
  template <class Local>
  void gather(const Local& local);

  DeviceAssemblyWay way_;
  Index triangles_;
  Index rows_;
  DeviceArray<PlanePoint> points_;
  DeviceArray<std::int32_t> corners_;  // corner i of triangle t: i T + t
  DeviceArray<std::int32_t> places_;
  DeviceArray<double> values_;
  DeviceStopwatch stopwatch_;
  // The rest is empty unless the way needs it. Triangles by color, those of color c from
  // color_begin_[c] on.
  DeviceArray<std::int32_t> by_color_;
  std::vector<Index> color_begin_;
  Index array_count_ = 0;
  DeviceArray<double> arrays_;
  // Triangles at points, or what entries gather.
  DeviceArray<Index> first_;
  DeviceArray<std::int32_t> items_;
  DeviceArray<double> local_matrices_;
};

}  // namespace tessera
