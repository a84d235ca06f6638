package transaction

import (
	"cmp"

	"causeway/core/account"
	"causeway/core/plaintext"
)

// Originator is who has sent money that was received, as far as the partner has said. Each field is empty if it has not.
type Originator struct {
	Name string
	// Account is the masked identifier of the account that it came from.
	Account  string
	BankName string
	// Bank identifies the bank: its BIC, or its number in the clearing.
	Bank string
	// EndToEndID is the id that the originator has given, and TraceNumber that of the payment system.
	EndToEndID, TraceNumber string
	// Remittance is what the originator wrote for the receiver.
	Remittance string
}

// Limits of an Originator, in bytes.
const (
	maxOriginatorField = 255
	maxOriginatorText  = 1000
)

// bankFields are the fields of accounts that identify a bank, the best first.
var bankFields = []string{"swiftCode", "routingNumber", "sortCode", "bankCode", "ifsc"}

// OriginatorOf returns the originator of a payment: what is known of it, with the whole identifier of its account, and what the account
// adds, unless that is nil. It is nil if nothing is known.
func OriginatorOf(payer *account.External, known Originator) *Originator {
	if payer != nil {
		known.Account, known.BankName = cmp.Or(known.Account, payer.Identifier()), cmp.Or(known.BankName, payer.Fields["bankName"])
		if b := payer.Beneficiary; b != nil {
			known.Name = cmp.Or(known.Name, b.Name())
		}
		for _, name := range bankFields {
			known.Bank = cmp.Or(known.Bank, payer.Fields[name])
		}
	}
	if known.Account != "" {
		known.Account = account.Mask(known.Account)
	}
	for _, field := range []*string{&known.Name, &known.Account, &known.BankName, &known.Bank, &known.EndToEndID, &known.TraceNumber} {
		*field = plaintext.Clean(*field, maxOriginatorField)
	}
	known.Remittance = plaintext.Clean(known.Remittance, maxOriginatorText)
	if known == (Originator{}) {
		return nil
	}
	return &known
}
