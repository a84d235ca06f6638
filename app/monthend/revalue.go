package monthend

import (
	"context"
	"slices"

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
	return s.revaluation().run(ctx, s, p, by, request, m)
}

// RevalueAlone is Revalue by an operator on the command line, who needs no second person.
func (s *Service) RevalueAlone(ctx context.Context, p ident.Platform, by platform.Author, m period.Month) (Revaluation, error) {
	return s.revaluation().runAlone(ctx, s, p, by, m)
}

func (s *Service) revaluation() operation[monthend.ExchangeResult, Revaluation] {
	return operation[monthend.ExchangeResult, Revaluation]{"postExchangeResult", ledger.KindRevaluation, s.computeRevaluation,
		Tx.SaveExchangeResult,
		func(run monthend.Run, r monthend.ExchangeResult) Revaluation { return Revaluation{run, r} }, Revaluation.figures}
}

func (s *Service) computeRevaluation(ctx context.Context, d *draft) (result monthend.ExchangeResult, err error) {
	functional, err := d.settings.RequireFunctionalCurrency()
	if err != nil {
		return result, err
	}
	result, err = s.reader().ExchangeResult(ctx, d.run, d.previous, functional, d.settings.UnrealisedResult)
	if err != nil {
		return result, err
	}
	d.run.LastSeq = result.LastSeq
	d.postings, err = result.Postings(d.run)
	return result, err
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

// LastResults returns the exchange results of the last months that have one, newest first.
func (s *Service) LastResults(ctx context.Context, p ident.Platform, months int) (results []Revaluation, err error) {
	all, err := s.Store.MonthEndRuns(ctx, p, ledger.KindRevaluation)
	for _, run := range slices.Backward(all) {
		if err != nil || len(results) == months {
			break
		}
		r := Revaluation{Run: run}
		r.Result, err = s.Results.ExchangeResult(ctx, run)
		results = append(results, r)
	}
	return results, err
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
