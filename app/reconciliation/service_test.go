package reconciliation_test

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"

	"causeway/adapters/postgres"
	"causeway/app/reconciliation"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/reconcile"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

func TestImport_Week(t *testing.T) {
	t.Parallel()
	// A statement of a week is matched with the ledger except for its intended breaks, each of which
	// has its reason; importing the file again changes nothing.
	env := newEnv(t)
	file, want, lines := env.createWeek(t, 3000)

	done := env.mustImport(t, file.String())

	if done.Lines != lines || done.KnownLines != 0 || done.AlreadyImported {
		t.Errorf("%d lines, %d of them known, again %v; want %d new", done.Lines, done.KnownLines, done.AlreadyImported, lines)
	}
	if got := breakCounts(done.Breaks); !maps.Equal(got, want) {
		t.Errorf("breaks %v, want %v", got, want)
	}
	if broken := want[reconcile.MissingInLedger] + want[reconcile.AmountDiffers] + want[reconcile.Duplicate] +
		want[reconcile.Returned]; done.MatchedLines != lines-broken {
		t.Errorf("%d lines are matched, want %d", done.MatchedLines, lines-broken)
	}
	env.checkCounts(t, done)

	again := env.mustImport(t, file.String())
	if !again.AlreadyImported || again.ID != done.ID {
		t.Errorf("the same file made %s, and was %s before", again.ID, done.ID)
	}
	// Its lines in another file change nothing either.
	more := env.mustImport(t, file.String()+"2026-03-15,2026-03-15,1.00,LAST,,interest\n")
	if more.AlreadyImported || more.KnownLines != lines || more.Lines != lines+1 || more.MatchedLines != 0 || len(more.Breaks) != 1 ||
		more.Breaks[reconcile.MissingInLedger] != 1 || more.EarlierBreaksResolved != 0 {
		t.Errorf("the same lines and one more: %+v", more)
	}
}

// checkCounts compares the lines of a run with its counts.
func (e *env) checkCounts(t *testing.T, done reconciliation.ImportResult) {
	t.Helper()
	shown, err := e.reconciliation.Get(t.Context(), e.Platform.ID, done.ID)
	if err != nil {
		t.Fatal(err)
	}
	counted := map[reconcile.LineStatus]int{}
	for f := (ports.StatementLineFilter{Paging: ports.Paging{Limit: 1000, Ascending: true}}); ; {
		page, err := e.reconciliation.Lines(t.Context(), e.Platform.ID, done.ID, f)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range page.Items {
			counted[l.Status]++
			var sum int64
			for _, e := range l.Entries {
				sum += e.Amount
			}
			if l.Status == reconcile.Matched && l.Rule != reconcile.ReferenceSum && sum != l.Amount {
				t.Errorf("line %d of %d is matched by %s with entries of %d", l.Ordinal, l.Amount, l.Rule, sum)
			}
			if l.Status != reconcile.Matched && l.Break.IsZero() {
				t.Errorf("line %d is %s without a break", l.Ordinal, l.Status)
			}
		}
		if !page.More {
			break
		}
		f.After = page.Items[len(page.Items)-1].ID
	}
	if counted[reconcile.Matched] != shown.Matched || counted[reconcile.InBreak] != shown.InBreak || shown.Matched != done.MatchedLines {
		t.Errorf("lines %v, counts %+v", counted, shown.ReconciliationCounts)
	}
	breaks := 0
	for _, n := range done.Breaks {
		breaks += n
	}
	if shown.OpenBreaks != breaks || shown.ResolvedBreaks != 0 {
		t.Errorf("%d breaks, counts %+v", breaks, shown.ReconciliationCounts)
	}
}

