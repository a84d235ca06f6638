package exports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"causeway/app/exports/statement"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// narrative turns the entries of an account into movements, with the balance after each.
type narrative struct {
	store    Store
	view     ports.LedgerView
	account  ledger.Account
	interval period.Interval
	// balance is the balance so far, closing the expected one at the end.
	balance, closing  int64
	counterpartyNames map[ident.ExternalAccount]string
	refunded          refundedPayments
	pending           []ports.RecordedEntry
	err               error
}

const (
	// movementBatchSize is the number of entries whose payments are read at once.
	movementBatchSize = 500
	// maxCachedNames is the maximum number of cached names of counterparties.
	maxCachedNames = 10_000
)

var errStopped = errors.New("the reader stopped")

// all returns the movements in order. An error ends them and is in err.
func (n *narrative) all(ctx context.Context) statement.Movements {
	return func(yield func(statement.Movement) bool) {
		err := n.view.EntriesByEffectiveTime(ctx, []ledger.Account{n.account}, n.interval, func(_ ledger.Account, e ports.RecordedEntry) error {
			if n.pending = append(n.pending, e); len(n.pending) < movementBatchSize {
				return nil
			}
			return n.describePending(ctx, yield)
		})
		if err == nil {
			err = n.describePending(ctx, yield)
		}
		if err == nil && n.balance != n.closing {
			err = fmt.Errorf("statement of %s: the movements add up to %d, but the balance is %d", n.account, n.balance, n.closing)
		}
		if !errors.Is(err, errStopped) {
			n.err = err
		}
	}
}

// describePending yields the movements of the pending entries.
func (n *narrative) describePending(ctx context.Context, yield func(statement.Movement) bool) error {
	payments, err := n.loadPayments(ctx)
	if err != nil {
		return err
	}
	for _, e := range n.pending {
		m := statement.Movement{At: e.Effective, Amount: e.Amount, Note: e.Memo}
		other := e.Debit
		if e.Debit == n.account.Path {
			m.Amount, other = -e.Amount, e.Credit
		}
		m.Description = describeEntry(e.Kind, other, m.Amount)
		if !e.Transaction.IsZero() {
			m.Transaction = e.Transaction.String()
		}
		m.Net, m.Refunded = n.refunded.net(e.Transaction)
		if payment, ok := payments[e.Transaction]; ok {
			m.Note = cmp.Or(payment.TextForBeneficiary(), m.Note)
			if !ledger.IsFee(other) && other != ledger.IncomeRounding {
				if m.Counterparty, err = n.counterparty(ctx, payment); err != nil {
					return err
				}
				if m.Exchange, err = exchangeOf(payment, e.Kind, m.Amount); err != nil {
					return err
				}
			}
		}
		n.balance += m.Amount
		m.Balance = n.balance
		if !yield(m) {
			return errStopped
		}
	}
	n.pending = n.pending[:0]
	return nil
}

func (n *narrative) loadPayments(ctx context.Context) (map[ident.Transaction]transaction.Transaction, error) {
	seen := map[ident.Transaction]bool{}
	var keys []ports.TransactionKey
	for _, e := range n.pending {
		if !e.Transaction.IsZero() && !seen[e.Transaction] {
			seen[e.Transaction] = true
			keys = append(keys, ports.TransactionKey{Platform: n.account.Platform, ID: e.Transaction})
		}
	}
	payments := make(map[ident.Transaction]transaction.Transaction, len(keys))
	if len(keys) == 0 {
		return payments, nil
	}
	found, err := n.store.TransactionsByKey(ctx, keys)
	for key, payment := range found {
		payments[key.ID] = payment
	}
	return payments, err
}

// counterparty returns the name of the other side of a payment, or else its address. It is empty
// for a payment between the customer's own accounts.
func (n *narrative) counterparty(ctx context.Context, payment transaction.Transaction) (string, error) {
	other := payment.Destination
	if payment.Type == transaction.Incoming {
		other = payment.Source
	}
	originator := ""
	if payment.Type == transaction.Incoming && payment.Originator != nil {
		originator = payment.Originator.Name
	}
	for _, name := range []string{payment.Counterparty["FULL_NAME"], payment.Counterparty["COMPANY_LEGAL_NAME"], originator, other.UMA} {
		if name != "" {
			return name, nil
		}
	}
	if other.ExternalAccount.IsZero() {
		return "", nil
	}
	if name, known := n.counterpartyNames[other.ExternalAccount]; known {
		return name, nil
	}
	name := ""
	external, err := n.store.ExternalAccount(ctx, n.account.Platform, other.ExternalAccount)
	switch {
	case fault.Is(err, fault.ExternalAccountNotFound): // deleted
	case err != nil:
		return "", err
	case external.Beneficiary != nil:
		name = external.Beneficiary.Name()
	default:
		name = external.Fields["address"]
	}
	if len(n.counterpartyNames) < maxCachedNames {
		n.counterpartyNames[other.ExternalAccount] = name
	}
	return name, nil
}

// exchangeOf returns what the other side of a payment sent or received. It is zero for what undoes a
// payment, and for a payment that failed.
func exchangeOf(payment transaction.Transaction, kind ledger.Kind, amount int64) (x statement.Exchange, err error) {
	sent, received := payment.Pricing.Sent, payment.Pricing.Received
	failed := payment.State.Status == transaction.Failed || payment.State.Status == transaction.Expired
	switch {
	case isRefund(kind) || failed || received.Currency == "":
		return x, nil
	case amount > 0 && sent.Currency == received.Currency:
		return x, nil // in the currency of the account, and as it was sent
	case amount > 0:
		x.Label, x.Amount = "Sent", sent
	case payment.State.Status == transaction.Completed:
		x.Label, x.Amount = "Received", received
	default:
		x.Label, x.Amount = "To be received", received
	}
	if sent.Currency != received.Currency {
		x.From, x.To = sent.Currency, received.Currency
		x.Rate, err = money.RateToMajor(payment.Pricing.Rate, x.From, x.To)
	}
	return x, err
}

// describeEntry returns the description of an entry for the owner of the account.
func describeEntry(kind ledger.Kind, other string, amount int64) string {
	in := amount > 0
	switch {
	case kind == ledger.KindPlatformFees:
		return "Fees of the platform"
	case ledger.IsFee(other) && in:
		return "Fee returned"
	case ledger.IsFee(other):
		return "Fee"
	case other == ledger.IncomeRounding:
		return "Rounding"
	}
	switch kind {
	case ledger.KindTransferOut:
		if in {
			return "Payment received"
		}
		return "Transfer out"
	case ledger.KindWalletDebit:
		return "Payment sent"
	case ledger.KindWalletCredit:
		return "Payment received"
	case ledger.KindConverted:
		if in {
			return "Payment received"
		}
		return "Payment sent"
	case ledger.KindRefundOwed:
		return "Held for a refund"
	case ledger.KindRefundPaid:
		return "Refund"
	case ledger.KindUnmatchedAssigned:
		return "Deposit"
	case ledger.KindReversal:
		return "Reversal"
	case ledger.KindReceivableCollected:
		return "Returned payment collected"
	default:
		name := strings.ReplaceAll(string(kind), "_", " ")
		return strings.ToUpper(name[:1]) + name[1:]
	}
}
