package simulation_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"causeway/app/internal/uow"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/price"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/core/uma"
	"causeway/ports"
)

// invoicedPayment is sent by a person at another provider to a customer, and is to be paid by an invoice once the platform has approved
// it. How the other provider asks for it is not simulated.
func (w *world) invoicedPayment(i *intent, amount int64, to ident.InternalAccount, _ ident.ExternalAccount) {
	a := w.internal[to]
	owner := w.customers[a.Customer]
	i.name, i.created = fmt.Sprintf("invoice of %d from %s to %s", amount, otherProvider, to), true
	ask := uma.Ask{Currency: a.Currency, Amount: amount}
	offer, err := ask.Price(money.MustRate("0.07"), price.Fee{})
	if err != nil || a.Currency == money.USDB {
		w.umaPayment(i, amount, to, ident.ExternalAccount{})
		return
	}
	i.do = func(ctx context.Context, p *process, r *ports.IdempotentRequest) (id ident.Transaction, err error) {
		now := w.now
		in := quote.Incoming{Quote: ident.NewQuote(w.newID, now), Transaction: ident.NewTransaction(w.newID, now), Sender: otherProvider,
			Ask: ask, Offer: offer, Market: money.MustRate("0.07"), Now: now,
			Terms:    corridor.Terms{Lock: time.Hour},
			Approval: transaction.Approval{Webhook: ident.NewWebhook(w.newID, now)}}
		err = store{process: p}.Do(ctx, func(ctx context.Context, tx *tx) error {
			q, d, err := in.Make(transaction.IncomingParties{To: &a, Owner: &owner}, 0)
			if err != nil {
				return err
			}
			done := uow.NewWork(now, p, 0)
			if err := tx.CreateQuotes(ctx, []quote.Quote{q}, nil); err != nil {
				return err
			}
			done.Create(d)
			done.EnqueueAt(a.Platform, transaction.StepExpire, d.Transaction.ID.UUID(), d.Transaction.ExpiresAt)
			if err := tx.SaveResponse(ctx, r, d.Transaction, nil); err != nil {
				return err
			}
			return done.Write(ctx, tx)
		})
		return in.Transaction, err
	}
}

// checkInvoiced checks that of a payment that could not be credited nothing is with its receiver: a person decides about the money.
func (w *world) checkInvoiced(t transaction.Transaction) {
	if !t.Flow().Invoiced {
		return
	}
	if t.State.Refund == transaction.RefundCompleted {
		w.fail("%s is %s, and nobody knows on the network who has paid it", t.ID, t.State)
	}
	for _, p := range w.postings {
		if p.Transaction != t.ID || t.State.Status == transaction.Completed {
			continue
		}
		for _, e := range p.Entries {
			if strings.HasPrefix(e.Credit, "customers/") || strings.HasPrefix(e.Credit, "platform/") {
				w.fail("%s is %s, and %s has %d of it", t.ID, t.State, e.Credit, e.Amount)
			}
		}
	}
}
