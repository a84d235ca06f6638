package accounting

import (
	"context"
	"slices"
	"time"

	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// TimelineEventType is one kind of thing that happens to a payment.
type TimelineEventType string

// What can have happened, in the order in which it is told where two have one time.
const (
	// TimelineRequested: it was asked for.
	TimelineRequested TimelineEventType = "REQUESTED"
	// TimelineQuoted: it was given a price.
	TimelineQuoted TimelineEventType = "QUOTED"
	// TimelineAssigned: people found that unmatched money is for it.
	TimelineAssigned TimelineEventType = "ASSIGNED"
	// TimelineRailReplied: a rail said how it went.
	TimelineRailReplied TimelineEventType = "RAIL_REPLIED"
	// TimelinePosted: money moved in the books.
	TimelinePosted TimelineEventType = "POSTED"
	// TimelineWebhookEvent: an event came to be, with the state it tells of.
	TimelineWebhookEvent TimelineEventType = "EVENT"
	// TimelineWebhookAttempt: the event was sent to the platform's endpoint.
	TimelineWebhookAttempt TimelineEventType = "WEBHOOK_ATTEMPT"
)

// TimelineEventTypes are all there are, in that order.
var TimelineEventTypes = []TimelineEventType{TimelineRequested, TimelineQuoted, TimelineAssigned, TimelineRailReplied, TimelinePosted, TimelineWebhookEvent, TimelineWebhookAttempt}

// Timeline is everything that happened to one transaction, the first thing first.
type Timeline struct {
	Transaction transaction.Transaction
	Events      []TimelineEvent
	// Complete is false when there is more than is told at once.
	Complete bool
}

// TimelineEvent is one thing that happened; what belongs to its kind is set.
type TimelineEvent struct {
	At         time.Time
	Type       TimelineEventType
	Quote      *quote.Quote
	Assignment *transaction.Unmatched
	RailReply  *ports.RailReply
	Posting    *ports.RecordedPosting
	// Delivery is that of Told and Sent, Attempt that of Sent.
	Delivery *ports.Delivery
	Attempt  *event.Attempt
}

// maxEventsPerType is how much of each kind is told.
const maxEventsPerType = 1000

// Timeline reads everything that is stored about a transaction, or answers
// TRANSACTION_NOT_FOUND.
func (f *Service) Timeline(ctx context.Context, p ident.Platform, id ident.Transaction) (Timeline, error) {
	t, err := f.Store.Transaction(ctx, p, id)
	if err != nil {
		return Timeline{}, err
	}
	s := Timeline{Transaction: t, Complete: true, Events: []TimelineEvent{{At: t.CreatedAt, Type: TimelineRequested}}}
	for _, tell := range []func(context.Context, *Timeline) error{f.addQuote, f.addAssignment, f.addPostings, f.addRailReplies, f.addWebhookEvents} {
		if err := tell(ctx, &s); err != nil {
			return Timeline{}, err
		}
	}
	slices.SortStableFunc(s.Events, func(a, b TimelineEvent) int {
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}
		return slices.Index(TimelineEventTypes, a.Type) - slices.Index(TimelineEventTypes, b.Type)
	})
	return s, nil
}

func (f *Service) addQuote(ctx context.Context, s *Timeline) error {
	if s.Transaction.Quote.IsZero() {
		return nil
	}
	q, _, err := f.Store.Quote(ctx, s.Transaction.Platform, s.Transaction.Quote)
	if fault.Is(err, fault.QuoteNotFound) {
		return nil
	}
	s.Events = append(s.Events, TimelineEvent{At: q.CreatedAt, Type: TimelineQuoted, Quote: &q})
	return err
}

func (f *Service) addAssignment(ctx context.Context, s *Timeline) error {
	u, found, err := f.Store.AssignmentOf(ctx, s.Transaction.Platform, s.Transaction.ID)
	if err != nil || !found {
		return err
	}
	s.Events = append(s.Events, TimelineEvent{At: u.Assignment.At, Type: TimelineAssigned, Assignment: &u})
	return nil
}

