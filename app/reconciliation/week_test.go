package reconciliation_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"causeway/adapters/bankfiles"
	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/app/reconciliation"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/reconcile"
	"causeway/ledger"
	"causeway/ports"
	"causeway/ports/portstest"
)

// monday begins the week that is reconciled; the tests happen on the Monday after.
var (
	monday = time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC)
	now    = monday.AddDate(0, 0, 7).Add(9 * time.Hour)
)

// house is the use cases on a real database, with two platforms.
type house struct {
	*reconciliation.Reconciling
	store       *postgres.DB
	clock       *portstest.FakeClock
	ids         *ids.Generator
	here, there platform.Platform
}

func newHouse(t testing.TB) *house {
	t.Helper()
	h := &house{clock: portstest.NewFakeClock(now), ids: ids.New()}
	var err error
	h.store, err = postgres.Open(t.Context(), postgres.Options{URL: pgtest.New(t), MaxConnections: 6, Clock: h.clock, IDs: h.ids})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.store.Close)
	h.Reconciling = reconciliation.New(reconciliation.Config{Store: h.store, Runs: h.store, Books: h.store.BookReader(), Statements: bankfiles.Reader{}, Clock: h.clock, IDs: h.ids})
	for _, p := range []*platform.Platform{&h.here, &h.there} {
		*p = portstest.SandboxPlatform(t, h.ids, now)
		h.do(t, func(ctx context.Context, tx ports.Tx) error { return tx.CreatePlatform(ctx, *p) })
	}
	return h
}

func (h *house) do(t testing.TB, fn func(context.Context, ports.Tx) error) {
	t.Helper()
	portstest.MustDo(t, h.store, fn)
}

// post writes postings, thousands at a time.
func (h *house) post(t testing.TB, postings ...ledger.Posting) {
	t.Helper()
	for len(postings) > 0 {
		n := min(len(postings), 2000)
		h.do(t, func(ctx context.Context, tx ports.Tx) error { return tx.Post(ctx, postings[:n]) })
		postings = postings[n:]
	}
}

// received is money that arrived at RTP on a day of the week, from Monday on.
func (h *house) received(day int, minor int64, memo string) ledger.Posting {
	at := monday.AddDate(0, 0, day).Add(10 * time.Hour)
	return ledger.JITReceived(ledger.Header{ID: h.ids.New(at), Platform: h.here.ID, Effective: at, Memo: memo}, ledger.Rail("RTP"), usd(minor))
}

// delivered is money that left by RTP.
func (h *house) delivered(day int, minor int64, memo string) ledger.Posting {
	at := monday.AddDate(0, 0, day).Add(11 * time.Hour)
	return ledger.Delivered(ledger.Header{ID: h.ids.New(at), Platform: h.here.ID, Effective: at, Memo: memo}, ledger.Rail("RTP"), usd(minor))
}

func usd(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: money.USD} }

const weekMap = "date=Booked;valueDate=Value;amount=Amount;id=Id;reference=Reference;description=Text"

// sheet is a statement that the partner makes of the week.
type sheet struct {
	bytes.Buffer
	lines int
}

func newSheet() *sheet {
	s := &sheet{}
	s.WriteString("Booked,Value,Amount,Id,Reference,Text\n")
	return s
}

func (s *sheet) line(day int, minor int64, reference, text string) {
	s.lines++
	on := monday.AddDate(0, 0, day).Format(time.DateOnly)
	amount := fmt.Sprintf("%d.%02d", max(minor, -minor)/100, max(minor, -minor)%100)
	if minor < 0 {
		amount = "-" + amount
	}
	fmt.Fprintf(s, "%s,%s,%s,P%d,%s,%s\n", on, on, amount, s.lines, reference, text)
}

func (h *house) statement(file string) reconciliation.Import {
	return reconciliation.Import{Platform: h.here.ID, Path: "rails/RTP", Currency: "USD", Format: "csv", Map: weekMap, By: "Token:test", File: bytes.NewReader([]byte(file))}
}

func (h *house) importAll(t testing.TB, file string) reconciliation.Imported {
	t.Helper()
	done, err := h.Import(t.Context(), h.statement(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// known are the breaks that a week is made with.
type known map[reconcile.Reason]int

// week makes a week of RTP in our books, and the partner's statement of it: payments in
// and out, batches, and in every thousand some breaks of each kind.
func (h *house) week(t testing.TB, size int) (file *sheet, want known, lines int) {
	t.Helper()
	file, want = newSheet(), known{}
	var postings []ledger.Posting
	for i := 0; file.lines < size; i++ {
		day, amount, reference := i%7, int64(1000+i), fmt.Sprintf("REF%09d", i)
		text := "payment " + reference
		in := h.received(day, amount, reference)
		switch i % 1000 {
		case 10: // only the partner has it
			file.line(day, amount, reference, text)
			want[reconcile.MissingInLedger]++
			continue
		case 20: // only we have it
			postings = append(postings, in)
			want[reconcile.MissingOnStatement]++
			continue
		case 30:
			postings = append(postings, in)
			file.line(day, amount-15, reference, text)
			want[reconcile.AmountDiffers]++
			continue
		case 40:
			file.line(day, amount, reference, text)
			file.line(day, amount, reference, text)
			want[reconcile.Duplicate]++
		case 50: // paid out, and back
			postings = append(postings, h.delivered(day, amount, reference))
			file.line(day, -amount, reference, text)
			file.line(min(day+1, 6), amount, reference, "RETURN OF "+reference)
			want[reconcile.Returned]++
			continue
		case 60: // a batch of theirs
			for n := range int64(5) {
				postings = append(postings, h.received(day, amount+n, reference))
			}
			file.line(day, 5*amount+10, reference, "batch")
			continue
		case 70: // a batch of ours
			for n := range int64(4) {
				file.line(day, amount+n, reference, "part")
			}
			in = h.received(day, 4*amount+6, reference)
		case 80: // a day late
			file.line(min(day+1, 6), amount, reference, text)
		default:
			if i%2 == 0 {
				file.line(day, amount, reference, text)
			} else {
				in = h.delivered(day, amount, reference)
				file.line(day, -amount, "", text)
			}
		}
		postings = append(postings, in)
	}
	h.post(t, postings...)
	return file, want, file.lines
}
