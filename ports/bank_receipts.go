package ports

import (
	"context"
	"time"
)

// BankReceipt is money that was received, by the bank's id and by the names under which the bank may take it back.
type BankReceipt struct {
	PartnerID string
	Names     []string
}

// BankReceipts keeps how money received was named. Each method is one atomic step.
type BankReceipts interface {
	// KeepBankReceipts keeps names of receipts, each once.
	KeepBankReceipts(ctx context.Context, lease Lease, receipts []BankReceipt, now time.Time) error
	// BankReceiptsByName returns the bank's ids of the receipts with each name, at most two of a name.
	BankReceiptsByName(ctx context.Context, connection string, names []string) (map[string][]string, error)
}
