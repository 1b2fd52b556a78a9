// This file makes the whole of a form.
#include "operators/form/gathered_form.hpp"

namespace tessera {

BilinearForm gathered_form(const BilinearForm& part, const GatheredSpace& space,
                           const Discretization& whole) {
  BilinearForm form = part;
  form.discretization = &whole;
  form.dirichlet = part.part->dirichlet;
  form.robin = part.part->robin;
  form.part = nullptr;
  if (part.state != nullptr) {
    form.state = std::make_shared<const HostState>(space.gathered(part.state->data()));
  }
  return form;
}

}  // namespace tessera
