package reconciliation_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"causeway/app/internal/apptest"
	"causeway/app/reconciliation"
	"causeway/core/fault"
	"causeway/core/reconcile"
	"causeway/ledger"
)

// day returns a day of the week as it is written in camt.053.
func day(n int) string { return monday.AddDate(0, 0, n).Format(time.DateOnly) }

// camtStatement returns a statement in USD of one day with one credit.
func camtStatement(id, number string, n int, opening, credit, closing string) string {
	balance := func(kind, amount string) string {
		return `<Bal><Tp><CdOrPrtry><Cd>` + kind + `</Cd></CdOrPrtry></Tp><Amt Ccy="USD">` + amount +
			`</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>` + day(n) + `</Dt></Dt></Bal>`
	}
	return `<Stmt><Id>` + id + `</Id><Acct><Id><Othr><Id>` + number + `</Id></Othr></Id><Ccy>USD</Ccy></Acct>` + balance("OPBD", opening) +
		balance("CLBD", closing) +
		`<Ntry><Amt Ccy="USD">` + credit + `</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>` + day(n) +
		`</Dt></BookgDt><AcctSvcrRef>` + id + `</AcctSvcrRef></Ntry></Stmt>`
}

func camtRequest(e *env, path string, statements ...string) reconciliation.ImportRequest {
	in := e.importRequest(`<Document><BkToCstmrStmt>` + strings.Join(statements, "") + `</BkToCstmrStmt></Document>`)
	in.Format, in.Layout = "camt053", ""
	if in.Path = path; path == "" {
		in.Currency = ""
	}
	return in
}

func wantInvalid(t *testing.T, err error, field, text string) {
	t.Helper()
	f, ok := fault.As(err)
	if !ok || f.Code != fault.InvalidInput || len(f.Fields) == 0 || f.Fields[0].Field != field ||
		!strings.Contains(f.Fields[0].Message, text) {
		t.Errorf("got %v; want the field %s with %q", err, field, text)
	}
}

