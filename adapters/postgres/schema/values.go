package schema

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/money"
)

// Rate is a rate in a column of type text. A stored rate is never zero.
func Rate(rate *money.Rate) any { return &number{rate, money.ParseRate} }

// Fraction is a fraction from 0 to 1 in a column of type text.
func Fraction(fraction *money.Rate) any { return &number{fraction, money.ParseFraction} }

type number struct {
	value *money.Rate
	parse func(string) (money.Rate, error)
}

// TextValue implements pgtype.TextValuer.
func (n *number) TextValue() (pgtype.Text, error) {
	return pgtype.Text{String: n.value.String(), Valid: true}, nil
}

// ScanText implements pgtype.TextScanner. NULL, as of a row that a join has not found, leaves the value.
func (n *number) ScanText(v pgtype.Text) (err error) {
	if v.Valid {
		*n.value, err = n.parse(v.String)
	}
	return err
}

// Day is a day such as "2026-03-14" in a column of type date; the empty text is NULL.
func Day[S ~string](day *S) any { return &dayText[S]{day} }

type dayText[S ~string] struct{ day *S }

// DateValue implements pgtype.DateValuer.
func (d *dayText[S]) DateValue() (pgtype.Date, error) {
	if *d.day == "" {
		return pgtype.Date{}, nil
	}
	at, err := time.Parse(time.DateOnly, string(*d.day))
	if err != nil {
		return pgtype.Date{}, fmt.Errorf("%q is not a day: %w", string(*d.day), err)
	}
	return pgtype.Date{Time: at, Valid: true}, nil
}

// ScanDate implements pgtype.DateScanner.
func (d *dayText[S]) ScanDate(v pgtype.Date) error {
	*d.day = ""
	if v.Valid {
		*d.day = S(v.Time.Format(time.DateOnly))
	}
	return nil
}

// Optional is a text, number or boolean in a column whose NULL is the zero value.
func Optional[T comparable](value *T) any { return &optional[T]{value} }

type optional[T comparable] struct{ value *T }

// optionalValue is an optional of any type.
type optionalValue interface {
	pointer() any
	isZero() bool
	clear()
}

func (o *optional[T]) pointer() any { return o.value }
func (o *optional[T]) isZero() bool { return *o.value == *new(T) }
func (o *optional[T]) clear()       { *o.value = *new(T) }

type optionalArgument struct{ next pgtype.EncodePlan }

// SetNext implements pgtype.WrappedEncodePlanNextSetter.
func (p *optionalArgument) SetNext(next pgtype.EncodePlan) { p.next = next }

// Encode implements pgtype.EncodePlan.
func (p *optionalArgument) Encode(value any, buf []byte) ([]byte, error) {
	o := value.(optionalValue)
	if o.isZero() {
		return nil, nil
	}
	return p.next.Encode(o.pointer(), buf)
}

type optionalTarget struct{ next pgtype.ScanPlan }

// SetNext implements pgtype.WrappedScanPlanNextSetter.
func (p *optionalTarget) SetNext(next pgtype.ScanPlan) { p.next = next }

// Scan implements pgtype.ScanPlan.
func (p *optionalTarget) Scan(src []byte, target any) error {
	o := target.(optionalValue)
	if src == nil {
		o.clear()
		return nil
	}
	return p.next.Scan(src, o.pointer())
}

// Converted is a value that is stored as a V: get returns what is stored, and set takes what was read.
func Converted[V any](get func() V, set func(V) error) any { return &converted[V]{get, set} }

type converted[V any] struct {
	get func() V
	set func(V) error
}

// convertedValue is a converted of any type.
type convertedValue interface {
	value() any
	target() any
	take(target any) error
}

func (c *converted[V]) value() any            { return c.get() }
func (c *converted[V]) target() any           { return new(V) }
func (c *converted[V]) take(target any) error { return c.set(*target.(*V)) }

type fieldTarget struct{ next pgtype.ScanPlan }

// SetNext implements pgtype.WrappedScanPlanNextSetter.
func (p *fieldTarget) SetNext(next pgtype.ScanPlan) { p.next = next }

