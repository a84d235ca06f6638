package exports_test

import (
	"bytes"
	"context"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/ledgerdb"
	"causeway/app/exports"
	"causeway/app/exports/statement"
	"causeway/app/internal/apptest"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ledger"
	"causeway/ports"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

// env is the environment of a test, in which postings are recorded at any time.
type env struct {
	*apptest.Env
	t        testing.TB
	ledgerDB *ledgerdb.Store
	platform ident.Platform // whose ledger is exported
	lastID   byte
}

// newEnv is an environment one year after noon. The platform and all ids of postings are the
// same in every run, as in the golden files.
func newEnv(t testing.TB) *env {
	t.Helper()
	e := apptest.New(t, apptest.At(noon.AddDate(1, 0, 0)), apptest.EditPlatform(func(p *platform.Platform) { p.ID = platformID(1) }))
	return &env{Env: e, t: t, ledgerDB: ledgerdb.New(), platform: e.Platform.ID}
}

func platformID(n byte) (p ident.Platform) {
	p.SetUUID(uuid.UUID{0x01, 0x99, 6: 0x70, 8: 0x80, 15: n})
	return p
}

func internalAccountID(n byte) (a ident.InternalAccount) {
	a.SetUUID(uuid.UUID{0x01, 0x99, 6: 0x70, 8: 0x81, 15: n})
	return a
}

func transactionID(n byte) (p ident.Transaction) {
	p.SetUUID(uuid.UUID{0x01, 0x99, 6: 0x70, 8: 0x82, 15: n})
	return p
}

// header is the header of a posting with the next id, which belongs to a transaction.
func (e *env) header(at time.Time, memo string) ledger.Header {
	e.lastID++
	return ledger.Header{ID: uuid.UUID{0x01, 0x99, 6: 0x70, 8: 0x83, 15: e.lastID}, Platform: e.platform, Transaction: transactionID(e.lastID),
		Effective: at, Memo: memo}
}

// post records postings at a time.
func (e *env) post(now time.Time, postings ...ledger.Posting) {
	e.t.Helper()
	ctx := context.Background()
	err := pgx.BeginFunc(ctx, e.Store.Pool(), func(tx pgx.Tx) error { return e.ledgerDB.Post(ctx, tx, now, postings) })
	if err != nil {
		e.t.Fatal(err)
	}
}

func (e *env) newService() *exports.Service {
	return exports.New(exports.Config{Views: e.newViews(), Store: e.Store, Clock: e.Clock,
		Company: statement.Company{Name: "Causeway Payments Ltd", Address: "1 Bridge Street, London"}})
}

func (e *env) export(r exports.Request) (string, error) {
	e.t.Helper()
	document, err := e.newService().Export(e.platform, r)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = document.Write(context.Background(), &out)
	return out.String(), err
}

func (e *env) mustExport(r exports.Request) string {
	e.t.Helper()
	text, err := e.export(r)
	if err != nil {
		e.t.Fatal(err)
	}
	return text
}

// newSmallEnv is an environment with a ledger small enough to read: a deposit, a payment
// abroad and its reversal, one yen, a fee effective a month earlier, and malicious memos.
func newSmallEnv(t testing.TB) *env {
	t.Helper()
	e := newEnv(t)
	ana := ledger.CustomerAccount(internalAccountID(1))
	e.post(noon, ledger.Deposit(e.header(noon.Add(-time.Second), "Salary; \"March\"\n{x}"),
		ledger.IncomingFunds{Partner: ledger.Rail("SEPA_INSTANT"), To: ana, Amount: newAmount(150_000, money.EUR)}))
	converted := ledger.Converted(e.header(noon.Add(time.Hour), "=1+1"), ledger.Conversion{From: ana, To: ledger.TransitPayouts,
		Sent: newAmount(10_050, money.EUR), Fees: 50,
		Received: newAmount(100_000, money.BTC)})
	e.post(noon.Add(time.Hour), converted)
	e.post(noon.AddDate(0, 0, 1), ledger.Reverse(converted, e.header(noon, "").ID, noon.AddDate(0, 0, 1), "[=2020/01/01] key:: 1/0"))
	e.post(noon.AddDate(0, 0, 2), ledger.UnmatchedReceived(e.header(noon.AddDate(0, 0, 2), "]]></Ustrd> & <b>"), ledger.Rail("_X"),
		newAmount(1, "JPY")),
		ledger.FeePaid(e.header(noon.AddDate(0, -1, 0), "02/2026"), ledger.Rail("SEPA_INSTANT"), newAmount(199, money.EUR)))
	return e
}

func newAmount(minor int64, currency money.Currency) money.Amount {
	return money.Amount{Minor: minor, Currency: currency}
}

// maliciousMemos are memos that some program could interpret as more than text.
var maliciousMemos = []string{
	"", "=1+1", "+1", "-1", "@SUM(A1)", "\t=1+1", "a\nb", "a\r\n2026-01-01 open Assets:Evil",
	"\n2026-01-01 * evil\n    Assets:Evil  1 USD\n    Assets:Rails:ACH\n",
	`say "hi" ; {x} \" \`, "[=2026/01/01]", "[2026-99-99]", ":tag:other:", "key:: (1/0)", "a | b", "comment", "end comment", "~ monthly",
	"  two  spaces ; and a comment",
	"]]></Ustrd>&amp;<!--", "\u2028line\u2029paragraph", "\u202eright to left", "日本語 Ελληνικά Кириллица", "= ; expr", "(code) * !",
	"#hash ^link", "%(account)", "\x01\x7f", "＝1+1",
}

// postRandom posts up to n random postings of most kinds in several currencies, effective within
// three months.
func (e *env) postRandom(random *rand.Rand, n int) {
	e.t.Helper()
	currencies := []money.Currency{money.USD, money.EUR, money.BTC, money.USDC, "JPY", "KWD"}
	partners := []string{ledger.Rail("ACH"), ledger.Rail("SEPA_INSTANT"), ledger.Rail("_ODD_1"), ledger.Chain("LAYER2")}
	pick := func(c []string) string { return c[random.IntN(len(c))] }
	balances := ledger.Balances{}
	var batch []ledger.Posting
	for i := range n {
		customer := ledger.CustomerAccount(internalAccountID(byte(random.IntN(4))))
		currency := currencies[random.IntN(len(currencies))]
		amount := newAmount(1+random.Int64N(1_000_000), currency)
		header := ledger.Header{ID: uuid.UUID{0x01, 6: 0x70, 8: 0x90, 12: byte(i >> 16), 13: byte(i >> 8), 14: byte(i), 15: 1},
			Platform:  e.platform,
			Effective: noon.Add(time.Duration(random.Int64N(int64(90 * 24 * time.Hour)))), Memo: maliciousMemos[random.IntN(len(maliciousMemos))]}
		if random.IntN(3) > 0 {
			header.Transaction = transactionID(byte(random.IntN(200)))
		}
		var posting ledger.Posting
		switch random.IntN(6) {
		case 0, 1:
			posting = ledger.Deposit(header, ledger.IncomingFunds{Partner: pick(partners), To: customer, Amount: amount})
		case 2:
			posting = ledger.TransferOut(header, ledger.OutgoingFunds{From: customer, Amount: amount, Fees: random.Int64N(20)})
		case 3:
			posting = ledger.Converted(header, ledger.Conversion{From: customer, To: ledger.TransitPayouts,
				Sent: newAmount(amount.Minor+3, currency), Fees: random.Int64N(2), RoundingSent: random.Int64N(2),
				Received: newAmount(1+random.Int64N(1_000_000),
					currencies[(random.IntN(len(currencies)-1)+1+currencyIndex(currencies, currency))%len(currencies)])})
		case 4:
			posting = ledger.FeePaid(header, pick(partners), amount)
		default:
			posting = ledger.UnmatchedReceived(header, pick(partners), amount)
		}
		if balances.Apply(posting) != nil {
			continue // the balance is too low
		}
		batch = append(batch, posting)
	}
	for len(batch) > 0 {
		size := min(1+random.IntN(20), len(batch))
		e.post(noon.AddDate(0, 3, 0), batch[:size]...)
		batch = batch[size:]
	}
	// As the server does by itself in production: without it the tables are joined row by row.
	if err := e.Exec(`ANALYZE`); err != nil {
		e.t.Fatal(err)
	}
}

func currencyIndex(list []money.Currency, c money.Currency) int {
	for i := range list {
		if list[i] == c {
			return i
		}
	}
	return -1
}

// turnovers reads the turnovers of the ledger by path and currency.
func (e *env) turnovers(asOf time.Time, filter ports.LedgerFilter) map[[2]string]ports.AccountTurnover {
	e.t.Helper()
	all := map[[2]string]ports.AccountTurnover{}
	err := e.newViews().View(context.Background(), e.platform, asOf, func(ctx context.Context, view ports.LedgerView) error {
		return view.Accounts(ctx, filter, func(t ports.AccountTurnover) error {
			all[[2]string{t.Account.Path, string(t.Account.Currency)}] = t
			return nil
		})
	})
	if err != nil {
		e.t.Fatal(err)
	}
	return all
}

// findProgram finds a program, or fails with how to install it.
func findProgram(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%s is not installed; install it with .ci/need %s", name, name)
	}
	return path
}

// runProgram runs a program and returns its output.
func runProgram(t testing.TB, name string, args ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), findProgram(t, name), args...)
	command.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "HOME="+t.TempDir(), "LEDGER_FILE=/dev/null")
	out, err := command.CombinedOutput()
	return string(out), err
}

func writeFile(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// compareGolden compares a text with a golden file in testdata.
func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; if the new text is right, run the test with -update\n--- got\n%s\n--- want\n%s", name, got, want)
	}
}

func (e *env) newViews() ports.LedgerViews {
	return ledgerdb.NewViews(e.ledgerDB, e.Store.Pool())
}
