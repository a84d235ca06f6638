package payments_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"

	"causeway/app/internal/apptest"
	"causeway/ports"
)

// lostCommitStore is a store that loses the result of its second commit. It blocks the first until
// release is closed, so that further commands form a batch.
type lostCommitStore struct {
	ports.Store
	mu           sync.Mutex
	runs         int
	firstBlocked chan struct{} // closed when the first run is blocked
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
	// The commit of a batch succeeds, but its result is lost. The commands run again one at a time
	// and find their quotes: nothing is created or emitted twice.
	env := apptest.New(t)
	request := env.QuoteRequest("USD", 10050, env.NewWallet("spark1good"))
	store := &lostCommitStore{Store: env.Store, firstBlocked: make(chan struct{}), release: make(chan struct{})}
	service := newService(env, store, nil)
	const others = 5
	var all sync.WaitGroup
	create := func() {
		if _, err := service.CreateQuote(t.Context(), request, nil); err != nil {
			t.Error(err)
		}
	}
	all.Go(create)
	<-store.firstBlocked
	for range others {
		all.Go(create)
	}
	for service.PendingQuotes() < others {
		runtime.Gosched() // until all wait for the first commit
	}

	close(store.release)
	all.Wait()

	for table, want := range map[string]int{"quotes": others + 1, "transactions": others + 1, "webhook_events": others + 1} {
		var got int
		if err := env.Store.Pool().QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&got); err != nil || got != want {
			t.Errorf("%d rows in %s, want %d (%v)", got, table, want, err)
		}
	}
}
