package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/pgembed/pgtest"
)

// checkActions compares the recorded actions of operators: kind, actor and subject of each.
func checkActions(t *testing.T, url string, want ...string) {
	t.Helper()
	conn := pgtest.Connect(t, url)
	rows, err := conn.Query(
		t.Context(), `SELECT trim(action || ' ' || actor || ' ' || subject) FROM operator_actions WHERE subject_id = '00000000-0000-0000-0000-000000000000' ORDER BY id`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("recorded %q, %v\nwant     %q", got, err, want)
	}
}

func TestActorFlag_InvalidNameChangesNothing(t *testing.T) {
	t.Parallel()
	// A command whose operator has no usable name is refused before it changes anything.
	url := pgtest.New(t)
	for _, args := range []string{
		"corridors set USD BTC --fee-fixed 25", "corridors reset USD BTC", "ledger archive 2025-01", "ledger restore 2025-01",
		"ledger rotate-key --master-key AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
		"webhooks rotate-keys --environment SANDBOX --master-key AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
		"keys rotate --master-key AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", "keys remove 0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e44",
	} {
		var out, errOut strings.Builder
		status := run(t.Context(), append(strings.Fields(args), "--database-url", url, "--actor", " "), &out, &errOut)
		if status != 1 || !strings.Contains(errOut.String(), "--actor must name who does this") {
			t.Errorf("%s: status %d, %s", args, status, errOut.String())
		}
	}
	checkActions(t, url)
}
