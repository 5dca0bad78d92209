#pragma once
#include <emmy/core/archive/element.hpp>
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// A restricted unpickler: protocol 2, the opcodes and globals that tensors, numbers, texts, tuples, lists and ordered dicts need. Nothing is
/// called; a pickle that names anything else is refused by that name.
namespace emmy::archive {

/// One object as read. Shared objects are one object; `id`s are places in object_tree.
enum class object_kind : std::uint8_t { none, boolean, integer, real, text, tuple, list, dict, tensor, dtype, storage };
constexpr std::string_view object_kind_name(object_kind k) {
    constexpr std::string_view names[] = {"None", "a bool", "an int", "a float", "a str", "a tuple", "a list", "a dict", "a tensor", "a dtype", "a storage"};
    return names[static_cast<std::size_t>(k)];
}

/// A storage: a run of elements in the archive member `data/<key>`.
struct stored_data {
    element type = element::none;   ///< none: untyped, counted in bytes
    std::string key;
    std::string location;           ///< "cpu", "cuda:0": where it was; of no meaning here
    std::uint64_t bytes = 0;
};

class object_tree;

/// A view of one object, valid while its tree lives.
class object {
public:
    object() = default;
    EMMY_DECL object_kind kind() const;
    bool is(object_kind k) const { return kind() == k; }

    EMMY_DECL bool boolean() const;
    EMMY_DECL std::int64_t integer() const;
    EMMY_DECL double real() const;             ///< of an integer or a real
    EMMY_DECL std::string_view text() const;
    EMMY_DECL element type() const;            ///< of a dtype or a tensor

    EMMY_DECL std::size_t size() const;        ///< items of a tuple or list, entries of a dict
    EMMY_DECL object operator[](std::size_t i) const;  ///< item, or value of a dict's entry i
    EMMY_DECL object key(std::size_t i) const;         ///< of a dict, in order
    EMMY_DECL object find(std::string_view key) const; ///< of a dict; none when absent

    // Of a tensor: checked against its storage, all numbers in range.
    EMMY_DECL std::vector<std::int64_t> shape() const;
    EMMY_DECL std::vector<std::int64_t> strides() const;  ///< in elements
    EMMY_DECL std::uint64_t offset() const;               ///< in elements
    EMMY_DECL std::uint64_t elements() const;             ///< of the shape
    EMMY_DECL std::size_t storage() const;                ///< place in object_tree::storages()
    EMMY_DECL bool requires_grad() const;
    std::uint32_t id() const { return id_; }

private:
    friend class object_tree;
    object(const object_tree* tree, std::uint32_t id) : tree_(tree), id_(id) {}
    const object_tree* tree_ = nullptr;
    std::uint32_t id_ = 0;
};

/// What a pickle holds. Movable; objects are views of it and stay valid when it moves only if asked anew from root().
class object_tree {
public:
    /// Reads `bytes` (data.pkl); `file` and `member` name it in faults. Memory is proportional to the text. Errors (input): an opcode or
    /// a global that is not needed for tensors, named; a stack or memo that the text misuses; a tensor outside its storage.
    EMMY_DECL static result<object_tree> parse(std::string bytes, std::string_view file = {}, std::string_view member = {});
    object_tree(object_tree&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
    object_tree& operator=(object_tree&& other) noexcept {
        std::swap(state_, other.state_);
        return *this;
    }
    EMMY_DECL ~object_tree();

    EMMY_DECL object root() const;
    EMMY_DECL const std::vector<stored_data>& storages() const;

    struct state;

private:
    friend class object;
    explicit object_tree(state* s) : state_(s) {}
    state* state_;  // owned
};

}  // namespace emmy::archive

#ifdef EMMY_HEADER_ONLY
#include <emmy/core/impl/archive_pickle.ipp>
#endif
