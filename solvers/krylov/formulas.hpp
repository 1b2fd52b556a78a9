// These are the formulas of methods whose dot products follow by recurrence, for host and GPU.
#pragma once

#include "solvers/preconditioner.hpp"

namespace tessera {

/// f.operator()<kind>()
template <class F>
void with_kind(PreconditionerKind kind, F&& f) {
  switch (kind) {
    case PreconditionerKind::none:
      return f.template operator()<PreconditionerKind::none>();
    case PreconditionerKind::diagonal:
      return f.template operator()<PreconditionerKind::diagonal>();
    case PreconditionerKind::general:
      return f.template operator()<PreconditionerKind::general>();
  }
}

/// The scalars of one iteration with gamma = r.u and delta = w.u, where p.Ap is not computed from
/// p: beta = gamma / gamma_old, p.Ap = delta - beta gamma / alpha_old, alpha = gamma / p.Ap.
struct RecurrenceStep {
  double gamma;
  double beta;
  double pq;  // p.Ap
  double alpha;
};

constexpr RecurrenceStep recurrence_step(double gamma, double delta, double previous_gamma,
                                         double previous_alpha, bool is_first) {
  const double beta = is_first ? 0.0 : gamma / previous_gamma;
  const double pq = is_first ? delta : delta - beta * gamma / previous_alpha;
  return {gamma, beta, pq, gamma / pq};
}

/// beta = ||r - alpha q||^2 / r.r with q = A p and alpha = r.r / p.q, foreseen before the step: as
/// r.q = p.q,
///
///     ||r - alpha q||^2 = r.r - 2 alpha r.q + alpha^2 q.q = alpha^2 q.q - r.r.
///
/// Only beta is to be made of it, so that rounding does not build up (Meurant, Computer solution of
/// large linear systems, 1999, chapter 6.7, has this and other forms). Rounding may make it
/// negative where r nearly vanishes, then it is 0; a NaN stays a NaN.
constexpr double foreseen_beta(double alpha, double qq, double rr) {
  const double beta = alpha * alpha * qq / rr - 1.0;
  return beta < 0.0 ? 0.0 : beta;
}

/// The factor c by which x makes up for a step alpha p that it lacks, once p = r + beta p is the
/// next direction: x += c (p - r), c = alpha / beta (as in Kronbichler, Sashko, Munch, Enhancing
/// data locality of the conjugate gradient method, Int. J. High Perform. Comput. Appl. 37, 2023).
/// Rounding of p is larger by 1 / sqrt(beta) in it, so that c is 0 for a beta that is small, or no
/// number: x must not wait then.
constexpr double delayed_step(double alpha, double beta) {
  constexpr double kLeast = 1.0 / 64.0;
  return beta >= kLeast && beta <= 1.0 / kLeast ? alpha / beta : 0.0;
}

/// One entry of each vector of single-reduction CG; d is the diagonal of M.
template <class T>
struct SingleReductionEntry {
  T u, w, d, p, s, x, r;
};

/// p = u + beta p, s = w + beta s, x += alpha p, r -= alpha s, and u = d r with a diagonal.
template <PreconditionerKind kind, class T>
constexpr void advance(SingleReductionEntry<T>& e, T alpha, T beta) {
  e.p = (kind == PreconditionerKind::none ? e.r : e.u) + beta * e.p;
  e.s = e.w + beta * e.s;
  e.x += alpha * e.p;
  e.r -= alpha * e.s;
  if constexpr (kind == PreconditionerKind::diagonal) e.u = e.d * e.r;
}

/// One entry of each vector of pipelined CG, by the names of its formulas; d is the diagonal of M.
template <class T>
struct PipelinedEntry {
  T n, m, d, z, q, s, p, x, r, u, w;
};

/// z = n + beta z, q = m + beta q, s = w + beta s, p = u + beta p; x += alpha p, r -= alpha s,
/// u -= alpha q, w -= alpha z; with a diagonal u = d r and m = d w, without a preconditioner u = r.
template <PreconditionerKind kind, class T>
constexpr void advance(PipelinedEntry<T>& e, T alpha, T beta) {
  if constexpr (kind == PreconditionerKind::none) e.u = e.r;
  if constexpr (kind == PreconditionerKind::diagonal) e.u = e.d * e.r;
  e.z = e.n + beta * e.z;
  e.s = e.w + beta * e.s;
  e.p = e.u + beta * e.p;
  e.x += alpha * e.p;
  e.r -= alpha * e.s;
  e.w -= alpha * e.z;
  if constexpr (kind == PreconditionerKind::none) {
    e.u = e.r;
  } else if constexpr (kind == PreconditionerKind::diagonal) {
    e.u = e.d * e.r;
    e.m = e.d * e.w;
  } else {
    e.q = e.m + beta * e.q;
    e.u -= alpha * e.q;
  }
}

}  // namespace tessera
