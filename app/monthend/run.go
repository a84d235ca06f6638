package monthend

import (
	"context"

	"causeway/app/internal/foureyes"
	"causeway/core/books"
	"causeway/core/ident"
	"causeway/core/monthend"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ledger"
	"causeway/ports"
)

// request is the stored form of a request for a run, with what is computed for it.
type request[Result any] struct {
	Month  string `json:"month"`
	draft  draft
	result Result
}

// operation posts a result of a month, which is done with its run.
type operation[Result, Done any] struct {
	id   string
	kind ledger.Kind
	// compute returns the result, and completes the draft with its postings and the last posting that it has read.
	compute func(context.Context, *draft) (Result, error)
	save    func(Tx, context.Context, monthend.Run, Result) error
	done    func(monthend.Run, Result) Done
	figures func(Done) (any, error)
}

// of returns the operation with the proposals and the approvals that it may need.
func (o operation[Result, Done]) of(s *Service) foureyes.Operation[Tx, request[Result], Done] {
	return foureyes.Operation[Tx, request[Result], Done]{ID: o.id, Action: books.ActionClose,
		Prepare: func(ctx context.Context, p ident.Platform, r request[Result]) (_ request[Result], err error) {
			if r.draft, err = s.draft(ctx, p, o.kind, r.Month); err != nil {
				return r, err
			}
			r.result, err = o.compute(ctx, &r.draft)
			return r, amountFault(err)
		},
		Execute: func(ctx context.Context, tx Tx, c foureyes.Change, r request[Result]) (Done, string, error) {
			run, made, err := r.draft.write(ctx, tx, c, func(run monthend.Run) error { return o.save(tx, ctx, run, r.result) })
			return o.done(run, r.result), made, err
		}, Figures: o.figures}
}

// run carries out the operation, or makes a proposal of it.
func (o operation[Result, Done]) run(ctx context.Context, s *Service, p ident.Platform, by platform.Author, key *ports.IdempotentRequest,
	m period.Month) (proposal.Outcome[Done], error) {
	return foureyes.Run(ctx, s.foureyes(), o.of(s), p, by, key, request[Result]{Month: m.String()})
}

// runAlone carries out the operation for an operator on the command line, who needs no second person.
func (o operation[Result, Done]) runAlone(ctx context.Context, s *Service, p ident.Platform, by platform.Author,
	m period.Month) (Done, error) {
	outcome, err := foureyes.RunAlone(ctx, s.foureyes(), o.of(s), p, by, nil, request[Result]{Month: m.String()})
	return outcome.Done, err
}
