package bankfile

import (
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"

	"causeway/core/bankorder"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/rail"
)

// checkFormats writes a file of one payment for each rail and currency to nowhere, so that a setting that no file can carry
// is found before there are payments.
func (a *Adapter) checkFormats(now time.Time) error {
	for _, r := range a.connection.Rails {
		for _, c := range a.connection.Currencies {
			if !takes(r, c) {
				continue
			}
			o := sampleOrder(r, c)
			o.Batch = a.batchOf(o)
			f := bankorder.File{Connection: a.connection.Name, Number: 1, DayNumber: 1, Rail: r, Currency: c,
				MessageID: messageIDOf(a.connection.Name, now, 1),
				Orders:    1, Sum: money.TotalOf(o.Amount.Minor), FirstTrace: 1, CreatedAt: now}
			err := a.checkOrder(o)
			if err == nil {
				err = a.write(io.Discard, f, func(yield func(bankorder.Order, error) bool) { yield(o, nil) }, now)
			}
			if err != nil {
				return fault.Invalid(fault.Field{Field: "settings", Message: fmt.Sprintf("make files for %s in %s that banks refuse: %s", r, c, err)})
			}
		}
	}
	return nil
}

// takes reports whether a rail has a currency: the ones of Europe and ACH have one.
func takes(r corridor.Rail, c money.Currency) bool {
	switch r {
	case corridor.SEPA, corridor.SEPAInstant:
		return c == "EUR"
	case corridor.ACH:
		return c == money.USD
	default:
		return true
	}
}

// sampleOrder returns an order with an account of examples.
func sampleOrder(r corridor.Rail, c money.Currency) bankorder.Order {
	subject := uuid.UUID{0: 1}
	o := bankorder.Order{ID: subject, Subject: subject, Kind: bankorder.Payout, Rail: r, Amount: money.Amount{Minor: 1, Currency: c},
		Position:   1,
		EndToEndID: bankorder.EndToEndIDOf(bankorder.Payout, subject), Remittance: "Example",
		Counterparty: bankorder.Counterparty{Name: "Example"}}
	o.Key = rail.ShortID(o.EndToEndID)
	if r == corridor.ACH {
		o.Counterparty.Fields = map[string]string{"routingNumber": "021000021", "accountNumber": "1"}
	} else {
		o.Counterparty.Fields = map[string]string{"iban": "DE89370400440532013000", "swiftCode": "DEUTDEFF"}
	}
	return o
}
