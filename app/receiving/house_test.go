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

// house is one platform with a customer and a platform next door, on the real database
// and the sandbox's rail and people.
type house struct {
	*receiving.Receiving
	store    *postgres.DB
	pool     *pgxpool.Pool
	clock    *portstest.Hands
	ids      *ids.Generator
	platform platform.Platform
	next     platform.Platform
	ana      customer.Customer
	dollars  account.Internal

	told   portstest.Bell // something was committed that told events
	mu     sync.Mutex
	events []event.Event
	// answers is what the platform's endpoint says to each question, and asked what it
	// was asked.
	answers func(e event.Event) (ports.WebhookAnswer, error)
	asked   []event.Event
	// forwarded are the transfers that were ordered, and refuse why they are not made.
	forwarded map[ident.Transaction]transfer.Out
	refuse    error
}

// newHouse opens a house in which work is done.
func newHouse(t testing.TB) *house {
	t.Helper()
	h := furnish(t, pgtest.New(t))
	h.work(t)
	return h
}

// work begins the work, until the test ends.
func (h *house) work(t testing.TB) {
	t.Helper()
	working, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { h.Run(working) })
	t.Cleanup(func() { stop(); all.Wait() })
}

// furnish builds the house on a database reached by url; nobody works in it.
func furnish(t testing.TB, url string) *house {
	t.Helper()
	h := &house{clock: portstest.NewHands(noon), ids: ids.New(), told: portstest.NewBell(), forwarded: map[ident.Transaction]transfer.Out{}}
	var err error
	h.store, err = postgres.Open(t.Context(), postgres.Options{URL: url, MaxConnections: 8, Clock: h.clock, IDs: h.ids, Render: h.render})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.store.Close)
	h.pool = h.store.Pool()
	heard := logrus.New()
	heard.SetOutput(t.Output())
	h.Receiving = receiving.New(receiving.Config{Store: h.store, Jobs: h.store, Rails: portstest.Everywhere{Rail: sandbox.New(h.clock, 1)},
		Counterparties: ports.CounterpartiesBy{platform.Sandbox: people.New(people.DefaultDomain)}, Ask: h.ask, Forward: h.forward,
		Clock: h.clock, IDs: h.ids, Log: logrus.NewEntry(heard), Committed: h.told.Ring})
	h.found(t)
	return h
}

// render keeps the events in the order in which they were told.
func (h *house) render(e event.Event) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
	return []byte("{}"), nil
}

func (h *house) ask(_ context.Context, e event.Event) (ports.WebhookAnswer, error) {
	h.mu.Lock()
	h.asked = append(h.asked, e)
	answers := h.answers
	h.mu.Unlock()
	return answers(e)
}

func (h *house) forward(_ context.Context, id ident.Transaction, out transfer.Out) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refuse == nil {
		h.forwarded[id] = out
	}
	return h.refuse
}

// questions are those the platform was asked so far.
func (h *house) questions() []event.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.asked)
}

// answer makes the platform's endpoint say this to every question.
func (h *house) answer(status int, body string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answers = func(event.Event) (ports.WebhookAnswer, error) {
		return ports.WebhookAnswer{Outcome: event.Judge(status), StatusCode: status, Response: body}, nil
	}
}

func (h *house) who() platform.Principal {
	return platform.Principal{Platform: h.platform.ID, Environment: platform.Sandbox, Permissions: platform.Permissions}
}

