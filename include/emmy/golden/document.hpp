#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/digest.hpp>
#include <emmy/core/file.hpp>
#include <emmy/core/result.hpp>
#include <emmy/golden/model.hpp>
#include <emmy/loop/body.hpp>

#include <map>
#include <memory>
#include <unordered_map>

namespace emmy::golden {

/// Which loader rules hold. Every file: fields, types, references, pins, decisions among knobs, positive times, and each knob
/// value spelled in its one canonical way. A repository file besides: `gpu_name` where anything is measured, `knobs` in every
/// row, a reference beside every measurement.
enum class rules : std::uint8_t { working, repository };

/// One GPU's measurements as one JSON document: programs, kernels, decisions, rows. Read-only views; edits append or replace
/// whole entries and go through the same rules as reading. Movable. Spans and pointers into it live until its next edit; texts as long
/// as the document or a copy of it. Any number of threads may read one that nobody edits.
class document {
public:
    /// Empty document of a card (`gpu_name` empty = of no card).
    EMMY_DECL static document create(std::string_view gpu_name, int compute_major, int compute_minor);
    /// Errors (input): not JSON, or a loader rule; one line with file, JSON path, found, expected.
    EMMY_DECL static result<document> parse(std::string_view text, std::string_view file = {}, golden::rules rules = rules::working);
    EMMY_DECL static result<document> load(const std::string& path, golden::rules rules = rules::working);

    /// The byte-exact layout: fields in documented order, defaults omitted, maps and opaque values in the order they were read.
    EMMY_DECL std::string text() const;
    /// The repository rules alone.
    EMMY_DECL result<void> check_repository() const;
    /// Writes text() in one step. Errors (user): the file exists and `replace` is not asked for.
    EMMY_DECL result<void> save(const std::string& path, bool replace) const;

    const std::string& file() const { return file_; }
    const golden::header& head() const { return head_; }
    std::span<const json::value> programs() const { return programs_; }
    std::span<const kernel_entry> kernels() const { return kernels_; }
    std::span<const decision> routing() const { return routing_; }
    std::span<const row> rows() const { return rows_; }

    /// Kernel of a reference in O(1), or `none`.
    kernel_index find_kernel(std::string_view ref) const {
        const auto at = refs_.find(ref);
        return at == refs_.end() ? none : at->second;
    }
    /// First decision in file order that mints this kernel, or `none` (also for an index past the end). O(1).
    decision_index minted_by(kernel_index kernel) const { return kernel < minter_.size() ? minter_[kernel] : none; }
    /// Decisions from the root down to this kernel; the walk upwards stops at a repeated parent. Empty past the end.
    EMMY_DECL std::vector<decision_index> path(kernel_index kernel) const;
    /// Where path() starts: the root of the kernel's family.
    EMMY_DECL kernel_index root(kernel_index kernel) const;
    /// "peer", the file's producer, or the row's own.
    std::string_view producer(const row& r) const { return r.producer ? *r.producer : head_.producer ? *head_.producer : peer_producer; }

    /// Decodes a kernel's body: fields, types, operators and expressions are read, what they mean together is not checked (that is
    /// loop::validate, which every lowering runs). Errors (input): a body that is none (the fault names file and path); (user): an index
    /// past the end, e.g. `none`.
    EMMY_DECL result<loop::kernel> body(kernel_index kernel) const;
    /// Identity of the stored body, computed now. Errors as body().
    EMMY_DECL result<digest128> identity(kernel_index kernel) const;

    // --- edits. JSON texts are one object each, in the shapes of the format; everything is checked as when read. ---
    EMMY_DECL result<void> set_note(std::string_view note);
    EMMY_DECL result<void> set_model(std::string_view model);
    EMMY_DECL result<void> set_producer(std::string_view producer);  ///< makes it a file of ours: "format":1
    EMMY_DECL result<program_index> add_program(std::string_view json);
    /// `json` is a kernel entry without `key`. A kernel of the same identity is not stored twice: its index is returned, and it
    /// takes over traced/origins/bindings if it had none. Otherwise appended under the next free reference of its name.
    EMMY_DECL result<kernel_index> add_kernel(std::string_view json);
    /// {"parent":ref,"arm":{…},"children":[ref,…]}; replaces the decision of equal parent and arm.
    EMMY_DECL result<decision_index> add_decision(std::string_view json);
    EMMY_DECL result<row_index> add_row(std::string_view json);
    EMMY_DECL result<void> replace_row(row_index at, std::string_view json);
    EMMY_DECL void remove_row(row_index at);

private:
    friend struct reader;
    EMMY_DECL result<json::value> own(std::string_view json);
    EMMY_DECL result<void> set_header(std::optional<std::string_view> header::*field, std::string_view text);
    std::string file_;
    golden::header head_;
    std::vector<json::value> programs_;
    std::vector<kernel_entry> kernels_;
    std::vector<decision> routing_;
    std::vector<row> rows_;
    std::unordered_map<std::string_view, kernel_index> refs_;
    std::vector<decision_index> minter_;
    std::vector<json::document> sources_;                  // what the views point into
    std::vector<std::shared_ptr<const std::string>> own_;  // texts made by edits
    std::map<digest128, kernel_index> by_identity_;        // filled by the first add_kernel()
    kernel_index identified_ = 0;                          // kernels that by_identity_ has looked at
};

/// Read, change, write under the file's lock: `edit(document&)` answers a result<void>; nothing is written when it refuses.
template <class Edit>
result<void> update(const std::string& path, Edit&& edit) {
    const auto lock = file_lock::acquire(path);
    if (!lock) return refuse(lock.error());
    EMMY_TRY(file, document::load(path));
    EMMY_CHECK_OK(edit(file));
    return file.save(path, true);
}

}  // namespace emmy::golden

#ifdef EMMY_HEADER_ONLY
#include <emmy/golden/impl/document.ipp>
#endif
