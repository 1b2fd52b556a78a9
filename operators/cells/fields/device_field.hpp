// A DeviceField is a field that may depend on u, as kernels evaluate it.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "mesh/field/field_terms.hpp"
#include "operators/cells/fields/device_program.hpp"

namespace tessera {

/// What kernels see of a FieldTerm.
struct FieldTermView {
  FieldProgramView program;
  double factor;
  bool is_derivative;
};

/// What kernels see of FieldTerms.
struct DeviceFieldView {
  static constexpr int kMaxTerms = 4;

  FieldTermView terms[kMaxTerms];
  int count;
  bool is_magnitude;
  int depth;  // of the deepest program
  // Instead of the terms.
  bool is_constant;
  double constant;
};

/// Terms that a kernel has code for.
enum class TermsAre { values, derivatives, any };

inline bool are_all(const DeviceFieldView& field, TermsAre kind) {
  for (int k = 0; k < (field.is_constant ? 0 : field.count); ++k) {
    const TermsAre own = field.terms[k].is_derivative ? TermsAre::derivatives : TermsAre::values;
    if (kind != TermsAre::any && own != kind) return false;
  }
  return true;
}

/// FieldTerms in GPU memory. Their values are those of the host to a few units in the last place of
/// the largest term.
class DeviceField {
 public:
  /// Nothing if the GPU cannot evaluate the field: terms_of() does not know it, it has too many
  /// terms, or a thread has no room for one of the programs. @throws DeviceError
  static std::optional<DeviceField> make(const ScalarField& field) {
    const std::optional<FieldTerms> terms = terms_of(field);
    if (!terms || !fits(*terms)) return std::nullopt;
    return DeviceField(*terms, field);
  }

  DeviceFieldView view() const {
    DeviceFieldView view{};
    view.count = static_cast<int>(terms_.size());
    view.is_magnitude = is_magnitude_;
    view.is_constant = constant_.has_value();
    view.constant = constant_.value_or(0.0);
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      view.terms[i] = {terms_[i].program.view(), terms_[i].factor,
                       terms_[i].kind == TermKind::derivative_in_u};
      view.depth = std::max(view.depth, terms_[i].program.depth());
    }
    return view;
  }
  bool depends_on_u() const { return depends_on_u_; }

  /// Whether make() would make it, found without a GPU.
  static bool is_for_gpu(const ScalarField& field) {
    const std::optional<FieldTerms> terms = terms_of(field);
    return terms && fits(*terms);
  }

 private:
  struct Term {
    DeviceProgram program;
    double factor;
    TermKind kind;
  };

  static bool fits(const FieldTerms& terms) {
    return terms.terms.size() <= DeviceFieldView::kMaxTerms &&
           std::all_of(terms.terms.begin(), terms.terms.end(), [](const FieldTerm& term) {
             return term.program->depth <= DeviceProgram::kShallow;
           });
  }

  DeviceField(const FieldTerms& terms, const ScalarField& field)
      : is_magnitude_(terms.magnitude == Magnitude::yes),
        depends_on_u_(field.depends_on_u),
        constant_(field.constant) {
    for (const FieldTerm& term : terms.terms) {
      terms_.push_back({DeviceProgram(*term.program), term.factor, term.kind});
    }
  }

  std::vector<Term> terms_;
  bool is_magnitude_;
  bool depends_on_u_;
  std::optional<double> constant_;
};

}  // namespace tessera
