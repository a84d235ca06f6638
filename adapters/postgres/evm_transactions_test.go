package postgres_test

import (
	"fmt"
	"math/big"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/money"
	"causeway/core/rail"
	"causeway/ports"
)

var baseSender = ports.EVMWallet{Connection: baseChain, ChainID: 8453, Address: baseWallet}

// evmTransaction returns a payout of 10 that is not stored yet.
func (c *env) evmTransaction(nonce uint64) ports.EVMTransaction {
	return ports.EVMTransaction{Connection: baseChain, Sender: baseWallet, Nonce: nonce, Path: []uint32{44 | ports.ChainHardened, 0},
		Purpose: ports.EVMPayout, Subject: uuid.New(), Platform: c.platform.ID,
		To: ports.EVMAddress{0xcc}, Value: new(big.Int), Data: []byte{1}, GasLimit: 60_000, Recipient: ports.EVMAddress{0xdd},
		Currency: money.USDC, Amount: big.NewInt(10),
		State: ports.EVMPending, CreatedAt: noon, UpdatedAt: noon, Attempts: []ports.EVMAttempt{evmAttempt(1)}}
}

// handOverEVM records the payout of a transaction as handed over.
func (c *env) handOverEVM(t testing.TB, transaction ports.EVMTransaction) {
	t.Helper()
	c.handOver(t, transaction.Connection, "BASE", money.Amount{Minor: transaction.Amount.Int64(), Currency: transaction.Currency},
		ports.RailPaymentKey{Platform: transaction.Platform, ID: transaction.Subject, Kind: rail.Payout})
}

func evmAttempt(n int64) ports.EVMAttempt {
	id := uuid.New()
	return ports.EVMAttempt{Hash: ports.EVMHash(append(id[:], id[:]...)), Raw: id[:], MaxFee: big.NewInt(100 * n),
		MaxPriorityFee: big.NewInt(n), At: noon}
}

// addEVM stores a transaction with the next free nonce.
func (c *env) addEVM(t testing.TB, transaction ports.EVMTransaction) ports.EVMTransaction {
	t.Helper()
	c.handOverEVM(t, transaction)
	for {
		nonce, err := c.NextEVMNonce(t.Context(), baseSender, 0)
		if err != nil {
			t.Fatal(err)
		}
		transaction.Nonce = nonce
		stored, added, err := c.AddEVMTransaction(t.Context(), baseSender, transaction, nil)
		if err != nil {
			t.Fatal(err)
		}
		if added == ports.EVMAdded {
			return stored
		}
	}
}

