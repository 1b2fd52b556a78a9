// Butcher tables say how the stages of Runge-Kutta methods are made.
#pragma once

#include "solvers/sundials/sundials_handles.hpp"
#include "solvers/time/time_method.hpp"

namespace tessera {

enum class StepLength { fixed, adaptive };

/// The table of a method:
///
/// | method | order | table |
/// |---|---|---|
/// | backward-euler | 1 | its own; the error estimate is dt / 2 (F_{n+1} - F_n) |
/// | sdirk | 2, 3, 4 | TR-BDF2, ESDIRK3(2)4L[2]SA, ESDIRK4(3)6L[2]SA |
/// | explicit-rk | 2, 3, 4 | Heun-Euler, Bogacki-Shampine, Zonneveld |
///
/// Those of sdirk are stiffly accurate, L-stable and of stage order 2.
///
/// Tables for fixed steps lack the stages that only the error estimate needs: backward Euler has
/// one stage, and explicit methods have as many as their order.
/// @param method not bdf
/// @throws std::invalid_argument if the method has no such order
SundialsHandle<ARKodeButcherTable> make_butcher_table(TimeMethod method, int order,
                                                      StepLength length);

/// Whether the last stage is the solution at the end of the step, so that its F is that of the next
/// step's first stage.
bool ends_with_solution(const ARKodeButcherTableMem& table);

}  // namespace tessera
