package monthend

import (
	"context"

	"causeway/app/internal/foureyes"
	"causeway/core/books"
	"causeway/core/exchange"
	"causeway/core/ident"
	"causeway/core/monthend"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ledger"
	"causeway/ports"
)

// Revaluation is the exchange result of a month with the run that posted it.
type Revaluation struct {
	Run    monthend.Run
	Result monthend.ExchangeResult
}

// Revalue computes the exchange result of a soft-closed month and posts it, or makes a proposal of that. A repetition
// posts nothing if nothing has changed; otherwise it reverses what it posted before. Faults: CONFLICT if the month
// does not take it, if the platform has no functional currency, or if a market rate is missing; those of foureyes.Run.
func (s *Service) Revalue(ctx context.Context, p ident.Platform, by platform.Author, request *ports.IdempotentRequest,
	m period.Month) (proposal.Outcome[Revaluation], error) {
	return foureyes.Run(ctx, s.foureyes(), s.revaluation(), p, by, request, revaluationRequest{Month: m.String()})
}

// RevalueAlone is Revalue by an operator on the command line, who needs no second person.
func (s *Service) RevalueAlone(ctx context.Context, p ident.Platform, by platform.Author, m period.Month) (Revaluation, error) {
	done, err := foureyes.RunAlone(ctx, s.foureyes(), s.revaluation(), p, by, nil, revaluationRequest{Month: m.String()})
	return done.Done, err
}

// revaluationRequest is the stored form of a request for an exchange result, with the result.
type revaluationRequest struct {
	Month  string `json:"month"`
	draft  draft
	result monthend.ExchangeResult
}

func (s *Service) revaluation() foureyes.Operation[Tx, revaluationRequest, Revaluation] {
	return foureyes.Operation[Tx, revaluationRequest, Revaluation]{ID: "postExchangeResult", Action: books.ActionClose,
		Prepare: s.computeRevaluation,
		Execute: func(ctx context.Context, tx Tx, c foureyes.Change, r revaluationRequest) (Revaluation, string, error) {
			run, made, err := r.draft.write(ctx, tx, c, func(run monthend.Run) error { return tx.SaveExchangeResult(ctx, run, r.result) })
			return Revaluation{run, r.result}, made, err
		}, Figures: Revaluation.figures}
}

func (s *Service) computeRevaluation(ctx context.Context, p ident.Platform, r revaluationRequest) (_ revaluationRequest, err error) {
	if r.draft, err = s.draft(ctx, p, ledger.KindRevaluation, r.Month); err != nil {
		return r, err
	}
	functional, err := r.draft.settings.RequireFunctionalCurrency()
	if err != nil {
		return r, err
	}
	r.result, err = s.reader().ExchangeResult(ctx, r.draft.run, r.draft.previous, functional, r.draft.settings.UnrealisedResult)
	if err != nil {
		return r, amountFault(err)
	}
	r.draft.run.LastSeq = r.result.LastSeq
	r.draft.postings, err = r.result.Postings(r.draft.run)
	return r, amountFault(err)
}

// Result returns the exchange result of a month. Fault: NOT_FOUND.
func (s *Service) Result(ctx context.Context, p ident.Platform, m period.Month) (Revaluation, error) {
	run, err := s.run(ctx, p, ledger.KindRevaluation, m)
	if err != nil {
		return Revaluation{}, err
	}
	result, err := s.Results.ExchangeResult(ctx, run)
	return Revaluation{run, result}, err
}

// MeasuredPosting is a posting on the position with its realised result.
type MeasuredPosting struct {
	ports.PositionPosting
	exchange.Measured
}

// EachMeasured computes the exchange result of a month again and calls each for every posting on the position, by
// effective time. Fault: CONFLICT if the market rates of the month are not kept any more.
func (s *Service) EachMeasured(ctx context.Context, r Revaluation, each func(MeasuredPosting) error) error {
	return amountFault(s.reader().EachMeasured(ctx, r.Run, r.Result, func(p ports.PositionPosting, m exchange.Measured) error {
		return each(MeasuredPosting{p, m})
	}))
}
