// These tests number nodes and find those on faces.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <vector>

#include "mesh/geometry/mapping.hpp"
#include "mesh/node_lattice.hpp"
#include "tests/mesh/meshes.hpp"

namespace tessera::testing {
namespace {

struct Shape {
  int dimension;
  IndexTriple cells;
  int degree;
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = [] {
    std::vector<Shape> result;
    for (int degree = 1; degree <= 4; ++degree) {
      for (const IndexTriple& cells : {IndexTriple{1, 1, 1}, {3, 2, 1}, {2, 5, 1}}) {
        result.push_back({2, cells, degree});
      }
      for (const IndexTriple& cells : {IndexTriple{1, 1, 1}, {2, 3, 4}, {3, 1, 2}}) {
        result.push_back({3, cells, degree});
      }
    }
    return result;
  }();
  return all;
}

template <class F>
void for_each_position(const IndexTriple& counts, F&& f) {
  for (Index z = 0; z < counts[2]; ++z) {
    for (Index y = 0; y < counts[1]; ++y) {
      for (Index x = 0; x < counts[0]; ++x) f(IndexTriple{x, y, z});
    }
  }
}

IndexTriple local_counts(const Shape& shape) {
  const Index n = shape.degree + 1;
  return {n, n, shape.dimension == 3 ? n : 1};
}

Index node_of(const NodeLattice& lattice, const IndexTriple& cell, const IndexTriple& local) {
  return lattice.first_node(cell) + lattice.offset(local[0], local[1], local[2]);
}

TEST(NodeLattices, CountNodes) {
  for (const Shape& shape : shapes()) {
    const NodeLattice lattice(general_box(shape.dimension, shape.cells), shape.degree);
    Index expected = 1;
    Index local = 1;
    for (int d = 0; d < shape.dimension; ++d) {
      expected *= shape.degree * shape.cells[d] + 1;
      local *= shape.degree + 1;
      EXPECT_EQ(lattice.extents()[d], shape.degree * shape.cells[d] + 1);
    }
    if (shape.dimension == 2) {
      EXPECT_EQ(lattice.extents()[2], 1);
    }
    EXPECT_EQ(lattice.dof_count(), expected);
    EXPECT_EQ(lattice.size(), expected);
    EXPECT_EQ(lattice.nodes_per_cell(), local);
  }
}

TEST(NodeLattices, StridesLeadToTheNextNodeAlongAnAxis) {
  for (const Shape& shape : shapes()) {
    const NodeLattice lattice(general_box(shape.dimension, shape.cells), shape.degree);
    for_each_position(lattice.extents(), [&](const IndexTriple& position) {
      const Index node = lattice.node_index(position);
      for (int d = 0; d < 3; ++d) {
        IndexTriple next = position;
        if (++next[d] == lattice.extents()[d]) continue;
        ASSERT_EQ(lattice.node_index(next), node + lattice.stride(d));
      }
      ASSERT_EQ(lattice.offset(position[0], position[1], position[2]), node);
    });
    EXPECT_EQ(lattice.nodes().strides[3], lattice.size());
  }
}

TEST(NodeLattices, VerticesOfTheMeshAreTheFirstNodesOfTheirCells) {
  for (const Shape& shape : shapes()) {
    const BoxMesh mesh = general_box(shape.dimension, shape.cells);
    const NodeLattice lattice(mesh, shape.degree);
    IndexTriple vertices{1, 1, 1};
    for (int d = 0; d < shape.dimension; ++d) vertices[d] = mesh.cells()[d] + 1;
    for_each_position(vertices, [&](const IndexTriple& vertex) {
      IndexTriple position = vertex;
      for (Index& at : position) at *= shape.degree;
      const Index node = lattice.vertex_node(vertex);
      ASSERT_EQ(lattice.node_position(node), position);
      bool is_cell = true;
      for (int d = 0; d < 3; ++d) is_cell = is_cell && vertex[d] < mesh.cells()[d];
      if (!is_cell) return;
      ASSERT_EQ(lattice.first_node(vertex), node);
      for (int corner = 0; corner < 1 << shape.dimension; ++corner) {
        const IndexTriple end{vertex[0] + (corner & 1), vertex[1] + (corner >> 1 & 1),
                              vertex[2] + (corner >> 2 & 1)};
        ASSERT_EQ(lattice.corner_node(vertex, corner), lattice.vertex_node(end));
      }
    });
  }
}

TEST(NodeLattices, PositionsAndIndicesAreEachOthersInverse) {
  for (const Shape& shape : shapes()) {
    const NodeLattice lattice(general_box(shape.dimension, shape.cells), shape.degree);
    Index next = 0;
    for_each_position(lattice.extents(), [&](const IndexTriple& position) {
      ASSERT_EQ(lattice.node_index(position), next);
      ASSERT_EQ(lattice.node_position(next), position);
      ++next;
    });
    EXPECT_EQ(next, lattice.size());
  }
}

TEST(NodeLattices, NodesOfCellsLieWhereTheElementHasThem) {
  for (const Shape& shape : shapes()) {
    for (const NodeFamily family : {NodeFamily::gauss_lobatto, NodeFamily::equidistant}) {
      const BoxMesh mesh = general_box(shape.dimension, shape.cells);
      const NodeLattice lattice(mesh, shape.degree);
      const std::vector<double> nodes = make_nodes(family, shape.degree);
      const Mapping mapping(mesh, lattice, nodes);
      for_each_position(mesh.cells(), [&](const IndexTriple& cell) {
        for_each_position(local_counts(shape), [&](const IndexTriple& local) {
          const Eigen::Vector3d xi(nodes[local[0]], nodes[local[1]], nodes[local[2]]);
          const Eigen::Vector3d expected = box_point(mesh, cell, xi);
          double x = 0.0;
          double y = 0.0;
          double z = 0.0;
          mapping.node_positions(node_of(lattice, cell, local), 1, &x, &y, &z);
          ASSERT_LT((Eigen::Vector3d(x, y, z) - expected).norm(), 1e-14);
        });
      });
    }
  }
}

// A node is shared by the cells that touch its position, and by no others.
TEST(NodeLattices, NeighborsShareTheirCommonNodes) {
  for (const Shape& shape : shapes()) {
    const BoxMesh mesh = general_box(shape.dimension, shape.cells);
    const NodeLattice lattice(mesh, shape.degree);
    std::vector<std::set<Index>> cells_of(static_cast<std::size_t>(lattice.size()));
    for_each_position(mesh.cells(), [&](const IndexTriple& cell) {
      for_each_position(local_counts(shape), [&](const IndexTriple& local) {
        const Index node = node_of(lattice, cell, local);
        ASSERT_GE(node, 0);
        ASSERT_LT(node, lattice.size());
        ASSERT_TRUE(cells_of[node].insert(mesh.cell_index(cell)).second)
            << "two local nodes of one cell are node " << node;
      });
    });
    for (Index node = 0; node < lattice.size(); ++node) {
      const IndexTriple position = lattice.node_position(node);
      std::size_t expected = 1;
      for (int d = 0; d < shape.dimension; ++d) {
        const bool inner_line = position[d] % shape.degree == 0 && position[d] > 0 &&
                                position[d] < lattice.extents()[d] - 1;
        if (inner_line) expected *= 2;
      }
      ASSERT_EQ(cells_of[node].size(), expected) << "node " << node;
    }
  }
}

bool lies_on(const NodeLattice& lattice, const IndexTriple& position, int face) {
  const int axis = face / 2;
  return position[axis] == (face % 2 == 0 ? 0 : lattice.extents()[axis] - 1);
}

TEST(Faces, ContainTheNodesAtTheirEndOfTheirAxis) {
  for (const Shape& shape : shapes()) {
    const NodeLattice lattice(general_box(shape.dimension, shape.cells), shape.degree);
    for (unsigned long set = 0; set < 1ul << (2 * shape.dimension); ++set) {
      const FaceSet faces(set);
      for_each_position(lattice.extents(), [&](const IndexTriple& position) {
        bool expected = false;
        for (int face = 0; face < 2 * shape.dimension; ++face) {
          expected = expected || (faces[face] && lies_on(lattice, position, face));
        }
        ASSERT_EQ(lattice.on_faces(position, faces), expected) << "faces " << faces;
      });
    }
  }
}

TEST(Faces, InTwoDimensionsHaveNoBackAndFront) {
  const NodeLattice lattice(general_box(2, {2, 2, 1}), 2);
  EXPECT_FALSE(lattice.on_faces({1, 1, 0}, FaceSet("110000")));
}

TEST(Faces, RectanglesAreTheirNodesInOrder) {
  for (const Shape& shape : shapes()) {
    const NodeLattice lattice(general_box(shape.dimension, shape.cells), shape.degree);
    for (int face = 0; face < face_count(shape.dimension); ++face) {
      std::vector<Index> expected;
      for_each_position(lattice.extents(), [&](const IndexTriple& position) {
        if (lies_on(lattice, position, face)) expected.push_back(lattice.node_index(position));
      });
      const FaceNodes nodes = face_nodes(lattice, face);
      std::vector<Index> found;
      for (Index b = 0; b < nodes.counts[1]; ++b) {
        for (Index a = 0; a < nodes.counts[0]; ++a) {
          found.push_back(nodes.node(a, b));
        }
      }
      EXPECT_EQ(found, expected) << "face " << face;
      EXPECT_EQ(nodes.count(), static_cast<Index>(expected.size()));
      EXPECT_NE(nodes.axes[0], face_axis(face));
      if (shape.dimension == 3) {
        EXPECT_NE(nodes.axes[1], face_axis(face));
        EXPECT_LT(nodes.axes[0], nodes.axes[1]);
      }
    }
  }
}

TEST(Faces, HaveTheirNamesAxesAndEnds) {
  EXPECT_EQ(kFaceNames[static_cast<int>(Face::left)], "left");
  EXPECT_EQ(kFaceNames[static_cast<int>(Face::front)], "front");
  EXPECT_EQ(face_axis(static_cast<int>(Face::top)), 1);
  EXPECT_TRUE(is_upper_face(static_cast<int>(Face::top)));
  EXPECT_EQ(face_axis(static_cast<int>(Face::back)), 2);
  EXPECT_FALSE(is_upper_face(static_cast<int>(Face::back)));
  EXPECT_EQ(face_count(2), 4);
  EXPECT_EQ(face_count(3), 6);
}

// Unequal axes, so that no two can be taken for each other: 10^13 nodes, none of them stored.
TEST(LargeLattices, HaveIndicesBeyond32Bits) {
  const BoxMesh mesh(3, {10000, 20000, 2000}, {0, 0, 0}, {1, 1, 1});
  const NodeLattice lattice(mesh, 3);
  const Index nx = 30001;
  const Index ny = 60001;
  EXPECT_EQ(lattice.size(), nx * ny * 6001);
  EXPECT_EQ(lattice.stride(2), nx * ny);
  for (const IndexTriple& cell : {IndexTriple{9999, 19999, 1999}, IndexTriple{9999, 0, 1999},
                                  IndexTriple{0, 19999, 7}, IndexTriple{5, 6, 1234}}) {
    const Index first = 3 * cell[0] + nx * (3 * cell[1] + ny * 3 * cell[2]);
    EXPECT_EQ(lattice.first_node(cell), first);
    EXPECT_EQ(lattice.node_position(first), (IndexTriple{3 * cell[0], 3 * cell[1], 3 * cell[2]}));
    EXPECT_EQ(mesh.cell_position(mesh.cell_index(cell)), cell);
  }
  const FaceNodes top = face_nodes(lattice, static_cast<int>(Face::top));
  EXPECT_EQ(top.first, nx * (ny - 1));
  EXPECT_EQ(top.node(nx - 1, 6000), lattice.size() - 1);
}

TEST(IndexBoxes, MayHaveGapsBehindTheirRows) {
  IndexBox box;
  box.extents = {5, 3, 2};
  box.strides = {1, 8, 24, 48};
  EXPECT_EQ(box.count(), 30);
  EXPECT_EQ(box.size(), 48);
  Index last = -1;
  for_each_position(box.extents, [&](const IndexTriple& position) {
    const Index index = box.index(position);
    EXPECT_GT(index, last);
    EXPECT_LT(index, box.size());
    EXPECT_EQ(box.position(index), position);
    last = index;
  });
  EXPECT_EQ(box.index({4, 2, 1}), 44);
}

#ifndef NDEBUG
TEST(NodeLatticeDeathTest, PositionsOutOfTheLatticeAreRefused) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const BoxMesh mesh(2, {3, 2, 1}, {0, 0, 0}, {1, 1, 0});
  const NodeLattice lattice(mesh, 2);
  EXPECT_DEATH(lattice.node_index({7, 0, 0}), "position");
  EXPECT_DEATH(lattice.node_index({0, -1, 0}), "position");
  EXPECT_DEATH(lattice.first_node({3, 0, 0}), "cell");
  EXPECT_DEATH(lattice.node_position(35), "node");
  EXPECT_DEATH(mesh.cell_index({0, 2, 0}), "position");
  EXPECT_DEATH(mesh.cell_position(6), "cell");
  EXPECT_DEATH(mesh.cell_width(0, 3), "c < cells_");
}
#endif

}  // namespace
}  // namespace tessera::testing
