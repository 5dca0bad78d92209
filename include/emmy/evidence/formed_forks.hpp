#pragma once
#include <emmy/core/config.hpp>
#include <emmy/evidence/structure.hpp>

#include <memory>

namespace emmy::fold {
struct kernel_form;
}

namespace emmy::evidence {

/// Kernel-set forks as this compiler forms them: seams, splits and layouts of a kernel's term, pieces with the trees that they were minted
/// with. Schedules are a target's (cpu_forks and its like). Equal questions are answered once.
class formed_forks : public fork_source {
public:
    EMMY_DECL formed_forks();
    EMMY_DECL ~formed_forks() override;
    EMMY_DECL result<std::vector<kernel_set_fork>> structural(const subject& whole, std::span<const store::knob_list> recorded) override;
    EMMY_DECL result<realised> realise(const subject& whole, const store::knob_list& arm, std::span<const digest128> expected = {}) override;

    /// Inputs of targets that are 2-D constants whose last bind-time transform is a transpose, by name: LAYOUT asks about them.
    EMMY_DECL void transposed_constants(std::vector<std::string> names);

protected:
    /// The term of a subject, the minted one of a piece; null where there is none.
    EMMY_DECL const fold::kernel_form* form_of(const subject& what);

private:
    struct forms;
    std::unique_ptr<forms> forms_;
};

}  // namespace emmy::evidence

#ifdef EMMY_HEADER_ONLY
#include <emmy/evidence/impl/formed_forks.ipp>
#endif