func TestImport_SeveralAccountsInFile(t *testing.T) {
	t.Parallel()
	// A file with two accounts becomes one reconciliation for each, all or none. Once their numbers
	// are known, nobody has to name them.
	env := newEnv(t)
	env.Post(env.receivedPosting(0, 500, "A"))
	first := func() reconciliation.ImportRequest {
		return camtRequest(env, "", camtStatement("S1", "111", 0, "0.00", "5.00", "5.00"), camtStatement("S2", "222", 0, "0.00", "7.00", "7.00"))
	}
	_, err := env.reconciliation.Import(t.Context(), first(), nil)
	wantInvalid(t, err, "file", "no ledger account is known for: 111 in USD, 222 in USD")
	in := first()
	in.Accounts = "111=rails/RTP;222=rails/NOPE"
	_, err = env.reconciliation.Import(t.Context(), in, nil)
	wantInvalid(t, err, "account", "rails/NOPE, which does not exist")

	in = first()
	in.Accounts = "222=rails/ACH;111=rails/RTP"
	done, err := env.reconciliation.Import(t.Context(), in, nil)
	if err != nil || len(done.Others) != 1 || done.Account.Path != "rails/ACH" || done.Others[0].Account.Path != "rails/RTP" ||
		done.AlreadyImported {
		t.Fatalf("%+v, %v", done, err)
	}
	if ach, rtp := done.Run, done.Others[0]; ach.MatchedLines != 0 || rtp.MatchedLines != 1 || ach.PartnerAccount != "222" ||
		rtp.PartnerAccount != "111" || *rtp.Closing != 500 {
		t.Errorf("ACH: %+v\nRTP: %+v", ach, rtp)
	}
	again, err := env.reconciliation.Import(t.Context(), first(), nil)
	if err != nil || !again.AlreadyImported || again.ID != done.ID || again.Others[0].ID != done.Others[0].ID {
		t.Errorf("the same file again: %+v, %v", again, err)
	}
	next, err := env.reconciliation.Import(t.Context(), camtRequest(env, "", camtStatement("S3", "222", 1, "7.00", "1.00", "8.00"),
		camtStatement("S4", "111", 1, "5.00", "1.00", "6.00")), nil)
	if err != nil || next.Account.Path != "rails/ACH" || next.Others[0].Account.Path != "rails/RTP" {
		t.Errorf("the next day: %+v, %v", next, err)
	}

	// If one statement is refused, none is imported.
	count := func() (n int) {
		if err := env.Store.Pool().QueryRow(t.Context(), "SELECT count(*) FROM reconciliations").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := count()
	_, err = env.reconciliation.Import(t.Context(), camtRequest(env, "", camtStatement("S5", "222", 2, "8.00", "1.00", "9.00"),
		camtStatement("S6", "111", 2, "9.00", "1.00", "10.00")), nil)
	wantInvalid(t, err, "file", "a statement between them is missing")
	if after := count(); after != before || before != 4 {
		t.Errorf("%d reconciliations, %d before", after, before)
	}

	csv := env.importRequest("Booked,Value,Amount,Id,Reference,Text\n" + day(1) + ",,1,,,\n")
	csv.Path, csv.Currency = "", ""
	_, err = env.reconciliation.Import(t.Context(), csv, nil)
	wantInvalid(t, err, "account", "must be the ledger account of a partner")
}

func TestImport_OwnAccountsOfCompany(t *testing.T) {
	t.Parallel()
	// A file of the company's own bank accounts is compared with own/<NAME> by the number of each. An own account
	// without postings is refused, and corrections of one are never posted against unmatched funds.
	env := newEnv(t)
	header := func(hours int) ledger.Header {
		return ledger.Header{ID: env.IDs.New(now), Platform: env.Platform.ID, Effective: monday.Add(time.Duration(hours) * time.Hour),
			Memo: "TRANSFER 7"}
	}
	env.Post(env.receivedPosting(0, 5_000, "A"), ledger.Sweep(header(11), ledger.Rail("RTP"), ledger.Own("OPERATING"), usd(500)),
		ledger.TreasuryTransfer(header(12), ledger.Own("OPERATING"), ledger.Own("TAXES"), usd(200)))
	file := func(operating, taxes string) reconciliation.ImportRequest {
		return camtRequest(env, "", camtStatement("S1", "DE02120300000000202051", 0, "0.00", operating, operating),
			camtStatement("S2", "DE88500105175419327931", 0, "0.00", taxes, taxes))
	}
	in := file("3.00", "1.50")
	in.Accounts = "DE02120300000000202051=own/OPERATING;DE88500105175419327931=own/TAXSE"
	_, err := env.reconciliation.Import(t.Context(), in, nil)
	wantInvalid(t, err, "account", "own/TAXSE, which does not exist")
	in = file("3.00", "1.50")
	in.Accounts = "DE02120300000000202051=own/OPERATING;DE88500105175419327931=own/TAXES"

	done, err := env.reconciliation.Import(t.Context(), in, nil)

	if err != nil || len(done.Others) != 1 || done.Account.Path != "own/OPERATING" || done.Others[0].Account.Path != "own/TAXES" {
		t.Fatalf("%+v, %v", done, err)
	}
	operating, taxes := done.Run, done.Others[0]
	if operating.Balance.Difference() != 0 || operating.Balance.Ledger != 300 || taxes.Balance.Difference() != -50 ||
		taxes.Balance.OpenBreaks != -50 {
		t.Errorf("OPERATING: %+v\nTAXES: %+v", operating.Balance, taxes.Balance)
	}
	for _, b := range env.breaksByReason(t, taxes.ID) {
		if _, err := env.resolve(t, b.ID, reconcile.ResolveCommand{Note: "?", Offset: reconcile.OffsetUnmatched}); !fault.Is(err,
			fault.InvalidInput) || !strings.Contains(err.Error(), "the company's own money") {
			t.Errorf("against unmatched funds: %v", err)
		}
	}
}

func TestImport_AnotherPartnersAccountIsRefused(t *testing.T) {
	t.Parallel()
	// A statement of another number than the earlier ones is refused until a person names it.
	env := newEnv(t)
	if _, err := env.reconciliation.Import(t.Context(), camtRequest(env, "rails/RTP", camtStatement("S1", "111", 0, "0.00", "5.00", "5.00")),
		nil); err != nil {
		t.Fatal(err)
	}
	other := camtRequest(env, "rails/RTP", camtStatement("S2", "999", 1, "1.00", "5.00", "6.00"))
	_, err := env.reconciliation.Import(t.Context(), other, nil)
	wantInvalid(t, err, "file", "is a statement of the account 999, and the earlier statements of rails/RTP in USD are of 111")
	_, err = env.reconciliation.Import(t.Context(), camtRequest(env, "rails/ACH", camtStatement("S1", "111", 1, "1.00", "5.00", "6.00")), nil)
	wantInvalid(t, err, "file", "whose earlier statements are of rails/RTP, not rails/ACH")

	other = camtRequest(env, "rails/RTP", camtStatement("S2", "999", 1, "1.00", "5.00", "6.00"))
	other.Accounts = "999=rails/RTP"
	if _, err := env.reconciliation.Import(t.Context(), other, nil); err != nil {
		t.Errorf("named: %v", err)
	}
	// Another platform has its own accounts.
	theirs := camtRequest(env, "rails/RTP", camtStatement("S2", "5", 1, "1.00", "5.00", "6.00"))
	theirs.Platform = env.otherPlatform.ID
	if _, err := env.reconciliation.Import(t.Context(), theirs, nil); err != nil {
		t.Errorf("another platform: %v", err)
	}
}

func TestImport_MismatchIsRefusedOrRecorded(t *testing.T) {
	t.Parallel()
	// A missing day, and balances that the lines do not lead to, are refused. A person may say why
	// the file is right, which is kept with what did not fit.
	env := newEnv(t)
	if _, err := env.reconciliation.Import(t.Context(), camtRequest(env, "rails/RTP", camtStatement("S1", "111", 0, "0.00", "5.00", "5.00")),
		nil); err != nil {
		t.Fatal(err)
	}
	const missing = "opens on 2026-03-11 with 9.00 USD, and the statement before it, of 2026-03-09 to 2026-03-09, closed with 5.00 USD: a " +
		"statement between them is missing"
	gap := func() reconciliation.ImportRequest {
		return camtRequest(env, "rails/RTP", camtStatement("S3", "111", 2, "9.00", "1.00", "12.00"))
	}
	_, err := env.reconciliation.Import(t.Context(), gap(), nil)
	wantInvalid(
		t, err, "file", `the lines of the statement "S3" of account "111" add up to 1.00 USD, but its opening balance is 9.00 USD and its closing balance 12.00 USD; if it is right, say why with override`)
	_, err = env.reconciliation.Import(t.Context(), camtRequest(env, "rails/RTP", camtStatement("S3", "111", 2, "9.00", "1.00", "10.00")), nil)
	wantInvalid(t, err, "file", missing)
	for _, reason := range []string{" ", strings.Repeat("x", 501)} {
		in := gap()
		in.Override = reason
		_, err = env.reconciliation.Import(t.Context(), in, nil)
		wantInvalid(t, err, "override", "must say why")
	}

	in := gap()
	in.Override = "Confirmed by the bank"
	done, err := env.reconciliation.Import(t.Context(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	read, err := env.reconciliation.Get(t.Context(), env.Platform.ID, done.ID)
	if err != nil || read.Override != "Confirmed by the bank" || len(read.Mismatches) != 2 || !strings.Contains(read.Mismatches[1], missing) ||
		fmt.Sprint(read.Mismatches) != fmt.Sprint(done.Mismatches) {
		t.Errorf("%+v, %v", read.Run, err)
	}

	// What fits needs no reason, and keeps none.
	fits := camtRequest(env, "rails/RTP", camtStatement("S4", "111", 3, "12.00", "1.00", "13.00"))
	fits.Override = "not needed"
	if done, err = env.reconciliation.Import(t.Context(), fits, nil); err != nil || done.Override != "" || len(done.Mismatches) != 0 {
		t.Errorf("%+v, %v", done.Run, err)
	}
}

func TestImport_StatementsOfOneDayContinue(t *testing.T) {
	t.Parallel()
	// A bank may make several statements of a day, and book lines on days of the statement before:
	// each continues the last one.
	env := newEnv(t)
	backdated := func(id string, n int, opening, closing string) string {
		return strings.Replace(camtStatement(id, "111", n, opening, "1.00", closing), `<BookgDt><Dt>`+day(n), `<BookgDt><Dt>`+day(n-1), 1)
	}
	for _, stmt := range []string{
		camtStatement("S1", "111", 0, "0.00", "5.00", "5.00"),
		camtStatement("S2", "111", 1, "5.00", "1.00", "6.00"),
		camtStatement("S3", "111", 1, "6.00", "1.00", "7.00"),
		backdated("S4", 2, "7.00", "8.00"),
		backdated("S5", 3, "8.00", "9.00"),
	} {
		env.Clock.Advance(time.Minute)
		if _, err := env.reconciliation.Import(t.Context(), camtRequest(env, "rails/RTP", stmt), nil); err != nil {
			t.Fatal(err)
		}
	}
	_, err := env.reconciliation.Import(t.Context(), camtRequest(env, "rails/RTP", camtStatement("S6", "111", 3, "20.00", "1.00", "21.00")),
		nil)
	wantInvalid(t, err, "file", "opens on 2026-03-12 with 20.00 USD, and the statement before it, of 2026-03-10 to 2026-03-11, closed with "+
		"8.00 USD")
}

func TestImport_SeveralAccountsInCSV(t *testing.T) {
	t.Parallel()
	// A CSV file whose lines say their account becomes one reconciliation for each, in the currency that
	// the request or a column says; the request must say one of them.
	env := newEnv(t)
	env.Post(env.receivedPosting(0, 500, "REFERENCE1"))
	request := func(layout, currency string) reconciliation.ImportRequest {
		in := env.importRequest("D,K,A,R,C\n" + day(0) + ",111,5,REFERENCE1,USD\n" + day(0) + ",222,7,,USD\n")
		in.Path, in.Currency, in.Layout, in.Accounts = "", currency, layout, "111=rails/RTP;222=rails/ACH"
		return in
	}
	const layout = "date=D;account=K;amount=A;reference=R"
	_, err := env.reconciliation.Import(t.Context(), request(layout, ""), nil)
	wantInvalid(t, err, "currency", "must be a currency code")
	_, err = env.reconciliation.Import(t.Context(), request("date=D;amount=A", "USD"), nil)
	wantInvalid(t, err, "account", "must be the ledger account of a partner")
	_, err = env.reconciliation.Import(t.Context(), request(layout+";currency=C", "EUR"), nil)
	wantInvalid(t, err, "file", `line 2, column 5 (C): is in "USD", and the request says EUR`)

	done, err := env.reconciliation.Import(t.Context(), request(layout+";currency=C", ""), nil)
	if err != nil {
		t.Fatal(err)
	}
	if done.Account.Path != "rails/ACH" || len(done.Others) != 1 || done.Others[0].Account.Path != "rails/RTP" ||
		done.Others[0].PartnerAccount != "111" || done.Others[0].MatchedLines != 1 {
		t.Errorf("%+v and %+v", done.Run, done.Others)
	}
	in := request(layout, "USD")
	in.Accounts = "" // the numbers are known
	if again, err := env.reconciliation.Import(t.Context(), in, nil); err != nil || again.KnownLines != 1 || len(again.Others) != 1 {
		t.Errorf("%+v, %v", again, err)
	}
}

// retriedStore runs each unit of work again, as after a deadlock.
type retriedStore struct{ reconciliation.Store }

func (s retriedStore) DoUnit(ctx context.Context, fn func(ctx context.Context, unit any) error) error {
	deadlock := errors.New("deadlock")
	if err := s.Store.DoUnit(ctx, func(ctx context.Context, tx any) error {
		return errors.Join(fn(ctx, tx),
			deadlock)
	}); !errors.Is(err,
		deadlock) {
		return err
	}
	return s.Store.DoUnit(ctx, fn)
}

func TestImport_UnitOfWorkThatRunsAgainIsRefused(t *testing.T) {
	t.Parallel()
	// The lines of a file are given to the comparison, so a unit of work that runs again has none. It imports
	// nothing and asks for a repetition, which imports everything.
	env := newEnv(t)
	env.Post(env.receivedPosting(0, 500, "A"))
	broken := reconciliation.New(reconciliation.Config{
		Store: retriedStore{env.Store}, Runs: env.Store, Ledger: env.Store.LedgerReader(),
		Accounts: env.Store.Finance(),
		Clock:    env.Clock, IDs: env.IDs})
	request := func() reconciliation.ImportRequest {
		return camtRequest(env, "rails/RTP", camtStatement("S1", "111", 0, "0.00", "5.00", "5.00"))
	}

	_, err := broken.Import(t.Context(), request(), nil)

	apptest.WantFault(t, "run again", err, fault.ServiceUnavailable)
	done, err := env.reconciliation.Import(t.Context(), request(), nil)
	if err != nil || done.AlreadyImported || done.MatchedLines != 1 {
		t.Errorf("repeated: %+v, %v", done, err)
	}
}
