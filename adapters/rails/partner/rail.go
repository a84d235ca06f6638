// Package partner connects a provider of payments over HTTP, with the contract that docs/partner-contract.md
// describes: a small program of the operator, a sidecar, talks to the provider, and the service calls it.
//
// Each call about a payment is one request, which is never repeated within the call. What was not clearly answered is
// unknown, and called about again. No personal data is in addresses, errors or logs.
package partner

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/signedmessage"
	"causeway/core/tracing"
	"causeway/ports"
)

// Config holds what a connection needs. All fields are required.
type Config struct {
	Connection rail.Connection
	Secrets    ports.Secrets
	Events     ports.PartnerEvents
	// Departures is asked before a payment is submitted.
	Departures ports.RailDepartures
	Clock      ports.Clock
	Log        logrus.FieldLogger
}

// Rail is the connection to one partner.
type Rail struct {
	Config
	settings settings
	client   *Client
	slots    chan struct{} // one for each request that runs
	log      logrus.FieldLogger
}

var (
	_ ports.ConnectedRail   = (*Rail)(nil)
	_ ports.RailFeed        = (*Rail)(nil)
	_ ports.RailBalances    = (*Rail)(nil)
	_ ports.RawReportReader = (*Rail)(nil)
	_ ports.ExclusiveRail   = (*Rail)(nil)
)

const (
	// batchTimeout is the maximum time of a call with many payments. Those that were not called about by then wait.
	batchTimeout = 45 * time.Second
	// waitDelay is how long those wait.
	waitDelay = 5 * time.Second
)

// Open returns the connection, or an error if its settings are not valid. It makes no request.
func Open(c Config) (*Rail, error) {
	s, err := parseSettings(c.Connection)
	if err != nil {
		return nil, err
	}
	r := &Rail{Config: c, settings: s, slots: make(chan struct{}, s.concurrency), log: c.Log.WithField("connection", c.Connection.Name)}
	r.client = newClient(s, c.Secrets, c.Clock, nil)
	return r, nil
}

// readSecrets reads the secrets each time, so that a file that is replaced takes effect at once.
func readSecrets(ctx context.Context, secrets ports.Secrets, reference string) (signedmessage.Secrets, error) {
	text, err := secrets.Secret(ctx, reference)
	if err != nil {
		return nil, err
	}
	parsed, err := signedmessage.Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("secret %s: %w", reference, err)
	}
	return parsed, nil
}

// Close closes idle connections.
func (r *Rail) Close() error {
	r.client.Close()
	return nil
}

// Exclusive implements ports.ExclusiveRail: a sidecar reports everything of its account in a currency to one connection.
func (r *Rail) Exclusive() []string {
	u := *r.settings.url
	u.Scheme, u.Host, u.Path = strings.ToLower(u.Scheme), strings.ToLower(u.Host), strings.TrimRight(u.Path, "/")
	var accounts []string
	for _, c := range r.Connection.Currencies {
		accounts = append(accounts, fmt.Sprintf("the account in %s at %s", c, u.Redacted()))
	}
	return accounts
}

// Instructions returns the account at the partner for a currency, with the reference to write.
func (r *Rail) Instructions(_ ident.Platform, reference string, currency money.Currency, _ string) ([]account.Instruction, error) {
	instructions := r.instructions(r.settings.holder, reference, currency, "Enter exactly %s as the reference, and send the exact amount "+
		"before the quote expires.")
	if len(instructions) == 0 {
		return nil, fault.New(fault.InvalidCurrency, "%s cannot be paid in over this connection.", currency)
	}
	return instructions, nil
}

// Funding returns the account at the partner for a currency, held for the benefit of the owner.
func (r *Rail) Funding(_ ident.Platform, owner string, reference string, currency money.Currency) ([]account.Instruction, error) {
	return r.instructions(r.settings.holder+" FBO "+owner, reference, currency, "Send any amount at any time, with exactly %s as the "+
		"reference."), nil
}

func (r *Rail) instructions(holder, reference string, currency money.Currency, notes string) []account.Instruction {
	fields, found := r.settings.receive[currency]
	if !found {
		return nil
	}
	info := map[string]any{"accountHolderName": holder, "reference": reference}
	for name, value := range fields {
		info[name] = value
	}
	if page, found := fields[fieldPaymentURL]; found {
		info[fieldPaymentURL] = strings.ReplaceAll(page, referenceInURL, url.QueryEscape(reference))
	}
	return []account.Instruction{{Notes: fmt.Sprintf(notes, reference), Info: info}}
}

