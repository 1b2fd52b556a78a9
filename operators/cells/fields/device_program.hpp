// A DeviceProgram is a field that kernels evaluate.
#pragma once

#include <memory>

#include "mesh/field/evaluate_program.hpp"
#include "mesh/scalar_field.hpp"
#include "solvers/memory/device_array.hpp"

namespace tessera {

/// A FieldProgram in GPU memory. Its values are those of the host to a few units in the last place:
/// CUDA's functions are others.
class DeviceProgram {
 public:
  /// Programs of this depth keep their stack beside the thread; deeper ones in GPU memory.
  static constexpr int kShallow = 16;

  /// @throws DeviceError
  explicit DeviceProgram(const FieldProgram& program)
      : code_(program.code), view_(view_of(program)), depth_(program.depth) {
    view_.code = code_.data();
  }

  /// What kernels evaluate().
  FieldProgramView view() const { return view_; }
  int depth() const { return depth_; }

 private:
  DeviceArray<Instruction> code_;
  FieldProgramView view_;
  int depth_;
};

/// A field as a program that a thread has room for; null if it is not known as one.
inline std::shared_ptr<const FieldProgram> shallow_program(const ScalarField& field) {
  if (field.constant) {
    return std::make_shared<const FieldProgram>(
        FieldProgram{{{Operation::push, Operand::constant, *field.constant}}, 1});
  }
  const bool fits = has_program(field) && field.program->depth <= DeviceProgram::kShallow;
  return fits ? field.program : nullptr;
}

/// What values of a field are allowed to be.
enum class Allowed { finite, positive, non_negative };

}  // namespace tessera
