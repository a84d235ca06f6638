package proposals_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"causeway/adapters/postgres"
	"causeway/app/accounting"
	"causeway/app/audit"
	booksapp "causeway/app/books"
	"causeway/app/internal/apptest"
	"causeway/app/internal/audittest"
	"causeway/app/monthend"
	"causeway/app/proposals"
	"causeway/app/reconciliation"
	treasuryapp "causeway/app/treasury"
	"causeway/app/yearend"
	"causeway/core/books"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// env is an environment in which every action needs four eyes, with Ana's and Ben's tokens.
type env struct {
	*apptest.Env
	t          *testing.T
	periods    *accounting.Periods
	accounting *accounting.Service
	books      *booksapp.Service
	treasury   *treasuryapp.Service
	monthEnd   *monthend.Service
	years      *yearend.Service
	statements *reconciliation.Service
	proposals  *proposals.Service
	ana, ben   platform.Author
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := newEnvWithOnePerson(t)
	e.ben = platform.Author{Token: e.NewPrincipal(e.Platform).Token, Actor: "Ben"}
	e.GiveToken(e.ben.Token, e.NewPerson(person.Finance))
	return e
}

func newEnvWithOnePerson(t *testing.T) *env {
	t.Helper()
	e := &env{Env: apptest.New(t), t: t}
	e.periods = accounting.NewPeriods(accounting.PeriodsConfig{
		Store: e.Store, Ledger: e.Store.LedgerReader(), Finance: e.Store.Finance(),
		Clock: e.Clock, IDs: e.IDs})
	e.accounting = accounting.New(accounting.Config{
		Store: e.Store, Ledger: e.Store.Finance(), Clock: e.Clock, IDs: e.IDs})
	e.books = booksapp.New(booksapp.Config{Store: e.Store, Finance: e.Store.Finance(), Clock: e.Clock, IDs: e.IDs})
	e.treasury = treasuryapp.New(treasuryapp.Config{
		Store: e.Store, Ledger: e.Store.Finance(), Balances: e.Store.LedgerReader(),
		KeptRates: e.Store, Clock: e.Clock, IDs: e.IDs})
	e.monthEnd = monthend.New(monthend.Config{Store: e.Store, Results: e.Store, Postings: e.Store.LedgerReader(),
		Views: e.Store.MonthEndViews(), KeptRates: e.Store, Clock: e.Clock, IDs: e.IDs})
	e.years = yearend.New(yearend.Config{Store: e.Store, Ledger: e.Store.LedgerReader(), Clock: e.Clock, IDs: e.IDs})
	e.statements = reconciliation.New(reconciliation.Config{
		Store: e.Store, Runs: e.Store, Ledger: e.Store.LedgerReader(),
		Accounts: e.Store.Finance(), Clock: e.Clock, IDs: e.IDs})
	e.proposals = proposals.New(proposals.Config{
		Store: e.Store, Clock: e.Clock, IDs: e.IDs, Executors: slices.Concat(e.periods.Executors(),
			e.accounting.Executors(), e.books.Executors(), e.treasury.Executors(),
			e.monthEnd.Executors(), e.years.Executors(), e.statements.Executors())})
	ana := e.NewPerson(person.Finance)
	e.ana = platform.Author{Token: e.Admin.Token, Actor: "Ana", Person: ana.ID}
	e.GiveToken(e.ana.Token, ana)
	operator := booksapp.Change{By: platform.Author{Actor: "ops"}}
	if _, err := e.books.EditSettings(t.Context(), e.Platform.ID, operator, func(s books.Settings) (books.Settings, error) {
		s.FourEyes = books.Actions()
		return s, nil
	}); err != nil {
		t.Fatal(err)
	}
	return e
}

// adjustment moves cents from a rail to its fees.
func adjustment(minor int64) period.Adjustment {
	return period.Adjustment{Note: "The bank's fee", Entries: []ledger.Entry{{Debit: ledger.ExpenseRails, Credit: ledger.Rail("WIRE"),
		Currency: money.USD, Amount: minor}}}
}

