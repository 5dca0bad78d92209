# Completion of emmy and emmy-*: the tools themselves say their verbs and flags.
_emmy() {
    local word=${COMP_WORDS[COMP_CWORD]} need=1 i words
    local -a ask=("${COMP_WORDS[0]}" --complete)
    [[ ${COMP_WORDS[0]##*/} == emmy ]] && need=2 # a tool and its verb
    for ((i = 1; i < COMP_CWORD && i <= need; ++i)); do
        [[ ${COMP_WORDS[i]} == -* ]] && break
        ask+=("${COMP_WORDS[i]}")
    done
    case ${COMP_WORDS[COMP_CWORD - 1]} in
        --format) mapfile -t COMPREPLY < <(compgen -W 'table json csv md' -- "$word"); return ;;
        --progress) mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$word"); return ;;
        --golden | --db | --out | --json) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
        --dump) mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
    esac
    words=$("${ask[@]}" 2>/dev/null)
    mapfile -t COMPREPLY < <(
        compgen -W "$words" -- "$word"
        # files only where all verbs are said
        [[ $word != -* && $((${#ask[@]} - 2)) -ge $need ]] && compgen -f -- "$word"
    )
}
complete -o filenames -F _emmy emmy emmy-bench emmy-compile emmy-import emmy-db emmy-restamp
