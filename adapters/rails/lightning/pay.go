package lightning

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"causeway/core/account"
	"causeway/core/lightning"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

// Codes of what the service refuses itself. Others are those of the node, such as NO_ROUTE.
const (
	codeNoPayer     = "NO_PAYER"
	codeDestination = "DESTINATION"
	codeExpired     = "EXPIRED"
	codePaidBefore  = "PAID_BEFORE"
	codeAddress     = "ADDRESS"
	codeRefused     = "REFUSED"
)

const (
	// grace is how long after it was sent nothing is concluded from the node not knowing a payment, or from an attempt that has failed: the
	// call that sends it may still be on its way.
	grace = 90 * time.Second
	// sendWithin is how long after it has left a payment is sent at the latest, also by a process that was suspended; it is far below grace.
	sendWithin = 20 * time.Second
	// waitNew and waitSent are after how long a payment is asked about again, if the feed reports nothing before.
	waitNew  = time.Minute
	waitSent = 2 * time.Minute
	// askAddressFor is how long an address is asked for an invoice.
	askAddressFor = time.Hour
	// maxParallel is how many payments a call makes at once.
	maxParallel = 16
)

// request is a payout that somebody asks for.
type request struct {
	key ports.RailPaymentKey
	// invoice or address is paid.
	invoice, address string
	destination      [32]byte
	amount           money.Amount
}

func requestOf(p ports.Payout) request {
	q := request{key: ports.RailPaymentKey{Platform: p.Transaction.Platform, ID: p.Transaction.ID.UUID(), Kind: rail.Payout},
		amount: p.Transaction.Pricing.Received, destination: sha256.Sum256([]byte(p.Account.Identifier()))}
	if p.Account.Type == account.LightningType {
		q.invoice, q.address = p.Account.Fields["invoice"], p.Account.Fields["lightningAddress"]
	}
	return q
}

// check returns why a payment can never be made, or nothing. It depends on nothing that changes.
func (r *Rail) check(q request) string {
	switch {
	case q.amount.Currency != money.BTC:
		return fmt.Sprintf("This node pays BTC and not %s.", q.amount.Currency)
	case q.invoice == "" && q.address == "":
		return "Only invoices (BOLT 11) and Lightning addresses are paid."
	case q.invoice == "":
		return ""
	}
	i, err := lightning.ParseInvoice(q.invoice)
	switch {
	case err != nil:
		return fmt.Sprintf("The invoice %v.", err)
	case i.Network != r.settings.network:
		return fmt.Sprintf("The invoice is not of the network %s.", nameOf(r.settings.network))
	case i.MilliSatoshis != 0 && (i.MilliSatoshis+milli-1)/milli != q.amount.Minor:
		return fmt.Sprintf("The invoice asks for %d thousandths of a satoshi, and the payment is of %d.", i.MilliSatoshis, q.amount.Minor*milli)
	}
	return ""
}

// pay returns the outcomes of payouts; it makes those that are new if it may.
func (r *Rail) pay(ctx context.Context, payouts []ports.Payout, start bool) []ports.Outcome {
	requests := make([]request, len(payouts))
	keys := make([]ports.RailPaymentKey, len(payouts))
	for i, p := range payouts {
		requests[i] = requestOf(p)
		keys[i] = requests[i].key
	}
	reasons := make([]string, len(payouts))
	err := r.advance(ctx, requests, keys, start, reasons)
	var kept map[ports.RailPaymentKey]Payment
	if err == nil {
		kept, err = r.Store.Payments(ctx, r.Connection.Name, keys)
	}
	outcomes := make([]ports.Outcome, len(payouts))
	for i, q := range requests {
		outcomes[i] = r.outcome(q, kept[q.key], reasons[i], err)
	}
	return outcomes
}

// advance does for each payment what can be done now. It sets the reasons for which some are not sent.
func (r *Rail) advance(ctx context.Context, requests []request, keys []ports.RailPaymentKey, start bool, reasons []string) error {
	known, err := r.Store.Payments(ctx, r.Connection.Name, keys)
	if err != nil {
		return err
	}
	var added []Payment
	for _, q := range requests {
		if _, kept := known[q.key]; start && !kept && r.check(q) == "" {
			added = append(added, Payment{RailPaymentKey: q.key, Destination: q.destination, Satoshis: q.amount.Minor, CreatedAt: r.Clock.Now()})
		}
	}
	if len(added) > 0 {
		fresh, err := r.Store.AddPayments(ctx, r.Connection.Name, added)
		if err != nil {
			return err
		}
		for key, p := range fresh {
			known[key] = p
		}
	}
	slots := make(chan struct{}, maxParallel)
	var running sync.WaitGroup
	for i, q := range requests {
		p, kept := known[q.key]
		if !kept || !p.isOf(q) || p.Status == Paid || p.Status == Failed {
			continue
		}
		slots <- struct{}{}
		running.Go(func() {
			defer func() {
				<-slots
				if failure := recover(); failure != nil {
					reasons[i] = fmt.Sprintf("panic: %v", failure)
				}
			}()
			if err := r.advanceOne(ctx, q, p, start); err != nil {
				reasons[i] = err.Error()
			}
		})
	}
	running.Wait()
	return nil
}

