package main

import (
	"strings"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/adapters/rails/bankfile"
	"causeway/core/bankorder"
	"causeway/ports/portstest"
)

func TestRailsNotices_ListsWhatBanksReported(t *testing.T) {
	t.Parallel()
	// An operator sees what to look at in the files of a bank, with the file and why it could not be read, newest first.
	url := railsDatabase(t)
	list := func(args ...string) string {
		t.Helper()
		var out, errOut strings.Builder
		run(t.Context(), append(append([]string{"rails", "notices"}, args...), "--database-url", url), &out, &errOut)
		return out.String() + errOut.String()
	}
	if text := list("bank-eur"); !strings.HasPrefix(text, "There is nothing to look at") {
		t.Error(text)
	}
	db := openDB(t, postgres.Options{URL: url, AllPlatforms: true, MaxConnections: 2,
		Clock: portstest.NewFakeClock(noon)})
	store := bankfile.NewStore(db.Storage(), nil)
	lease, _, err := store.Lease(t.Context(), "bank-eur", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	file, err := store.BeginFile(t.Context(), lease, bankorder.Received{Connection: "bank-eur", Name: "camt.xml", Size: 1,
		ModifiedAt: noon, FoundAt: noon})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.EndFile(t.Context(), lease, file.Number, bankorder.Unreadable, "line 3: it is truncated", noon); err != nil {
		t.Fatal(err)
	}
	for _, n := range []bankorder.Notice{
		{File: file.Number, Place: "file", Kind: bankorder.UnreadableFile, Name: "camt.xml", At: noon},
		{File: 7, Place: "status 3, line 9", Kind: bankorder.Contradiction, Name: "0199F0A2", Code: "AC04", At: noon.Add(time.Minute)},
	} {
		n.Connection = "bank-eur"
		if err := store.KeepNotice(t.Context(), lease, n); err != nil {
			t.Fatal(err)
		}
	}

	text := list("bank-eur")

	rows := strings.Split(strings.TrimSpace(text), "\n")
	if len(rows) != 3 || !strings.Contains(rows[1], "CONTRADICTION") || !strings.Contains(rows[1], "AC04") ||
		!strings.Contains(rows[2], "line 3: it is truncated") || !strings.Contains(rows[2], "camt.xml") {
		t.Errorf("%s", text)
	}
	if text := list("bank-eur", "--limit", "1"); !strings.Contains(text, "There are more") || strings.Contains(text, "truncated") {
		t.Error(text)
	}
	if text := list("bank-none"); !strings.Contains(text, "There is no connection") {
		t.Error(text)
	}
}
