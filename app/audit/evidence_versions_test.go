package audit_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"causeway/app/audit"
)

// asOwner runs statements as the owner of the tables, for whom all triggers fire.
func (e *env) asOwner(statements string) {
	e.t.Helper()
	owner, err := pgx.Connect(e.t.Context(), e.URL)
	if err != nil {
		e.t.Fatal(err)
	}
	defer func() { _ = owner.Close(e.t.Context()) }()
	if _, err := owner.Exec(e.t.Context(), statements); err != nil {
		e.t.Fatalf("%s: %v", statements, err)
	}
}

// wantFinding wants a finding of any rule of the check.
func (e *evidenceEnv) wantFinding(damage, want string) {
	e.t.Helper()
	report, _ := e.verifyEvidence()
	if !slices.ContainsFunc(report.Findings, func(f audit.Finding) bool { return strings.Contains(f.Message, want) }) {
		e.t.Errorf("%s\nwant %q, found %+v", damage, want, report.Findings)
	}
}

func TestEvidence_VersionsOfTheServiceAreNoFindings(t *testing.T) {
	t.Parallel()
	// What the service changes of accounts, tokens and customers is sealed as a version, before and after it is sealed, and
	// so are deletions.
	e := newEvidenceEnv(t)
	e.NewWallet("spark1kept")
	gone := e.NewWallet("spark1gone")
	e.seal()
	for _, change := range []string{
		"UPDATE external_accounts SET status = 'INACTIVE'", "UPDATE customers SET held_at = now()", "UPDATE tokens SET name = 'renamed'",
		"DELETE FROM external_accounts WHERE id = '" + gone.ID.UUID().String() + "'", "DELETE FROM tokens",
	} {
		if _, err := e.Store.Pool().Exec(t.Context(), change); err != nil {
			t.Fatal(err)
		}
		if _, findings := e.verifyEvidence(); len(findings) > 0 {
			t.Errorf("%s, not sealed yet: %q", change, findings)
		}
		e.seal()
		if _, findings := e.verifyEvidence(); len(findings) > 0 {
			t.Errorf("%s, sealed: %q", change, findings)
		}
	}
}

func TestEvidence_FindsEditsOfRowsThatChange(t *testing.T) {
	t.Parallel()
	// The owner of the tables changes, deletes and inserts accounts, tokens and customers with SQL, while all triggers
	// fire: each is named, with what was changed.
	e := newEvidenceEnv(t)
	account := e.NewWallet("spark1good2")
	e.seal()
	kinds := []struct{ kind, table, id, change, column, copy string }{
		{"external-account", "external_accounts", account.ID.UUID().String(), "customer_id = NULL", "customer_id",
			`{"id": "01930000-0000-7000-8000-0000000000a9", "fingerprint": "x"}`},
		{"external-account", "external_accounts", account.ID.UUID().String(), "status = 'INACTIVE'", "status", ""},
		{"external-account", "external_accounts", account.ID.UUID().String(), "verification = 'MATCHED'", "verification", ""},
		{"external-account", "external_accounts", account.ID.UUID().String(), "trusted_at = now()", "trusted_at", ""},
		{"token", "tokens", e.Admin.Token.UUID().String(), "permissions = '{VIEW}'", "permissions",
			`{"id": "01930000-0000-7000-8000-0000000000b9", "client_id": "x"}`},
		{"token", "tokens", e.Admin.Token.UUID().String(), "secret_hash = sha256('thief')", "secret_hash", ""},
		{"customer-status", "customers", e.Customer.ID.UUID().String(), "held_at = now()", "held_at",
			`{"id": "01930000-0000-7000-8000-0000000000c9", "platform_customer_id": "x", "uma_address": "$x@uma.test"}`},
		{"customer-status", "customers", e.Customer.ID.UUID().String(), "status = 'REJECTED'", "status", ""},
	}
	for _, k := range kinds {
		row := " WHERE id = '" + k.id + "'"
		fact := fmt.Sprintf("the %s %s of %s", k.kind, k.id, e.platform)
		e.asOwner("CREATE TABLE kept AS TABLE " + k.table)
		e.asOwner("UPDATE " + k.table + " SET " + k.change + row)
		e.seal()
		e.wantFinding(k.change, fmt.Sprintf("%s is not what was sealed at 2026-11-20T12:03:00Z: %s was changed", fact, k.column))

		e.execAsSuperuser("DELETE FROM " + k.table + row)
		e.wantFinding("deleted", fact+", sealed at 2026-11-20T12:03:00Z, is missing")
		e.execAsSuperuser("DELETE FROM " + k.table + "; INSERT INTO " + k.table + " SELECT * FROM kept; DROP TABLE kept")
		if k.copy == "" {
			continue
		}
		copied := fmt.Sprintf("INSERT INTO %[1]s SELECT (jsonb_populate_record(t, '%[2]s')).* FROM %[1]s t%[3]s", k.table, k.copy, row)
		e.asOwner(copied)
		e.wantFinding(copied, fmt.Sprintf("the %s %s of %s has no evidence", k.kind, k.copy[8:44], e.platform))
		e.execAsSuperuser("DELETE FROM " + k.table + " WHERE id = '" + k.copy[8:44] + "'")
	}
	if _, findings := e.verifyEvidence(); len(findings) > 0 {
		t.Errorf("after everything was put back: %q", findings)
	}
}

func TestEvidence_FindsEditsOfDetailsOfAccounts(t *testing.T) {
	t.Parallel()
	// The details of an account and the name with which it was verified are in a keyed hash: an edit of either is named.
	e := newEvidenceEnv(t)
	account := e.NewWallet("spark1good2")
	e.seal()
	want := fmt.Sprintf("the external account %s of %s does not have the details that were registered", account.ID, e.platform)
	for _, edit := range []string{`fields = '{"address": "spark1thief"}'`, "verified_name = 'Eve'",
		`beneficiary = '{"type": "INDIVIDUAL", "fullName": "Eve"}'`} {
		e.asOwner("CREATE TABLE kept AS TABLE external_accounts; UPDATE external_accounts SET " + edit + " WHERE id = '" +
			account.ID.UUID().String() + "'")
		e.wantFinding(edit, want)
		e.execAsSuperuser("DELETE FROM external_accounts; INSERT INTO external_accounts SELECT * FROM kept; DROP TABLE kept")
	}
}

func TestEvidence_SealsVersionsOfEarlierCustomers(t *testing.T) {
	t.Parallel()
	// The upgrade queues the customers of before, so that none is reported as inserted.
	e := newEvidenceEnv(t)
	migration, err := os.ReadFile("../../migrations/00020_existing_customers.sql")
	if err != nil {
		t.Fatal(err)
	}
	e.seal()
	e.execAsSuperuser("DELETE FROM ledger_evidence; DELETE FROM ledger_evidence_queue; UPDATE ledger_evidence_state SET size = 0, " +
		"partial_tiles = ''")
	named := func() bool {
		report, _ := e.verifyEvidence()
		return slices.ContainsFunc(report.Findings, func(f audit.Finding) bool { return strings.Contains(f.Message, "the customer-status ") })
	}
	if !named() {
		t.Fatal("customers without evidence are not named")
	}

	e.asOwner(string(migration))

	if named() {
		t.Error("after the upgrade, customers are named as inserted")
	}
}
