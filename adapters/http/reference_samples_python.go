package httpapi

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func (s *sample) python() string {
	l := literals{indent: "    ", null: "None", yes: "True", no: "False", rates: s.rates,
		rate: func(text string) string { return "Decimal(" + strconv.Quote(text) + ")" }}
	var imports string
	var arguments []string
	for _, p := range s.given("path") {
		arguments = append(arguments, l.text(p.member().value, 0))
	}
	readFile := func(name string) string { return "Path(" + strconv.Quote(name) + ").read_bytes()" }
	switch {
	case s.upload != "":
		imports = "from pathlib import Path\n\n"
		arguments = append(arguments, readFile(s.fileName()), strconv.Quote(s.upload))
	case s.body != nil && isForm(s.op):
		imports = "from pathlib import Path\n\n"
		arguments = append(arguments, l.text(s.formFields(func(file string) any {
			return verbatim(fmt.Sprintf("(%q, %s)", file, readFile(file)))
		}), 0))
	case s.body != nil:
		body := l.text(s.body, 0)
		if strings.Contains(body, "Decimal(") {
			imports = "from decimal import Decimal\n\n"
		}
		arguments = append(arguments, body)
	}
	for _, place := range []string{"query", "header"} {
		for _, p := range s.given(place) {
			arguments = append(arguments, snakeCase(p.Name)+"="+l.text(p.member().value, 0))
		}
	}
	call := "causeway." + snakeCase(s.op.OperationID)
	if s.item != "" {
		call += "_iter"
	}
	if len(arguments) == 1 {
		call += "(" + arguments[0] + ")"
	} else {
		call += l.join("(", arguments, ")", 0)
	}
	switch {
	case s.item != "":
		return imports + "for item in " + call + ":\n    print(item)"
	case s.status == http.StatusNoContent:
		return imports + call
	}
	return imports + "result = " + call
}

var wordStart = regexp.MustCompile(`([a-z0-9])([A-Z])|-`)

// snakeCase returns a name as the client in Python has it.
func snakeCase(name string) string {
	name = strings.ToLower(wordStart.ReplaceAllString(name, "${1}_${2}"))
	if slices.Contains([]string{"from", "as", "in", "is", "class", "import", "global", "with"}, name) {
		return name + "_"
	}
	return name
}
