// Kernels that run as steps over tables, one thread, beside a kernel that a person would write without thinking and beside OpenBLAS for
// their matrix products alone (f32, what is between the products not counted):
//   causal attention of 8 heads of 64, 512 tokens · RMS norm into a linear layer · a linear layer with f8e4m3 weights and block scales.
//   bench_cpu_steps
#include <emmy/device.hpp>
#include <emmy/kernel/text.hpp>
#include <emmy/loop/wire.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

using namespace emmy;

namespace {

std::string quoted(std::initializer_list<const char*> items) {
    std::string out = "[";
    for (const char* i : items) out += std::string(out.size() > 1 ? ",\"" : "\"") + i + "\"";
    return out + "]";
}
std::string load(const char* name, const char* buffer, std::initializer_list<const char*> index) {
    return std::string(R"({"Load":{"names":[")") + name + R"("],"input":")" + buffer + R"(","index":)" + quoted(index) + "}},";
}
std::string assign(const char* name, const char* op, std::initializer_list<const char*> args) {
    return std::string(R"({"Assign":{"name":")") + name + R"(","op":")" + op + R"(","args":)" + quoted(args) + "}},";
}
std::string accum(const char* name, const char* value, const char* op = "add") {
    return std::string(R"({"Accum":{"name":")") + name + R"(","value":")" + value + R"(","op":")" + op + "\"}},";
}
std::string write(const char* buffer, std::initializer_list<const char*> index, const char* value) {
    return std::string(R"({"Write":{"output":")") + buffer + R"(","index":)" + quoted(index) + R"(,"values":[")" + value + "\"]}},";
}
std::string over(const char* axis, int extent, std::string body) {
    body.pop_back();
    return std::string(R"({"Loop":{"axis":{"name":")") + axis + R"(","extent":)" + std::to_string(extent) + R"(},"body":[)" + body + "]}},";
}
struct port {
    const char *name, *type, *shape;
};
loop::kernel kernel_of(std::initializer_list<port> inputs, port output, std::string body) {
    std::string names, nodes;
    for (const port& p : inputs) {
        names += std::string(names.empty() ? "\"" : ",\"") + p.name + "\"";
        nodes += std::string(R"({"id":")") + p.name + R"(","op":"input","outputs":[[")" + p.name + R"(",")" + p.type + "\"," + p.shape + "]]},";
    }
    body.pop_back();
    const std::string out = std::string("[[\"") + output.name + R"(",")" + output.type + "\"," + output.shape + "]]";
    auto k = loop::parse_kernel(R"({"inputs":[)" + names + R"(],"outputs":[")" + output.name + R"("],"nodes":[)" + nodes + R"({"id":")" + output.name + R"(","op":"loop","attrs":{"body":[)" + body + R"(],"name":"k"},"inputs":[)" +
                                names + R"(],"outputs":)" + out + "}]}");
    if (!k) std::printf("%s\n", k.error().line().c_str()), std::exit(1);
    return std::move(*k);
}

struct gemm {
    long long m, n, k, batch;
    bool transposed;
};

/// Prints ms of the default row, of the naive text and of the products alone.
void compare(const char* what, const loop::kernel& k, const std::string& naive, std::initializer_list<gemm> products, device::cpu::host_device& device) {
    const auto s = fork::cpu_schedules::make(k, device::cpu::schedule_target(device.identify()));
    if (!s) std::printf("%s: %s\n", what, s.error().line().c_str()), std::exit(1);
    const auto text = kernel::lower_cpu(*s, s->rows()[0]);
    std::vector<device::buffer_spec> specs;
    for (const auto* list : {&k.inputs, &k.outputs})
        for (const loop::buffer& b : *list) {
            std::uint64_t n = 1;
            for (const dim& d : b.shape) n *= static_cast<std::uint64_t>(d.number);
            specs.push_back({b.type, n, list == &k.outputs});
        }
    auto arena = device::tensor_arena::create(specs);
    if (!text || !arena) std::printf("%s: no text or no memory\n", what), std::exit(1);
    for (std::size_t b = 0; b < k.inputs.size(); ++b)
        for (std::size_t i = 0; i < specs[b].elements; ++i) {
            if (specs[b].type == dtype::f32) reinterpret_cast<float*>((*arena)[b].data())[i] = static_cast<float>(i * 7919 % 2001) / 1000.0f - 1.0f;
            else (*arena)[b].data()[i] = static_cast<std::byte>(i * 37 % 112);
        }
    const std::string head = "struct emmy_launch { void* const* buffers; const long long* sizes; unsigned char* scratch; int part, parts; void (*barrier)(void*); void* team; };\n";
    device::measure_request request;
    request.kernels = {{text->source, text->entry, text->scratch_bytes(1, {})}, {head + naive, "naive", 0}};
    request.launches = {{{}, 1}, {{}, 1}};
    request.effort = {.warm_up = 2, .least_samples = 3, .most_samples = 20, .budget_seconds = 3};
    double ours = 0, simple = 0, blas = 0;
    std::string note;
    for (const gemm& g : products) {
        request.against = {.what = device::reference::kind::gemm, .m = g.m, .n = g.n, .k = g.k, .batch = g.batch, .transposed = g.transposed};
        const auto time = device.measure(request, *arena);
        if (!time) std::printf("%s: %s\n", what, time.error().line().c_str()), std::exit(1);
        ours = ours == 0 ? time->kernels[0].median : std::min(ours, time->kernels[0].median), simple = time->kernels[1].median;
        if (time->against) blas += time->against->median;
        else note = time->reference_note;
    }
    std::printf("%-44s %8.2f ms, naive kernel / ours %6.1f", what, ours / 1000, simple / ours);
    if (blas > 0) std::printf(", its products alone in openblas / ours %.2f\n", blas / ours);
    else std::printf(" (no openblas: %s)\n", note.c_str());
}

}  // namespace

int main() {
    device::cpu::host_device device;
    std::printf("%s\n", device.identify().card.c_str());
    {
        const std::string score = over("d", 64, load("qe", "q", {"h", "i", "d"}) + load("ke", "k", {"h", "j", "d"}) + assign("p", "multiply", {"qe", "ke"}) + accum("s", "p")) +
                                  R"({"Select":{"name":"mask","branches":[{"value":"zero","select":"j <= i"},{"value":"fill","select":"i < j"}]}},)" + assign("t", "multiply", {"s", "scale"}) + assign("u", "add", {"t", "mask"});
        const std::string weight = score + assign("w", "subtract", {"u", "top"}) + assign("e", "exp", {"w"});
        const loop::kernel k = kernel_of({{"q", "f32", "[8,512,64]"}, {"k", "f32", "[8,512,64]"}, {"v", "f32", "[8,512,64]"}, {"c", "f32", "[3]"}}, {"y", "f32", "[8,512,64]"},
            load("zero", "c", {"0"}) + load("fill", "c", {"1"}) + load("scale", "c", {"2"}) +
                over("h", 8, over("i", 512, over("j", 512, score + accum("top", "u", "maximum")) + over("j", 512, weight + accum("l", "e")) +
                    over("o", 64, over("j", 512, weight + assign("r", "divide", {"e", "l"}) + load("ve", "v", {"h", "j", "o"}) + assign("x", "multiply", {"ve", "r"}) + accum("acc", "x")) + write("y", {"h", "i", "o"}, "acc")))));
        compare("attention 8 x 512 x 64, causal", k,
            "extern \"C\" void naive(const emmy_launch* l) { const float *q = (float*)l->buffers[0], *k = (float*)l->buffers[1], *v = (float*)l->buffers[2], *c = (float*)l->buffers[3]; float* y = (float*)l->buffers[4]; static float s[512];\n"
            "for (int h = 0; h < 8; ++h) for (int i = 0; i < 512; ++i) { float m = -1e30f, sum = 0;\n"
            "for (int j = 0; j < 512; ++j) { float a = 0; for (int d = 0; d < 64; ++d) a += q[(h * 512 + i) * 64 + d] * k[(h * 512 + j) * 64 + d]; s[j] = a * c[2] + (j <= i ? c[0] : c[1]); m = s[j] > m ? s[j] : m; }\n"
            "for (int j = 0; j < 512; ++j) sum += s[j] = __builtin_expf(s[j] - m);\n"
            "for (int o = 0; o < 64; ++o) { float a = 0; for (int j = 0; j < 512; ++j) a += s[j] / sum * v[(h * 512 + j) * 64 + o]; y[(h * 512 + i) * 64 + o] = a; } } }\n",
            {{512, 512, 64, 8, true}, {512, 64, 512, 8, false}}, device);
    }
    {
        const loop::kernel k = kernel_of({{"x", "f32", "[512,1024]"}, {"g", "f32", "[1024]"}, {"w", "f32", "[1024,1024]"}}, {"y", "f32", "[512,1024]"},
            over("i", 512, over("k", 1024, load("a", "x", {"i", "k"}) + assign("p", "multiply", {"a", "a"}) + accum("s", "p")) + assign("r", "rsqrt", {"s"}) +
                over("j", 1024, over("k", 1024, load("b", "x", {"i", "k"}) + load("ge", "g", {"k"}) + assign("n", "multiply", {"b", "r"}) + assign("n2", "multiply", {"n", "ge"}) + load("we", "w", {"k", "j"}) + assign("t", "multiply", {"n2", "we"}) + accum("acc", "t")) +
                    write("y", {"i", "j"}, "acc"))));
        compare("norm + linear 512 x 1024 x 1024", k,
            "extern \"C\" void naive(const emmy_launch* l) { const float *x = (float*)l->buffers[0], *g = (float*)l->buffers[1], *w = (float*)l->buffers[2]; float* y = (float*)l->buffers[3];\n"
            "for (int i = 0; i < 512; ++i) { float s = 0; for (int k = 0; k < 1024; ++k) s += x[i * 1024 + k] * x[i * 1024 + k]; s = 1 / __builtin_sqrtf(s);\n"
            "for (int j = 0; j < 1024; ++j) { float a = 0; for (int k = 0; k < 1024; ++k) a += x[i * 1024 + k] * s * g[k] * w[k * 1024 + j]; y[i * 1024 + j] = a; } } }\n",
            {{512, 1024, 1024, 1, false}}, device);
    }
    {
        const loop::kernel k = kernel_of({{"x", "f32", "[64,1024]"}, {"w", "f8e4m3", "[1024,1024]"}, {"c", "f32", "[8,8]"}}, {"y", "f32", "[64,1024]"},
            over("i", 64, over("j", 1024, over("k", 1024, load("a", "x", {"i", "k"}) + load("b", "w", {"j", "k"}) + assign("d", "from_f8e4m3", {"b"}) + load("ce", "c", {"j / 128", "k / 128"}) + assign("f", "multiply", {"d", "ce"}) +
                assign("t", "multiply", {"a", "f"}) + accum("acc", "t")) + write("y", {"i", "j"}, "acc"))));
        compare("linear, f8e4m3 weights, 64 x 1024 x 1024", k,
            "static float f8(unsigned char h) { const unsigned m = h & 0x7fu; const unsigned r = __builtin_bit_cast(unsigned, __builtin_bit_cast(float, m << 20) * 0x1p120f); return __builtin_bit_cast(float, r | (h & 0x80u) << 24); }\n"
            "extern \"C\" void naive(const emmy_launch* l) { const float* x = (float*)l->buffers[0]; const unsigned char* w = (unsigned char*)l->buffers[1]; const float* c = (float*)l->buffers[2]; float* y = (float*)l->buffers[3];\n"
            "for (int i = 0; i < 64; ++i) for (int j = 0; j < 1024; ++j) { float a = 0; for (int k = 0; k < 1024; ++k) a += x[i * 1024 + k] * f8(w[j * 1024 + k]) * c[j / 128 * 8 + k / 128]; y[i * 1024 + j] = a; } }\n",
            {{64, 1024, 1024, 1, true}}, device);
    }
    return 0;
}
