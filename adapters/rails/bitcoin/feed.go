package bitcoin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"causeway/adapters/rails/bitcoin/btc"
	"causeway/adapters/rails/feed"
	"causeway/core/corridor"
	"causeway/core/money"
	"causeway/ports"
)

// Poll implements ports.RailFeed. It reads the chain, and returns what it finds. The balance is that after all of the events.
func (r *Rail) Poll(ctx context.Context, cursor string) (ports.RailReport, error) {
	var balances []ports.RailBalance
	report, err := feed.Poll(ctx, r.Connection.Name, cursor, feed.MaxEvents, func(ctx context.Context) (more bool, err error) {
		_, err = r.withLease(ctx, workLease, func(ctx context.Context, lease ports.Lease) (err error) {
			if more, err = r.work(ctx, lease); err == nil && !more && r.balanceDue() {
				balances, err = r.readBalance(ctx)
			}
			return err
		})
		return more, err
	}, r.Store.Events, add)
	if err == nil && !report.More {
		report.Balances = balances
	}
	return report, err
}

func add(report *ports.RailReport, e feed.Event) int64 {
	e.AddTo(report, corridor.Bitcoin)
	return e.Number
}

// work does everything that the chain asks for. It reports whether there is more to do at once. A part that fails
// does not keep the others from being done, except that deposits are read only when their addresses are known.
func (r *Rail) work(ctx context.Context, lease ports.Lease) (more bool, err error) {
	moreAddresses, err := r.readDeposits(ctx, lease)
	failures := []error{err, r.watch(ctx, lease)}
	if info, err := r.client.walletInfo(ctx); err == nil && !info.scans() {
		// That the wallet has not enough is said by the payments that wait for it.
		if err := r.advance(ctx, lease); !errors.Is(err, errFunds) {
			failures = append(failures, err)
		}
	}
	return moreAddresses, errors.Join(failures...)
}

func (r *Rail) readDeposits(ctx context.Context, lease ports.Lease) (more bool, err error) {
	if err := r.knowAddresses(ctx, lease); err != nil {
		return false, err
	}
	if err := r.checkAddresses(ctx, lease); err != nil {
		return false, err
	}
	moreImports, failure := r.importAddresses(ctx, lease)
	if failure != nil && !errors.Is(failure, errScanning) {
		// Deposits to other addresses are credited all the same.
		return false, errors.Join(failure, r.scan(ctx, lease))
	}
	moreBlocks, err := r.rescan(ctx, lease)
	return moreImports || moreBlocks, errors.Join(failure, err, r.scan(ctx, lease))
}

// balanceAttempts is how often balances are read until no block comes meanwhile.
const balanceAttempts = 5

// balanceEvery is how often the balance is reported.
const balanceEvery = time.Minute

// balanceDue reports whether the balance is to be reported again.
func (r *Rail) balanceDue() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.Clock.Now()
	if now.Sub(r.balanceAt) < balanceEvery {
		return false
	}
	r.balanceAt = now
	return true
}

// Balances implements ports.RailBalances: what the wallet held by the blocks that count, as the ledger has it. Payments
// count when they are confirmed, and so do deposits.
func (r *Rail) Balances(ctx context.Context) (balances []ports.RailBalance, err error) {
	ok, err := r.withLease(ctx, workLease, func(ctx context.Context, lease ports.Lease) (err error) {
		if _, err = r.work(ctx, lease); err == nil {
			balances, err = r.readBalance(ctx)
		}
		return err
	})
	if err == nil && !ok {
		err = errors.New("another process is working with the wallet; ask again")
	}
	return balances, err
}

func (r *Rail) readBalance(ctx context.Context) ([]ports.RailBalance, error) {
	for range balanceAttempts {
		before, err := r.client.chain(ctx)
		if err != nil {
			return nil, err
		}
		balance, err := r.balance(ctx)
		if err != nil {
			return nil, err
		}
		after, err := r.client.chain(ctx)
		if err != nil {
			return nil, err
		}
		if after.Best == before.Best {
			return []ports.RailBalance{{Amount: money.Amount{Minor: balance, Currency: money.BTC}, At: r.Clock.Now()}}, nil
		}
	}
	return nil, errors.New("blocks came while the balance was read; ask again")
}

func (r *Rail) balance(ctx context.Context) (int64, error) {
	held, err := r.client.balance(ctx)
	if err != nil {
		return 0, err
	}
	open, err := r.Store.OpenBatches(ctx, r.Connection.Name, maxOpen)
	if err != nil {
		return 0, err
	}
	for _, b := range open {
		spent, err := r.spentBy(ctx, b)
		if err != nil {
			return 0, err
		}
		held += spent
	}
	young, err := r.young(ctx)
	return held - young, err
}

// spentBy returns what a batch that is not confirmed has taken from the balance of the wallet.
func (r *Rail) spentBy(ctx context.Context, b Batch) (int64, error) {
	if b.Status != Sent {
		return 0, nil
	}
	// The last version that the wallet knows has replaced those before.
	for i := len(b.Versions) - 1; i >= 0; i-- {
		t, known, err := r.client.transaction(ctx, b.Versions[i].TxID)
		if err != nil {
			return 0, err
		}
		if known && t.Confirmations >= 0 {
			spent := b.Versions[i].Fee
			for _, p := range b.Payments {
				spent += p.Satoshis
			}
			return spent, nil
		}
	}
	return 0, nil
}

// young returns what the wallet counts in its balance and was not credited yet.
func (r *Rail) young(ctx context.Context) (total int64, err error) {
	w, err := r.Store.Wallet(ctx, r.Connection.Name)
	if err != nil {
		return 0, err
	}
	list, err := r.listFrom(ctx, w.Position)
	if err != nil {
		return 0, err
	}
	for _, entry := range list.Transactions {
		counted := entry.Confirmations > 0 || entry.Confirmations == 0 && entry.Trusted
		if entry.Category == "receive" && counted && entry.Confirmations < r.settings.confirmations {
			satoshis, err := btc.ParseAmount(string(entry.Amount))
			if err != nil {
				return 0, fmt.Errorf("listsinceblock: %w", err)
			}
			total += satoshis
		}
	}
	return total, nil
}
