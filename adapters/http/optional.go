package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Optional is a field of a partial update: one that is not sent does not change, and null removes
// the value.
type Optional[T any] struct {
	Sent  bool
	Value *T // nil for null
}

// UnmarshalJSON reads a value or null. A value of another type is left out: the validation has
// reported it, and an error would end the decoding of the other fields.
func (o *Optional[T]) UnmarshalJSON(data []byte) error {
	*o = Optional[T]{Sent: true}
	if bytes.Equal(data, []byte("null")) {
		return nil
	}
	o.Value = new(T)
	err := json.Unmarshal(data, o.Value)
	if mistyped := (*json.UnmarshalTypeError)(nil); errors.As(err, &mistyped) {
		return nil
	}
	return err
}

// Schema returns the schema of the value. Null is not described, because generators of clients do not
// agree on it; the validation ignores it in a field that is not required.
func (Optional[T]) Schema(registry huma.Registry) *huma.Schema {
	return registry.Schema(reflect.TypeFor[T](), true, "")
}

// MapOptional returns what an update does to a field: nil for nothing, and else a pointer to the
// converted value, which is zero for null.
func MapOptional[T, To any](o Optional[T], convert func(T) To) *To {
	if !o.Sent {
		return nil
	}
	var to To
	if o.Value != nil {
		to = convert(*o.Value)
	}
	return &to
}

// OptionalBool is a boolean query parameter without a default.
type OptionalBool struct {
	Value bool
	Sent  bool
}

// Schema returns the schema of a boolean.
func (OptionalBool) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: huma.TypeBoolean} }

// Receiver returns where huma sets the value.
func (o *OptionalBool) Receiver() reflect.Value { return reflect.ValueOf(&o.Value).Elem() }

// OnParamSet is called by huma if the parameter is sent.
func (o *OptionalBool) OnParamSet(isSet bool, _ any) { o.Sent = isSet }

// Pointer returns the value, or nil if the parameter was not sent.
func (o OptionalBool) Pointer() *bool {
	if !o.Sent {
		return nil
	}
	return &o.Value
}
