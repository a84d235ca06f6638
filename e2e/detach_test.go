package e2e

import (
	"strings"
	"testing"
	"time"

	"causeway/core/ident"
	"causeway/core/period"
	"causeway/e2e/bench/history"
)

func TestAnOldMonthIsTakenOutAndPutBack(t *testing.T) {
	t.Parallel()
	// Books of more than a year lose their oldest month by a command, while the service runs:
	// what came later stays as it was, what lies in the month is refused as detached, and put
	// back it is proved to be what it was.
	h := newHouse(t, "--seal-every", "1s")
	platform, err := ident.ParsePlatform(h.platform)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := history.Write(t.Context(), history.Options{URL: h.database, Platform: platform, Entries: 6000, Months: 15, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	oldest := period.MonthOf(time.Now())
	for range 15 {
		oldest = oldest.Previous()
	}
	env := []string{"DATABASE_URL=" + h.database}
	end := "at=" + oldest.End().Add(-time.Millisecond).Format("2006-01-02T15:04:05.000Z")
	const account = "/ledger/accounts/rails%2FRTP?currency=USD&"
	at, now := h.get(account+end).want(200), h.get("/ledger/trial-balance").want(200)
	first := h.get("/ledger/postings?sortOrder=asc&limit=1").want(200).str("data.0.id")

	_, said, status := command(t, env, "ledger", "detach", oldest.String())
	if status != 1 || !strings.Contains(said, h.platform+": the month is not closed; close it") {
		t.Errorf("open: status %d, %s", status, said)
	}
	must(t, env, "ledger", "hold", oldest.String(), "--platform", h.platform)
	must(t, env, "ledger", "close", oldest.String(), "--platform", h.platform)
	until(t, "all of it is sealed", func() bool {
		log := h.get("/ledger/log").want(200)
		return log.value("sealed") == log.value("postings")
	})
	if _, said, status := command(t, env, "ledger", "detach", oldest.Next().Next().Next().String()); status != 1 || !strings.Contains(said, "can be detached from") {
		t.Errorf("a young month: status %d, %s", status, said)
	}
	must(t, env, "ledger", "detach", oldest.String())

	if got := h.get("/ledger/trial-balance").want(200); string(got.text) != string(now.text) {
		t.Errorf("the trial balance was\n%s\nand is\n%s", now.text, got.text)
	}
	if got := h.get(account + end).want(200); string(got.text) != string(at.text) {
		t.Errorf("at the end of the month it was\n%s\nand is\n%s", at.text, got.text)
	}
	for _, path := range []string{
		account + "at=" + stamp(oldest.End().AddDate(0, 0, -2)), "/ledger/postings/" + first, "/ledger/postings?sortOrder=asc",
		"/ledger/trial-balance?from=" + stamp(oldest.Start()), "/ledger/export?format=csv", "/ledger/log/proof?postingId=" + first,
	} {
		h.get(path).refused(409, "MONTH_DETACHED")
	}
	h.get("/ledger/postings?sortOrder=asc&from=" + stamp(oldest.End())).want(200)
	h.get("/ledger/export?format=csv&from=" + stamp(oldest.End())).want(200)
	if _, said, status := command(t, env, "ledger", "check"); status != 1 || !strings.Contains(said, "Attach them first") {
		t.Errorf("check: status %d, %s", status, said)
	}

	must(t, env, "ledger", "attach", oldest.String())
	h.get("/ledger/postings/" + first).want(200)
	must(t, env, "ledger", "verify")
}
