// Updatable is what becomes that of another form in place.
#pragma once

#include "operators/form/bilinear_form.hpp"

namespace tessera {

/// Whether something has become that of another form, or has to be made anew.
enum class Updated { yes, no };

/// An operator or a preconditioner of a form that can become that of another one in place.
class Updatable {
 public:
  virtual ~Updatable() = default;

  /// Becomes what would be made of the form, to the same bits, and allocates no memory for vectors
  /// or factors. The form differs from the one before in coefficient, reaction and Robin terms at
  /// most; where it has the same coefficient and a reaction that is another number, there is next
  /// to nothing to do.
  /// @returns no where this cannot be done: it has to be made anew
  /// @throws as what makes it; it must then not be used before an update has succeeded
  virtual Updated update(const BilinearForm& form) = 0;
};

/// Updates what can be updated: `no` for what is no Updatable.
template <class Thing>
Updated update_in_place(Thing& thing, const BilinearForm& form) {
  auto* const updatable = dynamic_cast<Updatable*>(&thing);
  return updatable == nullptr ? Updated::no : updatable->update(form);
}

/// Whether both are known to have the same values, without evaluating them.
bool are_same(const ScalarField& a, const ScalarField& b);
bool are_same(const std::vector<RobinTerm>& a, const std::vector<RobinTerm>& b);

/// Whether two forms on one discretization are known to differ in the value of a constant reaction
/// at most, which neither or both have.
bool differ_in_number_only(const BilinearForm& a, const BilinearForm& b);

}  // namespace tessera
