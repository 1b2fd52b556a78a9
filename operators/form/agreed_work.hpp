// This function makes of what fails on one rank a failure of all.
#pragma once

#include <functional>

#include "operators/form/bilinear_form.hpp"

namespace tessera {

/// Calls work(), which computes on the rank's part and waits for no other rank. Where it throws on
/// some ranks, all throw what the lowest of them has thrown: InvertedCell, BadFieldValue with the
/// name of the field, Interrupted, std::bad_alloc, or else a std::runtime_error with its text. All
/// ranks call it together.
/// @param part null for the whole: then it only calls work()
void work_or_fail_together(const RankPart* part, const std::function<void()>& work);

/// The same on the part of a form.
inline void work_or_fail_together(const BilinearForm& form, const std::function<void()>& work) {
  work_or_fail_together(form.part == nullptr ? nullptr : form.part->rank.get(), work);
}

}  // namespace tessera
