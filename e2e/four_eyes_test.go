package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// requireFourEyes sets the actions that need four eyes, and returns a client with a second token.
func requireFourEyes(t *testing.T, h *testEnv, actions ...string) *client {
	t.Helper()
	h.call(http.MethodPut, "/ledger/settings", object{"unrealisedResult": "REVERSE", "feeRecognition": "CONVERSION", "yearEndMonth": 12,
		"fourEyes": actions}).wantStatus(200)
	token := h.post("/tokens", object{"name": "Ben", "permissions": []string{"VIEW", "MANAGE"}}).wantStatus(201)
	return h.withToken(token.text("clientId"), token.text("clientSecret"))
}

func feeAdjustment(minor int) object {
	return object{"note": "The bank's fee", "entries": []object{{"debit": "expense/rails", "credit": "rails/WIRE",
		"currency": "USD", "amount": minor}}}
}

func TestFourEyes_TwoPersonsChangeTheBooks(t *testing.T) {
	t.Parallel()
	// With one token nothing can be proposed. With two, one person proposes an adjustment, and another one approves
	// it: it is posted with both, an event announces it, and the ledger check passes. Nobody approves alone, and
	// nobody switches four eyes off alone.
	h := newTestEnv(t)
	hooks := h.startReceiver()
	h.call(http.MethodPut, "/ledger/settings", object{"unrealisedResult": "REVERSE", "feeRecognition": "CONVERSION", "yearEndMonth": 12,
		"fourEyes": []string{"ADJUSTMENT"}}).wantStatus(200)
	if refused := h.post("/ledger/adjustments", feeAdjustment(700)).wantError(409, "CONFLICT"); !strings.Contains(refused.text("message"),
		"POST /tokens") {
		t.Errorf("with one token: %s", refused.body)
	}
	token := h.post("/tokens", object{"name": "Ben", "permissions": []string{"VIEW", "MANAGE"}}).wantStatus(201)
	ana, ben := h.withHeader("Causeway-Actor", "Ana"), h.withToken(token.text("clientId"), token.text("clientSecret")).withHeader(
		"Causeway-Actor", "Ben")

	proposed := ana.withHeader("Idempotency-Key", "propose").post("/ledger/adjustments", feeAdjustment(700)).wantStatus(202)
	proposed.wantValues(map[string]any{"status": "PENDING", "operation": "createLedgerAdjustment", "request.entries.0.amount": 700,
		"proposedBy.actor": "Ana"})
	if again := ana.withHeader("Idempotency-Key", "propose").post("/ledger/adjustments", feeAdjustment(700)).wantStatus(202); again.text(
		"id") != proposed.text("id") {
		t.Errorf("proposed again: %s", again.body)
	}
	path := "/ledger/proposals/" + proposed.text("id")
	hooks.awaitDelivery("the event of the proposal", func(d delivery) bool {
		return d.event == "LEDGER_PROPOSAL.PENDING" && d.text("proposal.id") == proposed.text("id")
	})
	h.get("/ledger/accounts/expense%2Frails").wantError(404, "NOT_FOUND")
	ana.post(path+"/approve", nil).wantError(409, "CONFLICT").wantValues(map[string]any{"reason": "Same person"})
	ben.withHeader("Causeway-Actor", "ana").post(path+"/approve", nil).wantError(409,
		"CONFLICT").wantValues(map[string]any{"reason": "Same person"})

	approved := ben.post(path+"/approve", nil).wantStatus(200)

	approved.wantValues(map[string]any{"status": "EXECUTED", "decidedBy.actor": "Ben", "decidedBy.tokenId": token.text("id")})
	h.get("/ledger/postings/" + approved.text("result")).wantStatus(200).wantValues(map[string]any{
		"entries.0.amount": 700, "authorisation.actor": "Ana", "authorisation.approval.actor": "Ben",
		"authorisation.approval.proposalId": proposed.text("id")})
	off := ana.call(http.MethodPut, "/ledger/settings", object{"unrealisedResult": "REVERSE", "feeRecognition": "CONVERSION",
		"yearEndMonth": 12, "fourEyes": []string{}}).wantStatus(202)
	h.get("/ledger/settings").wantStatus(200).wantValues(map[string]any{"fourEyes.0": "ADJUSTMENT"})
	ben.post("/ledger/proposals/"+off.text("id")+"/approve", nil).wantStatus(200)
	h.get("/ledger/settings").wantStatus(200).wantValues(map[string]any{"version": 2, "actor": "Ana", "approval.actor": "Ben"})
	h.post("/ledger/adjustments", feeAdjustment(1)).wantStatus(201)
	mustRunCommand(t, []string{"DATABASE_URL=" + h.databaseURL}, "ledger", "check")
}

