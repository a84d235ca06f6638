package httpapi

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

func (s *sample) typeScript() string {
	var imports string
	var parameters orderedObject
	for _, place := range []string{"path", "query", "header"} {
		var members orderedObject
		for _, p := range s.given(place) {
			members = append(members, p.member())
		}
		if members != nil {
			parameters = append(parameters, member{place, members})
		}
	}
	l := literals{identifierKeys: true, indent: "  ", null: "null", yes: "true", no: "false", rate: strconv.Quote, rates: s.rates}
	var options orderedObject
	if parameters != nil {
		options = append(options, member{"params", parameters})
	}
	switch {
	case s.upload != "":
		imports = "import { openAsBlob } from \"node:fs\";\n\n"
		options = append(options, member{"body", verbatim(fmt.Sprintf("await openAsBlob(%q, { type: %q })", s.fileName(), s.upload))})
	case s.body != nil && isForm(s.op):
		imports = "import { openAsBlob } from \"node:fs\";\n\n"
		options = append(options, member{"body", s.formFields(func(file string) any {
			return verbatim(fmt.Sprintf("await openAsBlob(%q)", file))
		})})
	case s.body != nil:
		options = append(options, member{"body", s.body})
	}
	if s.isFile {
		options = append(options, member{"parseAs", "blob"})
	}
	arguments := strconv.Quote(s.path)
	if options != nil {
		arguments += ", " + l.text(options, 0)
	}
	switch {
	case s.item != "":
		return imports + "for await (const item of causeway.list(" + arguments + ")) console.log(item);"
	case s.status == http.StatusNoContent:
		return imports + "await causeway." + strings.ToLower(s.op.Method) + "(" + arguments + ");"
	}
	return imports + "const result = await causeway." + strings.ToLower(s.op.Method) + "(" + arguments + ");"
}
