// Package schema maps the tables of the database to Go values: each table is one list of columns with the fields that hold
// them, and each kind of value has one codec.
package schema

import (
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/reconcile"
)

// RegisterCodecs makes a connection take and return values of the domain:
//   - an ident.ID is a uuid, and the zero id is NULL;
//   - a time.Time is in UTC, and the zero time is NULL;
//   - a period.Month is the date of its first day, a reconcile.Day a date, and the zero ones are NULL;
//   - a money.Total is a numeric without decimals, and NULL is read as zero; so is a *big.Int, whose nil is NULL;
//   - an array of bytes such as a digest is a bytea of its length.
//
// A uuid.UUID is itself even if it is zero, so that id.UUID() is a position before every id. Types of strings and numbers,
// such as money.Currency, need no codec.
// Lists of them are arguments of prepared statements only.
func RegisterCodecs(m *pgtype.Map) {
	m.TryWrapEncodePlanFuncs = append([]pgtype.TryWrapEncodePlanFunc{wrapArgument}, m.TryWrapEncodePlanFuncs...)
	m.TryWrapScanPlanFuncs = append([]pgtype.TryWrapScanPlanFunc{wrapTarget}, m.TryWrapScanPlanFuncs...)
}

// identifier is an ident.ID of any kind.
type identifier interface {
	UUID() uuid.UUID
	IsZero() bool
}

// identifierTarget is a pointer to an ident.ID of any kind.
type identifierTarget interface {
	identifier
	SetUUID(id uuid.UUID)
}

// wrapArgument implements pgtype.TryWrapEncodePlanFunc.
func wrapArgument(value any) (plan pgtype.WrappedEncodePlanNextSetter, next any, ok bool) {
	switch v := value.(type) {
	case time.Time:
		return &convertedArgument{convert: func(value any) any { return timeArgument(value.(time.Time)) }}, timeArgument(v), true
	case period.Month:
		return &convertedArgument{convert: func(value any) any { return dateArgument(value.(period.Month)) }}, pgtype.Date{}, true
	case reconcile.Day:
		return &convertedArgument{convert: func(value any) any { return dayArgument(value.(reconcile.Day)) }}, pgtype.Date{}, true
	case money.Total:
		return &convertedArgument{convert: func(value any) any { return totalArgument(value.(money.Total)) }}, pgtype.Numeric{}, true
	case *uuid.UUID: // as pgx does not follow pointers to a driver.Valuer
		return &convertedArgument{convert: func(value any) any { return *value.(*uuid.UUID) }}, uuid.UUID{}, true
	case uuid.UUID:
		return &convertedArgument{convert: func(value any) any { return pgtype.UUID{Bytes: value.(uuid.UUID), Valid: true} }}, pgtype.UUID{}, true
	case optionalValue:
		return &optionalArgument{}, v.pointer(), true
	case convertedValue:
		return &convertedArgument{convert: func(value any) any { return value.(convertedValue).value() }}, v.value(), true
	case identifierTarget: // a pointer, which pgx follows
		return nil, nil, false
	case identifier:
		return &convertedArgument{convert: func(value any) any { return idArgument(value.(identifier)) }}, pgtype.UUID{}, true
	case *big.Int:
		return &convertedArgument{convert: func(value any) any { return numericArgument(value.(*big.Int)) }}, pgtype.Numeric{}, true
	}
	if isByteArray(reflect.TypeOf(value)) {
		return &convertedArgument{convert: bytesArgument}, []byte{}, true
	}
	return nil, nil, false
}

// isByteArray reports whether a type is an array of bytes and not a UUID.
func isByteArray(t reflect.Type) bool {
	return t != nil && t.Kind() == reflect.Array && t.Elem().Kind() == reflect.Uint8 && t.Len() != len(uuid.UUID{})
}

func bytesArgument(array any) any {
	v := reflect.ValueOf(array)
	b := make([]byte, v.Len())
	reflect.Copy(reflect.ValueOf(b), v)
	return b
}