func (e *env) propose(a period.Adjustment) proposal.Proposal {
	e.t.Helper()
	made, err := e.periods.Adjust(e.t.Context(), e.Platform.ID, e.ana, nil, a)
	if err != nil || made.Proposal == nil {
		e.t.Fatalf("%+v, %v", made, err)
	}
	return *made.Proposal
}

func (e *env) approve(by platform.Author, id ident.Proposal) (proposal.Stated, error) {
	return e.proposals.Approve(context.WithoutCancel(e.t.Context()), e.Platform.ID, by, nil, id)
}

// fees returns what was posted to the expense account.
func (e *env) fees() string {
	e.t.Helper()
	accounts, err := e.Store.Finance().AccountsAtCutoff(e.t.Context(), e.Platform.ID, ledger.ExpenseRails, money.USD, ports.Cutoff{})
	if err != nil {
		e.t.Fatal(err)
	}
	if len(accounts) == 0 {
		return "0"
	}
	return accounts[0].Balance.String()
}

func (e *env) checkLedger() {
	e.t.Helper()
	for _, f := range e.checkedLedger().Findings {
		e.t.Error(f)
	}
}

// checkedLedger checks the ledger. There are no transactions and receipts beside the postings.
func (e *env) checkedLedger() audit.Report {
	e.t.Helper()
	return audittest.Check(e.t, e.Env, audit.RuleTransactions, audit.RuleEvidence)
}

func TestApprove_AdjustmentKeepsBothPersons(t *testing.T) {
	t.Parallel()
	// An adjustment that needs four eyes posts nothing until another person approves it. Then it is posted with
	// both persons, and the proposal has its id. Each step sends an event.
	e := newEnv(t)
	p := e.propose(adjustment(700))
	if e.fees() != "0" || p.State != proposal.Pending || p.By != e.ana || p.Action != books.ActionAdjustment {
		t.Fatalf("fees %s, %+v", e.fees(), p)
	}
	if _, err := e.approve(e.ana, p.ID); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "another person") {
		t.Errorf("approved by the proposer: %v", err)
	}
	if _, err := e.approve(platform.Author{Token: e.ben.Token, Actor: "ana"}, p.ID); !fault.Is(err, fault.Conflict) {
		t.Errorf("approved by the same name: %v", err)
	}

	approved, err := e.approve(e.ben, p.ID)

	if err != nil || approved.Status != proposal.Executed || approved.DecidedBy != e.ben || e.fees() != "700" {
		t.Fatalf("%+v, %v; fees %s", approved, err, e.fees())
	}
	posting, err := ident.ParsePosting(approved.Result)
	if err != nil {
		t.Fatal(err)
	}
	a, found, err := e.Store.Authorisation(t.Context(), e.Platform.ID, posting.UUID())
	if err != nil || !found || a.By != e.ana || a.Approval != (platform.Approval{Proposal: p.ID, By: e.ben}) {
		t.Errorf("authorised %+v, %v", a, err)
	}
	if stored, err := e.proposals.Proposal(t.Context(), e.Platform.ID, p.ID); err != nil || stored.Status != proposal.Executed ||
		stored.Result != approved.Result {
		t.Errorf("stored %+v, %v", stored, err)
	}
	if _, err := e.approve(e.ben, p.ID); !fault.Is(err, fault.Conflict) || e.fees() != "700" {
		t.Errorf("approved again: %v; fees %s", err, e.fees())
	}
	e.Events.Want(p.ID.UUID(), event.LedgerProposalPending, event.LedgerProposalExecuted)
	e.checkLedger()
}

func TestApprove_RacingApproversExecuteOnce(t *testing.T) {
	t.Parallel()
	// Several persons approve one proposal at the same time: one of them does, and it is carried out once.
	e := newEnv(t)
	p := e.propose(adjustment(5))
	errs := make([]error, 6)
	var group sync.WaitGroup
	for i := range errs {
		by := platform.Author{Token: e.NewPrincipal(e.Platform).Token}
		group.Go(func() { _, errs[i] = e.approve(by, p.ID) })
	}
	group.Wait()

	approved := 0
	for _, err := range errs {
		if err == nil {
			approved++
		} else if !fault.Is(err, fault.Conflict) {
			t.Error(err)
		}
	}
	if approved != 1 || e.fees() != "5" {
		t.Errorf("%d approved; fees %s", approved, e.fees())
	}
}

