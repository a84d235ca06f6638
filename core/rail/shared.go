package rail

import (
	"fmt"
	"strings"

	"causeway/core/fault"
)

// CheckShared returns INVALID_INPUT, with the name of the other connection, if another connection works with what only one
// can work with: each would take what is for the other, or use up its numbers. Retired connections count, because what
// they have handed over is still asked about.
func (c Connection) CheckShared(others []Connection) error {
	var bad []fault.Field
	for _, o := range others {
		if o.Name == c.Name || o.Adapter != c.Adapter {
			continue
		}
		for _, own := range c.Exclusive {
			for _, taken := range o.Exclusive {
				if isSame(own, taken) {
					bad = append(bad, fault.Field{Field: "settings", Message: fmt.Sprintf("has %s, which %s has already: two connections would take "+
						"what is for each other. "+
						"Change that connection, or delete it first", own, o.Name)})
				}
			}
		}
	}
	if len(bad) > 0 {
		return fault.Invalid(bad...)
	}
	return nil
}

// isSame reports whether what two connections work with is the same, or a part of it.
func isSame(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+partOf) || strings.HasPrefix(b, a+partOf)
}

// partOf is between a thing and what names a part of it, as in ExclusivePart.
const partOf = ", for "

// ExclusivePart names a part of what connections work with: they may share the whole as long as their parts differ.
func ExclusivePart(whole, part string) string { return whole + partOf + part }
