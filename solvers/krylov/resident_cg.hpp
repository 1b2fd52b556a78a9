// ResidentCg is conjugate gradients in one kernel, for vectors that fit into a GPU's
// multiprocessors.
#pragma once

namespace tessera {

struct IterationState;

/// The most iterations of one kernel.
inline constexpr int kIterationsOfResidentCg = 32;

/// The vectors of such iterations.
template <class T>
struct ResidentVectors {
  T* p;
  T* r;
  T* x;
};

/// Iterations of conjugate gradients without a preconditioner, done by one kernel that keeps the
/// vectors in registers and shared memory from one iteration to the next.
template <class T>
class ResidentCg {
 public:
  virtual ~ResidentCg() = default;

  /// Queues up to so many iterations, fewer where the state's status is or becomes other than
  /// `running`:
  ///
  ///     q = A p, alpha = r.r / p.q, x += alpha p, r -= alpha q
  ///     beta = r.r / (r.r before), p = r + beta p
  ///
  /// p, r, x and the state's rz = r.r are taken and left as these formulas have them.
  /// @throws DeviceError
  virtual void enqueue(int iterations, const ResidentVectors<T>& vectors,
                       IterationState* state) = 0;
};

}  // namespace tessera
