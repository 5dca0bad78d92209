#pragma once
#include <emmy/core/archive/pickle.hpp>
#include <emmy/core/archive/zip.hpp>
#include <emmy/core/impl/archive_audit.ipp>

#include <bit>
#include <cstdio>
#include <memory>
#include <unordered_map>

namespace emmy::archive {

struct object_tree::state {
    enum class role : std::uint8_t { value, global };
    /// What a global is good for.
    enum class callee : std::uint8_t { none, tensor2, tensor3, parameter, ordered_dict, torch_size, storage_class };
    /// 16 bytes: a pickle's opcode of one byte can make one.
    struct node {
        object_kind kind = object_kind::none;
        state::role role = role::value;
        state::callee calls = callee::none;
        element type = element::none;
        std::uint32_t size = 0;       // of a text
        std::uint64_t bits = 0;       // number, double's bits, flag; place of a text; place in lists, tensors, storages
    };
    struct tensor_facts {
        std::uint32_t storage = 0, sizes = 0, strides = 0;  // sizes, strides: nodes
        bool requires_grad = false;
        std::uint64_t offset = 0, elements = 0;
    };
    std::string bytes;
    std::vector<node> nodes;
    std::vector<std::vector<std::uint32_t>> lists;  // items of tuples, lists and dicts (key, value, key, value)
    std::vector<tensor_facts> tensors;
    std::vector<stored_data> storages;
    std::uint32_t root = 0;

    std::int64_t number(std::uint32_t id) const { return static_cast<std::int64_t>(nodes[id].bits); }
    std::string_view text(const node& n) const { return std::string_view(bytes).substr(n.bits, n.size); }
    const std::vector<std::uint32_t>& items(std::uint32_t id) const { return lists[nodes[id].bits]; }
    static bool holds(object_kind k) { return k == object_kind::tuple || k == object_kind::list || k == object_kind::dict; }
};

namespace detail {

using tree_state = object_tree::state;

/// The stack machine. Each opcode makes at most one node, and each pushed value is taken into one container at most.
class unpickler {
public:
    unpickler(tree_state& out, std::string_view file, std::string_view member) : s_(out), file_(file), member_(member) {}

    result<void> run() {
        if (s_.bytes.size() >= (std::uint64_t(1) << 32)) return bad("found a pickle of 4 GiB or more");
        while (true) {
            op_at_ = at_;
            EMMY_TRY(op, byte());
            if (op_at_ == 0 && op != 0x80) return bad("found a pickle of protocol 0 or 1, expected 2 (what torch.save writes)");
            if (op == '.') break;
            EMMY_CHECK_OK(step(op));
        }
        if (stack_.size() != 1 || !marks_.empty()) return bad("ends with " + std::to_string(stack_.size()) + " objects on its stack, expected one");
        EMMY_TRY(top, pop("STOP"));
        EMMY_CHECK_OK(value(top));
        s_.root = top;
        return {};
    }

private:
    using node = tree_state::node;
    using callee = tree_state::callee;
    using role = tree_state::role;

    tl::unexpected<fault> bad(std::string what) const {
        return refuse(fault_kind::input, std::move(what), std::string(member_) + (member_.empty() ? "" : " ") + "byte " + std::to_string(op_at_), std::string(file_));
    }

    // Text.
    result<unsigned> byte() {
        if (at_ >= s_.bytes.size()) return bad("the pickle ends early");
        return static_cast<unsigned char>(s_.bytes[at_++]);
    }
    result<std::string_view> take(std::uint64_t size) {
        if (size > s_.bytes.size() - at_) return bad("the pickle ends early");
        const std::string_view out = std::string_view(s_.bytes).substr(at_, size);
        at_ += size;
        return out;
    }
    result<std::uint64_t> number(int width) {
        EMMY_TRY(raw, take(static_cast<std::uint64_t>(width)));
        return little(as_bytes(raw).data(), width);
    }
    result<std::string_view> line() {
        const std::size_t end = s_.bytes.find('\n', at_);
        if (end == std::string::npos) return bad("the pickle ends early");
        const std::string_view out = std::string_view(s_.bytes).substr(at_, end - at_);
        at_ = end + 1;
        return out;
    }

