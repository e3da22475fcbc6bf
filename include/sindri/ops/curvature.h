// Kronecker-factored curvature: second moments of rows, their damped inverses, and gradients multiplied by two such
// inverses. Factors are stored as diagonal blocks of width b: a factor of width d is [ceil(d/b), b, b]. Elements
// outside the blocks are dropped, and the last block is zero beyond d. A width of 0, or of at least d, keeps the whole
// factor, [1, d, d]. None of these ops has a gradient.
#pragma once
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"
#include "sindri/ops/conv.h"

namespace sindri::ops {

/// Diagonal blocks of xᵀ·x for x [rows, d], exactly symmetric and bitwise identical for any number of threads. The type
/// is float32 for 16-bit x, else x's. `ones` appends a 1 to each row, which gives a factor of width d + 1. Throws
/// ShapeError for another rank, ValueError for a negative width.
SINDRI_API Tensor gram(const Tensor& x, int64_t block = 0, bool ones = false);

/// gram of the rows that a convolution with kernel {KH, KW} reads: x [N, C, H, W] -> [groups·ceil(d/b), b, b], group by
/// group. There is one row per sample and output position, with d = C/groups·KH·KW elements in the order of a weight's
/// (channel, row, column) (Grosse and Martens 2016, eq. 22, without the mean). A kernel {1, 1} gives the second moments
/// of channels. Throws ShapeError as conv2d does.
SINDRI_API Tensor conv2d_gram(const Tensor& x, const std::vector<int64_t>& kernel, const Conv2dAttrs& conv = {}, int64_t block = 0, bool ones = false);

/// (M + damping·I)⁻¹ for every block of one or more factors of width d, exactly symmetric, by Cholesky decomposition;
/// zero beyond d. blocks and previous are [k·ceil(d/b), b, b], damping is a scalar. If any block is not finite or not
/// positive definite, the result is `previous`. `mine` [k·ceil(d/b)], of the same type, is 0 for blocks to skip, whose
/// inverse is then 0; undefined: all are inverted. Returns the inverses and a scalar of their type, 1 if `previous` was
/// returned, else 0. Throws ShapeError if shapes do not match.
SINDRI_API std::pair<Tensor, Tensor> damped_inverse(const Tensor& blocks, const Tensor& damping, const Tensor& previous, int64_t d, const Tensor& mine = {});

/// Solves the symmetric eigenproblem of every block. Returns eigenvectors in columns, zero beyond d; eigenvalues
/// [k·ceil(d/b), b], ascending; and a scalar of their type. Eigenvalues are at least 0: curvature is positive
/// semidefinite, so negative values are rounding errors. The largest component of each vector is positive. If any block
/// is not finite, all of `vectors` and `values` are returned and the scalar is 1, else it is 0. `mine` as in
/// damped_inverse. Throws ShapeError if shapes do not match.
SINDRI_API std::tuple<Tensor, Tensor, Tensor> block_eigen(const Tensor& blocks, const Tensor& vectors, const Tensor& values, int64_t d,
                                                          const Tensor& mine = {});

/// scale·G⁻¹·grad·A⁻¹ for grad [groups·dG, dA], g_inv [groups·ceil(dG/bG), bG, bG] and a_inv [groups·ceil(dA/bA), bA,
/// bA]; an undefined g_inv is the identity. Block row r and block column c of the result are g_inv[r]·grad[r,
/// c]·a_inv[c] (K-FAC, Martens and Grosse 2015, eq. 17, in blocks). Throws ShapeError if shapes do not match,
/// DTypeError unless grad is float32 or float64.
SINDRI_API Tensor block_precondition(const Tensor& grad, const Tensor& g_inv, const Tensor& a_inv, int64_t groups = 1, double scale = 1);

}  // namespace sindri::ops
