package evm_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/rails/evm"
	"causeway/adapters/rails/evm/eth"
	"causeway/core/corridor"
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
