// This N_Vector of SUNDIALS is a Vector of ours, on the host or the GPU.
#pragma once

#include <sundials/sundials_nvector.h>

#include <array>
#include <cstdint>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "solvers/check.hpp"
#include "solvers/memory/vector.hpp"
#include "solvers/sundials/carried_exception.hpp"
#include "solvers/sundials/sundials_handles.hpp"

namespace tessera {

/// Ends the program if sums of the vector would not be those that the layout asks for.
template <class Space>
void check_layout(const Vector<double, Space>& values, const VectorLayout& layout) {
  TESSERA_CHECK(values.size() == layout.size);
  TESSERA_CHECK(values.layout() == layout);
}

/// The norm that is at most 1 where an error is within the tolerance.
template <class Space>
class WeightedNorm {
 public:
  virtual ~WeightedNorm() = default;
  virtual double weighted_norm(const Vector<double, Space>& x) = 0;
};

/// The content of an N_Vector. A clone gets its memory when it is first written to: until then it
/// is zero, and SUNDIALS has some that it never uses. Weights are no vector (WeightedNorm), so
/// that of N_VWrmsNorm is not looked at.
///
/// Operations that only estimates of SUNDIALS for first steps and weights need end the program: we
/// make both ourselves. KINSOL needs more (nonlinear/kinsol_operations.hpp).
template <class Space>
class SundialsVector {
 public:
  /// An N_Vector that stands for `values`.
  /// @param layout of `values` and of all clones: where ranks share it, SUNDIALS sees the vector of
  ///        all of them, and takes the same decisions on each
  /// @param carried gets the exceptions of operations, which then do nothing
  /// @param values and all others have to outlive the N_Vector and its clones
  static SundialsHandle<N_Vector> wrap(Vector<double, Space>& values, const VectorLayout& layout,
                                       WeightedNorm<Space>& norm, CarriedException& carried,
                                       SUNContext context) {
    check_layout(values, layout);
    N_Vector v = N_VNewEmpty(context);
    if (v == nullptr) throw std::bad_alloc();
    set_operations(*v->ops);
    v->content = new SundialsVector(&values, layout, norm, carried);
    return SundialsHandle<N_Vector>(v);
  }

  /// The entries, which get their memory here if they have none.
  static Vector<double, Space>& values(N_Vector v) {
    SundialsVector& content = of(v);
    if (content.values_ == nullptr) {
      content.own_ = Vector<double, Space>(content.layout_);
      content.values_ = &content.own_;
    }
    return *content.values_;
  }

  /// Whether it was written to.
  static bool has_values(N_Vector v) { return of(v).values_ != nullptr; }
  /// Calls f, whose exception is carried.
  template <class F>
  static void call(N_Vector v, F&& f) {
    of(v).carried_->call(std::forward<F>(f));
  }

 private:
  // SUNDIALS sums up the stages of a step or the history of BDF, at most.
  static constexpr int kMaxTerms = kMaxCombinedVectors;

  SundialsVector(Vector<double, Space>* values, VectorLayout layout, WeightedNorm<Space>& norm,
                 CarriedException& carried)
      : values_(values), layout_(std::move(layout)), norm_(&norm), carried_(&carried) {}

  static SundialsVector& of(N_Vector v) { return *static_cast<SundialsVector*>(v->content); }

  static void set_operations(_generic_N_Vector_Ops& ops) {
    ops.nvgetvectorid = [](N_Vector) { return SUNDIALS_NVEC_CUSTOM; };
    ops.nvclone = clone;
    ops.nvdestroy = destroy;
    ops.nvgetlength = [](N_Vector v) {
      return static_cast<sunindextype>(of(v).layout_.whole_size());
    };
    ops.nvconst = [](realtype c, N_Vector z) { of(z).carried_->call([&] { assign(c, z); }); };
    ops.nvscale = [](realtype c, N_Vector x, N_Vector z) { combination(1, &c, &x, z); };
    ops.nvlinearsum = [](realtype a, N_Vector x, realtype b, N_Vector y, N_Vector z) {
      combination(2, std::array{a, b}.data(), std::array{x, y}.data(), z);
    };
    ops.nvlinearcombination = [](int n, realtype* c, N_Vector* x, N_Vector z) {
      return combination(n, c, x, z);
    };
    ops.nvwrmsnorm = [](N_Vector x, N_Vector) {
      realtype norm = std::numeric_limits<realtype>::quiet_NaN();
      of(x).carried_->call([&] { norm = of(x).norm_->weighted_norm(values(x)); });
      return norm;
    };
    ops.nvdiv = ops.nvprod = [](N_Vector, N_Vector, N_Vector) { TESSERA_CHECK(false); };
    ops.nvabs = ops.nvinv = [](N_Vector, N_Vector) { TESSERA_CHECK(false); };
    ops.nvaddconst = [](N_Vector, realtype, N_Vector) { TESSERA_CHECK(false); };
    ops.nvmaxnorm = [](N_Vector) -> realtype { check_failed("maximum norm", __FILE__, __LINE__); };
  }

  static N_Vector clone(N_Vector v) {
    N_Vector copied = N_VNewEmpty(v->sunctx);
    if (copied == nullptr) return nullptr;
    const SundialsVector& content = of(v);
    SundialsVector* const made = new (std::nothrow)
        SundialsVector(nullptr, content.layout_, *content.norm_, *content.carried_);
    if (made == nullptr || N_VCopyOps(v, copied) != 0) {
      delete made;
      N_VFreeEmpty(copied);
      return nullptr;
    }
    copied->content = made;
    return copied;
  }

  static void destroy(N_Vector v) {
    if (v == nullptr) return;
    delete static_cast<SundialsVector*>(v->content);
    N_VFreeEmpty(v);
  }

  static void assign(double c, N_Vector z) {
    if (c == 0.0 && of(z).values_ == nullptr) return;
    fill(values(z), c);
  }

  /// z = sum_k c_k x_k
  static int combination(int n, const realtype* c, const N_Vector* x, N_Vector z) {
    TESSERA_CHECK(n <= kMaxTerms);
    const bool is_done = of(z).carried_->call([&] {
      std::array<double, kMaxTerms> factors;
      std::array<const Vector<double, Space>*, kMaxTerms> vectors;
      std::size_t terms = 0;
      for (int k = 0; k < n; ++k) {
        if (of(x[k]).values_ == nullptr) continue;
        factors[terms] = c[k];
        vectors[terms++] = of(x[k]).values_;
      }
      if (terms == 0) {
        assign(0.0, z);
      } else {
        combine<double>(std::span(factors).first(terms), std::span(vectors).first(terms),
                        values(z));
      }
    });
    return is_done ? 0 : -1;
  }

  Vector<double, Space> own_;
  Vector<double, Space>* values_;
  VectorLayout layout_;
  WeightedNorm<Space>* norm_;
  CarriedException* carried_;
};

}  // namespace tessera