func TestBreaks_SuggestOtherOpenBreaks(t *testing.T) {
	t.Parallel()
	// Each break of a line suggests the break of the entry that it may belong to, on another date or
	// with a typing error, and the other way round, in a list and alone; not when it is resolved.
	env := newEnv(t)
	env.Post(env.receivedPosting(0, 7_000, "REFERENCE1"), env.receivedPosting(0, 9_000, "REFERENCE2"),
		env.receivedPosting(0, 111, "REFERENCE3"))
	file := newStatementFile()
	file.addLine(0, 111, "REFERENCE3", "")
	file.addLine(6, 7_000, "REFERENCE1", "")
	file.addLine(6, 9_000, "REFERENEC2", "")
	run := env.mustImport(t, file.String())
	list := func() map[int64]reconcile.BreakDetails {
		page, err := env.reconciliation.Breaks(t.Context(), env.Platform.ID, ident.Reconciliation{},
			ports.BreakFilter{Paging: ports.Paging{Limit: 10}, Path: "rails/RTP", Currency: "USD"})
		if err != nil || len(page.Items) != 4 {
			t.Fatalf("%d breaks, %v", len(page.Items), err)
		}
		found := map[int64]reconcile.BreakDetails{}
		for _, b := range page.Items {
			found[b.Difference] = b
		}
		return found
	}

	found := list()
	for difference, want := range map[int64]reconcile.SuggestionReason{7_000: reconcile.SuggestSameReference,
		-7_000: reconcile.SuggestSameReference,
		9_000:  reconcile.SuggestSimilarReference, -9_000: reconcile.SuggestSimilarReference} {
		b := found[difference]
		if len(b.Suggestions) == 0 || b.Suggestions[0].Reason != want ||
			!slices.Equal(b.Suggestions[0].Breaks, []ident.Break{found[-difference].ID}) {
			t.Errorf("%d: suggests %+v, want %s", difference, b.Suggestions, want)
		}
		alone, err := env.reconciliation.Break(t.Context(), env.Platform.ID, b.ID)
		if err != nil || !reflect.DeepEqual(alone, b) {
			t.Errorf("alone it is %+v, %v; want %+v", alone, err, b)
		}
	}
	if _, err := env.reconciliation.Break(t.Context(), env.otherPlatform.ID, found[7_000].ID); !fault.Is(err, fault.BreakNotFound) {
		t.Errorf("of another platform: %v", err)
	}
	for _, difference := range []int64{7_000, -7_000} {
		if _, err := env.reconciliation.Resolve(t.Context(), reconciliation.ResolveRequest{Platform: env.Platform.ID, Run: run.ID,
			Break:          found[difference].ID,
			ResolveCommand: reconcile.ResolveCommand{Note: "The same payment"}, By: env.Admin.Author()}, nil); err != nil {
			t.Fatal(err)
		}
	}
	found = list()
	if len(found[7_000].Suggestions) != 0 || len(found[9_000].Suggestions) != 1 {
		t.Errorf("after two are resolved: %+v and %+v", found[7_000].Suggestions, found[9_000].Suggestions)
	}
}

// breaksByReason returns the breaks of a run by reason.
func (e *env) breaksByReason(t *testing.T, run ident.Reconciliation) map[reconcile.Reason]reconcile.BreakDetails {
	t.Helper()
	page, err := e.reconciliation.Breaks(t.Context(), e.Platform.ID, run, ports.BreakFilter{Paging: ports.Paging{Limit: 100, Ascending: true}})
	if err != nil {
		t.Fatal(err)
	}
	found := map[reconcile.Reason]reconcile.BreakDetails{}
	for _, b := range page.Items {
		found[b.Reason] = b
	}
	return found
}

func (e *env) resolve(t *testing.T, b ident.Break, o reconcile.ResolveCommand) (reconcile.BreakDetails, error) {
	t.Helper()
	done, err := e.reconciliation.Resolve(t.Context(), reconciliation.ResolveRequest{Platform: e.Platform.ID, Break: b, ResolveCommand: o,
		By: e.Admin.Author()}, nil)
	return done.Done, err
}

