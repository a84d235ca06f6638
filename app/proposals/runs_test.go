package proposals_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/app/accounting"
	"causeway/app/audit"
	booksapp "causeway/app/books"
	"causeway/app/internal/apptest"
	"causeway/app/monthend"
	"causeway/app/reconciliation"
	"causeway/app/yearend"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/reconcile"
	"causeway/ledger"
	"causeway/ports"
)

// operator is a person on the command line.
var operator = platform.Author{Actor: "ops"}

// month is the month before that of the tests, which is soft-closed in them.
var month = period.MonthOf(apptest.Noon).Previous()

// newEnvAtMonthEnd returns an environment whose last month is soft-closed and ended a financial year. In it, 1,000 euro
// cents were sold for 1,080 dollar cents, with a fee of 2 dollar cents, and the payment is in transit.
func newEnvAtMonthEnd(t *testing.T) *env {
	t.Helper()
	e := newEnv(t)
	e.set("functionalCurrency=USD", "feeRecognition=DELIVERY", "yearEndMonth="+month.Start().Format("1"))
	for _, at := range []time.Time{month.Start().Add(-time.Hour), month.End().Add(-time.Hour)} {
		e.KeepRates(at, "1.1")
	}
	e.convert(1_000)
	e.changeMonth(period.SoftClose)
	return e
}

// set changes settings of the books as an operator.
func (e *env) set(changes ...string) {
	e.t.Helper()
	_, err := e.books.EditSettings(e.t.Context(), e.Platform.ID, booksapp.Change{By: operator},
		func(s books.Settings) (books.Settings, error) { return s.With(changes...) })
	if err != nil {
		e.t.Fatal(err)
	}
}

// convert posts, authorised, a payment of the month: it buys dollar cents with euro cents, for 8 percent more of them.
func (e *env) convert(euros int64) {
	e.t.Helper()
	header := ledger.Header{ID: uuid.Must(uuid.NewV7()), Platform: e.Platform.ID, Effective: month.Start().AddDate(0, 0, 9)}
	header.Transaction.SetUUID(uuid.Must(uuid.NewV7()))
	e.PostAuthorised(e.ana, ledger.Converted(header, ledger.Conversion{From: ledger.FundingJIT, To: ledger.TransitPayouts,
		Sent: money.Amount{Minor: euros + 2, Currency: "EUR"}, Fees: 2,
		Received: money.Amount{Minor: euros * 108 / 100, Currency: "USD"}}))
}

// changeMonth changes the state of the month as an operator.
func (e *env) changeMonth(a period.Action) {
	e.t.Helper()
	_, err := e.periods.ChangeStateAs(e.t.Context(), e.Platform.ID, platform.Author{Actor: "ops"}, accounting.MonthChange{
		Action: a, Month: month, ConfirmOpeningBalances: true,
		WithoutRevaluation: true, WithoutFeeDeferral: true, WithoutYearEnd: true})
	if err != nil {
		e.t.Fatal(err)
	}
}

func (e *env) revalue() (proposal.Outcome[monthend.Revaluation], error) {
	return e.monthEnd.Revalue(context.WithoutCancel(e.t.Context()), e.Platform.ID, e.ana, nil, month)
}

func (e *env) deferFees() (proposal.Outcome[monthend.FeeDeferral], error) {
	return e.monthEnd.DeferFees(e.t.Context(), e.Platform.ID, e.ana, nil, month)
}

func (e *env) year() yearend.Change {
	return yearend.Change{Year: month.Start().Year(), By: e.ana, Note: "Audited"}
}

// proposed returns the proposal of an outcome, whose figures contain each text.
func proposed[Result any](t *testing.T, made proposal.Outcome[Result], err error, figures ...string) proposal.Proposal {
	t.Helper()
	if err != nil || made.Proposal == nil {
		t.Fatalf("%+v, %v", made, err)
	}
	for _, text := range figures {
		if !strings.Contains(string(made.Proposal.Figures), text) {
			t.Errorf("figures %s lack %s", made.Proposal.Figures, text)
		}
	}
	return *made.Proposal
}

// wantRefused checks that Ben cannot approve a proposal, which stays pending with the fault.
func (e *env) wantRefused(p proposal.Proposal, reason, message string) {
	e.t.Helper()
	_, err := e.approve(e.ben, p.ID)
	if f, ok := fault.As(err); !ok || f.Code != fault.Conflict || f.Reason != reason || !strings.Contains(f.Message, message) {
		e.t.Errorf("approved: %v; want %s, %q", err, reason, message)
	}
	stored, err := e.proposals.Proposal(e.t.Context(), e.Platform.ID, p.ID)
	if err != nil || stored.Status != proposal.Pending || stored.LastError == nil || !strings.Contains(stored.LastError.Message, message) {
		e.t.Errorf("stored %+v, %v", stored, err)
	}
}

