// DirichletValues are the values of a function on Dirichlet faces.
#pragma once

#include <vector>

#include "operators/form/bilinear_form.hpp"
#include "operators/load/face_values.hpp"

namespace tessera {

/// The values g_i at the nodes of Dirichlet faces, as those of a face take less room than a vector.
/// A node on several faces has the value of the first in the order of Face.
class DirichletValues {
 public:
  /// 0 on all faces, of which it knows none.
  DirichletValues() = default;
  /// @param fields with an entry for each face of the set
  /// @throws BadFieldValue if a value is not finite
  DirichletValues(const Discretization& discretization, FaceSet dirichlet,
                  const std::vector<ScalarField>& fields);
  /// The same on the faces of a form of which ranks may have parts: where a value is not finite on
  /// one rank, all throw.
  DirichletValues(const BilinearForm& form, const std::vector<ScalarField>& fields);

  /// Whether all are 0; of a part those that it has.
  bool are_zero() const { return largest() == 0.0; }
  /// max |g_i|
  double largest() const;
  void multiply(double factor);

  /// u_i = g_i at the nodes of the faces; parallel.
  void set(HostVector<double>& u) const;
  template <class T>
  void set(DeviceVector<T>& u) const;
  /// For who sets them often: in the order in which they are to be set. @throws DeviceError
  std::vector<DeviceFaceValues> on_device() const { return {faces_.begin(), faces_.end()}; }

 private:
  // Last face first: that which is set last has the last word on shared nodes.
  std::vector<FaceValues> faces_;
};

}  // namespace tessera