// isOf reports whether a request is that of the payment.
func (p Payment) isOf(q request) bool {
	return p.Destination == q.destination && p.Satoshis == q.amount.Minor
}

// advanceOne does what can be done for a payment that has not ended. What another process has changed meanwhile is no error.
func (r *Rail) advanceOne(ctx context.Context, q request, p Payment, start bool) error {
	var err error
	switch {
	case ctx.Err() != nil:
		return errors.New("there was no time for it")
	case p.Status == Sent:
		err = r.follow(ctx, p, &q, start)
	case start:
		err = r.begin(ctx, q, p)
	}
	if errors.Is(err, ErrChanged) {
		return nil
	}
	return err
}

// begin sends a payment that is not sent.
func (r *Rail) begin(ctx context.Context, q request, p Payment) error {
	a, err := r.attempt(ctx, q, p)
	var never *refusal
	switch {
	case errors.As(err, &never):
		return r.Store.Refuse(ctx, r.Connection.Name, p.RailPaymentKey, codeOf(q), sentence(never.text))
	case err != nil:
		since, errStore := r.Store.AskedAt(ctx, r.Connection.Name, p.RailPaymentKey)
		if errStore == nil && r.Clock.Now().Sub(since) > askAddressFor {
			return r.Store.Refuse(ctx, r.Connection.Name, p.RailPaymentKey, codeAddress, sentence(err.Error()))
		}
		return errors.Join(err, errStore)
	}
	ctx, cancel := context.WithTimeout(ctx, sendWithin)
	defer cancel()
	switch err := r.Store.Leave(ctx, r.Connection.Name, p.RailPaymentKey, a); {
	case errors.Is(err, ErrPaidBefore):
		return r.Store.Refuse(ctx, r.Connection.Name, p.RailPaymentKey, codePaidBefore, "The invoice is paid by another payment.")
	case errors.Is(err, ErrHeld):
		return errors.New("it may not leave now")
	case err != nil:
		return err
	}
	p.Attempt = a
	return r.order(ctx, q, p)
}

// codeOf returns the code of what is wrong with a destination.
func codeOf(q request) string {
	if q.invoice != "" {
		return codeExpired
	}
	return codeAddress
}

func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// attempt returns the invoice with which a payment is made: its own, or one of its address.
func (r *Rail) attempt(ctx context.Context, q request, p Payment) (Attempt, error) {
	now := r.Clock.Now()
	if q.invoice != "" {
		i, err := lightning.ParseInvoice(q.invoice)
		if err == nil && !i.ExpiresAt.After(now) {
			err = errors.New("has expired")
		}
		if err != nil {
			return Attempt{}, refused("the invoice %v", err)
		}
		return Attempt{Hash: i.PaymentHash, ExpiresAt: i.ExpiresAt}, nil
	}
	if p.Invoice != "" && p.ExpiresAt.After(now.Add(r.settings.payFor)) {
		return p.Attempt, nil
	}
	i, text, err := r.payees.invoice(ctx, q.address, p.Satoshis, r.settings.network)
	if err != nil {
		return Attempt{}, err
	}
	if !i.ExpiresAt.After(now) {
		return Attempt{}, errors.New("the address gives an invoice that has expired")
	}
	return Attempt{Invoice: text, Hash: i.PaymentHash, ExpiresAt: i.ExpiresAt}, nil
}

