#pragma once
#include <emmy/device/cuda/blas.hpp>

namespace emmy::device::cuda {

namespace detail {

/// One answer of the heuristic, as the library lays it out.
struct lt_answer {
    std::uint64_t algorithm[8];
    std::size_t workspace;
    int status;
    float waves;
    int reserved[4];
};
static_assert(sizeof(lt_answer) == 96);

/// cublasLt's functions that we call, by its documented interface. 0: success.
struct lt_functions {
    int (*create)(void**) = nullptr;
    int (*destroy)(void*) = nullptr;
    std::size_t (*version)() = nullptr;
    int (*product_create)(void**, int compute, int scale) = nullptr;
    int (*product_destroy)(void*) = nullptr;
    int (*product_set)(void*, int, const void*, std::size_t) = nullptr;
    int (*matrix_create)(void**, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t pitch) = nullptr;
    int (*matrix_destroy)(void*) = nullptr;
    int (*matrix_set)(void*, int, const void*, std::size_t) = nullptr;
    int (*wish_create)(void**) = nullptr;
    int (*wish_destroy)(void*) = nullptr;
    int (*wish_set)(void*, int, const void*, std::size_t) = nullptr;
    int (*heuristic)(void*, void*, void*, void*, void*, void*, void*, int, lt_answer*, int*) = nullptr;
    int (*multiply)(void*, void*, const void*, const void*, void*, const void*, void*, const void*, const void*, void*, void*, void*, const std::uint64_t*, void*, std::size_t, void*) = nullptr;

    const char* take(const shared_library& from) {
        const char* missing = nullptr;
        const auto get = [&](auto& function, const char* name) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(from.find(name));
            if (function == nullptr && missing == nullptr) missing = name;
        };
        get(create, "cublasLtCreate"), get(destroy, "cublasLtDestroy"), get(version, "cublasLtGetVersion");
        get(product_create, "cublasLtMatmulDescCreate"), get(product_destroy, "cublasLtMatmulDescDestroy"), get(product_set, "cublasLtMatmulDescSetAttribute");
        get(matrix_create, "cublasLtMatrixLayoutCreate"), get(matrix_destroy, "cublasLtMatrixLayoutDestroy"), get(matrix_set, "cublasLtMatrixLayoutSetAttribute");
        get(wish_create, "cublasLtMatmulPreferenceCreate"), get(wish_destroy, "cublasLtMatmulPreferenceDestroy"), get(wish_set, "cublasLtMatmulPreferenceSetAttribute");
        get(heuristic, "cublasLtMatmulAlgoGetHeuristic"), get(multiply, "cublasLtMatmul");
        return missing;
    }
};

constexpr int lt_type(dtype t) { return t == dtype::f16 ? 2 : t == dtype::bf16 ? 14 : t == dtype::f8e4m3 ? 28 : t == dtype::f8e5m2 ? 29 : 0; }

}  // namespace detail

struct blas::state {
    context card;
    detail::lt_functions call;
    void* handle = nullptr;
    memory workspace;
    ~state() {
        if (handle) call.destroy(handle);
    }
};

namespace detail {

/// One product as the library wants it: column-major, so Cᵀ = Bᵀ · Aᵀ.
struct lt_product {
    std::shared_ptr<void> library;  ///< the state; outlives this
    const lt_functions* call = nullptr;
    void *what = nullptr, *first = nullptr, *second = nullptr, *out = nullptr, *wish = nullptr;
    ~lt_product() {
        if (wish) call->wish_destroy(wish);
        if (out) call->matrix_destroy(out);
        if (second) call->matrix_destroy(second);
        if (first) call->matrix_destroy(first);
        if (what) call->product_destroy(what);
    }
    bool make(const product& p, std::size_t workspace) {
        const int transposed = 1, straight = 0, compute = p.tf32 ? 77 : 68;
        const auto matrix = [&](void*& to, dtype t, long long rows, long long columns) {
            if (call->matrix_create(&to, lt_type(t), static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns), rows) != 0) return false;
            const int batch = static_cast<int>(p.batch);
            const std::int64_t stride = rows * columns;
            return p.batch == 1 || (call->matrix_set(to, 5, &batch, sizeof batch) == 0 && call->matrix_set(to, 6, &stride, sizeof stride) == 0);
        };
        return call->product_create(&what, compute, 0) == 0 && call->product_set(what, 3, p.transposed ? &transposed : &straight, 4) == 0 && call->product_set(what, 4, &straight, 4) == 0 &&
               matrix(first, p.operand, p.transposed ? p.k : p.n, p.transposed ? p.n : p.k) && matrix(second, p.operand, p.k, p.m) && matrix(out, p.out, p.n, p.m) && call->wish_create(&wish) == 0 &&
               call->wish_set(wish, 1, &workspace, sizeof workspace) == 0;
    }
};

}  // namespace detail

EMMY_DECL result<blas> blas::open(const context& card) {
    EMMY_TRY(library, shared_library::open("cublasLt", {"libcublasLt.so.13", "libcublasLt.so.12"}));
    auto made = std::make_shared<state>();
    made->card = card;
    if (const char* missing = made->call.take(library)) return refuse(fault_kind::device, std::string("found a cublasLt without ") + missing, {}, library.path());
    if (const int code = made->call.create(&made->handle); code != 0) return refuse(fault_kind::device, "cublasLt does not start on this card (status " + std::to_string(code) + ")", {}, library.path());
    EMMY_TRY(workspace, card.allocate(64u << 20));
    made->workspace = std::move(workspace);
    blas out;
    out.state_ = std::move(made);
    return out;
}

EMMY_DECL std::string blas::version() const {
    const std::size_t v = state_->call.version();
    return "cublasLt " + std::to_string(v / 10000) + "." + std::to_string(v / 100 % 100) + "." + std::to_string(v % 100);
}

EMMY_DECL result<std::vector<subject>> blas::algorithms(const product& p, device_pointer a, device_pointer b, device_pointer c, int most) const {
    auto one = std::make_shared<detail::lt_product>();
    one->library = state_, one->call = &state_->call;
    if (!one->make(p, state_->workspace.bytes)) return refuse(fault_kind::device_limit, "cublasLt does not take this product");
    std::vector<detail::lt_answer> answers(static_cast<std::size_t>(most));
    int count = 0;
    const int code = state_->call.heuristic(state_->handle, one->what, one->first, one->second, one->out, one->out, one->wish, most, answers.data(), &count);
    if (code != 0 || count == 0) return refuse(fault_kind::device_limit, "cublasLt knows no algorithm for this product (status " + std::to_string(code) + ")");
    std::vector<subject> out;
    for (int i = 0; i < count; ++i) {
        const detail::lt_answer answer = answers[static_cast<std::size_t>(i)];
        if (answer.status != 0) continue;
        out.push_back({[one, answer, a, b, c, s = state_](void* stream) -> result<void> {
            const float alpha = 1, beta = 0;
            const int done = s->call.multiply(s->handle, one->what, &alpha, reinterpret_cast<const void*>(b), one->first, reinterpret_cast<const void*>(a), one->second, &beta, reinterpret_cast<const void*>(c),
                                              one->out, reinterpret_cast<void*>(c), one->out, answer.algorithm, reinterpret_cast<void*>(s->workspace.address()), s->workspace.bytes, stream);
            if (done != 0) return refuse(fault_kind::device, "cublasLt failed (status " + std::to_string(done) + ")");
            return {};
        }});
    }
    return out;
}

}  // namespace emmy::device::cuda
