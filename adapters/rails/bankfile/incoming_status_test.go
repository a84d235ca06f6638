package bankfile_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"causeway/ports"
)

func TestIncoming_StatusesOfTransfers(t *testing.T) {
	t.Parallel()
	// What each status of a transfer makes of its order, whichever comes first, and what operators are shown.
	d := openDatabase(t)
	for statuses, want := range map[string]struct{ states, notices string }{
		"RCVD":                      {states: "IN_FILE"},
		"ACTC":                      {states: "ACCEPTED"},
		"ACCP":                      {states: "ACCEPTED"},
		"ACSP":                      {states: "PENDING"},
		"PDNG:AB01":                 {states: "PENDING AB01"},
		"ACSC":                      {states: "SETTLED"},
		"RJCT:AC04":                 {states: "REJECTED AC04"},
		"CANC:CUST":                 {states: "REJECTED CUST"},
		"RJCT:AM05":                 {states: "IN_FILE", notices: "DUPLICATE_FILE {id} AM05"},
		"RJCT:DU04":                 {states: "IN_FILE", notices: "DUPLICATE_FILE {id} DU04"},
		"XXXX":                      {states: "IN_FILE", notices: "CONTRADICTION {id} XXXX"},
		"RCVD ACTC ACSP ACSC":       {states: "SETTLED"},
		"ACSC ACSP ACTC RCVD":       {states: "SETTLED"},
		"ACSP:1 RJCT:AC01":          {states: "REJECTED AC01"},
		"RJCT:AC01 ACSP:1":          {states: "REJECTED AC01"},
		"ACSC RJCT:AC01":            {states: "SETTLED", notices: "CONTRADICTION {id} AC01"},
		"RJCT:AC01 ACSC":            {states: "REJECTED AC01", notices: "CONTRADICTION {id}"},
		"RJCT:AC01 RJCT:AC01 PART:": {states: "REJECTED AC01"},
	} {
		i := d.inbox(t, "bank-"+strings.NewReplacer(" ", "-", ":", "-").Replace(strings.ToLower(statuses)), nil)
		i.send(1)
		var transfers []string
		for _, status := range strings.Fields(statuses) {
			transfers = append(transfers, transfer(i.id(0), strings.ReplaceAll(status, ":", " ")))
		}
		i.put("status.xml", statusReport(i.message, "", transfers...))

		i.poll()

		if got, noticed := i.states(), i.notices(); got != want.states || noticed != strings.ReplaceAll(want.notices, "{id}", i.id(0)) {
			t.Errorf("%s: %s, notices %q", statuses, got, noticed)
		}
		if i.left("in") != "" || i.left("archive") != "status.xml" {
			t.Errorf("%s: left %q, archived %q", statuses, i.left("in"), i.left("archive"))
		}
	}
}

func TestIncoming_StatusesOfFiles(t *testing.T) {
	t.Parallel()
	// A status of a whole file is that of every order without one of its own, wherever it is in the report. A file that is
	// taken for a duplicate refuses nothing: its first copy may have been paid.
	d := openDatabase(t)
	for n, c := range []struct {
		group, transfers string // transfers of the first orders
		states, notices  string
	}{
		{"ACCP", "", "ACCEPTED, ACCEPTED, ACCEPTED", ""},
		{"ACSC", "", "SETTLED, SETTLED, SETTLED", ""},
		{"RJCT FF01", "", "REJECTED FF01, REJECTED FF01, REJECTED FF01", ""},
		{"ACSC", "RJCT AC04", "REJECTED AC04, SETTLED, SETTLED", ""},
		{"RJCT FF01", "ACSC", "SETTLED, REJECTED FF01, REJECTED FF01", ""},
		{"PART", "RJCT AC04,ACSC", "REJECTED AC04, SETTLED, IN_FILE", ""},
		{"RJCT DU01", "", "IN_FILE, IN_FILE, IN_FILE", "DUPLICATE_FILE {message} DU01"},
		{"RJCT AM05", "RJCT", "IN_FILE, IN_FILE, IN_FILE", "DUPLICATE_FILE {message} AM05, DUPLICATE_FILE {0}"},
		{"XXXX", "", "IN_FILE, IN_FILE, IN_FILE", "CONTRADICTION {message} XXXX"},
	} {
		i := d.inbox(t, fmt.Sprintf("bank-%d", n), nil)
		i.send(3)
		var transfers []string
		for p, status := range strings.Split(c.transfers, ",") {
			if status != "" {
				transfers = append(transfers, transfer(i.id(p), status))
			}
		}
		i.put("status.xml", statusReport(i.message, c.group, transfers...))

		i.poll()

		want := slices.Sorted(strings.SplitSeq(strings.NewReplacer("{message}", i.message, "{0}", i.id(0)).Replace(c.notices), ", "))
		if got, noticed := i.states(), slices.Sorted(strings.SplitSeq(i.notices(), ", ")); got != c.states || !slices.Equal(noticed, want) {
			t.Errorf("%s with %q: %s, notices %q", c.group, c.transfers, got, noticed)
		}
	}
}

