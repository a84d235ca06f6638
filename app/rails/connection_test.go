package rails_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/app/internal/apptest"
	"causeway/app/rails"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
	"causeway/ports/portstest"
)

// inForce returns the version of a connection that payments take.
func (e *env) inForce(t *testing.T, name string) rails.Listed {
	t.Helper()
	listed, _, err := e.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(listed, func(l rails.Listed) bool { return l.Name == name })
	if i < 0 {
		t.Fatalf("there is no %s among %+v", name, listed)
	}
	return listed[i]
}

func elsewhere(folder string) string { return strings.Replace(bankFile, "/srv/bank", folder, 1) }

func TestSet_TwoConnectionsNeverWorkWithTheSame(t *testing.T) {
	t.Parallel()
	// What a connection has, no other one can have, whether that one was tested or is retired. The refusal names it, and
	// nothing is changed. One that has it nevertheless fails its test.
	e := newEnv(t)
	e.set(t, "bank-eur", bankFile)
	refused := func(what string, err error) {
		t.Helper()
		f, ok := fault.As(err)
		if !ok || len(f.Fields) != 1 || f.Fields[0].Field != "settings" || !strings.Contains(f.Fields[0].Message, "bank-eur has already") {
			t.Errorf("%s: %v, want a refusal that names bank-eur", what, err)
		}
	}

	_, _, err := e.Set(t.Context(), "bank-new", []byte(bankFile), ana, false)
	refused("tested", err)
	_, _, err = e.Set(t.Context(), "bank-new", []byte(bankFile), ana, true)
	refused("untested", err)
	if _, err := e.Retire(t.Context(), "bank-eur", ana); err != nil {
		t.Fatal(err)
	}
	_, _, err = e.Set(t.Context(), "bank-new", []byte(bankFile), ana, false)
	refused("beside a retired one", err)

	copied := e.inForce(t, "bank-eur").RailConnectionVersion
	copied.Name, copied.Version, copied.Retired = "bank-copy", 1, false
	portstest.SaveConnection(t, e.Store.Connections(), copied)
	_, _, err = e.Test(t.Context(), "bank-copy")
	refused("the test of one that is stored", err)
	if listed, _, err := e.List(t.Context()); err != nil || len(listed) != 2 {
		t.Errorf("connections %+v, %v", listed, err)
	}
}

func TestSet_TwoOperatorsAtOnce(t *testing.T) {
	t.Parallel()
	// An operator who compared with the connections as they were before another one has set his is refused: together they
	// would have one wallet.
	e := newEnv(t)
	once := false
	e.onOpen = func(c rail.Connection) {
		if c.Name == "second" && !once {
			once = true
			e.set(t, "first", bankFile)
		}
	}

	_, _, err := e.Set(t.Context(), "second", []byte(bankFile), ana, false)

	if !errors.Is(err, ports.ErrRailConnectionChanged) || !once {
		t.Errorf("%v, want %v", err, ports.ErrRailConnectionChanged)
	}
	if _, _, err := e.Set(t.Context(), "second", []byte(bankFile), ana, false); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("repeated: %v", err)
	}
}