func TestEVMTransactions_ProcessesTakeEachNonceOnce(t *testing.T) {
	t.Parallel()
	// Eight processes sign the same payouts: each payout has one transaction, and the nonces have no gap.
	c := newEnv(t)
	c.openEVM(t, baseChain)
	const payouts = 12
	var wanted []ports.EVMTransaction
	for range payouts {
		wanted = append(wanted, c.evmTransaction(0))
		c.handOverEVM(t, wanted[len(wanted)-1])
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for _, w := range wanted {
				for added := ports.EVMNonceTaken; added == ports.EVMNonceTaken; {
					nonce, err := c.NextEVMNonce(t.Context(), baseSender, 7)
					if err != nil {
						t.Error(err)
						return
					}
					w.Nonce, w.Attempts = nonce, []ports.EVMAttempt{evmAttempt(1)}
					if _, added, err = c.AddEVMTransaction(t.Context(), baseSender, w, nil); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	group.Wait()
	pending, err := c.PendingEVMTransactions(t.Context(), baseChain, ports.EVMAddress{}, 0, 100)
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

func TestEVMTransactions_NeverSpendMoreThanTheWalletHas(t *testing.T) {
	t.Parallel()
	// What later nonces than those of the balance spend is part of the limit, whether it is pending or already confirmed;
	// what was reverted is not.
	c := newEnv(t)
	c.openEVM(t, baseChain)
	limit := &ports.EVMSpendingLimit{Available: big.NewInt(25)}
	add := func() ports.EVMAddition {
		t.Helper()
		transaction := c.evmTransaction(0)
		var err error
		if transaction.Nonce, err = c.NextEVMNonce(t.Context(), baseSender, 0); err != nil {
			t.Fatal(err)
		}
		c.handOverEVM(t, transaction)
		_, added, err := c.AddEVMTransaction(t.Context(), baseSender, transaction, limit)
		if err != nil {
			t.Fatal(err)
		}
		return added
	}
	if a, b, over := add(), add(), add(); a != ports.EVMAdded || b != ports.EVMAdded || over != ports.EVMTooLittle {
		t.Fatalf("%s, %s, %s", a, b, over)
	}
	pending, err := c.PendingEVMTransactions(t.Context(), baseChain, ports.EVMAddress{}, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	for i, state := range []ports.EVMState{ports.EVMConfirmed, ports.EVMReverted} {
		if ok, err := c.ConcludeEVMTransaction(t.Context(), pending[i], ports.EVMConclusion{State: state, Hash: pending[i].Attempts[0].Hash,
			Block: evmBlock(101, 1), Fee: big.NewInt(1), Native: money.ETH, At: noon}); err != nil || !ok {
			t.Fatal(err)
		}
	}
	if a, over := add(), add(); a != ports.EVMAdded || over != ports.EVMTooLittle {
		t.Errorf("with one confirmed and one reverted: %s, %s", a, over)
	}
	limit.FromNonce = 1 // the balance is after the confirmed one
	if a, over := add(), add(); a != ports.EVMAdded || over != ports.EVMTooLittle {
		t.Errorf("at a later balance: %s, %s", a, over)
	}
}

func TestEVMTransactions_StaleVersionChangesNothing(t *testing.T) {
	t.Parallel()
	// Of two processes that have read the same transaction, the second changes nothing: it neither replaces nor concludes
	// it, and posts no fee.
	c := newEnv(t)
	c.openEVM(t, baseChain)
	stored := c.addEVM(t, c.evmTransaction(0))
	if ok, err := c.AddEVMAttempt(t.Context(), stored, evmAttempt(2)); !ok || err != nil {
		t.Fatalf("%t, %v", ok, err)
	}
	conclusion := ports.EVMConclusion{State: ports.EVMConfirmed, Hash: stored.Attempts[0].Hash, Block: evmBlock(101, 1),
		Fee: big.NewInt(2_500_000_000), Native: money.ETH, Changed: true, At: noon}
	if ok, err := c.AddEVMAttempt(t.Context(), stored, evmAttempt(3)); ok || err != nil {
		t.Errorf("replaced again: %t, %v", ok, err)
	}
	if ok, err := c.ConcludeEVMTransaction(t.Context(), stored, conclusion); ok || err != nil {
		t.Errorf("concluded: %t, %v", ok, err)
	}
	fresh, err := c.EVMTransactions(t.Context(), baseChain, ports.EVMPayout, []uuid.UUID{stored.Subject})
	if err != nil || len(fresh) != 1 || len(fresh[0].Attempts) != 2 || fresh[0].State != ports.EVMPending {
		t.Fatalf("%+v, %v", fresh, err)
	}
	if ok, err := c.ConcludeEVMTransaction(t.Context(), fresh[0], conclusion); !ok || err != nil {
		t.Errorf("%t, %v", ok, err)
	}
	if ok, err := c.AddEVMAttempt(t.Context(), fresh[0], evmAttempt(4)); ok || err != nil {
		t.Errorf("replaced after its end: %t, %v", ok, err)
	}
	events, err := c.EVMEvents(t.Context(), baseChain, 0, 10)
	if err != nil || len(events) != 2 || events[0].Kind != ports.EVMFee || events[0].Amount != (money.Amount{Minor: 2, Currency: money.ETH}) ||
		events[1].Kind != ports.EVMChanged || events[1].Subject != stored.Subject {
		t.Errorf("%+v, %v", events, err)
	}
}

func TestEVMTransactions_WalletBelongsToOneConnection(t *testing.T) {
	t.Parallel()
	// Two connections with one seed would take each other's nonces: the second is refused, by name, and on another chain
	// it is another wallet.
	c := newEnv(t)
	c.openEVM(t, baseChain)
	c.addEVM(t, c.evmTransaction(0))
	other := baseSender
	other.Connection = "base-two"
	if _, err := c.NextEVMNonce(t.Context(), other, 0); err == nil || !strings.Contains(err.Error(), "belongs to the connection base-usdc; "+
		"give base-two a seed of its own") {
		t.Errorf("%v", err)
	}
	other.ChainID = 1
	if nonce, err := c.NextEVMNonce(t.Context(), other, 5); err != nil || nonce != 5 {
		t.Errorf("%d, %v", nonce, err)
	}
}

// evmModel is what the store must have of one sender.
type evmModel struct {
	tb         testing.TB
	t          *rapid.T
	c          *env
	connection string
	sender     ports.EVMWallet
	next       uint64
	stored     map[uint64]ports.EVMTransaction // as read last, with the present version
	stale      map[uint64]ports.EVMTransaction // as read before the last change
	bySubject  map[uuid.UUID]uint64
	wei        *big.Int // fees of what is in a block
}

func (m *evmModel) add(purpose ports.EVMPurpose, nonce uint64, subject uuid.UUID) {
	transaction := m.c.evmTransaction(nonce)
	transaction.Connection, transaction.Sender, transaction.Purpose, transaction.Subject = m.connection, m.sender.Address, purpose, subject
	_, known := m.bySubject[subject]
	_, taken := m.stored[nonce]
	want := ports.EVMAdded
	switch {
	case known:
		want = ports.EVMExists
	case nonce < m.next && (purpose != ports.EVMFill || taken):
		want = ports.EVMNonceTaken
	}
	if purpose == ports.EVMPayout {
		m.c.handOverEVM(m.tb, transaction)
	}
	stored, got, err := m.c.AddEVMTransaction(m.t.Context(), m.sender, transaction, nil)
	if err != nil || got != want || got == ports.EVMExists && stored.Nonce != m.bySubject[subject] {
		m.t.Fatalf("added %s with the nonce %d: %s, %v, want %s", purpose, nonce, got, err, want)
	}
	if got == ports.EVMAdded {
		m.stored[nonce], m.stale[nonce], m.bySubject[subject] = stored, stored, nonce
		m.next = max(m.next, nonce+1)
	}
}

// change applies a change to a transaction as it was read now, or before its last change, which must do nothing.
func (m *evmModel) change(nonce uint64, fresh bool, possible func(ports.EVMTransaction) bool,
	apply func(ports.EVMTransaction) (ports.EVMTransaction, bool, error)) {
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
	var all []ports.EVMTransaction
	for subject, nonce := range m.bySubject {
		found, err := m.c.EVMTransactions(m.t.Context(), m.connection, m.stored[nonce].Purpose, []uuid.UUID{subject})
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
	events, err := m.c.EVMEvents(m.t.Context(), m.connection, 0, 1000)
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

func TestEVMTransactions_NoncesAndReplacements(t *testing.T) {
	t.Parallel()
	// Any order of signing, filling, replacing, concluding and taking back, also by processes that have read an earlier
	// version: a nonce has one transaction, a subject too, only the present version is changed, and fees are never lost.
	c := newEnv(t)
	cases := 0
	tb := t
	rapid.Check(t, func(t *rapid.T) {
		cases++
		m := &evmModel{t: t, tb: tb, c: c, connection: fmt.Sprintf("chain-%d", cases), stored: map[uint64]ports.EVMTransaction{},
			stale: map[uint64]ports.EVMTransaction{}, bySubject: map[uuid.UUID]uint64{}, wei: new(big.Int)}
		m.sender = ports.EVMWallet{Connection: m.connection, ChainID: 8453, Address: ports.EVMAddress{1, byte(cases), byte(cases >> 8)}}
		first := evmBlock(100, 1)
		if _, err := c.OpenEVMChain(t.Context(), ports.EVMChain{Connection: m.connection, ChainID: 8453, Wallet: m.sender.Address,
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
		conclude := func(t *rapid.T, states []ports.EVMState) {
			state := rapid.SampledFrom(states).Draw(t, "state")
			m.change(some(t), rapid.Bool().Draw(t, "fresh"), func(ports.EVMTransaction) bool { return true },
				func(from ports.EVMTransaction) (ports.EVMTransaction, bool, error) {
					conclusion := ports.EVMConclusion{State: state, Native: money.ETH, At: noon}
					if state == ports.EVMConfirmed || state == ports.EVMReverted {
						conclusion.Hash, conclusion.Block, conclusion.Fee = from.Attempts[0].Hash, evmBlock(uint64(101+from.Version), 1),
							big.NewInt(rapid.Int64Range(0, 5_000_000_000).Draw(t, "fee"))
					}
					done, err := c.ConcludeEVMTransaction(t.Context(), from, conclusion)
					after := from
					after.Settled = from.Settled || from.State == ports.EVMConfirmed && state == ports.EVMPending
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
				m.add(ports.EVMPayout, rapid.Uint64Range(0, 15).Draw(t, "nonce"), rapid.SampledFrom(subjects).Draw(t, "subject"))
			},
			"fill": func(t *rapid.T) { m.add(ports.EVMFill, rapid.Uint64Range(0, 15).Draw(t, "nonce"), uuid.New()) },
			"replace": func(t *rapid.T) {
				attempt := evmAttempt(rapid.Int64Range(1, 9).Draw(t, "fee"))
				m.change(some(t), rapid.Bool().Draw(t, "fresh"), func(p ports.EVMTransaction) bool { return p.State == ports.EVMPending },
					func(from ports.EVMTransaction) (ports.EVMTransaction, bool, error) {
						done, err := c.AddEVMAttempt(t.Context(), from, attempt)
						from.Attempts = append(from.Attempts[:len(from.Attempts):len(from.Attempts)], attempt)
						return from, done, err
					})
			},
			"conclude":  func(t *rapid.T) { conclude(t, []ports.EVMState{ports.EVMConfirmed, ports.EVMReverted, ports.EVMLost}) },
			"take back": func(t *rapid.T) { conclude(t, []ports.EVMState{ports.EVMPending}) },
			"":          func(*rapid.T) { m.check() },
		})
		nonce, err := c.NextEVMNonce(t.Context(), m.sender, 0)
		if err != nil || nonce != m.next {
			t.Fatalf("the next nonce is %d, want %d, %v", nonce, m.next, err)
		}
	})
}