func TestIncoming_StatusesSettleAsTheSettingsSay(t *testing.T) {
	t.Parallel()
	// With settlement on booking a status alone settles nothing, and the debit does: also one that the bank has booked for
	// a whole file.
	d := openDatabase(t)
	i := d.inbox(t, "bank-booking", with("settlesOn", "BOOKING"))
	i.send(2)
	i.put("1.xml", statusReport(i.message, "ACSC"))
	i.poll()
	if got := i.states(); got != "PENDING, PENDING" {
		t.Fatal(got)
	}
	i.put("2.xml", notification(entry("DBIT", "10.00", "B1", "", payment(i.id(0))), entry("DBIT", "77.00", "B2", "", payment("SOMEONE-ELSE"))))
	i.poll()
	if got, noticed := i.states(), i.notices(); got != "SETTLED, PENDING" || noticed != "" {
		t.Fatalf("%s; %s", got, noticed)
	}
	i.put("3.xml", notification(entry("DBIT", "20.01", "B3", `<NtryDtls><Btch><MsgId>`+i.message+
		`</MsgId><NbOfTxs>2</NbOfTxs></Btch></NtryDtls>`)))
	i.poll()
	if got, noticed := i.states(), i.notices(); got != "SETTLED, SETTLED" || noticed != "" {
		t.Fatalf("%s; %s", got, noticed)
	}
	if outcomes := i.a.Status(t.Context(), i.payouts); outcomes[0].Verdict != ports.Done || outcomes[0].PartnerID != "B1" ||
		outcomes[1].PartnerID != "" {
		t.Errorf("%+v", outcomes)
	}
	if len(i.got.Receipts) > 0 {
		t.Errorf("%+v", i.got.Receipts)
	}
}

func TestIncoming_AboutUnknownPayments(t *testing.T) {
	t.Parallel()
	// What is about no payment of ours is shown to operators once, and stops nothing.
	d := openDatabase(t)
	i := d.inbox(t, "bank-unknown", nil)
	i.send(1)
	content := statusReport("M-OTHER", "ACSC", transfer("OTHER-1", "RJCT AC04"), transfer("NOTPROVIDED", "ACSC"), transfer(i.id(0), "ACSP"))
	i.put("status.xml", content)
	i.poll()
	again := d.open(t, i.connection, i.Store, folderTransport(t, i.dir))
	i.a, i.cursor = again, ""
	i.put("status.xml", content+"\n")
	d.clock.Advance(1e12)
	i.poll()

	noticed := map[string]int{}
	for notice := range strings.SplitSeq(i.notices(), ", ") {
		noticed[notice]++
	}
	want := map[string]int{"UNKNOWN_PAYMENT OTHER-1 AC04": 2, "UNKNOWN_PAYMENT NOTPROVIDED": 2, "UNKNOWN_PAYMENT M-OTHER": 2} // of two files
	if got := i.states(); got != "PENDING" || !maps.Equal(noticed, want) {
		t.Errorf("%s; %v", got, noticed)
	}
}
