package quoting_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/adapters/rails/sandbox"
	"causeway/adapters/rates/market"
	"causeway/app/quoting"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/quote"
	"causeway/ports"
	"causeway/ports/portstest"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// lostCommitStore is a store that does not hear the answer to its second commit. It holds the
// first until the gate opens, so that commands gather into a group behind it.
type lostCommitStore struct {
	ports.Store
	mu           sync.Mutex
	runs         int
	firstBlocked chan struct{} // closed once the first run is at the gate
	release      chan struct{}
}

var errCommitLost = errors.New("connection lost after the commit")

func (d *lostCommitStore) Do(ctx context.Context, fn func(context.Context, ports.Tx) error) error {
	d.mu.Lock()
	d.runs++
	run := d.runs
	d.mu.Unlock()
	if run == 1 {
		close(d.firstBlocked)
		<-d.release
	}
	err := d.Store.Do(ctx, fn)
	if run == 2 && err == nil {
		return errCommitLost
	}
	return err
}

func TestCreateQuote_LostCommitIsNotRepeated(t *testing.T) {
	t.Parallel()
	// A group's commit succeeds and its answer is lost. Run again one by one, each
	// command finds its quote; nothing is made or told twice.
	made, clock := ids.New(), portstest.NewFakeClock(noon)
	db, err := postgres.Open(t.Context(), postgres.Options{URL: pgtest.New(t), MaxConnections: 4, Clock: clock, IDs: made,
		Render: func(event.Event) ([]byte, error) { return []byte("{}"), nil }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	request := newQuoteRequest(t, db, made)
	store := &lostCommitStore{Store: db, firstBlocked: make(chan struct{}), release: make(chan struct{})}
	quotes := quoting.NewQuoteService(quoting.QuoteConfig{Store: store, Market: market.New("test"), Rails: portstest.SingleRail{Rail: sandbox.New(clock, 1)},
		Clock: clock, IDs: made, Committed: func() {}})
	const company = 5
	var all sync.WaitGroup
	ask := func() {
		if _, err := quotes.Create(t.Context(), request, nil); err != nil {
			t.Error(err)
		}
	}
	all.Go(ask)
	<-store.firstBlocked
	for range company {
		all.Go(ask)
	}
	for quotes.Pending() < company {
		runtime.Gosched() // they gather behind the first
	}

	close(store.release)
	all.Wait()

	for table, want := range map[string]int{"quotes": company + 1, "transactions": company + 1, "webhook_events": company + 1} {
		var got int
		if err := db.Pool().QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&got); err != nil || got != want {
			t.Errorf("%d rows in %s, want %d (%v)", got, table, want, err)
		}
	}
}

// newQuoteRequest makes a platform with a customer and a wallet, and asks for a quote.
func newQuoteRequest(t *testing.T, db *postgres.DB, made *ids.Generator) quote.Request {
	t.Helper()
	home := portstest.SandboxPlatform(t, made, noon)
	ana := portstest.ApprovedCustomer(made, noon, home.ID, "ana")
	wallet := account.External{ID: ident.NewExternalAccount(made.New, noon), Platform: home.ID, Customer: ana.ID, Currency: "BTC",
		Type: account.Layer2Wallet, Fields: map[string]string{"address": "spark1good"}, Rails: []corridor.Rail{corridor.Layer2},
		Status: account.Active, CreatedAt: noon, UpdatedAt: noon}
	portstest.MustDo(t, db, func(ctx context.Context, tx ports.Tx) error {
		return errors.Join(tx.CreatePlatform(ctx, home), tx.CreateCustomer(ctx, ana), tx.CreateExternalAccount(ctx, wallet))
	})
	return quote.Request{Platform: home.ID, Source: quote.Source{Customer: ana.ID, Currency: "USD"},
		Destination: quote.Destination{External: wallet.ID}, Side: quote.Sending, Amount: 10050}
}
