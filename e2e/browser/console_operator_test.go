package browser

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/rails/bankfile/banktest"
	"causeway/core/bankorder"
	"causeway/e2e/kit"
)

const bankIBAN = "DE89370400440532013000"

// newBank connects a bank that takes files, and lets pass payouts of at most 10.00 EUR without a review.
func (s *service) newBank() *banktest.Bank {
	s.t.Helper()
	folder := filepath.Join(s.t.TempDir(), "bank")
	bank, err := banktest.New(folder, bankIBAN, time.Now)
	if err != nil {
		s.t.Fatal(err)
	}
	connection, err := json.Marshal(map[string]any{"adapter": "BANK_FILE", "rails": []string{"SEPA"}, "currencies": []string{"EUR"},
		"limits": []map[string]any{{"currency": "EUR", "perPayout": 10_00}},
		"settings": map[string]any{"folder": folder, "accountHolder": "Example Client Money", "iban": bankIBAN, "bic": "COBADEFFXXX",
			"bankName": "Example Bank", "cutEvery": "0s", "stableFor": "0s"}})
	if err != nil {
		s.t.Fatal(err)
	}
	s.causeway("rails", "set", "bank-eur", write(s.t, "bank.json", connection), "--note", "Account at a bank", "--actor", "ana")
	s.causeway("rails", "test", "bank-eur")
	return bank
}

// payByBank makes a payment from one bank account to another, for which the bank has received the money, and returns its transaction.
func (p *platform) payByBank(bank *banktest.Bank, cents int64) string {
	p.t.Helper()
	p.call("PATCH", "/config", map[string]any{"supportedCurrencies": []any{map[string]any{"currencyCode": "EUR", "minAmount": 1,
		"maxAmount": 1_000_000, "requiredCounterpartyFields": []any{}, "enabledTransactionTypes": []any{"OUTGOING", "INCOMING"}}}})
	customer := p.call("POST", "/customers", kit.CustomerBody()).text("id")
	account := p.call("POST", "/customers/external-accounts", map[string]any{"customerId": customer, "currency": "EUR",
		"accountInfo": map[string]any{"accountType": "EUR_ACCOUNT", "iban": "FR1420041010050500013M02606", "beneficiary": map[string]any{
			"beneficiaryType": "INDIVIDUAL", "fullName": "Itzamna Cenote", "countryOfResidence": "FR"}}}).text("id")
	var quote answer
	eventually(p.t, "a service that has read the connection", func() bool {
		quote = p.send("POST", "/quotes", map[string]any{"source": map[string]any{"customerId": customer, "currency": "EUR"},
			"destination":        map[string]any{"destinationType": "ACCOUNT", "accountId": account},
			"lockedCurrencySide": "RECEIVING", "lockedCurrencyAmount": cents})
		return quote.status != http.StatusNotImplemented
	})
	if quote.status != http.StatusCreated {
		p.t.Fatalf("the quote: %s", quote.body)
	}
	reference := quote.text("paymentInstructions.0.accountOrWalletInfo.reference")
	sending, err := strconv.ParseInt(quote.text("totalSendingAmount"), 10, 64)
	if err == nil {
		err = bank.Book(banktest.Movement{Reference: "IN-" + reference, Credit: true, Cents: sending, Name: "Max Payer",
			IBAN: "ES9121000418450200051332", Text: reference})
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return quote.text("transactionId")
}

func TestConsole_OperatorFreesStuckPayout(t *testing.T) {
	t.Parallel()
	// A payout of a production platform is above a limit of its bank. An operator finds it on the overview, stops the connection, releases the
	// payout, which does not leave, and resumes the connection: the bank gets the order once. Each is in the audit with its reason, and the
	// stop with what it has changed. One who may see all and decide nothing is refused.
	s := startService(t)
	bank := s.newBank()
	p := s.newPlatform("Acme Pay", "PRODUCTION", "--regulated")
	transaction := p.payByBank(bank, 50_00)
	_, id, _ := strings.Cut(transaction, ":")
	order := func() (orders []banktest.Order) {
		if _, err := bank.Take(); err != nil {
			t.Fatal(err)
		}
		for _, o := range bank.Orders() {
			if o.EndToEndID == bankorder.EndToEndIDOf(bankorder.Payout, uuid.MustParse(id)) {
				orders = append(orders, o)
			}
		}
		return orders
	}
	c := s.newColleague("olga@acme.example", "Olga Ito", "OPERATOR", desktop)
	codes := append([]string{c.code(1)}, c.recovery...)
	act := func(link, note string) {
		t.Helper()
		c.press(`main a[href$="` + link + `"]`)
		c.checkEverywhere(link)
		c.fill(map[string]string{"note": note, "code": codes[0]})
		codes = codes[1:]
		c.press("main form button.primary")
	}
	eventually(t, "a payout in review on the overview", func() bool {
		c.visit(p.consolePath())
		return strings.Contains(c.text(), "1 payment waits for a review before it is sent")
	})

	c.press(`main a[href="/console/rail-payments"]`)
	c.press(`main td a[href$="` + id + `"]`)
	c.want("above the limit")
	c.visit("/console/connections/bank-eur")
	act("/bank-eur/pause", "The bank calls back")
	c.want("paused")
	c.visit(p.consolePath())
	c.want("1 connection carries no payments")
	c.visit("/console/rail-payments/" + id)
	act("/release", "The payee is known")
	c.want("queued")
	if sent := order(); len(sent) > 0 {
		t.Errorf("the bank has %+v although the connection is stopped", sent)
	}
	c.visit("/console/connections/bank-eur")
	act("/bank-eur/resume", "The bank has agreed")
	c.want("active")
	eventually(t, "the order at the bank", func() bool { return len(order()) > 0 })
	o := order()
	if len(o) != 1 || o[0].Cents != 50_00 {
		t.Fatalf("the bank has %+v", o)
	}
	if err := bank.Report(o[0].MessageID, banktest.Status{EndToEndID: o[0].EndToEndID, Code: "ACSC"}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the payment", func() bool { return p.call("GET", "/transactions/"+transaction, nil).text("status") == "COMPLETED" })

	viewer := s.newColleague("vic@acme.example", "Vic Ito", "VIEWER", desktop)
	viewer.openStatus(s.root+"/console/connections/bank-eur/pause", 403)
	a := s.newColleague("amy@acme.example", "Amy Ito", "ADMINISTRATOR", desktop)
	a.visit("/console/audit")
	for _, want := range []string{"pause rail", "resume rail", "isPaused: false → true", "olga@acme.example"} {
		a.want(want)
	}
	a.checkEverywhere("audit of connections")
	s.wantPersons()
}

// wantPersons checks that whatever people on the console have done names them: they have acted alone.
func (s *service) wantPersons() {
	s.t.Helper()
	for _, of := range []string{"rail_controls", "rail_decisions", "verification_reviews", "job_actions"} {
		var missing int
		err := s.openDatabase().QueryRowContext(s.t.Context(), `SELECT count(*) FROM `+of+` WHERE person_id IS NULL`).Scan(&missing)
		if err != nil || missing > 0 {
			s.t.Errorf("%d rows of %s name no person: %v", missing, of, err)
		}
	}
}
