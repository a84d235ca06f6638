package httpapi

import (
	"iter"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"causeway/core/fault"
)

// ignoredHeader names the fields of a request that were ignored.
const ignoredHeader = "Causeway-Ignored-Fields"

// maxIgnoredLength is the maximum length of the header's value, in bytes.
const maxIgnoredLength = 1024

// maxUnknown is the maximum number of refused query parameters, and of misspelt fields, that are listed.
const maxUnknown = 20

// knownNames holds the names that an operation knows.
type knownNames struct {
	url   []string            // query parameters, in alphabetical order
	query []string            // these, and the fields of a form
	lists []string            // those that are lists
	enums map[string][]string // the allowed values of those that have some
	body  *knownFields        // nil if the body is not JSON
}

func newKnownNames(op *huma.Operation, registry huma.Registry) knownNames {
	known := knownNames{enums: map[string][]string{}}
	for _, p := range op.Parameters {
		if p.In != "query" {
			continue
		}
		known.query = append(known.query, p.Name)
		if p.Schema == nil {
			continue
		}
		known.enums[p.Name] = enumOf(p.Schema)
		if p.Schema.Type == huma.TypeArray {
			known.lists = append(known.lists, p.Name)
		}
	}
	known.url = slices.Sorted(slices.Values(known.query))
	if op.RequestBody != nil {
		if form := op.RequestBody.Content[formType]; form != nil && len(op.RequestBody.Content) == 1 {
			for name := range form.Schema.Properties { // those of a form are no query parameters
				if name != filePart {
					known.query = append(known.query, name)
					known.enums[name] = enumOf(form.Schema.Properties[name])
				}
			}
		}
	}
	switch {
	case op.RequestBody == nil:
		known.body = &knownFields{fields: map[string]*knownFields{}}
	case op.RequestBody.Content["application/json"] != nil:
		builder := fieldsBuilder{registry: registry, done: map[*huma.Schema]*knownFields{}}
		known.body = builder.fields(op.RequestBody.Content["application/json"].Schema)
	}
	return known
}

// enum returns the allowed values of a parameter or a field; nil if it may have any.
func (k knownNames) enum(field string) []string {
	if found := k.body.at(field); found != nil {
		return found.enum
	}
	return k.enums[field]
}

// findUnknown refuses unknown query parameters, because a filter that is ignored would return
// everything, and fields that are probably misspelt. It names other unknown fields in a header of
// the response: newer clients may send them.
func (x *exchange) findUnknown() {
	var ignored []string
	if x.r.URL.RawQuery != "" {
		x.unknown, ignored = x.unknownParameters()
	}
	if x.body != nil && x.route.known.body != nil {
		s := fieldScanner{parser: newParser(x.body.Bytes()), ignored: ignored}
		if s.value(x.route.known.body, &place{}, 0) {
			x.unknown, ignored = append(x.unknown, s.misspelt...), s.ignored
		}
	}
	if len(ignored) > 0 {
		x.w.Header().Set(ignoredHeader, ignoredValue(ignored))
	}
}

// unknownParameters returns the query parameters that the operation does not know, and those
// that are repeated although they take one value. Fields of a form are among the parameters; those
// that are not known are ignored, as the fields of other bodies are.
func (x *exchange) unknownParameters() (unknown []fault.Field, ignored []string) {
	known, times := x.route.known, map[string]int{}
	for pair := range strings.SplitSeq(x.r.URL.RawQuery, "&") {
		escaped, _, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(escaped)
		if err != nil || name == "" {
			continue
		}
		times[name]++
		switch {
		case !slices.Contains(known.query, name):
			switch {
			case times[name] > 1: // already found
			case x.route.upload == nil || x.parameters.Has(name):
				unknown = append(unknown, fault.Field{Field: name, Message: known.unknownParameter(name)})
			case mostSimilar(name, slices.Values(known.query)) != "":
				unknown = append(unknown, misspeltField(name, mostSimilar(name, slices.Values(known.query))))
			default:
				ignored = append(ignored, name)
			}
		case times[name] == 2 && !slices.Contains(known.lists, name):
			unknown = append(unknown, fault.Field{Field: name, Message: "takes one value; send it once"})
		}
		if len(unknown) == maxUnknown {
			break
		}
	}
	return unknown, ignored
}

func misspeltField(field, similar string) fault.Field {
	return fault.Field{Field: field, Message: "is not a known field; did you mean " + similar + "?"}
}

// unknownParameter returns the message about an unknown query parameter: the name that is
// probably meant, or all that exist.
func (k knownNames) unknownParameter(name string) string {
	switch similar := mostSimilar(name, slices.Values(k.url)); {
	case similar != "":
		return "is not a known parameter; did you mean " + similar + "?"
	case len(k.url) == 0:
		return "is not a known parameter; this operation has none"
	}
	return "is not a known parameter; those of this operation are " + strings.Join(k.url, ", ")
}

// withUnknown adds the refused query parameters and fields to the error of an invalid request,
// and returns an error for them if there is no other.
func (x *exchange) withUnknown(f *fault.Error) *fault.Error {
	switch {
	case len(x.unknown) == 0:
		return f
	case f == nil:
		return fault.Invalid(x.unknown...)
	case len(f.Fields) == 0 || f.Code != fault.InvalidInput:
		return f
	}
	return fault.Invalid(append(slices.Clone(x.unknown), f.Fields...)...)
}

// mostSimilar returns the known name that differs from a name by at most two letters, fewer than
// the name has, and by at most half of its own; empty if there is none.
// Of several that are equally similar it is the first by the alphabet.
func mostSimilar(name string, known iter.Seq[string]) string {
	best, distance := "", 3
	for candidate := range known {
		d := editDistance(strings.ToLower(name), strings.ToLower(candidate), 2)
		if 2*d <= len(candidate) && d < len(name) && (d < distance || d == distance && candidate < best) {
			best, distance = candidate, d
		}
	}
	return best
}

// editDistance returns how many letters must be inserted, removed, replaced or exchanged
// with the next one to turn one text into the other; more than most if it is more.
func editDistance(a, b string, most int) int {
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return most + 1
	}
	// Rows i-2, i-1 and i of the table of distances of the prefixes.
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, above, row = above, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}

// ignoredValue returns the value of the header: the names separated by commas, percent
// encoded. A long list is cut and ends in "...".
func ignoredValue(names []string) string {
	var value strings.Builder
	for _, name := range names {
		escaped := url.PathEscape(name)
		if value.Len()+len(escaped) > maxIgnoredLength {
			escaped = "..."
		}
		if value.Len() > 0 {
			value.WriteString(", ")
		}
		value.WriteString(escaped)
		if escaped == "..." {
			break
		}
	}
	return value.String()
}
