package rail_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/core/corridor"
	"causeway/core/money"
	"causeway/core/rail"
)

func TestDoubt_OnlyWhatMayHaveLeftAndWouldLeaveAgain(t *testing.T) {
	t.Parallel()
	// After a loss, a payment of before is doubtful unless the only connection that could have sent it recognises a repeat. One that
	// began later never left before.
	connection := func(name string, adapter rail.Adapter, on corridor.Rail) rail.Connection {
		return rail.Connection{Name: name, Adapter: adapter, Rails: []corridor.Rail{on}, Currencies: []money.Currency{money.EUR}}
	}
	bank, chain := connection("bank", rail.BankFile, corridor.SEPA), connection("chain", rail.EVM, corridor.Base)
	partner, other := connection("partner", rail.Partner, corridor.SEPA), connection("other", rail.Partner, corridor.SEPA)
	idAt := func(at time.Time) (id uuid.UUID) {
		binary.BigEndian.PutUint64(id[:8], uint64(at.UnixMilli())<<16|0x7000)
		id[8] = 0x80
		return id
	}
	before, after := idAt(noon.Add(-time.Hour)), idAt(noon.Add(10*time.Second))
	tests := []struct {
		name     string
		id       uuid.UUID
		over     string
		all      []rail.Connection
		lost     time.Time
		passed   time.Duration
		doubtful bool
	}{
		{"no loss", before, "bank", []rail.Connection{bank}, time.Time{}, 0, false},
		{"bank", before, "bank", []rail.Connection{bank, chain}, noon, time.Minute, true},
		{"of an id without a time", uuid.UUID{15: 1}, "bank", []rail.Connection{bank}, noon, time.Minute, true},
		{"began later", after, "bank", []rail.Connection{bank}, noon, time.Minute, false},
		{"a month later", before, "bank", []rail.Connection{bank}, noon, 31 * 24 * time.Hour, false},
		{"a month later, and it has waited", before, "bank", []rail.Connection{bank}, noon, 31 * 24 * time.Hour, true},
		{"sent back over a bank that no longer carries its rail", before, "bank",
			[]rail.Connection{connection("bank", rail.BankFile, corridor.ACH)}, noon, time.Minute, true},
		{"sent back over a partner", before, "partner", []rail.Connection{bank, partner}, noon, time.Minute, false},
		{"partner", before, "partner", []rail.Connection{partner, chain}, noon, time.Minute, false},
		{"partner, and another one on its rail", before, "partner", []rail.Connection{partner, other}, noon, time.Minute, true},
		{"partner, and a bank on its rail", before, "partner", []rail.Connection{bank, partner}, noon, time.Minute, true},
	}
	for _, tt := range tests {
		p := payout(1)
		p.ID, p.Connection, p.Back = tt.id, tt.over, strings.HasPrefix(tt.name, "sent back")
		if strings.HasSuffix(tt.name, "it has waited") {
			p.RecordedAt = noon.Add(-time.Minute)
		}
		reason := p.Doubt(tt.all, tt.lost, noon.Add(tt.passed))
		if (reason != "") != tt.doubtful {
			t.Errorf("%s: %q", tt.name, reason)
		}
		account := euros(1000)
		held := account.Dispatch(p, bank, rail.Holds{Doubt: reason}, noon)
		if want := map[bool]rail.State{true: rail.InReview, false: rail.HandedOver}[tt.doubtful]; held.State != want {
			t.Errorf("%s: %s, want %s", tt.name, held.State, want)
		}
		if released, err := held.Release(); tt.doubtful && (err != nil ||
			account.Dispatch(released, bank, rail.Holds{Doubt: reason}, noon).State != rail.HandedOver) {
			t.Errorf("%s: held after its release: %v", tt.name, err)
		}
	}
}
