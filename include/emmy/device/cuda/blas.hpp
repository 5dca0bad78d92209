#pragma once
#include <emmy/core/dtype.hpp>
#include <emmy/device/cuda/measure.hpp>

#include <memory>
#include <string>
#include <vector>

/// The makers' matrix product as a yardstick: cublasLt, every algorithm that its heuristic proposes.
namespace emmy::device::cuda {

/// C[m,n] = A[m,k] · B (B is [k,n], or [n,k] when transposed), row-major, `batch` of them one after another. Accumulated in f32.
struct product {
    long long m = 0, n = 0, k = 0, batch = 1;
    bool transposed = false;
    dtype operand = dtype::f16, out = dtype::f16;  ///< f32, f16, bf16; f8e4m3 operands need transposed
    bool tf32 = false;                             ///< f32 operands rounded to tf32
};

class blas {
public:
    /// Errors (device): no cublasLt, with what was looked for; it does not start on this card.
    EMMY_DECL static result<blas> open(const context& card);
    EMMY_DECL std::string version() const;  ///< "cublasLt 13.1.0"

    /// One subject per algorithm the heuristic proposes (at most `most`), best guess first; all work on the given memory. They keep what they need alive.
    /// Errors (device_limit): no algorithm for this product.
    EMMY_DECL result<std::vector<subject>> algorithms(const product& p, device_pointer a, device_pointer b, device_pointer c, int most = 8) const;

private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace emmy::device::cuda

#ifdef EMMY_HEADER_ONLY
#include <emmy/device/impl/cuda_blas.ipp>
#endif
