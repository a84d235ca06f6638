package monthend

import (
	"context"

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
	return s.allowance().run(ctx, s, p, by, request, m)
}

// PostAllowanceAlone is PostAllowance by an operator on the command line, who needs no second person.
func (s *Service) PostAllowanceAlone(ctx context.Context, p ident.Platform, by platform.Author, m period.Month) (Allowance, error) {
	return s.allowance().runAlone(ctx, s, p, by, m)
}

func (s *Service) allowance() operation[[]monthend.Allowance, Allowance] {
	return operation[[]monthend.Allowance, Allowance]{"postReceivablesAllowance", ledger.KindAllowance, s.computeAllowance, Tx.SaveAllowances,
		func(run monthend.Run, a []monthend.Allowance) Allowance { return Allowance{run, a} }, Allowance.figures}
}

func (s *Service) computeAllowance(ctx context.Context, d *draft) (allowances []monthend.Allowance, err error) {
	rates := d.settings.ReceivablesAllowance
	if rates.IsZero() && !d.current.Exists() && !d.previous.Exists() {
		f := fault.New(fault.Conflict, "The platform makes no allowance for receivables. Set receivablesAllowance with PUT /ledger/settings, "+
			"`causeway ledger settings set`, or on the page Settings of the books first.")
		f.Reason = "No allowance is made"
		return nil, f
	}
	allowances, d.run.LastSeq, err = s.reader().Allowances(ctx, d.run, rates, d.former)
	d.postings = monthend.AllowancePostings(d.run, allowances)
	return allowances, err
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
