package receivables_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/adapters/postgres/outbox"
	"causeway/app/accounting"
	"causeway/app/audit"
	"causeway/app/books"
	"causeway/app/customers"
	"causeway/app/internal/apptest"
	"causeway/app/internal/audittest"
	"causeway/app/internal/uow"
	"causeway/app/proposals"
	"causeway/app/receivables"
	"causeway/app/reconciliation"
	"causeway/core/account"
	corebooks "causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/receivable"
	"causeway/core/reconcile"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// env is an environment with the use cases, and a customer whose account is credited from a bank account.
type env struct {
	*apptest.Env
	*receivables.Service
	dollars account.Internal
	bank    account.External
	t       *testing.T
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{Env: apptest.New(t), t: t}
	e.Service = receivables.New(receivables.Config{Store: e.Store, Clock: e.Clock, IDs: e.IDs})
	e.dollars, e.bank = e.NewInternalAccount(e.Customer.ID, "USD", 0), e.NewBankAccount("1234567890")
	return e
}

func usd(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "USD"} }

func (e *env) by() platform.Author { return platform.Author{Token: e.Admin.Token, Actor: "Ana Silva"} }

func (e *env) header() ledger.Header {
	return ledger.Header{ID: e.IDs.New(e.Clock.Now()), Platform: e.Platform.ID, Effective: e.Clock.Now()}
}

// collect stores a transfer in that was collected over ACH.
func (e *env) collect(minor int64) transaction.Transaction {
	e.t.Helper()
	now := e.Clock.Now()
	pending, err := transaction.TransferIn{Platform: e.Platform.ID, From: e.bank.ID, To: e.dollars.ID, Amount: minor}.Make(
		ident.NewTransaction(e.IDs.New, now), transaction.IncomingParties{To: &e.dollars, Owner: &e.Customer, From: &e.bank}, 0, now)
	if err != nil {
		e.t.Fatal(err)
	}
	arrived, err := pending.Transaction.Arrived(now.Add(time.Second))
	if err != nil {
		e.t.Fatal(err)
	}
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		work := uow.NewWork(now, e.IDs, 0)
		work.Create(transaction.Decision{Transaction: pending.Transaction})
		work.Update(arrived)
		return work.Write(ctx, e.Tx(tx))
	})
	e.Clock.Advance(time.Minute)
	return arrived.Transaction
}

func (e *env) spend(minor int64) {
	e.Post(ledger.FeeCharged(e.header(), e.dollars.LedgerPath(), usd(minor)))
}

func (e *env) deposit(minor int64) {
	e.Post(ledger.Deposit(e.header(), ledger.IncomingFunds{Partner: "rails/RTP", To: e.dollars.LedgerPath(), Amount: usd(minor)}))
}

func (e *env) returned() receivable.Return {
	return receivable.Return{ReasonCode: "R01", PartnerID: "RET1", ReturnedAt: e.Clock.Now(), By: e.by(), Note: "Letter of the bank"}
}

func (e *env) mustRecord(id ident.Transaction) ports.ReceivableDetails {
	e.t.Helper()
	details, err := e.Record(e.t.Context(), e.Platform.ID, id, e.returned(), nil)
	if err != nil {
		e.t.Fatal(err)
	}
	return details
}

func (e *env) wantBalance(path string, minor int64) {
	e.t.Helper()
	a := ledger.Account{Platform: e.Platform.ID, Path: path, Currency: "USD"}
	balances, err := e.Store.LedgerReader().Balances(e.t.Context(), []ledger.Account{a})
	if err != nil || balances[a] != minor {
		e.t.Errorf("%s has %d, %v, want %d", path, balances[a], err, minor)
	}
}

func (e *env) wantState(id ident.Receivable, state receivable.State, collected, writtenOff int64) ports.ReceivableDetails {
	e.t.Helper()
	d, err := e.Service.Receivable(e.t.Context(), e.Platform.ID, id)
	if err != nil || d.State != state || d.Collected != collected || d.WrittenOff != writtenOff {
		e.t.Errorf("%s with %d collected and %d written off, %v; want %s, %d, %d", d.State, d.Collected, d.WrittenOff, err, state,
			collected, writtenOff)
	}
	return d
}

func (e *env) collectDue() {
	e.t.Helper()
	if err := e.CollectDue(ports.ForAllPlatforms(e.t.Context())); err != nil {
		e.t.Fatal(err)
	}
}

