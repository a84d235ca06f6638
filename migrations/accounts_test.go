package migrations_test

import (
	"testing"

	"causeway/adapters/pgembed/pgtest"
	"causeway/migrations"
)

func TestUp_BackfillsAccountReferences(t *testing.T) {
	t.Parallel()
	// An account that was open before has the same reference as if it were opened today.
	db := openDB(t, pgtest.NewEmpty(t))
	if err := migrations.UpFrom(t.Context(), db, filesBefore(t, "00008")); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`INSERT INTO platforms (id, name, environment, regulated, uma_domain, currencies, created_at, updated_at)
		VALUES ('019542f5-b3e7-7d02-8000-000000000001', 'Acme', 'SANDBOX', false, 'uma.test', '[]', now(), now())`); err != nil {
		t.Fatal(err)
	}
	references := map[string]string{
		"019542f5-b3e7-7d02-8000-000000000000": "FUND-000000000000",
		"019542f5-b3e7-7d02-bfff-ffffffffffff": "FUND-ZZZZZZZZZZZY",
		"0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b": "FUND-W5KR79E9XD6P",
		"0199e3a4-7c5e-7d21-a123-456789abcdef": "FUND-4HMASW9NF6YY",
	}
	for id, reference := range references {
		if _, err := db.Exec(`INSERT INTO internal_accounts (platform_id, id, currency, account_type, status, created_at, updated_at)
			VALUES ('019542f5-b3e7-7d02-8000-000000000001', $1, $2, 'INTERNAL_FIAT', 'ACTIVE', now(), now())`, id, reference[5:8]); err != nil {
			t.Fatal(err)
		}
	}

	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}

	for id, want := range references {
		var has string
		if err := db.QueryRow("SELECT reference FROM internal_accounts WHERE id = $1", id).Scan(&has); err != nil {
			t.Fatal(err)
		}
		if has != want {
			t.Errorf("%s has %s, want %s", id, has, want)
		}
	}
}