    // Stack.
    std::uint32_t push(node n) {
        s_.nodes.push_back(std::move(n));
        stack_.push_back(static_cast<std::uint32_t>(s_.nodes.size() - 1));
        return stack_.back();
    }
    result<std::uint32_t> pop(const char* who) {
        if (stack_.empty() || (!marks_.empty() && stack_.size() <= marks_.back())) return bad(std::string(who) + " finds nothing on the stack");
        const std::uint32_t out = stack_.back();
        stack_.pop_back();
        return out;
    }
    /// What lies above the last mark.
    result<std::vector<std::uint32_t>> pop_mark() {
        if (marks_.empty() || marks_.back() > stack_.size()) return bad("finds no mark on the stack");
        std::vector<std::uint32_t> out(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()), stack_.end());
        stack_.resize(marks_.back());
        marks_.pop_back();
        return out;
    }
    node& at(std::uint32_t id) { return s_.nodes[id]; }
    result<void> value(std::uint32_t id) {
        if (at(id).role != role::value) return bad("uses a global as a value");
        return {};
    }
    result<void> memoize(std::uint64_t key) {
        if (stack_.empty()) return bad("memoizes nothing");
        memo_[key] = stack_.back();
        return {};
    }
    result<void> recall(std::uint64_t key) {
        const auto found = memo_.find(key);
        if (found == memo_.end()) return bad("asks the memo for " + std::to_string(key) + ", which nobody put there");
        stack_.push_back(found->second);
        return {};
    }
    void container(object_kind k, std::vector<std::uint32_t> items = {}) {
        s_.lists.push_back(std::move(items));
        push({.kind = k, .bits = s_.lists.size() - 1});
    }
    bool is(std::uint32_t id, object_kind k) const { return s_.nodes[id].role == role::value && s_.nodes[id].kind == k; }
    std::string kind_of(std::uint32_t id) const { return s_.nodes[id].role == role::global ? "a global" : std::string(object_kind_name(s_.nodes[id].kind)); }
    result<void> tuple_of(int count) {
        std::vector<std::uint32_t> items(static_cast<std::size_t>(count));
        for (int i = count; i-- > 0;) {
            EMMY_TRY(id, pop("TUPLE"));
            items[static_cast<std::size_t>(i)] = id;
        }
        container(object_kind::tuple, std::move(items));
        return {};
    }
    /// The container that APPEND and SETITEM fill: on the stack's top.
    result<std::uint32_t> top(object_kind k) {
        if (stack_.empty() || (!marks_.empty() && stack_.size() <= marks_.back()) || !is(stack_.back(), k)) return bad("fills something that is not " + std::string(object_kind_name(k)));
        return stack_.back();
    }
    result<void> append(const std::vector<std::uint32_t>& items) {
        EMMY_TRY(list, top(object_kind::list));
        for (const std::uint32_t id : items) EMMY_CHECK_OK(value(id));
        std::vector<std::uint32_t>& into = s_.lists[at(list).bits];
        into.insert(into.end(), items.begin(), items.end());
        return {};
    }
    result<void> set(const std::vector<std::uint32_t>& items) {
        EMMY_TRY(dict, top(object_kind::dict));
        if (items.size() % 2 != 0) return bad("sets a key without a value");
        for (std::size_t i = 0; i < items.size(); ++i) {
            EMMY_CHECK_OK(value(items[i]));
            const object_kind k = at(items[i]).kind;
            if (i % 2 == 0 && k != object_kind::text && k != object_kind::integer) return bad("found " + kind_of(items[i]) + " as a key, expected a str or an int");
        }
        std::vector<std::uint32_t>& into = s_.lists[at(dict).bits];
        into.insert(into.end(), items.begin(), items.end());
        return {};
    }

