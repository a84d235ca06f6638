package evm_test

import (
	"math/big"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/rails/evm"
	"causeway/adapters/rails/evm/eth"
	"causeway/core/corridor"
	"causeway/core/money"
	"causeway/ports"
	"causeway/ports/portstest"
)

func TestStore_TurnOfAWalletIsOfOnePayment(t *testing.T) {
	t.Parallel()
	// One payment has the turn of its wallet until it is taken from it or its time is over; other wallets have turns of their own. What is
	// too late for its own time gets none.
	e := newEnv(t)
	s := e.store()
	wallet := evm.Wallet{Connection: "base-main", Rail: corridor.Base, ChainID: 31337, Address: eth.Address{1}}
	other := wallet
	other.Address = eth.Address{2}
	first, second, third := uuid.New(), uuid.New(), uuid.New()
	until := e.clock.Now().Add(time.Hour)
	take := func(name string, w evm.Wallet, subject uuid.UUID, until time.Time, want bool) {
		t.Helper()
		if got, err := s.TakeTurn(t.Context(), w, subject, until); err != nil || got != want {
			t.Errorf("%s: %t, %v", name, got, err)
		}
	}
	take("first", wallet, first, until, true)
	take("first again", wallet, first, until, true)
	take("second", wallet, second, until, false)
	take("another wallet", other, second, until, true)
	if ended, err := s.EndTurn(t.Context(), wallet, third); err != nil || !ended {
		t.Errorf("%t, %v", ended, err)
	}
	take("after another has ended", wallet, second, until, false)
	if ended, err := s.EndTurn(t.Context(), wallet, first); err != nil || !ended {
		t.Errorf("%t, %v", ended, err)
	}
	take("after the first has ended", wallet, second, until, true)
	e.clock.Advance(2 * time.Hour)
	take("too late", wallet, first, until, false)
	take("after the time of the second", wallet, third, e.clock.Now().Add(time.Hour), true)
}

func TestStore_WalletGoesOnToTheNextConnection(t *testing.T) {
	t.Parallel()
	// Another connection takes the address of an embedded wallet over once no payment of the former one is on its way; but no other address.
	e := newEnv(t)
	s := e.store()
	next := func(w evm.Wallet, want bool) {
		t.Helper()
		w.Connection = "base-next"
		if _, err := s.NextNonce(t.Context(), w, 0); (err == nil) != want {
			t.Errorf("%v", err)
		}
	}
	of := func(n byte, embedded bool) (evm.Wallet, uuid.UUID) {
		t.Helper()
		w := evm.Wallet{Connection: "base-main", Rail: corridor.Base, ChainID: 31337, Address: eth.Address{n}, Embedded: embedded}
		subject := uuid.New()
		if taken, err := s.TakeTurn(t.Context(), w, subject, e.clock.Now().Add(time.Hour)); err != nil || !taken {
			t.Fatalf("%t, %v", taken, err)
		}
		return w, subject
	}
	ended, subject := of(1, true)
	next(ended, false)
	over := ended
	over.Connection = "base-next" // which is asked about the payment, and refuses it
	if done, err := s.EndTurn(t.Context(), over, subject); err != nil || !done {
		t.Errorf("%t, %v", done, err)
	}
	next(ended, true)

	pending, subject := of(2, true)
	transaction := evm.Transaction{Connection: "base-main", Sender: pending.Address, Purpose: evm.WalletDebit, Subject: subject,
		Platform: e.platform, Value: new(big.Int), Data: []byte{1}, Currency: money.USDB, Amount: big.NewInt(10), State: evm.Pending,
		CreatedAt: noon, UpdatedAt: noon, Attempts: []evm.Attempt{evmAttempt(1)}}
	if _, added, err := s.AddTransaction(t.Context(), pending, transaction, nil); err != nil || added != evm.Added {
		t.Fatalf("%s, %v", added, err)
	}
	e.clock.Advance(2 * time.Hour)
	next(pending, false)
	over = pending
	over.Connection = "base-next"
	if done, err := s.EndTurn(t.Context(), over, subject); err != nil || done {
		t.Errorf("%t, %v", done, err)
	}
	if _, err := e.db.Pool().Exec(t.Context(), "UPDATE evm_transactions SET state = 'LOST'"); err != nil {
		t.Fatal(err)
	}
	next(pending, true)

	expired, _ := of(3, true)
	e.clock.Advance(2 * time.Hour)
	next(expired, true)
	hot, _ := of(4, false)
	e.clock.Advance(2 * time.Hour)
	next(hot, false)
}

