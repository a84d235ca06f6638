package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"causeway/adapters/encryption"
	"causeway/e2e/kit"
)

func TestKeysRotate_UnderLoadWithoutError(t *testing.T) {
	t.Parallel()
	// The data key and the master key are replaced while payments run, without a restart and without
	// an error, by the login of the service: the processes read the master key's file again. Afterwards
	// the new master key alone reads everything, the tables show no personal data, and no row needs the
	// old data keys, so that the owner of the database can remove them.
	h := newDatabaseEnv(t)
	file := filepath.Join(t.TempDir(), "master.key")
	writeKeys := func(keys ...string) {
		t.Helper()
		if err := os.WriteFile(file+".new", []byte(strings.Join(keys, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	oldKey, newKey := encryption.NewKey(), encryption.NewKey()
	writeKeys(oldKey)
	h.server = startServerWithKeyFile(t, h.databaseURL, file)
	h.tenant = h.createPlatform("Sandbox", "SANDBOX", "--regulated")
	hooks := h.startReceiver()
	before := h.createQuote("")
	keyed := h.withHeader("Idempotency-Key", "11111111-1111-4111-8111-111111111111")
	first := keyed.post("/customers", customerBody(object{"platformCustomerId": "once"})).wantStatus(201)
	var running sync.WaitGroup
	var stop atomic.Bool
	var paid, failed atomic.Int64
	for range 4 {
		running.Go(func() {
			for !stop.Load() {
				customer, err := h.do(t.Context(), http.MethodPost, "/customers", customerBody())
				if err != nil || customer.status != http.StatusCreated {
					failed.Add(1)
					t.Errorf("create a customer: %d %s, %v", customer.status, customer.body, err)
					return
				}
				if got, err := h.do(t.Context(), http.MethodGet, "/customers/"+customer.text("id"), nil); err != nil ||
					got.text("fullName") != customer.text("fullName") {
					failed.Add(1)
					t.Errorf("read the customer: %d %s, %v", got.status, got.body, err)
					return
				}
				paid.Add(1)
				time.Sleep(10 * time.Millisecond) // so that a busy machine encrypts faster than this writes
			}
		})
	}
	login, err := kit.CreateServiceLogin(waitContext(t), h.databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	service := []string{"DATABASE_URL=" + login, "CAUSEWAY_MASTER_KEY_FILE=" + file}
	rotate := func() string {
		t.Helper()
		return mustRunCommand(t, service, "keys", "rotate", "--actor", "ana")
	}

	for range 3 {
		if out := rotate(); !strings.Contains(out, "Created data key") {
			t.Errorf("keys rotate printed %s", out)
		}
	}
	writeKeys(newKey, oldKey)
	rotate()
	writeKeys(newKey)
	h.payQuote(before, 0).wantStatus(200)
	hooks.checkEvents(before.text("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
	stop.Store(true)
	running.Wait()

	if paid.Load() == 0 || failed.Load() > 0 {
		t.Errorf("%d customers, %d failures", paid.Load(), failed.Load())
	}
	for _, table := range []string{"customers", "external_accounts"} {
		// A base64 text has no spaces, and spark1 only by chance in one of 10^10.
		if n := h.queryInt(fmt.Sprintf("SELECT count(*) FROM %[1]s WHERE %[1]s::text ~ 'Ana Silva|Main Street|spark1'", table)); n != 0 {
			t.Errorf("%d rows of %s show personal data", n, table)
		}
	}
	if n := h.queryInt("SELECT count(*) FROM webhook_events WHERE get_byte(body, 0) <> 2"); n != 0 {
		t.Errorf("%d webhooks are stored unencrypted", n)
	}
	if n := h.queryInt("SELECT count(*) FROM idempotency_keys WHERE get_byte(body, 0) = 2"); n != 1 {
		t.Errorf("%d responses are stored encrypted, want 1", n)
	}
	mustRunCommand(t, service, "keys", "reencrypt") // what processes wrote before they knew the newest key
	listed := strings.Split(strings.TrimSpace(mustRunCommand(t, service, "keys", "list")), "\n")
	if last := listed[len(listed)-1]; len(listed) != 6 || !strings.Contains(last, "newest") || !strings.Contains(last, "customers ") ||
		!strings.Contains(last, "webhook_events ") || !strings.Contains(last, "idempotency_keys 1") {
		t.Errorf("listed:\n%s", strings.Join(listed, "\n"))
	}
	h.exec("UPDATE data_keys SET created_at = created_at - interval '25 hours'")
	for _, line := range listed[1 : len(listed)-1] {
		key := strings.Fields(line)[0]
		if _, errOut, status := runCommand(t, service, "keys", "remove", key); status != 1 ||
			!strings.Contains(errOut, "use the one that migrates the database") {
			t.Errorf("remove as the service: status %d, %s", status, errOut)
		}
		mustRunCommand(t, []string{"DATABASE_URL=" + h.databaseURL}, "keys", "remove", key, "--actor", "ana")
	}
	if n := h.queryInt(
		"SELECT count(*) FROM operator_actions WHERE actor = 'ana' AND action IN ('ROTATE_DATA_KEY', 'REMOVE_DATA_KEY')"); n != 8 {
		t.Errorf("%d actions are recorded, want four rotations and the removal of four keys", n)
	}
	// A process with the new master key only reads and signs.
	h.server = startServerWithKeyFile(t, h.databaseURL, file)
	h.tenant.client = h.withServer(h.server)
	checkReplayed(t, first, keyed.withServer(h.server).post("/customers", customerBody(object{"platformCustomerId": "once"})))
	after := h.createQuote("")
	h.payQuote(after, 0).wantStatus(200)
	hooks.checkEvents(after.text("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
}

func TestSettings_SecretsFromFilesAndMisspeltNames(t *testing.T) {
	t.Parallel()
	// A secret setting can come from a file, but not from both variables. A variable whose name is
	// almost that of a setting, and settings without effect, are refused.
	h := newDatabaseEnv(t)
	secret := filepath.Join(t.TempDir(), "url")
	if err := os.WriteFile(secret, []byte(h.databaseURL+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := mustRunCommand(t, []string{"DATABASE_URL_FILE=" + secret}, "ledger", "check"); !strings.Contains(out, "passed") {
		t.Errorf("with the URL from a file: %s", out)
	}
	for name, c := range map[string]struct {
		env  []string
		args string
		says string
	}{
		"both variables": {[]string{"DATABASE_URL_FILE=" + secret, "DATABASE_URL=" + h.databaseURL}, "ledger check",
			"DATABASE_URL and DATABASE_URL_FILE are both set"},
		"no such file": {[]string{"DATABASE_URL_FILE=" + secret + "x"}, "ledger check", "DATABASE_URL_FILE: open"},
		"misspelt": {[]string{"CAUSEWAY_CONECTIONS=8"}, "ledger check", "CAUSEWAY_CONECTIONS is not a setting; did you mean " +
			"CAUSEWAY_CONNECTIONS?"},
		"misspelt secret": {[]string{"CAUSEWAY_MASTERKEY_FILE=" + secret}, "ledger check", "did you mean CAUSEWAY_MASTER_KEY_FILE?"},
		"without effect": {[]string{"DATABASE_URL=" + h.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey}, "serve --rates-dollars USDC",
			"--rates-dollars (CAUSEWAY_RATES_DOLLARS) must be left out unless --rates (CAUSEWAY_RATES) is ecb"},
	} {
		if _, errOut, status := runCommand(t, c.env, strings.Fields(c.args)...); status == 0 || !strings.Contains(errOut, c.says) {
			t.Errorf("%s: status %d, %s; want %q", name, status, errOut, c.says)
		}
	}
	// Variables of other programs, and those that Kubernetes sets for a service of this name, are not settings.
	mustRunCommand(t, []string{"DATABASE_URL=" + h.databaseURL, "CAUSEWAY_PORT=tcp://10.0.0.1:80", "CAUSEWAY_SERVICE_HOST=10.0.0.1",
		"CAUSEWAY_TEAM=payments"}, "ledger", "check")
}