// addPostings tells those of the transaction, and those of further payments with its
// reference, which are no transaction's.
func (f *Service) addPostings(ctx context.Context, s *Timeline) error {
	t := s.Transaction
	wanted := []ports.PostingFilter{{Transaction: t.ID}}
	if t.Reference != "" {
		for _, memo := range transaction.SurplusMemos(t.Reference) {
			wanted = append(wanted, ports.PostingFilter{Memo: memo})
		}
	}
	for _, filter := range wanted {
		filter.Platform, filter.Ascending, filter.Limit = t.Platform, true, maxEventsPerType
		filter.Interval.From = t.CreatedAt.AddDate(0, 0, -1) // clocks differ
		page, err := f.Ledger.Postings(ctx, filter)
		if err != nil {
			return err
		}
		s.Complete = s.Complete && !page.More
		for _, posting := range page.Postings {
			s.Events = append(s.Events, TimelineEvent{At: posting.Recorded, Type: TimelinePosted, Posting: &posting})
			if answer, done := impliedRailReply(t, posting); done {
				s.Events = append(s.Events, TimelineEvent{At: posting.Recorded, Type: TimelineRailReplied, RailReply: &answer})
			}
		}
	}
	return nil
}

// impliedRailReply is the answer of a rail that a posting follows from: that it is done.
func impliedRailReply(t transaction.Transaction, p ports.RecordedPosting) (ports.RailReply, bool) {
	answer := ports.RailReply{Platform: t.Platform, Subject: t.ID.UUID(), At: p.Recorded, Outcome: ports.Outcome{Verdict: ports.Done}}
	pulled := t.Flow().Funding == transaction.Pull
	switch {
	case p.Transaction != t.ID:
		return answer, false
	case p.Kind == ledger.KindDelivered:
		answer.Call = ports.CallSend
	case p.Kind == ledger.KindRefundPaid:
		answer.Call = ports.CallRefund
	case pulled && (p.Kind == ledger.KindJITReceived || p.Kind == ledger.KindTransferIn):
		answer.Call = ports.CallCollect
	default:
		return answer, false
	}
	return answer, true
}

func (f *Service) addRailReplies(ctx context.Context, s *Timeline) error {
	answers, err := f.Store.RailReplies(ctx, s.Transaction.Platform, s.Transaction.ID.UUID(), maxEventsPerType+1)
	if err != nil {
		return err
	}
	if len(answers) > maxEventsPerType {
		s.Complete, answers = false, answers[:maxEventsPerType]
	}
	for _, a := range answers {
		s.Events = append(s.Events, TimelineEvent{At: a.At, Type: TimelineRailReplied, RailReply: &a})
	}
	return nil
}

func (f *Service) addWebhookEvents(ctx context.Context, s *Timeline) error {
	page, err := f.WebhookLog.Deliveries(ctx, s.Transaction.Platform, ports.DeliveryFilter{Limit: maxEventsPerType, Ascending: true, Subject: s.Transaction.ID.UUID()})
	if err != nil {
		return err
	}
	s.Complete = s.Complete && !page.More
	for _, d := range page.Items {
		s.Events = append(s.Events, TimelineEvent{At: s.recordedTime(d.Created), Type: TimelineWebhookEvent, Delivery: &d})
		for _, a := range d.Attempts {
			s.Events = append(s.Events, TimelineEvent{At: a.AttemptedAt, Type: TimelineWebhookAttempt, Delivery: &d, Attempt: &a})
		}
	}
	return nil
}

// recordedTime is when an event came to be that was decided at a moment. What is decided
// together is effective then and is recorded in one commit a little later, the event with
// its postings: it is told with them, and not before.
func (s *Timeline) recordedTime(decided time.Time) time.Time {
	at := decided
	for _, c := range s.Events {
		if c.Type == TimelinePosted && c.Posting.Effective.Equal(decided) && c.Posting.Recorded.After(at) {
			at = c.Posting.Recorded
		}
	}
	return at
}