    result<void> global(std::string_view module, std::string_view name) {
        node n;
        n.role = role::global;
        if (module == "torch._utils" && name == "_rebuild_tensor_v2") n.calls = callee::tensor2;
        else if (module == "torch._utils" && name == "_rebuild_tensor_v3") n.calls = callee::tensor3;
        else if (module == "torch._utils" && name == "_rebuild_parameter") n.calls = callee::parameter;
        else if (module == "collections" && name == "OrderedDict") n.calls = callee::ordered_dict;
        else if (module == "torch" && name == "Size") n.calls = callee::torch_size;
        else if (module == "torch.storage" && name == "UntypedStorage") n.calls = callee::storage_class;
        else if (module == "torch" && element_from_storage_class(name) != element::none) n.calls = callee::storage_class, n.type = element_from_storage_class(name);
        else if (module == "torch" && element_from_torch_name(name) != element::none) n.kind = object_kind::dtype, n.type = element_from_torch_name(name), n.role = role::value;
        else return bad("names the global " + shown(module) + "." + shown(name) + ", expected only what tensors, numbers, tuples, lists and ordered dicts need (nothing of a tensor file is ever run)");
        push(std::move(n));
        return {};
    }

    /// ('storage', class, key, location, count)
    result<void> persistent() {
        EMMY_TRY(id, pop("BINPERSID"));
        const auto refuse_it = [&] { return bad("found another persistent id, expected ('storage', class, key, location, count)"); };
        if (!is(id, object_kind::tuple) || s_.items(id).size() != 5) return refuse_it();
        const std::vector<std::uint32_t>& t = s_.items(id);
        if (!is(t[0], object_kind::text) || s_.text(at(t[0])) != "storage" || at(t[1]).calls != callee::storage_class || !is(t[2], object_kind::text) || !is(t[3], object_kind::text) ||
            !is(t[4], object_kind::integer) || s_.number(t[4]) < 0)
            return refuse_it();
        const element type = at(t[1]).type;
        const std::string_view key = s_.text(at(t[2])), location = s_.text(at(t[3]));
        const auto count = static_cast<std::uint64_t>(s_.number(t[4]));
        if (count > (std::uint64_t(1) << 56)) return bad("found a storage of " + std::to_string(count) + " elements");
        if (key.empty() || key.size() > 100 || location.size() > 100) return bad("found a storage key of " + std::to_string(key.size()) + " bytes");
        const std::uint64_t bytes = count * (type == element::none ? 1 : byte_size(type));
        const auto [known, fresh] = storage_of_.try_emplace(key, static_cast<std::uint32_t>(s_.storages.size()));
        if (fresh) s_.storages.push_back({type, std::string(key), std::string(location), bytes});
        else if (s_.storages[known->second].bytes != bytes) return bad("found storage " + std::string(key) + " of " + std::to_string(bytes) + " bytes, before of " + std::to_string(s_.storages[known->second].bytes));
        push({.kind = object_kind::storage, .type = type, .bits = known->second});
        return {};
    }

    result<void> reduce() {
        EMMY_TRY(arguments, pop("REDUCE"));
        EMMY_TRY(function, pop("REDUCE"));
        if (!is(arguments, object_kind::tuple)) return bad("calls with " + kind_of(arguments) + ", expected a tuple");
        const std::vector<std::uint32_t>& a = s_.items(arguments);
        switch (at(function).calls) {
            case callee::ordered_dict:
                if (!a.empty()) return bad("calls OrderedDict with arguments, expected none");
                container(object_kind::dict);
                return {};
            case callee::torch_size:
                if (a.size() != 1 || !is(a[0], object_kind::tuple)) return bad("calls torch.Size without a tuple");
                stack_.push_back(a[0]);
                return {};
            case callee::parameter:
                if (a.size() != 3 || !is(a[0], object_kind::tensor) || !is(a[1], object_kind::boolean)) return bad("calls _rebuild_parameter with other arguments, expected (tensor, requires_grad, hooks)");
                s_.tensors.push_back(s_.tensors[at(a[0]).bits]);
                s_.tensors.back().requires_grad = at(a[1]).bits != 0;
                push({.kind = object_kind::tensor, .type = at(a[0]).type, .bits = s_.tensors.size() - 1});
                return {};
            case callee::tensor2: return tensor(a, false);
            case callee::tensor3: return tensor(a, true);
            default: return bad("calls " + kind_of(function) + ", expected a function");
        }
    }

