package bitcoin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"causeway/adapters/rails/bitcoin/btc"
	"causeway/ports"
)

const (
	// maxBatch is how many payments one transaction makes.
	maxBatch = 100
	// maxUnsigned and maxOpen bound what is looked at in one call.
	maxUnsigned = 500
	maxOpen     = 1000
	// sendLease and workLease are how long a wallet waits for a process that vanished while it sent payments, or while
	// it read the chain.
	sendLease = 2 * time.Minute
	workLease = 3 * time.Minute
	// waitTooDear is how long a payment whose fee was above a limit waits until it is tried again: about the time of a block.
	waitTooDear = 10 * time.Minute
	// leaseMargin is how long before its end nothing more is done under a lease.
	leaseMargin = 30 * time.Second
)

// withLease calls fn while this process may change the wallet. It returns false if another one does.
func (r *Rail) withLease(ctx context.Context, length time.Duration, fn func(context.Context, ports.Lease) error) (bool, error) {
	lease, ok, err := r.Store.Lease(ctx, r.Connection.Name, length)
	if err != nil || !ok {
		return ok, err
	}
	work, cancel := context.WithTimeout(ctx, length-leaseMargin)
	defer cancel()
	err = fn(work, lease)
	end, cancelEnd := context.WithTimeout(context.WithoutCancel(ctx), connectTimeout)
	defer cancelEnd()
	// A lease that cannot be ended ends by itself.
	if failed := r.Store.Release(end, lease); !errors.Is(failed, ports.ErrLeaseLost) {
		err = errors.Join(err, failed)
	}
	return true, err
}

// tryAdvance makes payments that are new, and returns why some are not made.
func (r *Rail) tryAdvance(ctx context.Context) string {
	ok, err := r.withLease(ctx, sendLease, r.advance)
	switch {
	case err != nil:
		return err.Error()
	case !ok:
		return "another process is sending"
	default:
		return ""
	}
}

// advance sends what is signed and was not sent, and then makes payments that are new, oldest first. It makes smaller transactions while
// the wallet has not enough for larger ones, or their fee is above a limit: each coin that they need adds to it.
func (r *Rail) advance(ctx context.Context, lease ports.Lease) error {
	open, err := r.Store.OpenBatches(ctx, r.Connection.Name, maxOpen)
	if err != nil {
		return err
	}
	for _, b := range open {
		// New transactions must not take the coins of these: the wallet knows that they are spent when it has the
		// transaction, and until then they are locked.
		if last := b.Versions[len(b.Versions)-1]; b.Status == Sent && !r.wasSent(last.TxID) {
			if err := r.release(ctx, last); err != nil {
				return err
			}
		}
	}
	for size := maxBatch; ; {
		unsigned, err := r.unsigned(ctx)
		if err != nil || len(unsigned) == 0 {
			return err
		}
		batch := r.nextBatch(unsigned, size)
		err = r.makeBatch(ctx, lease, batch)
		switch {
		case err == nil:
			size = min(2*size, maxBatch)
		case errors.Is(err, ErrHeld):
			return nil // a payment was stopped meanwhile: the next reading makes a transaction of the others
		case len(batch) > 1 && (errors.Is(err, errFunds) || errors.Is(err, errFee)):
			size = len(batch) / 2
		case errors.Is(err, errFee): // the payments behind it may cost less
			r.markTooDear(batch[0].RailPaymentKey, err)
		default:
			return err
		}
	}
}

// unsigned returns the payments that transactions are to be made for, oldest first.
func (r *Rail) unsigned(ctx context.Context) ([]Payment, error) {
	r.mu.Lock()
	waiting := len(r.tooDear)
	r.mu.Unlock()
	found, err := r.Store.UnsignedPayments(ctx, r.Connection.Name, maxUnsigned+waiting)
	return slices.DeleteFunc(found, func(p Payment) bool { return r.whyTooDear(p.RailPaymentKey) != "" }), err
}

// tooDear is why a payment waits whose fee was above a limit in a transaction of its own, and until when.
type tooDear struct {
	reason string
	until  time.Time
}

func (r *Rail) markTooDear(key ports.RailPaymentKey, err error) {
	now := r.Clock.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.tooDear, func(_ ports.RailPaymentKey, d tooDear) bool { return !now.Before(d.until) })
	r.tooDear[key] = tooDear{err.Error(), now.Add(waitTooDear)}
}

// whyTooDear returns why a payment waits whose fee was above a limit; empty for one that does not.
func (r *Rail) whyTooDear(key ports.RailPaymentKey) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d := r.tooDear[key]; r.Clock.Now().Before(d.until) {
		return d.reason
	}
	return ""
}

