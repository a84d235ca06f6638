package ledger_test

import (
	"testing"

	"github.com/google/uuid"

	"causeway/ledger"
)

func TestDerivedID(t *testing.T) {
	t.Parallel()
	// The same work gives the same id, other work another, and the id sorts with its
	// subject's time. The first value is written down, because stored ids depend on it.
	subject := uuid.MustParse("01936e1a-7a00-7abc-8def-0123456789ab")
	first := ledger.DerivedID(subject, ledger.KindConverted, 0)

	if want := "01936e1a-7a00-8a01-887e-1b4e14866ea5"; first.String() != want {
		t.Errorf("got %s, want %s", first, want)
	}
	if first.Version() != 8 || first.Variant() != uuid.RFC4122 {
		t.Errorf("version %d, variant %s", first.Version(), first.Variant())
	}
	seen := map[uuid.UUID]bool{}
	for _, s := range []uuid.UUID{subject, uuid.MustParse("01936e1a-7a00-7abc-8def-0123456789ac")} {
		for _, kind := range ledger.Kinds() {
			for nth := range 3 {
				id := ledger.DerivedID(s, kind, nth)
				if seen[id] || id != ledger.DerivedID(s, kind, nth) {
					t.Fatalf("%s %s %d: id %s is not its own", s, kind, nth, id)
				}
				seen[id] = true
			}
		}
	}
}
