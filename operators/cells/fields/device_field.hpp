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
};

/// FieldTerms in GPU memory. Their values are those of the host to a few units in the last place of
/// the largest term.
class DeviceField {
 public:
  /// Nothing if the GPU cannot evaluate the field: terms_of() does not know it, it has too many
  /// terms, or a thread has no room for one of the programs. @throws DeviceError
  static std::optional<DeviceField> make(const ScalarField& field) {
    const std::optional<FieldTerms> terms = terms_of(field);
    if (!terms || !fits(*terms)) return std::nullopt;
    return DeviceField(*terms, field.depends_on_u);
  }

  DeviceFieldView view() const {
    DeviceFieldView view{};
    view.count = static_cast<int>(terms_.size());
    view.is_magnitude = is_magnitude_;
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      view.terms[i] = {terms_[i].program.view(), terms_[i].factor,
                       terms_[i].kind == TermKind::derivative_in_u};
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

  DeviceField(const FieldTerms& terms, bool depends_on_u)
      : is_magnitude_(terms.magnitude == Magnitude::yes), depends_on_u_(depends_on_u) {
    for (const FieldTerm& term : terms.terms) {
      terms_.push_back({DeviceProgram(*term.program), term.factor, term.kind});
    }
  }

  std::vector<Term> terms_;
  bool is_magnitude_;
  bool depends_on_u_;
};

}  // namespace tessera
