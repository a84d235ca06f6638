package screening

import (
	"testing"

	"causeway/core/fault"
)

func TestClear(t *testing.T) {
	// Every match needs a clearance, of now or of before; an earlier one ends when the entry or the
	// subject changes. An entry that does not match cannot be cleared.
	t.Parallel()
	entry := Entry{List: OFAC, Ref: "1", Kind: Person, Names: []EntryName{{Text: "Ivan Testov"}}}
	subject := Subject{Kind: Person, Names: []string{"Ivan Testov"}}
	screen := func(e Entry, s Subject) []Match { return NewIndex([]Entry{e}, DefaultThreshold).Screen(s) }

	if _, err := Clear(subject, screen(entry, subject), nil, nil, nil); !fault.Is(err, fault.Conflict) {
		t.Errorf("nothing cleared: %v, want CONFLICT", err)
	}
	cleared, err := Clear(subject, screen(entry, subject), nil, []string{"ofac:1"}, nil)
	if err != nil || len(cleared) != 1 {
		t.Fatalf("%v, %v", cleared, err)
	}
	if again, err := Clear(subject, screen(entry, subject), nil, nil, cleared); err != nil || len(again) != 1 || again[0] != cleared[0] {
		t.Errorf("cleared before: %v, %v", again, err)
	}
	changed := entry
	changed.Programs = []string{"X"}
	if _, err := Clear(subject, screen(changed, subject), nil, nil, cleared); !fault.Is(err, fault.Conflict) {
		t.Errorf("the entry changed: %v, want CONFLICT", err)
	}
	renamed := Subject{Kind: Person, Names: []string{"Ivan Testow"}}
	if _, err := Clear(renamed, screen(entry, renamed), nil, nil, cleared); !fault.Is(err, fault.Conflict) {
		t.Errorf("the subject changed: %v, want CONFLICT", err)
	}
	if _, err := Clear(subject, screen(entry, subject), nil, []string{"ofac:1", "eu:1"}, nil); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("another entry: %v, want INVALID_INPUT", err)
	}
	other := Subject{Kind: Person, Names: []string{"Maya Lind"}}
	if none, err := Clear(other, screen(entry, other), nil, nil, nil); err != nil || len(none) != 0 {
		t.Errorf("no match: %v, %v", none, err)
	}
}