    result<void> counts(std::uint32_t id, const char* what) {
        if (!is(id, object_kind::tuple)) return bad("found " + kind_of(id) + " as the tensor's " + what + ", expected a tuple");
        const std::vector<std::uint32_t>& items = s_.items(id);
        if (items.size() > 64) return bad("found a tensor of " + std::to_string(items.size()) + " dimensions, expected at most 64");
        for (const std::uint32_t i : items)
            if (!is(i, object_kind::integer) || s_.number(i) < 0) return bad(std::string("found a ") + what + " that is not a number of at least 0");
        return {};
    }

    /// (storage, offset, size, stride, requires_grad, hooks[, metadata]); the third version has the dtype before the metadata.
    result<void> tensor(const std::vector<std::uint32_t>& a, bool typed) {
        const std::size_t least = typed ? 7 : 6;
        if (a.size() < least || a.size() > least + 1) return bad("rebuilds a tensor from " + std::to_string(a.size()) + " arguments, expected " + std::to_string(least));
        if (!is(a[0], object_kind::storage)) return bad("rebuilds a tensor from " + kind_of(a[0]) + ", expected a storage");
        if (!is(a[1], object_kind::integer) || s_.number(a[1]) < 0) return bad("found a storage offset that is not a number of at least 0");
        EMMY_CHECK_OK(counts(a[2], "size"));
        EMMY_CHECK_OK(counts(a[3], "stride"));
        if (!is(a[4], object_kind::boolean)) return bad("found " + kind_of(a[4]) + " as requires_grad, expected a bool");
        if (typed && !is(a[6], object_kind::dtype)) return bad("found " + kind_of(a[6]) + " as the tensor's dtype");
        const element type = typed ? at(a[6]).type : at(a[0]).type;
        if (type == element::none) return bad("found an untyped storage without a dtype");
        tree_state::tensor_facts made{static_cast<std::uint32_t>(at(a[0]).bits), a[2], a[3], at(a[4]).bits != 0, static_cast<std::uint64_t>(s_.number(a[1])), 0};
        const auto &sizes = s_.items(a[2]), &strides = s_.items(a[3]);
        if (sizes.size() != strides.size()) return bad("found " + std::to_string(sizes.size()) + " sizes and " + std::to_string(strides.size()) + " strides, expected as many");
        // Elements, and the last place touched; 2^62 is far above any file.
        __extension__ using wide = unsigned __int128;
        constexpr wide most = static_cast<wide>(1) << 62;
        wide count = 1, last = made.offset;
        for (const std::uint32_t i : sizes) count = s_.number(i) == 0 ? 0 : count;
        for (std::size_t i = 0; count != 0 && i < sizes.size(); ++i) {
            const auto size = static_cast<std::uint64_t>(s_.number(sizes[i])), stride = static_cast<std::uint64_t>(s_.number(strides[i]));
            count *= size, last += static_cast<wide>(size - 1) * stride;
            if (count > most || last > most) return bad("found a tensor that leaves 62 bits");
        }
        const stored_data& storage = s_.storages[made.storage];
        const std::uint64_t have = storage.bytes / byte_size(type);
        if (count != 0 && last >= have) return bad("found a tensor that reaches element " + std::to_string(static_cast<std::uint64_t>(last)) + " of storage " + storage.key + ", which has " + std::to_string(have));
        made.elements = static_cast<std::uint64_t>(count);
        s_.tensors.push_back(made);
        push({.kind = object_kind::tensor, .type = type, .bits = s_.tensors.size() - 1});
        return {};
    }

