// Kronecker-factored curvature: second moments of rows, their damped inverses, and a gradient between two of them. All of it in diagonal blocks of a
// width b: a factor of width d is [ceil(d/b), b, b], what lies outside the blocks is left out, and what the last block has beyond d is zero. A width
// of 0, or of d and more, keeps the whole factor, [1, d, d]. None of these ops has a gradient.
#pragma once
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"
#include "sindri/ops/conv.h"

namespace sindri::ops {

/// x [rows, d] -> diagonal blocks of xᵀ·x, exactly symmetric, the same bits for any number of threads; float32 for 16-bit x, else x's type. `ones`: of
/// rows that have a 1 behind them, a factor of width d + 1.
/// Throws ShapeError for another rank, ValueError for a negative width.
SINDRI_API Tensor gram(const Tensor& x, int64_t block = 0, bool ones = false);

/// The same for the rows that a convolution with this kernel {KH, KW} sees: x [N, C, H, W], one row per sample and output position, d = C/groups·KH·KW in
/// the order of a weight's elements (channel, row, column) -> [groups·ceil(d/b), b, b], group by group (Grosse and Martens 2016, eq. 22, without
/// the mean). A kernel {1, 1} takes the second moments of channels. Throws ShapeError as conv2d.
SINDRI_API Tensor conv2d_gram(const Tensor& x, const std::vector<int64_t>& kernel, const Conv2dAttrs& conv = {}, int64_t block = 0, bool ones = false);

/// (M + damping·I)⁻¹ for every block of one or more factors of width d, exactly symmetric, by Cholesky's factors; zero beyond d. blocks, previous
/// [k·ceil(d/b), b, b], damping a scalar. A block that is not positive definite, or not finite, spoils all: then the result is `previous`. -> (inverses, scalar
/// of their type: 1 if that happened, else 0). `mine` [k·ceil(d/b)], of the same type: blocks of which it is 0 are not looked at, and their inverse is 0;
/// undefined: all are. Throws ShapeError where shapes do not fit.
SINDRI_API std::pair<Tensor, Tensor> damped_inverse(const Tensor& blocks, const Tensor& damping, const Tensor& previous, int64_t d, const Tensor& mine = {});

/// Symmetric eigenproblem of every block: eigenvectors in columns, zero beyond d, and eigenvalues [k·ceil(d/b), b], at least 0 (curvature is positive
/// semidefinite; what rounding puts below is 0), ascending. The largest component of each vector is positive. Where a block is not finite all of
/// `vectors` and `values` are given back. -> (vectors, values, scalar of their type: 1 if that happened, else 0). `mine` as above. Throws ShapeError.
SINDRI_API std::tuple<Tensor, Tensor, Tensor> block_eigen(const Tensor& blocks, const Tensor& vectors, const Tensor& values, int64_t d,
                                                          const Tensor& mine = {});

/// scale·G⁻¹·grad·A⁻¹: grad [groups·dG, dA], g_inv [groups·ceil(dG/bG), bG, bG], a_inv [groups·ceil(dA/bA), bA, bA]; g_inv undefined: the identity.
/// Element (i, j) of block row r and block column c is of g_inv[r]·grad[r, c]·a_inv[c] (K-FAC, Martens and Grosse 2015, eq. 17, in blocks).
SINDRI_API Tensor block_precondition(const Tensor& grad, const Tensor& g_inv, const Tensor& a_inv, int64_t groups = 1, double scale = 1);

}  // namespace sindri::ops
