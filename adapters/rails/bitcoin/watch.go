package bitcoin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"causeway/adapters/rails/bitcoin/btc"
	"causeway/adapters/rails/feed"
	"causeway/ports"
)

const (
	// finalDepth is how deep a batch is when it is not looked at any more.
	finalDepth = 100
	// conflictDepth is how deep another transaction with a coin of a batch has to be until its payments are made anew.
	conflictDepth = 6
	maxVersions   = 10
)

// watch looks what became of open batches: it reports those that are confirmed, sends the others again, and replaces
// those that wait for too long.
func (r *Rail) watch(ctx context.Context, lease ports.Lease) error {
	open, err := r.Store.OpenBatches(ctx, r.Connection.Name, maxOpen)
	if err != nil {
		return err
	}
	var failures []error
	for _, b := range open {
		if err := r.watchBatch(ctx, lease, b); err != nil {
			if errors.Is(err, ports.ErrLeaseLost) || ctx.Err() != nil {
				return err
			}
			failures = append(failures, fmt.Errorf("batch %d: %w", b.Number, err))
		}
	}
	return errors.Join(failures...)
}

func (r *Rail) watchBatch(ctx context.Context, lease ports.Lease, b Batch) error {
	conflicted := false
	for _, v := range b.Versions {
		t, known, err := r.client.transaction(ctx, v.TxID)
		if err != nil {
			return err
		}
		conflicted = conflicted || t.Confirmations < 0
		if known && t.Confirmations > 0 {
			return r.inChain(ctx, lease, b, v, t)
		}
	}
	last := b.Versions[len(b.Versions)-1]
	err := r.client.send(ctx, last.Raw)
	switch {
	case err != nil && !isAnswered(err):
		return err
	case b.Status == Confirmed: // its block was replaced; it stays what it is, and is sent again
		return nil
	case err != nil || conflicted:
		forgotten, gone, err := r.impossible(ctx, b)
		switch {
		case err != nil:
			return err
		case forgotten != nil:
			return r.Store.Save(ctx, lease, Changes{At: r.Clock.Now(),
				Replacement: &BatchVersion{Batch: b.Number, Number: len(b.Versions), Version: *forgotten}})
		case gone:
			return r.releaseBatch(ctx, lease, b)
		}
	default:
		r.markSent(last.TxID)
	}
	if r.Clock.Now().Sub(last.CreatedAt) >= r.settings.replaceAfter && len(b.Versions) < maxVersions {
		return r.replace(ctx, lease, b)
	}
	return nil
}

// inChain records that a version of a batch is in the chain.
func (r *Rail) inChain(ctx context.Context, lease ports.Lease, b Batch, v Version,
	t walletTransaction) error {
	changes := Changes{At: r.Clock.Now(), Batch: &BatchStatus{Batch: b.Number, Status: Confirmed,
		TxID: v.TxID}}
	switch {
	case t.Confirmations >= finalDepth && b.Status == Confirmed:
		changes.Batch.Status = Final
	case t.Confirmations >= r.settings.confirmations && b.Status == Sent:
		changes.Events = confirmedEvents(b, v, t)
	case t.Confirmations >= r.settings.confirmations && b.TxID != v.TxID: // after its block was replaced
	default:
		return nil
	}
	return r.Store.Save(ctx, lease, changes)
}

// confirmedEvents returns the events of a batch that is confirmed: its fee, and news of its payments.
func confirmedEvents(b Batch, v Version, t walletTransaction) []feed.Event {
	at := time.Unix(t.BlockTime, 0).UTC()
	events := []feed.Event{{
		Kind: feed.Fee, PartnerID: "fee:" + v.TxID, Platform: b.Payments[0].Platform, Satoshis: v.Fee, At: at,
		Text: fmt.Sprintf("network fee of transaction %s with %d payments", v.TxID, len(b.Payments)),
	}}
	for _, p := range b.Payments {
		events = append(events, feed.Event{Kind: feed.Changed, PartnerID: p.ID.String() + ":" + v.TxID, Platform: p.Platform,
			Subject: p.ID, At: at})
	}
	return events
}

// impossible reports whether no version of a batch can ever be in the chain, on evidence: a coin of the first version,
// and so of each, is spent by another transaction of the wallet deep in the chain, or was never made. If that transaction pays what the
// batch pays, it is a version that the database has lost, and is returned instead.
func (r *Rail) impossible(ctx context.Context, b Batch) (forgotten *Version, gone bool, err error) {
	first, err := parse(b.Versions[0].Raw)
	if err != nil {
		return nil, false, err
	}
	coins, ours := map[Output]bool{}, map[string]bool{}
	for _, v := range b.Versions {
		ours[v.TxID] = true
	}
	for _, coin := range inputsOf(first) {
		coins[coin] = true
		parent, known, err := r.client.transaction(ctx, coin.TxID)
		if err != nil || known && parent.Confirmations <= -conflictDepth {
			return nil, err == nil, err
		}
	}
	depth := max(conflictDepth, r.settings.confirmations)
	list, err := r.client.listSince(ctx, b.Since, depth)
	if err != nil {
		return nil, false, err
	}
	looked := map[string]bool{}
	for _, entry := range list.Transactions {
		if entry.Category != "send" || entry.Confirmations < depth || ours[entry.TxID] || looked[entry.TxID] {
			continue
		}
		looked[entry.TxID] = true
		raw, parsed, err := r.walletTransaction(ctx, entry.TxID)
		if err != nil {
			return nil, false, err
		}
		if !slices.ContainsFunc(inputsOf(parsed), func(coin Output) bool { return coins[coin] }) {
			continue
		}
		forgotten, err := r.versionOf(b, raw, parsed)
		return forgotten, forgotten == nil, err
	}
	return nil, false, nil
}