func TestImport_MatchesUnmatchedFundsByPayerReference(t *testing.T) {
	t.Parallel()
	// Two unmatched payments of one amount and day are distinguished by their payers' references,
	// although these are not references of this service.
	env := newEnv(t)
	received := monday.Add(10 * time.Hour)
	var receipts []transaction.Receipt
	for i, reference := range []string{"Rent March", "Rent April"} {
		partner := fmt.Sprint("UNMATCHED", i)
		receipts = append(receipts, transaction.Receipt{ID: ident.NewReceipt(env.IDs.New, received), PartnerID: partner,
			Platform: env.Platform.ID,
			Rail:     "RTP", Reference: reference, Amount: usd(1250), At: received})
	}
	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		_, err := tx.SaveReceipts(ctx, receipts)
		return err
	})
	env.Post(receipts[0].Unmatched(), receipts[1].Unmatched())

	file := newStatementFile()
	file.addLine(0, 1250, "RENT APRIL", "")
	done := env.mustImport(t, file.String())

	breaks := env.breaksByReason(t, done.ID)
	if done.Matches[reconcile.ReferenceAmountDate] != 1 || len(breaks) != 1 ||
		breaks[reconcile.MissingOnStatement].Entry.Memo != "unknown reference Rent March" {
		t.Errorf("matched %v, breaks %+v", done.Matches, breaks)
	}
}

func TestImport_MatchesPaymentsByReceipt(t *testing.T) {
	t.Parallel()
	// Two deposits of one amount, day and payer's reference are distinguished by the partner's ids
	// of their receipts.
	env := newEnv(t)
	opened := env.NewInternalAccount(env.Customer.ID, "USD", 0)
	received := monday.Add(10 * time.Hour)
	transactions := map[string]ident.Transaction{}
	for _, partner := range []string{"FIRST001", "SECOND002"} {
		receipt := transaction.Receipt{ID: ident.NewReceipt(env.IDs.New, received), PartnerID: partner, Platform: env.Platform.ID,
			Rail: "RTP", Reference: opened.Reference, Amount: usd(1250), At: received}
		decided, err := receipt.Deposit(opened.ID, transaction.IncomingParties{To: &opened, Owner: &env.Customer}, 0)
		if err != nil {
			t.Fatal(err)
		}
		env.Do(func(ctx context.Context, tx *postgres.Unit) error {
			if _, err := tx.SaveReceipts(ctx, []transaction.Receipt{receipt}); err != nil {
				return err
			}
			if err := tx.CreateTransactions(ctx, []transaction.Transaction{decided.Transaction}); err != nil {
				return err
			}
			return tx.Post(ctx, decided.Postings)
		})
		transactions[partner] = decided.Transaction.ID
	}

	file := newStatementFile()
	file.addLine(0, 1250, "SECOND002", "")
	done := env.mustImport(t, file.String())

	breaks := env.breaksByReason(t, done.ID)
	if done.Matches[reconcile.ReferenceAmountDate] != 1 || len(breaks) != 1 ||
		breaks[reconcile.MissingOnStatement].Entry.Transaction != transactions["FIRST001"] {
		t.Errorf("matched %v, breaks %+v", done.Matches, breaks)
	}
}

func TestResolve_CreatesUnmatchedFunds(t *testing.T) {
	t.Parallel()
	// A line missing in the ledger that is posted to unmatched funds is listed there once, with the
	// details of the line.
	env := newEnv(t)
	file := newStatementFile()
	file.addLine(0, 700, "Rent March", "")
	first := env.mustImport(t, file.String())
	found := env.breaksByReason(t, first.ID)[reconcile.MissingInLedger]

	resolved, err := env.resolve(t, found.ID, reconcile.ResolveCommand{Note: "who is it?", Offset: reconcile.OffsetUnmatched})
	if err != nil {
		t.Fatal(err)
	}

	page, err := env.Store.Unmatched(t.Context(), env.Platform.ID, ports.UnmatchedFilter{Limit: 10})
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("listed %+v, %v", page.Items, err)
	}
	u := page.Items[0]
	if u.Posting != resolved.Resolution.Posting || u.Receipt.Amount != usd(700) || u.Receipt.Rail != "RTP" || u.Receipt.PartnerID != "P1" ||
		u.Receipt.Reference != "Rent March" || u.Assignment != nil {
		t.Errorf("listed as %+v", u)
	}
	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		locked, exists, err := tx.LockUnmatched(ctx, env.Platform.ID, u.Receipt.ID)
		if !exists || locked.Posting != u.Posting {
			t.Errorf("to be assigned: %v, %+v", exists, locked)
		}
		return err
	})

	// The next statement with the same line has no break for it.
	file.addLine(1, 1, "REFERENCE1", "")
	if later := env.mustImport(t, file.String()); later.KnownLines != 1 || len(later.Breaks) != 1 ||
		later.Breaks[reconcile.MissingInLedger] != 1 {
		t.Errorf("later %+v", later)
	}
}

