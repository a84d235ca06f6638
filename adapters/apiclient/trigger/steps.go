package trigger

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"causeway/adapters/apiclient"
)

var address = object{"line1": "5 Market Street", "city": "Austin", "state": "TX", "postalCode": "78701", "country": "US"}

// customer creates a person, and returns its id.
func (r *run) customer(fullName string) (string, error) {
	d, err := r.newCustomer(r.serial, fullName)
	return d.text("id"), err
}

func (r *run) newCustomer(serial, fullName string) (document, error) {
	return r.post("/customers", object{"platformCustomerId": serial, "customerType": "INDIVIDUAL", "fullName": fullName,
		"birthDate": "1990-01-31", "nationality": "US", "address": address})
}

// bank registers a bank account of a customer. The end of its number is a test value; good is none.
func (r *run) bank(customer, end string) (string, error) {
	digits := strings.Map(func(c rune) rune { return '0' + c%10 }, r.serial)
	if end == "good" {
		end = "555"
	}
	d, err := r.post("/customers/external-accounts", object{"customerId": customer, "currency": "USD", "accountInfo": object{
		"accountType": "US_ACCOUNT", "accountNumber": digits[:9] + end, "routingNumber": "021000021", "beneficiary": object{
			"beneficiaryType": "INDIVIDUAL", "fullName": "Ana Silva", "birthDate": "1990-01-31", "nationality": "US"}}})
	return d.text("id"), err
}

// quote creates a quote from dollars to a bank account.
func (r *run) quote(end string) (document, error) {
	customer, err := r.customer("Ana Silva")
	if err != nil {
		return document{}, err
	}
	return r.quoteOf(customer, end)
}

// quoteOf creates a quote of a customer from dollars to a bank account.
func (r *run) quoteOf(customer, end string) (document, error) {
	bank, err := r.bank(customer, end)
	if err != nil {
		return document{}, err
	}
	return r.post("/quotes", object{"source": object{"customerId": customer, "currency": "USD"},
		"destination": object{"destinationType": "ACCOUNT", "accountId": bank}, "lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 10_050})
}

// paid pays a quote to an account.
func paid(end string) func(*run) error {
	return func(r *run) error {
		quote, err := r.quote(end)
		if err == nil {
			_, err = r.post("/sandbox/send", object{"quoteId": quote.text("id"), "currencyCode": "USD"})
		}
		return err
	}
}

// balance returns the internal account in dollars of a customer.
func (r *run) balance(customer string) (string, error) {
	d, err := r.get("/customers/internal-accounts?currency=USD&customerId=" + url.QueryEscape(customer))
	if err == nil && d.text("data.0.id") == "" {
		err = errors.New("the customer has no account in USD: add USD to supportedCurrencies with PATCH /config")
	}
	return d.text("data.0.id"), err
}

// funded funds the account of a new customer.
func (r *run) funded(amount int) (string, error) {
	customer, err := r.customer("Ana Silva")
	if err != nil {
		return "", err
	}
	account, err := r.balance(customer)
	if err == nil {
		_, err = r.post("/sandbox/internal-accounts/"+account+"/fund", object{"amount": amount})
	}
	return account, err
}

// askForMoney creates a UMA invoice of a new customer for another one.
func (r *run) askForMoney() error {
	payer, err := r.newCustomer(r.serial+"-payer", "Bo Berg")
	if err != nil {
		return err
	}
	receiver, err := r.customer("Ana Silva")
	if err == nil {
		_, err = r.post("/uma-invoices", object{"customerId": receiver, "amount": 2_500, "currency": "USD",
			"senderUmaAddress": payer.text("umaAddress")})
	}
	return err
}

// pulled pulls money from the bank account of a new customer, and returns the transfer.
func (r *run) pulled(end string) (document, error) {
	customer, err := r.customer("Ana Silva")
	if err != nil {
		return document{}, err
	}
	account, err := r.balance(customer)
	if err != nil {
		return document{}, err
	}
	bank, err := r.bank(customer, end)
	if err != nil {
		return document{}, err
	}
	return r.post("/transfer-in", object{"source": object{"accountId": bank}, "destination": object{"accountId": account}, "amount": 2_500})
}

// takeBack takes back what a transfer has collected.
func (r *run) takeBack(transfer document) error {
	id := transfer.text("id")
	if err := r.awaitText("/transactions/"+id, "status", "COMPLETED"); err != nil {
		return err
	}
	_, err := r.post("/sandbox/transactions/"+id+"/take-back", nil)
	return err
}

// owed lets a customer spend what was collected before it is taken back, and returns the receivable.
func (r *run) owed() (string, error) {
	transfer, err := r.pulled("good")
	if err != nil {
		return "", err
	}
	id := transfer.text("id")
	if err := r.awaitText("/transactions/"+id, "status", "COMPLETED"); err != nil {
		return "", err
	}
	if _, err := r.post("/transfer-out", object{"source": object{"accountId": transfer.text("destination.accountId")},
		"destination": object{"accountId": transfer.text("source.accountId")}, "amount": 2_500}); err != nil {
		return "", err
	}
	if err := r.takeBack(transfer); err != nil {
		return "", err
	}
	d, err := r.get("/ledger/receivables?limit=1&status=OPEN&customerId=" + url.QueryEscape(transfer.text("customerId")))
	return d.text("data.0.id"), err
}

// upload uploads a document of a customer.
func (r *run) upload(customer, kind string) error {
	var file, body bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 40, 30))); err != nil {
		return err
	}
	form := multipart.NewWriter(&body)
	fields := map[string]string{"documentHolder": customer, "documentType": kind, "country": "US"}
	if kind == "PASSPORT" {
		fields["documentNumber"], fields["issuingAuthority"] = "C01X00T47", "U.S. Department of State"
	}
	var failed []error
	for name, value := range fields {
		failed = append(failed, form.WriteField(name, value))
	}
	part, err := form.CreateFormFile("file", "scan.png")
	if err == nil {
		_, err = part.Write(file.Bytes())
	}
	if err := errors.Join(append(failed, err, form.Close())...); err != nil {
		return err
	}
	_, err = r.call(http.MethodPost, "/documents", body.Bytes(), form.FormDataContentType())
	return err
}

