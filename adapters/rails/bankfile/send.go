package bankfile

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/core/account"
	"causeway/core/bankorder"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

const (
	// recallAfter is when to call again about a payment of which there is no news. News make the call due at once.
	recallAfter = 10 * time.Minute
	callTimeout = 20 * time.Second
)

// payment is what a payout, collection or refund is to a bank.
type payment struct {
	kind       bankorder.Kind
	platform   ident.Platform
	subject    uuid.UUID
	rail       corridor.Rail
	amount     money.Amount
	account    *account.External // nil if unknown
	remittance string
	addenda    string // of an ACH entry; empty for the end-to-end id
	// settled: it was done, and is asked about.
	settled bool
}

// Send implements ports.Rail.
func (a *Adapter) Send(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
	return a.call(ctx, paymentsOf(payouts, payoutPayment))
}

// Status implements ports.Rail.
func (a *Adapter) Status(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
	return a.call(ctx, paymentsOf(payouts, func(p ports.Payout) payment {
		asked := payoutPayment(p)
		asked.settled = true
		return asked
	}))
}

// Collect implements ports.Rail.
func (a *Adapter) Collect(ctx context.Context, collections []ports.Collection) []ports.Outcome {
	return a.call(ctx, paymentsOf(collections, collectionPayment))
}

// CollectionStatus implements ports.Rail.
func (a *Adapter) CollectionStatus(ctx context.Context, collections []ports.Collection) []ports.Outcome {
	return a.call(ctx, paymentsOf(collections, func(c ports.Collection) payment {
		asked := collectionPayment(c)
		asked.settled = true
		return asked
	}))
}

// Refund implements ports.Rail: the money goes back as a payment to the account that it came from.
func (a *Adapter) Refund(ctx context.Context, refunds []ports.Refund) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(refunds))
	var outside []payment
	var places []int
	for i, r := range refunds {
		if r.Internal {
			outcomes[i] = ports.Outcome{Verdict: ports.Done}
			continue
		}
		outside, places = append(outside, payment{kind: bankorder.Refund, platform: r.Platform, subject: r.ID, rail: r.Rail, amount: r.Amount,
			account: r.Original.Payer, remittance: strings.TrimSpace("Refund " + r.Reference)}), append(places, i)
	}
	for i, outcome := range a.call(ctx, outside) {
		outcomes[places[i]] = outcome
	}
	return outcomes
}

func paymentsOf[T any](items []T, convert func(T) payment) []payment {
	payments := make([]payment, len(items))
	for i, item := range items {
		payments[i] = convert(item)
	}
	return payments
}

func payoutPayment(p ports.Payout) payment {
	return payment{kind: bankorder.Payout, platform: p.Transaction.Platform, subject: p.Transaction.ID.UUID(),
		rail:   p.Transaction.DestinationRail,
		amount: p.Transaction.Pricing.Received, account: &p.Account, remittance: remittanceOf(p.Transaction), addenda: p.Transaction.Remittance}
}

func collectionPayment(c ports.Collection) payment {
	return payment{kind: bankorder.Collection, platform: c.Transaction.Platform, subject: c.Transaction.ID.UUID(),
		rail:   c.Transaction.SourceRail,
		amount: c.Transaction.Pricing.Sent, account: &c.Account, remittance: remittanceOf(c.Transaction)}
}

func remittanceOf(t transaction.Transaction) string {
	return cmp.Or(t.TextForBeneficiary(), t.Reference)
}

// call stores the orders of payments that have none, and returns what is known of each.
func (a *Adapter) call(ctx context.Context, payments []payment) []ports.Outcome {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	outcomes := make([]ports.Outcome, len(payments))
	keys := make([]OrderKey, len(payments))
	for i, p := range payments {
		keys[i] = OrderKey{Platform: p.platform, ID: bankorder.IDOf(p.kind, p.subject)}
	}
	stored, err := a.store.OrdersByKey(ctx, keys)
	if err != nil {
		return a.unknown(outcomes, err)
	}
	now := a.clock.Now()
	var added []bankorder.Order
	for i, p := range payments {
		if order, known := stored[keys[i]]; known && !a.canTakeOver(order) || p.settled {
			continue
		}
		order, problem := a.orderOf(p, now)
		if problem != "" {
			outcomes[i] = ports.Outcome{Verdict: ports.Refused, Reason: refusalOf(p.kind, "").Reason, Text: problem}
			continue
		}
		added = append(added, order)
	}
	after, err := a.store.AddOrders(ctx, added)
	if err != nil {
		return a.unknown(outcomes, err)
	}
	for _, o := range after {
		stored[OrderKey{Platform: o.Platform, ID: o.ID}] = o
	}
	for i, p := range payments {
		if order, known := stored[keys[i]]; known {
			outcomes[i] = a.outcomeOf(order, p.settled, now)
		} else if p.settled {
			// Orders are kept for longer than any bank returns one.
			outcomes[i] = ports.Outcome{Verdict: ports.Done}
		}
	}
	return outcomes
}