// request is a payment and how it is called about.
type request struct {
	payment Payment
	key     ports.RailPaymentKey
	trace   tracing.Context
	began   time.Time // when it became due; zero if unknown
	submit  bool      // else its state is asked for
	// first: it leaves with this request. held: it has left, and may not be submitted again now.
	first, held bool
}

func payoutRequest(p ports.Payout, submit bool) request {
	t := p.Transaction
	return request{payment: newPayout(p), key: ports.RailPaymentKey{Platform: t.Platform, ID: t.ID.UUID(), Kind: rail.Payout},
		trace: t.Trace, began: t.UpdatedAt, submit: submit}
}

func collectionRequest(c ports.Collection, submit bool) request {
	t := c.Transaction
	return request{payment: newCollection(c), key: ports.RailPaymentKey{Platform: t.Platform, ID: t.ID.UUID(), Kind: rail.Collection},
		trace: t.Trace, began: t.UpdatedAt, submit: submit}
}

func refundRequest(r ports.Refund, submit bool) request {
	q := request{payment: newRefund(r), key: ports.RailPaymentKey{Platform: r.Platform, ID: r.ID, Kind: rail.Refund}, submit: submit}
	if r.Payout != nil {
		q.trace = r.Payout.Transaction.Trace
	}
	return q
}

// Send submits payouts.
func (r *Rail) Send(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
	return callEach(ctx, r, payouts, func(p ports.Payout) request { return payoutRequest(p, true) })
}

// Status asks for the states of payouts.
func (r *Rail) Status(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
	return callEach(ctx, r, payouts, func(p ports.Payout) request { return payoutRequest(p, false) })
}

// Collect submits collections.
func (r *Rail) Collect(ctx context.Context, collections []ports.Collection) []ports.Outcome {
	return callEach(ctx, r, collections, func(c ports.Collection) request { return collectionRequest(c, true) })
}

// CollectionStatus asks for the states of collections.
func (r *Rail) CollectionStatus(ctx context.Context, collections []ports.Collection) []ports.Outcome {
	return callEach(ctx, r, collections, func(c ports.Collection) request { return collectionRequest(c, false) })
}

// Refund submits refunds. One to an internal account moves no money, so the partner is not asked.
func (r *Rail) Refund(ctx context.Context, refunds []ports.Refund) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(refunds))
	var external []ports.Refund
	var indexes []int
	for i, refund := range refunds {
		if refund.Internal {
			outcomes[i] = ports.Outcome{Verdict: ports.Done}
			continue
		}
		external, indexes = append(external, refund), append(indexes, i)
	}
	for n, outcome := range callEach(ctx, r, external, func(refund ports.Refund) request { return refundRequest(refund, true) }) {
		outcomes[indexes[n]] = outcome
	}
	return outcomes
}

// RefundStatus implements ports.RefundStatusRail.
func (r *Rail) RefundStatus(ctx context.Context, refunds []ports.Refund) []ports.Outcome {
	return callEach(ctx, r, refunds, func(refund ports.Refund) request { return refundRequest(refund, false) })
}