func TestReceivable_CollectedAndWrittenOff(t *testing.T) {
	t.Parallel()
	// Of 100 collected, 80 were spent when the bank took them back: 20 pay at once, 50 of a later deposit pay within
	// the next run of the job, and 30 are written off. The aging report equals the account at each step.
	e := newEnv(t)
	collected := e.collect(100_00)
	e.spend(80_00)
	owed := ledger.CustomerReceivable(e.dollars.ID)

	d := e.mustRecord(collected.ID)

	if d.State != receivable.Open || d.Owed() != 80_00 || len(d.Changes) != 2 || d.Changes[1].Amount != 20_00 || d.Amount != usd(100_00) {
		t.Fatalf("recorded %+v", d)
	}
	e.wantBalance("rails/ACH", 0)
	e.wantBalance(e.dollars.LedgerPath(), 0)
	e.wantBalance(owed, 80_00)
	if got := e.Transaction(collected.ID); got.State != collected.State {
		t.Errorf("the transaction became %s", got.State)
	}

	e.collectDue() // nothing to collect
	e.wantState(d.ID, receivable.Open, 20_00, 0)
	e.deposit(50_00)
	e.collectDue()
	e.collectDue()

	e.wantState(d.ID, receivable.Open, 70_00, 0)
	e.wantBalance(e.dollars.LedgerPath(), 0)
	e.wantBalance(owed, 30_00)
	e.Clock.Advance(45 * 24 * time.Hour)
	report, err := e.Aging(t.Context(), e.Platform.ID)
	if err != nil || len(report.Currencies) != 1 || report.Currencies[0].Owed.String() != "3000" ||
		report.Currencies[0].ByAge[receivable.UpTo60].String() != "3000" {
		t.Errorf("aging %+v, %v", report, err)
	}
	if rows := report.Table().Rows; len(rows) != 1 || strings.Join(rows[0], " ") != "USD 1 0.00 30.00 0.00 0.00 30.00" {
		t.Errorf("table %v", rows)
	}

	done, err := e.WriteOffAlone(t.Context(), e.Platform.ID, e.by(), receivables.WriteOffCommand{Receivable: d.ID,
		Note: "The customer cannot be reached"})

	if err != nil || len(done.Changes) != 4 || done.Changes[3].By != e.by() || done.Changes[3].Note == "" {
		t.Fatalf("written off %+v, %v", done, err)
	}
	e.wantBalance(owed, 0)
	e.wantBalance(ledger.ExpenseWriteOffs, 30_00)
	e.deposit(5_00)
	e.collectDue()
	stored := e.wantState(d.ID, receivable.WrittenOff, 70_00, 30_00)
	if err := stored.CheckChanges(stored.Changes); err != nil {
		t.Error(err)
	}
	e.wantBalance(e.dollars.LedgerPath(), 5_00)
	// Each change has an event, in their order.
	if names := e.QueryStrings(`SELECT name FROM webhook_events WHERE subject_id = $1 ORDER BY id`, d.ID.UUID()); strings.Join(names, " ") !=
		"RECEIVABLE.OPENED RECEIVABLE.COLLECTED RECEIVABLE.COLLECTED RECEIVABLE.WRITTEN_OFF" {
		t.Errorf("events %v", names)
	}
	if report, err := e.Aging(t.Context(), e.Platform.ID); err != nil || len(report.Currencies) != 0 {
		t.Errorf("aging of nothing %+v, %v", report, err)
	}
	_, err = e.WriteOff(t.Context(), e.Platform.ID, e.by(), receivables.WriteOffCommand{Receivable: d.ID, Note: "Again"}, nil)
	apptest.WantFault(t, "a second write-off", err, fault.Conflict)
	_, err = e.WriteOff(t.Context(), e.Platform.ID, e.by(), receivables.WriteOffCommand{Receivable: d.ID}, nil)
	apptest.WantFault(t, "a write-off without a note", err, fault.InvalidInput, "note")
	_, err = e.WriteOff(t.Context(), e.Platform.ID, e.by(),
		receivables.WriteOffCommand{Receivable: ident.NewReceivable(e.IDs.New, e.Clock.Now()), Note: "Gone"}, nil)
	apptest.WantFault(t, "a write-off of an unknown receivable", err, fault.NotFound)

	check, err := e.check(t)
	if err != nil || len(check.Findings) != 0 {
		t.Errorf("check: %v, %v", check.Findings, err)
	}
}

// check runs the ledger check with the stored receivables.
func (e *env) check(t *testing.T) (audit.Report, error) {
	t.Helper()
	return audittest.New(e.Env).Check(ports.ForAllPlatforms(t.Context()))
}

