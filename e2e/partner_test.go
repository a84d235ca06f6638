package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"causeway/core/signedmessage"
	"causeway/e2e/kit"
)

const partnerSecret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

// partnerEnv is a production platform whose payments go over the sidecar in Python.
type partnerEnv struct {
	*testEnv
	login, folder  string
	flags          []string // of the service, which is always at the same address
	address        string   // of the sidecar
	callback       string
	sidecar        *kit.Process
	customer, bank string // a customer with a bank account
}

func newPartnerEnv(t *testing.T, options ...string) *partnerEnv {
	t.Helper()
	e := &partnerEnv{testEnv: newDatabaseEnv(t), folder: t.TempDir()}
	service, err := kit.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	if e.address, err = kit.FreeAddress(); err != nil {
		t.Fatal(err)
	}
	if e.login, err = kit.CreateServiceLogin(waitContext(t), e.databaseURL); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"secret": partnerSecret, "connection.json": `{
		"adapter": "PARTNER", "rails": ["RTP", "FEDNOW", "ACH", "WIRE"], "currencies": ["USD"], "settings": {
			"url": "http://` + e.address + `", "secret": "file:` + filepath.Join(e.folder, "secret") + `", "poll": "1s", "timeout": "5s",
			"accountHolder": "Example Client Money", "receive.USD": "{\"accountType\":\"US_ACCOUNT\",\"accountNumber\":\"4210000017\",\"routingNumber\":\"021000021\"}"}}`} {
		if err := os.WriteFile(filepath.Join(e.folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e.flags = append([]string{"--listen", service, "--public-url", "http://" + service, "--admin-listen", "127.0.0.1:0"}, options...)
	e.callback = "http://" + service + "/rails/partner/partner-usd/events"
	e.startSidecar()
	e.operator("rails", "set", "partner-usd", filepath.Join(e.folder, "connection.json"), "--note", "Account at a bank", "--actor", "ana")
	if out := e.operator("rails", "test", "partner-usd"); !strings.Contains(out, "Simulated Bank") {
		t.Errorf("the test of the connection printed %s", out)
	}
	e.server = startServerAs(t, e.login, e.flags...)
	e.tenant = e.createPlatform("Live", "PRODUCTION", "--regulated")
	e.customer = e.createCustomer()
	e.bank = e.createBankAccount(e.customer)
	return e
}

// operator runs a command of the operator.
func (e *partnerEnv) operator(args ...string) string {
	e.t.Helper()
	return mustRunCommand(e.t, e.operatorEnv(), args...)
}

func (e *partnerEnv) operatorEnv() []string {
	return []string{"DATABASE_URL=" + e.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey}
}

// awaitProof waits until the ledger has what the bank holds.
func (e *partnerEnv) awaitProof() {
	e.t.Helper()
	e.simulate(object{"reportsBalances": true})
	eventually(e.t, "the ledger has what the bank holds", func() bool {
		out, _, status := runCommand(e.t, e.operatorEnv(), "rails", "prove")
		return status == 0 && strings.Contains(out, "partner-usd")
	})
}

func (e *partnerEnv) startSidecar() {
	e.t.Helper()
	script, err := filepath.Abs("partner/sidecar.py")
	if err != nil {
		e.t.Fatal(err)
	}
	if _, err := exec.LookPath("python3"); err != nil {
		e.t.Fatal("python3 is not installed; install it with make needs-python")
	}
	e.sidecar, err = kit.Start(kit.Command{Program: "python3", Dir: e.folder, Args: []string{"-B", script, "--listen", e.address, "--state",
		filepath.Join(e.folder, "sidecar.db"),
		"--secret-file", filepath.Join(e.folder, "secret"), "--callback", e.callback, "--simulate"}})
	if err != nil {
		e.t.Fatal(err)
	}
	sidecar := e.sidecar
	e.t.Cleanup(func() { sidecar.Kill() })
	if _, err := sidecar.AwaitLine(waitContext(e.t), func(line string) bool { return strings.HasPrefix(line, "listening on") }); err != nil {
		e.t.Fatal(err)
	}
}

// simulate lets something happen at the bank.
func (e *partnerEnv) simulate(what object) {
	e.t.Helper()
	body, err := json.Marshal(what)
	if err != nil {
		e.t.Fatal(err)
	}
	secrets, err := signedmessage.Parse(partnerSecret)
	if err != nil {
		e.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+e.address+"/simulate", bytes.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	h := secrets.Sign("msg_"+strconv.FormatInt(kit.SerialNumber(), 10), time.Now(), body)
	request.Header.Set(signedmessage.IDHeader, h.ID)
	request.Header.Set(signedmessage.TimestampHeader, h.Timestamp)
	request.Header.Set(signedmessage.SignatureHeader, h.Signature)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		e.t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		e.t.Fatalf("the bank answered %d", response.StatusCode)
	}
}

// quoteDollars returns a quote that pays an exact amount to the bank account.
func (e *partnerEnv) quoteDollars(received int64) apiResponse {
	e.t.Helper()
	return e.post("/quotes", object{"source": object{"customerId": e.customer, "currency": "USD"},
		"destination":        object{"destinationType": "ACCOUNT", "accountId": e.bank},
		"lockedCurrencySide": "RECEIVING", "lockedCurrencyAmount": received}).wantStatus(201)
}

// pay has the bank receive the money of a quote.
func (e *partnerEnv) pay(quote apiResponse) {
	e.t.Helper()
	e.simulate(object{"rail": "RTP", "reference": paymentReference(quote),
		"amount": object{"minor": strconv.Itoa(int(quote.int("totalSendingAmount"))), "currency": "USD", "decimals": 2}})
}

// bankPayouts returns how many payouts the bank has taken.
func (e *partnerEnv) bankPayouts() int {
	e.t.Helper()
	result, err := kit.Run(waitContext(e.t), kit.Command{Program: "python3", Dir: e.folder, Args: []string{"-c",
		`import sqlite3; print(sqlite3.connect("sidecar.db").execute("SELECT count(*) FROM payments WHERE payment LIKE '%PAYOUT%'").fetchone()[0])`}})
	if err != nil || result.ExitCode != 0 {
		e.t.Fatalf("%v: %s", err, result.ErrorOutput)
	}
	n, err := strconv.Atoi(strings.TrimSpace(result.Output))
	if err != nil {
		e.t.Fatal(err)
	}
	return n
}

// awaitTransaction waits until a transaction has a value.
func (e *partnerEnv) awaitTransaction(id, path, want string) {
	e.t.Helper()
	eventually(e.t, path+" of the transaction is "+want, func() bool {
		return e.get("/transactions/"+id).wantStatus(200).value(path) == want
	})
}

func TestPartner_MoneyComesInAndGoesOut(t *testing.T) {
	t.Parallel()
	// A quote is paid by money that the sidecar reports, and its payout settles at the bank. A payout that the bank
	// returns later is refunded to its payer, and a fee is posted. The bank holds what the ledger says.
	e := newPartnerEnv(t)
	quote := e.quoteDollars(50_00)
	e.pay(quote)
	e.awaitTransaction(quote.text("transactionId"), "status", "COMPLETED")

	returned := e.quoteDollars(60_00)
	e.pay(returned)
	e.awaitTransaction(returned.text("transactionId"), "status", "COMPLETED")
	e.simulate(object{"kind": "PAYOUT", "returns": uuidOf(returned.text("transactionId"))})
	e.awaitTransaction(returned.text("transactionId"), "status", "FAILED")
	e.awaitTransaction(returned.text("transactionId"), "refund.status", "COMPLETED")

	e.pay(e.quoteDollars(20_99))
	eventually(t, "the fee is posted", func() bool {
		return e.queryInt(
			`SELECT count(*) FROM ledger_entries e JOIN ledger_accounts a ON a.platform_id = e.platform_id AND a.id = e.debit_account_id WHERE a.path = 'expense/rails' AND e.amount = 25`) == 1
	})
	e.simulate(object{"reportsBalances": true})
	e.awaitProof()
}

func TestPartner_CollectionIsReturned(t *testing.T) {
	t.Parallel()
	// Money is pulled from a bank account, and the payer's bank takes it back: the customer owes it.
	e := newPartnerEnv(t)
	account := e.get("/customers/internal-accounts?currency=USD&customerId=" + e.customer).text("data.0.id")
	pulled := e.post("/transfer-in", object{"source": object{"accountId": e.bank}, "destination": object{"accountId": account},
		"amount": 25_00}).wantStatus(201)
	e.awaitTransaction(pulled.text("id"), "status", "COMPLETED")

	e.simulate(object{"kind": "COLLECTION", "returns": uuidOf(pulled.text("id"))})

	eventually(t, "the customer owes the money",
		func() bool { return e.queryInt(`SELECT count(*) FROM receivables WHERE amount = 2500`) == 1 })
}

func TestPartner_ServiceAndSidecarAreKilled(t *testing.T) {
	t.Parallel()
	// The sidecar is killed while the service has money to send, then the service while the bank has done it. Each
	// payment moves once: a payout whose answer was lost, one that was refused at first, and one that the bank held.
	e := newPartnerEnv(t)
	var transactions []string
	for _, amount := range []int64{70_95, 71_94, 72_93, 73_00} {
		quote := e.quoteDollars(amount)
		e.pay(quote)
		transactions = append(transactions, quote.text("transactionId"))
	}
	e.sidecar.Kill()
	e.server.kill()
	e.server = startServerAs(t, e.login, e.flags...)
	e.startSidecar()
	eventually(t, "the bank has all payouts", func() bool { return e.bankPayouts() == len(transactions) })
	e.server.kill()
	e.sidecar.Kill()
	e.startSidecar()
	e.server = startServerAs(t, e.login, e.flags...)

	for _, id := range transactions {
		e.awaitTransaction(id, "status", "COMPLETED")
	}
	if n := e.queryInt(`SELECT count(*) FROM receipts`); n != int64(len(transactions)) {
		t.Errorf("%d receipts, want %d", n, len(transactions))
	}
	if n := e.bankPayouts(); n != len(transactions) {
		t.Errorf("the bank has %d payouts, want %d", n, len(transactions))
	}
	e.awaitProof()
}

func TestPartner_ServiceIsKilledBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	// The bank takes a payout, and its answer does not arrive: first the service waits until its timeout, and asks again
	// without sending twice; then it is killed while it waits. Both payouts are made once, and found.
	e := newPartnerEnv(t)
	for i, kill := range []bool{false, true} {
		e.simulate(object{"holdsAnswers": true})
		quote := e.quoteDollars(80_00)
		e.pay(quote)
		eventually(t, "the bank has the payout", func() bool { return e.bankPayouts() == i+1 })
		if kill {
			e.server.kill()
			e.simulate(object{"holdsAnswers": false})
			e.server = startServerAs(t, e.login, e.flags...)
		} else {
			eventually(t, "the service has given up the request", func() bool {
				return e.queryInt(`SELECT count(*) FROM jobs WHERE attempts > 0`) > 0
			})
			e.simulate(object{"holdsAnswers": false})
		}
		e.awaitTransaction(quote.text("transactionId"), "status", "COMPLETED")
	}
	if n := e.bankPayouts(); n != 2 {
		t.Errorf("the bank has %d payouts, want 2", n)
	}
	e.awaitProof()
}