    result<void> step(unsigned op) {
        switch (op) {
            case 0x80: {  // PROTO
                EMMY_TRY(version, byte());
                if (version != 2) return bad("found a pickle of protocol " + std::to_string(version) + ", expected 2 (what torch.save writes)");
                return {};
            }
            case '(': marks_.push_back(stack_.size()); return {};
            case 'N': push({.kind = object_kind::none}); return {};
            case 0x88:
            case 0x89: push({.kind = object_kind::boolean, .bits = op == 0x88}); return {};
            case 'J': {
                EMMY_TRY(raw, number(4));
                push({.kind = object_kind::integer, .bits = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(static_cast<std::uint32_t>(raw))})});
                return {};
            }
            case 'K':
            case 'M': {
                EMMY_TRY(raw, number(op == 'K' ? 1 : 2));
                push({.kind = object_kind::integer, .bits = raw});
                return {};
            }
            case 0x8a: {  // LONG1
                EMMY_TRY(size, byte());
                if (size > 8) return bad("found a number of " + std::to_string(size) + " bytes, expected at most 8");
                EMMY_TRY(raw, number(static_cast<int>(size)));
                if (size > 0 && size < 8 && (raw >> (8 * size - 1) & 1) != 0) raw |= ~std::uint64_t(0) << 8 * size;
                push({.kind = object_kind::integer, .bits = raw});
                return {};
            }
            case 'G': {  // eight bytes, the highest first
                EMMY_TRY(raw, take(8));
                std::uint64_t bits = 0;
                for (const char c : raw) bits = bits << 8 | static_cast<unsigned char>(c);
                push({.kind = object_kind::real, .bits = bits});
                return {};
            }
            case 'X': {
                EMMY_TRY(size, number(4));
                EMMY_CHECK_OK(take(size));
                push({.kind = object_kind::text, .size = static_cast<std::uint32_t>(size), .bits = at_ - size});
                return {};
            }
            case ')': container(object_kind::tuple); return {};
            case 0x85: return tuple_of(1);
            case 0x86: return tuple_of(2);
            case 0x87: return tuple_of(3);
            case 't': {
                EMMY_TRY(items, pop_mark());
                container(object_kind::tuple, std::move(items));
                return {};
            }
            case ']': container(object_kind::list); return {};
            case 'a': {
                EMMY_TRY(item, pop("APPEND"));
                return append({item});
            }
            case 'e': {
                EMMY_TRY(items, pop_mark());
                return append(items);
            }
            case '}': container(object_kind::dict); return {};
            case 's': {
                EMMY_TRY(item, pop("SETITEM"));
                EMMY_TRY(key, pop("SETITEM"));
                return set({key, item});
            }
            case 'u': {
                EMMY_TRY(items, pop_mark());
                return set(items);
            }
            case 'c': {
                EMMY_TRY(module, line());
                EMMY_TRY(name, line());
                return global(module, name);
            }
            case 'Q': return persistent();
            case 'R': return reduce();
            case 'b': {  // a state_dict's _metadata: of no meaning here
                EMMY_TRY(attributes, pop("BUILD"));
                if (!is(attributes, object_kind::dict)) return bad("sets attributes that are not a dict");
                EMMY_CHECK_OK(top(object_kind::dict).map([](auto) {}));
                return {};
            }
            case 'q':
            case 'r': {
                EMMY_TRY(key, number(op == 'q' ? 1 : 4));
                return memoize(key);
            }
            case 'h':
            case 'j': {
                EMMY_TRY(key, number(op == 'h' ? 1 : 4));
                return recall(key);
            }
            default: {
                char code[8];
                std::snprintf(code, sizeof code, "0x%02x", op);
                return bad(std::string("found opcode ") + code + (op > 0x20 && op < 0x7f ? std::string(" '") + static_cast<char>(op) + "'" : std::string()) + ", expected one of those that tensors need");
            }
        }
    }

    tree_state& s_;
    std::string_view file_, member_;
    std::uint64_t at_ = 0, op_at_ = 0;
    std::vector<std::uint32_t> stack_;
    std::vector<std::size_t> marks_;
    std::unordered_map<std::uint64_t, std::uint32_t> memo_;
    std::unordered_map<std::string_view, std::uint32_t> storage_of_;
};

}  // namespace detail

EMMY_DECL object_tree::~object_tree() { delete state_; }

