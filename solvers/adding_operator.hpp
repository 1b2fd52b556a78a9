// An AddingOperator sums into the vector of its product.
#pragma once

#include "solvers/linear_operator.hpp"

namespace tessera {

/// An operator whose product is summed into y, which apply() has to clear first. Who uses a product
/// and clears it in the same pass saves that pass.
template <class T, class Space>
class AddingOperator : public LinearOperator<T, Space> {
 public:
  /// Whether this one does so, and gains by it, where y is cleared in a pass over so many vectors
  /// ahead of the product; otherwise y needs no clearing.
  virtual bool adds(int vectors_of_pass) const = 0;
  /// y = A x where y is zero; as apply() otherwise.
  void apply_to_zeros(const Vector<T, Space>& x, Vector<T, Space>& y) const {
    TESSERA_CHECK(x.size() == this->size());
    TESSERA_CHECK(y.size() == this->size());
    TESSERA_CHECK(&x != &y);
    const OneUseAtATime::Use use(guard_);
    do_apply_to_zeros(x, y);
  }

 private:
  virtual void do_apply_to_zeros(const Vector<T, Space>& x, Vector<T, Space>& y) const = 0;

  mutable OneUseAtATime guard_;
};

/// The operator if it adds() with so many vectors, else null.
template <class T, class Space>
const AddingOperator<T, Space>* as_adding(const LinearOperator<T, Space>& a, int vectors_of_pass) {
  const auto* adding = dynamic_cast<const AddingOperator<T, Space>*>(&a);
  return adding != nullptr && adding->adds(vectors_of_pass) ? adding : nullptr;
}

}  // namespace tessera
