// This file has the tensor kernel of run-time size on the GPU.
#include "mesh/element/basis_1d.hpp"
#include "operators/cells/block_contraction.cuh"
#include "operators/cells/cell_access.cuh"
#include "operators/tensor/gpu/any_degree.hpp"
#include "operators/tensor/gpu/diagonal_lines.hpp"
#include "operators/tensor/gpu/factor_layout.cuh"
#include "solvers/memory/launch.cuh"

namespace tessera {
namespace {

constexpr int kThreads = kScratchThreads;

template <class T>
struct AnyArguments {
  CellGrid grid;
  CellRange range;
  CellSource<T> source;
  CellSink<T> sink;
  FactorKind kind;
  const T* factors;
  Index factor_stride;
  Index first_cell;  // of the factors
  T axis_scale[3];
  const T* reaction;  // of the cells of the factors
  T reaction_scale;
  int points;
  const T* B;             // [q][i]
  const T* B_transposed;  // [i][q]
  const T* D;
  const T* D_transposed;
  const T* M;
  const T* K;
  const T* BB;
  const T* BG;
  const T* GG;
  ScratchView scratch;
};

template <class T>
__device__ const T* cell_factors(const AnyArguments<T>& args, const CellPlace& place) {
  return args.factors +
         (cell_number(args.grid, place.position) - args.first_cell) * args.factor_stride;
}

template <class T>
__device__ const T* cell_reaction(const AnyArguments<T>& args, const CellPlace& place, int size) {
  if (args.reaction == nullptr) return nullptr;
  return args.reaction + (cell_number(args.grid, place.position) - args.first_cell) * size;
}

// sum += in, by the team.
template <class Team, class T>
__device__ void add_tensor(const Team& team, const T* in, int size, T* sum) {
  team.for_each(size, [&](int t) { sum[t] += in[t]; });
  __syncthreads();
}

// v = sum_d s_d K along d, M along the others, + r M along all. Scratch: 4 tensors; u lies in the
// first.
template <class Team, class T>
__device__ const T* separable_product(const Team& team, const AnyArguments<T>& args, int nodes,
                                      T* u) {
  const int n = args.grid.degree + 1;
  T* const sum = u + nodes;
  T* const here = u + 2 * nodes;
  T* const there = u + 3 * nodes;
  team.for_each(nodes, [&](int t) { sum[t] = T{0}; });
  __syncthreads();
  const int terms = args.grid.dimension + (args.reaction_scale != T{0} ? 1 : 0);
  for (int d = 0; d < terms; ++d) {
    const T scale = d < args.grid.dimension ? args.axis_scale[d] : args.reaction_scale;
    const T* in = u;
    T* out = here;
    int fast = 1;
    for (int axis = 0; axis < args.grid.dimension; ++axis, fast *= n) {
      contract_axis(team, axis == d ? args.K : args.M, n, n, fast, nodes / (fast * n), in, out);
      in = out;
      out = out == here ? there : here;
    }
    team.for_each(nodes, [&](int t) { sum[t] += scale * in[t]; });
    __syncthreads();
  }
  return sum;
}

// (g_0, g_1, g_2) = D_q (g_0, g_1, g_2) at all points.
template <class Team, class T>
__device__ void multiply_factors(const Team& team, const AnyArguments<T>& args, const T* factors,
                                 int size, T* g) {
  const int dim = args.grid.dimension;
  team.for_each(size, [&](int q) {
    const PointNumbers number(q, args.points, dim);
    if (args.kind == FactorKind::scaled) {
      const T factor = factors[scaled_factor_offset(dim, args.points, number)];
      for (int d = 0; d < dim; ++d) g[d * size + q] *= factor * args.axis_scale[d];
      return;
    }
    T in[3];
    T out[3] = {T{0}, T{0}, T{0}};
    for (int d = 0; d < dim; ++d) in[d] = g[d * size + q];
    int e = 0;
    for (int a = 0; a < dim; ++a) {
      for (int b = a; b < dim; ++b, ++e) {
        const T entry = factors[general_factor_offset(dim, args.points, number, e)];
        out[a] += entry * in[b];
        if (a != b) out[b] += entry * in[a];
      }
    }
    for (int d = 0; d < dim; ++d) g[d * size + q] = out[d];
  });
  __syncthreads();
}

// v = B^T (D^T D_q D + r_q) B u. Scratch: 5 tensors; u lies in the first.
template <class Team, class T>
__device__ const T* tensor_product(const Team& team, const AnyArguments<T>& args, const T* factors,
                                   const T* reaction, T* u) {
  const int dim = args.grid.dimension;
  const int n = args.grid.degree + 1;
  const int m = args.points;
  const int size = dim == 3 ? m * m * m : m * m;
  T* const other = u + size;
  T* const g = u + 2 * size;
  const T* U = contract_all_axes(team, args.B, m, n, dim, u, other);
  int fast = 1;
  for (int d = 0; d < dim; ++d, fast *= m) {
    contract_axis(team, args.D, m, m, fast, size / (fast * m), U, g + d * size);
  }
  multiply_factors(team, args, factors, size, g);
  team.for_each(size, [&](int t) { u[t] = reaction != nullptr ? reaction[t] * U[t] : T{0}; });
  __syncthreads();
  fast = 1;
  for (int d = 0; d < dim; ++d, fast *= m) {
    contract_axis(team, args.D_transposed, m, m, fast, size / (fast * m), g + d * size, other);
    add_tensor(team, other, size, u);
  }
  return contract_all_axes(team, args.B_transposed, n, m, dim, u, other);
}

// Launch: kThreads a block, a team a cell, striding over the range. Shared memory, or a part of
// an array in GPU memory: 5 tensors of m^dim values. Every value passes through that memory once an
// axis. Flops: as the unrolled kernel with points; 18 n a node in 3D where all cells are alike.
template <ScratchPlace place, class T>
__global__ void __launch_bounds__(kThreads) apply_any_kernel(const AnyArguments<T> args) {
  extern __shared__ __align__(16) char shared[];
  const CellTeam<place> team(args.scratch, shared);
  T* const u = team.template scratch<T>();
  const int n = args.grid.degree + 1;
  const int nodes = args.grid.dimension == 3 ? n * n * n : n * n;
  const int m = args.points;
  const int size = args.grid.dimension == 3 ? m * m * m : m * m;
  team.for_each_cell(args.range.size(), [&](const TeamCell& cell) {
    const CellPlace here = place_cell(args.grid, args.range, cell.number);
    team.for_each(
        nodes, [&](int i) { u[i] = load_node(args.source, here, cell_node(args.grid, here, i)); });
    __syncthreads();
    const T* v = args.kind == FactorKind::constant
                     ? separable_product(team, args, nodes, u)
                     : tensor_product(team, args, cell_factors(args, here),
                                      cell_reaction(args, here, size), u);
    if (!cell.counts) return;
    team.for_each(nodes, [&](int i) {
      store_node(args.sink, here, cell.number, cell_node(args.grid, here, i), v[i]);
    });
  });
}

// d_i += sum over entries (a, b) of D of its contraction with the squares and products of B and G
// along each axis. As apply_any_kernel(); 3 tensors.
template <ScratchPlace place, class T>
__global__ void __launch_bounds__(kThreads) diagonal_kernel(const AnyArguments<T> args, T* d) {
  extern __shared__ __align__(16) char shared[];
  const CellTeam<place> team(args.scratch, shared);
  T* const scratch = team.template scratch<T>();
  const int dim = args.grid.dimension;
  const int n = args.grid.degree + 1;
  const int m = args.points;
  const int nodes = dim == 3 ? n * n * n : n * n;
  const int size = dim == 3 ? m * m * m : m * m;
  T* const sum = scratch + 2 * size;
  team.for_each_cell(args.range.size(), [&](const TeamCell& cell) {
    const CellPlace here = place_cell(args.grid, args.range, cell.number);
    const T* factors = cell_factors(args, here);
    team.for_each(nodes, [&](int i) { sum[i] = T{0}; });
    int e = 0;
    for (int a = 0; a < dim; ++a) {
      for (int b = a; b < dim; ++b, ++e) {
        if (args.kind == FactorKind::scaled && a != b) continue;
        team.for_each(size, [&](int q) {
          const PointNumbers number(q, m, dim);
          scratch[q] = args.kind == FactorKind::scaled
                           ? factors[scaled_factor_offset(dim, m, number)] * args.axis_scale[a]
                           : factors[general_factor_offset(dim, m, number, e)] * T(a == b ? 1 : 2);
        });
        __syncthreads();
        T* in = scratch;
        T* out = scratch + size;
        int fast = 1;
        int slow = size / m;
        for (int axis = 0; axis < dim; ++axis) {
          const T* matrix = axis == a && axis == b   ? args.GG
                            : axis == a || axis == b ? args.BG
                                                     : args.BB;
          contract_axis(team, matrix, n, m, fast, slow, in, out);
          T* swapped = in;
          in = out;
          out = swapped;
          fast *= n;
          slow /= m;
        }
        add_tensor(team, in, nodes, sum);
      }
    }
    if (const T* const reaction = cell_reaction(args, here, size); reaction != nullptr) {
      const T* in = reaction;
      T* out = scratch;
      int fast = 1;
      int slow = size / m;
      for (int axis = 0; axis < dim; ++axis, fast *= n, slow /= m) {
        contract_axis(team, args.BB, n, m, fast, slow, in, out);
        in = out;
        out = out == scratch ? scratch + size : scratch;
      }
      add_tensor(team, in, nodes, sum);
    }
    if (!cell.counts) return;
    team.for_each(nodes, [&](int i) { d[cell_node(args.grid, here, i).lattice] += sum[i]; });
  });
}

// d_i += sum_d s_d K_ii along d, M_ii along the others, + r M_ii along all. One thread a node of a
// cell.
template <class T>
__global__ void separable_diagonal_kernel(const AnyArguments<T> args, T* d) {
  const int dim = args.grid.dimension;
  const int n = args.grid.degree + 1;
  const int nodes = dim == 3 ? n * n * n : n * n;
  const Index total = args.range.size() * nodes;
  for (Index t = thread_number<kThreads>(); t < total; t += thread_count<kThreads>()) {
    const CellPlace place = place_cell(args.grid, args.range, t / nodes);
    const int local = static_cast<int>(t % nodes);
    T sum{0};
    for (int a = 0; a <= dim; ++a) {
      T product = a < dim ? args.axis_scale[a] : args.reaction_scale;
      int rest = local;
      for (int axis = 0; axis < dim; ++axis, rest /= n) {
        const int i = rest % n;
        product *= (axis == a ? args.K : args.M)[i * n + i];
      }
      sum += product;
    }
    d[cell_node(args.grid, place, local).lattice] += sum;
  }
}

template <class T>
std::vector<T> converted(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

// X^T W X as [i][j].
template <class T>
std::vector<T> axis_matrix(const Basis1D& basis, const Matrix1D& x) {
  return converted<T>(weighted_product(x, basis.quadrature.weights).entries);
}

// X_qi Y_qi as [i][q].
template <class T>
std::vector<T> entry_products(const Matrix1D& x, const Matrix1D& y) {
  std::vector<T> values;
  for (int i = 0; i < x.columns; ++i) {
    for (int q = 0; q < x.rows; ++q) values.push_back(static_cast<T>(x(q, i) * y(q, i)));
  }
  return values;
}

}  // namespace

template <class T>
TensorAnySize<T>::TensorAnySize(const BilinearForm& form)
    : basis_(form.discretization->basis),
      points_(form.discretization->basis.point_count()),
      B_(converted<T>(form.discretization->basis.B.entries)),
      B_transposed_(transposed<T>(form.discretization->basis.B)),
      D_(converted<T>(form.discretization->basis.D.entries)),
      D_transposed_(transposed<T>(form.discretization->basis.D)),
      M_(axis_matrix<T>(form.discretization->basis, form.discretization->basis.B)),
      K_(axis_matrix<T>(form.discretization->basis, form.discretization->basis.G)),
      BB_(entry_products<T>(form.discretization->basis.B, form.discretization->basis.B)),
      BG_(entry_products<T>(form.discretization->basis.B, form.discretization->basis.G)),
      GG_(entry_products<T>(form.discretization->basis.G, form.discretization->basis.G)),
      // The rule has no fewer points than there are nodes.
      scratch_(tensor_any_cell_bytes(form.discretization->mesh.dimension(), points_, sizeof(T)),
               power(points_, form.discretization->mesh.dimension())) {}

namespace {

template <class T>
AnyArguments<T> any_arguments(const CellGrid& grid, const CellRange& range,
                              const FactorView<T>& factors, const BlockScratch& scratch) {
  AnyArguments<T> args{};
  args.grid = grid;
  args.range = range;
  args.kind = factors.kind;
  args.factors = factors.data;
  args.factor_stride = factors.stride;
  args.first_cell = factors.first_cell;
  for (int d = 0; d < 3; ++d) args.axis_scale[d] = static_cast<T>(factors.axis_scale[d]);
  args.reaction = factors.reaction;
  args.reaction_scale = static_cast<T>(factors.reaction_scale);
  args.scratch = scratch.view();
  return args;
}

}  // namespace

template <class T>
void TensorAnySize<T>::apply(const CellGrid& grid, const CellRange& range,
                             const CellSource<T>& source, const CellSink<T>& sink,
                             const FactorView<T>& factors) const {
  AnyArguments<T> args = any_arguments(grid, range, factors, scratch_);
  args.source = source;
  args.sink = sink;
  args.points = points_;
  args.B = B_.data();
  args.B_transposed = B_transposed_.data();
  args.D = D_.data();
  args.D_transposed = D_transposed_.data();
  args.M = M_.data();
  args.K = K_.data();
  scratch_.with_place([&]<ScratchPlace place>() {
    launch(apply_any_kernel<place, T>,
           {"tensor kernel of run-time size", scratch_.blocks(range.size()), kThreads,
            scratch_.shared_bytes()},
           args);
  });
}

template <class T>
void TensorAnySize<T>::add_diagonal(const CellGrid& grid, const CellRange& range,
                                    const FactorView<T>& factors, T* d) const {
  if (has_diagonal_lines(grid, basis_, factors.kind)) {
    return add_diagonal_by_lines(basis_, grid, range, factors, d);
  }
  AnyArguments<T> args = any_arguments(grid, range, factors, scratch_);
  args.points = points_;
  args.M = M_.data();
  args.K = K_.data();
  args.BB = BB_.data();
  args.BG = BG_.data();
  args.GG = GG_.data();
  constexpr const char* kName = "diagonal of the tensor kernel";
  if (factors.kind == FactorKind::constant) {
    const Index nodes = power(grid.degree + 1, grid.dimension);
    launch(separable_diagonal_kernel<T>,
           {kName, blocks_for(range.size() * nodes, kThreads, 1 << 20), kThreads}, args, d);
  } else {
    scratch_.with_place([&]<ScratchPlace place>() {
      launch(diagonal_kernel<place, T>,
             {kName, scratch_.blocks(range.size()), kThreads, scratch_.shared_bytes()}, args, d);
    });
  }
}

template class TensorAnySize<double>;
template class TensorAnySize<float>;

}  // namespace tessera
