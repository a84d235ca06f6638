package yearend

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/foureyes"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/yearend"
	"causeway/ledger"
	"causeway/ports"
)

// Change says who closes a year or reverses its closing, and why.
type Change struct {
	Year int
	By   platform.Author
	Note string
}

func (c Change) request() changeRequest { return changeRequest{Year: c.Year, Note: c.Note} }

// Close closes the income and expense of a year into retained earnings, or makes a proposal of that. Faults:
// INVALID_INPUT; CONFLICT if the year is closed already or its months are not ready; those of foureyes.Run.
func (s *Service) Close(ctx context.Context, p ident.Platform, request *ports.IdempotentRequest, c Change) (proposal.Outcome[Year], error) {
	return foureyes.Run(ctx, s.foureyes(), s.closing(), p, c.By, request, c.request())
}

// CloseAlone is Close by an operator on the command line, who needs no second person.
func (s *Service) CloseAlone(ctx context.Context, p ident.Platform, c Change) (Year, error) {
	done, err := foureyes.RunAlone(ctx, s.foureyes(), s.closing(), p, c.By, nil, c.request())
	return done.Done, err
}

// Reverse reverses the closing of a year, or makes a proposal of that. Faults: INVALID_INPUT; CONFLICT if the year is
// not closed or a later one is; those of foureyes.Run.
func (s *Service) Reverse(ctx context.Context, p ident.Platform, request *ports.IdempotentRequest,
	c Change) (proposal.Outcome[Year], error) {
	return foureyes.Run(ctx, s.foureyes(), s.reversal(), p, c.By, request, c.request())
}

// ReverseAlone is Reverse by an operator on the command line, who needs no second person.
func (s *Service) ReverseAlone(ctx context.Context, p ident.Platform, c Change) (Year, error) {
	done, err := foureyes.RunAlone(ctx, s.foureyes(), s.reversal(), p, c.By, nil, c.request())
	return done.Done, err
}

func (s *Service) foureyes() foureyes.Config[Tx] {
	return foureyes.Config[Tx]{Store: s.Store, Clock: s.Clock, IDs: s.IDs}
}

// changeRequest is the stored form of a change of a year.
type changeRequest struct {
	Year int    `json:"year"`
	Note string `json:"note"`
	// posted is the posting that a reversal reverses.
	posted ledger.Posting
	// firstPosted is the first month with a posting, for a closing; zero if there is none.
	firstPosted period.Month
}

func checkRequest(_ context.Context, _ ident.Platform, r changeRequest) error {
	bad := period.CheckNote(r.Note, false)
	if r.Year < period.Earliest.Start().Year() || r.Year > 9999 {
		bad = append(bad, fault.Field{Field: "year", Message: "must be 2000 to 9999"})
	}
	if len(bad) > 0 {
		return fault.Invalid(bad...)
	}
	return nil
}

func (s *Service) closing() foureyes.Operation[Tx, changeRequest, Year] {
	return foureyes.Operation[Tx, changeRequest, Year]{ID: "closeLedgerYear", Action: books.ActionYearEnd, Check: checkRequest,
		Prepare: s.readFirstPosted,
		Execute: closeYear, Figures: closingFigures}
}

func (s *Service) readFirstPosted(ctx context.Context, p ident.Platform, r changeRequest) (changeRequest, error) {
	overview, err := s.Store.PeriodOverview(ctx, p)
	r.firstPosted = overview.FirstPosted
	return r, err
}

func closeYear(ctx context.Context, tx Tx, c foureyes.Change, r changeRequest) (done Year, made string, err error) {
	calendar, year, closings, err := lock(ctx, tx, c.Platform, r.Year)
	if err != nil {
		return done, "", err
	}
	if err := yearend.CheckClose(calendar, r.firstPosted, year, closings); err != nil {
		return done, "", err
	}
	balances, seq, err := tx.ResultBalances(ctx, c.Platform, year.Last())
	if err != nil {
		return done, "", err
	}
	closing, postings, authorisations := yearend.Close(yearend.Closing{Platform: c.Platform, Year: year, At: c.At, By: c.By,
		Approval: c.Approval, Note: r.Note, Seq: seq}, balances, closings)
	if err := tx.SaveYearClosing(ctx, closing); err != nil {
		return done, "", err
	}
	return newYear(year, append(closings, closing)), year.String(), write(ctx, tx, postings, authorisations)
}