func TestSet_FailedTestChangesNothing(t *testing.T) {
	t.Parallel()
	// A version whose test fails is not stored, and the one before stays in use. Stored without a test, it is used once a test has
	// passed. What is not about the adapter can be changed meanwhile.
	e := newEnv(t)
	e.set(t, "bank-eur", bankFile)
	e.broken = errors.New("cannot log in")
	var broken *rails.NotWorking
	if _, _, err := e.Set(t.Context(), "bank-eur", []byte(elsewhere("/srv/new")), ana, false); !errors.As(err, &broken) ||
		!errors.Is(err, e.broken) || len(broken.Checked) != 1 {
		t.Fatalf("%v", err)
	}
	if v := e.inForce(t, "bank-eur"); v.Version != 1 || v.Latest != 1 || v.Untested {
		t.Errorf("in force is %+v", v)
	}

	limited := e.set(t, "bank-eur", strings.Replace(bankFile, "1000}", "2000}", 1))
	stored, checked, err := e.Set(t.Context(), "bank-eur", []byte(elsewhere("/srv/new")), ana, true)
	if err != nil || limited.Version != 2 || stored.Done.Version != 3 || !stored.Done.Untested || len(checked) != 0 {
		t.Fatalf("%+v, %+v, %v", limited, stored, err)
	}
	if v := e.inForce(t, "bank-eur"); v.Version != 2 || v.Latest != 3 || v.Untested || v.Limits[0].PerDay != 2000 {
		t.Errorf("in force is %+v", v)
	}
	if _, checked, err := e.Test(t.Context(), "bank-eur"); !errors.As(err, &broken) || len(checked) != 1 ||
		e.inForce(t, "bank-eur").Version != 2 {
		t.Errorf("the test of it: %q, %v", checked, err)
	}
	e.broken = nil
	if v, _, err := e.Test(t.Context(), "bank-eur"); err != nil || v.Version != 3 || e.inForce(t, "bank-eur").Version != 3 {
		t.Errorf("tested is %+v, %v", v, err)
	}

	tests, err := e.Store.RailTests(t.Context(), "bank-eur")
	var results []string
	for _, test := range tests {
		results = append(results, strings.Join(test.Checked, ";")+test.Problem)
	}
	want := []string{"the folder exists", "what version 1 was tested for has not changed", "the folder existscannot log in",
		"the folder exists"}
	if err != nil || !slices.Equal(results, want) || tests[2].Passed || !tests[3].Passed || tests[3].Version != 3 {
		t.Errorf("tests %+v, %v", tests, err)
	}
	if e.opened != e.closed {
		t.Errorf("opened %d adapters and closed %d", e.opened, e.closed)
	}
}

func TestTest_AddsInstructionsOfWhatItOpens(t *testing.T) {
	t.Parallel()
	// No instruction names a connection that was not tested, so accounts get theirs when the test passes, once.
	e := newEnv(t, apptest.EditPlatform(func(p *platform.Platform) { p.Environment = platform.Production }))
	jobs := func() int {
		found, err := e.Store.ListJobs(ports.ForAllPlatforms(t.Context()), ports.JobFilter{Step: ports.StepOpenAccounts, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	if _, _, err := e.Set(t.Context(), "bank-eur", []byte(bankFile), ana, true); err != nil || jobs() != 0 {
		t.Fatalf("%d jobs, %v", jobs(), err)
	}
	for range 2 {
		if _, _, err := e.Test(t.Context(), "bank-eur"); err != nil {
			t.Fatal(err)
		}
	}
	if n := jobs(); n != 1 {
		t.Errorf("%d jobs, want 1", n)
	}
	if _, _, err := e.Test(t.Context(), "bank-two"); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("a connection that does not exist: %v", err)
	}
}

// open returns the fields for which a connection cannot be deleted.
func (e *env) open(t *testing.T, name string) string {
	t.Helper()
	_, err := e.Delete(t.Context(), name, ana)
	f, refused := fault.As(err)
	if err != nil && !refused {
		t.Fatal(err)
	}
	var fields []string
	if refused {
		for _, field := range f.Fields {
			fields = append(fields, field.Field)
		}
	}
	return strings.Join(fields, " ")
}

func TestDelete_OnlyWhatIsRetiredAndSettled(t *testing.T) {
	t.Parallel()
	// A connection is deleted when it is retired, has no payment that is not settled, and holds nothing. Its history stays,
	// what it worked with is free, and its name can be set again.
	e := newEnv(t)
	e.set(t, "bank-eur", bankFile)
	if got := e.open(t, "bank-eur"); got != "state" {
		t.Errorf("not retired: %s", got)
	}
	p := rail.Payment{ID: uuid.UUID{15: 1}, Kind: rail.Payout, Connection: "bank-eur", Amount: money.Amount{Minor: 5, Currency: "EUR"},
		State: rail.Sent,
		Route: rail.Route{Platform: e.Platform.ID, Rail: corridor.SEPA, Currency: "EUR"}, RecordedAt: e.Clock.Now(), SentAt: e.Clock.Now()}
	portstest.MustDo(t, e.Store, func(ctx context.Context, tx *postgres.Unit) error {
		if _, err := tx.LockRailAccounts(ctx, []rail.AccountKey{p.Account()}, e.Clock.Now()); err != nil {
			return err
		}
		return tx.CreateRailPayments(ctx, []rail.Payment{p})
	})
	if v, err := e.Retire(t.Context(), "bank-eur", ana); err != nil || v.Done.Version != 2 || !e.inForce(t, "bank-eur").Retired {
		t.Fatalf("%+v, %v", v, err)
	}
	if _, err := e.Retire(t.Context(), "bank-eur", ana); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("retired again: %v", err)
	}
	if got := e.open(t, "bank-eur"); got != "state payments balance" {
		t.Errorf("just retired: %s", got)
	}
	e.Clock.Advance(time.Minute)
	balance := func(minor int64) {
		t.Helper()
		if _, err := e.SetBalance(t.Context(), "bank-eur", money.Amount{Minor: minor, Currency: "EUR"}, ana); err != nil {
			t.Fatal(err)
		}
	}
	if balance(7); e.open(t, "bank-eur") != "payments balance" {
		t.Errorf("with a payment and money: %s", e.open(t, "bank-eur"))
	}
	portstest.MustDo(t, e.Store, func(ctx context.Context, tx *postgres.Unit) error {
		p.State, p.SettledAt = rail.Done, e.Clock.Now().Add(-time.Second)
		return tx.UpdateRailPayments(ctx, []rail.Payment{p})
	})
	e.Clock.Advance(time.Second)
	balance(0)

	got := e.open(t, "bank-eur")

	listed, _, err := e.List(t.Context())
	if got != "" || err != nil || len(listed) != 0 {
		t.Fatalf("%s, %+v, %v", got, listed, err)
	}
	if history, err := e.History(t.Context(), "bank-eur"); err != nil || len(history) != 4 || !history[3].Version.Deleted {
		t.Errorf("history %+v, %v", history, err)
	}
	if _, err := e.Delete(t.Context(), "bank-eur", ana); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("deleted again: %v", err)
	}
	if e.set(t, "bank-two", bankFile); e.open(t, "bank-two") != "state" {
		t.Errorf("a tested one was deleted")
	}
	again := e.set(t, "bank-eur", elsewhere("/srv/other"))
	if again.Version != 4 || e.inForce(t, "bank-eur").Retired {
		t.Errorf("set again: %+v", again)
	}
}

