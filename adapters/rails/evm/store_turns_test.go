package evm_test

import (
	"math/big"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/rails/evm"
	"causeway/adapters/rails/evm/eth"
	"causeway/core/corridor"
	"causeway/core/money"
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
