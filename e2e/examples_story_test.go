package e2e

import (
	"fmt"
	"net/url"
	"time"
)

// play tells of a platform that moves money for Ana and for a company: it sets itself up,
// takes money in, sends it out in several ways, and looks at what became of it.
func (s *story) play() {
	s.settingUp()
	ana := s.customers()
	accounts := s.accounts(ana)
	s.log(ana)
	for _, chapter := range []func(ana string, a outside){s.balances, s.quotes, s.justInTime, s.people, s.incoming, s.looking, s.books, s.reconciling, s.deliveries, s.tokens, s.months} {
		s.mask.turn()
		chapter(ana, accounts)
	}
}

func (s *story) settingUp() {
	s.show("getPlatformConfig", "", "/config", "").want(200)
	hooks := s.hookUp()
	s.mask.instead[hooks.server.URL+"/hooks"] = "https://example.com/webhooks"
	s.tell("test", "", hooks.await("the TEST event", func(d delivery) bool { return d.event == "TEST" }), "")
	s.show("updatePlatformConfig", "", "/config", `{
		"umaDomain": "uma.example.com",
		"webhookEndpoint": "`+hooks.server.URL+`/hooks",
		"supportedCurrencies": [
			{"currencyCode": "USD", "minAmount": 100, "maxAmount": 1000000000,
				"requiredCounterpartyFields": [{"name": "FULL_NAME", "mandatory": true}], "enabledTransactionTypes": ["OUTGOING", "INCOMING"]},
			{"currencyCode": "EUR", "minAmount": 100, "maxAmount": 1000000000,
				"requiredCounterpartyFields": [], "enabledTransactionTypes": ["OUTGOING", "INCOMING"]},
			{"currencyCode": "USDC", "minAmount": 1000000, "maxAmount": 10000000000000,
				"requiredCounterpartyFields": [], "enabledTransactionTypes": ["OUTGOING"]}
		]}`).want(200)
}

func (s *story) customers() (ana string) {
	s.mask.turn()
	ana = s.show("createCustomer", "A person", "/customers", `{
		"platformCustomerId": "9f84e0c2a72c4fa", "customerType": "INDIVIDUAL", "region": "US", "email": "ana@example.com", "umaAddress": "$ana@uma.example.com",
		"fullName": "Ana Silva", "birthDate": "1990-01-31", "nationality": "US",
		"address": {"line1": "123 Main Street", "city": "San Francisco", "state": "CA", "postalCode": "94105", "country": "US"}}`).want(201).str("id")
	s.show("createCustomer", "A business", "/customers", `{
		"platformCustomerId": "acme-7", "customerType": "BUSINESS", "umaAddress": "$acme@uma.example.com",
		"businessInfo": {"legalName": "Acme Corporation", "country": "US", "registrationNumber": "5523041", "incorporatedOn": "2018-03-14", "taxId": "47-1234567"},
		"address": {"line1": "5 Market Street", "city": "Austin", "state": "TX", "postalCode": "78701", "country": "US"}}`).want(201)
	s.show("createCustomer", "Everything that is wrong is told at once", "/customers",
		`{"customerType": "INDIVIDUAL", "fullName": "Bo Berg", "birthDate": "31.01.1990", "region": "usa"}`).want(400)
	s.show("getCustomerById", "", "/customers/"+ana, "").want(200)
	s.show("listCustomers", "", "/customers?limit=2", "").want(200)
	return ana
}

// outside are accounts of Ana's and the platform's outside of the service.
type outside struct{ dollars, euros string }

