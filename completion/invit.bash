# bash completion for invit: commands and options are read from the program's own help, so they are never out of date.
_invit()
{
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} program=${COMP_WORDS[0]} help choices
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ] || { [ "$COMP_CWORD" -eq 2 ] && [ "$previous" = help ]; }; then
        COMPREPLY=($(compgen -W "$("$program" --help 2>/dev/null | sed -nE 's/^  ([a-z]+) +.*/\1/p') help --help --version" -- "$current"))
        return
    fi
    if [ "${COMP_WORDS[1]}" = bench ] && [ "$COMP_CWORD" -gt 2 ]; then
        help=$("$program" bench "${COMP_WORDS[2]}" --help 2>/dev/null)
    else
        help=$("$program" "${COMP_WORDS[1]}" --help 2>/dev/null)
    fi
    if [ "${COMP_WORDS[1]}" = bench ] && [ "$COMP_CWORD" -eq 2 ]; then
        COMPREPLY=($(compgen -W "$(sed -nE 's/^  ([a-z]+) +.*/\1/p' <<<"$help")" -- "$current"))
        return
    fi
    # an option that takes one of a few words: --dist uniform|clustered
    if [[ $previous == --* ]]; then
        choices=$(sed -nE "s/^ +(-., )? *$previous ([a-z0-9_.-]+(\\|[a-z0-9_.-]+)+).*/\\2/p" <<<"$help")
        if [ -n "$choices" ]; then
            COMPREPLY=($(compgen -W "${choices//|/ }" -- "$current"))
            return
        fi
    fi
    if [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W "$(sed -nE 's/^ +(-., )? *(--[a-z0-9-]+).*/\2/p' <<<"$help")" -- "$current"))
    else
        compopt -o filenames 2>/dev/null
        COMPREPLY=($(compgen -f -- "$current"))
    fi
}
complete -F _invit invit
