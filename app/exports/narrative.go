package exports

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"causeway/app/exports/statement"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// narrative puts the entries of an account into words, with its balance after each.
type narrative struct {
	store    Store
	view     ports.LedgerView
	account  ledger.Account
	interval period.Interval
	// balance is the one so far, closing the one it must come to.
	balance, closing  int64
	counterpartyNames map[ident.ExternalAccount]string
	pending           []ports.RecordedEntry
	err               error
}

const (
	// movementBatchSize is how many entries are put into words with one look at the payments.
	movementBatchSize = 500
	// maxCachedNames is how many names of other sides are remembered.
	maxCachedNames = 10_000
)

var errStopped = errors.New("no more movements are wanted")

// movements tells one movement after the other; what goes wrong ends them and stays in
// err.
func (t *narrative) movements(ctx context.Context) statement.Movements {
	return func(yield func(statement.Movement) bool) {
		err := t.view.EntriesByEffectiveTime(ctx, t.account, t.interval, func(e ports.RecordedEntry) error {
			if t.pending = append(t.pending, e); len(t.pending) < movementBatchSize {
				return nil
			}
			return t.describePending(ctx, yield)
		})
		if err == nil {
			err = t.describePending(ctx, yield)
		}
		if err == nil && t.balance != t.closing {
			err = fmt.Errorf("statement of %s: the movements come to %d and the books say %d", t.account, t.balance, t.closing)
		}
		if !errors.Is(err, errStopped) {
			t.err = err
		}
	}
}

// describePending puts what waits into words.
func (t *narrative) describePending(ctx context.Context, yield func(statement.Movement) bool) error {
	payments, err := t.loadPayments(ctx)
	if err != nil {
		return err
	}
	for _, e := range t.pending {
		m := statement.Movement{At: e.Effective, Amount: e.Amount, Note: e.Memo}
		other := e.Debit
		if e.Debit == t.account.Path {
			m.Amount, other = -e.Amount, e.Credit
		}
		m.Description = describeEntry(e.Kind, other, m.Amount)
		if payment, ok := payments[e.Transaction]; ok {
			if payment.Description != "" {
				m.Note = payment.Description
			}
			if other != ledger.IncomeFees && other != ledger.IncomeRounding {
				if m.Counterparty, err = t.counterparty(ctx, payment); err != nil {
					return err
				}
			}
		}
		t.balance += m.Amount
		m.Balance = t.balance
		if !yield(m) {
			return errStopped
		}
	}
	t.pending = t.pending[:0]
	return nil
}

func (t *narrative) loadPayments(ctx context.Context) (map[ident.Transaction]transaction.Transaction, error) {
	asked := map[ident.Transaction]bool{}
	var keys []ports.TransactionKey
	for _, e := range t.pending {
		if !e.Transaction.IsZero() && !asked[e.Transaction] {
			asked[e.Transaction] = true
			keys = append(keys, ports.TransactionKey{Platform: t.account.Platform, ID: e.Transaction})
		}
	}
	payments := make(map[ident.Transaction]transaction.Transaction, len(keys))
	if len(keys) == 0 {
		return payments, nil
	}
	found, err := t.store.TransactionsByKey(ctx, keys)
	for key, payment := range found {
		payments[key.ID] = payment
	}
	return payments, err
}

// counterparty is who stands on the other side of a payment: by name, or else by address. It
// may be nobody: money between accounts of the customer's own.
func (t *narrative) counterparty(ctx context.Context, payment transaction.Transaction) (string, error) {
	end := payment.Destination
	if payment.Type == transaction.Incoming {
		end = payment.Source
	}
	for _, fact := range []string{payment.Counterparty["FULL_NAME"], payment.Counterparty["COMPANY_LEGAL_NAME"], end.UMA} {
		if fact != "" {
			return fact, nil
		}
	}
	if end.ExternalAccount.IsZero() {
		return "", nil
	}
	if name, known := t.counterpartyNames[end.ExternalAccount]; known {
		return name, nil
	}
	name := ""
	external, err := t.store.ExternalAccount(ctx, t.account.Platform, end.ExternalAccount)
	switch {
	case fault.Is(err, fault.ExternalAccountNotFound): // it was deleted meanwhile
	case err != nil:
		return "", err
	case external.Beneficiary != nil:
		name = external.Beneficiary.Name()
	default:
		name = external.Fields["address"]
	}
	if len(t.counterpartyNames) < maxCachedNames {
		t.counterpartyNames[end.ExternalAccount] = name
	}
	return name, nil
}

// describeEntry say what an entry is to the owner of the account.
func describeEntry(kind ledger.Kind, other string, amount int64) string {
	in := amount > 0
	switch {
	case other == ledger.IncomeFees && in:
		return "Fee returned"
	case other == ledger.IncomeFees:
		return "Fee"
	case other == ledger.IncomeRounding:
		return "Rounding"
	}
	switch kind {
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
	default:
		name := strings.ReplaceAll(string(kind), "_", " ")
		return strings.ToUpper(name[:1]) + name[1:]
	}
}
