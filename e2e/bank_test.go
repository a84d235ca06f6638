package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/rails/bankfile/banktest"
	"causeway/core/bankorder"
	"causeway/e2e/kit"
)

const bankIBAN = "DE89370400440532013000"

// bankEnv is a production platform whose payments go to a bank in files.
type bankEnv struct {
	*testEnv
	bank     *banktest.Bank
	login    string
	flags    []string
	customer string
	account  string // of the customer, at another bank
}

func newBankEnv(t *testing.T) *bankEnv {
	t.Helper()
	e := &bankEnv{testEnv: newDatabaseEnv(t)}
	folder := t.TempDir()
	var err error
	if e.bank, err = banktest.New(filepath.Join(folder, "bank"), bankIBAN, time.Now); err != nil {
		t.Fatal(err)
	}
	if e.login, err = kit.CreateServiceLogin(waitContext(t), e.databaseURL); err != nil {
		t.Fatal(err)
	}
	address, err := kit.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	e.flags = []string{"--listen", address, "--public-url", "http://" + address, "--admin-listen", "127.0.0.1:0"}
	connection, err := json.Marshal(object{"adapter": "BANK_FILE", "rails": []string{"SEPA"}, "currencies": []string{"EUR"},
		"settings": object{
			"folder": filepath.Join(folder, "bank"), "accountHolder": "Example Client Money", "iban": bankIBAN, "bic": "COBADEFFXXX",
			"bankName": "Example Bank",
			"cutEvery": "0s", "stableFor": "0s"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "bank.json"), connection, 0o600); err != nil {
		t.Fatal(err)
	}
	e.operator("rails", "set", "bank-eur", filepath.Join(folder, "bank.json"), "--note", "Account at a bank", "--actor", "ana")
	if out := e.operator("rails", "test", "bank-eur"); !strings.Contains(out, `"in" can be listed`) {
		t.Errorf("the test of the connection printed %s", out)
	}
	e.server = startServerAs(t, e.login, e.flags...)
	e.tenant = e.createPlatform("Live", "PRODUCTION", "--regulated")
	e.support("EUR")
	e.customer = e.createCustomer()
	e.account = e.post("/customers/external-accounts",
		kit.AccountBody(e.customer, "EUR", object{"accountType": "EUR_ACCOUNT", "iban": "FR1420041010050500013M02606",
			"beneficiary": testBeneficiary})).wantStatus(201).text("id")
	return e
}

// operator runs a command of the operator.
func (e *bankEnv) operator(args ...string) string {
	e.t.Helper()
	return mustRunCommand(e.t, e.operatorEnv(), args...)
}

func (e *bankEnv) operatorEnv() []string {
	return []string{"DATABASE_URL=" + e.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey}
}

// restart kills the service and starts it again. The leases of the killed process end at once instead of
// within two minutes.
func (e *bankEnv) restart() {
	e.t.Helper()
	e.server.kill()
	e.exec(`UPDATE bank_connections SET leased_until = now()`)
	e.exec(`UPDATE rail_feeds SET leased_until = now()`)
	e.server = startServerAs(e.t, e.login, e.flags...)
}

// pay creates a quote that pays an exact amount to the account, and has the bank receive the money for it. It returns the transaction.
func (e *bankEnv) pay(cents int64) string {
	e.t.Helper()
	quote := e.post("/quotes", object{"source": object{"customerId": e.customer, "currency": "EUR"},
		"destination":        object{"destinationType": "ACCOUNT", "accountId": e.account},
		"lockedCurrencySide": "RECEIVING", "lockedCurrencyAmount": cents, "remittanceInformation": remittanceOf(cents)}).wantStatus(201)
	e.do(e.bank.Book(banktest.Movement{Reference: "IN-" + paymentReference(quote), Credit: true, Cents: quote.int("totalSendingAmount"),
		Name: "Max Payer", IBAN: "ES9121000418450200051332", Text: paymentReference(quote), EndToEndID: "E2E-" + paymentReference(quote)}))
	return quote.text("transactionId")
}

// remittanceOf is what the beneficiary of a payment reads.
func remittanceOf(cents int64) string { return fmt.Sprintf("Invoice of %d cents", cents) }

func (e *bankEnv) do(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
}

// awaitOrders waits until the bank has an order of each kind for each transaction.
func (e *bankEnv) awaitOrders(kind bankorder.Kind, transactions ...string) []banktest.Order {
	e.t.Helper()
	found := make([]banktest.Order, len(transactions))
	eventually(e.t, "the bank has the orders", func() bool {
		_, err := e.bank.Take()
		e.do(err)
		orders := e.bank.Orders()
		for i, id := range transactions {
			name := bankorder.EndToEndIDOf(kind, uuid.MustParse(uuidOf(id)))
			at := slices.IndexFunc(orders, func(o banktest.Order) bool { return o.EndToEndID == name })
			if at < 0 {
				return false
			}
			found[i] = orders[at]
		}
		return true
	})
	return found
}

// settle has the bank make an order: it accepts it, books it, and says that it is settled.
func (e *bankEnv) settle(o banktest.Order) {
	e.t.Helper()
	e.do(e.bank.Report(o.MessageID, banktest.Status{EndToEndID: o.EndToEndID, Code: "ACTC"}))
	e.do(e.bank.Book(banktest.Movement{Reference: "OUT-" + o.EndToEndID, Cents: o.Cents, EndToEndID: o.EndToEndID}))
	e.do(e.bank.Report(o.MessageID, banktest.Status{EndToEndID: o.EndToEndID, Code: "ACSC"}))
}

// awaitTransaction waits until a transaction has a value.
func (e *bankEnv) awaitTransaction(id, path, want string) {
	e.t.Helper()
	eventually(e.t, path+" of the transaction is "+want, func() bool {
		return e.get("/transactions/"+id).wantStatus(200).value(path) == want
	})
}

// awaitProof waits until the ledger has what the bank says.
func (e *bankEnv) awaitProof() {
	e.t.Helper()
	e.do(e.bank.State())
	want := fmt.Sprintf("%d.%02d", e.bank.Balance()/100, e.bank.Balance()%100)
	eventually(e.t, "the ledger has what the bank holds", func() bool {
		out, _, status := runCommand(e.t, e.operatorEnv(), "rails", "prove")
		return status == 0 && strings.Contains(out, "bank-eur") && strings.Contains(out, want)
	})
}

func TestBank_MoneyComesInAndGoesOut(t *testing.T) {
	t.Parallel()
	// A quote is paid by money that a camt.054 names, and its payout is an order in a pain.001 that a pain.002 settles. A
	// payout that comes back in a later camt.054 is refunded to the account that the money came from. One that the bank
	// rejects is refunded too. Both have the code of the bank. The closing balance of the camt.053 is what the ledger says.
	// The beneficiary reads the text of the platform, and the transaction names the payer.
	e := newBankEnv(t)
	paid, returned, rejected := e.pay(50_00), e.pay(60_00), e.pay(70_00)
	orders := e.awaitOrders(bankorder.Payout, paid, returned, rejected)
	if o := orders[0]; o.Cents != 50_00 || o.IBAN != "FR1420041010050500013M02606" || o.Text != remittanceOf(50_00) {
		t.Errorf("the bank was given %+v", o)
	}
	known := e.get("/transactions/" + paid).wantStatus(200).wantValues(map[string]any{
		"source.accountHolderName": "Max Payer", "source.accountIdentifier": "****1332", "source.paymentRail": "SEPA", "paymentRail": "SEPA",
		"railSelectionMode": "AUTO", "remittanceInformation": remittanceOf(50_00)})
	if reference := known.text("source.remittanceInformation"); known.text("source.endToEndId") != "E2E-"+reference {
		t.Errorf("the source is %s", known.body)
	}
	e.settle(orders[0])
	e.settle(orders[1])
	e.do(e.bank.Report(orders[2].MessageID, banktest.Status{EndToEndID: orders[2].EndToEndID, Code: "RJCT", Reason: "AC04"}))
	e.awaitTransaction(paid, "status", "COMPLETED")
	e.awaitTransaction(returned, "status", "COMPLETED")
	e.awaitTransaction(rejected, "status", "FAILED")

	e.do(e.bank.Book(banktest.Movement{Reference: "RET-1", Credit: true, Cents: 60_00, EndToEndID: orders[1].EndToEndID, ReturnCode: "AC04"}))
	e.awaitTransaction(returned, "status", "FAILED")
	for _, refund := range e.awaitOrders(bankorder.Refund, returned, rejected) {
		if refund.IBAN != "ES9121000418450200051332" || refund.Name != "Max Payer" {
			t.Errorf("the refund is %+v", refund)
		}
		e.settle(refund)
	}
	for _, failed := range []string{returned, rejected} {
		e.awaitTransaction(failed, "refund.status", "COMPLETED")
		e.awaitTransaction(failed, "partnerCode", "AC04")
	}
	e.awaitProof()
}

func TestBank_ServiceIsKilled(t *testing.T) {
	t.Parallel()
	// The service is killed while files of the bank wait, while the bank has the orders, and after the bank has answered.
	// Every payment comes in once and goes out once, and its answer is found.
	e := newBankEnv(t)
	var transactions []string
	for cents := range int64(4) {
		transactions = append(transactions, e.pay(30_00+cents))
	}
	e.restart()
	orders := e.awaitOrders(bankorder.Payout, transactions...)
	e.settle(orders[0])
	e.restart()
	for _, o := range orders[1:] {
		e.settle(o)
	}
	e.restart()
	for _, id := range transactions {
		e.awaitTransaction(id, "status", "COMPLETED")
	}
	e.awaitProof()
	if _, err := e.bank.Take(); err != nil || len(e.bank.Orders()) != len(transactions) {
		t.Errorf("the bank has %d orders, want %d: %v", len(e.bank.Orders()), len(transactions), err)
	}
	if n := e.queryInt(`SELECT count(*) FROM receipts`); n != int64(len(transactions)) {
		t.Errorf("%d receipts, want %d", n, len(transactions))
	}
}