// order asks the node to pay what has left, and keeps what becomes of it.
func (r *Rail) order(ctx context.Context, q request, p Payment) error {
	order := payOrder{invoice: p.Invoice, hash: p.Hash, maxFee: r.settings.maxFee(p.Satoshis), payFor: r.settings.payFor}
	if order.invoice == "" {
		order.invoice = q.invoice
		if i, err := lightning.ParseInvoice(q.invoice); err == nil && i.MilliSatoshis == 0 {
			order.satoshis = p.Satoshis
		}
	}
	became, err := r.node.pay(ctx, order)
	if err == nil {
		return r.keep(ctx, p, became)
	}
	var said *answer
	if !errors.As(err, &said) {
		return err
	}
	// It has not begun with this call, and may have before.
	became, err = r.node.track(ctx, p.Hash)
	switch {
	case err != nil:
		return err
	case became.stage == inFlight || became.stage == succeeded:
		return r.keep(ctx, p, became)
	case said.permanent:
		return r.Store.Fail(ctx, r.Connection.Name, p, codeRefused, sentence(said.message))
	}
	return r.Store.NotTaken(ctx, r.Connection.Name, p, codeRefused, sentence(said.message))
}

// keep keeps what became of a payment at the node.
func (r *Rail) keep(ctx context.Context, p Payment, became state) error {
	switch became.stage {
	case succeeded:
		fee := became.feeMilliSatoshis
		if became.milliSatoshis > 0 { // less than whole satoshis, if the invoice asks for fractions of one
			fee -= p.Satoshis*milli - became.milliSatoshis
		}
		return r.Store.Pay(ctx, r.Connection.Name, p, fee)
	case notKnown, inFlight:
	case failed:
		switch became.reason {
		case insufficientBalance:
			return r.Store.NotTaken(ctx, r.Connection.Name, p, became.reason, "The channels of the node hold too little.")
		case noChannel:
			return r.Store.NotTaken(ctx, r.Connection.Name, p, became.reason, "The channel of the node is not ready.")
		}
		return r.Store.Fail(ctx, r.Connection.Name, p, became.reason, "The node could not pay it.")
	}
	return nil
}

// follow asks what became of a payment that was sent. If the node does not know it, it is sent again if that may be, for which the
// request is needed.
func (r *Rail) follow(ctx context.Context, p Payment, q *request, again bool) error {
	became, err := r.node.track(ctx, p.Hash)
	if err != nil {
		return err
	}
	now := r.Clock.Now()
	switch {
	case became.stage == inFlight:
		return nil
	case became.stage == succeeded:
		return r.keep(ctx, p, became)
	case now.Sub(p.SentAt) < grace:
		return nil // the call that sends it may be on its way
	case became.stage == failed:
		return r.keep(ctx, p, became)
	case now.Sub(p.ExpiresAt) > grace && p.Invoice == "": // the node pays no invoice that has expired
		return r.Store.Fail(ctx, r.Connection.Name, p, codeExpired, "The invoice has expired.")
	case now.Sub(p.ExpiresAt) > grace:
		return r.Store.NotTaken(ctx, r.Connection.Name, p, codeExpired, "The invoice of the address has expired.")
	case q == nil || !again:
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, sendWithin)
	defer cancel()
	switch err := r.Store.LeaveAgain(ctx, r.Connection.Name, p); {
	case errors.Is(err, ErrHeld):
		return errors.New("it may not leave now")
	case err != nil:
		return err
	}
	return r.order(ctx, *q, p)
}

// outcome is what became of a payment as it is kept.
func (r *Rail) outcome(q request, p Payment, reason string, err error) ports.Outcome {
	now := r.Clock.Now()
	switch {
	case err != nil:
		return ports.Outcome{Verdict: ports.Unknown, Text: err.Error()}
	case p.Status == "":
		if problem := r.check(q); problem != "" {
			return ports.Outcome{Verdict: ports.Refused, Reason: transaction.LightningFailed, Code: codeDestination, Text: problem}
		}
		return ports.Outcome{Verdict: ports.Unknown, Text: "The connection has no such payment."}
	case !p.isOf(q):
		return ports.Outcome{Verdict: ports.Unknown, Text: "The connection has another payment with this id."}
	case p.Status == Paid:
		return ports.Outcome{Verdict: ports.Done, Accepted: true, PartnerID: p.Hash.String()}
	case p.Status == Failed:
		return ports.Outcome{Verdict: ports.Refused, Reason: transaction.LightningFailed, Code: p.Code, Text: p.Problem}
	case p.Status == Sent:
		return ports.Outcome{Verdict: ports.Waiting, Accepted: true, PartnerID: p.Hash.String(), Text: sentText(reason),
			RetryAt: now.Add(waitSent)}
	default:
		if reason == "" {
			reason = p.Problem
		}
		return ports.Outcome{Verdict: ports.Waiting, Code: p.Code, Text: reason, RetryAt: now.Add(waitNew)}
	}
}

func sentText(reason string) string {
	if reason == "" {
		return "sent, and not final"
	}
	return "sent, and not known to be final: " + reason
}
