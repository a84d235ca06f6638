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
	"github.com/jackc/pgx/v5/pgxpool"

	"causeway/adapters/pgembed/pgtest"
	storage "causeway/adapters/postgres/ledgerdb"
	"causeway/app/exports"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
	"causeway/ports/portstest"
)

var update = flag.Bool("update", false, "write the golden files anew")

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

// env is a database with books of one platform.
type env struct {
	t        testing.TB
	pool     *pgxpool.Pool
	ledgerDB *storage.Store
	platform ident.Platform
	clock    *portstest.FakeClock
	lastID   byte
}

// newEnv is a fresh database. The platform and all ids are the same in every run.
func newEnv(t testing.TB) *env {
	t.Helper()
	return &env{t: t, pool: pgtest.Pool(t, pgtest.New(t), 4), ledgerDB: storage.New(), platform: platformID(1), clock: portstest.NewFakeClock(noon.AddDate(1, 0, 0))}
}

func platformID(n byte) (p ident.Platform) {
	ident.SetUUID(&p, uuid.UUID{0x01, 0x99, 6: 0x70, 8: 0x80, 15: n})
	return p
}

func internalAccountID(n byte) (a ident.InternalAccount) {
	ident.SetUUID(&a, uuid.UUID{0x01, 0x99, 6: 0x70, 8: 0x81, 15: n})
	return a
}

func transactionID(n byte) (p ident.Transaction) {
	ident.SetUUID(&p, uuid.UUID{0x01, 0x99, 6: 0x70, 8: 0x82, 15: n})
	return p
}

// header is that of a posting with the next id, for a payment.
func (h *env) header(at time.Time, memo string) ledger.Header {
	h.lastID++
	return ledger.Header{ID: uuid.UUID{0x01, 0x99, 6: 0x70, 8: 0x83, 15: h.lastID}, Platform: h.platform, Transaction: transactionID(h.lastID), Effective: at, Memo: memo}
}

// post records postings at a moment.
func (h *env) post(now time.Time, postings ...ledger.Posting) {
	h.t.Helper()
	ctx := context.Background()
	err := pgx.BeginFunc(ctx, h.pool, func(tx pgx.Tx) error { return h.ledgerDB.Post(ctx, tx, now, postings) })
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *env) newService() *exports.Service {
	return exports.New(exports.Config{Views: storage.NewViews(h.ledgerDB, h.pool), Clock: h.clock})
}

func (h *env) export(r exports.Request) (string, error) {
	h.t.Helper()
	document, err := h.newService().ExportForPlatform(h.platform, r)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = document.Write(context.Background(), &out)
	return out.String(), err
}

func (h *env) mustExport(r exports.Request) string {
	h.t.Helper()
	text, err := h.export(r)
	if err != nil {
		h.t.Fatal(err)
	}
	return text
}

// newSmallEnv are books that a person can read whole: a deposit, a payment abroad and its
// reversal, a yen, a fee that took effect a month earlier, and memos that mean harm.
func newSmallEnv(t testing.TB) *env {
	h := newEnv(t)
	ana := ledger.CustomerAccount(internalAccountID(1))
	h.post(noon, ledger.Deposit(h.header(noon.Add(-time.Second), "Salary; \"March\"\n{x}"), ledger.IncomingFunds{Partner: ledger.Rail("SEPA_INSTANT"), To: ana, Amount: newAmount(150_000, money.EUR)}))
	converted := ledger.Converted(h.header(noon.Add(time.Hour), "=1+1"), ledger.Conversion{From: ana, To: ledger.TransitPayouts, Sent: newAmount(10_050, money.EUR), Fees: 50,
		Received: newAmount(100_000, money.BTC)})
	h.post(noon.Add(time.Hour), converted)
	h.post(noon.AddDate(0, 0, 1), ledger.Reverse(converted, h.header(noon, "").ID, noon.AddDate(0, 0, 1), "[=2020/01/01] key:: 1/0"))
	h.post(noon.AddDate(0, 0, 2), ledger.UnmatchedReceived(h.header(noon.AddDate(0, 0, 2), "]]></Ustrd> & <b>"), ledger.Rail("_X"), newAmount(1, "JPY")),
		ledger.FeePaid(h.header(noon.AddDate(0, -1, 0), "02/2026"), ledger.Rail("SEPA_INSTANT"), newAmount(199, money.EUR)))
	return h
}

