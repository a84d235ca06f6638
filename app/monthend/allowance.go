package monthend

import (
	"context"

	"causeway/app/internal/foureyes"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/monthend"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ledger"
	"causeway/ports"
)

// Allowance is the allowance for receivables of a month with the run that posted it.
type Allowance struct {
	Run        monthend.Run
	Allowances []monthend.Allowance
}

// PostAllowance computes what of the receivables is expected to be lost at the end of a soft-closed month, and posts the difference to what
// there is, or makes a proposal of that. A repetition posts nothing if nothing has changed. Without rates, it takes back what
// there is. Faults:
// CONFLICT if the month does not take it, or if no rates are set and there is no allowance; those of foureyes.Run.
func (s *Service) PostAllowance(ctx context.Context, p ident.Platform, by platform.Author, request *ports.IdempotentRequest,
	m period.Month) (proposal.Outcome[Allowance], error) {
	return foureyes.Run(ctx, s.foureyes(), s.allowance(), p, by, request, allowanceRequest{Month: m.String()})
}

// PostAllowanceAlone is PostAllowance by an operator on the command line, who needs no second person.
func (s *Service) PostAllowanceAlone(ctx context.Context, p ident.Platform, by platform.Author, m period.Month) (Allowance, error) {
	done, err := foureyes.RunAlone(ctx, s.foureyes(), s.allowance(), p, by, nil, allowanceRequest{Month: m.String()})
	return done.Done, err
}

// allowanceRequest is the stored form of a request for an allowance, with the allowances.
type allowanceRequest struct {
	Month      string `json:"month"`
	draft      draft
	allowances []monthend.Allowance
}

func (s *Service) allowance() foureyes.Operation[Tx, allowanceRequest, Allowance] {
	return foureyes.Operation[Tx, allowanceRequest, Allowance]{ID: "postReceivablesAllowance", Action: books.ActionClose,
		Prepare: s.computeAllowance,
		Execute: func(ctx context.Context, tx Tx, c foureyes.Change, r allowanceRequest) (Allowance, string, error) {
			run, made, err := r.draft.write(ctx, tx, c, func(run monthend.Run) error { return tx.SaveAllowances(ctx, run, r.allowances) })
			return Allowance{run, r.allowances}, made, err
		}, Figures: Allowance.figures}
}

func (s *Service) computeAllowance(ctx context.Context, p ident.Platform, r allowanceRequest) (_ allowanceRequest, err error) {
	if r.draft, err = s.draft(ctx, p, ledger.KindAllowance, r.Month); err != nil {
		return r, err
	}
	rates := r.draft.settings.ReceivablesAllowance
	if rates.IsZero() && !r.draft.current.Exists() && !r.draft.previous.Exists() {
		f := fault.New(fault.Conflict, "The platform makes no allowance for receivables. Set receivablesAllowance with PUT /ledger/settings or "+
			"`causeway ledger settings set` first.")
		f.Reason = "No allowance is made"
		return r, f
	}
	var lastSeq int64
	if r.allowances, lastSeq, err = s.reader().Allowances(ctx, r.draft.run, rates, r.draft.former); err != nil {
		return r, amountFault(err)
	}
	r.draft.run.LastSeq = lastSeq
	r.draft.postings = monthend.AllowancePostings(r.draft.run, r.allowances)
	return r, nil
}

// AllowanceOf returns the allowance of a month. Fault: NOT_FOUND.
func (s *Service) AllowanceOf(ctx context.Context, p ident.Platform, m period.Month) (Allowance, error) {
	run, err := s.run(ctx, p, ledger.KindAllowance, m)
	if err != nil {
		return Allowance{}, err
	}
	found, err := s.Results.Allowances(ctx, run)
	return Allowance{run, found}, err
}

// allowanceFigures are the figures of an allowance.
type allowanceFigures struct {
	runFigures
	Allowances []currencyAllowance `json:"allowances"`
}

type currencyAllowance struct {
	Currency money.Currency `json:"currency"`
	Owed     [4]int64       `json:"owed"`
	Rates    string         `json:"rates"`
	Before   int64          `json:"before"`
	Required int64          `json:"required"`
}

// figures returns what an approver approves.
func (a Allowance) figures() (any, error) {
	f := allowanceFigures{newRunFigures(a.Run, monthend.AllowancePostings(a.Run, a.Allowances)), []currencyAllowance{}}
	for _, c := range a.Allowances {
		f.Allowances = append(f.Allowances, currencyAllowance{c.Currency, c.Owed, c.Rates.String(), c.Before, c.Required})
	}
	return f, nil
}

// Table returns the allowance with a row for each currency.
func (a Allowance) Table() Table {
	t := Table{Header: []string{"currency", "owed_0_30", "owed_31_60", "owed_61_90", "owed_over_90", "rates", "before", "change", "allowance"}}
	for _, c := range a.Allowances {
		row := []string{string(c.Currency)}
		for _, owed := range c.Owed {
			row = append(row, major(owed, c.Currency))
		}
		t.Rows = append(t.Rows, append(row, c.Rates.String(), major(c.Before, c.Currency), major(c.Change(), c.Currency),
			major(c.Required, c.Currency)))
	}
	return t
}
