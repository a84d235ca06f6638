package receiving_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/sirupsen/logrus"

	people "causeway/adapters/counterparties/sandbox"
	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/adapters/rails/sandbox"
	"causeway/app/receiving"
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/core/transfer"
	"causeway/ports"
	"causeway/ports/portstest"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// incomingEnv is one platform with a customer and a platform next door, on the real database
// and the sandbox's rail and people.
type incomingEnv struct {
	*receiving.IncomingService
	store         *postgres.DB
	pool          *pgxpool.Pool
	clock         *portstest.FakeClock
	ids           *ids.Generator
	platform      platform.Platform
	otherPlatform platform.Platform
	ana           customer.Customer
	dollars       account.Internal

	committed portstest.Wakeup // something was committed that told events
	mu        sync.Mutex
	events    []event.Event
	// respond is what the platform's endpoint says to each question, and asked what it
	// was asked.
	respond          func(e event.Event) (ports.WebhookResponse, error)
	approvalRequests []event.Event
	// transfers are the transfers that were ordered, and refuse why they are not made.
	transfers   map[ident.Transaction]transfer.Out
	transferErr error
}

// newIncomingEnv opens a house in which work is done.
func newIncomingEnv(t testing.TB) *incomingEnv {
	t.Helper()
	h := newIdleIncomingEnv(t, pgtest.New(t))
	h.startWorkers(t)
	return h
}

// startWorkers begins the work, until the test ends.
func (h *incomingEnv) startWorkers(t testing.TB) {
	t.Helper()
	working, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { h.Run(working) })
	t.Cleanup(func() { stop(); all.Wait() })
}

// newIdleIncomingEnv builds the house on a database reached by url; nobody works in it.
func newIdleIncomingEnv(t testing.TB, url string) *incomingEnv {
	t.Helper()
	h := &incomingEnv{clock: portstest.NewFakeClock(noon), ids: ids.New(), committed: portstest.NewWakeup(), transfers: map[ident.Transaction]transfer.Out{}}
	var err error
	h.store, err = postgres.Open(t.Context(), postgres.Options{URL: url, MaxConnections: 8, Clock: h.clock, IDs: h.ids, Render: h.render})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.store.Close)
	h.pool = h.store.Pool()
	heard := logrus.New()
	heard.SetOutput(t.Output())
	h.IncomingService = receiving.NewIncomingService(receiving.IncomingConfig{Store: h.store, Jobs: h.store, Rails: portstest.SingleRail{Rail: sandbox.New(h.clock, 1)},
		Counterparties: ports.CounterpartiesByEnvironment{platform.Sandbox: people.New(people.DefaultDomain)}, RequestApproval: h.requestApproval, TransferOut: h.transferOut,
		Clock: h.clock, IDs: h.ids, Log: logrus.NewEntry(heard), Committed: h.committed.Notify})
	h.createPlatforms(t)
	return h
}

// render keeps the events in the order in which they were told.
func (h *incomingEnv) render(e event.Event) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
	return []byte("{}"), nil
}

func (h *incomingEnv) requestApproval(_ context.Context, e event.Event) (ports.WebhookResponse, error) {
	h.mu.Lock()
	h.approvalRequests = append(h.approvalRequests, e)
	answers := h.respond
	h.mu.Unlock()
	return answers(e)
}

func (h *incomingEnv) transferOut(_ context.Context, id ident.Transaction, out transfer.Out) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.transferErr == nil {
		h.transfers[id] = out
	}
	return h.transferErr
}

// sentApprovalRequests are those the platform was asked so far.
func (h *incomingEnv) sentApprovalRequests() []event.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.approvalRequests)
}

// setResponse makes the platform's endpoint say this to every question.
func (h *incomingEnv) setResponse(status int, body string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.respond = func(event.Event) (ports.WebhookResponse, error) {
		return ports.WebhookResponse{Outcome: event.OutcomeOf(status), StatusCode: status, Response: body}, nil
	}
}

func (h *incomingEnv) principal() platform.Principal {
	return platform.Principal{Platform: h.platform.ID, Environment: platform.Sandbox, Permissions: platform.Permissions}
}

func (h *incomingEnv) createPlatforms(t testing.TB) {
	t.Helper()
	at := func() platform.Platform {
		p := portstest.SandboxPlatform(t, h.ids, noon)
		p.WebhookEndpoint = "https://example.com/hooks"
		p.Currencies[0].RequiredCounterpartyFields = []platform.CounterpartyField{{Name: "FULL_NAME", Mandatory: true}}
		return p
	}
	h.platform, h.otherPlatform = at(), at()
	h.ana = h.newCustomer("ana")
	h.ana.FullName = "Ana Silva"
	h.dollars = h.newAccount(t, h.platform.ID, h.ana.ID, "USD")
	h.do(t, func(ctx context.Context, tx ports.Tx) error {
		for _, p := range []platform.Platform{h.platform, h.otherPlatform} {
			if err := tx.CreatePlatform(ctx, p); err != nil {
				return err
			}
		}
		if err := tx.CreateCustomer(ctx, h.ana); err != nil {
			return err
		}
		return tx.OpenInternalAccounts(ctx, []account.Internal{h.dollars})
	})
}