func TestImport_UnknownAccountIsRefused(t *testing.T) {
	t.Parallel()
	// An account that neither the service nor the ledger has is refused with the known names. One that
	// an operator has posted to is reconciled, whatever its name.
	env := newEnv(t)
	file := newStatementFile()
	file.addLine(0, 700, "Rent March", "")
	request := func(path string) reconciliation.ImportRequest {
		r := env.importRequest(file.String())
		r.Path = path
		return r
	}
	for _, path := range []string{"rails/NOPE", "chains/DOGE"} {
		_, err := env.reconciliation.Import(t.Context(), request(path), nil)
		refused, ok := fault.As(err)
		if !ok || len(refused.Fields) != 1 || refused.Fields[0].Field != "account" || !strings.Contains(refused.Fields[0].Message, "rails/RTP") ||
			!strings.Contains(refused.Fields[0].Message, "chains/TRON") {
			t.Errorf("%s: %+v", path, err)
		}
		env.Post(ledger.FeePaid(ledger.Header{ID: env.IDs.New(monday), Platform: env.Platform.ID, Effective: monday}, path, usd(1)))
		if _, err := env.reconciliation.Import(t.Context(), request(path), nil); err != nil {
			t.Errorf("%s with postings: %v", path, err)
		}
	}
}

func TestResolve_UnknownChainIsNotTakenForARail(t *testing.T) {
	t.Parallel()
	// Money on a chain that the service does not know cannot become unmatched funds, which could only
	// be returned by the rail of that name. It can be posted to an expense.
	env := newEnv(t)
	env.Post(ledger.FeePaid(ledger.Header{ID: env.IDs.New(monday), Platform: env.Platform.ID, Effective: monday}, "chains/DOGE", usd(1)))
	file := newStatementFile()
	file.addLine(0, 700, "Rent March", "")
	request := env.importRequest(file.String())
	request.Path = "chains/DOGE"
	done, err := env.reconciliation.Import(t.Context(), request, nil)
	if err != nil {
		t.Fatal(err)
	}
	found := env.breaksByReason(t, done.ID)[reconcile.MissingInLedger]

	_, err = env.resolve(t, found.ID, reconcile.ResolveCommand{Note: "whose?", Offset: reconcile.OffsetUnmatched})

	if refused, ok := fault.As(err); !ok || len(refused.Fields) != 1 || refused.Fields[0].Field != "against" {
		t.Fatalf("got %+v", err)
	}
	if _, err := env.resolve(t, found.ID, reconcile.ResolveCommand{Note: "a correction", Offset: reconcile.OffsetExpense}); err != nil {
		t.Fatal(err)
	}
	env.WantBalances(map[string]int64{"chains/DOGE USD": 699, "expense/rails USD": -699})
}

func TestResolve_PartnerIDOfReceivedPayment(t *testing.T) {
	t.Parallel()
	// The difference of a payment that was received is posted to unmatched funds of its own, although
	// the line has the partner's id of that payment.
	env := newEnv(t)
	received := monday.Add(10 * time.Hour)
	receipt := transaction.Receipt{ID: ident.NewReceipt(env.IDs.New, received), PartnerID: "P1", Platform: env.Platform.ID, Rail: "RTP",
		Reference: "Rent", Amount: usd(500), At: received}
	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		_, err := tx.SaveReceipts(ctx, []transaction.Receipt{receipt})
		return err
	})
	env.Post(receipt.Unmatched())
	file := newStatementFile()
	file.addLine(0, 700, "Rent", "") // with the id P1
	run := env.mustImport(t, file.String())
	found := env.breaksByReason(t, run.ID)[reconcile.AmountDiffers]

	if _, err := env.resolve(t, found.ID, reconcile.ResolveCommand{Note: "they sent more", Offset: reconcile.OffsetUnmatched}); err != nil {
		t.Fatal(err)
	}

	page, err := env.Store.Unmatched(t.Context(), env.Platform.ID, ports.UnmatchedFilter{Limit: 10})
	if err != nil || len(page.Items) != 1 || page.Items[0].Receipt.Amount != usd(200) || page.Items[0].Receipt.PartnerID == "P1" {
		t.Errorf("listed %+v, %v", page.Items, err)
	}
}

