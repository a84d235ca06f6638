package corridor

import (
	"fmt"
	"time"

	"causeway/core/fault"
	"causeway/core/money"
)

// Override is an operator's change of terms; a nil field does not change a value.
type Override struct {
	Fixed      *int64
	Percent    *money.Rate
	MinSending *int64
	MaxSending *int64
	Lock       *time.Duration
}

// The names of the fields of an override, as operators write them.
const (
	FieldFixed   = "fee-fixed"
	FieldPercent = "fee-percent"
	FieldMin     = "min"
	FieldMax     = "max"
	FieldLock    = "lock"
)

// The limits of the time for which a rate is locked.
const (
	MinLock = time.Minute
	MaxLock = 15 * time.Minute
)

// For returns the terms that a platform pays: the built-in terms, changed by the operator's
// override for all platforms, then by the one for this platform, and then within the platform's
// own limits for the sending currency, if it has any.
func (t Terms) For(allPlatforms, platform Override, limits *Limits) Terms {
	t = t.WithOverride(allPlatforms).WithOverride(platform)
	if limits != nil {
		t = t.WithLimits(*limits)
	}
	return t
}

// WithOverride returns the terms after an override.
func (t Terms) WithOverride(o Override) Terms {
	replace(&t.Fee.Fixed, o.Fixed)
	replace(&t.Fee.Percent, o.Percent)
	replace(&t.MinSending, o.MinSending)
	replace(&t.MaxSending, o.MaxSending)
	replace(&t.Lock, o.Lock)
	return t
}

func replace[T any](value *T, by *T) {
	if by != nil {
		*value = *by
	}
}

// Merge returns the override with the fields of next replacing its own.
func (o Override) Merge(next Override) Override {
	replacePointer(&o.Fixed, next.Fixed)
	replacePointer(&o.Percent, next.Percent)
	replacePointer(&o.MinSending, next.MinSending)
	replacePointer(&o.MaxSending, next.MaxSending)
	replacePointer(&o.Lock, next.Lock)
	return o
}

func replacePointer[T any](value **T, by *T) {
	if by != nil {
		*value = by
	}
}

// Names returns the names of the fields that are set, in the order of the constants.
func (o Override) Names() []string {
	var names []string
	for _, v := range []struct {
		name string
		set  bool
	}{
		{FieldFixed, o.Fixed != nil}, {FieldPercent, o.Percent != nil},
		{FieldMin, o.MinSending != nil}, {FieldMax, o.MaxSending != nil}, {FieldLock, o.Lock != nil},
	} {
		if v.set {
			names = append(names, v.name)
		}
	}
	return names
}

// IsZero reports whether no field is set.
func (o Override) IsZero() bool { return o == Override{} }

// Check returns the errors in the single fields of the override.
func (o Override) Check() []fault.Field {
	var bad []fault.Field
	refuse := func(field, message string, args ...any) {
		bad = append(bad, fault.Field{Field: field, Message: fmt.Sprintf(message, args...)})
	}
	if o.Fixed != nil && (*o.Fixed < 0 || *o.Fixed > money.MaxMinor) {
		refuse(FieldFixed, "must be from 0 to %d minor units", money.MaxMinor)
	}
	if o.Percent != nil {
		if remainder, err := o.Percent.Complement(); err != nil || remainder.IsZero() {
			refuse(FieldPercent, "must be at least 0 and below 100 percent")
		}
	}
	if o.MinSending != nil && (*o.MinSending < 1 || *o.MinSending > money.MaxMinor) {
		refuse(FieldMin, "must be from 1 to %d minor units", money.MaxMinor)
	}
	if o.MaxSending != nil && (*o.MaxSending < 1 || *o.MaxSending > money.MaxMinor) {
		refuse(FieldMax, "must be from 1 to %d minor units", money.MaxMinor)
	}
	if o.Lock != nil && (*o.Lock < MinLock || *o.Lock > MaxLock || *o.Lock%time.Second != 0) {
		refuse(FieldLock, "must be from 1m to 15m, in whole seconds")
	}
	return bad
}

// Check returns the errors in the combination of the terms: limits that allow no amount, and a
// minimum that is not more than its fees.
func (t Terms) Check(sending money.Currency) []fault.Field {
	amount := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: sending} }
	if t.MinSending > t.MaxSending {
		return []fault.Field{{Field: FieldMin, Message: fmt.Sprintf("would be %s, above the maximum of %s; change both", amount(t.MinSending),
			amount(t.MaxSending))}}
	}
	variable, err := t.Fee.Percent.Ceil(t.MinSending)
	if err == nil && variable < t.MinSending && t.Fee.Fixed < t.MinSending-variable {
		return nil
	}
	return []fault.Field{{Field: FieldMin, Message: fmt.Sprintf("would be %s, which is not more than the fees; raise it, or lower the fees",
		amount(t.MinSending))}}
}
