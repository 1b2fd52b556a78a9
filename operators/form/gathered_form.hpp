// This function makes the whole of a form, of which ranks have parts, on every rank.
#pragma once

#include "operators/form/bilinear_form.hpp"
#include "operators/ranks/gathered_space.hpp"

namespace tessera {

/// The whole form, with the state of the part's form at the nodes; all ranks call this together.
/// @param part the form on the part that `space` is made from
/// @param whole what space.make() made, to which the form refers
BilinearForm gathered_form(const BilinearForm& part, const GatheredSpace& space,
                           const Discretization& whole);

}  // namespace tessera