func TestResolve_NoteOrCorrection(t *testing.T) {
	t.Parallel()
	// A break is resolved once, with a note or a correction; afterwards neither the break nor the
	// correction is open again.
	env := newEnv(t)
	env.Post(env.receivedPosting(0, 10_000, "REFERENCE1"), env.receivedPosting(1, 5_000, "REFERENCE2"))
	file := newStatementFile()
	file.addLine(0, 9_985, "REFERENCE1", "less a fee")
	file.addLine(1, -300, "", "monthly fee")
	first := env.mustImport(t, file.String())
	breaks := env.breaksByReason(t, first.ID)
	if summary := fmt.Sprint(len(breaks), breaks[reconcile.AmountDiffers].Difference, breaks[reconcile.MissingInLedger].Difference,
		breaks[reconcile.MissingOnStatement].Difference); summary != "3 -15 -300 -5000" {
		t.Fatalf("breaks and differences %s", summary)
	}

	fee, err := env.resolve(t, breaks[reconcile.MissingInLedger].ID, reconcile.ResolveCommand{Note: "March", Offset: reconcile.OffsetExpense})
	if err != nil || fee.Resolution.Method != reconcile.ResolvedByPosting {
		t.Fatalf("%+v, %v", fee.Resolution, err)
	}
	if _, err := env.resolve(t, breaks[reconcile.AmountDiffers].ID, reconcile.ResolveCommand{Note: "their fee",
		Offset: reconcile.OffsetFees}); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("a fee of the partner as income: %v", err)
	}
	if _, err := env.resolve(t, breaks[reconcile.AmountDiffers].ID, reconcile.ResolveCommand{Note: "their fee",
		Offset: reconcile.OffsetExpense}); err != nil {
		t.Error(err)
	}
	if _, err := env.resolve(t, breaks[reconcile.MissingOnStatement].ID,
		reconcile.ResolveCommand{Note: "asked, they will book it"}); err != nil {
		t.Error(err)
	}

	// Twice, for another platform, or without a reason: refused.
	if _, err := env.resolve(t, fee.ID, reconcile.ResolveCommand{Note: "again"}); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second time: %v", err)
	}
	_, err = env.reconciliation.Resolve(t.Context(), reconciliation.ResolveRequest{Platform: env.otherPlatform.ID, Break: fee.ID,
		ResolveCommand: reconcile.ResolveCommand{Note: "mine"}}, nil)
	if !fault.Is(err, fault.BreakNotFound) {
		t.Errorf("of another platform: %v", err)
	}
	if _, err := env.resolve(t, fee.ID, reconcile.ResolveCommand{}); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("without a note: %v", err)
	}

	// The memo of the correction names the break.
	posted, exists, err := env.Store.LedgerReader().Posting(t.Context(), env.Platform.ID, fee.Resolution.Posting)
	if err != nil || !exists || posted.Kind != ledger.KindFee || posted.Memo != fee.ID.String()+": March" ||
		posted.Entries[0] != (ledger.Entry{Debit: "expense/rails", Credit: "rails/RTP", Currency: "USD", Amount: 300}) {
		t.Errorf("posted %+v, %v", posted, err)
	}

	// As CSV, each break is a line with what was compared and how it was resolved.
	var text strings.Builder
	if err := env.reconciliation.BreaksTable(env.Platform.ID, first.ID, ports.BreakFilter{Paging: ports.Paging{Ascending: true}}).CSV(
		t.Context(), &text); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(text.String())).ReadAll()
	if err != nil || len(rows) != 4 {
		t.Fatalf("%v\n%s", err, &text)
	}
	cells := map[string]map[string]string{}
	for _, row := range rows[1:] {
		cells[row[3]] = map[string]string{}
		for i, cell := range row {
			cells[row[3]][rows[0][i]] = cell
		}
	}
	for reason, want := range map[string]map[string]string{
		"AMOUNT_DIFFERS": {"status": "RESOLVED", "path": "rails/RTP", "currency": "USD", "difference": "-0.15", "reference": "REFERENCE1",
			"line_number": "1", "booked_on": "2026-03-09", "line_amount": "99.85",
			"partner_id": "P1", "posting_number": "1", "entry_number": "1", "kind": "jit_received", "entry_amount": "100.00", "method": "POSTING",
			"note": "their fee", "resolved_by": env.Admin.Token.String()},
		"MISSING_IN_LEDGER": {"difference": "-3.00", "line_amount": "-3.00", "posting_number": "", "entry_amount": "", "note": "March",
			"correction_posting_id": postingID(fee.Resolution.Posting)},
		"MISSING_ON_STATEMENT": {"difference": "-50.00", "line_number": "", "line_amount": "", "posting_number": "2", "method": "NOTE",
			"correction_posting_id": ""},
	} {
		for column, cell := range want {
			if cells[reason][column] != cell {
				t.Errorf("%s of %s is %q, want %q", column, reason, cells[reason][column], cell)
			}
		}
	}

	// A later statement of the same days has no new breaks.
	env.Clock.Advance(24 * time.Hour)
	file.addLine(6, 700, "REFERENCE7", "")
	env.Post(env.receivedPosting(6, 700, "REFERENCE7"))
	later := env.mustImport(t, file.String())
	if len(later.Breaks) != 0 || later.MatchedLines != 1 || later.KnownLines != 2 {
		t.Errorf("later %+v", later)
	}
	shown, err := env.reconciliation.Get(t.Context(), env.Platform.ID, first.ID)
	if err != nil || shown.OpenBreaks != 0 || shown.ResolvedBreaks != 3 || shown.Resolved != 2 || shown.InBreak != 0 {
		t.Errorf("the first now %+v, %v", shown.ReconciliationCounts, err)
	}
}

