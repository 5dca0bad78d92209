#include <common/weights.hpp>

#include <emmy/core/archive/safetensors.hpp>
#include <emmy/device/impl/tensor_bytes.hpp>
#include <emmy/program/evaluate.hpp>
#include <emmy/program/import.hpp>
#include <emmy/program/lower/bind.hpp>

namespace emmy::tools {
namespace {

/// Tensors by path, of either kind of file.
struct weight_file {
    std::optional<program::pt2::pt2_archive> archive;
    std::optional<archive::safetensors> checkpoint;
    std::string name;

    static result<weight_file> open(const std::string& path) {
        weight_file out;
        out.name = path;
        if (path.ends_with(".pt2")) {
            EMMY_TRY(opened, program::pt2::pt2_archive::open(path));
            out.archive.emplace(std::move(opened));
        } else {
            EMMY_TRY(opened, archive::safetensors::open(path));
            out.checkpoint.emplace(std::move(opened));
        }
        return out;
    }
    struct tensor {
        archive::element type;
        std::vector<std::int64_t> shape;
        std::vector<std::byte> bytes;
    };
    result<tensor> read(const std::string& path) const {
        if (archive) {
            const auto* t = archive->find(path);
            if (!t) return refuse(fault_kind::input, "found no tensor of this path, expected one", path, name);
            EMMY_TRY(bytes, archive->read(*t));
            return tensor{t->type, t->shape, std::move(bytes)};
        }
        const auto* t = checkpoint->find(path);
        if (!t) return refuse(fault_kind::input, "found no tensor of this path, expected one", path, name);
        EMMY_TRY(bytes, checkpoint->read(*t));
        return tensor{t->type, t->shape, std::move(bytes)};
    }
};

bool real(dtype t) { return t == dtype::f64 || t == dtype::f32 || t == dtype::f16 || t == dtype::bf16; }

/// Bytes of one constant of the traced program.
result<std::vector<std::byte>> bound(const program::graph& g, program::node_id n, const weight_file& from) {
    const program::node& node = g.nodes[n];
    const auto wrong = [&](std::string what) { return refuse(fault_kind::input, std::move(what), std::string(g.id(n)), from.name); };
    if (g.find(node, program::attr::load_ops)) return wrong("found load steps on this tensor, expected one that is bound as it is stored");
    if (g.find(node, program::attr::source_parts)) return wrong("found a tensor of several parts, expected one of a single path");
    EMMY_TRY(stored, from.read(std::string(g.text(g.find(node, program::attr::source_path)->text))));
    const program::tensor& t = g.outputs_of(node)[0];
    EMMY_TRY(shape, program::concrete_shape(g, g.shape_of(t.shape), {}));
    const dtype type = archive::dtype_of(stored.type);
    if (stored.shape != shape || (type != t.type && !(real(type) && real(t.type))))
        return wrong("found " + archive::describe(stored.type, stored.shape) + ", expected " + archive::describe(archive::element_of(t.type), shape));
    if (type == t.type) return std::move(stored.bytes);
    return program::to_bytes(t.type, program::from_bytes(type, stored.bytes));
}

result<void> bind_kernel(subject& k, const program::graph& g, const program::primitive_graph* lowered, std::span<const program::named_bytes> given) {
    std::vector<program::bound_size> sizes;
    for (const loop::symbol_size& s : k.sizes()) sizes.push_back({s.symbol, s.size});
    k.given.assign(k.kernel.inputs.size(), {});
    for (std::size_t i = 0; i < k.kernel.inputs.size(); ++i) {
        if (lowered) {
            const program::node_id n = lowered->g.find_node(k.kernel.body.text(k.kernel.inputs[i].name));
            if (n == program::no_node || lowered->g.nodes[n].op != program::op::constant) continue;
            EMMY_TRY(bytes, program::bind_constant(g, lowered->g, n, given, sizes));
            k.given[i] = std::move(bytes);
        } else if (i < k.ports.size() && k.ports[i].from != loop::kernel_port::source::literal) {
            for (const program::named_bytes& b : given) {
                if (b.id != k.ports[i].node) continue;
                k.given[i].assign(b.bytes.begin(), b.bytes.end());
                if (k.ports[i].from != loop::kernel_port::source::transposed_tensor) continue;
                EMMY_TRY(shape, program::concrete_shape(g, g.shape({g.find_node(b.id), 0}), sizes));
                k.given[i] = device::detail::swapped(k.given[i], shape, byte_size(k.kernel.inputs[i].type));
            }
        }
    }
    return {};
}

}  // namespace

result<void> bind_weights(unit& into, const std::string& file) {
    subject* only = into.kernels.size() == 1 ? &into.kernels.front() : nullptr;
    const program::graph* g = into.traced ? &*into.traced : only && only->program ? &*only->program : nullptr;
    if (!g) return refuse(fault_kind::user, "found no program behind " + into.name + ", expected one whose tensors have paths", "--weights");
    EMMY_TRY(from, weight_file::open(file));
    into.given.clear();
    for (program::node_id n = 0; n < g->nodes.size(); ++n) {
        if (g->nodes[n].op != program::op::constant || (!g->find(g->nodes[n], program::attr::source_path) && !g->find(g->nodes[n], program::attr::source_parts))) continue;
        EMMY_TRY(bytes, bound(*g, n, from));
        into.given.emplace_back(std::string(g->id(n)), std::move(bytes));
    }
    std::vector<program::named_bytes> named;
    for (const auto& [id, bytes] : into.given) named.push_back({id, bytes});
    for (subject& k : into.kernels) EMMY_CHECK_OK(bind_kernel(k, *g, into.lowered ? &*into.lowered : nullptr, named));
    return {};
}

}  // namespace emmy::tools
