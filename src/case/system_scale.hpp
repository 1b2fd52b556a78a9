// These functions scale a linear system so that its entries are of order 1.
#pragma once

#include "cases/problem/poisson_problem.hpp"

namespace tessera {

/// A power of 2 in units of which the entries of a system's b and x are of order 1, as single
/// precision and squares of double precision need them: next to the root mean square of b in the
/// rows that are not constrained; where b vanishes there, next to x's largest entry.
double system_scale(const LinearSystem& system, const BilinearForm& form);

/// Divides x and b by a power of 2, and has reference_norm follow.
void divide(LinearSystem& system, const BilinearForm& form, double scale);

/// The power of 2 next to a size; 1 next to 0 and to what is not finite.
double power_of_2_next_to(double size);

/// max_i |values_i|, over all ranks that share the vector, which call it together.
double largest_entry(const HostVector<double>& values);

/// values *= factor.
void multiply(HostVector<double>& values, double factor);

}  // namespace tessera
