package booking_test

import (
	"context"
	"testing"
	"time"

	"causeway/app/booking"
	"causeway/core/event"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// paper is a unit of work that keeps what rails answered, and takes all else.
type paper struct {
	ports.Tx
	kept []ports.RailAnswer
}

func (p *paper) CreateTransactions(context.Context, []transaction.Transaction) error { return nil }
func (p *paper) UpdateTransactions(context.Context, []transaction.Transaction) error { return nil }
func (p *paper) Emit(context.Context, []event.Event) error                           { return nil }
func (p *paper) AddJobs(context.Context, []ports.Job) error                          { return nil }
func (p *paper) Post(context.Context, []ledger.Posting) error                        { return nil }

func (p *paper) KeepAnswers(_ context.Context, answers []ports.RailAnswer) error {
	p.kept = append(p.kept, answers...)
	return nil
}

func TestWhatIsKeptOfRailsAnswers(t *testing.T) {
	t.Parallel()
	// What a rail says beside that all is done is kept; an answer to no question is none.
	said := func(asked ports.Question, v ports.Verdict) ports.RailAnswer {
		return ports.RailAnswer{Asked: asked, Outcome: ports.Outcome{Verdict: v}}
	}
	work, unit := booking.NewWork(time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC), nil, 0), &paper{}
	work.Hear(said(ports.AskedToDeliver, ports.Done))
	work.Hear(said(ports.AskedToDeliver, ports.Waiting))
	work.Hear(said(ports.AskedNothing, ports.Refused))
	work.Hear(said(ports.AskedToRefund, ports.Refused))

	if err := work.Write(t.Context(), unit); err != nil {
		t.Fatal(err)
	}

	if len(unit.kept) != 2 || unit.kept[0].Verdict != ports.Waiting || unit.kept[1].Asked != ports.AskedToRefund {
		t.Errorf("kept %+v", unit.kept)
	}
}