func (s *story) accounts(ana string) (a outside) {
	s.mask.turn()
	const at = "/customers/external-accounts"
	a.dollars = s.show("createCustomerExternalAccount", "A US bank account", at, `{
		"customerId": "`+ana+`", "currency": "USD", "platformAccountId": "ana-checking",
		"accountInfo": {"accountType": "US_ACCOUNT", "accountNumber": "5512345678", "routingNumber": "021000021",
			"beneficiary": {"beneficiaryType": "INDIVIDUAL", "fullName": "Ana Silva", "birthDate": "1990-01-31", "nationality": "US"}}}`).want(201).str("id")
	a.euros = s.show("createCustomerExternalAccount", "A euro bank account", at, `{
		"customerId": "`+ana+`", "currency": "EUR",
		"accountInfo": {"accountType": "EUR_ACCOUNT", "iban": "DE89370400440532013000",
			"beneficiary": {"beneficiaryType": "INDIVIDUAL", "fullName": "Jan Winter", "birthDate": "1985-06-12", "nationality": "DE", "countryOfResidence": "DE"}}}`).want(201).str("id")
	wallet := s.show("createCustomerExternalAccount", "A wallet", at, `{
		"customerId": "`+ana+`", "currency": "BTC",
		"accountInfo": {"accountType": "LAYER2_WALLET", "address": "spark1pgssyuuuhnrrdjswal5c3s3rafw9w3y5dd4cjy3duxlf7hjzkp0rqx6dj6mrhu"}}`).want(201).str("id")
	s.show("getCustomerExternalAccountById", "", at+"/"+a.dollars, "").want(200)
	s.show("listCustomerExternalAccounts", "", at+"?limit=2&customerId="+ana, "").want(200)
	s.show("deleteCustomerExternalAccountById", "", at+"/"+wallet, "").want(204)

	const own = "/platform/external-accounts"
	treasury := s.show("createPlatformExternalAccount", "", own, `{
		"currency": "USD", "platformAccountId": "treasury",
		"accountInfo": {"accountType": "US_ACCOUNT", "accountNumber": "9876543210", "routingNumber": "021000021",
			"beneficiary": {"beneficiaryType": "BUSINESS", "legalName": "Example Inc."}}}`).want(201).str("id")
	s.show("getPlatformExternalAccountById", "", own+"/"+treasury, "").want(200)
	s.show("listPlatformExternalAccounts", "", own+"?limit=2", "").want(200)
	s.show("deletePlatformExternalAccountById", "", own+"/"+treasury, "").want(204)
	return a
}

// log seals two postings, one after the other, and proves that they are there.
func (s *story) log(ana string) {
	s.mask.turn()
	euros := s.holding(ana, "EUR")
	for size := range 2 {
		s.pass("POST", "/sandbox/internal-accounts/"+euros+"/fund", `{"amount": 500}`).want(200)
		until(s.t, "a sealed posting", func() bool { return s.get("/ledger/log").want(200).int("sealed") == int64(size+1) })
	}
	s.show("getLedgerLog", "", "/ledger/log", "").want(200)
	s.show("listLedgerHeads", "", "/ledger/log/heads", "").want(200)
	first := s.pass("GET", "/ledger/postings?limit=1&sortOrder=asc", nil).want(200).str("data.0.id")
	s.show("proveLedgerPosting", "", "/ledger/log/proof?postingId="+first, "").want(200)
	s.show("proveLedgerConsistency", "", "/ledger/log/consistency?from=1", "").want(200)
	s.show("listLedgerLogKeys", "", "/ledger/log/keys", "").want(200)
}

// balances fills Ana's balance in dollars, and pays some of it out.
func (s *story) balances(ana string, a outside) {
	balance := s.show("listCustomerInternalAccounts", "", "/customers/internal-accounts?currency=USD&customerId="+ana, "").want(200).str("data.0.id")
	s.show("listPlatformInternalAccounts", "", "/platform/internal-accounts?currency=USD", "").want(200)
	s.show("updateInternalAccount", "", "/internal-accounts/"+balance, `{}`).want(200)

	s.show("sandboxFundInternalAccount", "", "/sandbox/internal-accounts/"+balance+"/fund", `{"amount": 100000}`).want(200)
	s.tell("internalAccountStatus", "INTERNAL_ACCOUNT.BALANCE_UPDATED", s.told("INTERNAL_ACCOUNT.BALANCE_UPDATED", balance), "")
	in := s.show("createTransferIn", "", "/transfer-in", `{
		"source": {"accountId": "`+a.dollars+`"}, "destination": {"accountId": "`+balance+`"}, "amount": 12550}`).want(201).str("id")
	s.tell("incomingPayment", "INCOMING_PAYMENT.COMPLETED", s.told("INCOMING_PAYMENT.COMPLETED", in), "")
	out := s.show("createTransferOut", "", "/transfer-out", `{
		"source": {"accountId": "`+balance+`"}, "destination": {"accountId": "`+a.dollars+`"}, "amount": 10000}`).want(201).str("id")
	s.told("OUTGOING_PAYMENT.COMPLETED", out)
}

// holding is the account that holds what a customer has in a currency.
func (s *story) holding(customer, currency string) string {
	s.t.Helper()
	return s.get("/customers/internal-accounts?currency=" + currency + "&customerId=" + customer).want(200).str("data.0.id")
}