func TestDelete_WhatWasNeverUsed(t *testing.T) {
	t.Parallel()
	// A connection that was never tested, and one that is retired and has carried nothing, are deleted. A retired one is opened by setting it
	// again.
	e := newEnv(t)
	if _, _, err := e.Set(t.Context(), "typo", []byte(bankFile), ana, true); err != nil {
		t.Fatal(err)
	}
	if got := e.open(t, "typo"); got != "" {
		t.Errorf("untested: %s", got)
	}
	e.set(t, "bank-eur", bankFile)
	if _, err := e.Retire(t.Context(), "bank-eur", ana); err != nil {
		t.Fatal(err)
	}
	if e.set(t, "bank-eur", bankFile); e.inForce(t, "bank-eur").Retired {
		t.Error("it is retired although it was set")
	}
	if _, err := e.Retire(t.Context(), "bank-eur", ana); err != nil {
		t.Fatal(err)
	}
	e.Clock.Advance(time.Minute)
	if got := e.open(t, "bank-eur"); got != "" {
		t.Errorf("retired: %s", got)
	}
}

func TestDelete_NotBeforeEveryServerKnowsThatItIsRetired(t *testing.T) {
	t.Parallel()
	// A connection that has carried nothing can still be given a payment by a server that does not know that it is retired.
	e := newEnv(t)
	e.set(t, "bank-eur", bankFile)
	if _, err := e.Retire(t.Context(), "bank-eur", ana); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Delete(t.Context(), "bank-eur", ana); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("deleted at once: %v", err)
	}
	e.Clock.Advance(time.Minute)
	if _, err := e.Delete(t.Context(), "bank-eur", ana); err != nil {
		t.Errorf("deleted later: %v", err)
	}
}

const walletsFile = `{"adapter": "EVM", "rails": ["BASE"], "currencies": ["USDB"], "settings": {"folder": "a"}}`

