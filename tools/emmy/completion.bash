# Completion of emmy and emmy-*: the tools themselves say their verbs and flags.
_emmy() {
    local word=${COMP_WORDS[COMP_CWORD]} verb='' i
    local -a ask=("${COMP_WORDS[0]}" --complete)
    for ((i = 1; i < COMP_CWORD; ++i)); do
        [[ ${COMP_WORDS[i]} == -* ]] && break
        ask+=("${COMP_WORDS[i]}")
        verb=${COMP_WORDS[i]}
        # emmy takes a tool and its verb, a tool takes a verb
        [[ ${#ask[@]} -ge $([[ ${COMP_WORDS[0]##*/} == emmy ]] && echo 4 || echo 3) ]] && break
    done
    case ${COMP_WORDS[COMP_CWORD - 1]} in
        --format) mapfile -t COMPREPLY < <(compgen -W 'table json csv md' -- "$word"); return ;;
        --progress) mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$word"); return ;;
        --golden | --db | --out | --json) mapfile -t COMPREPLY < <(compgen -f -- "$word"); compopt -o filenames; return ;;
        --dump) mapfile -t COMPREPLY < <(compgen -d -- "$word"); compopt -o filenames; return ;;
    esac
    local words
    words=$("${ask[@]}" 2>/dev/null)
    if [[ $word == -* || -z $verb ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word"; compgen -f -- "$word")
        compopt -o filenames
    fi
}
complete -F _emmy emmy emmy-bench emmy-compile emmy-import emmy-db emmy-restamp emmy-eval
