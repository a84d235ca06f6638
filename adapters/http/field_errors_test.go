package httpapi

import (
	"slices"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"causeway/core/fault"
)

func TestFieldErrors_MergedWithSchemaErrors(t *testing.T) {
	t.Parallel()
	// What core finds stands beside what the schema found, with its constraint, but not
	// about a field, or a part of one, that the schema named already.
	schema := []error{&huma.ErrorDetail{Location: "body.address", Message: "must be an object"}, &huma.ErrorDetail{Location: "body.email", Message: "must be a string"}}
	core := FieldErrors(fault.Invalid(
		fault.Field{Field: "email", Message: "is required"}, fault.Field{Field: "address.city", Message: "is required"},
		fault.Field{Field: "address[0]", Message: "is odd"}, fault.Field{Field: "addressee", Message: "is required", Constraint: map[string]any{"minLength": 1}},
	))

	refused := validationFault(422, "validation failed", append(schema, core...))

	var fields []string
	for _, f := range refused.Fields {
		fields = append(fields, f.Field)
	}
	if want := []string{"address", "email", "addressee"}; !slices.Equal(fields, want) {
		t.Errorf("fields %q, want %q", fields, want)
	}
	if last := refused.Fields[len(refused.Fields)-1]; last.Constraint["minLength"] != 1 {
		t.Errorf("the constraint is %v", last.Constraint)
	}

	// What is no fault of the caller's fields is none.
	if found := FieldErrors(nil); found != nil {
		t.Errorf("nothing wrong, and found %v", found)
	}
}
