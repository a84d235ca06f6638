package e2e

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestFourEyes_TwoPersonsEndMonthAndYear(t *testing.T) {
	t.Parallel()
	// An exchange result, the end of a year, its reversal and the correction of a break are proposed by one person and
	// made by another one. The proposal has the figures; when they have changed, when it has expired or for its
	// proposer it cannot be approved, and it is made once. (The ledger check runs at the end.)
	h := newTestEnv(t)
	now := time.Now().UTC()
	last := time.Date(now.Year(), now.Month()-1, 1, 0, 0, 0, 0, time.UTC)
	month, year := last.Format("2006-01"), "/ledger/years/"+last.Format("2006")
	h.keepPastRates(65)
	trade := func(euros, dollars int) object {
		return object{"note": "Traded with the liquidity provider", "effectiveAt": formatTimestamp(last.AddDate(0, 0, 4)), "entries": []object{
			{"debit": "rails/SEPA", "credit": "fx/position", "currency": "EUR", "amount": euros}, {"debit": "fx/position", "credit": "rails/WIRE",
				"currency": "USD", "amount": dollars}}}
	}
	h.post("/ledger/adjustments", trade(1_000_000, 1_010_000)).wantStatus(201)
	h.post("/ledger/periods/"+month+"/soft-close", object{"confirmOpeningBalances": true}).wantStatus(200)
	h.call(http.MethodPut, "/ledger/settings", object{"functionalCurrency": "USD", "unrealisedResult": "REVERSE",
		"feeRecognition": "CONVERSION", "yearEndMonth": int(last.Month()),
		"fourEyes": []string{"ADJUSTMENT", "CLOSE", "YEAR_END"}}).wantStatus(200)
	token := h.post("/tokens", object{"name": "Ben", "permissions": []string{"VIEW", "MANAGE"}}).wantStatus(201)
	ana, ben := h.withHeader("Causeway-Actor", "Ana"), h.withToken(token.text("clientId"), token.text("clientSecret")).withHeader(
		"Causeway-Actor", "Ben")
	approve := func(by *client, proposed apiResponse) apiResponse {
		return by.post("/ledger/proposals/"+proposed.text("id")+"/approve", nil)
	}
	env := []string{"DATABASE_URL=" + h.databaseURL}
	revalue := func() apiResponse { return ana.post("/ledger/exchange-result/"+month+"/post", nil) }

	stale := revalue().wantStatus(202).wantValues(map[string]any{"status": "PENDING", "action": "CLOSE", "operation": "postExchangeResult",
		"request.month": month, "proposedBy.actor": "Ana",
		"figures.kind": "revaluation", "figures.functionalCurrency": "USD", "figures.run": 1, "figures.positions.0.currency": "EUR",
		"figures.positions.0.cost": 1_010_000})
	h.get("/ledger/exchange-result/"+month).wantError(404, "NOT_FOUND")
	approve(ana, stale).wantError(409, "CONFLICT").wantValues(map[string]any{"reason": "Same person"})

	// Euros are traded in the month meanwhile.
	approve(ben, ana.post("/ledger/adjustments", trade(100_000, 101_000)).wantStatus(202)).wantStatus(200)
	refused := approve(ben, stale).wantError(409, "CONFLICT").wantValues(map[string]any{"reason": "Figures changed"})
	if !strings.Contains(refused.text("message"), "positions[0].cost was 1010000 and is now 1111000") {
		t.Errorf("refused: %s", refused.body)
	}
	h.get("/ledger/proposals/" + stale.text("id")).wantStatus(200).wantValues(map[string]any{"status": "PENDING",
		"lastError.code": "CONFLICT"})

	expired := revalue().wantStatus(202)
	h.exec("UPDATE ledger_proposals SET expires_at = now() WHERE id = $1", uuidOf(expired.text("id")))
	approve(ben, expired).wantError(409, "CONFLICT").wantValues(map[string]any{"reason": "Proposal expired"})

	made := revalue().wantStatus(202)
	for range 2 { // the repetition has the same key
		approve(ben.withHeader("Idempotency-Key", "approve"), made).wantStatus(200).wantValues(map[string]any{"status": "EXECUTED",
			"result": month})
	}
	approve(ben, made).wantError(409, "CONFLICT").wantValues(map[string]any{"reason": "Proposal decided"})
	result := h.get("/ledger/exchange-result/" + month).wantStatus(200).wantValues(map[string]any{"run": 1, "actor": "Ana",
		"approval.actor": "Ben", "approval.proposalId": made.text("id"),
		"positions.0.cost": 1_111_000})
	h.get("/ledger/postings/" + result.text("postingIds.0")).wantStatus(200).wantValues(map[string]any{"authorisation.actor": "Ana",
		"authorisation.approval.actor": "Ben"})
	revalue().wantStatus(200).wantValues(map[string]any{"run": 1, "approval.actor": "Ben"})
	if out := mustRunCommand(t, env, "ledger", "exchange-result", month, "--platform", h.platformID); !strings.Contains(out,
		"Run 1, posted at") || !strings.Contains(out, "approved by Ben") {
		t.Errorf("exchange-result prints\n%s", out)
	}

	closing := ana.post(year+"/close", object{"note": "Audited"}).wantStatus(202).wantValues(map[string]any{"operation": "closeLedgerYear",
		"action": "YEAR_END", "figures.closing": 1, "figures.lastMonth": month})
	approve(ana, closing).wantError(409, "CONFLICT")
	approve(ben, closing).wantStatus(200).wantValues(map[string]any{"result": last.Format("2006")})
	h.get(year).wantStatus(200).wantValues(map[string]any{"state": "CLOSED", "closings.0.actor": "Ana", "closings.0.approval.actor": "Ben",
		"closings.0.results.0.income": closing.text("figures.results.0.income")})
	approve(ben, ana.post(year+"/reverse", object{"note": "An invoice is missing"}).wantStatus(202)).wantStatus(200)
	h.get(year).wantStatus(200).wantValues(map[string]any{"state": "OPEN", "closings.0.reversal.actor": "Ana",
		"closings.0.reversal.approval.actor": "Ben"})
	if out := mustRunCommand(t, env, "ledger", "close-year", last.Format("2006"), "--note", "By the operator", "--platform", h.platformID,
		"--actor", "ops"); !strings.Contains(out, "CLOSED") {
		t.Errorf("close-year prints\n%s", out)
	}
	h.get(year).wantStatus(200).wantValues(map[string]any{"state": "CLOSED", "closings.1.actor": "ops", "closings.1.approval": ""})

	h.resolveByTwo(ana, ben)
}