// walletTransaction returns a transaction of the wallet; one without inputs if the wallet does not know it.
func (r *Rail) walletTransaction(ctx context.Context, txid string) (raw []byte, parsed btc.Transaction, err error) {
	t, known, err := r.client.transaction(ctx, txid)
	if err != nil || !known {
		return nil, parsed, err
	}
	if raw, err = hex.DecodeString(t.Hex); err != nil {
		return nil, parsed, errors.New("gettransaction: the transaction is not in hexadecimal digits")
	}
	if parsed, err = btc.ParseTransaction(raw); err != nil {
		return nil, parsed, fmt.Errorf("gettransaction: %s %w", txid, err)
	}
	return raw, parsed, nil
}

// versionOf returns a transaction as a version of a batch if it pays every payment of it, and nil if it pays none. One that pays some
// of them, or with other coins than the last version, is for an operator: its payments must not be made anew.
func (r *Rail) versionOf(b Batch, raw []byte, t btc.Transaction) (*Version, error) {
	paid := 0
	for _, p := range b.Payments {
		script, err := r.settings.network.Script(p.Address)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(t.Outputs, func(o btc.Output) bool { return bytes.Equal(o.Script, script) && o.Satoshis == p.Satoshis }) {
			paid++
		}
	}
	if paid == 0 {
		return nil, nil
	}
	last := b.Versions[len(b.Versions)-1]
	before, err := parse(last.Raw)
	if err != nil {
		return nil, err
	}
	coins := func(t btc.Transaction) []Output {
		return slices.SortedFunc(slices.Values(inputsOf(t)), func(x, y Output) int {
			return cmp.Or(strings.Compare(x.TxID, y.TxID), cmp.Compare(x.Vout, y.Vout))
		})
	}
	if paid < len(b.Payments) || !slices.Equal(coins(before), coins(t)) {
		return nil, fmt.Errorf("transaction %s, of which there is no record, pays %d of its %d payments: an operator has to look at it",
			t.TxID, paid, len(b.Payments))
	}
	fee := last.Fee
	for _, o := range before.Outputs {
		fee += o.Satoshis
	}
	for _, o := range t.Outputs {
		fee -= o.Satoshis
	}
	return &Version{TxID: t.TxID, Raw: raw, Fee: fee, CreatedAt: r.Clock.Now(), Inputs: inputsOf(t)}, nil
}

// releaseBatch gives up a batch that can never be in the chain: its payments are made anew.
func (r *Rail) releaseBatch(ctx context.Context, lease ports.Lease, b Batch) error {
	err := r.Store.Save(ctx, lease, Changes{At: r.Clock.Now(), Batch: &BatchStatus{Batch: b.Number,
		Status: Released}})
	if err != nil {
		return err
	}
	for _, v := range b.Versions {
		t, err := parse(v.Raw)
		if err != nil {
			return err
		}
		// Coins that are not locked or were spent are refused, and that is as good.
		if err := r.client.call(ctx, nil, "lockunspent", true, outpoints(inputsOf(t))); err != nil && !isAnswered(err) {
			return err
		}
	}
	return nil
}

// replace keeps and sends a version of a batch with a higher fee, which spends every coin of the version before.
func (r *Rail) replace(ctx context.Context, lease ports.Lease, b Batch) error {
	last := b.Versions[len(b.Versions)-1]
	before, err := parse(last.Raw)
	if err != nil {
		return err
	}
	rate, err := r.client.feeRate(ctx)
	if err != nil {
		return err
	}
	// Nodes want a higher rate, and a fee that pays for relaying it again.
	rate = max(rate, btc.RateOf(last.Fee, before.VirtualBytes)*5/4+1000)
	if rate > r.settings.maxFeeRate {
		return fmt.Errorf("it waits since %s, and cannot be replaced: a fee of %s satoshis per virtual byte is above %s",
			last.CreatedAt.Format(time.RFC3339), rate, settingMaxFeeRate)
	}
	version, err := r.sign(ctx, b.Payments, inputsOf(before), rate)
	if err != nil {
		return err
	}
	after, err := parse(version.Raw)
	if err != nil {
		return err
	}
	if version.Fee < last.Fee+after.VirtualBytes {
		return fmt.Errorf("it cannot be replaced: the wallet made a fee of %s BTC after one of %s", btc.FormatAmount(version.Fee),
			btc.FormatAmount(last.Fee))
	}
	err = r.Store.Save(ctx, lease, Changes{At: r.Clock.Now(),
		Replacement: &BatchVersion{Batch: b.Number, Number: len(b.Versions), Version: version}})
	if err != nil {
		return err
	}
	return r.release(ctx, version)
}
