package e2e

import (
	"encoding/json"
	"fmt"
)

// recordBooks sets the accounting policies, adds an account and sets the mapping to the general ledger.
func (s *exampleRecorder) recordBooks(string, externalAccounts) {
	s.record("setLedgerSettings", "", "/ledger/settings",
		`{"functionalCurrency": "USD", "unrealisedResult": "REVERSE", "feeRecognition": "DELIVERY", "yearEndMonth": `+
			fmt.Sprint(int(previousMonth().Month()))+`,
		"fourEyes": [], "note": "The group reports in US dollars."}`).wantStatus(200)
	s.record("getLedgerSettings", "", "/ledger/settings", "").wantStatus(200)
	s.record("listLedgerSettingsVersions", "", "/ledger/settings/versions?limit=2", "").wantStatus(200)

	s.record("addLedgerAccount", "", "/ledger/chart",
		`{"path": "expense/office-rent", "name": "Office rent", "description": "Offices in Lisbon and Porto"}`).wantStatus(201)
	s.record("changeLedgerAccount", "", "/ledger/chart/expense%2Foffice-rent",
		`{"retired": true, "note": "The offices were closed."}`).wantStatus(200)
	s.record("getLedgerChart", "", "/ledger/chart", "").wantStatus(200)
	present := s.record("getGLMapping", "", "/ledger/gl-mapping", "").wantStatus(200)
	var mapping struct{ Lines []map[string]string }
	if err := json.Unmarshal(present.body, &mapping); err != nil {
		s.t.Fatal(err)
	}
	file := "path,currency,code,name\n"
	for _, line := range mapping.Lines {
		file += fmt.Sprintf("%s,%s,%s,%s\n", line["path"], line["currency"], line["code"], line["name"])
	}
	own := map[string]string{"path": "rails/RTP", "currency": "USD", "code": "1101", "name": "Operating account at First Bank"}
	request, err := json.Marshal(map[string]any{"baseVersion": 0, "lines": append(mapping.Lines, own), "note": "Our own bank account"})
	if err != nil {
		s.t.Fatal(err)
	}
	s.record("setGLMapping", "", "/ledger/gl-mapping", string(request)).wantStatus(200)
	s.record("importGLMapping", "", "/ledger/gl-mapping/csv?baseVersion=1", file).wantStatus(200)
	s.record("listGLMappingVersions", "", "/ledger/gl-mapping/versions?limit=2", "").wantStatus(200)
}

// recordOpeningBalances takes over the balances of earlier books on a platform that is new, so that no month is
// closed.
func (s *exampleRecorder) recordOpeningBalances(string, externalAccounts) {
	recorded, moving := s.testEnv, *s.testEnv
	moving.tenant = s.createPlatform("Moving in", "SANDBOX")
	s.testEnv = &moving
	defer func() { s.testEnv = recorded }()
	balances := "account,currency,debit,credit\nasset/taxes,CHF,1200.00,\nequity/capital,CHF,,1200.00\n"
	s.record("importOpeningBalances", "", "/ledger/opening-balances?asOf=2025-12-31", balances).wantStatus(201)
	s.record("importOpeningBalances", "A currency that does not balance", "/ledger/opening-balances?asOf=2025-12-31",
		"account,currency,debit,credit\nrails/RTP,SEK,10.00,\n").wantStatus(400)
	s.record("reverseOpeningBalances", "", "/ledger/opening-balances/CHF/reverse", `{"note": "The file lacked the loans."}`).wantStatus(201)
}
