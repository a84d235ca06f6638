package payments_test

import (
	"context"
	"reflect"
	"sync/atomic"
	"testing"

	"causeway/app/payments"
	"causeway/ports"
)

// countingStore counts the reads of payouts.
type countingStore struct {
	payments.Store
	reads atomic.Int32
}

func (s *countingStore) Payouts(ctx context.Context, keys []ports.TransactionKey) ([]ports.Payout, error) {
	s.reads.Add(1)
	return s.Store.Payouts(ctx, keys)
}

func TestDeliver_PayoutOfTheCommitIsSentWithoutARead(t *testing.T) {
	t.Parallel()
	// The rail is given what the commit that made the payout due has read, which is what is stored. A repeated call reads it.
	env := newIdleEnv(t)
	store := &countingStore{Store: env.Store}
	env.Service = newService(env.Env, store, env.approvals)
	type call struct {
		given, stored ports.Payout
		reads         int32
	}
	calls := make(chan call, 2)
	env.Rail.OnSend = func(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
		t := payouts[0].Transaction
		stored, err := env.Store.Payouts(ctx, []ports.TransactionKey{{Platform: t.Platform, ID: t.ID}})
		if err != nil || len(stored) != 1 || len(payouts) != 1 {
			return nil
		}
		calls <- call{payouts[0], stored[0], store.reads.Load()}
		if len(calls) == 1 {
			return []ports.Outcome{{Verdict: ports.Waiting, RetryAt: env.Clock.Now()}}
		}
		return []ports.Outcome{{Verdict: ports.Done}}
	}
	env.Env.Run(env.Service.Run)
	q := env.quote(t, "USD", 10050, env.NewBankAccount("000123001"))

	if _, err := env.Receive(t.Context(), env.receipt(q, "RTP", 10050), nil); err != nil {
		t.Fatal(err)
	}
	env.WaitForState(q.Transaction, "COMPLETED")

	for _, reads := range []int32{0, 1} {
		c := <-calls
		if c.reads != reads || !reflect.DeepEqual(c.given, c.stored) || c.given.Account.ID.IsZero() {
			t.Errorf("after %d reads the rail was given %+v\nstored %+v", c.reads, c.given, c.stored)
		}
	}
}
