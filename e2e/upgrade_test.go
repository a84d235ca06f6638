package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"causeway/adapters/pgembed/pgtest"
)

// An earlier program, with the baseline of migrations/README.md only, has left the database in this
// folder, with its last answers. `make upgrade` builds it from the history of the repository and records
// both files again:
//
//   - database.sql.gz, a dump by pg_dump;
//   - state.json.gz, an earlierState.
const upgradeFolder = "testdata/upgrade"

var earlierProgram = flag.String("earlier", "", "program of an earlier release, with which the tests of upgrades record their data and "+
	"run side by side")

// earlierState is what the earlier release answered, and what it did next with the database when it
// ran on by itself.
type earlierState struct {
	PlatformID, ClientID, ClientSecret string
	Checkpoints                        map[string][]byte          // published files, by name
	Responses                          map[string]json.RawMessage // by path
	Balances                           accountBalances
	Repeatable                         struct { // a request and its stored response
		Key, Path string
		Body      object
		Response  json.RawMessage
	}
	UnpaidQuote string // to be paid
	Waiting     []string
	// After finishEarlier:
	FinalBalances accountBalances
	FinalStatuses map[string]string // of transactions, with that of the refund
}

func TestUpgrade_EarlierDatabaseContinues(t *testing.T) {
	t.Parallel()
	// A database that an earlier release left, with payments of several kinds in every state, is
	// migrated. Everything in it is as the earlier release returned it, the ledger passes its checks,
	// a repeated request has its stored response, and the open payments and waiting webhooks end
	// exactly as they did when the earlier release ran on.
	if *earlierProgram != "" {
		recordEarlier(t)
	}
	h, earlier := restoreEarlier(t)
	env := []string{"DATABASE_URL=" + h.databaseURL}

	if _, errOut, status := runCommand(t, append(slices.Clone(env), "CAUSEWAY_MASTER_KEY="+masterKey), "serve", "--listen",
		"127.0.0.1:0"); status == 0 || !strings.Contains(errOut, "run causeway migrate") {
		t.Errorf("serve before the migration: status %d, %s", status, errOut)
	}
	// A file that cannot have its lock is not applied, and migrate continues there.
	imported, err := h.db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := imported.Exec("LOCK TABLE customers IN ROW EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	if _, errOut, status := runCommand(t, env, "migrate"); status == 0 || !strings.Contains(errOut, "00019_") ||
		!strings.Contains(errOut, "run causeway migrate again") {
		t.Errorf("migrate beside a long import: status %d\n%s", status, errOut)
	}
	if err := imported.Rollback(); err != nil {
		t.Fatal(err)
	}
	if out := mustRunCommand(t, env, "migrate"); strings.Contains(out, "00018_") || !strings.Contains(out, "00019_") ||
		!strings.Contains(out, "00020_") {
		t.Errorf("migrate: %s", out)
	}
	if out := mustRunCommand(t, env, "migrate"); !strings.Contains(out, "Nothing to do") {
		t.Errorf("migrate again: %s", out)
	}

	if queued, customers := h.queryInt("SELECT count(*) FROM ledger_evidence_queue WHERE kind = 'customer-status'"),
		h.queryInt("SELECT count(*) FROM customers"); customers == 0 || queued != customers {
		t.Errorf("%d of %d customers wait to be sealed", queued, customers)
	}
	h.checkLedger()
	checkpoints := t.TempDir()
	for name, text := range earlier.Checkpoints {
		if err := os.WriteFile(filepath.Join(checkpoints, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// What the earlier release left unsealed may be of any age, and need not be sealed yet.
	if out, status := h.runLedgerVerify(checkpoints, "--max-unsealed", "1000000h"); status != 0 {
		t.Errorf("ledger verify: status %d\n%s", status, out)
	}
	h.checkLedgerBalances(h.platformID, earlier.Balances)

	// However old the data is when this test runs, none is deleted.
	h.exec("UPDATE idempotency_keys SET created_at = now()")
	keepAll := []string{"--webhook-retention", "87600h", "--quote-retention", "87600h", "--rail-reply-retention", "87600h"}
	h.server = startServer(t, h.databaseURL, append(keepAll, "--no-workers")...)
	h.client.BaseURL = h.server.baseURL
	for _, path := range slices.Sorted(maps.Keys(earlier.Responses)) {
		for _, difference := range missingValues("", decodeJSON(t, earlier.Responses[path]), decodeJSON(t, h.get(path).wantStatus(200).body)) {
			t.Errorf("%s: %s", path, difference)
		}
	}
	repeated := h.withHeader("Idempotency-Key", earlier.Repeatable.Key).post(earlier.Repeatable.Path, earlier.Repeatable.Body)
	if !bytes.Equal(repeated.body, earlier.Repeatable.Response) || repeated.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the repeated request: %d %s, want %s", repeated.status, repeated.body, earlier.Repeatable.Response)
	}

	hooks := h.startReceiverNoWait()
	h.finishEarlier(earlier, func() *process { return startServer(t, h.databaseURL, keepAll...) })

	h.checkLedgerBalances(h.platformID, earlier.FinalBalances)
	if got := h.transactionStatuses(); !maps.Equal(got, earlier.FinalStatuses) {
		t.Errorf("the transactions ended as\n%v, want\n%v", got, earlier.FinalStatuses)
	}
	eventually(t, "every version of a customer is sealed", func() bool {
		return h.queryInt("SELECT count(*) FROM customers c WHERE NOT EXISTS (SELECT FROM ledger_evidence e WHERE e.platform_id = "+
			"c.platform_id AND c.id::text = ANY (e.subjects) AND 'customer-status' = ANY (e.kinds))") == 0
	})
	for _, id := range earlier.Waiting {
		if attempts := hooks.attempts(id); len(attempts) != 1 {
			t.Errorf("%s, which waited, was sent %d times", id, len(attempts))
		}
	}
}

// restoreEarlier returns the database of the earlier release, without a server.
func restoreEarlier(t *testing.T) (*testEnv, *earlierState) {
	t.Helper()
	earlier := new(earlierState)
	if err := json.Unmarshal(readGzip(t, "state.json.gz"), earlier); err != nil {
		t.Fatal(err)
	}
	dump := filepath.Join(t.TempDir(), "database.sql")
	if err := os.WriteFile(dump, readGzip(t, "database.sql.gz"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := &testEnv{t: t, databaseURL: pgtest.NewEmpty(t)}
	h.db = openURL(t, h.databaseURL)
	// As docs/operating.md restores a dump, but the role may exist on this server.
	h.exec(`DO $$ BEGIN CREATE ROLE causeway_service NOLOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
		GRANT causeway_service TO CURRENT_USER`)
	mustRunProgram(t, "psql", "--quiet", "--no-psqlrc", "--output=/dev/null", "--set=ON_ERROR_STOP=1", "--file="+dump, h.databaseURL)
	h.tenant = &tenant{client: newClient(t, "", earlier.ClientID, earlier.ClientSecret), platformID: earlier.PlatformID}
	t.Cleanup(h.checkLedger)
	return h, earlier
}

// finishEarlier pays a quote, lets the other unpaid quotes
// expire, and then starts a server with workers and returns when nothing is left to do.
func (h *testEnv) finishEarlier(earlier *earlierState, startWorkers func() *process) {
	h.t.Helper()
	// Its deadline has passed since the data was recorded.
	h.exec("UPDATE quotes SET expires_at = now() + interval '5 minutes' WHERE id = $1", uuidOf(earlier.UnpaidQuote))
	h.payQuote(h.get("/quotes/"+earlier.UnpaidQuote).wantStatus(200), 0).wantStatus(200)
	// A quote that was paid is evidence, so that a change of it would be found.
	h.exec(`UPDATE quotes q SET expires_at = now() - interval '1 second' WHERE expires_at > now() AND id <> $1
		AND EXISTS (SELECT FROM transactions t WHERE t.platform_id = q.platform_id AND t.id = q.transaction_id AND t.status = 'PENDING')`,
		uuidOf(earlier.UnpaidQuote))
	h.server = startWorkers()
	h.client.BaseURL = h.server.baseURL
	eventually(h.t, "the end of all jobs and webhooks", func() bool {
		h.exec("UPDATE jobs SET due_at = now() WHERE due_at > now() AND due_at < 'infinity'")
		return h.queryInt(
			"SELECT (SELECT count(*) FROM jobs) + (SELECT count(*) FROM webhook_queue) + (SELECT count(*) FROM webhook_backlog)") == 0
	})
}

// transactionStatuses returns the statuses of all transactions and their refunds, by id.
func (h *testEnv) transactionStatuses() map[string]string {
	h.t.Helper()
	statuses := map[string]string{}
	list := h.get("/transactions?limit=100").wantStatus(200)
	for i := range list.list("data") {
		at := fmt.Sprintf("data.%d.", i)
		statuses[list.text(at+"id")] = strings.TrimSpace(list.text(at+"status") + " " + list.text(at+"refund.status"))
	}
	return statuses
}

// missingValues returns what differs from a JSON document in a later one. The later may have more
// fields.
func missingValues(path string, earlier, later any) []string {
	switch earlier := earlier.(type) {
	case map[string]any:
		fields, ok := later.(map[string]any)
		if !ok {
			break
		}
		var differences []string
		for _, name := range slices.Sorted(maps.Keys(earlier)) {
			differences = append(differences, missingValues(path+"."+name, earlier[name], fields[name])...)
		}
		return differences
	case []any:
		items, ok := later.([]any)
		if !ok || len(items) != len(earlier) {
			break
		}
		var differences []string
		for i := range earlier {
			differences = append(differences, missingValues(fmt.Sprintf("%s.%d", path, i), earlier[i], items[i])...)
		}
		return differences
	}
	if reflect.DeepEqual(earlier, later) {
		return nil
	}
	return []string{fmt.Sprintf("%s was %v and is %v", strings.TrimPrefix(path, "."), earlier, later)}
}

func TestMissingValues(t *testing.T) {
	t.Parallel()
	// Only values that were there and are gone or different are named.
	for later, want := range map[string][]string{
		`{"a": 1, "b": [{"c": "x"}], "new": true}`: nil,
		`{"a": 2, "b": [{"c": "x"}]}`:              {"a was 1 and is 2"},
		`{"a": 1, "b": [{}]}`:                      {"b.0.c was x and is <nil>"},
		`{"a": 1, "b": []}`:                        {"b was [map[c:x]] and is []"},
	} {
		if got := missingValues("", decodeJSON(t, []byte(`{"a": 1, "b": [{"c": "x"}]}`)), decodeJSON(t, []byte(later))); !slices.Equal(got,
			want) {
			t.Errorf("%s: %q, want %q", later, got, want)
		}
	}
}

func readGzip(t *testing.T, name string) []byte {
	t.Helper()
	file, err := os.Open(filepath.Join(upgradeFolder, name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	reader, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
