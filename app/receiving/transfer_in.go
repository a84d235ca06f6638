package receiving

import (
	"context"
	"time"

	"causeway/app/internal/batch"
	"causeway/app/internal/uow"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// TransferInRequest asks for money to be pulled from an external account to an internal one of
// the same currency and owner.
type TransferInRequest struct {
	From   ident.ExternalAccount
	To     ident.InternalAccount
	Amount int64
}

type transferInCommand struct {
	TransferInRequest
	platform    ident.Platform
	id          ident.Transaction
	idempotency *ports.IdempotentRequest
}

// TransferIn sets out to pull the money, and answers the transaction, which is PENDING
// until the rail says how it went. Faults: INVALID_INPUT, EXTERNAL_ACCOUNT_NOT_FOUND,
// INTERNAL_ACCOUNT_NOT_FOUND, INVALID_CURRENCY, CUSTOMER_DELETED, USER_NOT_READY,
// AMOUNT_OUT_OF_RANGE, NOT_IMPLEMENTED.
func (r *IncomingService) TransferIn(ctx context.Context, who platform.Principal, t TransferInRequest, claim *ports.IdempotentRequest) (transaction.Transaction, error) {
	if err := who.CheckPermission(platform.Transact); err != nil {
		return transaction.Transaction{}, err
	}
	if t.Amount < 1 || t.Amount > money.MaxMinor {
		return transaction.Transaction{}, fault.Invalid(fault.Field{Field: "amount",
			Message:    "must be a whole number of the smallest currency unit, from 1 to 9000000000000000",
			Constraint: map[string]any{"minimum": 1, "maximum": money.MaxMinor}})
	}
	if _, err := r.Rails.RailFor(who.Platform); err != nil {
		return transaction.Transaction{}, err
	}
	return r.transferInBatcher.Do(ctx, transferInCommand{t, who.Platform, ident.NewTransaction(r.IDs.New, r.Clock.Now()), claim})
}

func (r *IncomingService) transferInBatch(ctx context.Context, commands []transferInCommand) ([]batch.Result[transaction.Transaction], error) {
	keys := make([]ports.IncomingPaymentKey, len(commands))
	for i, c := range commands {
		keys[i] = ports.IncomingPaymentKey{Platform: c.platform, To: c.To, From: c.From}
	}
	var results []batch.Result[transaction.Transaction]
	var done work
	err := r.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		results, done = make([]batch.Result[transaction.Transaction], len(commands)), r.newWork()
		parties, err := tx.IncomingPaymentParties(ctx, keys)
		if err != nil {
			return err
		}
		balances, err := tx.Balances(ctx, receivingAccounts(parties))
		if err != nil {
			return err
		}
		for i, c := range commands {
			results[i].Value, results[i].Err = done.transferIn(c, parties[i], balances)
			if err := uow.SaveResponse(ctx, tx, c.idempotency, results[i].Value, results[i].Err); err != nil {
				return err
			}
		}
		return done.Write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	r.afterCommit(done)
	return results, nil
}

// transferIn decides about one request.
func (w work) transferIn(c transferInCommand, p ports.IncomingPaymentParties, balances map[ledger.Account]int64) (transaction.Transaction, error) {
	if p.From == nil {
		return transaction.Transaction{}, fault.New(fault.ExternalAccountNotFound, "There is no external account %s.", c.From)
	}
	if err := checkReceivable(p, c.To, "destination.accountId"); err != nil {
		return transaction.Transaction{}, err
	}
	if p.Owner != nil {
		if err := p.Owner.CheckReady(); err != nil {
			return transaction.Transaction{}, err
		}
	}
	if p.From.Currency != p.To.Currency {
		return transaction.Transaction{}, fault.New(fault.InvalidCurrency,
			"The external account is in %s and the internal one in %s. A transfer does not convert; create a quote.", p.From.Currency, p.To.Currency)
	}
	rail, err := pullAccount(*p.From, *p.To)
	if err != nil {
		return transaction.Transaction{}, err
	}
	if err := account.CheckCapacity(balances[ledgerAccount(*p.To)], money.Amount{Minor: c.Amount, Currency: p.To.Currency}); err != nil {
		return transaction.Transaction{}, err
	}
	in := newIncomingPayment(c.id, *p.To, p.Owner, c.Amount)
	in.Source.ExternalAccount, in.PartnerAccount = p.From.ID, rail
	d := in.RequestFunds(w.Now)
	w.Create(d)
	return d.Transaction, nil
}

// pullAccount is where the money comes in, in the books, if it can be pulled at all.
func pullAccount(from account.External, to account.Internal) (string, error) {
	var bad []fault.Field
	if from.Customer != to.Customer {
		bad = append(bad, fault.Field{Field: "source.accountId", Message: "belongs to another owner than the internal account; use an account of the same one"})
	}
	rail, can := from.PullRail()
	if !can {
		bad = append(bad, fault.Field{Field: "source.accountId",
			Message: "cannot be debited: money is pulled from active US bank accounts only. Pay in by the fundingPaymentInstructions of the internal account instead"})
	}
	if len(bad) > 0 {
		return "", fault.Invalid(bad...)
	}
	return quote.RailPath(rail), nil
}

// noRailDelay is how long a transfer waits when nothing is connected that could pull it.
const noRailDelay = time.Minute

// collect asks external accounts for the money of transfers, outside of any unit of
// work, and settles what the rails answer in one.
func (r *IncomingService) collect(ctx context.Context, jobs []ports.Job) error {
	collections, err := r.Store.Collections(ctx, uow.TransactionKeys(jobs))
	if err != nil {
		return err
	}
	outcomes := map[ports.TransactionKey]ports.Outcome{}
	sorted := map[ports.Rail][]ports.Collection{}
	for _, c := range collections {
		if c.Transaction.IncomingState() != transaction.AwaitingFunds {
			continue // settled by an earlier attempt
		}
		rail, err := r.Rails.RailFor(c.Transaction.Platform)
		if err != nil {
			r.Log.WithError(err).WithField("transaction", c.Transaction.ID.String()).Error("no rail for a transfer in")
			outcomes[transactionKey(c.Transaction)] = ports.Outcome{Verdict: ports.Unknown, RetryAt: r.Clock.Now().Add(noRailDelay)}
			continue
		}
		sorted[rail] = append(sorted[rail], c)
	}
	for rail, batch := range sorted {
		for i, outcome := range rail.Collect(ctx, batch) {
			outcomes[transactionKey(batch[i].Transaction)] = outcome
		}
	}
	keys := make([]ports.TransactionKey, 0, len(outcomes))
	answers := make([]ports.RailReply, 0, len(outcomes))
	now := r.Clock.Now()
	for key, outcome := range outcomes {
		keys = append(keys, key)
		answers = append(answers, ports.RailReply{Platform: key.Platform, Subject: key.ID.UUID(), Call: ports.CallCollect, At: now, Outcome: outcome})
	}
	return r.settle(ctx, jobs, keys, func(w work, t transaction.Transaction) error {
		if t.IncomingState() != transaction.AwaitingFunds {
			return nil
		}
		return w.settlePull(t, outcomes[transactionKey(t)])
	}, answers...)
}

// settlePull decides about what a rail said of a transfer.
func (w work) settlePull(t transaction.Transaction, o ports.Outcome) error {
	var d transaction.Decision
	var err error
	switch o.Verdict {
	case ports.Done:
		d, err = t.Arrived(w.Now)
	case ports.Refused:
		d, err = t.Failed(o.Reason, w.Now)
	default: // waiting, or the rail could not be asked
		again := o.RetryAt
		if again.IsZero() {
			again = w.Now.Add(5 * time.Second)
		}
		w.EnqueueAt(t.Platform, transaction.StepPull, t.ID.UUID(), again)
		return nil
	}
	if err == nil {
		w.Update(d)
	}
	return err
}