// resolveByTwo resolves a break with a note, alone, and one with a correction, which another person approves.
func (h *testEnv) resolveByTwo(ana, ben *client) {
	h.t.Helper()
	day := time.Now().UTC().Format(time.DateOnly)
	path := "/ledger/reconciliations?account=rails/RTP&currency=USD&format=csv&map=" +
		url.QueryEscape("date=Booked;amount=Amount;id=Id;reference=Reference")
	run := ana.withHeader("Content-Type", "text/csv").post(path, "Booked,Amount,Id,Reference\n"+day+",-7.00,P1,R1\n"+day+
		",-8.00,P2,R2\n").wantStatus(201)
	found := h.get("/ledger/reconciliations/" + run.text("id") + "/breaks").wantStatus(200)
	resolve := func(n string, body object) apiResponse {
		return ana.post("/ledger/reconciliations/"+run.text("id")+"/breaks/"+found.text("data."+n+".id")+"/resolve", body)
	}
	resolve("0", object{"note": "Known"}).wantStatus(200).wantValues(map[string]any{"status": "RESOLVED", "resolution.method": "NOTE"})
	proposed := resolve("1", object{"note": "The partner's fee", "against": "EXPENSE"}).wantStatus(202).
		wantValues(map[string]any{"action": "ADJUSTMENT", "figures.account": "rails/RTP", "figures.currency": "USD",
			"figures.difference": found.text("data.1.difference")})
	ben.post("/ledger/proposals/"+proposed.text("id")+"/approve", nil).wantStatus(200)
	h.get("/ledger/reconciliations/" + run.text("id") + "/breaks?status=RESOLVED&limit=10").wantStatus(200).
		wantValues(map[string]any{"data.1.resolution.method": "POSTING", "data.1.resolution.actor": "Ana",
			"data.1.resolution.approval.actor": "Ben"})
}
