package payments

import (
	"context"

	"causeway/app/internal/batch"
	"causeway/app/internal/uow"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
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
func (s *Service) TransferIn(ctx context.Context, platform ident.Platform, t TransferInRequest, claim *ports.IdempotentRequest) (transaction.Transaction, error) {
	if t.Amount < 1 || t.Amount > money.MaxMinor {
		return transaction.Transaction{}, fault.Invalid(fault.Field{Field: "amount",
			Message:    "must be a whole number of the smallest currency unit, from 1 to 9000000000000000",
			Constraint: map[string]any{"minimum": 1, "maximum": money.MaxMinor}})
	}
	if _, err := s.Rails.RailFor(platform); err != nil {
		return transaction.Transaction{}, err
	}
	return s.transferInBatcher.Do(ctx, transferInCommand{t, platform, ident.NewTransaction(s.IDs.New, s.Clock.Now()), claim})
}

func (s *Service) transferInBatch(ctx context.Context, commands []transferInCommand) ([]batch.Result[transaction.Transaction], error) {
	keys := make([]ports.IncomingPaymentKey, len(commands))
	for i, c := range commands {
		keys[i] = ports.IncomingPaymentKey{Platform: c.platform, To: c.To, From: c.From}
	}
	var results []batch.Result[transaction.Transaction]
	var done work
	err := s.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		results, done = make([]batch.Result[transaction.Transaction], len(commands)), s.newWork()
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
	s.afterCommit(done)
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