// canTakeOver reports whether an order is of a payment that was moved to this connection before it was in a file.
func (a *Adapter) canTakeOver(o bankorder.Order) bool {
	return o.State == bankorder.Queued && o.Connection != a.connection.Name
}

func (a *Adapter) unknown(outcomes []ports.Outcome, err error) []ports.Outcome {
	a.log.WithError(err).Warn("cannot store payment orders for the bank; the calls are repeated")
	for i := range outcomes {
		outcomes[i] = ports.Outcome{Verdict: ports.Unknown}
	}
	return outcomes
}

func refusalOf(k bankorder.Kind, code string) transaction.Refusal {
	if k == bankorder.Collection {
		return transaction.CollectionRefusal(code)
	}
	return transaction.PayoutRefusal(code)
}

// orderOf returns the order for a payment, or why no file can carry it.
func (a *Adapter) orderOf(p payment, now time.Time) (bankorder.Order, string) {
	switch {
	case p.account == nil:
		return bankorder.Order{}, "the bank has not named the account that the money came from"
	case !slices.Contains(a.connection.Rails, p.rail):
		return bankorder.Order{}, fmt.Sprintf("the connection carries no %s", p.rail)
	case !slices.Contains(a.connection.Currencies, p.amount.Currency):
		return bankorder.Order{}, fmt.Sprintf("the connection carries no %s", p.amount.Currency)
	case p.amount.Minor <= 0:
		return bankorder.Order{}, "the amount is not above zero"
	case p.kind == bankorder.Collection && p.rail != corridor.ACH:
		return bankorder.Order{}, fmt.Sprintf("the connection collects by ACH only, not by %s", p.rail)
	}
	o := bankorder.Order{Platform: p.platform, ID: bankorder.IDOf(p.kind, p.subject), Subject: p.subject, Kind: p.kind,
		Connection: a.connection.Name,
		Rail:       p.rail, Amount: p.amount, EndToEndID: bankorder.EndToEndIDOf(p.kind, p.subject), Counterparty: counterpartyOf(*p.account),
		Remittance: p.remittance, Addenda: p.addenda, State: bankorder.Queued, QueuedAt: now}
	o.Key = rail.ShortID(o.EndToEndID)
	if p.rail == corridor.ACH {
		o.Batch = a.batchOf(o)
	}
	if err := a.checkOrder(o); err != nil {
		return o, err.Error()
	}
	return o, ""
}

func counterpartyOf(e account.External) bankorder.Counterparty {
	c := bankorder.Counterparty{Fields: map[string]string{}}
	for _, name := range []string{"iban", "swiftCode", "country", "routingNumber", "accountNumber", "bankAccountType", "bankName"} {
		if value := e.Fields[name]; value != "" {
			c.Fields[name] = value
		}
	}
	if b := e.Beneficiary; b != nil {
		c.Name, c.Business = b.Name(), b.Type == account.Business
		if b.Address != nil {
			address := *b.Address
			c.Address = &address
		}
	}
	return c
}

// outcomeOf returns what is known of an order. An order that settled and was returned is done for a call that does not
// know yet that it has settled; the next one, about a payment that is done, says that it was returned.
func (a *Adapter) outcomeOf(o bankorder.Order, settled bool, now time.Time) ports.Outcome {
	outcome := ports.Outcome{PartnerID: o.PartnerID, Accepted: !o.AcceptedAt.IsZero()}
	switch {
	case o.State == bankorder.Returned && (settled || o.SettledAt.IsZero()):
		outcome.Verdict, outcome.Code, outcome.Text, outcome.ReturnedAt = ports.Returned, o.Code, o.Text, o.ReturnedAt
		if !settled { // it never arrived
			outcome.Verdict, outcome.Reason, outcome.ReturnedAt = ports.Refused, refusalOf(o.Kind, o.Code).Reason, time.Time{}
		}
	case o.State == bankorder.Returned:
		outcome.Verdict, outcome.Accepted, outcome.RetryAt = ports.Done, true, now
	case o.State == bankorder.Settled:
		outcome.Verdict, outcome.Accepted = ports.Done, true
		if until := o.SettledAt.AddDate(0, 0, a.settings.returnDays); until.After(now) && o.Kind != bankorder.Refund {
			outcome.RetryAt = until
		}
	case o.State == bankorder.Rejected:
		// A bank does not try an order again that it has rejected, also where the cause passes.
		outcome.Verdict, outcome.Reason, outcome.Code, outcome.Text = ports.Refused, refusalOf(o.Kind, o.Code).Reason, o.Code, o.Text
	default:
		outcome.Verdict, outcome.RetryAt = ports.Waiting, now.Add(recallAfter)
		if o.State == bankorder.Pending {
			outcome.Code, outcome.Text = o.Code, o.Text
		}
	}
	return outcome
}
