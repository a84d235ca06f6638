package proposal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Carried returns an approved proposal with what it has made. Fault: CONFLICT if there was nothing to change, or if
// the change has other figures than those that were proposed, and so approved. figures is a JSON object; nil if
// the operation has none.
func (p Proposal) Carried(made string, figures []byte) (Proposal, error) {
	if made == "" {
		return p, conflict("Nothing to change", "The change was already made, by another request. Reject the proposal.")
	}
	differences, err := differences(p.Figures, figures)
	if err != nil {
		return p, err
	}
	if len(differences) > 0 {
		const shown = 5
		more := ""
		if n := len(differences) - shown; n > 0 {
			differences, more = differences[:shown], fmt.Sprintf(", and %d more", n)
		}
		return p, conflict("Figures changed", "The figures have changed since the proposal: %s%s. Reject the proposal and make it again.",
			strings.Join(differences, "; "), more)
	}
	p.Result = made
	return p, nil
}

// differences says which values of two JSON objects differ, by path.
func differences(before, now []byte) ([]string, error) {
	values := [2]map[string]string{}
	for i, text := range [][]byte{before, now} {
		values[i] = map[string]string{}
		if len(text) == 0 {
			continue
		}
		var parsed any
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&parsed); err != nil {
			return nil, fmt.Errorf("read the figures of a proposal: %w", err)
		}
		flatten(values[i], "", parsed)
	}
	paths := slices.Collect(maps.Keys(values[0]))
	for path := range values[1] {
		if _, ok := values[0][path]; !ok {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	var found []string
	for _, path := range paths {
		was, existed := values[0][path]
		is, exists := values[1][path]
		switch {
		case !existed:
			found = append(found, fmt.Sprintf("%s is now %s", path, is))
		case !exists:
			found = append(found, fmt.Sprintf("%s was %s", path, was))
		case was != is:
			found = append(found, fmt.Sprintf("%s was %s and is now %s", path, was, is))
		}
	}
	return found, nil
}

// flatten puts the values of a parsed JSON text into a map, by their paths.
func flatten(into map[string]string, path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, field := range value {
			flatten(into, strings.TrimPrefix(path+"."+name, "."), field)
		}
	case []any:
		for i, item := range value {
			flatten(into, fmt.Sprintf("%s[%d]", path, i), item)
		}
	default:
		into[path] = fmt.Sprint(value)
	}
}
