package e2e

import "strings"

// recordJournals makes journals of the previous month, which is closed, for a general ledger.
func (s *exampleRecorder) recordJournals(string, externalAccounts) {
	month := previousMonth().Format("2006-01")
	s.mask.replacements["CW-"+strings.ReplaceAll(month, "-", "")] = "CW-202512"
	number := s.record("makeGLJournals", "", "/ledger/journals", `{"span": "`+month+`"}`).wantStatus(200).text("data.0.number")
	s.record("listGLJournals", "", "/ledger/journals?limit=2", "").wantStatus(200)
	s.record("getGLJournal", "", "/ledger/journals/"+number, "").wantStatus(200)
}
