package e2e

import "fmt"

// recordProposals lets adjustments need four eyes for a while. The second token approves one and rejects another.
func (s *exampleRecorder) recordProposals(string, externalAccounts) {
	settings := func(fourEyes string) string {
		return `{"functionalCurrency": "USD", "unrealisedResult": "REVERSE", "feeRecognition": "DELIVERY", "yearEndMonth": ` +
			fmt.Sprint(int(previousMonth().Month())) + `, "fourEyes": [` + fourEyes + `]}`
	}
	adjustment := `{"entries": [{"debit": "expense/rails", "credit": "rails/WIRE", "currency": "USD", "amount": 2500}], "note": "The bank charged the wire of 30 October twice."}`
	s.callUnrecorded("PUT", "/ledger/settings", settings(`"ADJUSTMENT"`)).wantStatus(200)
	token := s.callUnrecorded("POST", "/tokens", `{"name": "Ben", "permissions": ["VIEW", "MANAGE"]}`).wantStatus(201)
	first, second := s.client, newClient(s.t, s.BaseURL, token.text("clientId"), token.text("clientSecret"))

	proposed := s.recordWith("", map[string]string{"Causeway-Actor": "Ana Lima"}, "createLedgerAdjustment", "That needs four eyes",
		"/ledger/adjustments", adjustment).wantStatus(202).text("id")
	s.recordWebhook("ledgerProposal", "LEDGER_PROPOSAL.PENDING", s.awaitEventAbout("LEDGER_PROPOSAL.PENDING", proposed), "")
	s.record("getLedgerProposal", "", "/ledger/proposals/"+proposed, "").wantStatus(200)
	s.record("listLedgerProposals", "", "/ledger/proposals?status=PENDING&limit=2", "").wantStatus(200)
	s.record("approveLedgerProposal", "By the proposer", "/ledger/proposals/"+proposed+"/approve", "").wantStatus(409)
	s.client = second
	s.recordWith("", map[string]string{"Causeway-Actor": "Ben Ode"}, "approveLedgerProposal", "", "/ledger/proposals/"+proposed+"/approve",
		"").wantStatus(200)
	s.client = first
	withdrawn := s.callUnrecorded("POST", "/ledger/adjustments", adjustment).wantStatus(202).text("id")
	s.record("rejectLedgerProposal", "", "/ledger/proposals/"+withdrawn+"/reject",
		`{"note": "The bank has returned the fee."}`).wantStatus(200)
	off := s.callUnrecorded("PUT", "/ledger/settings", settings("")).wantStatus(202).text("id")
	s.client = second
	s.callUnrecorded("POST", "/ledger/proposals/"+off+"/approve", nil).wantStatus(200)
	s.client = first
}