func newAmount(minor int64, currency money.Currency) money.Amount {
	return money.Amount{Minor: minor, Currency: currency}
}

// maliciousMemos are memos that some program could take for more than a text.
var maliciousMemos = []string{
	"", "=1+1", "+1", "-1", "@SUM(A1)", "\t=1+1", "a\nb", "a\r\n2026-01-01 open Assets:Evil", "\n2026-01-01 * evil\n    Assets:Evil  1 USD\n    Assets:Rails:ACH\n",
	`say "hi" ; {x} \" \`, "[=2026/01/01]", "[2026-99-99]", ":tag:other:", "key:: (1/0)", "a | b", "comment", "end comment", "~ monthly", "  two  spaces ; and a comment",
	"]]></Ustrd>&amp;<!--", "\u2028line\u2029paragraph", "\u202eright to left", "日本語 Ελληνικά Кириллица", "= ; expr", "(code) * !", "#hash ^link", "%(account)", "\x01\x7f", "＝1+1",
}

// postRandom posts n postings of every sort, in several currencies, over three months.
func (h *env) postRandom(random *rand.Rand, n int) {
	h.t.Helper()
	currencies := []money.Currency{money.USD, money.EUR, money.BTC, money.USDC, "JPY", "KWD"}
	partners := []string{ledger.Rail("ACH"), ledger.Rail("SEPA_INSTANT"), ledger.Rail("_ODD_1"), ledger.Chain("LAYER2")}
	pick := func(c []string) string { return c[random.IntN(len(c))] }
	balances := ledger.Balances{}
	var batch []ledger.Posting
	for i := range n {
		customer := ledger.CustomerAccount(internalAccountID(byte(random.IntN(4))))
		currency := currencies[random.IntN(len(currencies))]
		amount := newAmount(1+random.Int64N(1_000_000), currency)
		header := ledger.Header{ID: uuid.UUID{0x01, 6: 0x70, 8: 0x90, 12: byte(i >> 16), 13: byte(i >> 8), 14: byte(i), 15: 1}, Platform: h.platform,
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
			posting = ledger.Converted(header, ledger.Conversion{From: customer, To: ledger.TransitPayouts, Sent: newAmount(amount.Minor+3, currency), Fees: random.Int64N(2), RoundingSent: random.Int64N(2),
				Received: newAmount(1+random.Int64N(1_000_000), currencies[(random.IntN(len(currencies)-1)+1+currencyIndex(currencies, currency))%len(currencies)])})
		case 4:
			posting = ledger.FeePaid(header, pick(partners), amount)
		default:
			posting = ledger.UnmatchedReceived(header, pick(partners), amount)
		}
		if balances.Apply(posting) != nil {
			continue // there is not enough to spend
		}
		batch = append(batch, posting)
	}
	for len(batch) > 0 {
		size := min(1+random.IntN(20), len(batch))
		h.post(noon.AddDate(0, 3, 0), batch[:size]...)
		batch = batch[size:]
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

// turnovers reads what the books themselves say, by path and currency.
func (h *env) turnovers(asOf time.Time, of ports.LedgerFilter) map[[2]string]ports.AccountTurnover {
	h.t.Helper()
	all := map[[2]string]ports.AccountTurnover{}
	err := storage.NewViews(h.ledgerDB, h.pool).View(context.Background(), h.platform, asOf, func(ctx context.Context, view ports.LedgerView) error {
		return view.Accounts(ctx, of, func(t ports.AccountTurnover) error {
			all[[2]string{t.Account.Path, string(t.Account.Currency)}] = t
			return nil
		})
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return all
}

// findProgram finds a program, or says how to get it: without it the test proves nothing.
func findProgram(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%s is not here; install it with .ci/need %s", name, name)
	}
	return path
}

// runProgram runs a program and returns what it says.
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

// compareGolden compares a text with the file in testdata that says how it must be.
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
		t.Errorf("%s differs; look at it, and if it is right run the test with -update\n--- got\n%s\n--- want\n%s", name, got, want)
	}
}

func newViews(h *env) ports.LedgerViews { return storage.NewViews(h.ledgerDB, h.pool) }