func TestApprove_RepeatedRequestsAreReplayed(t *testing.T) {
	t.Parallel()
	// A repeated proposal and a repeated approval with their keys have no further effect.
	e := newEnv(t)
	render := func(result any) string {
		text, err := json.Marshal(result)
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	key := func(by platform.Author, name string) *ports.IdempotentRequest {
		return apptest.IdempotentRequest(platform.Principal{Platform: e.Platform.ID, Token: by.Token}, name, render)
	}
	made, err := e.periods.Adjust(t.Context(), e.Platform.ID, e.ana, key(e.ana, "propose"), adjustment(5))
	if err != nil {
		t.Fatal(err)
	}
	var replay *ports.Replay
	if _, err := e.periods.Adjust(t.Context(), e.Platform.ID, e.ana, key(e.ana, "propose"), adjustment(5)); !errors.As(err, &replay) ||
		!strings.Contains(string(replay.Body), made.Proposal.ID.UUID().String()) {
		t.Errorf("proposed again: %v", err)
	}
	if page, err := e.proposals.Proposals(t.Context(), e.Platform.ID, ports.ProposalFilter{Paging: ports.Paging{Limit: 10}}); err != nil ||
		len(page.Items) != 1 {
		t.Errorf("%d proposals, %v", len(page.Items), err)
	}
	approve := func() error {
		_, err := e.proposals.Approve(t.Context(), e.Platform.ID, e.ben, key(e.ben, "approve"), made.Proposal.ID)
		return err
	}
	if err := approve(); err != nil {
		t.Fatal(err)
	}
	stored, err := e.Store.StoredResponses(t.Context(), []ports.IdempotencyKey{key(e.ben, "approve").IdempotencyKey()})
	if err != nil || stored[0] == nil || !strings.Contains(string(stored[0].Body), "EXECUTED") {
		t.Errorf("stored %+v, %v", stored, err)
	}
	if err := approve(); !fault.Is(err, fault.Conflict) || e.fees() != "5" {
		t.Errorf("approved again: %v; fees %s", err, e.fees())
	}
}

func TestApprove_ImpossibleChangeStaysPending(t *testing.T) {
	t.Parallel()
	// A change that has become impossible is answered with its fault, which the proposal keeps. When it is
	// possible again, it can be approved.
	e := newEnv(t)
	account := e.NewInternalAccount(e.Customer.ID, "USD", 100)
	a := period.Adjustment{Note: "A fee", OwnedAccounts: true,
		Entries: []ledger.Entry{{Debit: account.LedgerPath(), Credit: ledger.ExpenseRails, Currency: money.USD, Amount: 80}}}
	first, second := e.propose(a), e.propose(a)
	if _, err := e.approve(e.ben, first.ID); err != nil {
		t.Fatal(err)
	}

	_, err := e.approve(e.ben, second.ID)

	if !fault.Is(err, fault.InsufficientBalance) {
		t.Errorf("approved: %v", err)
	}
	stored, err := e.proposals.Proposal(t.Context(), e.Platform.ID, second.ID)
	if err != nil || stored.Status != proposal.Pending || stored.LastError == nil || stored.LastError.Code != fault.InsufficientBalance {
		t.Errorf("stored %+v, %v", stored, err)
	}
	back := a
	back.Entries = []ledger.Entry{{Debit: ledger.ExpenseRails, Credit: account.LedgerPath(), Currency: money.USD, Amount: 80}}
	if _, err := e.approve(e.ben, e.propose(back).ID); err != nil {
		t.Fatal(err)
	}
	if done, err := e.approve(e.ben, second.ID); err != nil || done.LastError != nil {
		t.Errorf("approved later: %+v, %v", done, err)
	}
	if _, err := e.periods.Adjust(t.Context(), e.Platform.ID, e.ana, nil, a); !fault.Is(err, fault.InsufficientBalance) {
		t.Errorf("an impossible change was proposed: %v", err)
	}
}

func TestApprove_DeletedTokenAndExpiry(t *testing.T) {
	t.Parallel()
	// A proposal whose token was deleted cannot be approved, nor can one after seven days; it is then listed as
	// expired.
	e := newEnv(t)
	carl := platform.Author{Token: e.NewPrincipal(e.Platform).Token}
	made, err := e.periods.Adjust(t.Context(), e.Platform.ID, carl, nil, adjustment(5))
	if err != nil {
		t.Fatal(err)
	}
	late := e.propose(adjustment(6))
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.DeleteToken(ctx, e.Platform.ID, carl.Token)
	})

	if _, err := e.approve(e.ben, made.Proposal.ID); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "deleted") {
		t.Errorf("of a deleted token: %v", err)
	}
	e.Clock.Advance(proposal.Lifetime)
	if _, err := e.approve(e.ben, late.ID); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "expired") {
		t.Errorf("too late: %v", err)
	}
	for status, want := range map[proposal.Status]int{proposal.Pending: 0, proposal.Expired: 2, proposal.Executed: 0, "": 2} {
		page, err := e.proposals.Proposals(t.Context(), e.Platform.ID, ports.ProposalFilter{Paging: ports.Paging{Limit: 10}, Status: status})
		if err != nil || len(page.Items) != want {
			t.Errorf("%q: %d proposals, %v", status, len(page.Items), err)
		}
	}
	if e.fees() != "0" {
		t.Errorf("fees %s", e.fees())
	}
}

