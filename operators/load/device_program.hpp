// A DeviceProgram evaluates a field on the GPU.
#pragma once

#include <array>

#include "mesh/field/evaluate_program.hpp"
#include "mesh/index.hpp"
#include "solvers/memory/device_array.hpp"

namespace tessera {

/// n positions in GPU memory, with one array per axis.
struct DevicePoints {
  Index n;
  const double* x;
  const double* y;
  const double* z;
};

/// A FieldProgram in GPU memory. Its values are those of the host to a few units in the last place:
/// CUDA's functions are others. All calls are queued, and throw DeviceError.
class DeviceProgram {
 public:
  /// Programs of this depth keep their stack beside the thread; deeper ones in GPU memory.
  static constexpr int kShallow = 16;

  explicit DeviceProgram(const FieldProgram& program);

  /// What kernels evaluate().
  FieldProgramView view() const { return view_; }
  int depth() const { return depth_; }

  /// values[i] = field(point i).
  void evaluate(const DevicePoints& points, double* values) const;
  /// The derivatives, an array [points.n] for each axis.
  void evaluate_gradient(const DevicePoints& points, const std::array<double*, 3>& gradient) const;

 private:
  DeviceArray<Instruction> code_;
  FieldProgramView view_;
  int depth_;
};

/// What values of a field are allowed to be.
enum class Allowed { finite, positive, non_negative };

/// The smallest i whose value is not finite or not allowed; n if there is none. Waits for the GPU.
Index first_forbidden(const double* values, Index n, Allowed allowed);

}  // namespace tessera