// postings returns the ids of the postings of kinds on the platform.
func (e *env) postings(kinds ...ledger.Kind) (ids []uuid.UUID) {
	e.t.Helper()
	page, err := e.Store.Finance().Postings(e.t.Context(), ports.PostingFilter{Platform: e.Platform.ID, Limit: 1000})
	if err != nil {
		e.t.Fatal(err)
	}
	for _, p := range page.Postings {
		if slices.Contains(kinds, p.Kind) {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// wantApproved checks that postings are authorised by Ana and approved by Ben.
func (e *env) wantApproved(p proposal.Proposal, postings []uuid.UUID, count int) {
	e.t.Helper()
	if len(postings) != count {
		e.t.Errorf("%d postings, want %d", len(postings), count)
	}
	for _, id := range postings {
		a, found, err := e.Store.Authorisation(e.t.Context(), e.Platform.ID, id)
		if err != nil || !found || a.By != e.ana || a.Approval != (platform.Approval{Proposal: p.ID, By: e.ben}) {
			e.t.Errorf("authorised %+v, %v", a, err)
		}
	}
}

func TestApprove_MonthEndRunsKeepBothPersons(t *testing.T) {
	t.Parallel()
	// An exchange result and a deferral of fees are proposed with their figures, and posted with both persons when
	// another one approves them. When they are in force, a repetition changes nothing and needs nobody.
	e := newEnvAtMonthEnd(t)
	revalued, err := e.revalue()
	proposed(t, revalued, err, `"kind":"revaluation"`, `"run":1`, `"functionalCurrency":"USD"`,
		`"currency":"EUR","quantity":1002,"cost":1082,"rate":"1.1","value":1102,"unrealised":20`,
		`{"debit":"fx/valuation","credit":"income/unrealised-exchange-gains","currency":"USD","amount":20}`)
	deferred, err := e.deferFees()
	proposed(t, deferred, err, `"kind":"fee_deferral"`, `"payments":1`, `"fees":[{"currency":"EUR","amount":2}]`,
		`"debit":"income/fees","credit":"liability/deferred-fees"`)
	if posted := e.postings(ledger.KindRevaluation, ledger.KindFeeDeferral); len(posted) != 0 {
		t.Fatalf("proposals have posted %v", posted)
	}

	p := approved(t, e, revalued, err)
	q := approved(t, e, deferred, err)

	result, err := e.monthEnd.Result(t.Context(), e.Platform.ID, month)
	if err != nil || p.Result != month.String() || result.Run.Number != 1 || result.Run.By != e.ana ||
		result.Run.Approval != (platform.Approval{Proposal: p.ID, By: e.ben}) {
		t.Errorf("%+v, %v; of %+v", result.Run, err, p)
	}
	e.wantApproved(p, result.Run.Postings, 2)
	deferral, err := e.monthEnd.Deferral(t.Context(), e.Platform.ID, month)
	if err != nil || deferral.Run.By != e.ana || deferral.Run.Approval.By != e.ben {
		t.Errorf("%+v, %v", deferral.Run, err)
	}
	e.wantApproved(q, deferral.Run.Postings, 2)
	again, err := e.revalue()
	if err != nil || again.Proposal != nil || again.Done.Run.Number != 1 || again.Done.Run.Approval != result.Run.Approval {
		t.Errorf("again: %+v, %v", again, err)
	}
	if _, err := e.approve(e.ben, p.ID); !fault.Is(err, fault.Conflict) {
		t.Errorf("approved twice: %v", err)
	}
	e.checkLedger()
}

func TestApprove_RunWithOtherFiguresIsRefused(t *testing.T) {
	t.Parallel()
	// When a posting was added to the month after the proposal, its approval is refused with what has changed. A new
	// proposal has the new figures. A second proposal of the same has nothing left to change.
	e := newEnvAtMonthEnd(t)
	made, err := e.revalue()
	stale := proposed(t, made, err)
	e.convert(100)

	e.wantRefused(stale, "Figures changed", "positions[0].value was 1102 and is now 1214")

	made, err = e.revalue()
	second, secondErr := e.revalue()
	twin := proposed(t, second, secondErr)
	approved(t, e, made, err)
	e.wantRefused(twin, "Nothing to change", "already made")
	e.convert(100)
	e.wantRefused(stale, "Figures changed", "positions[0].value was 1102 and is now 1326")
	if posted := e.postings(ledger.KindRevaluation); len(posted) != 2 {
		t.Errorf("%d postings, want 2", len(posted))
	}
}

func TestApprove_RunIsPostedOnce(t *testing.T) {
	t.Parallel()
	// Of several approvals of a run at the same time one posts it.
	e := newEnvAtMonthEnd(t)
	made, err := e.revalue()
	p := proposed(t, made, err)
	carl := platform.Author{Token: e.NewPrincipal(e.Platform).Token, Actor: "Carl"}
	errs := make([]error, 4)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { _, errs[i] = e.approve([]platform.Author{e.ben, carl}[i%2], p.ID) })
	}
	all.Wait()

	succeeded := 0
	for _, err := range errs {
		if err == nil {
			succeeded++
		} else if !fault.Is(err, fault.Conflict) {
			t.Error(err)
		}
	}
	if posted := e.postings(ledger.KindRevaluation); succeeded != 1 || len(posted) != 2 {
		t.Errorf("%d approvals, %d postings: %v", succeeded, len(posted), errs)
	}
	e.checkLedger()
}

func TestRun_ImpossibleRunIsNotProposed(t *testing.T) {
	t.Parallel()
	// A month that is not soft-closed makes no proposal. One that was closed after the proposal is refused.
	e := newEnvAtMonthEnd(t)
	if made, err := e.monthEnd.Revalue(t.Context(), e.Platform.ID, e.ana, nil, month.Next()); !fault.Is(err, fault.Conflict) ||
		made.Proposal != nil {
		t.Errorf("%+v, %v", made, err)
	}
	made, err := e.revalue()
	p := proposed(t, made, err)
	e.changeMonth(period.Close)
	e.wantRefused(p, "Wrong state", "accepts no postings")
	if _, err := e.monthEnd.RevalueAlone(t.Context(), e.Platform.ID, operator, month.Next()); !fault.Is(err, fault.Conflict) {
		t.Errorf("an operator: %v", err)
	}
}

func TestApprove_YearEndKeepsBothPersons(t *testing.T) {
	t.Parallel()
	// A year is closed, and its closing is reversed, by two persons. The proposals have the income and expense, and
	// when the reversal takes effect; with others they are refused.
	e := newEnvAtMonthEnd(t)
	first, err := e.years.Close(t.Context(), e.Platform.ID, nil, e.year())
	stale := proposed(t, first, err, `"closing":1`, `"results":[{"currency":"EUR","income":2,"expense":0,"result":2}]`)
	e.convert(100)
	e.wantRefused(stale, "Figures changed", "results[0].income was 2 and is now 4")
	made, err := e.years.Close(t.Context(), e.Platform.ID, nil, e.year())

	p := approved(t, e, made, err)

	year, err := e.years.Get(t.Context(), e.Platform.ID, e.year().Year)
	closing, closed := year.Current()
	if err != nil || !closed || closing.By != e.ana || closing.Approval != (platform.Approval{Proposal: p.ID, By: e.ben}) ||
		p.Result != year.Year.String() {
		t.Fatalf("%+v, %v; of %+v", year, err, p)
	}
	e.wantApproved(p, []uuid.UUID{closing.Posting}, 1)
	e.wantRefused(stale, "Year is closed", "is closed")

	reversal, err := e.years.Reverse(t.Context(), e.Platform.ID, nil, e.year())
	stale = proposed(t, reversal, err, `"closing":1`, `"income":4`)
	e.changeMonth(period.Close)
	e.wantRefused(stale, "Figures changed", "effectiveAt was")
	reversal, err = e.years.Reverse(t.Context(), e.Platform.ID, nil, e.year())
	p = approved(t, e, reversal, err)
	if year, err = e.years.Get(t.Context(), e.Platform.ID, e.year().Year); err != nil {
		t.Fatal(err)
	}
	r := year.Closings[0].Reversal
	if r == nil || r.By != e.ana || r.Approval != (platform.Approval{Proposal: p.ID, By: e.ben}) {
		t.Fatalf("%+v", year)
	}
	e.wantApproved(p, []uuid.UUID{r.Posting}, 1)
	e.checkLedger()
}

// importBreak imports a statement with a line of 7.00 dollars that the ledger lacks, and returns its break.
func (e *env) importBreak(reference string) reconcile.BreakDetails {
	e.t.Helper()
	day := e.Clock.Now().Format(time.DateOnly)
	done, err := e.statements.Import(e.t.Context(), reconciliation.ImportRequest{Platform: e.Platform.ID, Path: "rails/RTP", Currency: "USD",
		Format: "csv", By: "Token:test",
		Layout: "date=Booked;amount=Amount;id=Id;reference=Reference", File: strings.NewReader("Booked,Amount,Id,Reference\n" + day + ",-7.00," +
			reference + "," + reference + "\n")}, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	page, err := e.statements.Breaks(e.t.Context(), e.Platform.ID, done.ID, ports.BreakFilter{Paging: ports.Paging{Limit: 10}})
	if err != nil || len(page.Items) != 1 {
		e.t.Fatalf("%+v, %v", page, err)
	}
	return page.Items[0]
}

func (e *env) resolve(b reconcile.BreakDetails, against reconcile.OffsetAccount) (proposal.Outcome[reconcile.BreakDetails], error) {
	return e.statements.Resolve(e.t.Context(), reconciliation.ResolveRequest{Platform: e.Platform.ID, Break: b.ID, By: e.ana,
		ResolveCommand: reconcile.ResolveCommand{Note: "A fee", Offset: against}}, nil)
}

func TestApprove_CorrectionOfBreakKeepsBothPersons(t *testing.T) {
	t.Parallel()
	// The correction of a break is an adjustment, so another person approves it. A note alone changes no balance: one
	// person resolves a break with it.
	e := newEnv(t)
	noted, err := e.resolve(e.importBreak("A1"), "")
	if err != nil || noted.Proposal != nil || noted.Done.Resolution.By != e.ana.Token.String() || noted.Done.Resolution.Actor != "Ana" {
		t.Fatalf("%+v, %v", noted, err)
	}
	b := e.importBreak("B2")
	made, err := e.resolve(b, reconcile.OffsetExpense)
	proposed(t, made, err, `"account":"rails/RTP","currency":"USD","difference":-700,"reason":"MISSING_IN_LEDGER"`)
	if e.fees() != "0" {
		t.Errorf("a proposal has posted %s", e.fees())
	}

	p := approved(t, e, made, err)

	found, err := e.statements.Break(t.Context(), e.Platform.ID, b.ID)
	if err != nil || found.Resolution == nil || found.Resolution.Actor != "Ana" ||
		found.Resolution.Approval != (platform.Approval{Proposal: p.ID, By: e.ben}) {
		t.Errorf("%+v, %v", found.Resolution, err)
	}
	if p.Action != books.ActionAdjustment || p.Result != b.ID.String() || e.fees() != "700" {
		t.Errorf("%+v; fees %s", p, e.fees())
	}
	if _, err := e.resolve(b, reconcile.OffsetExpense); !fault.Is(err, fault.Conflict) {
		t.Errorf("resolved again: %v", err)
	}
	e.checkLedger()
}

func TestCheck_FindsRunsOfOnePerson(t *testing.T) {
	t.Parallel()
	// The ledger check finds a run, a closing, a reversal and a correction whose approver was changed.
	e := newEnvAtMonthEnd(t)
	approve := func(p *proposal.Proposal, err error) {
		t.Helper()
		if err != nil || p == nil {
			t.Fatal(err)
		}
		if _, err := e.approve(e.ben, p.ID); err != nil {
			t.Fatal(err)
		}
	}
	revalued, err := e.revalue()
	approve(revalued.Proposal, err)
	closed, err := e.years.Close(t.Context(), e.Platform.ID, nil, e.year())
	approve(closed.Proposal, err)
	reversed, err := e.years.Reverse(t.Context(), e.Platform.ID, nil, e.year())
	approve(reversed.Proposal, err)
	corrected, err := e.resolve(e.importBreak("A1"), reconcile.OffsetExpense)
	approve(corrected.Proposal, err)
	e.checkLedger()
	for _, table := range []string{"ledger_month_end_runs", "ledger_year_closings", "ledger_year_reversals", "reconciliation_resolutions"} {
		if err := e.Exec("ALTER TABLE "+table+" DISABLE TRIGGER USER", "UPDATE "+table+" SET approver = 'Carl'"); err != nil {
			t.Fatal(err)
		}
	}

	var found []string
	for _, f := range e.checkedLedger().Findings {
		if f.Rule == audit.RuleFourEyes {
			found = append(found, f.String())
		}
	}

	all := strings.Join(found, "\n")
	for _, subject := range []string{"revaluation run 1 of " + month.String(), "closing 1 of the year", "reversal of closing 1 of the year",
		"resolution of break"} {
		if !strings.Contains(all, subject) {
			t.Errorf("findings %s lack %s", all, subject)
		}
	}
	if len(found) != 4 {
		t.Errorf("%d findings: %s", len(found), all)
	}
}
