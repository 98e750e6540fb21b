# terse shell has zsh read this first, by ZDOTDIR: two hooks that write marks around what a command
# line prints. Then all is as without it.
if [[ -n ${TERSE_ZDOTDIR-} ]]; then
	export ZDOTDIR=$TERSE_ZDOTDIR
else
	unset ZDOTDIR
fi
if [[ -o interactive && -n ${TERSE_MARK-} ]]; then
	eval "_terse_begins() { print -rn -- ${(q)TERSE_MARK}'<'"$'\a'" >/dev/tty }
	_terse_ends() { print -rn -- ${(q)TERSE_MARK}'>'\$?"$'\a'" >/dev/tty }"
	preexec_functions=(_terse_begins $preexec_functions)
	precmd_functions=(_terse_ends $precmd_functions)
fi
unset TERSE_MARK TERSE_ZDOTDIR
[[ ! -r ${ZDOTDIR:-$HOME}/.zshenv ]] || source ${ZDOTDIR:-$HOME}/.zshenv
