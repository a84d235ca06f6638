package reconciliation_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"causeway/app/internal/apptest"
	"causeway/app/reconciliation"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/reconcile"
	"causeway/ledger"
)

// monday begins the week that is reconciled; the tests happen on the Monday after.
var (
	monday = time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC)
	now    = monday.AddDate(0, 0, 7).Add(9 * time.Hour)
)

// env is the environment of a test with the use cases on it, and a second platform.
type env struct {
	*apptest.Env
	reconciliation *reconciliation.Service
	otherPlatform  platform.Platform
}

func newEnv(t testing.TB) *env {
	t.Helper()
	e := apptest.New(t, apptest.At(now))
	return &env{Env: e, otherPlatform: e.NewPlatform(), reconciliation: reconciliation.New(reconciliation.Config{
		Store: e.Store, Runs: e.Store, Ledger: e.Store.LedgerReader(), Accounts: e.Store.Finance(),
		Clock: e.Clock, IDs: e.IDs})}
}

// receivedPosting is a payment received over RTP on a day counted from Monday.
func (e *env) receivedPosting(day int, minor int64, memo string) ledger.Posting {
	effective := monday.AddDate(0, 0, day).Add(10 * time.Hour)
	return ledger.JITReceived(ledger.Header{ID: e.IDs.New(effective), Platform: e.Platform.ID, Effective: effective, Memo: memo},
		ledger.Rail("RTP"), usd(minor))
}

// deliveredPosting is a payment delivered over RTP.
func (e *env) deliveredPosting(day int, minor int64, memo string) ledger.Posting {
	effective := monday.AddDate(0, 0, day).Add(11 * time.Hour)
	return ledger.Delivered(ledger.Header{ID: e.IDs.New(effective), Platform: e.Platform.ID, Effective: effective, Memo: memo},
		ledger.Rail("RTP"), usd(minor))
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
	s.add(day, day, minor, reference, text)
}

// addValued adds a line with another value date than booking day.
func (s *statementFile) addValued(day, value int, minor int64, reference string) {
	s.add(day, value, minor, reference, "")
}

func (s *statementFile) add(day, value int, minor int64, reference, text string) {
	s.lines++
	amount := fmt.Sprintf("%d.%02d", max(minor, -minor)/100, max(minor, -minor)%100)
	if minor < 0 {
		amount = "-" + amount
	}
	date := func(day int) string { return monday.AddDate(0, 0, day).Format(time.DateOnly) }
	fmt.Fprintf(s, "%s,%s,%s,P%d,%s,%s\n", date(day), date(value), amount, s.lines, reference, text)
}

func (e *env) importRequest(file string) reconciliation.ImportRequest {
	return reconciliation.ImportRequest{Platform: e.Platform.ID, Path: "rails/RTP", Currency: "USD", Format: "csv", Layout: weekLayout,
		By: "Token:test", File: bytes.NewReader([]byte(file))}
}

func (e *env) mustImport(t testing.TB, file string) reconciliation.ImportResult {
	t.Helper()
	done, err := e.reconciliation.Import(t.Context(), e.importRequest(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// breakCounts counts breaks by reason.
type breakCounts map[reconcile.Reason]int

// createWeek posts a week of RTP and returns the partner's statement of it: payments in and out,
// batches, and for every thousand lines some breaks of each reason.
func (e *env) createWeek(t testing.TB, size int) (file *statementFile, want breakCounts, lines int) {
	t.Helper()
	file, want = newStatementFile(), breakCounts{}
	var postings []ledger.Posting
	for i := 0; file.lines < size; i++ {
		day, amount, reference := i%7, int64(1000+i), fmt.Sprintf("REF%09d", i)
		text := "payment " + reference
		in := e.receivedPosting(day, amount, reference)
		switch i % 1000 {
		case 10: // only on the statement
			file.addLine(day, amount, reference, text)
			want[reconcile.MissingInLedger]++
			continue
		case 20: // only in the ledger
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
		case 50: // delivered and returned
			postings = append(postings, e.deliveredPosting(day, amount, reference))
			file.addLine(day, -amount, reference, text)
			file.addLine(min(day+1, 6), amount, reference, "RETURN OF "+reference)
			want[reconcile.Returned]++
			continue
		case 60: // several entries in one line
			for n := range int64(5) {
				postings = append(postings, e.receivedPosting(day, amount+n, reference))
			}
			file.addLine(day, 5*amount+10, reference, "batch")
			continue
		case 70: // one entry in several lines
			for n := range int64(4) {
				file.addLine(day, amount+n, reference, "part")
			}
			in = e.receivedPosting(day, 4*amount+6, reference)
		case 80: // a day late
			file.addLine(min(day+1, 6), amount, reference, text)
		default:
			if i%2 == 0 {
				file.addLine(day, amount, reference, text)
			} else {
				in = e.deliveredPosting(day, amount, reference)
				file.addLine(day, -amount, "", text)
			}
		}
		postings = append(postings, in)
	}
	e.Post(postings...)
	return file, want, file.lines
}
