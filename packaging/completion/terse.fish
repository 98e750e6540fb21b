# Completion of terse for fish, written by: terse config completion fish

function __terse_complete
	set -l words (commandline -opc)
	set -l current (commandline -ct)
	set -l answer (command terse __complete $words[2..-1] "$current" 2>/dev/null)
	set -l todo (string split ' ' -- $answer[1])
	for line in $answer[2..-1]
		echo $line
	end
	switch "$todo[1]"
		case files
			__fish_complete_path "$current"
		case folders
			__fish_complete_directories "$current" ''
		case commands
			complete -C "$current"
		case command
			set -l first (math $todo[2] + 1)
			set -l line
			if test $first -le (count $words)
				set line (string escape -- $words[$first..-1])
			end
			complete -C "$(string join ' ' -- $line "$current")"
	end
end

complete -c terse -k -f -a '(__terse_complete)'