func TestReject_WithdrawnProposalIsNotApproved(t *testing.T) {
	t.Parallel()
	// The proposer withdraws a proposal. Nobody can approve it afterwards, and no other platform sees it.
	e := newEnv(t)
	p := e.propose(adjustment(5))
	other := e.NewPrincipal(e.NewPlatform())
	if _, err := e.proposals.Reject(t.Context(), other.Platform, other.Author(), nil, p.ID, ""); !fault.Is(err, fault.NotFound) {
		t.Errorf("of another platform: %v", err)
	}

	rejected, err := e.proposals.Reject(t.Context(), e.Platform.ID, e.ana, nil, p.ID, "twice")

	if err != nil || rejected.Status != proposal.Rejected || rejected.Note != "twice" || rejected.DecidedBy != e.ana {
		t.Errorf("%+v, %v", rejected, err)
	}
	if _, err := e.approve(e.ben, p.ID); !fault.Is(err, fault.Conflict) || e.fees() != "0" {
		t.Errorf("approved: %v; fees %s", err, e.fees())
	}
}

func TestSettings_OnePersonCannotSwitchFourEyesOff(t *testing.T) {
	t.Parallel()
	// While any action needs four eyes, so does a change of the settings, although it is not listed. After the
	// approval changes are made at once.
	e := newEnv(t)
	operator := booksapp.Change{By: platform.Author{Actor: "ops"}}
	if _, err := e.books.EditSettings(t.Context(), e.Platform.ID, operator, func(s books.Settings) (books.Settings, error) {
		s.FourEyes = []books.Action{books.ActionClose}
		return s, nil
	}); err != nil {
		t.Fatal(err)
	}
	made, err := e.books.SetSettings(t.Context(), e.Platform.ID, booksapp.Change{By: e.ana, Note: "no more"}, books.DefaultSettings())
	if err != nil || made.Proposal == nil {
		t.Fatalf("%+v, %v", made, err)
	}
	if now, err := e.books.Settings(t.Context(), e.Platform.ID); err != nil || len(now.FourEyes) != 1 {
		t.Errorf("settings %+v, %v", now, err)
	}

	approved, err := e.approve(e.ben, made.Proposal.ID)

	now, settingsErr := e.books.Settings(t.Context(), e.Platform.ID)
	if err != nil || settingsErr != nil || approved.Result != "3" || now.Version != 3 || len(now.FourEyes) != 0 || now.By != e.ana ||
		now.Approval.By != e.ben || now.Note != "no more" {
		t.Errorf("%+v, %v; settings %+v, %v", approved, err, now, settingsErr)
	}
	if made, err := e.periods.Adjust(t.Context(), e.Platform.ID, e.ana, nil, adjustment(5)); err != nil || made.Proposal != nil ||
		e.fees() != "5" {
		t.Errorf("%+v, %v", made, err)
	}
	e.checkLedger()
}