func TestRecord_StatementLineMatchesByPartnerID(t *testing.T) {
	t.Parallel()
	// Two returns of one amount and day match those lines of the partner's statement that have their ids, although a
	// third line has the amount too.
	e := newEnv(t)
	first, second := e.collect(10_00), e.collect(10_00)
	e.spend(20_00)
	posting := map[string]uuid.UUID{}
	for id, of := range map[string]ident.Transaction{"RET20260314000041": first.ID, "RET20260314000042": second.ID} {
		returned := e.returned()
		returned.PartnerID = id
		d, err := e.Record(t.Context(), e.Platform.ID, of, returned, nil)
		if err != nil {
			t.Fatal(err)
		}
		posting[id] = d.Changes[0].Posting
	}
	service := reconciliation.New(reconciliation.Config{
		Store: e.Store, Runs: e.Store, Ledger: e.Store.LedgerReader(),
		Accounts: e.Store.Finance(),
		Clock:    e.Clock, IDs: e.IDs})
	today := e.Clock.Now().Format(time.DateOnly)
	file := "Day,Amount,Id\n" + today + ",-10.00,RET20260314000042\n" + today + ",-10.00,RET20260314000040\n" + today +
		",-10.00,RET20260314000041\n"

	run, err := service.Import(t.Context(), reconciliation.ImportRequest{Platform: e.Platform.ID, Path: "rails/ACH",
		Currency: "USD", Format: "csv",
		Layout: "date=Day;amount=Amount;id=Id", By: "Token:test", File: strings.NewReader(file)}, nil)

	if err != nil || run.Matches[reconcile.ReferenceAmountDate] != 2 || run.Breaks[reconcile.MissingInLedger] != 1 {
		t.Fatalf("%+v, %v", run, err)
	}
	lines, err := service.Lines(t.Context(), e.Platform.ID, run.ID,
		ports.StatementLineFilter{Paging: ports.Paging{Limit: 10, Ascending: true}})
	if err != nil || len(lines.Items) != 3 {
		t.Fatalf("%+v, %v", lines, err)
	}
	for _, l := range lines.Items {
		if want, known := posting[l.ServicerReference]; known != (len(l.Entries) == 1) || known && l.Entries[0].Posting != want {
			t.Errorf("%s matches %+v", l.ServicerReference, l.Entries)
		}
	}
}

func TestRecord_OldestIsCollectedFirst(t *testing.T) {
	t.Parallel()
	// Later money pays the return that is older, although it was recorded later.
	e := newEnv(t)
	first, second := e.collect(10_00), e.collect(10_00)
	e.spend(20_00)
	young := e.returned()
	young.ReturnedAt = e.Clock.Now()
	old := e.returned()
	old.ReturnedAt = e.Clock.Now().Add(-30 * time.Second)
	younger, err := e.Record(t.Context(), e.Platform.ID, first.ID, young, nil)
	if err != nil {
		t.Fatal(err)
	}
	older, err := e.Record(t.Context(), e.Platform.ID, second.ID, old, nil)
	if err != nil {
		t.Fatal(err)
	}

	e.deposit(12_00)
	e.collectDue()

	e.wantState(older.ID, receivable.Settled, 10_00, 0)
	e.wantState(younger.ID, receivable.Open, 2_00, 0)
}

func TestRecord_Repeated(t *testing.T) {
	t.Parallel()
	// A return is recorded once, also by requests at the same time. Another content of it is refused, and so is a
	// transaction that is unknown or collected nothing.
	e := newEnv(t)
	collected := e.collect(10_00)
	returned := e.returned()
	var running sync.WaitGroup
	ids := make([]ident.Receivable, 4)
	for i := range ids {
		running.Go(func() {
			d, err := e.Record(t.Context(), e.Platform.ID, collected.ID, returned, nil)
			if err != nil {
				t.Error(err)
			}
			ids[i] = d.ID
		})
	}
	running.Wait()
	for _, id := range ids {
		if id != ids[0] {
			t.Errorf("recorded as %v", ids)
		}
	}
	e.wantState(ids[0], receivable.Settled, 10_00, 0)
	e.wantBalance("rails/ACH", 0)

	other := returned
	other.PartnerID = "RET2"
	_, err := e.Record(t.Context(), e.Platform.ID, collected.ID, other, nil)
	apptest.WantFault(t, "another return", err, fault.Conflict)
	_, err = e.Record(t.Context(), e.Platform.ID, ident.NewTransaction(e.IDs.New, e.Clock.Now()), returned, nil)
	apptest.WantFault(t, "unknown transaction", err, fault.TransactionNotFound)
	returned.ReasonCode = ""
	_, err = e.Record(t.Context(), e.Platform.ID, collected.ID, returned, nil)
	apptest.WantFault(t, "no reason", err, fault.InvalidInput, "reasonCode")
}