func (h *incomingEnv) do(t testing.TB, fn func(context.Context, ports.Tx) error) {
	t.Helper()
	portstest.MustDo(t, h.store, fn)
}

func (h *incomingEnv) newCustomer(name string) customer.Customer {
	return portstest.ApprovedCustomer(h.ids, noon, h.platform.ID, name)
}

func (h *incomingEnv) newAccount(t testing.TB, p ident.Platform, c ident.Customer, currency money.Currency) account.Internal {
	t.Helper()
	a, err := account.NewInternal(ident.NewInternalAccount(h.ids.New, noon), p, c, currency, noon)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// openAccount opens a further account.
func (h *incomingEnv) openAccount(t testing.TB, a account.Internal) account.Internal {
	t.Helper()
	h.do(t, func(ctx context.Context, tx ports.Tx) error {
		return tx.OpenInternalAccounts(ctx, []account.Internal{a})
	})
	return a
}

// bank registers a US bank account of a customer; its number picks the scenario.
func (h *incomingEnv) bank(t testing.TB, of ident.Customer, number string) account.External {
	t.Helper()
	return h.register(t, account.External{Customer: of, Currency: "USD", Type: account.USAccount,
		Fields: map[string]string{"accountNumber": number, "routingNumber": "021000021"}})
}

func (h *incomingEnv) register(t testing.TB, a account.External) account.External {
	t.Helper()
	a.ID, a.Platform = ident.NewExternalAccount(h.ids.New, noon), h.platform.ID
	a.Status, a.CreatedAt, a.UpdatedAt = account.Active, noon, noon
	h.do(t, func(ctx context.Context, tx ports.Tx) error { return tx.CreateExternalAccount(ctx, a) })
	return a
}

func (h *incomingEnv) read(t testing.TB, id ident.Transaction) transaction.Transaction {
	t.Helper()
	found, err := h.store.Transaction(t.Context(), h.platform.ID, id)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// waitForStatus waits for a status, woken by every commit that tells events.
func (h *incomingEnv) waitForStatus(t testing.TB, id ident.Transaction, status transaction.Status) (found transaction.Transaction) {
	t.Helper()
	h.committed.WaitUntil(t, func() string {
		if found = h.read(t, id); found.State.Status == status {
			return ""
		}
		return fmt.Sprintf("%s is %s (%s) and did not become %s", id, found.State, found.State.Reason, status)
	})
	return found
}

// waitForIncomingState waits for a stand that tells no event: there is no signal but the table.
func (h *incomingEnv) waitForIncomingState(t testing.TB, id ident.Transaction, stand transaction.IncomingState) transaction.Transaction {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		if found := h.read(t, id); found.IncomingState() == stand {
			return found
		} else if ctx.Err() != nil {
			t.Fatalf("%s is %s and not %s", id, found.IncomingState(), stand)
		}
	}
}

func (h *incomingEnv) wantTrialBalance(t testing.TB, want map[string]int64) {
	t.Helper()
	portstest.WantTrialBalance(t, h.store.LedgerReader(), h.platform.ID, want)
}

// wantEvents compares the events about a transaction with what should have been told.
func (h *incomingEnv) wantEvents(t testing.TB, id ident.Transaction, want ...string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	var got []string
	for _, e := range h.events {
		if e.Subject == id.UUID() {
			got = append(got, e.Name)
			if e.Type != event.IncomingPayment {
				t.Errorf("%s is told as %s", e.Name, e.Type)
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
}

// notifiedBalances are those told about an account so far.
func (h *incomingEnv) notifiedBalances(id ident.InternalAccount) []int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	var told []int64
	for _, e := range h.events {
		if holding, ok := e.Resource.(account.WithBalance); ok && holding.ID == id && e.Name == event.InternalAccountBalanceUpdated {
			told = append(told, holding.Balance)
		}
	}
	return told
}

// jobCount counts the jobs of a step that wait.
func (h *incomingEnv) jobCount(t testing.TB, step transaction.Step) (n int) {
	t.Helper()
	if err := h.pool.QueryRow(t.Context(), `SELECT count(*) FROM jobs WHERE step = $1`, string(step)).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// waitForNoJobs waits until no job of a step is left. Such jobs tell no events, so there is no
// signal but the table itself.
func (h *incomingEnv) waitForNoJobs(t testing.TB, step transaction.Step) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for h.jobCount(t, step) > 0 {
		if ctx.Err() != nil {
			t.Fatalf("%s is not done", step)
		}
	}
}

func wantFault(t testing.TB, what string, err error, code fault.Code, fields ...string) {
	t.Helper()
	f, ok := fault.As(err)
	if !ok || f.Code != code {
		t.Errorf("%s: %v, want %s", what, err, code)
		return
	}
	var got []string
	for _, field := range f.Fields {
		got = append(got, field.Field)
	}
	if !slices.Equal(got, fields) {
		t.Errorf("%s: bad fields %v, want %v", what, got, fields)
	}
}
