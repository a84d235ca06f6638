package migrations_test

import (
	"fmt"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/google/uuid"

	"causeway/adapters/pgembed/pgtest"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/migrations"
)

func TestAccountsOfOlderDatabasesGetTheirReference(t *testing.T) {
	t.Parallel()
	// An account that was open before has the same reference as if it were opened today.
	db := open(t, pgtest.Empty(t))
	older := fstest.MapFS{}
	names, err := fs.Glob(migrations.Files, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(migrations.Files, name)
		if err != nil {
			t.Fatal(err)
		}
		if name < "00008" {
			older[name] = &fstest.MapFile{Data: text}
		}
	}
	if err := migrations.UpFrom(t.Context(), db, older); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`INSERT INTO platforms (id, name, environment, regulated, uma_domain, currencies, created_at, updated_at)
		VALUES ('019542f5-b3e7-7d02-8000-000000000001', 'Acme', 'SANDBOX', false, 'uma.test', '[]', now(), now())`); err != nil {
		t.Fatal(err)
	}
	ids := []string{
		"019542f5-b3e7-7d02-8000-000000000000", "019542f5-b3e7-7d02-bfff-ffffffffffff",
		"0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b", "0199e3a4-7c5e-7d21-a123-456789abcdef",
	}
	for n, id := range ids {
		if _, err := db.Exec(`INSERT INTO internal_accounts (platform_id, id, currency, account_type, status, created_at, updated_at)
			VALUES ('019542f5-b3e7-7d02-8000-000000000001', $1, $2, 'INTERNAL_FIAT', 'ACTIVE', now(), now())`, id, fmt.Sprint(n)); err != nil {
			t.Fatal(err)
		}
	}

	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}

	for _, text := range ids {
		var id ident.InternalAccount
		ident.Set(&id, uuid.MustParse(text))
		var has string
		if err := db.QueryRow("SELECT reference FROM internal_accounts WHERE id = $1", text).Scan(&has); err != nil {
			t.Fatal(err)
		}
		if want := account.FundingReference(id); has != want {
			t.Errorf("%s has %s, want %s", text, has, want)
		}
	}
}
