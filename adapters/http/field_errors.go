package httpapi

import (
	"strings"

	"causeway/core/fault"
)

// invalidField is one bad field that core found, on its way through the validator.
type invalidField struct{ field fault.Field }

func (f invalidField) Error() string { return f.field.Message }

// isWithin tells whether the field is the given one or a part of it; what is no
// object has no parts to find fault with.
func (f invalidField) isWithin(known fault.Field) bool {
	rest, ok := strings.CutPrefix(f.field.Field, known.Field)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// FieldErrors turns a fault of core into what a resolver of a body reports: each of
// its bad fields. A body that asks core in its Resolve method has everything that is
// wrong with it listed at once; of a field that the schema found bad it says no more.
func FieldErrors(err error) []error {
	f, ok := fault.As(err)
	if !ok {
		return nil
	}
	found := make([]error, len(f.Fields))
	for i, field := range f.Fields {
		found[i] = invalidField{field}
	}
	return found
}
