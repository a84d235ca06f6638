package transaction_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ledger"
)

// postedBy returns a posting as the ledger has it, redated if its month is closed.
func postedBy(p ledger.Posting, recorded time.Time, redated bool) transaction.Posted {
	if redated {
		p = p.Redate(p.Effective.AddDate(0, 1, 0))
	}
	digest := p.Digest()
	return transaction.Posted{ID: p.ID, Kind: p.Kind, Effective: p.Effective, Recorded: recorded, Memo: p.Memo, Digest: digest[:]}
}

// evidenceOf returns evidence without postings, in which the accounts are as the transaction says.
func evidenceOf(tx transaction.Transaction) (e transaction.Evidence) {
	internalAt := func(end transaction.Endpoint, path string) *account.Internal {
		if end.InternalAccount.IsZero() {
			return nil
		}
		found := &account.Internal{ID: end.InternalAccount, Currency: end.Currency}
		if ledger.IsWallet(path) {
			found.Type = account.EmbeddedWallet
		}
		if path != ledger.PlatformAccount(end.InternalAccount) {
			found.Customer = tx.Customer
		}
		return found
	}
	e.FromInternal, e.ToInternal = internalAt(tx.Source, tx.SourceAccount), internalAt(tx.Destination, tx.DestinationAccount)
	if !tx.Source.ExternalAccount.IsZero() {
		e.FromExternal = &account.External{Customer: tx.Customer}
	}
	if !tx.Destination.ExternalAccount.IsZero() {
		e.ToExternal = &account.External{Customer: tx.Customer}
	}
	return e
}

func TestTransaction_EvidenceExplainsIt(t *testing.T) {
	t.Parallel()
	// After any events in any order, also with postings that were redated and a clock that was set back, the
	// postings explain the transaction; and not one with another status, amount, account, reference, owner or
	// time.
	rapid.Check(t, func(t *rapid.T) {
		now, recorded, tx := noon, noon, anyTransaction(t)
		tx.Customer.SetUUID(uuid.UUID{1})
		evidence := evidenceOf(tx)
		closed := rapid.Bool().Draw(t, "month closed")
		for step := range rapid.IntRange(1, 12).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(-1, 200).Draw(t, "seconds")) * time.Second)
			if now.After(recorded) {
				recorded = now
			}
			d, err := applyRandomEvent(t, tx, now, step)
			if err != nil {
				continue
			}
			if tx.Receipt != d.Transaction.Receipt { // applyRandomEvent does not return the receipt
				received := d.Postings[0]
				evidence.Receipt = &transaction.Receipt{ID: d.Transaction.Receipt, Rail: d.Transaction.SourceRail, Reference: tx.Reference,
					Amount: d.Transaction.Funded, At: received.Effective}
			}
			starts := tx.State == transaction.Initial && d.Transaction.State == transaction.TransferInitial
			if tx = d.Transaction; starts {
				tx.UpdatedAt = now // a transfer is created when it starts
			}
			for _, p := range d.Postings {
				if p.Transaction == tx.ID {
					recorded = recorded.Add(time.Microsecond)
					evidence.Posted = append(evidence.Posted, postedBy(p, recorded, closed))
				}
			}
			if err := tx.CheckEvidence(evidence); err != nil {
				t.Fatal(err)
			}
		}
		if len(evidence.Posted) == 0 {
			return
		}
		for name, change := range changesOf(tx) {
			changed := tx
			if tx.Refund != nil {
				refund := *tx.Refund
				changed.Refund = &refund
			}
			change(&changed)
			if changed.CheckEvidence(evidence) == nil {
				t.Errorf("%s: %s is not found of a %s transaction", tx.State, name, tx.Flow().Funding)
			}
		}
	})
}

// changesOf returns changes that the postings of a transaction contradict.
func changesOf(tx transaction.Transaction) map[string]func(*transaction.Transaction) {
	changes := map[string]func(*transaction.Transaction){
		"a reference":        func(t *transaction.Transaction) { t.Reference += "x" },
		"a time of creation": func(t *transaction.Transaction) { t.CreatedAt = t.CreatedAt.AddDate(0, 2, 0) },
		"a time of change":   func(t *transaction.Transaction) { t.UpdatedAt = t.UpdatedAt.AddDate(0, -2, 0) },
		"a settlement": func(t *transaction.Transaction) {
			if t.SettledAt.IsZero() {
				t.SettledAt = noon
			} else {
				t.SettledAt = time.Time{}
			}
		},
		"money that was received": func(t *transaction.Transaction) { t.Funded.Minor++ },
		"a reason": func(t *transaction.Transaction) {
			if t.State.Status != transaction.Failed {
				t.State.Reason = transaction.QuoteExpired
			} else {
				t.State.Status = transaction.Completed
			}
		},
	}
	for _, status := range []transaction.Status{transaction.Pending, transaction.Processing, transaction.Completed, transaction.Failed,
		transaction.Expired} {
		// The acceptance of a transfer by its rail is no posting.
		accepted := tx.State.Stage == transaction.Converted && tx.State.Refund == transaction.NoRefund &&
			(status == transaction.Pending || status == transaction.Processing)
		if status != tx.State.Status && !accepted {
			changes["the status "+string(status)] = func(t *transaction.Transaction) { t.State.Status = status }
		}
	}
	if tx.State.Stage == transaction.Converted || tx.State.Stage == transaction.Delivered {
		changes["a sent amount"] = func(t *transaction.Transaction) { t.Pricing.Sent.Minor++ }
		changes["a received amount"] = func(t *transaction.Transaction) { t.Pricing.Received.Minor++ }
		changes["a received currency"] = func(t *transaction.Transaction) { t.Pricing.Received.Currency = money.EUR }
		changes["a fee"] = func(t *transaction.Transaction) { t.Pricing.Fees++ }
	}
	if tx.State.Stage == transaction.Delivered {
		changes["a destination"] = func(t *transaction.Transaction) { t.DestinationAccount = ledger.Rail("WIRE") }
	}
	if !tx.Source.InternalAccount.IsZero() || !tx.Source.ExternalAccount.IsZero() {
		changes["a customer"] = func(t *transaction.Transaction) { t.Customer = ident.Customer{} }
	}
	if !tx.Receipt.IsZero() {
		changes["a receipt"] = func(t *transaction.Transaction) { t.Receipt = ident.Receipt{} }
		changes["a source"] = func(t *transaction.Transaction) { t.SourceAccount = ledger.Rail("WIRE") }
		changes["a rail"] = func(t *transaction.Transaction) { t.SourceRail = "WIRE" }
	}
	if tx.Refund != nil {
		changes["a refund"] = func(t *transaction.Transaction) { t.Refund.InitiatedAt = t.Refund.InitiatedAt.AddDate(0, 0, 1) }
	}
	return changes
}
