// Multigrid is a V-cycle as a preconditioner, in double or single precision.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "solvers/preconditioner.hpp"
#include "solvers/preconditioners/residual.hpp"
#include "solvers/preconditioners/smoothing_passes.hpp"
#include "solvers/smoother.hpp"
#include "solvers/transfer.hpp"

namespace tessera {

/// The parts of a cycle on one level.
enum class CyclePart { smooth, residual, transfer, coarse };

/// An observer that is told when a part of a cycle begins and ends; levels count from 0, the
/// finest.
class CycleObserver {
 public:
  virtual ~CycleObserver() = default;
  virtual void begin(int level, CyclePart part) = 0;
  virtual void end() = 0;
};

/// The residual, the transfers and the coarser levels of a cycle in one.
template <class T, class Space>
class CoarseCorrection {
 public:
  virtual ~CoarseCorrection() = default;
  /// x += P V(P^T (b - product)).
  /// @param product A x
  virtual void add(const Vector<T, Space>& b, const Vector<T, Space>& product,
                   Vector<T, Space>& x) const = 0;
};

/// What a cycle does on one level. If `coarse` is set, it does what there is to do on this level
/// and those below, of which the cycle then needs nothing but the operators.
template <class T, class Space>
struct MultigridLevel {
  std::shared_ptr<const LinearOperator<T, Space>> a;
  std::unique_ptr<const Smoother<T, Space>> smoother;
  std::unique_ptr<const Transfer<T, Space>> to_coarser;
  /// In place of a transfer; or null.
  std::unique_ptr<const CoarseCorrection<T, Space>> correction;
  /// Solves on the coarsest level, or is a cycle itself; set on all levels from some one on.
  std::unique_ptr<const Preconditioner<T, Space>> coarse;
};

/// A V-cycle from x = 0 as an approximation of A^-1 (Briggs, Henson, McCormick, A Multigrid
/// Tutorial, chapter 3):
///   x = S b; x += P V(P^T (b - A x)); x = S(b, x).
/// The cycle is symmetric if the smoother is a polynomial in D^-1 A and the coarse solver is
/// symmetric. Only one cycle may run at a time, because the object owns vectors.
template <class T, class Space>
class Multigrid final : public Preconditioner<T, Space> {
 public:
  using V = Vector<T, Space>;

  explicit Multigrid(std::vector<MultigridLevel<T, Space>> levels) : levels_(std::move(levels)) {
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      const VectorLayout layout = levels_[l].a->layout();
      const VectorLayout none;
      const bool is_given =
          l == 0 || levels_[l - 1].coarse != nullptr || levels_[l - 1].correction != nullptr;
      vectors_.push_back({V(levels_[l].coarse != nullptr ? none : layout),
                          V(is_given ? none : layout), V(is_given ? none : layout)});
    }
  }

  std::size_t level_count() const { return levels_.size(); }
  const LinearOperator<T, Space>& level_operator(std::size_t l) const { return *levels_[l].a; }

  std::int64_t size() const override { return levels_[0].a->size(); }
  void do_apply(const V& r, V& z) const override { cycle(0, r, z); }

  /// x = V b on a level and those below.
  void cycle(std::size_t l, const V& b, V& x) const {
    TESSERA_CHECK(l < levels_.size());
    const MultigridLevel<T, Space>& level = levels_[l];
    TESSERA_CHECK(b.size() == level.a->size());
    TESSERA_CHECK(x.size() == level.a->size());
    TESSERA_CHECK(&b != &x);
    if (level.coarse != nullptr) {
      observed(l, CyclePart::coarse, [&] { level.coarse->apply(b, x); });
      return;
    }
    observed(l, CyclePart::smooth, [&] { level.smoother->smooth_from_zero(b, x); });
    correct(l, b, x);
    observed(l, CyclePart::smooth, [&] { level.smoother->smooth(b, x); });
  }

  /// Sets the observer of all further cycles, or none if it is null; the observer must outlive
  /// them.
  void set_observer(CycleObserver* observer) { observer_ = observer; }

 private:
  struct LevelVectors {
    V r;
    V b;
    V x;
  };

  void correct(std::size_t l, const V& b, V& x) const {
    const MultigridLevel<T, Space>& level = levels_[l];
    V& r = vectors_[l].r;
    if (level.correction != nullptr) {
      observed(l, CyclePart::residual, [&] { level.a->apply(x, r); });
      observed(l + 1, CyclePart::coarse, [&] { level.correction->add(b, r, x); });
      return;
    }
    V& coarse_b = vectors_[l + 1].b;
    V& coarse_x = vectors_[l + 1].x;
    observed(l, CyclePart::residual, [&] { make_residual(*level.a, b, x, r); });
    observed(l, CyclePart::transfer, [&] { level.to_coarser->restrict_to_coarse(r, coarse_b); });
    cycle(l + 1, coarse_b, coarse_x);
    observed(l, CyclePart::transfer, [&] { level.to_coarser->add_prolonged(coarse_x, x); });
  }

  template <class Work>
  void observed(std::size_t l, CyclePart part, Work&& work) const {
    if (observer_ != nullptr) observer_->begin(static_cast<int>(l), part);
    work();
    if (observer_ != nullptr) observer_->end();
  }

  std::vector<MultigridLevel<T, Space>> levels_;
  mutable std::vector<LevelVectors> vectors_;
  CycleObserver* observer_ = nullptr;
};

/// A preconditioner in single precision for vectors in double precision: z = M r rounded. Even if M
/// is symmetric, the rounding makes it slightly unsymmetric.
template <class Space>
class InSinglePrecision final : public Preconditioner<double, Space>,
                                public SinglePreconditioner<Space> {
 public:
  /// @param layout of the vectors
  InSinglePrecision(const VectorLayout& layout,
                    std::unique_ptr<const Preconditioner<float, Space>> inner)
      : inner_(std::move(inner)), r_(layout), z_(layout) {}
  /// For vectors of this size, which no other rank has.
  InSinglePrecision(std::int64_t size, std::unique_ptr<const Preconditioner<float, Space>> inner)
      : InSinglePrecision(VectorLayout(size), std::move(inner)) {}

  /// Sets the number by which residuals are divided before they are rounded, so that they neither
  /// overflow nor vanish; a power of 2 loses no digits.
  void set_scale(double scale) { scale_ = scale; }

  std::int64_t size() const override { return r_.size(); }
  void do_apply(const Vector<double, Space>& r, Vector<double, Space>& z) const override {
    convert(apply_in_single(r), scale_, z);
  }
  const SinglePreconditioner<Space>* as_single() const override { return this; }
  const Vector<float, Space>& apply_in_single(const Vector<double, Space>& r) const override {
    TESSERA_CHECK(r.size() == size());
    convert(r, 1.0 / scale_, r_);
    inner_->apply(r_, z_);
    return z_;
  }
  double scale() const override { return scale_; }

 private:
  std::unique_ptr<const Preconditioner<float, Space>> inner_;
  mutable Vector<float, Space> r_;
  mutable Vector<float, Space> z_;
  double scale_ = 1.0;
};

}  // namespace tessera
