package accounting

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"causeway/core/agent"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/quote"
	"causeway/core/receivable"
	"causeway/core/transaction"
	"causeway/core/wallet"
	"causeway/ledger"
	"causeway/ports"
)

// TimelineEventType is a type of event in a timeline.
type TimelineEventType string

// The types of events, in the order of events that have the same time.
const (
	// TimelineRequested: the payment was requested.
	TimelineRequested TimelineEventType = "REQUESTED"
	// TimelineQuoted: the payment was quoted.
	TimelineQuoted TimelineEventType = "QUOTED"
	// TimelineAgent: an agent of the customer asked for the payment, or the platform approved or rejected it.
	TimelineAgent TimelineEventType = "AGENT"
	// TimelineAuthorized: the owner of the embedded wallet that pays signed the quote.
	TimelineAuthorized TimelineEventType = "AUTHORIZED"
	// TimelineAssigned: unmatched funds were assigned to it.
	TimelineAssigned TimelineEventType = "ASSIGNED"
	// TimelineRailReplied: a rail replied to a call.
	TimelineRailReplied TimelineEventType = "RAIL_REPLIED"
	// TimelineReceivable: the payer's bank took back what was collected, or what is owed for it changed.
	TimelineReceivable TimelineEventType = "RECEIVABLE"
	// TimelinePosted: a posting was recorded.
	TimelinePosted TimelineEventType = "POSTED"
	// TimelineWebhookEvent: an event was emitted.
	TimelineWebhookEvent TimelineEventType = "EVENT"
	// TimelineWebhookAttempt: the event was sent to the platform's webhook endpoint.
	TimelineWebhookAttempt TimelineEventType = "WEBHOOK_ATTEMPT"
)

// TimelineEventTypes lists every type, in that order.
var TimelineEventTypes = []TimelineEventType{TimelineRequested, TimelineQuoted, TimelineAgent, TimelineAuthorized, TimelineAssigned,
	TimelineRailReplied, TimelineReceivable, TimelinePosted, TimelineWebhookEvent, TimelineWebhookAttempt}

// Timeline is everything recorded about one transaction, in the order of time.
type Timeline struct {
	Transaction transaction.Transaction
	Events      []TimelineEvent
	// Complete is false if some events are left out because there are too many.
	Complete bool
}

// TimelineEvent is one event. The field that belongs to its type is set.
type TimelineEvent struct {
	At    time.Time
	Type  TimelineEventType
	Quote *quote.Quote
	// AgentAttempt is the entry in the audit trail of the agent.
	AgentAttempt *agent.Attempt
	// Authorization is the evidence that the owner of a wallet signed.
	Authorization *wallet.Authorization
	Assignment    *transaction.Unmatched
	RailReply     *ports.RailReply
	Receivable    *receivable.Change
	Posting       *ports.RecordedPosting
	// Delivery is set for events and attempts, Attempt for attempts.
	Delivery *ports.Delivery
	Attempt  *event.Attempt
}

// maxEventsPerType is the maximum number of events of each type.
const maxEventsPerType = 1000

// PlatformOf returns the platform that has a transaction, for operators, who name the transaction alone. Fault:
// TRANSACTION_NOT_FOUND.
func (s *Service) PlatformOf(ctx context.Context, id ident.Transaction) (ident.Platform, error) {
	return s.Store.PlatformOfTransaction(ctx, id)
}

