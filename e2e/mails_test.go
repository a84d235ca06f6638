package e2e

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"causeway/e2e/kit"
)

// mailEnv is a production platform whose service sends mails to a test server.
type mailEnv struct {
	*testEnv
	mails *kit.MailServer
	login string
}

func newMailEnv(t *testing.T, flags ...string) *mailEnv {
	t.Helper()
	mails, err := kit.NewMailServer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(mails.Close)
	e := &mailEnv{testEnv: newDatabaseEnv(t), mails: mails}
	if e.login, err = kit.CreateServiceLogin(waitContext(t), e.databaseURL); err != nil {
		t.Fatal(err)
	}
	e.start(flags...)
	e.tenant = e.createPlatform("Acme", "PRODUCTION", "--regulated")
	return e
}

// start starts the service, in place of the one before.
func (e *mailEnv) start(flags ...string) {
	e.t.Helper()
	e.server = startServerAs(e.t, e.login, append([]string{"--smtp-url", e.mails.URL(), "--mail-from", "wallet@acme.test", "--admin-listen",
		"127.0.0.1:0"}, flags...)...)
	if e.tenant != nil {
		e.client = e.withServer(e.server)
	}
}

// newWallet creates a customer with an e-mail address, and returns the id of the credential for codes.
func (p *tenant) newWallet(email string) (credential string) {
	p.t.Helper()
	customer := p.createCustomer(object{"email": email})
	account := p.get("/customers/internal-accounts?type=EMBEDDED_WALLET&customerId=" + customer).wantStatus(200).text("data.0.id")
	return p.get("/auth/credentials?accountId=" + account).wantStatus(200).text("data.0.id")
}

func TestMail_KilledServiceLosesNone(t *testing.T) {
	t.Parallel()
	// A service is killed after the commit of a code and before its mail is sent, and again while the mail
	// server hesitates. The code arrives all the same, once, and opens a session. In the database it cannot
	// be read, and nothing of it is left when it was sent.
	const ana = "ana@example.com"
	e := newMailEnv(t, "--no-workers")
	credential := e.newWallet(ana)
	e.post("/auth/credentials/"+credential+"/challenge", nil).wantStatus(200)
	e.server.kill()
	e.mails.Pause()
	e.start()
	eventually(t, "the mail server has the recipient", func() bool { return e.mails.Waiting() == 1 })
	e.server.kill()
	if n := e.queryInt("SELECT count(*) FROM mails WHERE status = 'WAITING' AND content NOT LIKE '%ana%' AND content NOT LIKE '{%'"); n != 1 {
		t.Errorf("%d mails wait encrypted, want 1", n)
	}
	e.mails.Resume()
	e.start()
	e.exec("UPDATE jobs SET due_at = now() WHERE step = 'send-mail'") // nobody holds the lease of the killed process

	eventually(t, "the mail arrives", func() bool { return len(e.mails.Mails(ana)) > 0 })

	received := e.mails.Mails(ana)
	code, rest, _ := strings.Cut(received[0].Get("Subject"), " ")
	if len(received) != 1 || rest != "is your code for Acme" || received[0].Get("From") != `"Notifications" <wallet@acme.test>` ||
		!strings.Contains(received[0].Text, code) || !strings.Contains(received[0].HTML, code) {
		t.Fatalf("received %+v", received)
	}
	e.post("/auth/credentials/"+credential+"/verify", object{"type": "EMAIL_OTP", "otp": code, "clientPublicKey": newClientKey(t)}).wantStatus(
		200)
	eventually(t, "the content is deleted", func() bool {
		return e.queryInt("SELECT count(*) FROM mails WHERE status = 'SENT' AND content = ''") == 1
	})
	if strings.Contains(e.server.Output(), ana) || strings.Contains(e.server.Output(), code) {
		t.Error("the log has the address or the code")
	}
}

// newClientKey returns a clientPublicKey.
func newClientKey(t *testing.T) string {
	t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(key.PublicKey().Bytes())
}

