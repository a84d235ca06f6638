package limit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"causeway/core/diff"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/party"
)

// MaxRules is the largest number of rules of a platform that are in force: each process keeps them all, and compares each payment with
// them.
const MaxRules = 1000

// Input is a rule as an operator writes it. Nil does not change an amount, and 0 ends its limit.
type Input struct {
	Currency, Customer, Region string
	PerPayment, Daily          *int64
}

// Amounts returns the amounts that the input sets, as an operator writes them.
func (in Input) Amounts() string {
	var set []string
	if in.PerPayment != nil {
		set = append(set, fmt.Sprintf("%s %d", FieldPerPayment, *in.PerPayment))
	}
	if in.Daily != nil {
		set = append(set, fmt.Sprintf("%s %d", FieldDaily, *in.Daily))
	}
	return strings.Join(set, " ")
}

// The names of the fields of an input.
const (
	FieldCurrency   = "currency"
	FieldCustomer   = "customer"
	FieldRegion     = "region"
	FieldPerPayment = "per-payment"
	FieldDaily      = "daily"
)

// Key returns the key that the input names, or INVALID_INPUT with every invalid field.
func (in Input) Key(p ident.Platform) (Key, error) {
	var bad party.Problems
	currency, err := money.ParsePayable(in.Currency)
	if err != nil {
		bad.Add(FieldCurrency, "must be a currency that customers can send, such as USD")
	}
	of := in.Customer
	if of != "" && of != EachCustomer {
		id, err := ident.ParseCustomer(of)
		if of = id.String(); err != nil { // in one form, as payments have it
			bad.Add(FieldCustomer, fmt.Sprintf("must be %q for each customer alone, or the id of one, such as Customer:<uuid>", EachCustomer))
		} else if in.Region != "" {
			bad.Add(FieldRegion, "cannot be set for one customer, whose region never changes")
		}
	}
	bad.Country(FieldRegion, in.Region, party.Optional)
	return Key{Platform: p, Currency: currency, Customer: of, Region: in.Region}, bad.Err()
}

// Set returns the rule of a key after a change. Faults: INVALID_INPUT; CONFLICT if the platform has MaxRules others.
func (rs Rules) Set(k Key, in Input, now time.Time) (Rule, error) {
	var bad party.Problems
	rule, exists := rs.find(k)
	for _, a := range []struct {
		field string
		set   *int64
		into  *int64
	}{{FieldPerPayment, in.PerPayment, &rule.PerPayment}, {FieldDaily, in.Daily, &rule.Daily}} {
		if a.set == nil {
			continue
		}
		if *a.set < 0 || *a.set > money.MaxMinor {
			bad.Add(a.field, fmt.Sprintf("must be from 1 to %d of the smallest unit of the currency, or 0 to end the limit", money.MaxMinor))
		}
		*a.into = *a.set
	}
	if in.PerPayment == nil && in.Daily == nil {
		bad.Add(FieldPerPayment, "or daily must be set")
	} else if len(bad.Fields) == 0 && rule.Cleared() && !exists {
		bad.Add(FieldPerPayment, "or daily must be above 0: there is no limit to end")
	}
	if err := bad.Err(); err != nil {
		return Rule{}, err
	}
	if !exists && len(rs.InForce()) >= MaxRules {
		return Rule{}, fault.New(fault.Conflict, "The platform has %d limits, which is the maximum. Clear one that is not needed.", MaxRules)
	}
	rule.ChangedAt = now
	return rule, nil
}

// Clear returns the rule of a key after its end, or NOT_FOUND if there is none.
func (rs Rules) Clear(k Key, now time.Time) (Rule, error) {
	if _, exists := rs.find(k); !exists {
		return Rule{}, fault.New(fault.NotFound, "There is no such limit. causeway platform limits list prints those that there are.")
	}
	return Rule{Key: k, ChangedAt: now}, nil
}

// find returns the rule of a key and whether it is in force.
func (rs Rules) find(k Key) (rule Rule, exists bool) {
	i := slices.IndexFunc(rs, func(r Rule) bool { return r.Key == k && !r.Cleared() })
	if i < 0 {
		return Rule{Key: k}, false
	}
	return rs[i], true
}

// InForce returns the rules that were not cleared.
func (rs Rules) InForce() Rules { return slices.DeleteFunc(slices.Clone(rs), Rule.Cleared) }

// Changed returns the amounts that a change of a rule has changed.
func Changed(before, after Rule) []diff.Field { return diff.Between(before.values(), after.values()) }

func (r Rule) values() diff.Values {
	amount := func(minor int64) string {
		if minor == 0 {
			return "" // no limit
		}
		return money.Amount{Minor: minor, Currency: r.Currency}.String()
	}
	return diff.Values{FieldPerPayment: amount(r.PerPayment), FieldDaily: amount(r.Daily)}
}

// Find returns the rule of a key, without amounts if there is none.
func (rs Rules) Find(k Key) Rule {
	rule, _ := rs.find(k)
	return rule
}