func TestSettings_StaleProposalRevertsNothing(t *testing.T) {
	t.Parallel()
	// A proposed change of the settings replaces those that it was made from: after another change was approved, it is
	// refused and stays pending.
	e := newEnv(t)
	propose := func(change func(*books.Settings)) ident.Proposal {
		t.Helper()
		next := books.DefaultSettings()
		next.FourEyes = books.Actions()
		change(&next)
		made, err := e.books.SetSettings(t.Context(), e.Platform.ID, booksapp.Change{By: e.ana}, next)
		if err != nil || made.Proposal == nil {
			t.Fatalf("%+v, %v", made, err)
		}
		return made.Proposal.ID
	}
	stale := propose(func(s *books.Settings) { s.YearEndMonth = 6 })
	if _, err := e.approve(e.ben, propose(func(s *books.Settings) { s.FeeRecognition = books.AtDelivery })); err != nil {
		t.Fatal(err)
	}

	_, err := e.approve(e.ben, stale)

	if f, ok := fault.As(err); !ok || f.Code != fault.Conflict || f.Reason != "Settings changed" {
		t.Errorf("the stale proposal: %v", err)
	}
	present, err := e.books.Settings(t.Context(), e.Platform.ID)
	if err != nil || present.FeeRecognition != books.AtDelivery || present.YearEndMonth != 12 {
		t.Errorf("%+v, %v", present, err)
	}
	if kept, err := e.proposals.Proposal(t.Context(), e.Platform.ID, stale); err != nil || kept.Status != proposal.Pending ||
		kept.LastError == nil {
		t.Errorf("%+v, %v", kept, err)
	}
}

func TestPeriods_MonthsAreClosedByTwoPersons(t *testing.T) {
	t.Parallel()
	// A soft close, a reopening and a close are proposed and approved; each change keeps both persons. A first
	// soft close without its confirmation is refused before it is proposed.
	e := newEnv(t)
	month := period.MonthOf(e.Clock.Now()).Previous()
	change := func(a period.Action, confirmed bool) (proposal.Outcome[accounting.Month], error) {
		return e.periods.ChangeState(t.Context(), e.Platform.ID, e.ana, nil, accounting.MonthChange{Action: a, Month: month, Note: "done",
			ConfirmOpeningBalances: confirmed})
	}
	if _, err := change(period.SoftClose, false); !fault.Is(err, fault.Conflict) {
		t.Errorf("without a confirmation: %v", err)
	}
	for _, a := range []period.Action{period.SoftClose, period.Reopen, period.SoftClose, period.Close} {
		made, err := change(a, true)
		if err != nil || made.Proposal == nil {
			t.Fatalf("%s: %+v, %v", a, made, err)
		}
		if done, err := e.approve(e.ben, made.Proposal.ID); err != nil || done.Result != month.String() {
			t.Fatalf("%s: %+v, %v", a, done, err)
		}
	}

	got, err := e.periods.Get(t.Context(), e.Platform.ID, month, ports.LineFilter{Limit: 10})

	if err != nil || got.State != period.Closed || len(got.Changes) != 4 {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, c := range got.Changes {
		if c.By != e.ana || c.Approval.By != e.ben || c.Approval.Proposal.IsZero() {
			t.Errorf("change %+v", c)
		}
	}
	e.checkLedger()
}

func TestAssignUnmatched_ByTwoPersons(t *testing.T) {
	t.Parallel()
	// Unmatched funds are assigned when a second person approves, and the assignment keeps both.
	e := newEnv(t)
	account := e.NewInternalAccount(e.Customer.ID, "USD", 0)
	receipt := e.NewReceipt("RTP", "NOBODYS", money.Amount{Minor: 700, Currency: "USD"})
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		if _, err := tx.SaveReceipts(ctx, []transaction.Receipt{receipt}); err != nil {
			return err
		}
		posting := receipt.Unmatched()
		if err := tx.SaveUnmatched(ctx, []ports.UnmatchedFunds{{Platform: e.Platform.ID, Posting: posting.ID, Receipt: receipt.ID}}); err != nil {
			return err
		}
		return tx.Post(ctx, []ledger.Posting{posting})
	})
	made, err := e.accounting.AssignUnmatched(t.Context(), e.Platform.ID, e.ana, accounting.AssignCommand{Receipt: receipt.ID,
		Account: account.ID, Note: "hers"}, nil)
	if err != nil || made.Proposal == nil {
		t.Fatalf("%+v, %v", made, err)
	}

	done, err := e.approve(e.ben, made.Proposal.ID)

	if err != nil || !strings.HasPrefix(done.Result, "Transaction:") {
		t.Fatalf("%+v, %v", done, err)
	}
	page, err := e.accounting.Unmatched(t.Context(), e.Platform.ID, ports.UnmatchedFilter{Limit: 10})
	if err != nil || len(page.Items) != 1 || page.Items[0].Assignment == nil || page.Items[0].Assignment.By != e.ana ||
		page.Items[0].Assignment.Approval.By != e.ben {
		t.Errorf("%+v, %v", page, err)
	}
	e.checkLedger()
}