// Scan implements pgtype.ScanPlan.
func (p *fieldTarget) Scan(src []byte, target any) error {
	c := target.(convertedValue)
	value := c.target()
	if err := p.next.Scan(src, value); err != nil {
		return err
	}
	return c.take(value)
}

// ID is an id in a column that is never NULL: the zero id is the zero UUID.
func ID(id identifierTarget) any { return &presentID{id} }

type presentID struct{ identifierTarget }

func (p *presentID) value() any  { return p.UUID() }
func (p *presentID) target() any { return new(uuid.UUID) }
func (p *presentID) take(target any) error {
	p.SetUUID(*target.(*uuid.UUID))
	return nil
}

// Time is a time in a column that is never NULL: the zero time is as it is, in the year 1.
func Time(at *time.Time) any {
	return Converted(
		func() pgtype.Timestamptz { return pgtype.Timestamptz{Time: *at, Valid: true} },
		func(v pgtype.Timestamptz) error {
			*at = v.Time.UTC()
			return nil
		})
}

// Bytes is a value in a column that is never NULL: nil is no bytes.
func Bytes(value *[]byte) any {
	return Converted(
		func() []byte { return append([]byte{}, *value...) },
		func(stored []byte) error {
			*value = stored
			return nil
		})
}

// JSON is a document with the JSON tags of V in a column of type jsonb. A nil pointer is NULL; a nil list is JSON's null.
func JSON[V any](get func() V, set func(V)) any { return &document[V]{get, set} }

type document[V any] struct {
	get func() V
	set func(V)
}

// Value implements driver.Valuer.
func (d *document[V]) Value() (driver.Value, error) {
	document := d.get()
	if v := reflect.ValueOf(document); v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, nil
	}
	text, err := json.Marshal(document)
	return string(text), err
}

// ScanBytes implements pgtype.BytesScanner.
func (d *document[V]) ScanBytes(text []byte) error {
	var v V
	if text != nil {
		if err := json.Unmarshal(text, &v); err != nil {
			return err
		}
	}
	d.set(v)
	return nil
}

// Array is a list in a column of an array type that is never NULL: an empty list is {}, and is read as nil. The items are
// texts, or have a String of their own.
func Array[T any](items *[]T) any { return &array[T]{(*pgtype.FlatArray[T])(items)} }

type array[T any] struct{ *pgtype.FlatArray[T] }

// arrayValue is an array of any type.
type arrayValue interface {
	// text returns the array as Postgres writes it, such as {"EUR","USD"}.
	text() string
}

var quoteItem = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

func (a *array[T]) text() string {
	items := make([]string, len(*a.FlatArray))
	for i, item := range *a.FlatArray {
		text := fmt.Sprint(item)
		if v := reflect.ValueOf(item); v.Kind() == reflect.String {
			text = v.String()
		}
		items[i] = `"` + quoteItem.Replace(text) + `"`
	}
	return "{" + strings.Join(items, ",") + "}"
}

// Dimensions implements pgtype.ArrayGetter.
func (a *array[T]) Dimensions() []pgtype.ArrayDimension {
	if len(*a.FlatArray) == 0 {
		return []pgtype.ArrayDimension{}
	}
	return a.FlatArray.Dimensions()
}

// SetDimensions implements pgtype.ArraySetter.
func (a *array[T]) SetDimensions(dimensions []pgtype.ArrayDimension) error {
	if len(dimensions) == 0 || dimensions[0].Length == 0 {
		*a.FlatArray = nil
		return nil
	}
	return a.FlatArray.SetDimensions(dimensions)
}

// values are the fields of one column in many rows. It implements pgtype.ArrayGetter.
type values []any

// Dimensions implements pgtype.ArrayGetter.
func (v values) Dimensions() []pgtype.ArrayDimension {
	return []pgtype.ArrayDimension{{Length: int32(len(v)), LowerBound: 1}}
}

// Index implements pgtype.ArrayGetter.
func (v values) Index(i int) any { return v[i] }

// IndexType implements pgtype.ArrayGetter.
func (v values) IndexType() any {
	if len(v) == 0 {
		return nil
	}
	return v[0]
}

// SplitLines splits a stored list, one item per line.
func SplitLines(rows string) []string {
	if rows == "" {
		return nil
	}
	return strings.Split(rows, "\n")
}
