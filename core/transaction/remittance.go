package transaction

import (
	"cmp"
	"unicode/utf8"

	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/plaintext"
)

// MaxRemittance is the longest text for a beneficiary, in characters.
const MaxRemittance = 80

// CheckRemittance returns what is wrong with a text for the beneficiary.
func CheckRemittance(text string) []fault.Field {
	if utf8.RuneCountInString(text) <= MaxRemittance {
		return nil
	}
	return []fault.Field{{Field: "remittanceInformation", Message: "must have at most 80 characters; banks do not carry more",
		Constraint: map[string]any{"maxLength": MaxRemittance}}}
}

// RemittanceLine returns a text for the beneficiary as it is sent: on one line.
func RemittanceLine(text string) string { return plaintext.Clean(text, len(text)) }

// TextForBeneficiary returns what the beneficiary is to read: the text for it or, without one, the note of the platform.
func (t Transaction) TextForBeneficiary() string { return cmp.Or(t.Remittance, t.Description) }

// RailSelection says who has chosen the rail of a payout.
type RailSelection string

// The selections.
const (
	RailAuto   RailSelection = "AUTO"   // the service
	RailManual RailSelection = "MANUAL" // the request
)

// SelectionOf returns who has chosen the rail of a payout to an external account, by the rail of the request.
func SelectionOf(wanted, chosen corridor.Rail) RailSelection {
	switch {
	case chosen.IsChain():
		return ""
	case wanted != "":
		return RailManual
	}
	return RailAuto
}