func (r *run) submit(customer string) error {
	_, err := r.post("/verifications", object{"customerId": customer})
	return err
}

// verifyPerson changes the name of a person who waits for a decision to one that is approved, and submits.
func (r *run) verifyPerson() error {
	customer, err := r.customer("Ana Silva001")
	if err != nil {
		return err
	}
	approved := object{"customerType": "INDIVIDUAL", "fullName": "Ana Lima"}
	if _, err := r.call(http.MethodPatch, "/customers/"+customer, approved, ""); err != nil {
		return err
	}
	if err := r.upload(customer, "PASSPORT"); err != nil {
		return err
	}
	return r.submit(customer)
}

// renamed creates a person and changes the name. Names are test values.
func renamed(from, to string) func(*run) error {
	return func(r *run) error {
		customer, err := r.customer(from)
		if err == nil {
			_, err = r.call(http.MethodPatch, "/customers/"+customer, object{"customerType": "INDIVIDUAL", "fullName": to}, "")
		}
		return err
	}
}

// business creates a business; its registration number is a test value.
func (r *run) business(registration string) (string, error) {
	d, err := r.post("/customers", object{"platformCustomerId": r.serial, "customerType": "BUSINESS", "address": address,
		"businessInfo": object{"legalName": "Acme LLC", "country": "US", "entityType": "LLC", "registrationNumber": registration,
			"taxId": "12-3456789"}})
	return d.text("id"), err
}

func (r *run) verifiedBusiness(registration string) (string, error) {
	business, err := r.business(registration)
	if err != nil {
		return "", err
	}
	for _, kind := range []string{"CERTIFICATE_OF_INCORPORATION", "DIRECTOR_REGISTRY", "SHAREHOLDER_REGISTER", "UTILITY_BILL"} {
		if err := r.upload(business, kind); err != nil {
			return "", err
		}
	}
	if _, err := r.post("/beneficial-owners", object{"customerId": business, "roles": []string{"UBO", "CONTROL_PERSON"},
		"ownershipPercentage": 60, "personalInfo": object{"firstName": "Ana", "lastName": "Silva", "birthDate": "1980-01-31",
			"nationality": "US", "address": address, "idType": "SSN", "identifier": "123-45-6789"}}); err != nil {
		return "", err
	}
	return business, r.submit(business)
}

func verifiedBusiness(registration string) func(*run) error {
	return func(r *run) error { _, err := r.verifiedBusiness(registration); return err }
}

// imported imports a file, in which SERIAL stands for an id.
func imported(file string) func(*run) error {
	return func(r *run) error {
		config, err := r.get("/config")
		if err != nil {
			return err
		}
		row := strings.Replace(file, "\n,SERIAL,", "\n$t"+r.serial+"@"+config.text("umaDomain")+","+r.serial+",", 1)
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		part, err := form.CreateFormFile("file", "customers.csv")
		if err == nil {
			_, err = part.Write([]byte(row))
		}
		if err := errors.Join(err, form.Close()); err != nil {
			return err
		}
		_, err = r.call(http.MethodPost, "/customers/bulk/csv", body.Bytes(), form.FormDataContentType())
		return err
	}
}

func (r *run) claimInvitation() error {
	config, err := r.get("/config")
	if err != nil {
		return err
	}
	person := func(name string) string { return "$" + name + r.serial + "@" + config.text("umaDomain") }
	for _, name := range []string{"ana", "lena"} {
		if _, err := r.post("/customers", object{"customerType": "INDIVIDUAL", "fullName": "Ana Silva", "umaAddress": person(name)}); err != nil {
			return err
		}
	}
	invitation, err := r.post("/invitations", object{"inviterUma": person("ana")})
	if err == nil {
		_, err = r.post("/invitations/"+invitation.text("code")+"/claim", object{"inviteeUma": person("lena")})
	}
	return err
}

