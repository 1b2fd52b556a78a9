// These tables are the launch shapes of kernels with one thread per line, as measured on H100 and
// H200, and the places of their tensors in shared memory.
#pragma once

#include <iterator>

namespace tessera {

/// Which thread has line (a, b) of a cell.
enum class LineOrder {
  by_cell,  // a + lanes b, one cell after another
  by_rows,  // a + lanes (cell + cells b): rows of neighboring cells are side by side
};

/// A thread a line in 3D. Cells come in groups, whose threads wait for each other: a warp's where
/// all lines of a group fit in one, else the block's.
struct LineShapeRow {
  int cells;  // of a group
  int lanes;  // threads from b to b + 1, at least the lines
  LineOrder order;
  int groups;  // of a block: warps, or 1
  int blocks;  // a multiprocessor, with compressed factors: registers are held down to it
};
/// How values and derivatives of a 3D cell go from line to line: side by side, or with derivatives
/// taken in the points, which takes fewer multiply-adds and registers, but more of shared memory.
enum class LineSweep { side_by_side, in_points };

/// By points an axis, from 2 on. A multiprocessor has four parts with a quarter of its registers
/// each, so registers are held down where one more warp fits in a part then.
inline constexpr LineShapeRow kDoubleShapes[] = {
    {8, 2, LineOrder::by_rows, 2, 12}, {3, 3, LineOrder::by_rows, 2, 10},
    {2, 4, LineOrder::by_rows, 2, 10}, {5, 5, LineOrder::by_rows, 1, 4},
    {3, 6, LineOrder::by_rows, 1, 4},  {1, 8, LineOrder::by_cell, 1, 8},
    {1, 8, LineOrder::by_cell, 1, 6},  {1, 9, LineOrder::by_cell, 1, 5},
    {1, 10, LineOrder::by_cell, 1, 3}};
/// In the points, from kMinDoublePoints on.
inline constexpr int kMinDoublePoints = 7;
inline constexpr LineShapeRow kDoublePointShapes[] = {{2, 8, LineOrder::by_rows, 1, 4},
                                                      {2, 8, LineOrder::by_rows, 1, 4},
                                                      {1, 10, LineOrder::by_cell, 1, 5},
                                                      {1, 10, LineOrder::by_cell, 1, 3}};
inline constexpr LineShapeRow kSingleShapes[] = {
    {8, 2, LineOrder::by_cell, 2, 12}, {3, 3, LineOrder::by_cell, 2, 10},
    {2, 4, LineOrder::by_cell, 2, 10}, {5, 5, LineOrder::by_rows, 1, 5},
    {4, 6, LineOrder::by_rows, 1, 4},  {1, 8, LineOrder::by_cell, 1, 9},
    {1, 8, LineOrder::by_cell, 1, 8},  {1, 9, LineOrder::by_cell, 1, 5},
    {1, 10, LineOrder::by_cell, 1, 4}};
constexpr bool has_line_shape(int points) {
  return points >= 2 && points - 2 < static_cast<int>(std::size(kDoubleShapes));
}
template <class T>
constexpr LineShapeRow line_shape_row(int points, LineSweep sweep) {
  if (sizeof(T) != sizeof(double)) return kSingleShapes[points - 2];
  return sweep == LineSweep::side_by_side ? kDoubleShapes[points - 2]
                                          : kDoublePointShapes[points - kMinDoublePoints];
}

/// Double precision waits for shared memory, single for multiply-adds.
template <class T>
inline constexpr LineSweep kLineSweep = sizeof(T) == sizeof(double) ? LineSweep::side_by_side
                                                                    : LineSweep::in_points;

/// With compressed factors, multiply-adds and registers are what long lines wait for in double
/// precision too.
template <class T>
constexpr LineSweep compressed_line_sweep(int points) {
  return points < kMinDoublePoints ? kLineSweep<T> : LineSweep::in_points;
}

/// Equal cells whose coefficient varies have one number a point, so it takes more points.
template <class T>
constexpr LineSweep scaled_line_sweep(int points) {
  return points < 9 ? kLineSweep<T> : LineSweep::in_points;
}

/// Geometry on the fly in 3D has the lines of double precision, and so many blocks: spilled
/// registers cost it less than waiting.
inline constexpr int kOnTheFlyBlocks[] = {12, 10, 8, 4, 4, 6, 6, 4, 3};

/// Equal cells whose coefficient varies, in 3D: the lines of the precision, and so many blocks.
inline constexpr int kScaledBlocks[] = {16, 14, 16, 7, 4, 10, 10, 6, 4};

/// Equal cells with constant coefficients in 3D: by p + 1 points, likewise.
inline constexpr int kSeparableBlocks[] = {16, 16, 16, 7, 5, 12, 10, 6, 4};

/// Where entry (x, y, z) of a cell's tensor lies in shared memory: at x + y_step y + z_step z, and
/// that of the next cell of the group cell_step further. A wavefront takes 16 bytes for each of 8
/// neighboring threads, 8 for each of 16 or 4 for each of 32, if they lie in different banks.
struct LineStrides {
  int y_step;
  int z_step;
  int cell_step;
};

/// By points an axis, from 2 on, what takes the fewest wavefronts of all strides tried: double
/// precision side by side, a tensor of pairs and one of single values, which are between lines
/// along x and y only.
inline constexpr LineStrides kDoublePairs[] = {{3, 5, 10},   {9, 3, 27},   {17, 4, 68},
                                               {9, 41, 205}, {9, 58, 342}, {7, 49, 343},
                                               {65, 8, 519}, {9, 81, 729}, {101, 10, 1009}};
inline constexpr LineStrides kDoubleValues[] = {{3, 5, 10},   {17, 3, 54},  {17, 4, 72},
                                                {49, 9, 245}, {9, 66, 390}, {49, 7, 343},
                                                {65, 8, 519}, {81, 9, 729}, {105, 10, 1045}};

/// One tensor of pairs in single precision.
inline constexpr LineStrides kSinglePairs[] = {{3, 6, 12},   {3, 9, 27},   {5, 20, 80},
                                               {49, 9, 245}, {49, 8, 294}, {7, 56, 392},
                                               {9, 72, 576}, {9, 81, 729}, {11, 110, 1100}};
template <class T>
constexpr LineStrides pair_strides(int points) {
  return (sizeof(T) == sizeof(double) ? kDoublePairs : kSinglePairs)[points - 2];
}

/// In the points: three tensors a cell, one after another.
inline constexpr LineStrides kDoublePoints[] = {
    {7, 49, 1032}, {65, 8, 1560}, {9, 90, 2430}, {105, 10, 3135}};
inline constexpr LineStrides kSinglePoints[] = {{3, 6, 36},    {3, 9, 81},    {5, 20, 240},
                                                {5, 29, 441},  {47, 8, 858},  {7, 56, 1176},
                                                {9, 72, 1728}, {9, 81, 2187}, {11, 110, 3300}};
template <class T>
constexpr LineStrides point_strides(int points) {
  return sizeof(T) == sizeof(double) ? kDoublePoints[points - kMinDoublePoints]
                                     : kSinglePoints[points - 2];
}

/// Whether compressed factors of few bits wait in registers while u is interpolated, or are asked
/// for into the L2 cache first, where single precision has more lines than registers.
template <class T>
constexpr bool has_factors_in_registers(int points) {
  return sizeof(T) == sizeof(double) || points <= 4;
}

}  // namespace tessera