EMMY_DECL result<object_tree> object_tree::parse(std::string bytes, std::string_view file, std::string_view member) {
    auto s = std::make_unique<state>();
    s->bytes = std::move(bytes);
    detail::unpickler machine(*s, file, member);
    EMMY_CHECK_OK(machine.run());
    return object_tree(s.release());
}

EMMY_DECL object object_tree::root() const { return {this, state_->root}; }
EMMY_DECL const std::vector<stored_data>& object_tree::storages() const { return state_->storages; }

// An object without a tree is None, and so is a global inside a tuple.
EMMY_DECL object_kind object::kind() const { return tree_ && tree_->state_->nodes[id_].role == object_tree::state::role::value ? tree_->state_->nodes[id_].kind : object_kind::none; }
EMMY_DECL bool object::boolean() const { return is(object_kind::boolean) && tree_->state_->nodes[id_].bits != 0; }
EMMY_DECL std::int64_t object::integer() const { return is(object_kind::integer) ? tree_->state_->number(id_) : 0; }
EMMY_DECL double object::real() const { return is(object_kind::integer) ? static_cast<double>(integer()) : is(object_kind::real) ? std::bit_cast<double>(tree_->state_->nodes[id_].bits) : 0; }
EMMY_DECL std::string_view object::text() const { return is(object_kind::text) ? tree_->state_->text(tree_->state_->nodes[id_]) : std::string_view(); }
EMMY_DECL element object::type() const { return is(object_kind::tensor) || is(object_kind::dtype) || is(object_kind::storage) ? tree_->state_->nodes[id_].type : element::none; }

EMMY_DECL std::size_t object::size() const {
    const object_kind k = kind();
    if (!object_tree::state::holds(k)) return 0;
    return tree_->state_->items(id_).size() / (k == object_kind::dict ? 2 : 1);
}
EMMY_DECL object object::operator[](std::size_t i) const {
    if (i >= size()) return {};
    return {tree_, tree_->state_->items(id_)[is(object_kind::dict) ? 2 * i + 1 : i]};
}
EMMY_DECL object object::key(std::size_t i) const {
    if (!is(object_kind::dict) || i >= size()) return {};
    return {tree_, tree_->state_->items(id_)[2 * i]};
}
EMMY_DECL object object::find(std::string_view wanted) const {
    for (std::size_t i = is(object_kind::dict) ? size() : 0; i-- > 0;)  // a key set twice has its last value
        if (key(i).is(object_kind::text) && key(i).text() == wanted) return (*this)[i];
    return {};
}

namespace detail {
inline std::vector<std::int64_t> integers_of(const tree_state& s, std::uint32_t tuple) {
    std::vector<std::int64_t> out;
    out.reserve(s.items(tuple).size());
    for (const std::uint32_t i : s.items(tuple)) out.push_back(s.number(i));
    return out;
}
}  // namespace detail

EMMY_DECL std::vector<std::int64_t> object::shape() const { return is(object_kind::tensor) ? detail::integers_of(*tree_->state_, tree_->state_->tensors[tree_->state_->nodes[id_].bits].sizes) : std::vector<std::int64_t>(); }
EMMY_DECL std::vector<std::int64_t> object::strides() const { return is(object_kind::tensor) ? detail::integers_of(*tree_->state_, tree_->state_->tensors[tree_->state_->nodes[id_].bits].strides) : std::vector<std::int64_t>(); }
EMMY_DECL std::uint64_t object::offset() const { return is(object_kind::tensor) ? tree_->state_->tensors[tree_->state_->nodes[id_].bits].offset : 0; }
EMMY_DECL std::uint64_t object::elements() const { return is(object_kind::tensor) ? tree_->state_->tensors[tree_->state_->nodes[id_].bits].elements : 0; }
EMMY_DECL std::size_t object::storage() const {
    if (is(object_kind::storage)) return tree_->state_->nodes[id_].bits;
    return is(object_kind::tensor) ? tree_->state_->tensors[tree_->state_->nodes[id_].bits].storage : 0;
}
EMMY_DECL bool object::requires_grad() const { return is(object_kind::tensor) && tree_->state_->tensors[tree_->state_->nodes[id_].bits].requires_grad; }

}  // namespace emmy::archive
