package e2e

import (
	"strings"
	"testing"
	"time"

	"causeway/core/ident"
	"causeway/core/period"
	"causeway/e2e/bench/history"
)

func TestPeriod_ArchiveAndRestoreMonth(t *testing.T) {
	t.Parallel()
	// A command archives the oldest month while the service runs: later results stay the same,
	// requests for that month are rejected, and after it is restored every check passes.
	h := newTestEnv(t)
	platform, err := ident.ParsePlatform(h.platformID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := history.Write(t.Context(), history.Options{URL: h.databaseURL, Platform: platform, Entries: 6000, Months: 15,
		Seed: 1}); err != nil {
		t.Fatal(err)
	}
	// Not earlier: a payment of the history is stored after its first postings, which must not be sealed before.
	startServer(t, h.databaseURL, "--seal-every", "1s")
	oldest := period.MonthOf(time.Now())
	for range 15 {
		oldest = oldest.Previous()
	}
	env := []string{"DATABASE_URL=" + h.databaseURL}
	end := "at=" + oldest.End().Add(-time.Millisecond).Format("2006-01-02T15:04:05.000Z")
	const account = "/ledger/accounts/rails%2FRTP?currency=USD&"
	monthEnd, current := h.get(account+end).wantStatus(200), h.get("/ledger/trial-balance").wantStatus(200)
	first := h.get("/ledger/postings?sortOrder=asc&limit=1").wantStatus(200).text("data.0.id")

	_, errOut, status := runCommand(t, env, "ledger", "archive", oldest.String())
	if status != 1 || !strings.Contains(errOut, h.platformID+": the month is not closed; close it") {
		t.Errorf("open: status %d, %s", status, errOut)
	}
	later, errOut, status := runCommand(t, env, "ledger", "soft-close", oldest.Next().String(), "--platform", h.platformID)
	if status != 1 || !strings.Contains(errOut, "Soft-close "+oldest.String()+" first") ||
		!strings.Contains(later, "customers/<InternalAccount>") {
		t.Errorf("while an earlier month is open: status %d, %s%s", status, errOut, later)
	}
	mustRunCommand(t, env, "ledger", "soft-close", oldest.String(), "--confirm-opening-balances", "--platform", h.platformID)
	mustRunCommand(t, env, "ledger", "close", oldest.String(), "--platform", h.platformID)
	eventually(t, "all of it is sealed", func() bool {
		log := h.get("/ledger/log").wantStatus(200)
		return log.value("sealed") == log.value("postings")
	})
	if _, errOut, status := runCommand(t, env, "ledger", "archive", oldest.Next().Next().Next().String()); status != 1 ||
		!strings.Contains(errOut, "can be archived from") {
		t.Errorf("a young month: status %d, %s", status, errOut)
	}
	mustRunCommand(t, env, "ledger", "archive", oldest.String(), "--actor", "ana")

	if got := h.get("/ledger/trial-balance").wantStatus(200); string(got.body) != string(current.body) {
		t.Errorf("the trial balance was\n%s\nand is\n%s", current.body, got.body)
	}
	if got := h.get(account + end).wantStatus(200); string(got.body) != string(monthEnd.body) {
		t.Errorf("at the end of the month it was\n%s\nand is\n%s", monthEnd.body, got.body)
	}
	for _, path := range []string{
		account + "at=" + formatTimestamp(oldest.End().AddDate(0, 0, -2)), "/ledger/postings/" + first, "/ledger/postings?sortOrder=asc",
		"/ledger/trial-balance?from=" + formatTimestamp(oldest.Start()), "/ledger/export?format=csv", "/ledger/log/proof?postingId=" + first,
	} {
		h.get(path).wantError(409, "MONTH_ARCHIVED")
	}
	h.get("/ledger/postings?sortOrder=asc&from=" + formatTimestamp(oldest.End())).wantStatus(200)
	h.get("/ledger/export?format=csv&from=" + formatTimestamp(oldest.End())).wantStatus(200)
	if h.post("/ledger/journals", object{"span": oldest.Next().String()}).wantStatus(200).text("data.0.number") == "" {
		t.Error("there is no journal of the month after it")
	}
	h.post("/ledger/journals", object{"span": oldest.String()}).wantError(409, "MONTH_ARCHIVED")
	if _, errOut, status := runCommand(t, env, "ledger", "check"); status != 1 || !strings.Contains(errOut, "causeway ledger restore") {
		t.Errorf("check: status %d, %s", status, errOut)
	}

	mustRunCommand(t, env, "ledger", "restore", oldest.String(), "--actor", "ana")
	if n := h.queryInt("SELECT count(*) FROM operator_actions WHERE actor = 'ana' AND action IN ('ARCHIVE_MONTH', 'RESTORE_MONTH') AND " +
		"subject = '" + oldest.String() + "'"); n != 2 {
		t.Errorf("%d actions are recorded, want the archiving and the restoring", n)
	}
	h.get("/ledger/postings/" + first).wantStatus(200)
	mustRunCommand(t, env, "ledger", "verify")
}