func TestMail_RefusedIsListed(t *testing.T) {
	t.Parallel()
	// A mail that the server refuses is not sent again. The list says what the server said, without the
	// address, which the log does not have either. Mails of other customers are sent.
	e := newMailEnv(t)
	e.mails.Refuse("gone@example.com")
	e.post("/auth/credentials/"+e.newWallet("gone@example.com")+"/challenge", nil).wantStatus(200)
	e.post("/auth/credentials/"+e.newWallet("bo@example.com")+"/challenge", nil).wantStatus(200)
	eventually(t, "the other mail arrives", func() bool { return len(e.mails.Mails("bo@example.com")) == 1 })
	e.server.awaitLine("a mail was refused")

	listed := mustRunCommand(t, nil, "mails", "list", "--status", "refused", "--database-url", e.databaseURL)

	if strings.Count(listed, "\n") != 2 || !strings.Contains(listed, "550") || !strings.Contains(listed, "5.1.1") ||
		!strings.Contains(listed, "no such mailbox") || strings.Contains(listed, "gone@") || strings.Contains(e.server.Output(), "gone@") {
		t.Errorf("listed\n%s\nthe log:\n%s", listed, e.server.Output())
	}
	if n := e.queryInt("SELECT count(*) FROM jobs WHERE step = 'send-mail'"); n != 0 {
		t.Errorf("%d jobs are left", n)
	}
}

func TestMail_LimitPerHour(t *testing.T) {
	t.Parallel()
	// A platform that has sent as many mails as it may gets 429 and when to try again, and no further mail
	// is sent.
	e := newMailEnv(t, "--mails-per-hour", "1")
	first, second := e.newWallet("ana@example.com"), e.newWallet("bo@example.com")
	// At the end of an hour both would be of another one.
	e.exec("INSERT INTO mail_counts (platform_id, hour_at, mails) VALUES ($1, date_trunc('hour', now()) + interval '1 hour', 0)",
		uuidOf(e.platformID))
	e.post("/auth/credentials/"+first+"/challenge", nil).wantStatus(200)

	refused := e.post("/auth/credentials/"+second+"/challenge", nil).wantError(429, "RATE_LIMITED")

	if refused.header.Get("Retry-After") == "" {
		t.Errorf("headers %v", refused.header)
	}
	eventually(t, "the first mail arrives", func() bool { return len(e.mails.Mails("ana@example.com")) == 1 })
	if n := e.queryInt("SELECT count(*) FROM mails"); n != 1 {
		t.Errorf("%d mails, want 1", n)
	}
}

func TestMail_ProductionWithoutMailServer(t *testing.T) {
	t.Parallel()
	// Without a mail server a code of a production platform is 501, and the message names the setting.
	h := newDatabaseEnv(t)
	h.server = startServer(t, h.databaseURL)
	h.tenant = h.createPlatform("Acme", "PRODUCTION", "--regulated")

	refused := h.post("/auth/credentials/"+h.newWallet("ana@example.com")+"/challenge", nil).wantError(501, "NOT_IMPLEMENTED")

	if !strings.Contains(refused.text("message"), "CAUSEWAY_SMTP_URL") {
		t.Errorf("%s", refused.body)
	}
	if n := h.queryInt("SELECT count(*) FROM mails"); n != 0 {
		t.Errorf("%d mails, want none", n)
	}
}

func TestDev_ShowsMails(t *testing.T) {
	t.Parallel()
	// The terminal of dev shows each mail, which is a file in the data folder.
	folder := newStartedFolder(t)
	dev := startDev(t, folder, "--no-demo")
	p := readCredentials(t, folder, dev)
	p.patch("/config", object{"embeddedWalletConfig": object{"appName": "Acme Wallet"}}).wantStatus(200)

	p.post("/auth/credentials/"+p.newWallet("ana@example.com")+"/challenge", nil).wantStatus(200)

	line := dev.awaitLine("mail to ana@example.com: 000000 is your code for Acme Wallet (")
	path := strings.TrimSuffix(line[strings.IndexByte(line, '(')+1:], ")")
	text, err := os.ReadFile(path)
	if err != nil || filepath.Dir(path) != filepath.Join(folder, "mail") || !strings.Contains(string(text), "000000") {
		t.Errorf("%s: %s, %v", path, text, err)
	}
}
