package main

import (
	"strings"
	"testing"

	"causeway/adapters/cli"
	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/adapters/postgres/outbox"
	webhooksender "causeway/adapters/webhooks"
	"causeway/core/platform"
)

func TestWebhooksRotateKeys(t *testing.T) {
	t.Parallel()
	// Both keys of the environment are replaced, and the old ones stay valid for the overlap. The
	// other environment keeps its keys. Without the master key of the service nothing changes.
	const masterKey = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	url := pgtest.New(t)
	rotate := func(args string) (out, errOut string, status int) {
		var stdout, stderr strings.Builder
		argv := append([]string{"webhooks", "rotate-keys", "--database-url", url}, strings.Fields(args)...)
		status = run(t.Context(), argv, &stdout, &stderr)
		return stdout.String(), stderr.String(), status
	}
	db := openDB(t, postgres.Options{URL: url, AllPlatforms: true, MaxConnections: 2,
		Clock: systemClock{}, IDs: ids.New()})
	sealer, err := newSealer(cli.MasterKeyFlag{MasterKey: masterKey}, cli.DatabaseFlags{})
	if err != nil {
		t.Fatal(err)
	}
	published := func(env platform.Environment) (current, old int) {
		t.Helper()
		keys, err := webhooksender.NewKeyring(outbox.NewKeys(db.Pool()), db, sealer, systemClock{}, ids.New()).Keys(t.Context(), env,
			systemClock{}.Now())
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			if key.ValidUntil.IsZero() {
				current++
			} else {
				old++
			}
		}
		return current, old
	}
	published(platform.Sandbox)
	published(platform.Production)

	for args, want := range map[string]string{
		"--environment SANDBOX":                                            "--master-key (CAUSEWAY_MASTER_KEY) is required",
		"--environment SANDBOX --master-key short":                         "CAUSEWAY_MASTER_KEY must be 32 random bytes",
		"--environment TEST --master-key " + masterKey:                     "--environment must be one of",
		"--master-key " + masterKey:                                        "--environment",
		"--environment SANDBOX --overlap 2161h --master-key " + masterKey:  "--overlap must be from 0s to 2160h",
		"--environment PRODUCTION --overlap=-1s --master-key " + masterKey: "--overlap must be from 0s to 2160h",
	} {
		if out, errOut, status := rotate(args); status == 0 || !strings.Contains(errOut, want) {
			t.Errorf("%s: status %d, %s%s; want %s", args, status, out, errOut, want)
		}
	}
	if current, old := published(platform.Sandbox); current != 2 || old != 0 {
		t.Errorf("%d current and %d old keys after refused commands", current, old)
	}

	if out, errOut, status := rotate("--environment SANDBOX --actor ana --master-key " + masterKey); status != 0 ||
		!strings.Contains(out, "SANDBOX platforms are signed with new keys") {
		t.Errorf("status %d, %s%s", status, out, errOut)
	}
	if current, old := published(platform.Sandbox); current != 2 || old != 2 {
		t.Errorf("%d current and %d old keys, want 2 and 2", current, old)
	}
	if _, errOut, status := rotate("--environment SANDBOX --actor ben --overlap 0s --master-key " + masterKey); status != 0 {
		t.Errorf("status %d, %s", status, errOut)
	}
	if current, old := published(platform.Sandbox); current != 2 || old != 2 {
		t.Errorf("%d current and %d old keys, want 2 and the 2 whose overlap has not ended", current, old)
	}
	if current, old := published(platform.Production); current != 2 || old != 0 {
		t.Errorf("%d current and %d old keys in production", current, old)
	}
	checkActions(t, url, "ROTATE_WEBHOOK_KEYS ana SANDBOX", "ROTATE_WEBHOOK_KEYS ben SANDBOX")
}
