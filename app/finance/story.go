package finance

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

// What is one kind of thing that happens to a payment.
type What string

// What can have happened, in the order in which it is told where two have one time.
const (
	// Requested: it was asked for.
	Requested What = "REQUESTED"
	// Quoted: it was given a price.
	Quoted What = "QUOTED"
	// Assigned: people found that unmatched money is for it.
	Assigned What = "ASSIGNED"
	// RailAnswered: a rail said how it went.
	RailAnswered What = "RAIL_ANSWERED"
	// Posted: money moved in the books.
	Posted What = "POSTED"
	// Told: an event came to be, with the state it tells of.
	Told What = "EVENT"
	// Sent: the event was sent to the platform's endpoint.
	Sent What = "WEBHOOK_ATTEMPT"
)

// Whats are all there are, in that order.
var Whats = []What{Requested, Quoted, Assigned, RailAnswered, Posted, Told, Sent}

// Story is everything that happened to one transaction, the first thing first.
type Story struct {
	Transaction transaction.Transaction
	Chapters    []Chapter
	// Whole is false when there is more than is told at once.
	Whole bool
}

// Chapter is one thing that happened; what belongs to its kind is set.
type Chapter struct {
	At         time.Time
	What       What
	Quote      *quote.Quote
	Assignment *transaction.Unmatched
	Answer     *ports.RailReply
	Posting    *ports.RecordedPosting
	// Delivery is that of Told and Sent, Attempt that of Sent.
	Delivery *ports.Delivery
	Attempt  *event.Attempt
}

// mostOfAKind is how much of each kind is told.
const mostOfAKind = 1000

// Timeline reads everything that is stored about a transaction, or answers
// TRANSACTION_NOT_FOUND.
func (f *Finance) Timeline(ctx context.Context, p ident.Platform, id ident.Transaction) (Story, error) {
	t, err := f.Store.Transaction(ctx, p, id)
	if err != nil {
		return Story{}, err
	}
	s := Story{Transaction: t, Whole: true, Chapters: []Chapter{{At: t.CreatedAt, What: Requested}}}
	for _, tell := range []func(context.Context, *Story) error{f.tellQuote, f.tellAssignment, f.tellPostings, f.tellAnswers, f.tellEvents} {
		if err := tell(ctx, &s); err != nil {
			return Story{}, err
		}
	}
	slices.SortStableFunc(s.Chapters, func(a, b Chapter) int {
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}
		return slices.Index(Whats, a.What) - slices.Index(Whats, b.What)
	})
	return s, nil
}

func (f *Finance) tellQuote(ctx context.Context, s *Story) error {
	if s.Transaction.Quote.IsZero() {
		return nil
	}
	q, _, err := f.Store.Quote(ctx, s.Transaction.Platform, s.Transaction.Quote)
	if fault.Is(err, fault.QuoteNotFound) {
		return nil
	}
	s.Chapters = append(s.Chapters, Chapter{At: q.CreatedAt, What: Quoted, Quote: &q})
	return err
}

func (f *Finance) tellAssignment(ctx context.Context, s *Story) error {
	u, found, err := f.Store.AssignmentOf(ctx, s.Transaction.Platform, s.Transaction.ID)
	if err != nil || !found {
		return err
	}
	s.Chapters = append(s.Chapters, Chapter{At: u.Assignment.At, What: Assigned, Assignment: &u})
	return nil
}

// tellPostings tells those of the transaction, and those of further payments with its
// reference, which are no transaction's.
func (f *Finance) tellPostings(ctx context.Context, s *Story) error {
	t := s.Transaction
	wanted := []ports.PostingFilter{{Transaction: t.ID}}
	if t.Reference != "" {
		for _, memo := range transaction.SurplusMemos(t.Reference) {
			wanted = append(wanted, ports.PostingFilter{Memo: memo})
		}
	}
	for _, filter := range wanted {
		filter.Platform, filter.Ascending, filter.Limit = t.Platform, true, mostOfAKind
		filter.Span.From = t.CreatedAt.AddDate(0, 0, -1) // clocks differ
		page, err := f.Ledger.Postings(ctx, filter)
		if err != nil {
			return err
		}
		s.Whole = s.Whole && !page.More
		for _, posting := range page.Postings {
			s.Chapters = append(s.Chapters, Chapter{At: posting.Recorded, What: Posted, Posting: &posting})
			if answer, done := doneBy(t, posting); done {
				s.Chapters = append(s.Chapters, Chapter{At: posting.Recorded, What: RailAnswered, Answer: &answer})
			}
		}
	}
	return nil
}

// doneBy is the answer of a rail that a posting follows from: that it is done.
func doneBy(t transaction.Transaction, p ports.RecordedPosting) (ports.RailReply, bool) {
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

func (f *Finance) tellAnswers(ctx context.Context, s *Story) error {
	answers, err := f.Store.RailReplies(ctx, s.Transaction.Platform, s.Transaction.ID.UUID(), mostOfAKind+1)
	if err != nil {
		return err
	}
	if len(answers) > mostOfAKind {
		s.Whole, answers = false, answers[:mostOfAKind]
	}
	for _, a := range answers {
		s.Chapters = append(s.Chapters, Chapter{At: a.At, What: RailAnswered, Answer: &a})
	}
	return nil
}

func (f *Finance) tellEvents(ctx context.Context, s *Story) error {
	page, err := f.Told.Deliveries(ctx, s.Transaction.Platform, ports.DeliveryFilter{Limit: mostOfAKind, Ascending: true, Subject: s.Transaction.ID.UUID()})
	if err != nil {
		return err
	}
	s.Whole = s.Whole && !page.More
	for _, d := range page.Items {
		s.Chapters = append(s.Chapters, Chapter{At: s.written(d.Created), What: Told, Delivery: &d})
		for _, a := range d.Attempts {
			s.Chapters = append(s.Chapters, Chapter{At: a.AttemptedAt, What: Sent, Delivery: &d, Attempt: &a})
		}
	}
	return nil
}

// written is when an event came to be that was decided at a moment. What is decided
// together is effective then and is recorded in one commit a little later, the event with
// its postings: it is told with them, and not before.
func (s *Story) written(decided time.Time) time.Time {
	at := decided
	for _, c := range s.Chapters {
		if c.What == Posted && c.Posting.Effective.Equal(decided) && c.Posting.Recorded.After(at) {
			at = c.Posting.Recorded
		}
	}
	return at
}