// walletCredit returns a transaction of a connection for a payment to an embedded wallet.
func walletCredit(e *env, w evm.Wallet, subject uuid.UUID) evm.Transaction {
	return evm.Transaction{Connection: w.Connection, Sender: w.Address, Path: []uint32{44}, Purpose: evm.WalletCredit, Subject: subject,
		Platform: e.platform, Value: new(big.Int), Data: []byte{1}, Currency: money.USDB, Amount: big.NewInt(10), State: evm.Pending,
		CreatedAt: noon, UpdatedAt: noon, Attempts: []evm.Attempt{evmAttempt(1)}}
}

func TestStore_PaymentOfAWalletIsOfOneConnection(t *testing.T) {
	t.Parallel()
	// Processes of two connections of wallets, also on two chains with the same address, pay the same to a wallet at once: it is paid by one
	// transaction, which each of them gets. Other payments are of their connections.
	e := newEnv(t)
	s := e.store()
	wallets := []evm.Wallet{{Connection: "former", Rail: corridor.Base, ChainID: 1, Address: eth.Address{1}},
		{Connection: "present", Rail: corridor.Base, ChainID: 2, Address: eth.Address{1}}}
	for _, w := range wallets {
		if _, err := s.OpenChain(t.Context(), evm.Chain{Connection: w.Connection, ChainID: w.ChainID, Wallet: w.Address}); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 {
		subject := uuid.New()
		var group sync.WaitGroup
		var added atomic.Int32
		var hashes sync.Map
		for i := range 6 {
			group.Go(func() {
				w := wallets[i%2]
				for {
					credit := walletCredit(e, w, subject)
					var err error
					if credit.Nonce, err = s.NextNonce(t.Context(), w, 0); err != nil {
						t.Error(err)
						return
					}
					stored, addition, err := s.AddTransaction(t.Context(), w, credit, nil)
					if addition == evm.Added {
						added.Add(1)
					}
					if err != nil || addition != evm.NonceTaken {
						hashes.Store(stored.Attempts[0].Hash, err)
						return
					}
				}
			})
		}
		group.Wait()
		n := 0
		hashes.Range(func(_, err any) bool {
			n++
			return err == nil
		})
		if added.Load() != 1 || n != 1 {
			t.Errorf("%d transactions were added, and %d returned", added.Load(), n)
		}
	}
	subject := uuid.New()
	for i, w := range wallets {
		fill := walletCredit(e, w, subject)
		fill.Purpose, fill.Nonce = evm.Fill, 1000
		if _, added, err := s.AddTransaction(t.Context(), w, fill, nil); err != nil || added != evm.Added {
			t.Errorf("errand %d: %s, %v", i, added, err)
		}
	}
}

func TestStore_DeletedConnectionSendsNothingForWallets(t *testing.T) {
	t.Parallel()
	// A process that does not know yet that its connection is deleted adds no transaction of a wallet.
	e := newEnv(t)
	w := evm.Wallet{Connection: "base-main", Rail: corridor.Base, ChainID: 31337, Address: eth.Address{1}}
	v := ports.RailConnectionVersion{Connection: e.connection(), By: "ana", Note: "Test", Latest: 1}
	v.SetAt = noon
	add := func() evm.Addition {
		t.Helper()
		_, added, err := e.store().AddTransaction(t.Context(), w, walletCredit(e, w, uuid.New()), nil)
		if err != nil {
			t.Fatal(err)
		}
		return added
	}
	portstest.SaveConnection(t, e.db.Connections(), v)
	if got := add(); got != evm.Added {
		t.Errorf("open: %s", got)
	}
	v.Version, v.Latest, v.Deleted = 2, 2, true
	portstest.SaveConnection(t, e.db.Connections(), v)
	w.Address = eth.Address{2}
	if got := add(); got != evm.Held {
		t.Errorf("deleted: %s", got)
	}
}
