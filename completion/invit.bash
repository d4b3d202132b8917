# bash completion for invit: commands, their forms and options are read from the program's own help, so they are never out of date.

# What the usage lines of the help name next, after the words typed so far, into `forms`: after `invit gen`, tsp and cvrp
# from "invit gen tsp|cvrp [OPTION...]". True when a file may stand there too; names in capitals say so.
_invit_forms()
{
    local line next files= typed
    typed="invit $(printf '%s ' "${COMP_WORDS[@]:1:COMP_CWORD-1}")"
    while read -r line && [ -n "$line" ]; do
        line=${line#usage: }
        [[ $line == "$typed"* ]] || continue
        next=${line#"$typed"}
        next=${next%% *}
        if [[ $next =~ ^[a-z]+(\|[a-z]+)*$ ]]; then forms+=" ${next//|/ }"; fi
        if [[ $next =~ ^[A-Z] ]]; then files=yes; fi
    done <<<"$help"
    [ -z "$forms" ] || [ -n "$files" ]
}

_invit()
{
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} program=${COMP_WORDS[0]} help choices forms=
    local names='s/^  ([a-z]+) +.*/\1/p' # of commands and areas
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ] || { [ "$COMP_CWORD" -eq 2 ] && [ "$previous" = help ]; }; then
        forms=$("$program" --help 2>/dev/null | sed -nE "$names")
        [ "$COMP_CWORD" -eq 2 ] || forms+=" help --help --version"
        COMPREPLY=($(compgen -W "$forms" -- "$current"))
        return
    fi
    if [ "${COMP_WORDS[1]}" = bench ] && [ "$COMP_CWORD" -gt 2 ]; then
        help=$("$program" bench "${COMP_WORDS[2]}" --help 2>/dev/null)
    else
        help=$("$program" "${COMP_WORDS[1]}" --help 2>/dev/null)
    fi
    if [ "${COMP_WORDS[1]}" = bench ] && [ "$COMP_CWORD" -eq 2 ]; then
        COMPREPLY=($(compgen -W "$(sed -nE "$names" <<<"$help")" -- "$current"))
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
    elif _invit_forms; then
        compopt -o filenames 2>/dev/null
        # one name per line, since names have spaces
        mapfile -t COMPREPLY < <(compgen -W "$forms" -- "$current"; compgen -f -- "$current")
    else
        COMPREPLY=($(compgen -W "$forms" -- "$current"))
    fi
}
complete -F _invit invit
