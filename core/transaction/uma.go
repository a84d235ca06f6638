package transaction

import (
	"slices"
	"strings"
	"time"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/money"
	"causeway/ledger"
)

// UMA is what the providers of a payment between UMA addresses have agreed on, if it is settled by a Lightning invoice. Pricing is
// then this provider's side: what the invoice pays is received by an outgoing payment, and sent by an incoming one.
type UMA struct {
	// Invoice pays an outgoing payment. It is empty for incoming ones: their invoice has the id of the transaction.
	Invoice string
	// Received is what the receiver of an outgoing payment gets, by the other provider.
	Received money.Amount
	// Multiplier and Fee are those of the receiving provider, in millisatoshi for one of its smallest units, and in millisatoshi.
	Multiplier money.Rate
	Fee        int64
	// Callback is the URL to which the other provider wants the channels to be reported that were used; empty for nowhere.
	Callback string
	// TravelRule is what the other provider has stated encrypted about the payer of an incoming payment.
	TravelRule string
}

// StepReportChannels reports the channels of a completed payment to its other provider.
const StepReportChannels Step = "report-channels"

// ReportsChannels reports whether the decision completes a payment whose other provider wants to know the channels that were used.
func (d Decision) ReportsChannels() bool {
	return d.Transaction.UMA != nil && d.Transaction.UMA.Callback != "" &&
		slices.ContainsFunc(d.Events, func(name string) bool { return strings.HasSuffix(name, "_PAYMENT.COMPLETED") })
}

// MaxTravelRule is the longest TravelRule, in bytes.
const MaxTravelRule = 16 << 10

// ReceiverAmount returns what the receiver of the transaction gets.
func (t Transaction) ReceiverAmount() money.Amount { return t.Pricing.ToReceiver(t.UMA) }

// ToReceiver returns what the receiver gets in the end: what the other provider says about an outgoing payment.
func (p Pricing) ToReceiver(u *UMA) money.Amount {
	if u != nil && u.Received.Currency != "" {
		return u.Received
	}
	return p.Received
}

// ReceiverRate returns how many of the smallest units that the receiver gets in the end one that is converted buys.
func (p Pricing) ReceiverRate(u *UMA) money.Rate {
	if u == nil || u.Received.Currency == "" {
		return p.Rate
	}
	rate, err := money.SimplestRate(p.Sent.Minor-p.Fees, u.Received.Minor)
	if err != nil {
		return p.Rate
	}
	return rate
}

// OtherRate returns how many of its smallest units the receiving provider gives for a satoshi, and its fee in them, rounded down.
func (u UMA) OtherRate() (money.Rate, int64, error) {
	rate, err := thousand.Div(u.Multiplier)
	if err != nil {
		return rate, 0, err
	}
	fee, err := rate.Floor(u.Fee / 1000)
	return rate, fee, err
}

var thousand = money.MustRate("1000")

// InvoiceAccount returns the account that an outgoing payment to a person at another provider is paid to: its invoice; nil for
// other transactions.
func (t Transaction) InvoiceAccount() *account.External {
	if t.Type != Outgoing || t.UMA == nil {
		return nil
	}
	return &account.External{Platform: t.Platform, Customer: t.Customer, Currency: money.BTC, Type: account.LightningType,
		Fields: map[string]string{"invoice": t.UMA.Invoice}, Rails: []corridor.Rail{corridor.Lightning}, Status: account.Active,
		CreatedAt: t.CreatedAt, UpdatedAt: t.CreatedAt}
}

// isInvoiced reports whether an incoming transaction is paid by an invoice, after its approval: only such a one has a quote.
func (t Transaction) isInvoiced() bool { return t.Type == Incoming && !t.Quote.IsZero() }

// receiveInvoiced credits an incoming payment whose invoice was paid. A node takes the payment of an invoice only while that is
// valid, so a payment that is reported late was in time. Another amount, and what nobody may receive any more, is refunded.
func (t Transaction) receiveInvoiced(r Receipt, p Parties, now time.Time) (Decision, error) {
	waits := t.IncomingState() == AwaitingPayment
	lapsed := t.State == State{Status: Failed, Reason: QuoteExpired} && t.Approval != nil && !t.Approval.ApprovedAt.IsZero()
	switch {
	case !waits && !lapsed:
		return Decision{Transaction: t, Postings: r.Surplus(), Next: StepSendBack}, nil
	case r.Amount != t.Pricing.Sent || t.CheckParties(p) != nil:
		return t.refundInvoiced(r, now), nil //nolint:nilerr // what must not be credited is refunded
	}
	t.fundedBy(r)
	settled := t.nextUpdateTime(now)
	return t.completed(settled, t.received(r.Amount, r.At), t.converted(settled)), nil
}

// refundInvoiced records the money of an incoming payment that cannot be credited, and opens its refund.
func (t Transaction) refundInvoiced(r Receipt, now time.Time) Decision {
	from, reason := t.State, QuoteExecutionFailed
	if from.Status == Failed { // its invoice had expired
		reason = from.Reason
	}
	t.fundedBy(r)
	t.setState(State{Status: Failed, Refund: RefundPending, Stage: Received, Reason: reason})
	t.UpdatedAt = t.nextUpdateTime(now)
	t.openRefund(RefundFailed, now)
	return Decision{Transaction: t, Postings: []ledger.Posting{t.received(r.Amount, r.At), t.refundOwed(now)}, Events: t.eventNames(from),
		Next: StepRefund}
}
