package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// CompletionCommand prints what makes a shell complete the commands.
type CompletionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help is printed below the help of the command.
func (CompletionCommand) Help() string {
	return "With bash: source <(causeway completion bash). It completes commands, flags and values."
}

// Run prints the script of the shell.
func (c CompletionCommand) Run(env *Env) error {
	_, err := fmt.Fprint(env.Out, completionScripts[c.Shell])
	return err
}

// completionScripts ask the program itself for each completion, so that they fit every version of it. Where it has none, they
// complete names of files.
var completionScripts = map[string]string{
	"bash": `# Completion of causeway for bash: source <(causeway completion bash)
_causeway() {
	local IFS=$'\n'
	COMPREPLY=($("$1" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _causeway causeway
`,
	"zsh": `#compdef causeway
# Completion of causeway for zsh, after compinit: source <(causeway completion zsh)
_causeway() {
	local -a found
	found=("${(@f)$("${words[1]}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	if [[ -n "${found[1]}" ]]; then
		compadd -- "${found[@]}"
	else
		_files
	fi
}
compdef _causeway causeway
`,
	"fish": `# Completion of causeway for fish: causeway completion fish | source
function __causeway_complete
	set -l words (commandline -opc)
	set -l found ($words[1] complete -- $words[2..-1] (commandline -ct) 2>/dev/null)
	if test (count $found) -gt 0
		printf '%s\n' $found
	else
		__fish_complete_path (commandline -ct)
	end
end
complete -c causeway -f -a '(__causeway_complete)'
`,
}

// CompleteCommand prints what the last of some words can be, for the scripts of shells.
type CompleteCommand struct {
	Words []string `arg:"" optional:"" passthrough:"" help:"Words of the command line after the name of the program. The last one is completed."`
}

// Run prints a line for each completion.
func (c CompleteCommand) Run(env *Env, parsed *kong.Context) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	for _, found := range completions(parsed.Model.Node, words) {
		if _, err := fmt.Fprintln(env.Out, found); err != nil {
			return err
		}
	}
	return nil
}

// completions returns what the last of the words can be, in the order of the help; nothing if only its user knows, as with ids
// and names of files.
func completions(command *kong.Node, words []string) []string {
	if len(words) == 0 {
		words = []string{""}
	}
	var awaited *kong.Flag // whose value is the next word
	arguments, last := 0, words[len(words)-1]
	for i, word := range words[:len(words)-1] {
		switch {
		case word == "=": // bash splits --flag=value
			awaited = flagNamed(command, words[max(0, i-1)])
		case awaited != nil:
			awaited = nil
		case strings.HasPrefix(word, "--"):
			if f := flagNamed(command, word); f != nil && !f.IsBool() {
				awaited = f
			}
		default:
			if child := childNamed(command, word); child != nil {
				command = child
			} else {
				arguments++
			}
		}
	}
	switch name, _, assigned := strings.Cut(last, "="); {
	case last == "=":
		return startingWith("", values(flagNamed(command, words[max(0, len(words)-2)])))
	case awaited != nil:
		return startingWith(last, values(awaited))
	case assigned && strings.HasPrefix(name, "--"):
		var found []string
		for _, v := range values(flagNamed(command, name)) {
			found = append(found, name+"="+v)
		}
		return startingWith(last, found)
	case strings.HasPrefix(last, "-"):
		return startingWith(last, namesOfFlags(command))
	}
	var found []string
	for _, child := range command.Children {
		if !child.Hidden {
			found = append(found, child.Name)
		}
	}
	if arguments < len(command.Positional) {
		found = append(found, enum(command.Positional[arguments])...)
	}
	return startingWith(last, found)
}

func childNamed(command *kong.Node, name string) *kong.Node {
	i := slices.IndexFunc(command.Children, func(n *kong.Node) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return command.Children[i]
}

// flagNamed returns a flag of a command by its name with dashes; nil if it has none.
func flagNamed(command *kong.Node, name string) *kong.Flag {
	for _, flags := range command.AllFlags(false) {
		for _, f := range flags {
			if "--"+f.Name == name {
				return f
			}
		}
	}
	return nil
}

func namesOfFlags(command *kong.Node) (names []string) {
	for _, flags := range command.AllFlags(true) {
		for _, f := range flags {
			names = append(names, "--"+f.Name)
			if f.Tag.Negatable != "" {
				names = append(names, "--no-"+f.Name)
			}
		}
	}
	return names
}

func values(f *kong.Flag) []string {
	if f == nil {
		return nil
	}
	return enum(f.Value)
}

// enum returns the values that are allowed, without the empty one.
func enum(v *kong.Value) []string {
	if v.Enum == "" {
		return nil
	}
	return slices.DeleteFunc(v.EnumSlice(), func(allowed string) bool { return allowed == "" })
}

func startingWith(prefix string, texts []string) []string {
	return slices.DeleteFunc(texts, func(text string) bool { return !strings.HasPrefix(text, prefix) })
}