// quotes sends euros from Ana's balance in dollars.
func (s *story) quotes(ana string, a outside) {
	s.show("getExchangeRates", "", "/exchange-rates?sourceCurrency=USD&destinationCurrency=EUR&destinationCurrency=MXN&sendingAmount=25000", "").want(200)
	s.show("lookupExternalAccount", "", "/receiver/external-account/"+a.euros+"?customerId="+ana, "").want(200)
	s.show("getDiscoveries", "", "/discoveries?country=NG&currency=NGN", "").want(200)
	balance := s.holding(ana, "USD")
	rent := s.show("createQuote", "From a balance", "/quotes", `{
		"source": {"sourceType": "ACCOUNT", "accountId": "`+balance+`"},
		"destination": {"destinationType": "ACCOUNT", "accountId": "`+a.euros+`"},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 25000, "description": "Rent"}`).want(201)
	s.show("getQuoteById", "", "/quotes/"+rent.str("id"), "").want(200)
	s.show("executeQuote", "From a balance", "/quotes/"+rent.str("id")+"/execute", "").want(200)
	for _, event := range []string{"PENDING", "PROCESSING", "COMPLETED"} {
		told := s.told("OUTGOING_PAYMENT."+event, rent.str("transactionId"))
		if event != "PENDING" {
			s.tell("outgoingPayment", "OUTGOING_PAYMENT."+event, told, "")
		}
	}
	s.show("createQuote", "Beyond the limits", "/quotes", `{
		"source": {"sourceType": "ACCOUNT", "accountId": "`+balance+`"},
		"destination": {"destinationType": "ACCOUNT", "accountId": "`+a.euros+`"},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 2000000000}`).want(400)
	dear := s.pass("POST", "/quotes", object{
		"source": object{"accountId": balance}, "destination": object{"accountId": a.euros},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 90000,
	}).want(201)
	s.show("executeQuote", "The balance is too small", "/quotes/"+dear.str("id")+"/execute", "").want(400)
}

// justInTime pays a quote by its reference: with the right amount and with another.
func (s *story) justInTime(ana string, a outside) {
	quote := s.show("createQuote", "Funded just in time", "/quotes", `{
		"source": {"sourceType": "REALTIME_FUNDING", "customerId": "`+ana+`", "currency": "USD"},
		"destination": {"destinationType": "ACCOUNT", "accountId": "`+a.euros+`"},
		"lockedCurrencySide": "RECEIVING", "lockedCurrencyAmount": 20000}`).want(201)
	s.show("executeQuote", "One that is funded just in time", "/quotes/"+quote.str("id")+"/execute", "").want(409)
	s.show("sandboxSend", "The payment that a quote waits for", "/sandbox/send", fmt.Sprintf(`{"reference": %q, "currencyCode": "USD", "currencyAmount": %d}`,
		reference(quote), quote.int("totalSendingAmount"))).want(200)
	s.told("OUTGOING_PAYMENT.COMPLETED", quote.str("transactionId"))

	s.show("createQuote", "Funded just in time with a stablecoin", "/quotes", `{
		"source": {"sourceType": "REALTIME_FUNDING", "customerId": "`+ana+`", "currency": "USDC", "cryptoNetwork": "SOLANA"},
		"destination": {"destinationType": "ACCOUNT", "accountId": "`+a.euros+`"},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 250000000}`).want(201)
	wrong := s.pass("POST", "/quotes", object{
		"source": object{"customerId": ana, "currency": "USD"}, "destination": object{"accountId": a.euros},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 5000,
	}).want(201)
	s.show("sandboxSend", "A wrong amount goes back", "/sandbox/send",
		fmt.Sprintf(`{"reference": %q, "currencyCode": "USD", "currencyAmount": 4999}`, reference(wrong))).want(200)
	s.tell("outgoingPayment", "OUTGOING_PAYMENT.REFUND_COMPLETED", s.told("OUTGOING_PAYMENT.REFUND_COMPLETED", wrong.str("transactionId")), "")
}

