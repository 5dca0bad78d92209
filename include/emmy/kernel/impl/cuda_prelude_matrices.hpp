#pragma once
#include <emmy/kernel/cuda/prelude.hpp>
#include <emmy/kernel/emulated/calls.hpp>

// Matrix instructions. Registers are arrays of the lane; which element each part is: kernel/emulated/lane_map.hpp, dumped in test/data/lane_maps/.
namespace emmy::kernel::cuda::detail {

/// "%first, %first+1, …".
inline std::string places(int count, int first) {
    std::string out;
    for (int i = 0; i < count; ++i) out += (i ? ", %" : "%") + std::to_string(first + i);
    return out;
}
inline std::string operands(const char* constraint, const char* array, int count) {
    std::string out;
    for (int i = 0; i < count; ++i) out += std::string(i ? ", \"" : "\"") + constraint + "\"(" + array + "[" + std::to_string(i) + "])";
    return out;
}

/// mma_<shape>_<types>: c += a · b.
inline prelude_function product_function(emulated::product kind, const std::string& shape, const std::string& type, int na, int nb, bool f16_out) {
    const std::string name = "mma_" + std::string(emulated::product_names[static_cast<std::size_t>(kind)]), out = f16_out ? "u32" : "float", c_type = f16_out ? "f16" : "f32";
    const int nc = f16_out ? 2 : 4;
    return {name,
            "DEV void " + name + "(" + out + "* c, const u32* a, const u32* b) { asm volatile(\"mma.sync.aligned." + shape + ".row.col." + c_type + "." + type + "." + type + "." + c_type + " {" + places(nc, 0) + "}, {" + places(na, nc) +
                "}, {" + places(nb, nc + na) + "}, {" + places(nc, 0) + "};\" : " + operands(f16_out ? "+r" : "+f", "c", nc) + " : " + operands("r", "a", na) + ", " + operands("r", "b", nb) + "); }",
            "DEV void " + name + "(" + out + "* c, const u32* a, const u32* b, HERE) { ask_at(line, call_mma, " + std::to_string(static_cast<int>(kind)) + ", (u64)c, (u64)a, (u64)b); }"};
}

/// mma_m8n8k4_<types>_<layouts>.
inline prelude_function quad_function(bool a_columns, bool b_columns, bool f16_out) {
    const std::string layouts = std::string(a_columns ? "col" : "row") + (b_columns ? "_col" : "_row"), out = f16_out ? "u32" : "float", c_type = f16_out ? "f16" : "f32";
    const auto kind = f16_out ? emulated::product::m8n8k4_f16_f16 : emulated::product::m8n8k4_f16_f32;
    const std::string name = "mma_" + std::string(emulated::product_names[static_cast<std::size_t>(kind)]) + "_" + layouts;
    const int nc = f16_out ? 4 : 8, bits = static_cast<int>(kind) | (a_columns ? 256 : 0) | (b_columns ? 512 : 0);
    return {name,
            "DEV void " + name + "(" + out + "* c, const u32* a, const u32* b) { asm volatile(\"mma.sync.aligned.m8n8k4." + (a_columns ? "col" : "row") + "." + (b_columns ? "col" : "row") + "." + c_type + ".f16.f16." + c_type + " {" +
                places(nc, 0) + "}, {" + places(2, nc) + "}, {" + places(2, nc + 2) + "}, {" + places(nc, 0) + "};\" : " + operands(f16_out ? "+r" : "+f", "c", nc) + " : " + operands("r", "a", 2) + ", " + operands("r", "b", 2) + "); }",
            "DEV void " + name + "(" + out + "* c, const u32* a, const u32* b, HERE) { ask_at(line, call_mma, " + std::to_string(bits) + ", (u64)c, (u64)a, (u64)b); }"};
}

/// wgmma_m64n<n>k<k>_<type>[_registers]<a's rows adjacent, b's columns adjacent>: d = a · b, or d += a · b when `adds`. a: a descriptor, or the four registers.
inline prelude_function group_function(emulated::group_operand type, int n, bool registers) {
    constexpr const char* types[] = {"f16", "bf16", "e4m3", "e5m2", "tf32"};
    const emulated::group_product kind{type, n, registers};
    const bool layouts = kind.bytes() == 2;
    const int nd = n / 2, after = nd + (registers ? 4 : 1) + 1;
    const std::string word = types[static_cast<int>(type)], name = "wgmma_m64n" + std::to_string(n) + "k" + std::to_string(kind.k()) + "_" + word + (registers ? "_registers" : "");
    const std::string head = "template <bool ARows = false, bool BColumns = false> DEV void " + name + "(float* d, " + (registers ? "const u32* a" : "u64 a") + ", u64 b, bool adds";
    const std::string a = registers ? "{" + places(4, nd) + "}" : "%" + std::to_string(nd);
    std::string tail = ", p, 1, 1", flags;
    if (layouts) {
        if (!registers) tail += ", %" + std::to_string(after + 1), flags += ", \"n\"((int)ARows)";
        tail += ", %" + std::to_string(after + (registers ? 1 : 2)), flags += ", \"n\"((int)BColumns)";
    }
    return {name,
            head + ") { asm volatile(\"{\\n.reg .pred p;\\nsetp.ne.b32 p, %" + std::to_string(after) + ", 0;\\nwgmma.mma_async.sync.aligned.m64n" + std::to_string(n) + "k" + std::to_string(kind.k()) + ".f32." + word + "." + word + " {" +
                places(nd, 0) + "}, " + a + ", %" + std::to_string(after - 1) + tail + ";\\n}\" : " + operands("+f", "d", nd) + " : " + (registers ? operands("r", "a", 4) : "\"l\"(a)") + ", \"l\"(b), \"r\"((int)adds)" + flags + "); }",
            head + ", HERE) { ask_at(line, call_wgmma, " + std::to_string(kind.encode()) + ", (u64)d, " + (registers ? "(u64)a" : "a") + ", b, (ARows ? 1 : 0) | (BColumns ? 2 : 0) | (adds ? 4 : 0)); }"};
}

inline void add_matrices(std::vector<prelude_function>& to) {
    using emulated::group_operand, emulated::product;
    // Matrices of 8 x 8 16-bit elements, N = 1, 2, 4; lane l gives the address of row l.
    const auto move = [](bool load) {
        std::string card = "template <int N, bool Transposed = false> DEV void " + std::string(load ? "load" : "store") + "_matrices(" + (load ? "u32" : "const u32") + "* r, u32 at) {\n";
        for (const int n : {1, 2, 4})
            for (const bool transposed : {false, true}) {
                const std::string instruction = std::string(load ? "ldmatrix" : "stmatrix") + ".sync.aligned.m8n8.x" + std::to_string(n) + (transposed ? ".trans" : "") + ".shared.b16 ";
                card += "    if (N == " + std::to_string(n) + " && Transposed == " + (transposed ? "true" : "false") + ") asm volatile(\"" + instruction +
                        (load ? "{" + places(n, 0) + "}, [%" + std::to_string(n) + "];\" : " + operands("=r", "r", n) + " : \"r\"(address(at)) : \"memory\");\n"
                              : "[%0], {" + places(n, 1) + "};\" :: \"r\"(address(at)), " + operands("r", "r", n) + " : \"memory\");\n");
            }
        return card + "}";
    };
    to.push_back({"load_matrices", move(true), "template <int N, bool Transposed = false> DEV void load_matrices(u32* r, u32 at, HERE) { ask_at(line, call_matrix_load, (u64)r, at, N, Transposed); }", {"address"}});
    to.push_back({"store_matrices", move(false), "template <int N, bool Transposed = false> DEV void store_matrices(const u32* r, u32 at, HERE) { ask_at(line, call_matrix_store, (u64)r, at, N, Transposed); }", {"address"}});

    for (const bool f16_out : {false, true})
        for (const bool a : {false, true})
            for (const bool b : {false, true}) to.push_back(quad_function(a, b, f16_out));
    to.push_back(product_function(product::m16n8k8_f16_f32, "m16n8k8", "f16", 2, 1, false));
    to.push_back(product_function(product::m16n8k16_f16_f32, "m16n8k16", "f16", 4, 2, false));
    to.push_back(product_function(product::m16n8k16_f16_f16, "m16n8k16", "f16", 4, 2, true));
    to.push_back(product_function(product::m16n8k16_bf16_f32, "m16n8k16", "bf16", 4, 2, false));
    to.push_back(product_function(product::m16n8k8_tf32_f32, "m16n8k8", "tf32", 4, 2, false));
    to.push_back(product_function(product::m16n8k32_e4m3_f32, "m16n8k32", "e4m3", 4, 2, false));
    to.push_back(product_function(product::m16n8k32_e5m2_f32, "m16n8k32", "e5m2", 4, 2, false));

    // Descriptor of an operand in shared memory: byte offset, then bytes of its fields; width of the swizzle 0, 32, 64, 128.
    const std::string fields = "template <int Swizzle> DEV u64 descriptor(u32 at, u32 leading, u32 stride) { return (u64)(address(at) >> 4 & 0x3fffu) | (u64)(leading >> 4 & 0x3fffu) << 16 | (u64)(stride >> 4 & 0x3fffu) << 32 | "
                               "(u64)(Swizzle == 128 ? 1 : Swizzle == 64 ? 2 : Swizzle == 32 ? 3 : 0) << 62; }";
    to.push_back({"descriptor", fields, fields, {"address"}});
    to.push_back({"wgmma_fence", "DEV void wgmma_fence() { asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\"); }", "DEV void wgmma_fence(HERE) { ask_at(line, call_wgmma_fence); }"});
    to.push_back({"wgmma_commit", "DEV void wgmma_commit() { asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\"); }", "DEV void wgmma_commit(HERE) { ask_at(line, call_wgmma_commit); }"});
    to.push_back({"wgmma_wait", "template <int Left> DEV void wgmma_wait() { asm volatile(\"wgmma.wait_group.sync.aligned %0;\" ::\"n\"(Left) : \"memory\"); }", "template <int Left> DEV void wgmma_wait(HERE) { ask_at(line, call_wgmma_wait, Left); }"});
    for (const group_operand type : {group_operand::f16, group_operand::bf16, group_operand::e4m3, group_operand::e5m2, group_operand::tf32})
        for (const int n : {8, 16, 32, 64, 96, 128, 192, 256})
            for (const bool registers : {false, true}) to.push_back(group_function(type, n, registers));
}

}  // namespace emmy::kernel::cuda::detail