// askAsAgent lets an agent whose payments need approval pay from a funded account.
func (r *run) askAsAgent() error {
	customer, err := r.customer("Ana Silva")
	if err != nil {
		return err
	}
	account, err := r.balance(customer)
	if err == nil {
		_, err = r.post("/sandbox/internal-accounts/"+account+"/fund", object{"amount": 10_000})
	}
	if err != nil {
		return err
	}
	bank, err := r.bank(customer, "good")
	if err != nil {
		return err
	}
	created, err := r.post("/agents", object{"name": "Trigger", "customerId": customer, "policy": object{
		"permissions": []string{"CREATE_TRANSFERS"}, "defaultExecutionMode": "APPROVAL_REQUIRED",
		"spendingLimits": object{"currency": "USD", "perTransactionLimit": 10_000}}})
	if err != nil {
		return err
	}
	anyone := &apiclient.Client{BaseURL: r.client.BaseURL, HTTP: r.client.HTTP}
	paired, err := r.callAs(anyone, http.MethodPost, "/agents/device-codes/"+created.text("deviceCode.code")+"/redeem", nil, "")
	if err != nil {
		return err
	}
	anyone.Header = http.Header{"Authorization": {"Bearer " + paired.text("accessToken")}}
	_, err = r.callAs(anyone, http.MethodPost, "/agents/me/transfer-out", object{"source": object{"accountId": account},
		"destination": object{"accountId": bank}, "amount": 1_000}, "")
	return err
}

// overdraw takes money that is not there out of an own account, in a currency in which it is not overdrawn yet.
func (r *run) overdraw() error {
	var refused error
	for _, currency := range []string{"USD", "EUR", "GBP", "MXN", "BRL", "INR", "PHP", "KES", "NGN", "ZAR", "CAD", "SGD"} {
		event := "LEDGER.ASSET_OVERDRAWN"
		before, _, err := r.latest(event)
		if err != nil {
			return err
		}
		if _, err = r.post("/ledger/treasury/transfers", object{"from": "own/OPERATING", "to": "rails/WIRE", "currency": currency, "amount": 100,
			"allowOverdraft": true, "note": "Trigger of " + event}); err != nil {
			refused = err
			continue
		}
		if after, _, err := r.latest(event); err != nil || after != before {
			return err
		}
		refused = fmt.Errorf("own/OPERATING was announced in every currency within the last hour, or does not become overdrawn")
	}
	return refused
}

// propose makes adjustments need four eyes, proposes one, and calls decide with a second token and the proposal. Afterwards the
// settings are as before and the second token is deleted.
func (r *run) propose(decide func(second *apiclient.Client, proposal string) error) (err error) {
	before, err := r.get("/ledger/settings")
	if err != nil {
		return err
	}
	settings, ok := before.body.(map[string]any)
	if !ok {
		return errors.New("the response of GET /ledger/settings is no object")
	}
	wanted, present := object{}, []any{}
	for _, name := range []string{"functionalCurrency", "unrealisedResult", "feeRecognition", "yearEndMonth"} {
		if settings[name] != nil {
			wanted[name] = settings[name]
		}
	}
	if four, ok := settings["fourEyes"].([]any); ok {
		present = four
	}
	put := func(fourEyes []any) (document, error) {
		body := object{"fourEyes": fourEyes, "note": "Trigger"}
		for name, value := range wanted {
			body[name] = value
		}
		return r.call(http.MethodPut, "/ledger/settings", body, "")
	}
	token, err := r.post("/tokens", object{"name": "Trigger " + r.serial, "permissions": []string{"VIEW", "MANAGE"}})
	if err != nil {
		return err
	}
	second := &apiclient.Client{BaseURL: r.client.BaseURL, HTTP: r.client.HTTP, ClientID: token.text("clientId"),
		ClientSecret: token.text("clientSecret")}
	defer func() {
		_, deleted := r.call(http.MethodDelete, "/tokens/"+token.text("id"), nil, "")
		err = errors.Join(err, deleted)
	}()
	if !slices.Contains(present, any("ADJUSTMENT")) {
		if len(present) > 0 {
			return errors.New("other actions need four eyes: add ADJUSTMENT to fourEyes of PUT /ledger/settings first")
		}
		if _, err := put([]any{"ADJUSTMENT"}); err != nil {
			return err
		}
		defer func() {
			proposal, restored := put(present) // which now needs four eyes
			if restored == nil {
				_, restored = r.callAs(second, http.MethodPost, "/ledger/proposals/"+proposal.text("id")+"/approve", nil, "")
			}
			err = errors.Join(err, restored)
		}()
	}
	proposal, err := r.post("/ledger/adjustments", object{"note": "Trigger", "entries": []object{{"debit": "expense/rails",
		"credit": "rails/WIRE", "currency": "USD", "amount": 100}}})
	if err != nil {
		return err
	}
	return decide(second, proposal.text("id"))
}
