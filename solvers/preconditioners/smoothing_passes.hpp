// These passes over vectors are the steps of smoothers and conversions of precision.
#pragma once

#include "solvers/memory/vector.hpp"

namespace tessera {

/// x = scale D^-1 b; 3 vectors read or written.
template <class T, class Space>
void first_step(T scale, const Vector<T, Space>& inverse_diagonal, const Vector<T, Space>& b,
                Vector<T, Space>& x);

/// What a pass leaves of a vector that it has read.
enum class Leave { as_it_is, zeros };

/// x += scale D^-1 (b - y); 5 vectors, one more where y is left as zeros.
template <class T, class Space>
void next_step(T scale, const Vector<T, Space>& inverse_diagonal, const Vector<T, Space>& b,
               Vector<T, Space>& y, Leave leave, Vector<T, Space>& x);

/// r = b - r; 3 vectors.
template <class T, class Space>
void subtract_in_place(const Vector<T, Space>& b, Vector<T, Space>& r);

/// to = scale from, in another precision or, on the GPU, in the same vector.
template <class From, class To, class Space>
void convert(const Vector<From, Space>& from, double scale, Vector<To, Space>& to);

/// Fills x with numbers in (-1/2, 1/2) by a hash of i, the number of an entry in the vector of all
/// ranks. They are the same in every run and have no structure.
template <class T, class Space>
void fill_random(Vector<T, Space>& x);

}  // namespace tessera