func postingID(id uuid.UUID) string {
	var posting ident.Posting
	posting.SetUUID(id)
	return posting.String()
}

func TestImport_LaterStatementResolvesBreak(t *testing.T) {
	t.Parallel()
	// An entry that the partner books a day later is a break until the next statement matches it;
	// a break that becomes another one is resolved by that.
	env := newEnv(t)
	env.Post(env.receivedPosting(0, 100, "REFERENCE0"), env.receivedPosting(1, 10_000, "REFERENCE1"),
		env.receivedPosting(1, 2_000, "REFERENCE2"))
	file := newStatementFile()
	file.addLine(0, 100, "REFERENCE0", "")
	file.addLine(1, 1, "", "")
	first := env.mustImport(t, file.String())
	if !maps.Equal(breakCounts(first.Breaks), breakCounts{reconcile.MissingInLedger: 1, reconcile.MissingOnStatement: 2}) {
		t.Fatalf("first %v", first.Breaks)
	}

	next := newStatementFile()
	next.lines = 10
	next.addLine(2, 10_000, "REFERENCE1", "")
	next.addLine(2, 1_999, "REFERENCE2", "")
	second := env.mustImport(t, next.String())

	if second.EarlierBreaksResolved != 2 || second.MatchedLines != 1 ||
		!maps.Equal(breakCounts(second.Breaks), breakCounts{reconcile.AmountDiffers: 1}) {
		t.Errorf("second %+v", second)
	}
	methods := map[reconcile.ResolutionMethod]int{}
	page, err := env.reconciliation.Breaks(t.Context(), env.Platform.ID, first.ID, ports.BreakFilter{Paging: ports.Paging{Limit: 10},
		Status: "RESOLVED"})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range page.Items {
		methods[b.Resolution.Method]++
		if b.Resolution.Run != second.ID {
			t.Errorf("the break is resolved by %s, want %s", b.Resolution.Run, second.ID)
		}
	}
	if methods[reconcile.ResolvedByMatch] != 1 || methods[reconcile.ResolvedByBreak] != 1 {
		t.Errorf("resolved by %v", methods)
	}
}