// people asks what can be asked before money moves, and pays a person elsewhere.
func (s *story) people(ana string, _ outside) {
	const jo = "$success.eur@sandbox.uma.test"
	s.show("getAvailableUmaProviders", "", "/uma-providers?currencyCode=EUR", "").want(200)
	lookup := s.show("lookupUma", "", "/receiver/uma/%24success.eur@sandbox.uma.test?customerId="+ana, "").want(200).str("lookupId")
	quote := s.show("createQuote", "To a person by a UMA address", "/quotes", fmt.Sprintf(`{
		"lookupId": %q,
		"source": {"sourceType": "ACCOUNT", "accountId": %q},
		"destination": {"destinationType": "UMA_ADDRESS", "umaAddress": %q, "currency": "EUR"},
		"lockedCurrencySide": "RECEIVING", "lockedCurrencyAmount": 5000}`, lookup, s.holding(ana, "USD"), jo)).want(201)
	s.show("executeQuote", "To a person by a UMA address", "/quotes/"+quote.str("id")+"/execute", "").want(200)
	s.told("OUTGOING_PAYMENT.COMPLETED", quote.str("transactionId"))
	s.show("estimateCryptoWithdrawalFee", "", "/crypto/estimate-withdrawal-fee", fmt.Sprintf(`{
		"internalAccountId": %q, "currency": "USDC", "cryptoNetwork": "BASE", "amount": 25000000,
		"destinationAddress": "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B"}`, s.holding(ana, "USDC"))).want(200)
}

// incoming lets somebody elsewhere pay Ana: it is taken at once, taken later, and refused.
func (s *story) incoming(ana string, _ outside) {
	const pays = `{
		"senderUmaAddress": "$bo.berg@bank.example", "receiverUmaAddress": "$ana@uma.example.com",
		"receivingCurrencyCode": "USD", "receivingCurrencyAmount": 1250}`
	asked := func(title string, status int, reply string) string {
		s.hooks.say(status, reply)
		id := s.pass("POST", "/sandbox/uma/receive", pays).want(200).str("id")
		if title != "" {
			s.tell("incomingPayment", title, s.told("INCOMING_PAYMENT.PENDING", id), reply)
		}
		return id
	}
	const facts = `{"receiverCustomerInfo": {"FULL_NAME": "Ana Silva"}}`
	s.told("INCOMING_PAYMENT.COMPLETED", asked("INCOMING_PAYMENT.PENDING, taken at once", 200, facts))

	s.hooks.say(202, "")
	later := s.show("sandboxReceive", "", "/sandbox/uma/receive", pays).want(200).str("id")
	s.tell("incomingPayment", "INCOMING_PAYMENT.PENDING, decided later", s.told("INCOMING_PAYMENT.PENDING", later), "")
	s.show("approvePendingPayment", "", "/transactions/"+later+"/approve", facts).want(200)
	s.told("INCOMING_PAYMENT.COMPLETED", later)

	refused := asked("", 202, "")
	s.told("INCOMING_PAYMENT.PENDING", refused)
	s.show("rejectPendingPayment", "", "/transactions/"+refused+"/reject", `{"reason": "The account is closed."}`).want(200)
	s.tell("incomingPayment", "INCOMING_PAYMENT.FAILED", s.told("INCOMING_PAYMENT.FAILED", refused), "")
}

// looking finds what happened.
func (s *story) looking(ana string, _ outside) {
	page := s.show("listTransactions", "", "/transactions?limit=2&customerId="+ana, "").want(200)
	s.show("getTransactionById", "", "/transactions/"+page.str("data.1.id"), "").want(200)
}

// books reads the ledger as finance does, and finds the owner of a payment that nobody
// knew.
func (s *story) books(ana string, _ outside) {
	s.settled()
	balance := s.holding(ana, "USD")
	account := "/ledger/accounts/" + url.PathEscape("customers/"+balance)
	s.show("listLedgerAccounts", "", "/ledger/accounts?prefix=customers/&currency=USD&limit=2", "").want(200)
	s.show("getLedgerAccount", "", account+"?currency=USD", "").want(200)
	s.show("listLedgerEntries", "", account+"/entries?currency=USD&limit=2", "").want(200)
	postings := s.show("listLedgerPostings", "", "/ledger/postings?kind=converted&limit=2", "").want(200)
	s.show("getLedgerPosting", "", "/ledger/postings/"+postings.str("data.0.id"), "").want(200)
	s.show("getTransactionStory", "", "/transactions/"+postings.str("data.0.transactionId")+"/story", "").want(200)
	s.show("getTrialBalance", "", "/ledger/trial-balance", "").want(200)
	s.show("getIncome", "", "/ledger/income?from="+postings.str("data.0.recordedAt"), "").want(200)
	s.show("getFXPosition", "", "/ledger/fx-position", "").want(200)

	s.pass("POST", "/sandbox/send", object{"reference": "RENT MARCH", "currencyCode": "USD", "currencyAmount": 4200}).want(404)
	found := s.show("listUnmatched", "", "/ledger/unmatched", "").want(200).str("data.0.receiptId")
	s.show("assignUnmatched", "", "/ledger/unmatched/"+found+"/assign", `{"to": "`+balance+`", "note": "Ana called: it is hers."}`).want(200)
}

