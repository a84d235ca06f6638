package e2e

import (
	"context"
	"fmt"
	"net/http"
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
	return newClient(t, h.BaseURL, token.text("clientId"), token.text("clientSecret"))
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
	ana, ben := h.withHeader("Causeway-Actor", "Ana"), newClient(t, h.BaseURL, token.text("clientId"), token.text("clientSecret")).withHeader(
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
	ana.post(path+"/approve", nil).wantError(409, "CONFLICT").wantValues(map[string]any{"reason": "Same token"})
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

func TestFourEyes_KilledServerExecutesOnce(t *testing.T) {
	t.Parallel()
	// Two persons approve proposals at the same time, and the server is killed meanwhile. After a restart the
	// approvals are repeated with their keys: each proposal is carried out exactly once.
	h := newTestEnv(t)
	ben := requireFourEyes(t, h, "ADJUSTMENT")
	carl := h.post("/tokens", object{"name": "Carl", "permissions": []string{"VIEW", "MANAGE"}}).wantStatus(201)
	approvers := []*client{ben, newClient(t, h.BaseURL, carl.text("clientId"), carl.text("clientSecret"))}
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