func (h *house) found(t testing.TB) {
	t.Helper()
	at := func() platform.Platform {
		p := portstest.Sandbox(t, h.ids, noon)
		p.WebhookEndpoint = "https://example.com/hooks"
		p.Currencies[0].RequiredCounterpartyFields = []platform.CounterpartyField{{Name: "FULL_NAME", Mandatory: true}}
		return p
	}
	h.platform, h.next = at(), at()
	h.ana = h.customer("ana")
	h.ana.FullName = "Ana Silva"
	h.dollars = h.account(t, h.platform.ID, h.ana.ID, "USD")
	h.do(t, func(ctx context.Context, tx ports.Tx) error {
		for _, p := range []platform.Platform{h.platform, h.next} {
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

func (h *house) do(t testing.TB, fn func(context.Context, ports.Tx) error) {
	t.Helper()
	portstest.Do(t, h.store, fn)
}

func (h *house) customer(name string) customer.Customer {
	return portstest.Person(h.ids, noon, h.platform.ID, name)
}

func (h *house) account(t testing.TB, p ident.Platform, c ident.Customer, currency money.Currency) account.Internal {
	t.Helper()
	a, err := account.NewInternal(ident.NewInternalAccount(h.ids.New, noon), p, c, currency, noon)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// open opens a further account.
func (h *house) open(t testing.TB, a account.Internal) account.Internal {
	t.Helper()
	h.do(t, func(ctx context.Context, tx ports.Tx) error {
		return tx.OpenInternalAccounts(ctx, []account.Internal{a})
	})
	return a
}

// bank registers a US bank account of a customer; its number picks the scenario.
func (h *house) bank(t testing.TB, of ident.Customer, number string) account.External {
	t.Helper()
	return h.register(t, account.External{Customer: of, Currency: "USD", Type: account.USAccount,
		Fields: map[string]string{"accountNumber": number, "routingNumber": "021000021"}})
}

func (h *house) register(t testing.TB, a account.External) account.External {
	t.Helper()
	a.ID, a.Platform = ident.NewExternalAccount(h.ids.New, noon), h.platform.ID
	a.Status, a.CreatedAt, a.UpdatedAt = account.Active, noon, noon
	h.do(t, func(ctx context.Context, tx ports.Tx) error { return tx.CreateExternalAccount(ctx, a) })
	return a
}

func (h *house) read(t testing.TB, id ident.Transaction) transaction.Transaction {
	t.Helper()
	found, err := h.store.Transaction(t.Context(), h.platform.ID, id)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// until waits for a status, woken by every commit that tells events.
func (h *house) until(t testing.TB, id ident.Transaction, status transaction.Status) (found transaction.Transaction) {
	t.Helper()
	h.told.Until(t, func() string {
		if found = h.read(t, id); found.State.Status == status {
			return ""
		}
		return fmt.Sprintf("%s is %s (%s) and did not become %s", id, found.State, found.State.Reason, status)
	})
	return found
}

// stands waits for a stand that tells no event: there is no signal but the table.
func (h *house) stands(t testing.TB, id ident.Transaction, stand transaction.Stand) transaction.Transaction {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		if found := h.read(t, id); found.Stand() == stand {
			return found
		} else if ctx.Err() != nil {
			t.Fatalf("%s is %s and not %s", id, found.Stand(), stand)
		}
	}
}

func (h *house) wantBooks(t testing.TB, want map[string]int64) {
	t.Helper()
	portstest.WantBooks(t, h.store.BookReader(), h.platform.ID, want)
}

// wantTold compares the events about a transaction with what should have been told.
func (h *house) wantTold(t testing.TB, id ident.Transaction, want ...string) {
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

// balances are those told about an account so far.
func (h *house) balances(id ident.InternalAccount) []int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	var told []int64
	for _, e := range h.events {
		if holding, ok := e.Resource.(account.Holding); ok && holding.ID == id && e.Name == event.InternalAccountBalanceUpdated {
			told = append(told, holding.Balance)
		}
	}
	return told
}

// jobs counts the jobs of a step that wait.
func (h *house) jobs(t testing.TB, step transaction.Step) (n int) {
	t.Helper()
	if err := h.pool.QueryRow(t.Context(), `SELECT count(*) FROM jobs WHERE step = $1`, string(step)).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// none waits until no job of a step is left. Such jobs tell no events, so there is no
// signal but the table itself.
func (h *house) none(t testing.TB, step transaction.Step) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for h.jobs(t, step) > 0 {
		if ctx.Err() != nil {
			t.Fatalf("%s is not done", step)
		}
	}
}

func wantFault(t testing.TB, what string, err error, code fault.Code, fields ...string) {
	t.Helper()
	f, ok := fault.Of(err)
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