func idArgument(id identifier) pgtype.UUID { return pgtype.UUID{Bytes: id.UUID(), Valid: !id.IsZero()} }

// moment is a time for columns of type timestamptz and date.
type moment struct{ pgtype.Timestamptz }

// DateValue implements pgtype.DateValuer.
func (t moment) DateValue() (pgtype.Date, error) {
	return pgtype.Date{Time: t.Time, Valid: t.Valid}, nil
}

func timeArgument(t time.Time) moment {
	return moment{pgtype.Timestamptz{Time: t, Valid: !t.IsZero()}}
}

func dateArgument(m period.Month) pgtype.Date {
	return pgtype.Date{Time: m.Start(), Valid: !m.IsZero()}
}

func dayArgument(d reconcile.Day) pgtype.Date {
	return pgtype.Date{Time: d.Start(), Valid: d != reconcile.NoDay}
}

func totalArgument(t money.Total) pgtype.Numeric {
	digits, _ := new(big.Int).SetString(t.String(), 10)
	return numericArgument(digits)
}

func numericArgument(n *big.Int) pgtype.Numeric { return pgtype.Numeric{Int: n, Valid: n != nil} }

// convertedArgument encodes what an argument is converted to.
type convertedArgument struct {
	convert func(any) any
	next    pgtype.EncodePlan
}

// SetNext implements pgtype.WrappedEncodePlanNextSetter.
func (p *convertedArgument) SetNext(next pgtype.EncodePlan) { p.next = next }

// Encode implements pgtype.EncodePlan.
func (p *convertedArgument) Encode(value any, buf []byte) ([]byte, error) {
	return p.next.Encode(p.convert(value), buf)
}

// wrapTarget implements pgtype.TryWrapScanPlanFunc.
func wrapTarget(target any) (plan pgtype.WrappedScanPlanNextSetter, next any, ok bool) {
	switch v := target.(type) {
	case optionalValue:
		return &optionalTarget{}, v.pointer(), true
	case convertedValue:
		return &fieldTarget{}, v.target(), true
	case *time.Time:
		return newTargetPlan(func(target any) timeTarget { return timeTarget{target.(*time.Time)} })
	case *period.Month:
		return newTargetPlan(func(target any) monthTarget { return monthTarget{target.(*period.Month)} })
	case *reconcile.Day:
		return newTargetPlan(func(target any) dayTarget { return dayTarget{target.(*reconcile.Day)} })
	case *money.Total:
		return newTargetPlan(func(target any) totalTarget { return totalTarget{target.(*money.Total)} })
	case *uuid.UUID:
		return newTargetPlan(func(target any) uuidTarget { return uuidTarget{target.(*uuid.UUID)} })
	case identifierTarget:
		return newTargetPlan(func(target any) idTarget { return idTarget{target.(identifierTarget)} })
	case **big.Int:
		return newTargetPlan(func(target any) integerTarget { return integerTarget{target.(**big.Int)} })
	}
	if t := reflect.TypeOf(target); t != nil && t.Kind() == reflect.Pointer && isByteArray(t.Elem()) {
		return newTargetPlan(func(target any) byteArrayTarget { return byteArrayTarget{target} })
	}
	return nil, nil, false
}

// targetPlan scans into what a target is converted to. It keeps that, as a connection scans one value at a time.
type targetPlan[C any] struct {
	convert   func(any) C
	converted C
	next      pgtype.ScanPlan
}

func newTargetPlan[C any](convert func(target any) C) (plan pgtype.WrappedScanPlanNextSetter, next any, ok bool) {
	p := &targetPlan[C]{convert: convert}
	return p, &p.converted, true
}

// SetNext implements pgtype.WrappedScanPlanNextSetter.
func (p *targetPlan[C]) SetNext(next pgtype.ScanPlan) { p.next = next }