func TestRecord_QuotePaidFromABank(t *testing.T) {
	t.Parallel()
	// The collection of a quote is owed by the customer's account in its currency, which is opened if there is none.
	e := newEnv(t)
	now := e.Clock.Now()
	euros := money.Amount{Minor: 70_00, Currency: "EUR"}
	paid := transaction.Transaction{ID: ident.NewTransaction(e.IDs.New, now), Platform: e.Platform.ID, Customer: e.Customer.ID,
		Type:       transaction.Outgoing,
		State:      transaction.State{Status: transaction.Completed, Stage: transaction.Delivered},
		Source:     transaction.Endpoint{ExternalAccount: e.bank.ID, Currency: "EUR"},
		SourceRail: "ACH", SourceAccount: "rails/ACH", DestinationRail: "RTP", DestinationAccount: "rails/RTP", Reference: "REFQ",
		Pricing: transaction.Pricing{Sent: euros, Received: usd(60_00)}, CreatedAt: now, UpdatedAt: now, SettledAt: now}
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.CreateTransactions(ctx, []transaction.Transaction{paid})
	})

	d := e.mustRecord(paid.ID)

	if d.State != receivable.Open || d.Amount != euros || d.Customer != e.Customer.ID || d.Account == e.dollars.ID {
		t.Fatalf("recorded %+v", d)
	}
	opened, err := e.Store.InternalAccount(t.Context(), e.Platform.ID, d.Account)
	if err != nil || opened.Currency != "EUR" || opened.Customer != e.Customer.ID {
		t.Errorf("owed by %+v, %v", opened, err)
	}
}

func TestCollectDue_ManyAtOnceCollectOnce(t *testing.T) {
	t.Parallel()
	// Several processes that collect at the same time collect once.
	e := newEnv(t)
	collected := e.collect(100_00)
	e.spend(100_00)
	d := e.mustRecord(collected.ID)
	e.deposit(250_00)

	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			if err := e.CollectDue(ports.ForAllPlatforms(t.Context())); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()

	e.wantState(d.ID, receivable.Settled, 100_00, 0)
	e.wantBalance(e.dollars.LedgerPath(), 150_00)
}

func TestRecord_FailedCommitChangesNothing(t *testing.T) {
	t.Parallel()
	// If the unit of work fails after it has run, nothing of the return is stored, and the next try records it.
	e := newEnv(t)
	collected := e.collect(100_00)
	broken := receivables.New(receivables.Config{Store: failingStore{e.Store}, Clock: e.Clock, IDs: e.IDs})

	_, err := broken.Record(t.Context(), e.Platform.ID, collected.ID, e.returned(), nil)

	if !errors.Is(err, errCommit) {
		t.Fatalf("got %v", err)
	}
	e.wantBalance("rails/ACH", 100_00)
	if page, err := e.Receivables(t.Context(), e.Platform.ID, ports.ReceivableFilter{Paging: ports.Paging{Limit: 10}}); err != nil ||
		len(page.Items) != 0 {
		t.Errorf("listed %+v, %v", page.Items, err)
	}
	d := e.mustRecord(collected.ID)
	e.wantState(d.ID, receivable.Settled, 100_00, 0)
	for name, c := range map[string]struct {
		filter ports.ReceivableFilter
		want   int
	}{
		"of the customer": {ports.ReceivableFilter{Customer: e.Customer.ID, State: receivable.Settled, Currency: "USD"}, 1},
		"open":            {ports.ReceivableFilter{State: receivable.Open}, 0},
		"in euros":        {ports.ReceivableFilter{Currency: "EUR"}, 0},
	} {
		c.filter.Limit = 10
		if page, err := e.Receivables(t.Context(), e.Platform.ID, c.filter); err != nil || len(page.Items) != c.want {
			t.Errorf("%s: %+v, %v", name, page.Items, err)
		}
	}
}

var errCommit = errors.New("the commit failed")

// failingStore is a store whose units of work fail at their ends.
type failingStore struct{ receivables.Store }

