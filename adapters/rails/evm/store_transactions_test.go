package evm_test

import (
	"fmt"
	"math/big"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/adapters/rails/evm"
	"causeway/adapters/rails/evm/eth"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/ports"
)

var baseSender = evm.Wallet{Connection: baseChain, ChainID: 8453, Address: baseWallet}

// evmTransaction returns a payout of 10 that is not stored yet.
func (c *storeEnv) evmTransaction(nonce uint64) evm.Transaction {
	return evm.Transaction{Connection: baseChain, Sender: baseWallet, Nonce: nonce, Path: []uint32{44 | ports.ChainHardened, 0},
		Purpose: evm.Payout, Subject: uuid.New(), Platform: c.platform,
		To: eth.Address{0xcc}, Value: new(big.Int), Data: []byte{1}, GasLimit: 60_000, Recipient: eth.Address{0xdd},
		Currency: money.USDC, Amount: big.NewInt(10),
		State: evm.Pending, CreatedAt: noon, UpdatedAt: noon, Attempts: []evm.Attempt{evmAttempt(1)}}
}

// handOverEVM records the payout of a transaction as handed over.
func (c *storeEnv) handOverEVM(t testing.TB, transaction evm.Transaction) {
	t.Helper()
	if err := c.handover(transaction.Connection).HandOver(t.Context(), transaction.Platform, transaction.Subject, rail.Payout,
		rail.Route{Rail: "BASE"}, money.Amount{Minor: transaction.Amount.Int64(), Currency: transaction.Currency}); err != nil {
		t.Error(err)
	}
}

func evmAttempt(n int64) evm.Attempt {
	id := uuid.New()
	return evm.Attempt{Hash: eth.Hash(append(id[:], id[:]...)), Raw: id[:], MaxFee: big.NewInt(100 * n),
		MaxPriorityFee: big.NewInt(n), At: noon}
}

// addEVM stores a transaction with the next free nonce.
func (c *storeEnv) addEVM(t testing.TB, transaction evm.Transaction) evm.Transaction {
	t.Helper()
	c.handOverEVM(t, transaction)
	for {
		nonce, err := c.NextNonce(t.Context(), baseSender, 0)
		if err != nil {
			t.Fatal(err)
		}
		transaction.Nonce = nonce
		stored, added, err := c.AddTransaction(t.Context(), baseSender, transaction, nil)
		if err != nil {
			t.Fatal(err)
		}
		if added == evm.Added {
			return stored
		}
	}
}