// Scan implements pgtype.ScanPlan.
func (p *targetPlan[C]) Scan(src []byte, target any) error {
	p.converted = p.convert(target)
	return p.next.Scan(src, &p.converted)
}

type idTarget struct{ id identifierTarget }

// ScanUUID implements pgtype.UUIDScanner.
func (t *idTarget) ScanUUID(v pgtype.UUID) error {
	t.id.SetUUID(v.Bytes)
	return nil
}

type uuidTarget struct{ id *uuid.UUID }

// ScanUUID implements pgtype.UUIDScanner.
func (t *uuidTarget) ScanUUID(v pgtype.UUID) error {
	*t.id = v.Bytes
	return nil
}

type timeTarget struct{ at *time.Time }

// ScanTimestamptz implements pgtype.TimestamptzScanner.
func (t *timeTarget) ScanTimestamptz(v pgtype.Timestamptz) error {
	return t.set(v.Time, v.InfinityModifier)
}

// ScanDate implements pgtype.DateScanner.
func (t *timeTarget) ScanDate(v pgtype.Date) error {
	return t.set(v.Time, v.InfinityModifier)
}

func (t *timeTarget) set(at time.Time, infinity pgtype.InfinityModifier) error {
	if infinity != pgtype.Finite {
		return fmt.Errorf("cannot take %v for a time", infinity)
	}
	*t.at = at.UTC()
	return nil
}

type monthTarget struct{ month *period.Month }

// ScanDate implements pgtype.DateScanner.
func (t *monthTarget) ScanDate(v pgtype.Date) error {
	if *t.month = (period.Month{}); v.Valid {
		*t.month = period.MonthOf(v.Time)
	}
	return nil
}

type dayTarget struct{ day *reconcile.Day }

// ScanDate implements pgtype.DateScanner.
func (t *dayTarget) ScanDate(v pgtype.Date) error {
	if *t.day = reconcile.NoDay; v.Valid {
		*t.day = reconcile.DayOf(v.Time)
	}
	return nil
}

type totalTarget struct{ total *money.Total }

// ScanText implements pgtype.TextScanner, for a sum that is selected as text.
func (t *totalTarget) ScanText(v pgtype.Text) (err error) {
	if *t.total = (money.Total{}); v.Valid {
		*t.total, err = money.ParseTotal(v.String)
	}
	return err
}

// ScanNumeric implements pgtype.NumericScanner.
func (t *totalTarget) ScanNumeric(v pgtype.Numeric) (err error) {
	*t.total = money.Total{}
	if v.Valid {
		*t.total, err = money.ParseTotal(digitsOf(v))
	}
	return err
}

type integerTarget struct{ n **big.Int }

// ScanNumeric implements pgtype.NumericScanner.
func (t *integerTarget) ScanNumeric(v pgtype.Numeric) error {
	*t.n = nil
	if !v.Valid {
		return nil
	}
	n, isInteger := new(big.Int).SetString(digitsOf(v), 10)
	if !isInteger {
		return fmt.Errorf("%s is not an integer", digitsOf(v))
	}
	*t.n = n
	return nil
}

// digitsOf returns the text of a numeric: digits, if it has no decimals. Its own may lack the zeros at its end.
func digitsOf(v pgtype.Numeric) string {
	if v.NaN || v.InfinityModifier != pgtype.Finite || v.Exp < 0 {
		text, _ := v.MarshalJSON()
		return string(text)
	}
	return v.Int.String() + strings.Repeat("0", int(v.Exp))
}

type byteArrayTarget struct{ array any }

// ScanBytes implements pgtype.BytesScanner. No bytes are the zero value.
func (t *byteArrayTarget) ScanBytes(stored []byte) error {
	array := reflect.ValueOf(t.array).Elem()
	array.SetZero()
	if len(stored) != 0 && len(stored) != array.Len() {
		return fmt.Errorf("cannot take %d bytes for %d", len(stored), array.Len())
	}
	copy(array.Bytes(), stored)
	return nil
}