// Timeline returns the timeline of a transaction. Fault: TRANSACTION_NOT_FOUND.
func (s *Service) Timeline(ctx context.Context, p ident.Platform, id ident.Transaction) (Timeline, error) {
	q, t, err := s.Store.TransactionWithQuote(ctx, p, id)
	if err != nil {
		return Timeline{}, err
	}
	timeline := Timeline{Transaction: t, Complete: true, Events: []TimelineEvent{{At: t.CreatedAt, Type: TimelineRequested}}}
	if !q.ID.IsZero() {
		timeline.Events = append(timeline.Events, TimelineEvent{At: q.CreatedAt, Type: TimelineQuoted, Quote: &q})
	}
	var postings ports.PostingPage
	var replies []ports.RailReply
	var deliveries ports.DeliveryPage
	// The postings take as many round trips as all the rest, which is read beside them.
	reading, ctx := errgroup.WithContext(ctx)
	read := func(fn func() error) {
		reading.Go(func() (err error) {
			defer func() {
				if p := recover(); p != nil {
					err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
				}
			}()
			return fn()
		})
	}
	read(func() (err error) {
		postings, err = s.Ledger.Postings(ctx, postingsOf(t))
		return err
	})
	read(func() (err error) {
		for _, add := range []func(context.Context, *Timeline) error{s.addAgentAttempts, s.addAuthorization, s.addAssignment, s.addReceivable} {
			if err := add(ctx, &timeline); err != nil {
				return err
			}
		}
		if replies, err = s.Store.RailReplies(ctx, t.Platform, t.ID.UUID(), maxEventsPerType+1); err != nil {
			return err
		}
		deliveries, err = s.WebhookLog.Deliveries(ctx, t.Platform, ports.DeliveryFilter{Limit: maxEventsPerType, Ascending: true,
			Subject: t.ID.UUID()})
		return err
	})
	if err := reading.Wait(); err != nil {
		return Timeline{}, err
	}
	timeline.addPostings(postings)
	timeline.addRailReplies(replies)
	timeline.addWebhookEvents(deliveries)
	slices.SortStableFunc(timeline.Events, func(a, b TimelineEvent) int {
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}
		return slices.Index(TimelineEventTypes, a.Type) - slices.Index(TimelineEventTypes, b.Type)
	})
	return timeline, nil
}

// addAgentAttempts adds what the audit trail of the agent that created the transaction says about it.
func (s *Service) addAgentAttempts(ctx context.Context, timeline *Timeline) error {
	t := timeline.Transaction
	if t.Agent.IsZero() {
		return nil
	}
	filters := []ports.AgentAttemptFilter{{Transaction: t.ID}}
	for len(filters) > 0 {
		filters[0].Paging = ports.Paging{Limit: maxEventsPerType, Ascending: true}
		page, err := s.Store.AgentAttempts(ctx, t.Platform, filters[0])
		if err != nil {
			return err
		}
		filters = filters[1:]
		timeline.Complete = timeline.Complete && !page.More
		for _, a := range page.Items {
			timeline.Events = append(timeline.Events, TimelineEvent{At: a.At, Type: TimelineAgent, AgentAttempt: &a})
			if a.Operation == agent.OpApprove && a.Quote.IsZero() { // the transfer was asked for before it had a transaction
				filters = append(filters, ports.AgentAttemptFilter{Action: a.Action})
			}
		}
	}
	return nil
}

func (s *Service) addAuthorization(ctx context.Context, timeline *Timeline) error {
	t := timeline.Transaction
	if t.Flow().Funding != transaction.Wallet {
		return nil
	}
	a, found, err := s.Store.WalletAuthorization(ctx, ports.TransactionKey{Platform: t.Platform, ID: t.ID})
	if err != nil || !found {
		return err
	}
	timeline.Events = append(timeline.Events, TimelineEvent{At: a.SignedAt, Type: TimelineAuthorized, Authorization: &a})
	return nil
}

func (s *Service) addAssignment(ctx context.Context, timeline *Timeline) error {
	u, found, err := s.Store.AssignmentOf(ctx, timeline.Transaction.Platform, timeline.Transaction.ID)
	if err != nil || !found {
		return err
	}
	timeline.Events = append(timeline.Events, TimelineEvent{At: u.Assignment.At, Type: TimelineAssigned, Assignment: &u})
	return nil
}

// addReceivable adds what happened after the collection was returned.
func (s *Service) addReceivable(ctx context.Context, timeline *Timeline) error {
	if timeline.Transaction.Flow().Funding != transaction.Pull {
		return nil
	}
	details, found, err := s.Store.ReceivableOf(ctx, timeline.Transaction.Platform, timeline.Transaction.ID)
	if err != nil || !found {
		return err
	}
	timeline.Complete = timeline.Complete && len(details.Changes) <= maxEventsPerType
	for _, c := range details.Changes[:min(len(details.Changes), maxEventsPerType)] {
		timeline.Events = append(timeline.Events, TimelineEvent{At: c.At, Type: TimelineReceivable, Receivable: &c})
	}
	return nil
}

