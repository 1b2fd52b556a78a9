// SolutionNorms compute the numbers of a solution where a run is.
#pragma once

#include <array>

#include "postprocess/error_norms.hpp"
#include "solvers/memory/vector.hpp"

namespace tessera {

/// The numbers of one solution u, computed on the host or, by DeviceErrorNorms, on the GPU. They
/// are those of u / unit, and they and what is thrown are as error_norms.hpp says.
class SolutionNorms {
 public:
  virtual ~SolutionNorms() = default;

  /// The smallest and the largest value of u, or NaN for both if any value is NaN.
  virtual std::array<double, 2> extrema() const = 0;
  virtual SolutionNumbers solution_numbers(const ScalarField& coefficient, double unit) const = 0;
  virtual double integral(double unit) const = 0;
  virtual MeanParts mean_parts(double unit) const = 0;
  double mean_value(double unit) const { return mean_parts(unit).mean(); }
  /// Of a field, which has nothing to do with u.
  virtual MeanParts mean_parts(const ScalarField& field) const = 0;
  double mean_value(const ScalarField& field) const { return mean_parts(field).mean(); }
  virtual ErrorNorms error_norms(const ScalarField& exact, double unit) const = 0;
  virtual double max_error(const ScalarField& exact, double unit) const = 0;
  /// u -= constant, for the owner of u as well.
  virtual void subtract(double constant) = 0;
};

/// Those of a vector on the host, which must outlive them.
class HostSolutionNorms final : public SolutionNorms {
 public:
  HostSolutionNorms(const Discretization& discretization, HostVector<double>& u)
      : discretization_(&discretization), u_(&u) {}

  std::array<double, 2> extrema() const override;
  SolutionNumbers solution_numbers(const ScalarField& coefficient, double unit) const override;
  double integral(double unit) const override;
  MeanParts mean_parts(double unit) const override;
  MeanParts mean_parts(const ScalarField& field) const override;
  ErrorNorms error_norms(const ScalarField& exact, double unit) const override;
  double max_error(const ScalarField& exact, double unit) const override;
  void subtract(double constant) override;

 private:
  /// f(u / unit).
  template <class F>
  auto in_unit(double unit, F&& f) const;

  const Discretization* discretization_;
  HostVector<double>* u_;
};

/// values -= constant.
void subtract(double constant, HostVector<double>& values);

}  // namespace tessera
