package transaction

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	"causeway/core/account"
)

// PayeeDigest returns a hash of who is paid by the transaction, and how much: to is the external account with its details,
// nil if it pays none, or an invoice. It is computed when the payment is accepted, and again before it leaves.
func (t Transaction) PayeeDigest(to *account.External) string {
	hash := sha256.New()
	write := func(part string) { fmt.Fprintf(hash, "%d:%s,", len(part), part) }
	write("causeway payee 1")
	write(t.Platform.String())
	write(t.ID.String())
	write(string(t.Pricing.Received.Currency))
	write(strconv.FormatInt(t.Pricing.Received.Minor, 10))
	write(t.Destination.ExternalAccount.String())
	write(t.Destination.InternalAccount.String())
	write(t.Destination.UMA)
	if to == nil {
		to = t.InvoiceAccount()
	}
	if to != nil {
		for _, part := range to.PaymentDetails() {
			write(part)
		}
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// ErrPayeeChanged returns the fault of a payment whose payee or amount was changed in the database after it was accepted. It is
// not paid.
func (t Transaction) ErrPayeeChanged() error {
	return errNotRunnable("Payee changed", t.ID.String()+" is not what was accepted: its payee or its amount was changed in the database. "+
		"It is not paid. Find out who changed it, and put back what was accepted; see: causeway ledger check")
}