// postingsOf selects the postings of a transaction, and those of surplus payments with its
// reference, which belong to no transaction.
func postingsOf(t transaction.Transaction) ports.PostingFilter {
	filter := ports.PostingFilter{Platform: t.Platform, Transaction: t.ID, Ascending: true, Limit: maxEventsPerType}
	if t.Reference != "" {
		filter.Transaction, filter.Memos, filter.OrOf = ident.Transaction{}, transaction.SurplusMemos(t.Reference), t.ID
	}
	filter.Interval.From = t.CreatedAt.AddDate(0, 0, -1) // clocks differ
	return filter
}

func (t *Timeline) addPostings(page ports.PostingPage) {
	t.Complete = t.Complete && !page.More
	for _, posting := range page.Postings {
		t.Events = append(t.Events, TimelineEvent{At: posting.Recorded, Type: TimelinePosted, Posting: &posting})
		if reply, ok := impliedRailReply(t.Transaction, posting); ok {
			t.Events = append(t.Events, TimelineEvent{At: posting.Recorded, Type: TimelineRailReplied, RailReply: &reply})
		}
	}
}

// impliedRailReply returns the successful reply of a rail that a posting follows from. Such
// replies are not stored on their own, unless the partner has named an id or a code.
func impliedRailReply(t transaction.Transaction, p ports.RecordedPosting) (ports.RailReply, bool) {
	reply := ports.RailReply{Platform: t.Platform, Subject: t.ID.UUID(), At: p.Recorded, Outcome: ports.Outcome{Verdict: ports.Done}}
	funding := t.Flow().Funding
	switch {
	case p.Transaction != t.ID, p.Kind == ledger.KindDelivered && t.DestinationAccount == ledger.TransitInternal:
		return reply, false
	case p.Kind == ledger.KindDelivered, p.Kind == ledger.KindWalletCredit:
		reply.Call = ports.CallSend
	case p.Kind == ledger.KindRefundPaid:
		reply.Call = ports.CallRefund
	case funding == transaction.Pull && (p.Kind == ledger.KindJITReceived || p.Kind == ledger.KindTransferIn),
		funding == transaction.Wallet && (p.Kind == ledger.KindConverted || p.Kind == ledger.KindTransferOut):
		reply.Call = ports.CallCollect
	default:
		return reply, false
	}
	return reply, true
}

func (t *Timeline) addRailReplies(replies []ports.RailReply) {
	if len(replies) > maxEventsPerType {
		t.Complete, replies = false, replies[:maxEventsPerType]
	}
	for _, r := range replies {
		if r.Verdict == ports.Done { // it takes the place of the one that its posting implies
			t.Events = slices.DeleteFunc(t.Events, func(e TimelineEvent) bool {
				return e.RailReply != nil && e.RailReply.Call == r.Call && e.RailReply.Verdict == ports.Done
			})
		}
		t.Events = append(t.Events, TimelineEvent{At: r.At, Type: TimelineRailReplied, RailReply: &r})
	}
}

func (t *Timeline) addWebhookEvents(page ports.DeliveryPage) {
	t.Complete = t.Complete && !page.More
	for _, d := range page.Items {
		t.Events = append(t.Events, TimelineEvent{At: t.recordedTime(d.Created), Type: TimelineWebhookEvent, Delivery: &d})
		for _, a := range d.Attempts {
			t.Events = append(t.Events, TimelineEvent{At: a.AttemptedAt, Type: TimelineWebhookAttempt, Delivery: &d, Attempt: &a})
		}
	}
}

// recordedTime returns when an event was recorded that was decided at a time. Postings that
// are decided with an event have that effective time and are recorded a little later in the
// same commit, so the event has their recorded time.
func (t *Timeline) recordedTime(decided time.Time) time.Time {
	recorded := decided
	for _, e := range t.Events {
		if e.Type == TimelinePosted && e.Posting.Effective.Equal(decided) && e.Posting.Recorded.After(recorded) {
			recorded = e.Posting.Recorded
		}
	}
	return recorded
}
