package httpapi

import "causeway/core/fault"

// finding is one bad field that core found, on its way through the validator.
type finding struct{ field fault.Field }

func (f finding) Error() string { return f.field.Message }

// Findings turns a fault of core into what a resolver of a body reports: each of
// its bad fields. A body that asks core in its Resolve method has everything that is
// wrong with it listed at once; what the schema found of a field comes first.
func Findings(err error) []error {
	f, ok := fault.Of(err)
	if !ok {
		return nil
	}
	found := make([]error, len(f.Fields))
	for i, field := range f.Fields {
		found[i] = finding{field}
	}
	return found
}