// walletJob stores a job of a step about a payment, which is from a wallet or not, and returns a function that ends it.
func (e *env) walletJob(t *testing.T, step transaction.Step, p ident.Platform, fromWallet bool) (end func()) {
	t.Helper()
	one, err := money.ParseRate("1")
	if err != nil {
		t.Fatal(err)
	}
	amount := money.Amount{Minor: 5, Currency: money.USDB}
	of := transaction.Transaction{ID: ident.NewTransaction(e.IDs.New, e.Clock.Now()), Platform: p, Customer: e.Customer.ID,
		PlatformCustomerID: "ana", Type: transaction.Outgoing, State: transaction.Initial, SourceAccount: "rails/ACH",
		Pricing:   transaction.Pricing{Sent: amount, Received: amount, Rate: one, Market: one},
		CreatedAt: e.Clock.Now(), UpdatedAt: e.Clock.Now()}
	if fromWallet {
		of.SourceAccount = "wallets/x"
	}
	job := ports.Job{ID: e.IDs.New(e.Clock.Now()), Platform: p, Step: step, Due: e.Clock.Now(), Subjects: []uuid.UUID{of.ID.UUID()}}
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.CreateTransactions(ctx, []transaction.Transaction{of}); err != nil {
			return err
		}
		return tx.AddJobs(ctx, []ports.Job{job})
	})
	return func() {
		t.Helper()
		if err := e.Exec("DELETE FROM jobs WHERE id = '" + job.ID.String() + "'"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDelete_NotWhilePaymentsOfWalletsAreOpen(t *testing.T) {
	t.Parallel()
	// The connection of embedded wallets is deleted, and gives them up in another way, only if it has sent nothing that may still end either
	// way, and no job will ask what it has sent: the next connection knows nothing of that. Jobs of sandboxes, and refunds of other payments,
	// are not about it. Nor is it deleted if it cannot be asked.
	e := newEnv(t, apptest.EditPlatform(func(p *platform.Platform) { p.Environment = platform.Production }))
	sandbox := e.NewPlatform(func(p *platform.Platform) { p.Environment = platform.Sandbox })
	e.set(t, "wallets", walletsFile)
	coins := strings.Replace(walletsFile, "USDB", "USDC", 1)
	givesUp := func() string {
		t.Helper()
		_, _, err := e.Set(t.Context(), "wallets", []byte(coins), ana, true)
		if f, refused := fault.As(err); refused && len(f.Fields) > 0 {
			return f.Fields[0].Field
		}
		if err != nil {
			t.Fatal(err)
		}
		return ""
	}
	e.walletJob(t, transaction.StepDebitWallet, sandbox.ID, true)
	e.walletJob(t, transaction.StepRefund, e.Platform.ID, false)
	if _, err := e.Retire(t.Context(), "wallets", ana); err != nil {
		t.Fatal(err)
	}
	e.Clock.Advance(time.Minute)
	for _, step := range []transaction.Step{transaction.StepDebitWallet, transaction.StepCreditWallet, transaction.StepSettleWallet,
		transaction.StepRefund} {
		end := e.walletJob(t, step, e.Platform.ID, true)
		if got := e.open(t, "wallets"); got != "jobs" {
			t.Errorf("%s: %s", step, got)
		}
		if got := givesUp(); got != "currencies" {
			t.Errorf("%s: gives them up: %s", step, got)
		}
		end()
	}
	e.unsettled = "the transaction 0x12"
	if got, other := e.open(t, "wallets"), givesUp(); got != "payments" || other != "currencies" {
		t.Errorf("unsettled: %s, %s", got, other)
	}
	e.unsettled, e.refused = "", errors.New("the seed is gone")
	if got := e.open(t, "wallets"); got != "settings" {
		t.Errorf("cannot be opened: %s", got)
	}
	e.refused = nil

	if got := e.open(t, "wallets"); got != "" {
		t.Errorf("settled: %s", got)
	}
	e.set(t, "wallets", walletsFile)
	if got := givesUp(); got != "" {
		t.Errorf("settled, gives them up: %s", got)
	}
	e.unsettled = "the transaction 0x12" // since it was stored
	if _, _, err := e.Test(t.Context(), "wallets"); err == nil {
		t.Error("a test takes the wallets away from a connection that has sent something")
	}
}