func (s *Service) reversal() foureyes.Operation[Tx, changeRequest, Year] {
	return foureyes.Operation[Tx, changeRequest, Year]{ID: "reverseLedgerYear", Action: books.ActionYearEnd, Check: checkRequest,
		Prepare: s.readClosingPosting,
		Execute: reverseYear, Figures: reversalFigures}
}

// readClosingPosting reads the posting that a reversal would reverse; zero if there is none.
func (s *Service) readClosingPosting(ctx context.Context, p ident.Platform, r changeRequest) (changeRequest, error) {
	closings, err := s.Store.YearClosings(ctx, p)
	if err != nil {
		return r, err
	}
	for _, k := range closings {
		if k.Year.Number() == r.Year && k.Reversal == nil && k.Posting != uuid.Nil {
			r.posted, _, err = s.Ledger.Posting(ctx, p, k.Posting)
		}
	}
	return r, err
}

func reverseYear(ctx context.Context, tx Tx, c foureyes.Change, r changeRequest) (done Year, made string, err error) {
	calendar, year, closings, err := lock(ctx, tx, c.Platform, r.Year)
	if err != nil {
		return done, "", err
	}
	closing, err := yearend.CheckReverse(year, closings)
	if err != nil {
		return done, "", err
	}
	if closing.Posting != r.posted.ID {
		return done, "", fault.New(fault.Conflict, "The year was closed again meanwhile. Repeat the request.")
	}
	reversal, postings, authorisations := yearend.Reverse(closing, calendar, r.posted,
		yearend.Reversal{At: c.At, By: c.By, Approval: c.Approval, Note: r.Note})
	if err := tx.SaveYearReversal(ctx, closing, reversal); err != nil {
		return done, "", err
	}
	i := slices.IndexFunc(closings, func(k yearend.Closing) bool { return k.Year == year && k.Number == closing.Number })
	closings[i].Reversal = &reversal
	return newYear(year, closings), year.String(), write(ctx, tx, postings, authorisations)
}

// lock locks the calendar and reads what a change of a year is decided from.
func lock(ctx context.Context, tx Tx, p ident.Platform,
	number int) (calendar period.Calendar, year yearend.Year, closings []yearend.Closing, err error) {
	if calendar, err = tx.LockPeriods(ctx, p); err != nil {
		return calendar, year, nil, err
	}
	settings, err := tx.BooksSettings(ctx, p)
	if err != nil {
		return calendar, year, nil, err
	}
	closings, err = tx.YearClosings(ctx, p)
	return calendar, yearend.OfNumber(number, settings.YearEndMonth), closings, err
}

func write(ctx context.Context, tx Tx, postings []ledger.Posting, authorisations []period.Authorisation) error {
	if err := tx.Authorise(ctx, authorisations); err != nil {
		return err
	}
	return tx.Post(ctx, postings)
}

// yearFigures are what a closing or its reversal comes to.
type yearFigures struct {
	// Closing counts the closings of the year, from 1.
	Closing   int             `json:"closing"`
	LastMonth string          `json:"lastMonth"`
	Effective time.Time       `json:"effectiveAt"`
	Results   []resultFigures `json:"results"`
}

type resultFigures struct {
	Currency money.Currency `json:"currency"`
	Income   json.Number    `json:"income"`
	Expense  json.Number    `json:"expense"`
	Result   json.Number    `json:"result"`
}

func newYearFigures(c yearend.Closing, effective time.Time) yearFigures {
	f := yearFigures{Closing: c.Number, LastMonth: c.Year.Last().String(), Effective: effective, Results: []resultFigures{}}
	for _, r := range c.Results {
		f.Results = append(f.Results, resultFigures{r.Currency, json.Number(r.Income.String()), json.Number(r.Expense.String()),
			json.Number(r.Net().String())})
	}
	return f
}

// closingFigures are the income and expense that are closed.
func closingFigures(y Year) (any, error) {
	closing, _ := y.Current()
	return newYearFigures(closing, closing.Year.End()), nil
}

// reversalFigures are those of the closing that is reversed, and when that takes effect.
func reversalFigures(y Year) (any, error) {
	closing := y.Closings[len(y.Closings)-1]
	return newYearFigures(closing, closing.Reversal.Effective), nil
}
