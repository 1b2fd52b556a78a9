// A DirichletLift sets the values of Dirichlet faces in time, and knows what their rates add.
#pragma once

#include <optional>
#include <type_traits>
#include <vector>

#include "cases/problem/natural_units.hpp"
#include "operators/load/dirichlet_values.hpp"
#include "src/case/time/problem_in_time.hpp"
#include "src/solve/time/moving_load.hpp"

namespace tessera {

/// With g(t) the function that has the Dirichlet values at the nodes of Dirichlet faces and 0 at
/// all others, sets u = w + g(t), and f += -(capacity g', phi_i) at free nodes. g and g' are taken
/// anew where t has changed and the values depend on it.
template <class Space>
class DirichletLift {
 public:
  using V = Vector<double, Space>;

  /// @param mass the form of the mass matrix; it and the problem are referred to
  DirichletLift(const ProblemInTime& problem, const NaturalUnits& units, const BilinearForm& mass)
      : problem_(problem), units_(units), mass_(mass) {}

  /// u = g(t) on Dirichlet faces. @param problem that at t. @throws BadFieldValue
  void set(double t, const PoissonProblem& problem, V& u) {
    if (!values_time_ || (problem_.dirichlet_depends_on_time() && *values_time_ != t)) {
      values_time_.reset();
      const DirichletValues values(mass_, dirichlet_fields(problem));
      if constexpr (std::is_same_v<Space, Host>) {
        values_ = {values};
      } else {
        values_ = values.on_device();
      }
      values_time_ = t;
    }
    for (const auto& values : values_) values.set(u);
  }

  /// f += -(capacity g', phi_i) at free nodes; nothing where no value moves.
  /// @param mass at t. @throws BadFieldValue
  void subtract_rates(double t, const BilinearForm& mass, V& f) {
    if (!problem_.dirichlet_depends_on_time()) return;
    if (!rates_time_ || *rates_time_ != t) {
      rates_time_.reset();
      assemble_load_in<Space>(mass, constant_field(0.0), {},
                              dirichlet_rates(problem_, mass, units_, t), rate_load_);
      rates_time_ = t;
    }
    axpy(1.0, rate_load_, f);
  }

 private:
  const ProblemInTime& problem_;
  NaturalUnits units_;
  const BilinearForm& mass_;
  std::optional<double> values_time_;
  std::vector<std::conditional_t<std::is_same_v<Space, Host>, DirichletValues, DeviceFaceValues>>
      values_;
  std::optional<double> rates_time_;
  V rate_load_;
};

}  // namespace tessera
