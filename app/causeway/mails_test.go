package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/core/platform"
	"causeway/ports"
	"causeway/ports/portstest"
)

// mailsDatabase returns a database with a mail that waits since noon and one that was refused.
func mailsDatabase(t *testing.T) (url string, p platform.Platform) {
	t.Helper()
	url = pgtest.SimulateClock(t, pgtest.New(t))
	idGenerator := ids.New()
	db := openDB(t, postgres.Options{URL: url, AllPlatforms: true, MaxConnections: 2,
		Clock: portstest.NewFakeClock(noon), IDs: idGenerator})
	p = portstest.SandboxPlatform(t, idGenerator, noon)
	portstest.MustDo(t, db, func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.CreatePlatform(ctx, p); err != nil {
			return err
		}
		for _, status := range []ports.MailStatus{ports.MailWaiting, ports.MailRefused} {
			m := ports.QueuedMail{Mail: portstest.NewMail(), Platform: p.ID, Kind: ports.MailCode, CreatedAt: noon,
				ExpiresAt: noon.Add(5 * time.Minute)}
			m.ID = idGenerator.New(noon)
			if err := tx.AddMail(ctx, m); err != nil {
				return err
			}
			if status == ports.MailRefused {
				if err := tx.EndMail(ctx, p.ID, m.ID, ports.MailOutcome{Status: status, Reason: "550 no such\nmailbox\x1b",
					At: noon.Add(time.Second)}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return url, p
}

func TestMailsList(t *testing.T) {
	t.Parallel()
	// Mails are listed with what became of them, without their recipients and contents. What the mail server
	// said cannot control the terminal.
	url, p := mailsDatabase(t)
	list := func(args ...string) (string, string, int) {
		var out, errOut strings.Builder
		status := run(t.Context(), append(append([]string{"mails", "list"}, args...), "--database-url", url), &out, &errOut)
		return out.String(), errOut.String(), status
	}

	out, errOut, status := list()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if status != 0 || len(lines) != 3 || !strings.Contains(lines[1], `refused  2026-`) ||
		!strings.Contains(lines[1], `"550 no such\nmailbox\x1b"`) || !strings.Contains(lines[2], "CODE  waiting") ||
		!strings.Contains(lines[2], p.ID.String()) {
		t.Errorf("status %d\n%s%s", status, out, errOut)
	}
	if strings.Contains(out, "ana@") || strings.Contains(out, "123456") {
		t.Errorf("the list shows a recipient or a code:\n%s", out)
	}
	if out, _, status = list("--status", "waiting", "--platform", p.ID.String()); status != 0 || strings.Contains(out, "refused") ||
		!strings.Contains(out, "waiting") {
		t.Errorf("status %d\n%s", status, out)
	}
	if out, _, status = list("--limit", "1"); status != 0 || !strings.Contains(out, "There are more.") {
		t.Errorf("status %d\n%s", status, out)
	}
	if out, _, status = list("--status", "expired"); status != 0 || out != "There are no such mails.\n" {
		t.Errorf("status %d\n%s", status, out)
	}
	for args, want := range map[string]string{"--limit 0": "--limit must be from 1 to 10000", "--platform 1": "--platform: must be an id",
		"--status lost": "--status"} {
		if _, errOut, status := list(strings.Fields(args)...); status == 0 || !strings.Contains(errOut, want) {
			t.Errorf("%s: status %d, %s", args, status, errOut)
		}
	}
}

func TestMailFlags_ReportInvalidValues(t *testing.T) {
	t.Parallel()
	// Invalid settings of mails are reported by name, and the URL with its password is not shown.
	for arguments, want := range map[string]string{
		"--smtp-url smtps://ana:secret@mail.test --mail-from wallet@mail.test": "",
		"--mail-folder /tmp/mail": "",
		"--smtp-url smtps://ana:secret@mail.test": "--mail-from (CAUSEWAY_MAIL_FROM) must be set with " +
			"--smtp-url",
		"--smtp-url http://ana:secret@mail.test --mail-from wallet@mail.test": "--smtp-url (CAUSEWAY_SMTP_URL) must be smtps://",
		"--smtp-url smtp://ana:secret@mail.test?tls=none --mail-from wallet@mail.test": "--smtp-url (CAUSEWAY_SMTP_URL) must be a URL without " +
			"tls=none",
		"--smtp-url smtps://ana@mail.test --mail-from wallet@mail.test": "--smtp-url (CAUSEWAY_SMTP_URL) must be",
		"--mail-from Wallet": "--mail-from (CAUSEWAY_MAIL_FROM) must be an e-mail address",
		"--mails-per-hour 0": "--mails-per-hour (CAUSEWAY_MAILS_PER_HOUR) must be from 1 to 1000000",
	} {
		err := parseDev(t, strings.Fields(arguments)...).validate()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) || err != nil &&
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q", arguments, err, want)
		}
	}
}

func TestOpenMailers(t *testing.T) {
	t.Parallel()
	// Sandbox platforms have the folder, and never the mail server. Production platforms have the server, or
	// else the folder.
	folder := filepath.Join(t.TempDir(), "mail")
	const server = "smtps://mail.test"
	for name, test := range map[string]struct {
		flags               mailFlags
		sandbox, production string
	}{
		"nothing": {mailFlags{}, "<nil>", "<nil>"},
		"folder":  {mailFlags{MailFolder: folder}, "*folder.Mailer", "*folder.Mailer"},
		"server":  {mailFlags{SMTPURL: server}, "<nil>", "*smtp.Mailer"},
		"both":    {mailFlags{SMTPURL: server, MailFolder: folder}, "*folder.Mailer", "*smtp.Mailer"},
	} {
		mailers, err := test.flags.openMailers()
		if err != nil || typeName(mailers[platform.Sandbox]) != test.sandbox || typeName(mailers[platform.Production]) != test.production {
			t.Errorf("%s: %T and %T, %v", name, mailers[platform.Sandbox], mailers[platform.Production], err)
		}
	}

	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (mailFlags{MailFolder: filepath.Join(file, "mail")}).openMailers(); err == nil ||
		!strings.Contains(err.Error(), "--mail-folder (CAUSEWAY_MAIL_FOLDER)") {
		t.Errorf("a folder below a file: %v", err)
	}
}

func typeName(v any) string { return fmt.Sprintf("%T", v) }

func TestCountWaitingMails(t *testing.T) {
	t.Parallel()
	// The metrics show how many mails wait and since when.
	url, _ := mailsDatabase(t)
	db := openDB(t, postgres.Options{URL: url, AllPlatforms: true, MaxConnections: 2, Clock: systemClock{}})
	registry := prometheus.NewRegistry()
	a := &app{db: db, mailMetrics: newMailMetrics(registry)}

	if err := a.countWaitingMails(t.Context()); err != nil {
		t.Fatal(err)
	}

	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		got[f.GetName()] = f.GetMetric()[0].GetGauge().GetValue()
	}
	if got["causeway_mails_waiting"] != 1 || got["causeway_mail_oldest_waiting_seconds"] < 1 {
		t.Errorf("metrics %v", got)
	}
}
