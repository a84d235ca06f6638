package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// resetSandbox resets a platform, and returns the id of its successor.
func (h *testEnv) resetSandbox(platform string) string {
	h.t.Helper()
	out := mustRunCommand(h.t, []string{"DATABASE_URL=" + h.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey}, "sandbox", "reset",
		"--platform", platform, "--actor", "ana")
	_, next, _ := strings.Cut(out, "Its platform is now ")
	next, _, found := strings.Cut(next, ";")
	if !found {
		h.t.Fatalf("reset printed %s", out)
	}
	return next
}

func TestSandboxReset_TokensSeeAnEmptyPlatform(t *testing.T) {
	t.Parallel()
	// After a reset, the token, the endpoint and the secret of the webhooks work on an empty platform, and an idempotency key of
	// before makes a new request. Everything that belonged to the closed platform opens nothing: agents, device codes, links and
	// invitations. A payment in flight comes to its end without webhooks, and the closed platform can be exported. A listener goes on.
	h := newTestEnv(t, "--sandbox-speed", "200")
	hooks := h.startReceiver()
	old := h.platformID
	customer := h.createCustomer()
	h.patch("/config", object{"invitationUrl": "https://example.com/join"}).wantStatus(200)
	other := h.createPlatform("Other", "SANDBOX")
	uma := h.get("/customers/" + customer).wantStatus(200).text("umaAddress")
	invitation := "/invitations/" + h.post("/invitations", object{"inviterUma": uma}).wantStatus(201).text("code")
	other.get(invitation).wantStatus(200)
	agent := h.redeem(h.post("/agents", agentBody(customer)).wantStatus(201).text("deviceCode.code"))
	agent.get("/agents/me").wantStatus(200)
	code := h.post("/agents", agentBody(customer)).wantStatus(201).text("deviceCode.code")
	link := h.post("/customers/"+customer+"/kyc-link", object{}).wantStatus(201).text("kycUrl")
	keyed := h.withHeader("Idempotency-Key", "customer-1")
	before := keyed.post("/customers", object{"customerType": "INDIVIDUAL", "fullName": "Ana Silva"}).wantStatus(201)
	listen := startProcess(t, h.tokenEnv(), "listen")
	listen.awaitLine("Listening to webhooks")
	inFlight := h.createQuote("003")
	h.payQuote(inFlight, 0).wantStatus(200)
	payment := inFlight.text("transactionId")
	hooks.awaitOutgoingEvent(payment, "PROCESSING")
	settings := h.get("/config").wantStatus(200)

	h.platformID = h.resetSandbox(old)

	h.get("/config").wantStatus(200).wantValues(map[string]any{"id": h.platformID, "umaDomain": settings.text("umaDomain"),
		"webhookEndpoint": settings.text("webhookEndpoint")})
	for _, path := range []string{"/customers", "/transactions", "/quotes", "/webhook-deliveries", "/request-logs"} {
		if list := h.get(path).wantStatus(200); strings.Contains(string(list.body), uuidOf(customer)) ||
			strings.Contains(string(list.body), uuidOf(payment)) {
			t.Errorf("%s lists %s", path, list.body)
		}
	}
	h.get("/transactions/"+payment).wantError(404, "TRANSACTION_NOT_FOUND")
	if again := keyed.post("/customers", object{"customerType": "INDIVIDUAL", "fullName": "Ana Silva"}).wantStatus(201); again.text(
		"id") == before.text("id") {
		t.Error("a key of before the reset was known")
	}
	agent.get("/agents/me").wantError(401, "UNAUTHORIZED")
	h.anonymous().post("/agents/device-codes/"+code+"/redeem", nil).wantError(404, "DEVICE_CODE_NOT_FOUND")
	other.get(invitation).wantError(404, "INVITATION_NOT_FOUND")
	if response, err := http.Get(link); err != nil { //nolint:noctx // a link that a person opens
		t.Error(err)
	} else if _ = response.Body.Close(); response.StatusCode != http.StatusGone {
		t.Errorf("the link of before: %d", response.StatusCode)
	}
	paid := h.createQuote("")
	h.payQuote(paid, 0).wantStatus(200)
	hooks.awaitOutgoingEvent(paid.text("transactionId"), "COMPLETED")
	listen.awaitLine(paid.text("transactionId"))
	eventually(t, "the end of the payment in flight", func() bool {
		return h.query(`SELECT count(*) FROM transactions WHERE id = $1 AND status = 'COMPLETED'`, uuidOf(payment)) == 1
	})
	hooks.checkEvents(payment, "PENDING", "PROCESSING")

	h.checkLedger()
	exported := filepath.Join(t.TempDir(), "ledger.log")
	mustRunCommand(t, []string{"DATABASE_URL=" + h.databaseURL}, "ledger", "export", "--format", "log", "--file", exported, "--platform", old)
	if text, err := os.ReadFile(exported); err != nil || !strings.Contains(string(text), uuidOf(payment)) {
		t.Errorf("the export of the closed platform does not have the payment (%v)", err)
	}
	if list := mustRunCommand(t, []string{"DATABASE_URL=" + h.databaseURL}, "platform", "list"); !strings.Contains(list, old) {
		t.Errorf("platform list: %s", list)
	}
	listen.terminate()
}

func TestSandboxReset_RefusalsAndRepetition(t *testing.T) {
	t.Parallel()
	// A production platform, a closed one and an unknown one are refused. Each reset makes an empty platform again.
	h := newTestEnv(t)
	production := h.createPlatform("Production", "PRODUCTION")
	old := h.platformID
	h.createCustomer()
	next := h.resetSandbox(old)
	h.createCustomer()
	last := h.resetSandbox(next)

	if list := h.get("/customers").wantStatus(200); strings.Contains(string(list.body), "Customer:") {
		t.Errorf("%s lists %s", last, list.body)
	}
	for platform, want := range map[string]string{
		production.platformID: "Only a sandbox platform can be reset", old: "was reset and is closed. " + next,
		"PlatformConfig:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11": "does not exist",
	} {
		_, errOut, status := runCommand(t, []string{"DATABASE_URL=" + h.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey}, "sandbox", "reset",
			"--platform", platform, "--actor", "ana")
		if status != 1 || !strings.Contains(errOut, want) {
			t.Errorf("%s: status %d, %s", platform, status, errOut)
		}
	}
	production.get("/config").wantStatus(200)
}

func TestSandboxReset_OfDevSurvivesInterruption(t *testing.T) {
	t.Parallel()
	// In a data folder the platform needs no name, also when the file of the credentials was not written after the last reset. The
	// service finds its platform when it starts again, with the same token.
	folder := newStartedFolder(t)
	server := startDev(t, folder, "--no-demo")
	p := readCredentials(t, folder, server)
	p.createCustomer()
	file := filepath.Join(folder, "credentials.json")
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}

	for range 2 {
		mustRunCommand(t, nil, "sandbox", "reset", "--data", folder, "--actor", "ana")
		if err := os.WriteFile(file, before, 0o600); err != nil { // as if it was killed after the commit
			t.Fatal(err)
		}
	}
	server.terminate()
	server = startDev(t, folder, "--no-demo")

	after := readCredentials(t, folder, server)
	if after.platformID == p.platformID || after.ClientID != p.ClientID || after.ClientSecret != p.ClientSecret {
		t.Errorf("credentials of %s after the reset of %s", after.platformID, p.platformID)
	}
	after.get("/config").wantStatus(200).wantValues(map[string]any{"id": after.platformID})
	if list := after.get("/customers").wantStatus(200); strings.Contains(string(list.body), "Customer:") {
		t.Errorf("customers %s", list.body)
	}
}