func TestImport_OpenBreakFoundOnce(t *testing.T) {
	t.Parallel()
	// An unresolved break is found once, however old it is when the next statements are compared.
	env := newEnv(t)
	file := newStatementFile()
	for _, day := range []int{-40, -34, -32, -30, -6, 0} {
		file.addLine(day, 100, "", "")
		env.Post(env.receivedPosting(day, 5_000+int64(day), fmt.Sprintf("REFERENCE%d", 100+day)))
	}
	first := env.mustImport(t, file.String())
	if !maps.Equal(breakCounts(first.Breaks), breakCounts{reconcile.MissingInLedger: 6, reconcile.MissingOnStatement: 6}) {
		t.Fatalf("first %v", first.Breaks)
	}
	for day := range 3 {
		next := newStatementFile()
		next.lines = 10 + day
		next.addLine(day+1, 777, "", "")
		if later := env.mustImport(t, next.String()); !maps.Equal(breakCounts(later.Breaks), breakCounts{reconcile.MissingInLedger: 1}) ||
			later.EarlierBreaksResolved != 0 {
			t.Errorf("later %v, %d cleared", later.Breaks, later.EarlierBreaksResolved)
		}
	}
}

func TestImport_InvalidFile(t *testing.T) {
	t.Parallel()
	// An invalid request is refused with all invalid fields, and nothing of it is stored.
	env := newEnv(t)
	good := newStatementFile()
	good.addLine(0, 100, "R1", "")
	for _, c := range []struct {
		name   string
		change func(*reconciliation.ImportRequest)
		want   []string
	}{
		{"everything", func(i *reconciliation.ImportRequest) { i.Path, i.Currency, i.Format = "funding/jit", "XXX", "pdf" },
			[]string{"account", "currency", "format"}},
		{"a map", func(i *reconciliation.ImportRequest) { i.Layout = "date=D;amount" }, []string{"map"}},
		{"a map for another format", func(i *reconciliation.ImportRequest) { i.Format = "camt053" }, []string{"map"}},
		{"a future day", func(i *reconciliation.ImportRequest) {
			i.File = strings.NewReader(strings.ReplaceAll(good.String(), "2026-03-09", "2026-03-18"))
		}, []string{"file"}},
		{"a bad line after good ones", func(i *reconciliation.ImportRequest) {
			i.File = strings.NewReader(good.String() + "2026-03-09,,1.001,,,\n")
		}, []string{"file"}},
		{"nothing", func(i *reconciliation.ImportRequest) {
			i.File = strings.NewReader("Booked,Value,Amount,Id,Reference,Text\n")
		}, []string{"file"}},
	} {
		in := env.importRequest(good.String())
		c.change(&in)
		_, err := env.reconciliation.Import(t.Context(), in, nil)
		f, ok := fault.As(err)
		if !ok || f.Code != fault.InvalidInput {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var fields []string
		for _, field := range f.Fields {
			fields = append(fields, field.Field)
		}
		if fmt.Sprint(fields) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", c.name, fields, c.want)
		}
	}
	page, err := env.reconciliation.List(t.Context(), env.Platform.ID, ports.ReconciliationFilter{Paging: ports.Paging{Limit: 10}})
	var lines int
	if scan := env.Store.Pool().QueryRow(t.Context(), "SELECT count(*) FROM reconciliation_lines").Scan(&lines); err != nil || scan != nil ||
		page.Total != 0 || lines != 0 {
		t.Errorf("%d runs and %d lines are stored, %v, %v", page.Total, lines, err, scan)
	}
}

func TestImport_ConcurrentImports(t *testing.T) {
	t.Parallel()
	// Concurrent imports of one account are serialized: no line is stored twice, and no entry is
	// matched twice.
	env := newEnv(t)
	file, _, lines := env.createWeek(t, 500)
	results := make(chan error)
	for n := range 4 {
		more := file.String() + fmt.Sprintf("2026-03-15,2026-03-15,1.00,LAST%d,,\n", n)
		go func() {
			_, err := env.reconciliation.Import(t.Context(), env.importRequest(more), nil)
			results <- err
		}()
	}
	for range 4 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	var stored int
	if err := env.Store.Pool().QueryRow(t.Context(), "SELECT count(*) FROM reconciliation_lines").Scan(&stored); err != nil ||
		stored != lines+4 {
		t.Errorf("%d lines, want %d, %v", stored, lines+4, err)
	}
}