// nextBatch returns the payments of the next transaction, at most size: of one platform, because its fee is one of the platform, and
// to different scripts, as the wallet wants it: an address in upper case has the script of that in lower case.
func (r *Rail) nextBatch(unsigned []Payment, size int) []Payment {
	var batch []Payment
	taken := map[string]bool{}
	for _, p := range unsigned {
		script := string(r.scriptOf(p.Address))
		if p.Platform == unsigned[0].Platform && !taken[script] && len(batch) < size {
			batch, taken[script] = append(batch, p), true
		}
	}
	return batch
}

// makeBatch signs, keeps and sends a transaction for payments.
func (r *Rail) makeBatch(ctx context.Context, lease ports.Lease, payments []Payment) error {
	rate, err := r.client.feeRate(ctx)
	if err != nil {
		return err
	}
	info, err := r.client.chain(ctx)
	if err != nil {
		return err
	}
	version, err := r.sign(ctx, payments, nil, rate)
	if err != nil {
		return err
	}
	batch := Batch{Since: info.Best, Payments: payments, Versions: []Version{version}}
	err = r.Store.Save(ctx, lease, Changes{At: r.Clock.Now(), NewBatch: &batch})
	if err != nil {
		return err // what was signed is not kept, so that it is never sent
	}
	return r.release(ctx, version)
}

// sign returns a signed transaction for payments that spends at least the given coins.
func (r *Rail) sign(ctx context.Context, payments []Payment, coins []Output,
	rate btc.FeeRate) (Version, error) {
	raw, fee, err := r.client.sign(ctx, payments, coins, rate)
	if err != nil {
		return Version{}, err
	}
	t, err := parse(raw)
	if err != nil {
		return Version{}, err
	}
	version := Version{TxID: t.TxID, Raw: raw, Fee: fee, CreatedAt: r.Clock.Now(), Inputs: inputsOf(t)}
	return version, r.verify(t, fee, payments, coins)
}

func inputsOf(t btc.Transaction) []Output {
	inputs := make([]Output, len(t.Inputs))
	for i, input := range t.Inputs {
		inputs[i] = Output{TxID: input.TxID, Vout: int64(input.Vout)}
	}
	return inputs
}

// verify checks that a transaction does what was asked for, and no more than that: each payment once, at most one
// further output, the coins, a rate within the limit, and that it can be replaced.
func (r *Rail) verify(t btc.Transaction, fee int64, payments []Payment, coins []Output) error {
	rest := slices.Clone(t.Outputs)
	for _, p := range payments {
		script := r.scriptOf(p.Address)
		i := slices.IndexFunc(rest, func(o btc.Output) bool { return o.Satoshis == p.Satoshis && bytes.Equal(o.Script, script) })
		if i < 0 {
			return fmt.Errorf("transaction %s of the wallet lacks payment %s", t.TxID, p.ID)
		}
		rest = slices.Delete(rest, i, i+1)
	}
	if len(rest) > 1 {
		return fmt.Errorf("transaction %s of the wallet has %d outputs that nobody asked for", t.TxID, len(rest))
	}
	inputs := inputsOf(t)
	for _, coin := range coins {
		if !slices.Contains(inputs, coin) {
			return fmt.Errorf("transaction %s of the wallet does not spend coin %s:%d", t.TxID, coin.TxID, coin.Vout)
		}
	}
	for _, input := range t.Inputs {
		if !input.Signed || !input.Replaceable {
			return fmt.Errorf("transaction %s of the wallet is not signed, or cannot be replaced", t.TxID)
		}
	}
	// The wallet rounds sizes up, so that its rate is a little higher than the one that it was given.
	if rate := btc.RateOf(fee, t.VirtualBytes); rate > r.settings.maxFeeRate+r.settings.maxFeeRate/10+1000 {
		return fmt.Errorf("the fee of %s satoshis per virtual byte %w %s", rate, errFee, settingMaxFeeRate)
	}
	return nil
}

// release locks the coins of a transaction that is kept, and sends it.
func (r *Rail) release(ctx context.Context, version Version) error {
	t, err := parse(version.Raw)
	if err != nil {
		return err
	}
	// The wallet refuses to lock a coin that is locked or spent already, and that is as good.
	if err := r.client.call(ctx, nil, "lockunspent", false, outpoints(inputsOf(t))); err != nil && !isAnswered(err) {
		return err
	}
	// A node that refuses it for now is asked again by the feed: the transaction stays the one of its payments.
	err = r.client.send(ctx, version.Raw)
	if err == nil {
		r.markSent(version.TxID)
	}
	if isAnswered(err) {
		return nil
	}
	return err
}

// isAnswered reports whether an error is an answer of the node.
func isAnswered(err error) bool {
	var answered *rpcError
	return errors.As(err, &answered)
}