// reconciling holds the books against what a bank says of a day.
func (s *story) reconciling(string, outside) {
	const at = "/ledger/reconciliations"
	file := "Booked,Amount,Ref,Text\n" + time.Now().UTC().Format(time.DateOnly) + ",-3.00,,Monthly fee\n"
	columns := url.QueryEscape("date=Booked;amount=Amount;reference=Ref;description=Text")
	run := s.show("createReconciliation", "", at+"?account=rails/RTP&currency=USD&format=csv&map="+columns, file).want(201).str("id")
	s.show("listReconciliations", "", at, "").want(200)
	s.show("getReconciliationById", "", at+"/"+run, "").want(200)
	s.show("listReconciliationLines", "", at+"/"+run+"/lines", "").want(200)
	fee := s.show("listReconciliationBreaks", "", at+"/"+run+"/breaks?reason=MISSING_HERE", "").want(200).str("data.0.id")
	s.show("resolveReconciliationBreak", "", at+"/"+run+"/breaks/"+fee+"/resolve", `{"note": "Monthly fee, as agreed", "against": "EXPENSE"}`).want(200)
}

func (s *story) deliveries(string, outside) {
	s.settled()
	page := s.show("listWebhookDeliveries", "", "/webhook-deliveries?limit=2&event=OUTGOING_PAYMENT.COMPLETED", "").want(200)
	id := page.str("data.0.webhookId")
	s.show("getWebhookDelivery", "", "/webhook-deliveries/"+id, "").want(200)
	s.show("redeliverWebhook", "", "/webhook-deliveries/"+id+"/redeliver", "").want(200)
	s.settled()
	s.show("redeliverWebhooks", "", "/webhook-deliveries/redeliver", fmt.Sprintf(`{"startDate": %q, "endDate": %q, "status": "FAILED"}`,
		page.str("data.1.createdAt"), page.str("data.0.createdAt"))).want(200)
	s.show("listWebhookKeys", "", "/webhook-keys", "").want(200)
	s.show("sendTestWebhook", "", "/sandbox/webhooks/test", "").want(200)
}

func (s *story) tokens(string, outside) {
	made := s.show("createToken", "", "/tokens", `{"name": "Back office", "permissions": ["VIEW", "TRANSACT"]}`).want(201).str("id")
	s.show("getTokenById", "", "/tokens/"+made, "").want(200)
	s.show("listTokens", "", "/tokens?limit=2", "").want(200)
	s.show("deleteTokenById", "", "/tokens/"+made, "").want(204)
}

// months ends last month, with a correction on the way.
func (s *story) months(string, outside) {
	s.settled()
	last := "/ledger/periods/" + lastMonth().Format("2006-01")
	s.show("holdLedgerPeriod", "", last+"/hold", `{"note": "Closing time"}`).want(200)
	s.show("reopenLedgerPeriod", "", last+"/reopen", `{"note": "A statement is missing."}`).want(200)
	s.pass("POST", last+"/hold", object{})
	s.pass("POST", "/ledger/adjustments", object{"note": "The bank's fee for the month", "effectiveAt": stamp(lastMonth().Add(time.Hour)),
		"entries": []object{{"debit": "expense/rails", "credit": "rails/WIRE", "currency": "USD", "amount": 4500}}})
	s.show("createLedgerAdjustment", "", "/ledger/adjustments", `{
		"entries": [{"debit": "expense/rails", "credit": "rails/WIRE", "currency": "USD", "amount": 2500}],
		"note": "The bank charged the wire of the 3rd twice."}`).want(201)
	// The close keeps the newest head, so what the story posted so far must be under one.
	until(s.t, "a head over all postings", func() bool {
		log := s.get("/ledger/log").want(200)
		return log.int("sealed") == log.int("postings") && log.int("head.size") == log.int("postings")
	})
	s.show("closeLedgerPeriod", "", last+"/close", `{"note": "The month is complete."}`).want(200)
	s.show("getLedgerPeriod", "", last, "").want(200)
	s.show("listLedgerPeriods", "", "/ledger/periods", "").want(200)
}