func TestFourEyes_OnProductionAPersonApproves(t *testing.T) {
	t.Parallel()
	// On a production platform money at partners changes by two persons. A service approves nothing, also with a second token and
	// another name; nor does the person who proposes, with a second token or a service that it has made. Another person approves, with
	// its token or in the console after another code, and operators as a person.
	h := newTestEnv(t)
	live := h.createPlatform("Live", "PRODUCTION", "--regulated")
	propose := func(by *client) string {
		t.Helper()
		return by.post("/ledger/adjustments", feeAdjustment(700)).wantStatus(202).text("id")
	}
	approve := func(by *client, id string) apiResponse { return by.post("/ledger/proposals/"+id+"/approve", nil) }
	if refused := live.post("/ledger/adjustments", feeAdjustment(1)).wantError(409, "CONFLICT"); !strings.Contains(refused.text("message"),
		"people invite") {
		t.Errorf("without people: %s", refused.body)
	}
	ana, ben, eve := h.invite("Ana", "FINANCE"), h.invite("Ben", "ADMINISTRATOR@"+live.platformID), h.invite("Eve", "VIEWER")
	first, second, others := h.tokenOf(ana, live), h.tokenOf(ana, live), h.tokenOf(ben, live)
	service := func(by *client) *client {
		made := by.post("/tokens", object{"name": "Back office", "permissions": []string{"VIEW", "MANAGE"}}).wantStatus(201)
		return h.withToken(made.text("clientId"), made.text("clientSecret"))
	}
	anas := service(service(first))

	byAna := propose(first)
	for name, refused := range map[string]apiResponse{"herself": approve(first, byAna), "her second token": approve(second, byAna)} {
		refused.wantError(409, "CONFLICT")
		if refused.text("reason") != "Same person" {
			t.Errorf("%s: %s", name, refused.body)
		}
	}
	for name, by := range map[string]*client{"a service": live.client, "her service": anas, "a service of another": service(others)} {
		refused := approve(by.withHeader("Causeway-Actor", "Zoe"), byAna).wantError(409, "CONFLICT")
		if refused.text("reason") != "Not a person" {
			t.Errorf("%s: %s", name, refused.body)
		}
	}
	approve(h.tokenOf(eve, live), byAna).wantError(403, "FORBIDDEN")
	approve(others, byAna).wantStatus(200)
	byService := propose(anas)
	approve(first, byService).wantError(409, "CONFLICT").wantValues(map[string]any{"reason": "Same person"})

	path := "/console/platforms/" + strings.TrimPrefix(live.platformID, "PlatformConfig:") + "/proposals/" + strings.TrimPrefix(byService,
		"Proposal:")
	form := url.Values{"csrf": {ben.find(tokenPattern, ben.page(http.MethodGet, path, nil))}, "decision": {"approve"}, "code": {ben.used}}
	if page := ben.page(http.MethodPost, path, form); !strings.Contains(page, "was used already") {
		t.Errorf("with the code of the setup: %s", page)
	}
	form.Set("code", ben.code(1))
	ben.page(http.MethodPost, path, form)
	live.get("/ledger/proposals/" + byService).wantStatus(200).wantValues(map[string]any{"status": "EXECUTED", "decidedBy.actor": "Ben"})

	env := []string{"DATABASE_URL=" + h.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey}
	byBen := propose(others)
	decide := func(env []string, actor ...string) (errOut string, status int) {
		_, errOut, status = runCommand(t, env, slices.Concat([]string{"ledger", "proposals", "approve", byBen, "--platform", live.platformID},
			actor)...)
		return errOut, status
	}
	for _, actor := range []string{"root", "ana@people.test", "Ana"} {
		if errOut, status := decide(env, "--actor", actor); status != 1 || !strings.Contains(errOut, "causeway login") {
			t.Errorf("nobody as %s: status %d, %s", actor, status, errOut)
		}
	}
	if errOut, status := decide(h.commandLine(ana), "--actor", "ben@people.test"); status != 1 ||
		!strings.Contains(errOut, "ana@people.test") {
		t.Errorf("Ana as Ben: status %d, %s", status, errOut)
	}
	if errOut, status := decide(h.commandLine(ben)); status != 1 || !strings.Contains(errOut, "another person") {
		t.Errorf("Ben: status %d, %s", status, errOut)
	}
	if errOut, status := decide(h.commandLine(ana)); status != 0 {
		t.Errorf("Ana: status %d, %s", status, errOut)
	}
	live.get("/ledger/proposals/" + byBen).wantStatus(200).wantValues(map[string]any{"status": "EXECUTED",
		"decidedBy.actor": "ana@people.test"})
	if out := mustRunCommand(t, h.commandLine(ana), "whoami"); !strings.Contains(out, ana.email) {
		t.Errorf("whoami: %s", out)
	}
	mustRunCommand(t, h.commandLine(ana), "logout")
	if _, errOut, status := runCommand(t, h.commandLine(ana), "whoami"); status != 1 || !strings.Contains(errOut, "nobody is signed in") {
		t.Errorf("after signing out: %d, %s", status, errOut)
	}
	mustRunCommand(t, env, "people", "disable", ben.email)
	others.get("/config").wantError(401, "UNAUTHORIZED")
	if _, errOut, status := runCommand(t, h.commandLine(ben), "whoami"); status != 1 || !strings.Contains(errOut, "nobody is signed in") {
		t.Errorf("a disabled person: %d, %s", status, errOut)
	}
	if n := h.queryInt("SELECT count(*) FROM operator_actions WHERE action = 'BREAK_GLASS' AND subject = 'people disable'"); n != 1 {
		t.Errorf("recorded %d commands without a person", n)
	}
	mustRunCommand(t, env, "ledger", "check")
}

