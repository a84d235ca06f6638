package e2e

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"causeway/adapters/pgembed"
)

func TestProduction_DocumentedRolesServePayments(t *testing.T) {
	t.Parallel()
	// The statements of docs/operating.md set up a database on which the service makes a payment,
	// with a login that cannot take the rights of the owner.
	document, err := os.ReadFile("../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	setup := regexp.MustCompile("(?s)\n```sql\n(.*?)```").FindAllStringSubmatch(string(document), 2)
	if len(setup) != 2 {
		t.Fatalf("the document has %d blocks of SQL, want those of the superuser and of the owner", len(setup))
	}
	server, err := pgembed.Start(t.Context(), pgembed.Options{Dir: filepath.Join(newPrivateFolder(t), "data"), Throwaway: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	superuser, owner, service := openURL(t, server.SuperuserURL()), openURL(t, server.RoleURL("causeway")),
		openURL(t, server.RoleURL("causeway_web"))
	mustExec(t, superuser, "DROP DATABASE causeway")
	mustExec(t, superuser, "DROP ROLE causeway")

	for _, statement := range regexp.MustCompile(`[^;]+;`).FindAllString(setup[0][1], -1) {
		mustExec(t, superuser, statement) // one by one, as CREATE DATABASE requires
	}
	mustRunCommand(t, []string{"DATABASE_URL=" + server.RoleURL("causeway")}, "migrate")
	mustExec(t, owner, setup[1][1])
	h := &testEnv{t: t, databaseURL: server.RoleURL("causeway_web"), db: owner}
	h.server = startServerAs(t, h.databaseURL)
	h.tenant = h.createPlatform("Sandbox", "SANDBOX", "--regulated")
	quote := h.createQuote("")
	h.payQuote(quote, 0).wantStatus(200)

	var denied *pgconn.PgError
	for _, statement := range []string{
		"SET ROLE causeway", "RESET ROLE; DELETE FROM ledger_postings", "SET ROLE causeway_service; RESET ROLE; UPDATE ledger_entries SET " +
			"amount = 1",
		"SET ROLE causeway_service; UPDATE ledger_entries SET amount = 1", "SET ROLE causeway_service; ALTER TABLE ledger_entries DISABLE " +
			"TRIGGER ALL",
	} {
		if _, err := service.Exec(statement); !errors.As(err, &denied) || denied.Code != "42501" {
			t.Errorf("%s: %v, want permission denied", statement, err)
		}
	}
	if n := h.queryInt("SELECT count(*) FROM ledger_postings WHERE kind = 'jit_received'"); n != 1 {
		t.Errorf("the payment was posted %d times", n)
	}
}

func openURL(t *testing.T, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxIdleConns(0)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func mustExec(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