func TestRun_RefusedWithoutSecondPerson(t *testing.T) {
	t.Parallel()
	// With one person nothing can be approved, so nothing is proposed. Operators work on the command line as
	// before.
	e := newEnvWithOnePerson(t)

	_, err := e.periods.Adjust(t.Context(), e.Platform.ID, e.ana, nil, adjustment(5))

	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "Invite a person") {
		t.Errorf("proposed: %v", err)
	}
	month := period.MonthOf(e.Clock.Now()).Previous()
	if done, err := e.periods.ChangeStateAs(t.Context(), e.Platform.ID, platform.Author{Actor: "ops"}, accounting.MonthChange{
		Action: period.SoftClose, Month: month, ConfirmOpeningBalances: true}); err != nil || done.State != period.SoftClosed {
		t.Errorf("%+v, %v", done, err)
	}
}

func TestCheck_FindsProposedChangesOfOnePerson(t *testing.T) {
	t.Parallel()
	// The ledger check finds a proposal whose approver was changed, one whose change was deleted, and a change
	// whose proposal was deleted.
	e := newEnv(t)
	var ids []ident.Proposal
	for minor := range int64(3) {
		p := e.propose(adjustment(minor + 1))
		if _, err := e.approve(e.ben, p.ID); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, p.ID)
	}
	if err := e.Exec("ALTER TABLE ledger_proposals DISABLE TRIGGER USER", "ALTER TABLE ledger_authorisations DISABLE TRIGGER USER",
		"UPDATE ledger_proposals SET decider = 'Carl' WHERE id = '"+ids[0].UUID().String()+"'",
		"DELETE FROM ledger_authorisations WHERE proposal_id = '"+ids[1].UUID().String()+"'",
		"DELETE FROM ledger_proposals WHERE id = '"+ids[2].UUID().String()+"'"); err != nil {
		t.Fatal(err)
	}

	report := e.checkedLedger()

	var found []string
	for _, f := range report.Findings {
		if f.Rule == audit.RuleFourEyes {
			found = append(found, f.String())
		}
	}
	slices.Sort(found)
	all := strings.Join(found, "\n")
	if len(found) != 3 || !strings.Contains(all, "Carl") || !strings.Contains(all, "no change was made") ||
		!strings.Contains(all, "no proposal of it") {
		t.Errorf("findings %q", found)
	}
}
