package httpapi

import (
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"causeway/core/fault"
)

// ignoredHeader names the fields and query parameters of a request that were ignored.
const ignoredHeader = "Causeway-Ignored-Fields"

// maxIgnoredLength is the maximum length of the header's value, in bytes.
const maxIgnoredLength = 1024

// maxMisspelt is the maximum number of misspelt query parameters that are listed.
const maxMisspelt = 20

// knownNames holds the names that an operation knows.
type knownNames struct {
	query []string     // query parameters
	lists []string     // those that are lists
	body  *knownFields // nil if the body is not JSON
}

func newKnownNames(op *huma.Operation, registry huma.Registry) knownNames {
	var known knownNames
	for _, p := range op.Parameters {
		if p.In != "query" {
			continue
		}
		known.query = append(known.query, p.Name)
		if p.Schema != nil && p.Schema.Type == huma.TypeArray {
			known.lists = append(known.lists, p.Name)
		}
	}
	if op.RequestBody != nil {
		if form := op.RequestBody.Content[formType]; form != nil && len(op.RequestBody.Content) == 1 {
			for name := range form.Schema.Properties { // those of a form are no query parameters
				if name != filePart {
					known.query = append(known.query, name)
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

// findUnknown names the unknown fields and query parameters in a header of the response,
// and refuses query parameters that are probably misspelt: a filter that is ignored would
// return everything.
func (x *exchange) findUnknown() {
	var ignored []string
	if x.r.URL.RawQuery != "" {
		ignored = x.unknownParameters()
	}
	if x.body != nil && x.route.known.body != nil {
		s := fieldScanner{parser: newParser(x.body.Bytes()), ignored: ignored}
		if s.value(x.route.known.body, &place{}, 0) {
			ignored = s.ignored
		}
	}
	if len(ignored) > 0 {
		x.w.Header().Set(ignoredHeader, ignoredValue(ignored))
	}
}

// unknownParameters returns the query parameters that are ignored: those with an unknown
// name, and repetitions of one that is not a list.
func (x *exchange) unknownParameters() (ignored []string) {
	seen := map[string]bool{}
	for pair := range strings.SplitSeq(x.r.URL.RawQuery, "&") {
		escaped, _, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(escaped)
		if err != nil || name == "" {
			continue
		}
		repeated := seen[name]
		seen[name] = true
		known := slices.Contains(x.route.known.query, name)
		switch {
		case known && (!repeated || slices.Contains(x.route.known.lists, name)):
		case known:
			ignored = append(ignored, name)
		case repeated: // already found
		default:
			if similar := mostSimilar(name, x.route.known.query); similar != "" {
				if len(x.misspelt) == maxMisspelt {
					return ignored
				}
				x.misspelt = append(x.misspelt, fault.Field{Field: name, Message: "is not a known parameter; did you mean " + similar + "?"})
				continue
			}
			ignored = append(ignored, name)
		}
	}
	return ignored
}

// withMisspelt adds the misspelt query parameters to the error of an invalid request, and
// returns an error for them if there is no other.
func (x *exchange) withMisspelt(f *fault.Error) *fault.Error {
	switch {
	case len(x.misspelt) == 0:
		return f
	case f == nil:
		return fault.Invalid(x.misspelt...)
	case len(f.Fields) == 0 || f.Code != fault.InvalidInput:
		return f
	}
	return fault.Invalid(append(slices.Clone(x.misspelt), f.Fields...)...)
}

// mostSimilar returns the known name that differs from a name by at most two letters, and
// by at most half of its own; empty if there is none.
func mostSimilar(name string, known []string) string {
	best, distance := "", 3
	for _, candidate := range known {
		if d := editDistance(strings.ToLower(name), strings.ToLower(candidate), 2); d < distance && 2*d <= len(candidate) {
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