// leave asks which of the requests may be submitted. What has left before and is paused is only asked about. It returns the
// outcomes of those of which nothing is asked.
func (r *Rail) leave(ctx context.Context, requests []request) (map[int]ports.Outcome, error) {
	var keys []ports.RailPaymentKey
	var indexes []int
	for i, q := range requests {
		if q.submit {
			keys, indexes = append(keys, q.key), append(indexes, i)
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	now := r.Clock.Now()
	departures, err := r.Departures.LeaveRailPayments(ctx, r.Connection.Name, keys, now)
	if err != nil {
		return nil, err
	}
	stay := map[int]ports.Outcome{}
	for n, i := range indexes {
		switch d := departures[n]; {
		case d == rail.LeftHeld:
			requests[i].submit, requests[i].held = false, true
		case d.MayBeSent():
			requests[i].first = d == rail.Leaves
		default:
			stay[i] = ports.Outcome{Verdict: ports.Waiting, Text: "It may not leave now.", RetryAt: now.Add(waitDelay)}
		}
	}
	return stay, nil
}

// callEach makes a request for each item, several at a time.
func callEach[T any](ctx context.Context, r *Rail, items []T, requestOf func(T) request) []ports.Outcome {
	ctx, cancel := context.WithTimeout(ctx, batchTime(ctx))
	defer cancel()
	outcomes := make([]ports.Outcome, len(items))
	requests := make([]request, len(items))
	for i, item := range items {
		requests[i] = requestOf(item)
	}
	stay, err := r.leave(ctx, requests)
	if err != nil {
		r.log.WithError(err).Warn("cannot record that payments leave; will call again")
		for i := range outcomes {
			outcomes[i] = ports.Outcome{Verdict: ports.Waiting, RetryAt: r.Clock.Now().Add(waitDelay)} // not an attempt
		}
		return outcomes
	}
	var calls sync.WaitGroup
	for i, q := range requests {
		if o, stays := stay[i]; stays {
			outcomes[i] = o
			continue
		}
		select {
		case r.slots <- struct{}{}:
		case <-ctx.Done():
			outcomes[i] = ports.Outcome{Verdict: ports.Waiting, RetryAt: r.Clock.Now().Add(waitDelay)} // not an attempt
			continue
		}
		calls.Go(func() {
			defer func() {
				<-r.slots
				if p := recover(); p != nil {
					r.log.WithField("stack", string(debug.Stack())).Errorf("panic in a request to the partner: %v", p)
					outcomes[i] = ports.Outcome{Verdict: ports.Unknown}
				}
			}()
			outcomes[i] = r.callOne(ctx, q)
		})
	}
	calls.Wait()
	return outcomes
}

// batchTime returns how long a call may take: less than its caller waits, so that what was answered is not lost.
func batchTime(ctx context.Context) time.Duration {
	deadline, found := ctx.Deadline()
	if !found {
		return batchTimeout
	}
	return min(batchTimeout, time.Until(deadline)*9/10)
}

// callOne makes one request, and returns Unknown for everything but a clear answer.
func (r *Rail) callOne(ctx context.Context, q request) ports.Outcome {
	state, err := r.client.payment(ctx, q.payment, q.submit, q.trace)
	now := r.Clock.Now()
	if err == nil {
		return r.outcome(q.payment.Kind, state, q.began, now)
	}
	log := r.log.WithError(err).WithFields(logrus.Fields{"kind": string(q.payment.Kind), "id": q.payment.ID})
	if refused := (*StatusError)(nil); errors.As(err, &refused) && refused.Temporary() {
		log.Info("partner refuses a request for now; will call again")
		if q.first {
			r.notTaken(ctx, q)
		}
		return ports.Outcome{Verdict: ports.Waiting, RetryAt: now.Add(refused.RetryAfter), Text: "The partner refuses for now."}
	}
	if unknown := (*StatusError)(nil); q.held && errors.As(err, &unknown) && unknown.Status == http.StatusNotFound {
		return ports.Outcome{Verdict: ports.Waiting, RetryAt: now.Add(waitDelay), Text: "The partner does not know it, and it may not be " +
			"submitted now."}
	}
	log.Warn("partner has not answered clearly; will call again")
	return ports.Outcome{Verdict: ports.Unknown}
}

// Payment submits a payment, or asks for its state, and returns a state that was checked.
func (c *Client) Payment(ctx context.Context, p Payment, submit bool) (State, error) {
	return c.payment(ctx, p, submit, "")
}

// payment is Payment for one that is traced.
func (c *Client) payment(ctx context.Context, p Payment, submit bool, place tracing.Context) (State, error) {
	var s State
	var err error
	if submit {
		err = c.call(ctx, http.MethodPost, p.Kind.Path(), nil, p, &s, maxState, place)
	} else {
		err = c.call(ctx, http.MethodGet, p.Kind.Path()+"/"+url.PathEscape(p.ID), nil, nil, &s, maxState, place)
	}
	if err == nil {
		err = s.check(p, c.clock.Now())
	}
	return s, err
}

// notTaken records that the partner has not taken a payment, so that it can be stopped until the next request.
func (r *Rail) notTaken(ctx context.Context, q request) {
	err := r.Departures.RailPaymentsNotTaken(ctx, r.Connection.Name, []ports.RailPaymentKey{q.key}, r.Clock.Now())
	if err != nil { // it counts as left, which is always safe
		r.log.WithError(err).WithField("id", q.payment.ID).Warn("cannot record that the partner has not taken a payment")
	}
}
