package uow_test

import (
	"context"
	"testing"
	"time"

	"causeway/app/internal/uow"
	"causeway/core/event"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// fakeTx is a unit of work that keeps what rails answered, and takes all else.
type fakeTx struct {
	ports.Tx
	replies []ports.RailReply
}

func (p *fakeTx) CreateTransactions(context.Context, []transaction.Transaction) error { return nil }
func (p *fakeTx) UpdateTransactions(context.Context, []transaction.Transaction) error { return nil }
func (p *fakeTx) Emit(context.Context, []event.Event) error                           { return nil }
func (p *fakeTx) AddJobs(context.Context, []ports.Job) error                          { return nil }
func (p *fakeTx) Post(context.Context, []ledger.Posting) error                        { return nil }

func (p *fakeTx) SaveRailReplies(_ context.Context, answers []ports.RailReply) error {
	p.replies = append(p.replies, answers...)
	return nil
}

func TestWork_RecordsRailReplies(t *testing.T) {
	t.Parallel()
	// What a rail says beside that all is done is kept; an answer to no question is none.
	said := func(asked ports.RailCall, v ports.Verdict) ports.RailReply {
		return ports.RailReply{Call: asked, Outcome: ports.Outcome{Verdict: v}}
	}
	work, unit := uow.NewWork(time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC), nil, 0), &fakeTx{}
	work.RecordReply(said(ports.CallSend, ports.Done))
	work.RecordReply(said(ports.CallSend, ports.Waiting))
	work.RecordReply(said(ports.CallNone, ports.Refused))
	work.RecordReply(said(ports.CallRefund, ports.Refused))

	if err := work.Write(t.Context(), unit); err != nil {
		t.Fatal(err)
	}

	if len(unit.replies) != 2 || unit.replies[0].Verdict != ports.Waiting || unit.replies[1].Call != ports.CallRefund {
		t.Errorf("kept %+v", unit.replies)
	}
}