// stalledFile is a file of which nothing arrives before its context ends.
type stalledFile struct {
	ctx   context.Context
	begun chan<- struct{}
}

func (f stalledFile) Read([]byte) (int, error) {
	select {
	case f.begun <- struct{}{}:
		<-f.ctx.Done()
	case <-f.ctx.Done():
	}
	return 0, f.ctx.Err()
}

func TestImport_StalledFilesOfOnePlatform(t *testing.T) {
	t.Parallel()
	// A platform whose clients send nothing more of many files does not keep others from importing theirs.
	e := newEnv(t)
	ctx, cancel := context.WithCancel(t.Context())
	begun := make(chan struct{})
	var stalled sync.WaitGroup
	for range 12 {
		in := e.importRequest("")
		in.File = stalledFile{ctx, begun}
		stalled.Go(func() {
			if _, err := e.reconciliation.Import(ctx, in, nil); err == nil {
				t.Error("a file that did not arrive was imported")
			}
		})
	}
	for range 6 {
		<-begun
	}
	file := newStatementFile()
	file.addLine(0, 1000, "R1", "payment")
	in := e.importRequest(file.String())
	in.Platform = e.otherPlatform.ID
	if done, err := e.reconciliation.Import(t.Context(), in, nil); err != nil || done.Lines != 1 {
		t.Errorf("the file of another platform: %+v, %v", done, err)
	}
	select {
	case <-begun:
		t.Error("more than six files of one platform are read")
	default:
	}
	cancel()
	stalled.Wait()
}

func TestReconciliations_AppendOnly(t *testing.T) {
	t.Parallel()
	// Reconciliations cannot be changed or deleted, not even by the owner of the tables.
	env := newEnv(t)
	file := newStatementFile()
	file.addLine(0, 100, "R1", "")
	env.mustImport(t, file.String())
	file.addLine(1, 200, "R2", "")
	env.Post(env.receivedPosting(1, 200, "R2"))
	env.mustImport(t, file.String())
	for _, table := range tables {
		err := env.Exec("DELETE FROM " + table)
		if pg := new(pgconn.PgError); !errors.As(err, &pg) || pg.Code != "23001" { // restrict_violation
			t.Errorf("the owner of %s deletes: %v", table, err)
		}
		_, err = env.Store.Pool().Exec(t.Context(), "DELETE FROM "+table)
		if pg := new(pgconn.PgError); !errors.As(err, &pg) || pg.Code != "42501" { // insufficient_privilege
			t.Errorf("the service deletes from %s: %v", table, err)
		}
	}
}

var tables = []string{"reconciliations", "reconciliation_lines", "reconciliation_matches", "reconciliation_matched_lines",
	"reconciliation_matched_entries", "reconciliation_breaks", "reconciliation_resolutions"}

// BenchmarkImport_Week imports a week of 100,000 lines, or RECONCILE_LINES. Generating them is not
// measured.
func BenchmarkImport_Week(b *testing.B) {
	size := 100_000
	if set, err := strconv.Atoi(os.Getenv("RECONCILE_LINES")); err == nil {
		size = set
	}
	env := newEnv(b)
	file, want, _ := env.createWeek(b, size)
	for b.Loop() {
		b.StopTimer()
		deleteReconciliations(b, env)
		runtime.GC()
		b.StartTimer()
		done, err := env.reconciliation.Import(b.Context(), env.importRequest(file.String()), nil)
		if err != nil {
			b.Fatal(err)
		}
		if !maps.Equal(breakCounts(done.Breaks), want) {
			b.Fatalf("breaks %v, want %v", done.Breaks, want)
		}
	}
	b.ReportMetric(float64(b.N*size)/b.Elapsed().Seconds(), "lines/s")
}

// deleteReconciliations deletes all reconciliations, as only the owner of the tables can.
func deleteReconciliations(b *testing.B, env *env) {
	b.Helper()
	for _, table := range tables {
		for _, statement := range []string{"ALTER TABLE %s DISABLE TRIGGER USER", "DELETE FROM %s", "ALTER TABLE %s ENABLE TRIGGER USER"} {
			if err := env.Exec(fmt.Sprintf(statement, table)); err != nil {
				b.Fatal(err)
			}
		}
	}
}
