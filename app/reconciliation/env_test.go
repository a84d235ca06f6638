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

// env is the use cases on a real database, with two platforms.
type env struct {
	*reconciliation.Service
	store                   *postgres.DB
	clock                   *portstest.FakeClock
	ids                     *ids.Generator
	platform, otherPlatform platform.Platform
}

func newEnv(t testing.TB) *env {
	t.Helper()
	h := &env{clock: portstest.NewFakeClock(now), ids: ids.New()}
	var err error
	h.store, err = postgres.Open(t.Context(), postgres.Options{URL: pgtest.New(t), MaxConnections: 6, Clock: h.clock, IDs: h.ids})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.store.Close)
	h.Service = reconciliation.New(reconciliation.Config{Store: h.store, Runs: h.store, Ledger: h.store.LedgerReader(), Statements: bankfiles.Reader{}, Clock: h.clock, IDs: h.ids})
	for _, p := range []*platform.Platform{&h.platform, &h.otherPlatform} {
		*p = portstest.SandboxPlatform(t, h.ids, now)
		h.mustDo(t, func(ctx context.Context, tx ports.Tx) error { return tx.CreatePlatform(ctx, *p) })
	}
	return h
}

func (h *env) mustDo(t testing.TB, fn func(context.Context, ports.Tx) error) {
	t.Helper()
	portstest.MustDo(t, h.store, fn)
}

// post writes postings, thousands at a time.
func (h *env) post(t testing.TB, postings ...ledger.Posting) {
	t.Helper()
	for len(postings) > 0 {
		n := min(len(postings), 2000)
		h.mustDo(t, func(ctx context.Context, tx ports.Tx) error { return tx.Post(ctx, postings[:n]) })
		postings = postings[n:]
	}
}

// receivedPosting is money that arrived at RTP on a day of the week, from Monday on.
func (h *env) receivedPosting(day int, minor int64, memo string) ledger.Posting {
	at := monday.AddDate(0, 0, day).Add(10 * time.Hour)
	return ledger.JITReceived(ledger.Header{ID: h.ids.New(at), Platform: h.platform.ID, Effective: at, Memo: memo}, ledger.Rail("RTP"), usd(minor))
}

// deliveredPosting is money that left by RTP.
func (h *env) deliveredPosting(day int, minor int64, memo string) ledger.Posting {
	at := monday.AddDate(0, 0, day).Add(11 * time.Hour)
	return ledger.Delivered(ledger.Header{ID: h.ids.New(at), Platform: h.platform.ID, Effective: at, Memo: memo}, ledger.Rail("RTP"), usd(minor))
}

func usd(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: money.USD} }

const weekLayout = "date=Booked;valueDate=Value;amount=Amount;id=Id;reference=Reference;description=Text"

// statementFile is a statement that the partner makes of the week.
type statementFile struct {
	bytes.Buffer
	lines int
}

func newStatementFile() *statementFile {
	s := &statementFile{}
	s.WriteString("Booked,Value,Amount,Id,Reference,Text\n")
	return s
}

func (s *statementFile) addLine(day int, minor int64, reference, text string) {
	s.lines++
	on := monday.AddDate(0, 0, day).Format(time.DateOnly)
	amount := fmt.Sprintf("%d.%02d", max(minor, -minor)/100, max(minor, -minor)%100)
	if minor < 0 {
		amount = "-" + amount
	}
	fmt.Fprintf(s, "%s,%s,%s,P%d,%s,%s\n", on, on, amount, s.lines, reference, text)
}

func (h *env) importRequest(file string) reconciliation.ImportRequest {
	return reconciliation.ImportRequest{Platform: h.platform.ID, Path: "rails/RTP", Currency: "USD", Format: "csv", Layout: weekLayout, By: "Token:test", File: bytes.NewReader([]byte(file))}
}

func (h *env) mustImport(t testing.TB, file string) reconciliation.ImportResult {
	t.Helper()
	done, err := h.Import(t.Context(), h.importRequest(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// breakCounts are the breaks that a week is made with.
type breakCounts map[reconcile.Reason]int

// createWeek makes a week of RTP in our books, and the partner's statement of it: payments in
// and out, batches, and in every thousand some breaks of each kind.
func (h *env) createWeek(t testing.TB, size int) (file *statementFile, want breakCounts, lines int) {
	t.Helper()
	file, want = newStatementFile(), breakCounts{}
	var postings []ledger.Posting
	for i := 0; file.lines < size; i++ {
		day, amount, reference := i%7, int64(1000+i), fmt.Sprintf("REF%09d", i)
		text := "payment " + reference
		in := h.receivedPosting(day, amount, reference)
		switch i % 1000 {
		case 10: // only the partner has it
			file.addLine(day, amount, reference, text)
			want[reconcile.MissingInLedger]++
			continue
		case 20: // only we have it
			postings = append(postings, in)
			want[reconcile.MissingOnStatement]++
			continue
		case 30:
			postings = append(postings, in)
			file.addLine(day, amount-15, reference, text)
			want[reconcile.AmountDiffers]++
			continue
		case 40:
			file.addLine(day, amount, reference, text)
			file.addLine(day, amount, reference, text)
			want[reconcile.Duplicate]++
		case 50: // paid out, and back
			postings = append(postings, h.deliveredPosting(day, amount, reference))
			file.addLine(day, -amount, reference, text)
			file.addLine(min(day+1, 6), amount, reference, "RETURN OF "+reference)
			want[reconcile.Returned]++
			continue
		case 60: // a batch of theirs
			for n := range int64(5) {
				postings = append(postings, h.receivedPosting(day, amount+n, reference))
			}
			file.addLine(day, 5*amount+10, reference, "batch")
			continue
		case 70: // a batch of ours
			for n := range int64(4) {
				file.addLine(day, amount+n, reference, "part")
			}
			in = h.receivedPosting(day, 4*amount+6, reference)
		case 80: // a day late
			file.addLine(min(day+1, 6), amount, reference, text)
		default:
			if i%2 == 0 {
				file.addLine(day, amount, reference, text)
			} else {
				in = h.deliveredPosting(day, amount, reference)
				file.addLine(day, -amount, "", text)
			}
		}
		postings = append(postings, in)
	}
	h.post(t, postings...)
	return file, want, file.lines
}
