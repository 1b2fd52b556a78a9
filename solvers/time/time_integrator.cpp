// This file has the error of a step, and the integrators of the host.
#include "solvers/time/time_integrator.hpp"

#include "solvers/time/time_integrator_maker.hpp"

namespace tessera {

TimeStepError::TimeStepError(double t, double dt, const std::string& reason)
    : std::runtime_error("no step from t = " + brief_number(t) +
                         (dt > 0.0 ? ", of length " + brief_number(dt) : "") + ": " + reason),
      t_(t),
      dt_(dt) {}

template std::unique_ptr<TimeIntegrator<Host>> make_time_integrator(TimeSystem<Host>&,
                                                                    const TimeOptions&,
                                                                    HostVector<double>&);

}  // namespace tessera
