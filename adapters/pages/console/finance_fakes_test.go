package console

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"

	"causeway/app/accounting"
	"causeway/app/monthend"
	"causeway/app/reconciliation"
	"causeway/app/yearend"
	"causeway/core/exchange"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	coremonthend "causeway/core/monthend"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/reconcile"
	"causeway/core/recurring"
	coreyear "causeway/core/yearend"
	"causeway/ledger"
	"causeway/ports"
)

var (
	testMonth     = period.MonthOf(now).Previous()
	runID         = numbered(ident.Reconciliation{}, 30)
	breakID       = numbered(ident.Break{}, 31)
	recurringName = "office-rent"
	someone       = platform.Author{Token: numbered(ident.Token{}, 32), Actor: "Ana Lima"}
)

// fakeBooks is the months of the books. refusal is what changes return, and proposes makes them proposals.
type fakeBooks struct {
	*calls
	months   []accounting.Month
	steps    []accounting.CloseStep
	monthly  []accounting.Recurring
	refusal  error
	proposes bool
}

func (f *fakeBooks) List(ctx context.Context, p ident.Platform) ([]accounting.Month, error) {
	return f.months, f.read(ctx, p, "months")
}

func (f *fakeBooks) Get(ctx context.Context, p ident.Platform, m period.Month, _ ports.LineFilter) (accounting.Month, error) {
	if err := f.read(ctx, p, "month %s", m); err != nil {
		return accounting.Month{}, err
	}
	for _, month := range f.months {
		if month.Month == m {
			return month, nil
		}
	}
	return accounting.Month{}, fault.New(fault.NotFound, "%s has not begun.", m)
}

func (f *fakeBooks) CloseSteps(ctx context.Context, p ident.Platform, m period.Month) ([]accounting.CloseStep, error) {
	return f.steps, f.read(ctx, p, "steps of %s", m)
}

// changed is what a change of the books comes to.
func changed[T any](f *fakeBooks, ctx context.Context, p ident.Platform, what string) (done proposal.Outcome[T], err error) {
	if err := f.read(ctx, p, "%s", what); err != nil {
		return done, err
	}
	if f.proposes {
		pending := newProposal().Proposal
		done.Proposal = &pending
	}
	return done, f.refusal
}

func (f *fakeBooks) ChangeState(ctx context.Context, p ident.Platform, by platform.Author, _ *ports.IdempotentRequest,
	c accounting.MonthChange) (proposal.Outcome[accounting.Month], error) {
	f.acted(by.Person.UUID())
	return changed[accounting.Month](f, ctx, p, fmt.Sprintf("%s %s by %s: %q first %t without %t %t %t %t", c.Action, c.Month, by, c.Note,
		c.ConfirmOpeningBalances, c.WithoutRevaluation, c.WithoutFeeDeferral, c.WithoutAllowance, c.WithoutYearEnd))
}

func (f *fakeBooks) Recurring(ctx context.Context, p ident.Platform) ([]accounting.Recurring, error) {
	return f.monthly, f.read(ctx, p, "recurring adjustments")
}

func (f *fakeBooks) Adjust(ctx context.Context, p ident.Platform, by platform.Author, _ *ports.IdempotentRequest,
	a period.Adjustment) (proposal.Outcome[accounting.PostedAdjustment], error) {
	f.acted(by.Person.UUID())
	done, err := changed[accounting.PostedAdjustment](f, ctx, p, fmt.Sprintf("adjust by %s: %s %q on %s corrects %s owned %t", by,
		recurring.FormatEntries(a.Entries), a.Note, a.Effective.Format(time.DateOnly), a.Corrects, a.OwnedAccounts))
	done.Done.Posting.ID = postingID
	return done, err
}

func (f *fakeBooks) SetRecurring(ctx context.Context, p ident.Platform, by platform.Author,
	v recurring.Version) (proposal.Outcome[recurring.Version], error) {
	f.acted(by.Person.UUID())
	return changed[recurring.Version](f, ctx, p, fmt.Sprintf("set %s by %s: %s %q from %s to %s reversed %t", v.Name, by,
		recurring.FormatEntries(v.Entries), v.Note, v.First, v.Last, v.Reverses))
}

func (f *fakeBooks) EndRecurring(ctx context.Context, p ident.Platform, by platform.Author, name string,
	last period.Month) (proposal.Outcome[recurring.Version], error) {
	f.acted(by.Person.UUID())
	return changed[recurring.Version](f, ctx, p, fmt.Sprintf("end %s after %s by %s", name, last, by))
}

func (f *fakeBooks) Revalue(ctx context.Context, p ident.Platform, by platform.Author, _ *ports.IdempotentRequest,
	m period.Month) (proposal.Outcome[monthend.Revaluation], error) {
	f.acted(by.Person.UUID())
	return changed[monthend.Revaluation](f, ctx, p, fmt.Sprintf("revalue %s by %s", m, by))
}

