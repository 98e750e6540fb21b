// See completion.h.

#include "config/completion.h"

#include <stddef.h>
#include <string.h>

// clang-format off
static const char completion_bash[] =
	"# Completion of terse for bash, written by: terse config completion bash\n"
	"# shellcheck shell=bash\n"
	"\n"
	"# Adds to COMPREPLY what compgen finds.\n"
	"_terse_add() {\n"
	"\tmapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen \"$@\")\n"
	"}\n"
	"\n"
	"_terse() {\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} last='' line i\n"
	"\tlocal -a words=() at=() answer\n"
	"\tCOMPREPLY=()\n"
	"\t# bash splits --flag=value at the =; here it is one word again.\n"
	"\tfor ((i = 1; i <= COMP_CWORD; i++)); do\n"
	"\t\tif [[ ${#words[@]} -gt 0 && ${words[-1]} == --* && ( ${COMP_WORDS[i]} == = || $last == = ) ]]; then\n"
	"\t\t\twords[-1]+=${COMP_WORDS[i]}\n"
	"\t\telse\n"
	"\t\t\twords+=(\"${COMP_WORDS[i]}\") at+=(\"$i\")\n"
	"\t\tfi\n"
	"\t\tlast=${COMP_WORDS[i]}\n"
	"\tdone\n"
	"\t[[ $cur != = ]] || cur=\n"
	"\tmapfile -t answer < <(command terse __complete \"${words[@]}\" 2>/dev/null)\n"
	"\tfor line in \"${answer[@]:1}\"; do\n"
	"\t\tline=${line%%$'\\t'*}\n"
	"\t\t[[ ${words[-1]} != --*=* ]] || line=${line#*=}\n"
	"\t\tCOMPREPLY+=(\"$line\")\n"
	"\tdone\n"
	"\tcase ${answer[0]-} in\n"
	"\tfiles) compopt -o filenames 2>/dev/null; _terse_add -f -- \"$cur\" ;;\n"
	"\tfolders) compopt -o filenames 2>/dev/null; _terse_add -d -- \"$cur\" ;;\n"
	"\tcommands) _terse_add -c -- \"$cur\" ;;\n"
	"\tcommand*)\n"
	"\t\ti=${at[${answer[0]#command } - 1]}\n"
	"\t\tif [[ $i == \"$COMP_CWORD\" ]]; then\n"
	"\t\t\t_terse_add -c -- \"$cur\"\n"
	"\t\telif declare -F _comp_command_offset >/dev/null; then\n"
	"\t\t\t_comp_command_offset \"$i\"\n"
	"\t\telif declare -F _command_offset >/dev/null; then\n"
	"\t\t\t_command_offset \"$i\"\n"
	"\t\telse\n"
	"\t\t\tcompopt -o default 2>/dev/null\n"
	"\t\tfi\n"
	"\t\t;;\n"
	"\tesac\n"
	"}\n"
	"\n"
	"complete -F _terse terse\n";

static const char completion_zsh[] =
	"#compdef terse\n"
	"# Completion of terse for zsh, written by: terse config completion zsh\n"
	"\n"
	"local -a answer found\n"
	"local line\n"
	"answer=(\"${(@f)$(command terse __complete \"${(@Q)words[2,CURRENT-1]}\" \"${(Q)PREFIX}\" 2>/dev/null)}\")\n"
	"for line in \"${(@)answer[2,-1]}\"; do\n"
	"\tfound+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\")\n"
	"done\n"
	"(( ! $#found )) || _describe -V terse found\n"
	"case $answer[1] in\n"
	"files) _files ;;\n"
	"folders) _files -/ ;;\n"
	"commands) _command_names -e ;;\n"
	"command*)\n"
	"\tlocal first=${answer[1]#command }\n"
	"\tshift $first words\n"
	"\t(( CURRENT -= first ))\n"
	"\t_normal\n"
	"\t;;\n"
	"*) (( $#found )) ;;\n"
	"esac\n";

static const char completion_fish[] =
	"# Completion of terse for fish, written by: terse config completion fish\n"
	"\n"
	"function __terse_complete\n"
	"\tset -l words (commandline -opc)\n"
	"\tset -l current (commandline -ct)\n"
	"\tset -l answer (command terse __complete $words[2..-1] \"$current\" 2>/dev/null)\n"
	"\tset -l todo (string split ' ' -- $answer[1])\n"
	"\tfor line in $answer[2..-1]\n"
	"\t\techo $line\n"
	"\tend\n"
	"\tswitch \"$todo[1]\"\n"
	"\t\tcase files\n"
	"\t\t\t__fish_complete_path \"$current\"\n"
	"\t\tcase folders\n"
	"\t\t\t__fish_complete_directories \"$current\" ''\n"
	"\t\tcase commands\n"
	"\t\t\tcomplete -C \"$current\"\n"
	"\t\tcase command\n"
	"\t\t\tset -l first (math $todo[2] + 1)\n"
	"\t\t\tset -l line\n"
	"\t\t\tif test $first -le (count $words)\n"
	"\t\t\t\tset line (string escape -- $words[$first..-1])\n"
	"\t\t\tend\n"
	"\t\t\tcomplete -C \"$(string join ' ' -- $line \"$current\")\"\n"
	"\tend\n"
	"end\n"
	"\n"
	"complete -c terse -k -f -a '(__terse_complete)'\n";
// clang-format on

const char *completion_script(const char *shell)
{
	static const char *const scripts[][2] = {
		{"bash", completion_bash},
		{"zsh", completion_zsh},
		{"fish", completion_fish},
	};
	for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++) {
		if (strcmp(scripts[i][0], shell) == 0)
			return scripts[i][1];
	}
	return NULL;
}