func TestFourEyes_KilledServerExecutesOnce(t *testing.T) {
	t.Parallel()
	// Two persons approve proposals at the same time, and the server is killed meanwhile. After a restart the
	// approvals are repeated with their keys: each proposal is carried out exactly once.
	h := newTestEnv(t)
	ben := requireFourEyes(t, h, "ADJUSTMENT")
	carl := h.post("/tokens", object{"name": "Carl", "permissions": []string{"VIEW", "MANAGE"}}).wantStatus(201)
	approvers := []*client{ben, h.withToken(carl.text("clientId"), carl.text("clientSecret"))}
	const proposals = 12
	var ids []string
	for range proposals {
		ids = append(ids, h.post("/ledger/adjustments", feeAdjustment(1)).wantStatus(202).text("id"))
	}

	for round, killAfter := range []time.Duration{2, 8, 20} {
		batch := ids[round*proposals/3 : (round+1)*proposals/3]
		server := h.server
		var group sync.WaitGroup
		for n, approver := range approvers {
			for _, id := range batch {
				group.Go(func() { // an error is expected: the server is killed
					_, _ = approver.withServer(server).withHeader("Idempotency-Key", fmt.Sprint("approve", n, id)).do(context.Background(),
						http.MethodPost, "/ledger/proposals/"+id+"/approve", nil)
				})
			}
		}
		time.Sleep(killAfter * time.Millisecond)
		server.kill()
		group.Wait()
		h.server = startServer(t, h.databaseURL)
		for n, approver := range approvers {
			for _, id := range batch {
				got := approver.withServer(h.server).withHeader("Idempotency-Key", fmt.Sprint("approve", n, id)).post("/ledger/proposals/"+
					id+"/approve", nil)
				if got.status != 200 && got.text("reason") != "Proposal decided" {
					t.Errorf("approved again: %d %s", got.status, got.body)
				}
			}
		}
	}

	after := h.withServer(h.server)
	after.get("/ledger/accounts/expense%2Frails?currency=USD").wantStatus(200).wantValues(map[string]any{"balances.0.balance": proposals})
	if left := after.get("/ledger/proposals?status=PENDING").wantStatus(200).list("data"); len(left) != 0 {
		t.Errorf("%d proposals are pending", len(left))
	}
	mustRunCommand(t, []string{"DATABASE_URL=" + h.databaseURL}, "ledger", "check")
}