func (f *fakeBooks) DeferFees(ctx context.Context, p ident.Platform, by platform.Author, _ *ports.IdempotentRequest,
	m period.Month) (proposal.Outcome[monthend.FeeDeferral], error) {
	f.acted(by.Person.UUID())
	return changed[monthend.FeeDeferral](f, ctx, p, fmt.Sprintf("defer fees of %s by %s", m, by))
}

func (f *fakeBooks) PostAllowance(ctx context.Context, p ident.Platform, by platform.Author, _ *ports.IdempotentRequest,
	m period.Month) (proposal.Outcome[monthend.Allowance], error) {
	f.acted(by.Person.UUID())
	return changed[monthend.Allowance](f, ctx, p, fmt.Sprintf("post the allowance of %s by %s", m, by))
}

// LastResults has a month with a realised and an unrealised result in euros.
func (f *fakeBooks) LastResults(ctx context.Context, p ident.Platform, months int) ([]monthend.Revaluation, error) {
	if err := f.read(ctx, p, "exchange results of %d months", months); err != nil || len(f.months) == 0 {
		return nil, err
	}
	return []monthend.Revaluation{{Run: coremonthend.Run{Month: testMonth, At: now, By: someone, Postings: []uuid.UUID{postingID}},
		Result: coremonthend.ExchangeResult{Month: exchange.Month{Functional: "USD", Realised: []exchange.Realised{{Currency: "EUR",
			Amount: 1_50}}, Lines: []exchange.Line{{Currency: "EUR", Unrealised: -70, Carried: -20}}}}},
		{Run: coremonthend.Run{Month: testMonth.Previous(), At: now, By: someone}}}, nil
}

type fakeYears struct{ *fakeBooks }

func (f fakeYears) List(ctx context.Context, p ident.Platform) ([]yearend.Year, error) {
	return []yearend.Year{{Year: coreyear.OfNumber(2026, time.December)}, {Year: coreyear.OfNumber(2025, time.December)}},
		f.read(ctx, p, "years")
}

func (f fakeYears) Close(ctx context.Context, p ident.Platform, _ *ports.IdempotentRequest,
	c yearend.Change) (proposal.Outcome[yearend.Year], error) {
	f.acted(c.By.Person.UUID())
	return changed[yearend.Year](f.fakeBooks, ctx, p, fmt.Sprintf("close year %d by %s: %s", c.Year, c.By, c.Note))
}

type fakeReconciliation struct {
	*calls
	runs     []reconcile.Run
	breaks   []reconcile.BreakDetails
	lines    []reconcile.LineDetails
	filter   ports.BreakFilter
	resolved []reconciliation.ResolveRequest
	// imported is the last import without its file, and others are the runs of the other accounts in the file.
	imported reconciliation.ImportRequest
	others   []reconcile.Run
	refusal  error
}

func (f *fakeReconciliation) List(ctx context.Context, p ident.Platform, filter ports.ReconciliationFilter) (ports.Page[reconcile.Run],
	error) {
	return listed(f.runs, filter.Paging, func(r reconcile.Run) (uuid.UUID, bool) { return r.ID.UUID(), true }), f.read(ctx, p, "statements")
}

func (f *fakeReconciliation) Import(ctx context.Context, in reconciliation.ImportRequest, _ *ports.IdempotentRequest) (
	reconciliation.ImportResult, error) {
	file, err := io.ReadAll(in.File)
	in.File = nil
	f.imported = in
	if err == nil {
		err = f.read(ctx, in.Platform, "import %d bytes", len(file))
	}
	return reconciliation.ImportResult{Run: reconcile.Run{ID: runID}, Others: f.others}, cmp.Or(err, f.refusal)
}

func (f *fakeReconciliation) Get(ctx context.Context, p ident.Platform, id ident.Reconciliation) (reconciliation.RunDetails, error) {
	if err := f.read(ctx, p, "statement"); err != nil {
		return reconciliation.RunDetails{}, err
	}
	for _, run := range f.runs {
		if run.ID == id {
			return reconciliation.RunDetails{Run: run, Balance: run.Balance, ReconciliationCounts: ports.ReconciliationCounts{Matched: 2}}, nil
		}
	}
	return reconciliation.RunDetails{}, fault.New(fault.ReconciliationNotFound, "No reconciliation has the id %s.", id)
}

func (f *fakeReconciliation) Lines(ctx context.Context, p ident.Platform, _ ident.Reconciliation,
	filter ports.StatementLineFilter) (ports.Page[reconcile.LineDetails], error) {
	return listed(f.lines, filter.Paging, func(l reconcile.LineDetails) (uuid.UUID, bool) {
		return l.ID, filter.Status == "" || filter.Status == l.Status
	}), f.read(ctx, p, "lines")
}