func (s failingStore) DoUnit(ctx context.Context, fn func(ctx context.Context, unit any) error) error {
	return s.Store.DoUnit(ctx, func(ctx context.Context, tx any) error { return errors.Join(fn(ctx, tx), errCommit) })
}

func TestWriteOff_NeedsASecondPerson(t *testing.T) {
	t.Parallel()
	// With WRITE_OFF among the actions with four eyes a write-off is proposed, and another token carries it out, once.
	e := newEnv(t)
	collected := e.collect(100_00)
	e.spend(100_00)
	d := e.mustRecord(collected.ID)
	booksService := books.New(books.Config{Store: e.Store, Finance: e.Store.Finance(), Clock: e.Clock, IDs: e.IDs})
	if _, err := booksService.EditSettings(t.Context(), e.Platform.ID, books.Change{By: e.by()},
		func(s corebooks.Settings) (corebooks.Settings, error) {
			return s.With("fourEyes=WRITE_OFF")
		}); err != nil {
		t.Fatal(err)
	}
	second := e.NewPrincipal(e.Platform)
	service := proposals.New(proposals.Config{Store: e.Store, Clock: e.Clock, IDs: e.IDs, Executors: e.Executors()})

	outcome, err := e.WriteOff(t.Context(), e.Platform.ID, e.by(), receivables.WriteOffCommand{Receivable: d.ID, Note: "Gone"}, nil)

	if err != nil || outcome.Proposal == nil {
		t.Fatalf("%+v, %v", outcome, err)
	}
	e.wantState(d.ID, receivable.Open, 0, 0)
	if _, err := service.Approve(t.Context(), e.Platform.ID, e.by(), nil, outcome.Proposal.ID); err == nil {
		t.Error("the proposer has approved")
	}
	approver := platform.Author{Token: second.Token, Actor: "Bo Berg"}
	if _, err := service.Approve(t.Context(), e.Platform.ID, approver, nil, outcome.Proposal.ID); err != nil {
		t.Fatal(err)
	}
	stored := e.wantState(d.ID, receivable.WrittenOff, 0, 100_00)
	if c := stored.Changes[1]; c.By != e.by() || c.Approval.By != approver || c.Approval.Proposal != outcome.Proposal.ID {
		t.Errorf("written off %+v", c)
	}
	if check, err := e.check(t); err != nil || len(check.Findings) != 0 {
		t.Errorf("check: %v, %v", check.Findings, err)
	}
}

func TestDelete_CustomerWhoOwes(t *testing.T) {
	t.Parallel()
	// A customer who owes cannot be deleted; one whose receivable was written off can.
	e := newEnv(t)
	collected := e.collect(10_00)
	e.spend(10_00)
	d := e.mustRecord(collected.ID)
	service := customers.New(customers.Config{Store: e.Store, Clock: e.Clock, IDs: e.IDs})

	_, err := service.Delete(t.Context(), e.Platform.ID, platform.Service, e.Customer.ID)

	apptest.WantFault(t, "a customer who owes", err, fault.Conflict)
	if f, _ := fault.As(err); f.Reason != "Receivable open" {
		t.Errorf("refused because of %q", f.Reason)
	}
	if _, err := e.WriteOffAlone(t.Context(), e.Platform.ID, e.by(), receivables.WriteOffCommand{Receivable: d.ID, Note: "Gone"}); err != nil {
		t.Fatal(err)
	}
	if _, err := service.Delete(t.Context(), e.Platform.ID, platform.Service, e.Customer.ID); err != nil {
		t.Error(err)
	}
}

func TestTimeline_ShowsTheReturn(t *testing.T) {
	t.Parallel()
	// The timeline of the transaction shows the return and what followed it.
	e := newEnv(t)
	collected := e.collect(10_00)
	e.spend(4_00)
	e.mustRecord(collected.ID)
	service := accounting.New(accounting.Config{
		Store: e.Store, Ledger: e.Store.Finance(), WebhookLog: outbox.NewLog(e.Store.ReadPool(),
			e.Store.Cipher()), Clock: e.Clock, IDs: e.IDs})

	timeline, err := service.Timeline(t.Context(), e.Platform.ID, collected.ID)

	if err != nil {
		t.Fatal(err)
	}
	var kinds []receivable.ChangeKind
	for _, event := range timeline.Events {
		if event.Type == accounting.TimelineReceivable {
			kinds = append(kinds, event.Receivable.Kind)
		}
	}
	if !slices.Equal(kinds, []receivable.ChangeKind{receivable.Returned, receivable.Collected}) {
		t.Errorf("shown %v", kinds)
	}
}