func TestStore_ProcessesTakeEachNonceOnce(t *testing.T) {
	t.Parallel()
	// Eight processes sign the same payouts: each payout has one transaction, and the nonces have no gap.
	c := newStoreEnv(t)
	c.openEVM(t, baseChain)
	const payouts = 12
	var wanted []evm.Transaction
	for range payouts {
		wanted = append(wanted, c.evmTransaction(0))
		c.handOverEVM(t, wanted[len(wanted)-1])
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for _, w := range wanted {
				for added := evm.NonceTaken; added == evm.NonceTaken; {
					nonce, err := c.NextNonce(t.Context(), baseSender, 7)
					if err != nil {
						t.Error(err)
						return
					}
					w.Nonce, w.Attempts = nonce, []evm.Attempt{evmAttempt(1)}
					if _, added, err = c.AddTransaction(t.Context(), baseSender, w, nil); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	group.Wait()
	pending, err := c.PendingTransactions(t.Context(), baseChain, eth.Address{}, 0, 100)
	if err != nil || len(pending) != payouts {
		t.Fatalf("%d transactions, %v", len(pending), err)
	}
	subjects := map[uuid.UUID]bool{}
	for i, p := range pending {
		subjects[p.Subject] = true
		if p.Nonce != uint64(7+i) || len(p.Attempts) != 1 || p.Path[0] != 44|ports.ChainHardened {
			t.Errorf("transaction %d: %+v", i, p)
		}
	}
	if len(subjects) != payouts {
		t.Errorf("%d payouts", len(subjects))
	}
}

func TestStore_NeverSpendsMoreThanTheWalletHas(t *testing.T) {
	t.Parallel()
	// What later nonces than those of the balance spend is part of the limit, whether it is pending or already confirmed;
	// what was reverted is not.
	c := newStoreEnv(t)
	c.openEVM(t, baseChain)
	limit := &evm.SpendingLimit{Available: big.NewInt(25)}
	add := func() evm.Addition {
		t.Helper()
		transaction := c.evmTransaction(0)
		var err error
		if transaction.Nonce, err = c.NextNonce(t.Context(), baseSender, 0); err != nil {
			t.Fatal(err)
		}
		c.handOverEVM(t, transaction)
		_, added, err := c.AddTransaction(t.Context(), baseSender, transaction, limit)
		if err != nil {
			t.Fatal(err)
		}
		return added
	}
	if a, b, over := add(), add(), add(); a != evm.Added || b != evm.Added || over != evm.TooLittle {
		t.Fatalf("%s, %s, %s", a, b, over)
	}
	pending, err := c.PendingTransactions(t.Context(), baseChain, eth.Address{}, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	for i, state := range []evm.State{evm.Confirmed, evm.Reverted} {
		if ok, err := c.Conclude(t.Context(), pending[i], evm.Conclusion{State: state, Hash: pending[i].Attempts[0].Hash,
			Block: evmBlock(101, 1), Fee: big.NewInt(1), Native: money.ETH, At: noon}); err != nil || !ok {
			t.Fatal(err)
		}
	}
	if a, over := add(), add(); a != evm.Added || over != evm.TooLittle {
		t.Errorf("with one confirmed and one reverted: %s, %s", a, over)
	}
	limit.FromNonce = 1 // the balance is after the confirmed one
	if a, over := add(), add(); a != evm.Added || over != evm.TooLittle {
		t.Errorf("at a later balance: %s, %s", a, over)
	}
}

func TestStore_StaleVersionChangesNothing(t *testing.T) {
	t.Parallel()
	// Of two processes that have read the same transaction, the second changes nothing: it neither replaces nor concludes
	// it, and posts no fee.
	c := newStoreEnv(t)
	c.openEVM(t, baseChain)
	stored := c.addEVM(t, c.evmTransaction(0))
	if ok, err := c.AddAttempt(t.Context(), stored, evmAttempt(2)); !ok || err != nil {
		t.Fatalf("%t, %v", ok, err)
	}
	conclusion := evm.Conclusion{State: evm.Confirmed, Hash: stored.Attempts[0].Hash, Block: evmBlock(101, 1),
		Fee: big.NewInt(2_500_000_000), Native: money.ETH, Changed: true, At: noon}
	if ok, err := c.AddAttempt(t.Context(), stored, evmAttempt(3)); ok || err != nil {
		t.Errorf("replaced again: %t, %v", ok, err)
	}
	if ok, err := c.Conclude(t.Context(), stored, conclusion); ok || err != nil {
		t.Errorf("concluded: %t, %v", ok, err)
	}
	fresh, err := c.Transactions(t.Context(), baseChain, evm.Payout, []uuid.UUID{stored.Subject})
	if err != nil || len(fresh) != 1 || len(fresh[0].Attempts) != 2 || fresh[0].State != evm.Pending {
		t.Fatalf("%+v, %v", fresh, err)
	}
	if ok, err := c.Conclude(t.Context(), fresh[0], conclusion); !ok || err != nil {
		t.Errorf("%t, %v", ok, err)
	}
	if ok, err := c.AddAttempt(t.Context(), fresh[0], evmAttempt(4)); ok || err != nil {
		t.Errorf("replaced after its end: %t, %v", ok, err)
	}
	events, err := c.Events(t.Context(), baseChain, 0, 10)
	if err != nil || len(events) != 2 || events[0].Kind != evm.Fee || events[0].Amount != (money.Amount{Minor: 2, Currency: money.ETH}) ||
		events[1].Kind != evm.Changed || events[1].Subject != stored.Subject {
		t.Errorf("%+v, %v", events, err)
	}
}

func TestStore_WalletBelongsToOneConnection(t *testing.T) {
	t.Parallel()
	// Two connections with one seed would take each other's nonces: the second is refused, by name, and on another chain
	// it is another wallet.
	c := newStoreEnv(t)
	c.openEVM(t, baseChain)
	c.addEVM(t, c.evmTransaction(0))
	other := baseSender
	other.Connection = "base-two"
	if _, err := c.NextNonce(t.Context(), other, 0); err == nil || !strings.Contains(err.Error(), "belongs to the connection base-usdc; "+
		"give base-two a seed of its own") {
		t.Errorf("%v", err)
	}
	other.ChainID = 1
	if nonce, err := c.NextNonce(t.Context(), other, 5); err != nil || nonce != 5 {
		t.Errorf("%d, %v", nonce, err)
	}
}

// evmModel is what the store must have of one sender.
type evmModel struct {
	tb         testing.TB
	t          *rapid.T
	c          *storeEnv
	connection string
	sender     evm.Wallet
	next       uint64
	stored     map[uint64]evm.Transaction // as read last, with the present version
	stale      map[uint64]evm.Transaction // as read before the last change
	bySubject  map[uuid.UUID]uint64
	wei        *big.Int // fees of what is in a block
}

func (m *evmModel) add(purpose evm.Purpose, nonce uint64, subject uuid.UUID) {
	transaction := m.c.evmTransaction(nonce)
	transaction.Connection, transaction.Sender, transaction.Purpose, transaction.Subject = m.connection, m.sender.Address, purpose, subject
	_, known := m.bySubject[subject]
	_, taken := m.stored[nonce]
	want := evm.Added
	switch {
	case known:
		want = evm.Exists
	case nonce < m.next && (purpose != evm.Fill || taken):
		want = evm.NonceTaken
	}
	if purpose == evm.Payout {
		m.c.handOverEVM(m.tb, transaction)
	}
	stored, got, err := m.c.AddTransaction(m.t.Context(), m.sender, transaction, nil)
	if err != nil || got != want || got == evm.Exists && stored.Nonce != m.bySubject[subject] {
		m.t.Fatalf("added %s with the nonce %d: %s, %v, want %s", purpose, nonce, got, err, want)
	}
	if got == evm.Added {
		m.stored[nonce], m.stale[nonce], m.bySubject[subject] = stored, stored, nonce
		m.next = max(m.next, nonce+1)
	}
}

// change applies a change to a transaction as it was read now, or before its last change, which must do nothing.
func (m *evmModel) change(nonce uint64, fresh bool, possible func(evm.Transaction) bool,
	apply func(evm.Transaction) (evm.Transaction, bool, error)) {
	present, stale := m.stored[nonce], m.stale[nonce]
	from := stale
	if fresh || stale.Version == present.Version {
		from, fresh = present, true
	}
	after, done, err := apply(from)
	if err != nil || done != (fresh && possible(present)) {
		m.t.Fatalf("changed %t, %v: version %d of %d, %s", done, err, from.Version, present.Version, present.State)
	}
	if done {
		m.stale[nonce] = present
		after.Version++
		m.stored[nonce] = after
	}
}

func (m *evmModel) check() {
	var all []evm.Transaction
	for subject, nonce := range m.bySubject {
		found, err := m.c.Transactions(m.t.Context(), m.connection, m.stored[nonce].Purpose, []uuid.UUID{subject})
		if err != nil || len(found) != 1 {
			m.t.Fatalf("%d transactions of a subject, %v", len(found), err)
		}
		all = append(all, found[0])
	}
	for _, got := range all {
		want := m.stored[got.Nonce]
		if got.State != want.State || got.Version != want.Version || len(got.Attempts) != len(want.Attempts) || got.Settled != want.Settled ||
			(got.Fee == nil) != (want.Fee == nil) {
			m.t.Fatalf("stored %+v, want %+v", got, want)
		}
		for i := range got.Attempts {
			if got.Attempts[i].Hash != want.Attempts[i].Hash {
				m.t.Fatalf("attempt %d is another one", i)
			}
		}
	}
	events, err := m.c.Events(m.t.Context(), m.connection, 0, 1000)
	if err != nil {
		m.t.Fatal(err)
	}
	reported := int64(0)
	for _, e := range events {
		reported += e.Amount.Minor
	}
	// What a vanished block had cost is taken off later fees, so more than the present fees may be reported, never less.
	if floor := new(big.Int).Div(m.wei, big.NewInt(1_000_000_000)).Int64(); reported < floor {
		m.t.Fatalf("fees of %d gwei are reported, and %d were paid", reported, floor)
	}
}

func TestStore_NoncesAndReplacements(t *testing.T) {
	t.Parallel()
	// Any order of signing, filling, replacing, concluding and taking back, also by processes that have read an earlier
	// version: a nonce has one transaction, a subject too, only the present version is changed, and fees are never lost.
	c := newStoreEnv(t)
	cases := 0
	tb := t
	rapid.Check(t, func(t *rapid.T) {
		cases++
		m := &evmModel{t: t, tb: tb, c: c, connection: fmt.Sprintf("chain-%d", cases), stored: map[uint64]evm.Transaction{},
			stale: map[uint64]evm.Transaction{}, bySubject: map[uuid.UUID]uint64{}, wei: new(big.Int)}
		m.sender = evm.Wallet{Connection: m.connection, ChainID: 8453, Address: eth.Address{1, byte(cases), byte(cases >> 8)}}
		first := evmBlock(100, 1)
		if _, err := c.OpenChain(t.Context(), evm.Chain{Connection: m.connection, ChainID: 8453, Wallet: m.sender.Address,
			Position: first.Number, PositionHash: first.Hash}); err != nil {
			t.Fatal(err)
		}
		subjects := []uuid.UUID{uuid.New(), uuid.New(), uuid.New(), uuid.New()}
		some := func(t *rapid.T) uint64 {
			var nonces []uint64
			for n := range uint64(16) {
				if _, ok := m.stored[n]; ok {
					nonces = append(nonces, n)
				}
			}
			if len(nonces) == 0 {
				t.Skip("no transaction")
			}
			return rapid.SampledFrom(nonces).Draw(t, "nonce")
		}
		conclude := func(t *rapid.T, states []evm.State) {
			state := rapid.SampledFrom(states).Draw(t, "state")
			m.change(some(t), rapid.Bool().Draw(t, "fresh"), func(evm.Transaction) bool { return true },
				func(from evm.Transaction) (evm.Transaction, bool, error) {
					conclusion := evm.Conclusion{State: state, Native: money.ETH, At: noon}
					if state == evm.Confirmed || state == evm.Reverted {
						conclusion.Hash, conclusion.Block, conclusion.Fee = from.Attempts[0].Hash, evmBlock(uint64(101+from.Version), 1),
							big.NewInt(rapid.Int64Range(0, 5_000_000_000).Draw(t, "fee"))
					}
					done, err := c.Conclude(t.Context(), from, conclusion)
					after := from
					after.Settled = from.Settled || from.State == evm.Confirmed && state == evm.Pending
					after.State, after.Fee = state, conclusion.Fee
					if done {
						if from.Fee != nil {
							m.wei.Sub(m.wei, from.Fee)
						}
						if conclusion.Fee != nil {
							m.wei.Add(m.wei, conclusion.Fee)
						}
					}
					return after, done, err
				})
		}
		t.Repeat(map[string]func(*rapid.T){
			"sign": func(t *rapid.T) {
				m.add(evm.Payout, rapid.Uint64Range(0, 15).Draw(t, "nonce"), rapid.SampledFrom(subjects).Draw(t, "subject"))
			},
			"fill": func(t *rapid.T) { m.add(evm.Fill, rapid.Uint64Range(0, 15).Draw(t, "nonce"), uuid.New()) },
			"replace": func(t *rapid.T) {
				attempt := evmAttempt(rapid.Int64Range(1, 9).Draw(t, "fee"))
				m.change(some(t), rapid.Bool().Draw(t, "fresh"), func(p evm.Transaction) bool { return p.State == evm.Pending },
					func(from evm.Transaction) (evm.Transaction, bool, error) {
						done, err := c.AddAttempt(t.Context(), from, attempt)
						from.Attempts = append(from.Attempts[:len(from.Attempts):len(from.Attempts)], attempt)
						return from, done, err
					})
			},
			"conclude":  func(t *rapid.T) { conclude(t, []evm.State{evm.Confirmed, evm.Reverted, evm.Lost}) },
			"take back": func(t *rapid.T) { conclude(t, []evm.State{evm.Pending}) },
			"":          func(*rapid.T) { m.check() },
		})
		nonce, err := c.NextNonce(t.Context(), m.sender, 0)
		if err != nil || nonce != m.next {
			t.Fatalf("the next nonce is %d, want %d, %v", nonce, m.next, err)
		}
	})
}