func (f *fakeReconciliation) Breaks(ctx context.Context, p ident.Platform, _ ident.Reconciliation,
	filter ports.BreakFilter) (ports.Page[reconcile.BreakDetails], error) {
	f.filter = filter
	return listed(f.breaks, filter.Paging, func(b reconcile.BreakDetails) (uuid.UUID, bool) {
		return b.ID.UUID(), filter.Status == "" || (filter.Status == "OPEN") == (b.Resolution == nil)
	}), f.read(ctx, p, "breaks")
}

func (f *fakeReconciliation) Break(ctx context.Context, p ident.Platform, id ident.Break) (reconcile.BreakDetails, error) {
	if err := f.read(ctx, p, "break"); err != nil {
		return reconcile.BreakDetails{}, err
	}
	for _, b := range f.breaks {
		if b.ID == id {
			return b, nil
		}
	}
	return reconcile.BreakDetails{}, fault.New(fault.BreakNotFound, "No break has the id %s.", id)
}

func (f *fakeReconciliation) Resolve(ctx context.Context, in reconciliation.ResolveRequest, _ *ports.IdempotentRequest) (
	done proposal.Outcome[reconcile.BreakDetails], err error) {
	f.acted(in.By.Person.UUID())
	f.resolved = append(f.resolved, in)
	if in.Offset != "" {
		pending := newProposal().Proposal
		done.Proposal = &pending
	}
	if err := f.read(ctx, in.Platform, "resolve"); err != nil {
		return done, err
	}
	return done, f.refusal
}

func newBreak() reconcile.BreakDetails {
	account := reconcile.Account{Platform: ownPlatform, Path: "rails/ACH", Currency: "USD"}
	return reconcile.BreakDetails{ID: breakID, Run: runID, Account: account, Reason: reconcile.Reasons()[0], Difference: -7_00,
		Line: &reconcile.Line{Ordinal: 3, Amount: 93_00, ServicerReference: "S-1", References: []string{"R-1"},
			Description: "Tikal rent"},
		Entry: &reconcile.EntryDetails{Posting: postingID, Transaction: paymentID, Amount: 100_00, Effective: now,
			Kind: ledger.KindRefundPaid, Memo: "sent back: payment with the reference Xibalba"},
		At: now, Suggestions: []reconcile.Suggestion{{Against: reconcile.OffsetFees, Explanation: "The partner may have kept a fee.",
			Breaks: []ident.Break{numbered(ident.Break{}, 33)}}}}
}

// fillFinance makes something of everything that finance sees.
func (s *site) fillFinance() {
	approval := platform.Approval{Proposal: proposalID, By: platform.Author{Actor: "Root"}}
	s.books.months = []accounting.Month{{Month: period.MonthOf(now), State: period.Open}, {Month: testMonth, State: period.SoftClosed,
		Changes: []period.Change{{Month: testMonth, Action: period.SoftClose, At: now, By: someone, Approval: approval, Note: "Complete"}},
		Totals:  []period.Total{{Currency: "USD", Accounts: 3, Debits: money.TotalOf(9_00), Credits: money.TotalOf(9_00)}}}}
	s.books.monthly = []accounting.Recurring{{Version: recurring.Version{Name: recurringName, Number: 1, Note: "The rent", First: testMonth,
		Reverses: true, By: someone, Approval: approval, At: now, Entries: []ledger.Entry{{Debit: "expense/office-rent",
			Credit: "liability/accrued", Currency: "USD", Amount: 1200_00}}},
		Runs: []recurring.Run{{Name: recurringName, Month: testMonth, Version: 1, Posting: postingID, Reversal: uuid.UUID{15: 2}, At: now}}}}
	blocked := fault.New(fault.Conflict, "The exchange result is out of date.")
	s.books.steps = []accounting.CloseStep{{Name: accounting.StepSoftClose, At: now, By: someone, Approval: approval},
		{Name: accounting.StepRecurring, Blocker: blocked},
		{Name: accounting.StepExchangeResult, At: now, By: someone, Blocker: blocked}, {Name: accounting.StepFeeDeferral, Blocker: blocked},
		{Name: accounting.StepYearEnd}, {Name: accounting.StepClose, Blocker: blocked}}
	resolved := newBreak()
	resolved.ID, resolved.Line, resolved.Suggestions = numbered(ident.Break{}, 33), nil, nil
	resolved.Resolution = &reconcile.Resolution{Method: reconcile.ResolvedByPosting, Note: "A fee", Posting: postingID,
		By: someone.Token.String(), Actor: "Ana", At: now.Add(time.Hour)}
	s.statements.breaks = []reconcile.BreakDetails{newBreak(), resolved}
	s.statements.runs = []reconcile.Run{{ID: runID, Account: newBreak().Account, Lines: 4, Breaks: map[reconcile.Reason]int{
		reconcile.Reasons()[0]: 1}, Balance: &reconcile.BalanceComparison{Partner: 93_00, Ledger: 100_00, OpenBreaks: -7_00}, By: "Ana", At: now}}
}
