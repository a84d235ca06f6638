package faults

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/rails/bankfile/banktest"
	"causeway/core/bankorder"
	"causeway/e2e/kit"
)

const bankIBAN = "DE89370400440532013000"

// bankSystem has a bank, and a disk that a courier carries files over: from the bank to the service and back.
type bankSystem struct {
	*railSystem
	bank *banktest.Bank
	disk string // has the folders of the bank and those of the service
	seen map[string]bool
	want map[string][]string // the reason and the places of what is kept aside, by content
	n    int
}

// newBankSystem prepares the disk with prepare, if it is given.
func newBankSystem(t *testing.T, prepare func(t *testing.T, dir string)) *bankSystem {
	t.Helper()
	disk := filepath.Join(t.TempDir(), "disk")
	for _, dir := range []string{disk, filepath.Join(disk, "service")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if dir == disk && prepare != nil {
			prepare(t, disk)
		}
	}
	b := &bankSystem{disk: disk, seen: map[string]bool{}, want: map[string][]string{}}
	for _, side := range []string{"service", "bank"} { // the service has folders of the same names
		bank, err := banktest.New(filepath.Join(disk, side), bankIBAN, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		b.bank = bank
	}
	settings := kit.Object{"folder": filepath.Join(disk, "service"), "accountHolder": "Example Client Money", "iban": bankIBAN,
		"bic":      "COBADEFFXXX",
		"bankName": "Example Bank", "cutEvery": "0s", "stableFor": "0s"}
	payee := kit.Object{"accountType": "EUR_ACCOUNT", "iban": "FR1420041010050500013M02606",
		"beneficiary": kit.Object{"beneficiaryType": "INDIVIDUAL", "fullName": "Ana Silva", "countryOfResidence": "FR"}}
	b.railSystem = newRailSystem(t, "bank-eur", "EUR",
		kit.Object{"adapter": "BANK_FILE", "rails": []string{"SEPA"}, "currencies": []string{"EUR"}, "settings": settings}, payee)
	return b
}

func (b *bankSystem) names(parts ...string) []string {
	b.t.Helper()
	entries, err := os.ReadDir(filepath.Join(append([]string{b.disk}, parts...)...))
	b.must(err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// carry carries files between the bank and the service. A file of the service has all of its content from when it has its name.
func (b *bankSystem) carry() {
	b.t.Helper()
	for _, name := range b.names("service", banktest.Outgoing) {
		if strings.HasSuffix(name, ".tmp") {
			continue
		}
		path := filepath.Join(b.disk, "service", banktest.Outgoing, name)
		content, err := os.ReadFile(path)
		b.must(err)
		if b.seen[name] || !isWhole(content) {
			b.t.Errorf("file %s came twice, or is not whole: %q", name, content)
		}
		b.seen[name] = true
		b.must(os.Rename(path, filepath.Join(b.disk, "bank", banktest.Outgoing, name)))
	}
	for _, name := range b.names("bank", banktest.Incoming) {
		b.must(os.Rename(filepath.Join(b.disk, "bank", banktest.Incoming, name), filepath.Join(b.disk, "service", banktest.Incoming, name)))
	}
}

func isWhole(content []byte) bool {
	decoder := xml.NewDecoder(strings.NewReader(string(content)))
	for n := 0; ; n++ {
		if _, err := decoder.Token(); err != nil {
			return errors.Is(err, io.EOF) && n > 0
		}
	}
}

// pay creates quotes and has the bank receive the money for each.
func (b *bankSystem) pay(n int) (transactions []string) {
	b.t.Helper()
	for range n {
		b.n++
		transaction, cents, reference := b.quote(10_00 + int64(b.n))
		b.must(b.bank.Book(banktest.Movement{Reference: "IN-" + reference, Credit: true, Cents: cents,
			Name: "Max\tPayer", IBAN: "ES9121000418450200051332", Text: reference}))
		transactions = append(transactions, transaction)
		b.maybeBad()
	}
	return transactions
}

// awaitOrders waits until the bank has an order of a kind for each transaction.
func (b *bankSystem) awaitOrders(kind bankorder.Kind, transactions ...string) (orders []banktest.Order) {
	b.t.Helper()
	b.eventually(func() string {
		return fmt.Sprintf("%d orders, of which the bank has %d", len(transactions), len(orders))
	}, func() bool {
		b.carry()
		_, err := b.bank.Take()
		b.must(err)
		orders = orders[:0]
		for _, id := range transactions {
			name := bankorder.EndToEndIDOf(kind, uuid.MustParse(id[strings.Index(id, ":")+1:]))
			for _, o := range b.bank.Orders() {
				if o.EndToEndID == name {
					orders = append(orders, o)
				}
			}
		}
		return len(orders) >= len(transactions)
	})
	if len(orders) > len(transactions) {
		b.t.Fatalf("the bank has %d orders for %d transactions", len(orders), len(transactions))
	}
	return orders
}

func (b *bankSystem) report(o banktest.Order, code, reason string) {
	b.t.Helper()
	b.must(b.bank.Report(o.MessageID, banktest.Status{EndToEndID: o.EndToEndID, Code: code, Reason: reason}))
	b.maybeBad()
}

// settle has the bank make an order.
func (b *bankSystem) settle(o banktest.Order) {
	b.t.Helper()
	b.must(b.bank.Book(banktest.Movement{Reference: "OUT-" + o.EndToEndID, Cents: o.Cents, EndToEndID: o.EndToEndID}))
	b.report(o, "ACSC", "")
}

// await waits for a value of each transaction, while files are carried.
func (b *bankSystem) await(path, want string, transactions ...string) {
	b.t.Helper()
	b.carry()
	for _, id := range transactions {
		b.awaitTransaction(id, path, want)
	}
}

// conclude has the bank settle, reject or return orders at random, until each transaction is final.
func (b *bankSystem) conclude(transactions []string) {
	b.t.Helper()
	var settled, returned, refunded []string
	var returns []banktest.Order
	for i, o := range b.awaitOrders(bankorder.Payout, transactions...) {
		switch id := transactions[i]; b.rand.IntN(4) {
		case 0:
			b.report(o, "RJCT", "AC04")
			refunded = append(refunded, id)
		case 1:
			b.settle(o)
			returns, returned, refunded = append(returns, o), append(returned, id), append(refunded, id)
		default:
			b.settle(o)
			settled = append(settled, id)
		}
	}
	b.await("status", "COMPLETED", append(settled, returned...)...)
	for _, o := range returns {
		b.must(b.bank.Book(banktest.Movement{Reference: "RET-" + o.EndToEndID, Credit: true, Cents: o.Cents,
			EndToEndID: o.EndToEndID, ReturnCode: "AC04"}))
		b.maybeBad()
	}
	b.await("status", "FAILED", refunded...)
	for _, o := range b.awaitOrders(bankorder.Refund, refunded...) {
		b.settle(o)
	}
	b.await("refund.status", "COMPLETED", refunded...)
	b.must(b.bank.State())
	b.carry()
	b.awaitProof(fmt.Sprintf("%d.%02d", b.bank.Balance()/100, b.bank.Balance()%100))
}

// badFiles are contents of which nothing can be used, and the reasons that are given.
var badFiles = []struct {
	reason  string
	content func(b *bankSystem) string
}{
	{"not valid XML", func(b *bankSystem) string {
		content := []byte("\x89PNG\r\n\x1a\n")
		for range 100 + b.rand.IntN(5000) {
			content = append(content, byte(b.rand.Uint32()))
		}
		return string(content)
	}},
	{"truncated", func(b *bankSystem) string {
		entry := fmt.Sprintf(`<Ntry><Amt Ccy="EUR">1.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><AcctSvcrRef>T%d</AcctSvcrRef></Ntry>`,
			b.rand.Uint64())
		content := `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.054.001.08"><BkToCstmrDbtCdtNtfctn><Ntfctn><Acct><Id><IBAN>` + bankIBAN +
			`</IBAN></Id></Acct>` + strings.Repeat(entry, 10)
		return content[:len(content)-b.rand.IntN(1000)]
	}},
	{"the file is empty", func(*bankSystem) string { return "" }},
	{"a text or tag has more than", func(b *bankSystem) string {
		return fmt.Sprintf("<Document><Text>%d %s</Text></Document>", b.rand.Uint64(), strings.Repeat("x", 1<<20))
	}},
	{"no message of ISO 20022", func(*bankSystem) string { return "<html><body>Service unavailable</body></html>" }},
	{"camt.052, which is not read", func(*bankSystem) string {
		return `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.052.001.08"><BkToCstmrAcctRpt></BkToCstmrAcctRpt></Document>`
	}},
}

// maybeBad puts some files down, or none, beside those of the bank: bad ones, one again under another name, or one that is removed at once.
func (b *bankSystem) maybeBad() {
	b.t.Helper()
	for range b.rand.IntN(3) {
		b.n++
		name := fmt.Sprintf("%06d.%s", b.rand.IntN(100), []string{"xml", "txt", "dat"}[b.rand.IntN(3)]) + fmt.Sprint(b.n)
		path := filepath.Join(b.disk, "bank", name)
		archived := b.names("service", banktest.Archive)
		switch kind := b.rand.IntN(len(badFiles) + 2); {
		case kind < len(badFiles):
			content := badFiles[kind].content(b)
			b.must(os.WriteFile(path, []byte(content), 0o644))
			if b.want[content] == nil {
				b.want[content] = []string{badFiles[kind].reason}
			}
			b.want[content] = append(b.want[content], banktest.Incoming+"/"+name)
		case len(archived) == 0:
			continue
		default: // one that was read, again, which may be removed at once
			content, err := os.ReadFile(filepath.Join(b.disk, "service", banktest.Archive, archived[b.rand.IntN(len(archived))]))
			b.must(err)
			b.must(os.WriteFile(path, content, 0o644))
			if kind > len(badFiles) {
				in := filepath.Join(b.disk, "service", banktest.Incoming, name)
				b.must(os.Rename(path, in))
				_ = os.Remove(in) // it may have been read already
				continue
			}
		}
		b.must(os.Rename(path, filepath.Join(b.disk, "bank", banktest.Incoming, name)))
	}
}

// checkFiles checks that each bad file was kept aside once, with its place and reason, and that all others were read.
func (b *bankSystem) checkFiles() {
	b.t.Helper()
	b.carry()
	var left []string
	b.eventually(func() string { return fmt.Sprintf("%d files are kept aside: %v", len(b.want), b.aside()) }, func() bool {
		left = b.names("service", banktest.Incoming)
		return len(b.aside()) >= len(b.want)
	})
	aside, places := b.aside(), 0
	if len(aside) != len(b.want) {
		b.t.Errorf("kept aside %v, want %d", aside, len(b.want))
	}
	for content, want := range b.want {
		places += len(want) - 1
		found := 0
		for _, i := range aside {
			if slices.Contains(want[1:], i.place) && strings.Contains(i.problem, want[0]) && i.kind == "FILE" {
				found++
			}
		}
		if found != 1 {
			b.t.Errorf("%.40q at %v was kept aside %d times: %v", content, want, found, aside)
		}
	}
	b.eventually(func() string { return fmt.Sprintf("%d files are left: %v", places, left) }, func() bool {
		left = b.names("service", banktest.Incoming)
		return len(left) == places
	})
	if left := b.names("service", banktest.Outgoing); len(left) > 0 {
		b.t.Errorf("left to be sent: %v", left)
	}
	if n := b.queryInt("SELECT count(*) FROM rail_statements WHERE reconciled_at IS NULL"); n > 0 {
		b.t.Errorf("%d statements wait", n)
	}
	b.checkPostings()
}

func TestFaults_BankFilesOfAnyKind(t *testing.T) {
	t.Parallel()
	// Between the files of a bank are others of any kind, in any order. Every payment is received, made, returned and refunded once,
	// each file that cannot be used is kept aside once, and the ledger has what the bank holds.
	rounds := faultRounds(t) / 2
	b := newBankSystem(t, nil)
	for range rounds {
		b.conclude(b.pay(4 + b.rand.IntN(12)))
	}
	b.checkFiles()
	t.Logf("%d rounds, %d files that cannot be used, %d orders", rounds, len(b.want), len(b.bank.Orders()))
}

// mountBankDisk makes a small file system for the files of a bank.
func mountBankDisk(t *testing.T, dir string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64m,mode=755"); err != nil {
		t.Skipf("this user cannot mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	})
}

func TestFaults_BankDiskIsFull(t *testing.T) {
	t.Parallel()
	// The disk with the folders of a bank is full for a while. What the bank has put down is read and archived, no file with its final
	// name is half, the log names the folder and the disk and not the database, and every order leaves in one file when there is room.
	rounds := faultRounds(t) / 2
	b := newBankSystem(t, mountBankDisk)
	var longest time.Duration
	for range rounds {
		transactions := b.pay(3)
		ballast := filepath.Join(b.disk, "ballast")
		b.must(fill(ballast))
		before := strings.Count(b.processes[0].running.Output(), noSpace)
		b.carry()
		b.eventually(func() string { return "the log says that the disk is full" }, func() bool {
			b.carry()
			return strings.Count(b.processes[0].running.Output(), noSpace) > before
		})
		b.sleep(time.Duration(b.rand.IntN(15_000)) * time.Millisecond)
		b.carry()
		if problem := b.problem(); !strings.Contains(problem, "out/") || !strings.Contains(problem, noSpace) {
			t.Errorf("the problem of the feed is %q", problem)
		}
		b.must(os.Remove(ballast))
		freed := time.Now()
		b.awaitOrders(bankorder.Payout, transactions...)
		longest = max(longest, time.Since(freed))
		b.conclude(transactions)
	}
	b.checkFiles()
	t.Logf("orders left within %s", longest)
}

// noSpace is the error of a full disk.
const noSpace = "no space left on device"

// problem returns what does not work of the connection.
func (b *bankSystem) problem() (text string) {
	b.t.Helper()
	b.must(b.db.QueryRowContext(waitContext(b.t), "SELECT last_error FROM rail_feeds WHERE connection = $1", b.connection).Scan(&text))
	return text
}
