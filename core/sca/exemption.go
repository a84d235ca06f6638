package sca

import (
	"time"

	"causeway/core/fault"
	"causeway/core/money"
)

// Exemption is why a payment needs no proof of its payer (Delegated Regulation (EU) 2018/389).
type Exemption string

// The exemptions.
const (
	// TrustedBeneficiary: the payer trusts the account that is paid (art. 13).
	TrustedBeneficiary Exemption = "TRUSTED_BENEFICIARY"
	// LowValue: the payment and those since the last proof are small (art. 16).
	LowValue Exemption = "LOW_VALUE"
)

// Exemptions are those that a platform uses.
type Exemptions struct {
	TrustedBeneficiaries bool
	LowValue             bool
}

// Names returns the names of the exemptions.
func (e Exemptions) Names() []string {
	names := []string{}
	if e.TrustedBeneficiaries {
		names = append(names, string(TrustedBeneficiary))
	}
	if e.LowValue {
		names = append(names, string(LowValue))
	}
	return names
}

// ParseExemptions returns the exemptions with the names, and INVALID_INPUT if there is another name.
func ParseExemptions(names []string) (e Exemptions, err error) {
	for _, name := range names {
		switch Exemption(name) {
		case TrustedBeneficiary:
			e.TrustedBeneficiaries = true
		case LowValue:
			e.LowValue = true
		default:
			err = fault.Invalid(fault.Field{Field: "exemptions", Message: "must be TRUSTED_BENEFICIARY or LOW_VALUE"})
		}
	}
	return e, err
}

// The limits of LowValue, in euro cents.
const (
	maxLowValue         = 30_00
	maxLowValueTotal    = 100_00
	maxLowValuePayments = 5
)

// LowValueUse is what a customer has paid with LowValue since its last proof for a payment; the total is in euro cents.
type LowValueUse struct {
	Payments int
	Total    int64
	// Since is when that proof was given; zero without one.
	Since time.Time
}

// At returns the time of one more payment. It is later than the proof, also if that was recorded by a process whose clock is ahead, so
// that the payment counts.
func (u LowValueUse) At(now time.Time) time.Time {
	if now.After(u.Since) {
		return now
	}
	return u.Since.Add(time.Microsecond)
}

// For returns the exemption that applies to a payment, or none. euros is its amount; zero if it is not known.
func (e Exemptions) For(trusted bool, euros money.Amount, used LowValueUse) Exemption {
	switch {
	case e.TrustedBeneficiaries && trusted:
		return TrustedBeneficiary
	case e.LowValue && euros.Currency == money.EUR && euros.Minor > 0 && euros.Minor <= maxLowValue &&
		used.Total+euros.Minor <= maxLowValueTotal && used.Payments < maxLowValuePayments:
		return LowValue
	}
	return ""
}
