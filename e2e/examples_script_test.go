package e2e

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"causeway/e2e/kit"
)

// recordAll runs a platform that moves money for Ana and for a company: it changes its
// settings, receives payments, sends some in several ways, and reads the results.
func (s *exampleRecorder) recordAll() {
	s.recordSetup()
	ana := s.recordCustomers()
	accounts := s.recordAccounts(ana)
	s.recordLog(ana)
	for _, section := range []func(ana string, a externalAccounts){s.recordBalances, s.recordQuotes, s.recordJITPayment, s.recordUMAPayment,
		s.recordIncoming, s.recordTransactions, s.recordLedger, s.recordReconciliation, s.recordDeliveries, s.recordTokens, s.recordPeriods,
		s.recordImports, s.recordVerification, s.recordDocuments, s.recordInvitations, s.recordWallets, s.recordAgents, s.recordAgentPayments,
		s.recordBooks, s.recordTreasury, s.recordOpeningBalances, s.recordProposals, s.recordJournals, s.recordReceivables, s.recordSandboxTime,
		s.recordPlatformFees, s.recordContacts, s.recordSCA, s.recordSCAPayments, s.recordAskedToPay} {
		s.mask.beginSection()
		section(ana, accounts)
	}
	s.recordRequestLogs()
}

func (s *exampleRecorder) recordSetup() {
	s.record("getPlatformConfig", "", "/config", "").wantStatus(200)
	hooks := s.startReceiverNoWait()
	s.mask.replacements[hooks.url] = "https://example.com/webhooks"
	s.recordWebhook("test", "", hooks.awaitDelivery("the TEST event", func(d delivery) bool { return d.event == "TEST" }), "")
	s.record("updatePlatformConfig", "", "/config", `{
		"umaDomain": "uma.example.com",
		"webhookEndpoint": "`+hooks.url+`",
		"invitationUrl": "https://example.com/invitations",
		"kycRedirectOrigins": ["https://example.com"],
		"embeddedWalletConfig": {"appName": "Acme Wallet", "replyToEmailAddress": "support@example.com", "logoUrl": "https://example.com/logo.png",
			"passkeyRpId": "example.com", "passkeyOrigins": ["https://app.example.com"], "oauthClientIds": ["1234-abcd.apps.googleusercontent.com"]},
		"supportedCurrencies": [
			{"currencyCode": "USD", "minAmount": 100, "maxAmount": 1000000000,
				"requiredCounterpartyFields": [{"name": "FULL_NAME", "mandatory": true}], "enabledTransactionTypes": ["OUTGOING", "INCOMING"]},
			{"currencyCode": "EUR", "minAmount": 100, "maxAmount": 1000000000,
				"requiredCounterpartyFields": [], "enabledTransactionTypes": ["OUTGOING", "INCOMING"]},
			{"currencyCode": "USDC", "minAmount": 1000000, "maxAmount": 10000000000000,
				"requiredCounterpartyFields": [], "enabledTransactionTypes": ["OUTGOING"]}
		]}`).wantStatus(200)
}

func (s *exampleRecorder) recordCustomers() (ana string) {
	s.mask.beginSection()
	ana = s.record("createCustomer", "A person", "/customers", `{
		"platformCustomerId": "9f84e0c2a72c4fa", "customerType": "INDIVIDUAL", "region": "US", "email": "ana@example.com", "umaAddress": "$ana@uma.example.com",
		"fullName": "Ana Silva", "birthDate": "1990-01-31", "nationality": "US",
		"address": {"line1": "123 Main Street", "city": "San Francisco", "state": "CA", "postalCode": "94105", "country": "US"}}`).wantStatus(
		201).text("id")
	acme := s.record("createCustomer", "A business", "/customers", `{
		"platformCustomerId": "acme-7", "customerType": "BUSINESS", "umaAddress": "$acme@uma.example.com",
		"businessInfo": {"legalName": "Acme Corporation", "country": "US", "registrationNumber": "5523041", "incorporatedOn": "2018-03-14", "taxId": "47-1234567"},
		"address": {"line1": "5 Market Street", "city": "Austin", "state": "TX", "postalCode": "78701", "country": "US"}}`).wantStatus(
		201).text("id")
	s.exec("INSERT INTO end_user_terms VALUES ('2026-03', 'https://example.com/terms', now(), 'ana')")
	s.record("getEndUserTerms", "", "/customers/end-user-terms", "").wantStatus(200)
	s.exec("DELETE FROM end_user_terms") // so that customers need no consent
	s.record("createCustomer", "Several invalid fields", "/customers",
		`{"customerType": "INDIVIDUAL", "fullName": "Bo Berg", "birthDate": "31.01.1990", "region": "usa"}`).wantStatus(400)
	s.record("getCustomerById", "", "/customers/"+ana, "").wantStatus(200)
	s.record("listCustomers", "", "/customers?limit=2", "").wantStatus(200)
	s.record("updateCustomerById", "A person", "/customers/"+ana, `{
		"customerType": "INDIVIDUAL", "email": "ana.silva@example.com",
		"address": {"line1": "55 Mission Street", "city": "San Francisco", "state": "CA", "postalCode": "94105", "country": "US"}}`).wantStatus(
		200)
	s.record("updateCustomerById", "A business", "/customers/"+acme, `{
		"customerType": "BUSINESS", "businessInfo": {"doingBusinessAs": "Acme", "expectedMonthlyTransactionCount": "COUNT_10_TO_100"}}`).wantStatus(200)
	s.record("updateCustomerById", "Fields that cannot change", "/customers/"+ana,
		`{"customerType": "INDIVIDUAL", "region": "GB", "umaAddress": "$ana@uma.example.org"}`).wantStatus(400)
	s.exec("UPDATE customers SET status = 'APPROVED' WHERE id = $1", uuidOf(acme)) // as a verification does
	s.record("updateCustomerById", "A new identity, which ends the approval", "/customers/"+acme,
		`{"customerType": "BUSINESS", "businessInfo": {"legalName": "Acme Holding Corporation"}}`).
		wantStatus(200).wantValues(map[string]any{"kybStatus": "PENDING"})
	s.recordWebhook("customerStatus", "CUSTOMER.KYB_PENDING", s.awaitEventAbout("CUSTOMER.KYB_PENDING", acme), "")
	s.record("deleteCustomerById", "", "/customers/"+acme, "").wantStatus(200)
	return ana
}

// recordDocuments uploads documents of Ana.
func (s *exampleRecorder) recordDocuments(ana string, _ externalAccounts) {
	passport := s.record("uploadDocument", "A passport", "/documents", `{"documentHolder": "`+ana+
		`", "documentType": "PASSPORT", "country": "US",
		"documentNumber": "C01X00T47", "issuingAuthority": "U.S. Department of State", "file": "passport.png"}`).wantStatus(201).text("id")
	bill := s.record("uploadDocument", "A proof of address", "/documents",
		`{"documentHolder": "`+ana+`", "documentType": "UTILITY_BILL", "country": "US", "file": "bill.png"}`).wantStatus(201).text("id")
	s.record("uploadDocument", "Several invalid fields", "/documents", `{"documentHolder": "`+ana+
		`", "documentType": "DRIVERS_LICENSE", "country": "usa"}`).wantStatus(400)
	s.record("getDocument", "", "/documents/"+passport, "").wantStatus(200)
	s.record("listDocuments", "", "/documents?limit=2&documentHolder="+ana, "").wantStatus(200)
	s.record("replaceDocument", "", "/documents/"+passport, `{"documentType": "DRIVERS_LICENSE", "side": "FRONT", "country": "US",
		"documentNumber": "D1234567", "issuingAuthority": "California DMV", "file": "license-front.png"}`).wantStatus(200)
	s.record("deleteDocument", "", "/documents/"+bill, "").wantStatus(204)
}

// recordImports imports two customers and refuses one, and a file.
func (s *exampleRecorder) recordImports(string, externalAccounts) {
	const header = "umaAddress,platformCustomerId,customerType,fullName,birthDate,addressLine1,city,state,postalCode,country,description\n"
	imported := func(title, event, file string) {
		id := s.record("uploadCustomersCsv", title, "/customers/bulk/csv", file).wantStatus(202).text("jobId")
		webhook := s.awaitEventAbout(event, id)
		s.record("getBulkCustomerImportJob", title, "/customers/bulk/jobs/"+id, "").wantStatus(200)
		s.recordWebhook("bulkUpload", event, webhook, "")
	}
	imported("Customers, one of them invalid", "BULK_UPLOAD.COMPLETED", header+
		"$maya@uma.example.com,user-41,INDIVIDUAL,Maya Lind,1988-11-02,\"8 Elm Street, Apt 4\",Austin,TX,78701,US,imported\n"+
		"$noah@uma.example.com,user-42,INDIVIDUAL,Noah Berg,2.11.1988,9 Elm Street,Austin,TX,78701,US,imported\n")
	imported("A file without a required column", "BULK_UPLOAD.FAILED", strings.Replace(header, "city,", "", 1)+
		"$maya@uma.example.com,user-41,INDIVIDUAL,Maya Lind,1988-11-02,8 Elm Street,TX,78701,US,imported\n")
}

// recordInvitations claims an invitation by Ana, and cancels another one.
func (s *exampleRecorder) recordInvitations(string, externalAccounts) {
	s.callUnrecorded("POST", "/customers", `{"customerType": "INDIVIDUAL", "umaAddress": "$lena@uma.example.com"}`).wantStatus(201)
	claimed := s.record("createInvitation", "", "/invitations", `{
		"inviterUma": "$ana@uma.example.com", "firstName": "Lena", "amountToSend": 1250, "expiresAt": "`+
		formatTimestamp(time.Now().Add(2*time.Hour+5*time.Second))+`"}`).wantStatus(201).text("code")
	cancelled := s.callUnrecorded("POST", "/invitations", `{"inviterUma": "$ana@uma.example.com"}`).wantStatus(201).text("code")
	s.record("getInvitation", "", "/invitations/"+claimed, "").wantStatus(200)
	const claim = `{"inviteeUma": "$lena@uma.example.com"}`
	s.record("claimInvitation", "", "/invitations/"+claimed+"/claim", claim).wantStatus(200)
	s.recordWebhook("invitationClaimed", "INVITATION.CLAIMED", s.awaitEventAbout("INVITATION.CLAIMED", claimed), "")
	s.record("claimInvitation", "Claimed before", "/invitations/"+claimed+"/claim", claim).wantStatus(400)
	s.record("cancelInvitation", "", "/invitations/"+cancelled+"/cancel", "").wantStatus(200)
}

// externalAccounts are external accounts of Ana and of the platform.
type externalAccounts struct{ usd, eur string }

func (s *exampleRecorder) recordAccounts(ana string) (a externalAccounts) {
	s.mask.beginSection()
	const path = "/customers/external-accounts"
	a.usd = s.record("createCustomerExternalAccount", "A US bank account", path, `{
		"customerId": "`+ana+`", "currency": "USD", "platformAccountId": "ana-checking",
		"accountInfo": {"accountType": "US_ACCOUNT", "accountNumber": "5512345678", "routingNumber": "021000021",
			"beneficiary": {"beneficiaryType": "INDIVIDUAL", "fullName": "Ana Silva", "birthDate": "1990-01-31", "nationality": "US"}}}`).wantStatus(
		201).text("id")
	a.eur = s.record("createCustomerExternalAccount", "A euro bank account", path, `{
		"customerId": "`+ana+`", "currency": "EUR",
		"accountInfo": {"accountType": "EUR_ACCOUNT", "iban": "DE89370400440532013000",
			"beneficiary": {"beneficiaryType": "INDIVIDUAL", "fullName": "Jan Winter", "birthDate": "1985-06-12", "nationality": "DE", "countryOfResidence": "DE"}}}`).wantStatus(201).text("id")
	wallet := s.record("createCustomerExternalAccount", "A wallet", path, `{
		"customerId": "`+ana+`", "currency": "BTC",
		"accountInfo": {"accountType": "LAYER2_WALLET", "address": "spark1pgssyuuuhnrrdjswal5c3s3rafw9w3y5dd4cjy3duxlf7hjzkp0rqx6dj6mrhu"}}`).wantStatus(201).text("id")
	s.record("getCustomerExternalAccountById", "", path+"/"+a.usd, "").wantStatus(200)
	s.record("listCustomerExternalAccounts", "", path+"?limit=2&customerId="+ana, "").wantStatus(200)
	owned := s.record("createCustomerExternalAccount", "A wallet whose owner proves that it is theirs", path, `{
		"customerId": "`+ana+`", "currency": "USDC", "ownershipType": "FIRST_PARTY",
		"accountInfo": {"accountType": "ETHEREUM_WALLET", "address": "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B"}}`).wantStatus(201).text("id")
	s.record("createExternalAccountOwnershipChallenge", "", path+"/"+owned+"/challenge", `{"method": "WALLET_SIGNATURE"}`).wantStatus(201)
	s.record("verifyExternalAccountOwnership", "", path+"/"+owned+"/verify", `{"signature": "sandbox-valid-signature"}`).wantStatus(200)
	s.recordWebhook("externalAccountStatus", "EXTERNAL_ACCOUNT.STATUS_UPDATED",
		s.awaitEventAbout("EXTERNAL_ACCOUNT.STATUS_UPDATED", owned), "")
	s.record("listVasps", "", "/vasps?limit=2", "").wantStatus(200)
	s.record("deleteCustomerExternalAccountById", "", path+"/"+wallet, "").wantStatus(204)

	const own = "/platform/external-accounts"
	treasury := s.record("createPlatformExternalAccount", "", own, `{
		"currency": "USD", "platformAccountId": "treasury",
		"accountInfo": {"accountType": "US_ACCOUNT", "accountNumber": "9876543210", "routingNumber": "021000021",
			"beneficiary": {"beneficiaryType": "BUSINESS", "legalName": "Example Inc."}}}`).wantStatus(201).text("id")
	s.record("getPlatformExternalAccountById", "", own+"/"+treasury, "").wantStatus(200)
	s.record("listPlatformExternalAccounts", "", own+"?limit=2", "").wantStatus(200)
	owned = s.callUnrecorded("POST", own, `{"currency": "USDC", "ownershipType": "FIRST_PARTY",
		"accountInfo": {"accountType": "ETHEREUM_WALLET", "address": "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B"}}`).wantStatus(201).text("id")
	s.record("createPlatformExternalAccountOwnershipChallenge", "", own+"/"+owned+"/challenge", `{"method": "WALLET_SIGNATURE"}`).
		wantStatus(201)
	s.record("verifyPlatformExternalAccountOwnership", "", own+"/"+owned+"/verify", `{"signature": "sandbox-valid-signature"}`).
		wantStatus(200)
	s.record("deletePlatformExternalAccountById", "", own+"/"+treasury, "").wantStatus(204)
	return a
}

// recordLog seals two postings, one after the other, and reads their proofs.
func (s *exampleRecorder) recordLog(ana string) {
	s.mask.beginSection()
	euros := s.internalAccountID(ana, "EUR")
	for size := range 2 {
		s.callUnrecorded("POST", "/sandbox/internal-accounts/"+euros+"/fund", `{"amount": 500}`).wantStatus(200)
		eventually(s.t, "a sealed posting", func() bool { return s.get("/ledger/log").wantStatus(200).int("sealed") == int64(size+1) })
	}
	s.record("getLedgerLog", "", "/ledger/log", "").wantStatus(200)
	s.record("listLedgerCheckpoints", "", "/ledger/log/checkpoints", "").wantStatus(200)
	first := s.callUnrecorded("GET", "/ledger/postings?limit=1&sortOrder=asc", nil).wantStatus(200).text("data.0.id")
	s.record("proveLedgerPosting", "", "/ledger/log/proof?postingId="+first, "").wantStatus(200)
	s.record("proveLedgerConsistency", "", "/ledger/log/consistency?from=1", "").wantStatus(200)
	s.record("listLedgerLogKeys", "", "/ledger/log/keys", "").wantStatus(200)
}

// recordBalances funds Ana's account in dollars, and pays some of it out.
func (s *exampleRecorder) recordBalances(ana string, a externalAccounts) {
	balance := s.record("listCustomerInternalAccounts", "", "/customers/internal-accounts?currency=USD&customerId="+ana,
		"").wantStatus(200).text("data.0.id")
	s.record("listPlatformInternalAccounts", "", "/platform/internal-accounts?currency=USD", "").wantStatus(200)
	s.record("updateInternalAccount", "Nothing to change", "/internal-accounts/"+balance, `{}`).wantStatus(200)

	s.record("sandboxFundInternalAccount", "", "/sandbox/internal-accounts/"+balance+"/fund", `{"amount": 100000}`).wantStatus(200)
	s.recordWebhook("internalAccountStatus", "INTERNAL_ACCOUNT.BALANCE_UPDATED",
		s.awaitEventAbout("INTERNAL_ACCOUNT.BALANCE_UPDATED", balance), "")
	in := s.record("createTransferIn", "", "/transfer-in", `{
		"source": {"accountId": "`+a.usd+`"}, "destination": {"accountId": "`+balance+`"}, "amount": 12550}`).wantStatus(201).text("id")
	s.recordWebhook("incomingPayment", "INCOMING_PAYMENT.COMPLETED", s.awaitEventAbout("INCOMING_PAYMENT.COMPLETED", in), "")
	out := s.record("createTransferOut", "", "/transfer-out", `{
		"source": {"accountId": "`+balance+`"}, "destination": {"accountId": "`+a.usd+`"}, "amount": 10000,
		"remittanceInformation": "Invoice 2026-0117"}`).wantStatus(201).text("id")
	s.awaitEventAbout("OUTGOING_PAYMENT.COMPLETED", out)
	s.record("confirmReceiptDelivery", "", "/transactions/"+out+"/confirm", "").wantStatus(200)
	// One that waits is cancelled in another test: here they are done at once.
	s.record("cancelTransaction", "It has arrived", "/transactions/"+out+"/cancel", `{"reason": "The customer has changed their mind."}`).wantStatus(409)
}

// internalAccountID returns the account of a customer in a currency.
func (s *exampleRecorder) internalAccountID(customer, currency string) string {
	s.t.Helper()
	return s.get("/customers/internal-accounts?currency=" + currency + "&customerId=" + customer).wantStatus(200).text("data.0.id")
}

// recordQuotes sends euros from Ana's account in dollars.
func (s *exampleRecorder) recordQuotes(ana string, a externalAccounts) {
	s.record("getExchangeRates", "", "/exchange-rates?sourceCurrency=USD&destinationCurrency=EUR&destinationCurrency=MXN&sendingAmount=25000",
		"").wantStatus(200)
	s.record("lookupExternalAccount", "", "/receiver/external-account/"+a.eur+"?customerId="+ana, "").wantStatus(200)
	s.record("getDiscoveries", "", "/discoveries?country=NG&currency=NGN", "").wantStatus(200)
	balance := s.internalAccountID(ana, "USD")
	rent := s.record("createQuote", "From a balance", "/quotes", `{
		"source": {"sourceType": "ACCOUNT", "accountId": "`+balance+`"},
		"destination": {"destinationType": "ACCOUNT", "accountId": "`+a.eur+`"},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 25000, "description": "Rent"}`).wantStatus(201)
	s.record("getQuoteById", "", "/quotes/"+rent.text("id"), "").wantStatus(200)
	s.record("listQuotes", "", "/quotes?limit=1&status=PENDING&status=PROCESSING&customerId="+ana, "").wantStatus(200)
	s.record("executeQuote", "From a balance", "/quotes/"+rent.text("id")+"/execute", "").wantStatus(200)
	for _, event := range []string{"PENDING", "PROCESSING", "COMPLETED"} {
		webhook := s.awaitEventAbout("OUTGOING_PAYMENT."+event, rent.text("transactionId"))
		if event != "PENDING" {
			s.recordWebhook("outgoingPayment", "OUTGOING_PAYMENT."+event, webhook, "")
		}
	}
	s.record("createQuote", "Amount out of range", "/quotes", `{
		"source": {"sourceType": "ACCOUNT", "accountId": "`+balance+`"},
		"destination": {"destinationType": "ACCOUNT", "accountId": "`+a.eur+`"},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 2000000000}`).wantStatus(400)
	dear := s.callUnrecorded("POST", "/quotes", object{
		"source": object{"accountId": balance}, "destination": object{"accountId": a.eur},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 90000,
	}).wantStatus(201)
	s.record("executeQuote", "Insufficient balance", "/quotes/"+dear.text("id")+"/execute", "").wantStatus(400)
}

// recordJITPayment pays a quote by its reference: with the right amount and with another.
func (s *exampleRecorder) recordJITPayment(ana string, a externalAccounts) {
	quote := s.record("createQuote", "Funded just in time", "/quotes", `{
		"source": {"sourceType": "REALTIME_FUNDING", "customerId": "`+ana+`", "currency": "USD"},
		"destination": {"destinationType": "ACCOUNT", "accountId": "`+a.eur+`"},
		"lockedCurrencySide": "RECEIVING", "lockedCurrencyAmount": 20000}`).wantStatus(201)
	s.record("executeQuote", "A quote that is funded just in time", "/quotes/"+quote.text("id")+"/execute", "").wantStatus(409)
	s.record("sandboxSend", "The exact amount", "/sandbox/send", fmt.Sprintf(`{"reference": %q, "currencyCode": "USD", "currencyAmount": %d,
		"originator": {"accountHolderName": "Ana Silva", "accountIdentifier": "4210000017", "bankName": "Example Bank",
			"bankIdentifier": "021000021"}}`,
		paymentReference(quote), quote.int("totalSendingAmount"))).wantStatus(200)
	s.awaitEventAbout("OUTGOING_PAYMENT.COMPLETED", quote.text("transactionId"))

	s.record("createQuote", "Funded just in time with a stablecoin", "/quotes", `{
		"source": {"sourceType": "REALTIME_FUNDING", "customerId": "`+ana+`", "currency": "USDC", "cryptoNetwork": "SOLANA"},
		"destination": {"destinationType": "ACCOUNT", "accountId": "`+a.eur+`"},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 250000000}`).wantStatus(201)
	wrong := s.callUnrecorded("POST", "/quotes", object{
		"source": object{"customerId": ana, "currency": "USD"}, "destination": object{"accountId": a.eur},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 5000,
	}).wantStatus(201)
	s.record("sandboxSend", "A wrong amount is refunded", "/sandbox/send",
		fmt.Sprintf(`{"reference": %q, "currencyCode": "USD", "currencyAmount": 4999}`, paymentReference(wrong))).wantStatus(200)
	s.recordWebhook("outgoingPayment", "OUTGOING_PAYMENT.REFUND_COMPLETED", s.awaitEventAbout("OUTGOING_PAYMENT.REFUND_COMPLETED",
		wrong.text("transactionId")), "")
}

// recordSandboxTime moves quotes and payments on.
func (s *exampleRecorder) recordSandboxTime(ana string, a externalAccounts) {
	quote := func(to string) apiResponse {
		return s.callUnrecorded("POST", "/quotes", object{
			"source": object{"customerId": ana, "currency": "USD"}, "destination": object{"accountId": to},
			"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 5000,
		}).wantStatus(201)
	}
	pay := func(quote apiResponse) string {
		s.callUnrecorded("POST", "/sandbox/send", object{"quoteId": quote.text("id"), "currencyCode": "USD"}).wantStatus(200)
		return quote.text("transactionId")
	}
	expired := "/sandbox/quotes/" + quote(a.eur).text("id") + "/expire"
	s.record("sandboxExpireQuote", "", expired, "").wantStatus(200)
	s.record("sandboxExpireQuote", "Nothing waits any more", expired, "").wantStatus(409)

	paid := pay(quote(a.eur))
	s.awaitEventAbout("OUTGOING_PAYMENT.COMPLETED", paid)
	// One that waits is settled in another test: when its rail is asked first differs from run to run.
	s.record("sandboxSettleTransaction", "Nothing waits any more", "/sandbox/transactions/"+paid+"/settle", "").wantStatus(409)
	s.record("sandboxReturnTransaction", "", "/sandbox/transactions/"+paid+"/return", "").wantStatus(200)
	s.awaitEventAbout("OUTGOING_PAYMENT.REFUND_COMPLETED", paid)

	bank := s.callUnrecorded("POST", "/customers/external-accounts", kit.USAccountBody(ana, "777")).wantStatus(201).text("id")
	in := s.callUnrecorded("POST", "/transfer-in", object{"source": object{"accountId": bank},
		"destination": object{"accountId": s.internalAccountID(ana, "USD")}, "amount": 2500}).wantStatus(201).text("id")
	s.awaitEventAbout("INCOMING_PAYMENT.COMPLETED", in)
	s.record("sandboxTakeBackTransaction", "", "/sandbox/transactions/"+in+"/take-back", "").wantStatus(200)
}

// recordPlatformFees charges fees of the platform's own, and pays those that are earned.
func (s *exampleRecorder) recordPlatformFees(ana string, a externalAccounts) {
	s.record("updatePlatformConfig", "A fee of your own", "/config", `{"feeConfigs": [{"feeType": "CROSS_CURRENCY_TRANSACTION",
		"sourceCurrency": "USD", "variableFeeBps": 25, "fixedFee": {"amount": 50, "currency": "USD"}}]}`).wantStatus(200)
	quote := s.record("createQuote", "With a fee of your own", "/quotes", `{
		"source": {"sourceType": "REALTIME_FUNDING", "customerId": "`+ana+`", "currency": "USD"},
		"destination": {"destinationType": "ACCOUNT", "accountId": "`+a.eur+`"},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 50000,
		"platformFeeOverride": {"platformVariableFeeBps": 10, "platformFixedFee": {"amount": 100, "currency": "USD"}}}`).wantStatus(201)
	s.callUnrecorded("POST", "/sandbox/send", object{"quoteId": quote.text("id"), "currencyCode": "USD"}).wantStatus(200)
	s.awaitEventAbout("OUTGOING_PAYMENT.COMPLETED", quote.text("transactionId"))
	s.record("getPlatformFees", "", "/platform/fees", "").wantStatus(200)
	s.record("payPlatformFees", "", "/platform/fees/payouts", `{"currency": "USD"}`).wantStatus(201)
	s.record("payPlatformFees", "Nothing is earned", "/platform/fees/payouts", `{"currency": "USD"}`).wantStatus(400)
}

// recordUMAPayment makes the requests before a payment, and pays a receiver at another
// provider.
func (s *exampleRecorder) recordUMAPayment(ana string, _ externalAccounts) {
	const jo = "$success.eur@sandbox.uma.test"
	s.record("getAvailableUmaProviders", "", "/uma-providers?currencyCode=EUR", "").wantStatus(200)
	lookup := s.record("lookupUma", "", "/receiver/uma/%24success.eur@sandbox.uma.test?customerId="+ana, "").wantStatus(200).text("lookupId")
	quote := s.record("createQuote", "To a person by a UMA address", "/quotes", fmt.Sprintf(`{
		"lookupId": %q,
		"source": {"sourceType": "ACCOUNT", "accountId": %q},
		"destination": {"destinationType": "UMA_ADDRESS", "umaAddress": %q, "currency": "EUR"},
		"lockedCurrencySide": "RECEIVING", "lockedCurrencyAmount": 5000}`, lookup, s.internalAccountID(ana, "USD"), jo)).wantStatus(201)
	s.record("executeQuote", "To a person by a UMA address", "/quotes/"+quote.text("id")+"/execute", "").wantStatus(200)
	s.awaitEventAbout("OUTGOING_PAYMENT.COMPLETED", quote.text("transactionId"))
	invoice := s.record("createUmaInvoice", "", "/uma-invoices", fmt.Sprintf(
		`{"customerId": %q, "amount": 2500, "currency": "USD", "senderUmaAddress": %q}`, ana, jo)).wantStatus(201).text("id")
	s.record("getUmaInvoice", "", "/uma-invoices/"+invoice, "").wantStatus(200)
	s.record("listUmaInvoices", "", "/uma-invoices?receiverCustomerId="+ana, "").wantStatus(200)
	s.record("estimateCryptoWithdrawalFee", "", "/crypto/estimate-withdrawal-fee", fmt.Sprintf(`{
		"internalAccountId": %q, "currency": "USDC", "cryptoNetwork": "BASE", "amount": 25000000,
		"destinationAddress": "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B"}`, s.internalAccountID(ana, "USDC"))).wantStatus(200)
}

// recordAskedToPay lets ana ask another customer for money.
func (s *exampleRecorder) recordAskedToPay(ana string, _ externalAccounts) {
	bo := s.callUnrecorded("POST", "/customers", `{"customerType": "INDIVIDUAL", "platformCustomerId": "bo-of-invoices", "region": "US", "fullName": "Bo Berg",
		"birthDate": "1985-03-04", "umaAddress": "$bo.invoices@uma.example.com"}`).wantStatus(201)
	asked := s.callUnrecorded("POST", "/uma-invoices", fmt.Sprintf(`{"customerId": %q, "amount": 2500, "currency": "USD", "senderUmaAddress": %q}`, ana,
		bo.text("umaAddress"))).wantStatus(201).text("id")
	s.recordWebhook("umaInvoice", "", s.awaitEventAbout("UMA_INVOICE.RECEIVED", asked), "")
}

// recordIncoming receives payments for Ana: accepted at once, accepted later, and rejected.
func (s *exampleRecorder) recordIncoming(ana string, _ externalAccounts) {
	const pays = `{
		"senderUmaAddress": "$bo.berg@bank.example", "receiverUmaAddress": "$ana@uma.example.com",
		"receivingCurrencyCode": "USD", "receivingCurrencyAmount": 1250}`
	receive := func(title string, status int, reply string) string {
		s.receiver.setApprovalResponse(status, reply)
		id := s.callUnrecorded("POST", "/sandbox/uma/receive", pays).wantStatus(200).text("id")
		if title != "" {
			s.recordWebhook("incomingPayment", title, s.awaitEventAbout("INCOMING_PAYMENT.PENDING", id), reply)
		}
		return id
	}
	const facts = `{"receiverCustomerInfo": {"FULL_NAME": "Ana Silva"}}`
	s.awaitEventAbout("INCOMING_PAYMENT.COMPLETED", receive("INCOMING_PAYMENT.PENDING, approved at once", 200, facts))

	s.receiver.setApprovalResponse(202, "")
	later := s.record("sandboxReceive", "", "/sandbox/uma/receive", pays).wantStatus(200).text("id")
	s.recordWebhook("incomingPayment", "INCOMING_PAYMENT.PENDING, decided later", s.awaitEventAbout("INCOMING_PAYMENT.PENDING", later), "")
	s.record("approvePendingPayment", "", "/transactions/"+later+"/approve", facts).wantStatus(200)
	s.awaitEventAbout("INCOMING_PAYMENT.COMPLETED", later)

	s.record("sandboxListen", "", "/sandbox/webhook-listener", "").wantStatus(200)
	relayed := s.callUnrecorded("POST", "/sandbox/uma/receive", pays).wantStatus(200).text("id")
	s.record("sandboxAnswerApproval", "", "/sandbox/transactions/"+relayed+"/approval-response",
		`{"status": 200, "body": "{\"receiverCustomerInfo\": {\"FULL_NAME\": \"Ana Silva\"}}"}`).wantStatus(200)
	s.awaitEventAbout("INCOMING_PAYMENT.COMPLETED", relayed)
	s.exec("UPDATE platforms SET listener_until = NULL") // the endpoint answers again

	rejected := receive("", 202, "")
	s.awaitEventAbout("INCOMING_PAYMENT.PENDING", rejected)
	s.record("rejectPendingPayment", "", "/transactions/"+rejected+"/reject", `{"reason": "The account is closed."}`).wantStatus(200)
	s.recordWebhook("incomingPayment", "INCOMING_PAYMENT.FAILED", s.awaitEventAbout("INCOMING_PAYMENT.FAILED", rejected), "")
}

// recordTransactions lists transactions.
func (s *exampleRecorder) recordTransactions(ana string, _ externalAccounts) {
	page := s.record("listTransactions", "", "/transactions?limit=2&customerId="+ana, "").wantStatus(200)
	s.record("getTransactionById", "", "/transactions/"+page.text("data.1.id"), "").wantStatus(200)
}

// recordLedger reads the ledger reports, and assigns an unmatched payment.
func (s *exampleRecorder) recordLedger(ana string, _ externalAccounts) {
	s.awaitAllDelivered()
	balance := s.internalAccountID(ana, "USD")
	account := "/ledger/accounts/" + url.PathEscape("customers/"+balance)
	s.record("listLedgerAccounts", "", "/ledger/accounts?prefix=customers/&currency=USD&limit=2", "").wantStatus(200)
	s.record("getLedgerAccount", "", account+"?currency=USD", "").wantStatus(200)
	s.record("listLedgerEntries", "", account+"/entries?currency=USD&limit=2", "").wantStatus(200)
	postings := s.record("listLedgerPostings", "", "/ledger/postings?kind=converted&limit=2", "").wantStatus(200)
	s.record("getLedgerPosting", "", "/ledger/postings/"+postings.text("data.0.id"), "").wantStatus(200)
	s.record("getTransactionTimeline", "", "/transactions/"+postings.text("data.0.transactionId")+"/timeline", "").wantStatus(200)
	s.record("getTrialBalance", "", "/ledger/trial-balance", "").wantStatus(200)
	s.record("getIncome", "", "/ledger/income?from="+postings.text("data.0.recordedAt"), "").wantStatus(200)
	s.execAsService("DELETE FROM market_rates") // so that the request keeps those of its time
	s.record("getFXPosition", "", "/ledger/fx-position", "").wantStatus(200)

	s.callUnrecorded("POST", "/sandbox/send", object{"reference": "RENT MARCH", "currencyCode": "USD", "currencyAmount": 4200}).wantStatus(404)
	found := s.record("listUnmatched", "", "/ledger/unmatched", "").wantStatus(200).text("data.0.receiptId")
	s.record("assignUnmatched", "", "/ledger/unmatched/"+found+"/assign",
		`{"to": "`+balance+`", "note": "Ana called: it is hers."}`).wantStatus(200)
}

// recordReconciliation compares the ledger with a bank's statement of a day.
func (s *exampleRecorder) recordReconciliation(string, externalAccounts) {
	const path = "/ledger/reconciliations"
	file := "Booked,Amount,Ref,Text\n" + time.Now().UTC().Format(time.DateOnly) + ",-3.00,,Monthly fee\n"
	columns := url.QueryEscape("date=Booked;amount=Amount;reference=Ref;description=Text")
	run := s.record("createReconciliation", "", path+"?account=rails/RTP&currency=USD&format=csv&map="+columns,
		file).wantStatus(201).text("id")
	s.record("listReconciliations", "", path, "").wantStatus(200)
	s.record("getReconciliationById", "", path+"/"+run, "").wantStatus(200)
	s.record("listReconciliationLines", "", path+"/"+run+"/lines", "").wantStatus(200)
	fee := s.record("listReconciliationBreaks", "", path+"/"+run+"/breaks?reason=MISSING_IN_LEDGER", "").wantStatus(200).text("data.0.id")
	s.record("resolveReconciliationBreak", "", path+"/"+run+"/breaks/"+fee+"/resolve",
		`{"note": "Monthly fee, as agreed", "against": "EXPENSE"}`).wantStatus(200)
}

func (s *exampleRecorder) recordDeliveries(string, externalAccounts) {
	s.awaitAllDelivered()
	page := s.record("listWebhookDeliveries", "", "/webhook-deliveries?limit=2&event=OUTGOING_PAYMENT.COMPLETED", "").wantStatus(200)
	id := page.text("data.0.webhookId")
	s.record("getWebhookDelivery", "", "/webhook-deliveries/"+id, "").wantStatus(200)
	s.record("sandboxGetWebhookRequest", "", "/sandbox/webhook-deliveries/"+id+"/request", "").wantStatus(200)
	s.record("redeliverWebhook", "", "/webhook-deliveries/"+id+"/redeliver", "").wantStatus(200)
	s.awaitAllDelivered()
	s.record("redeliverWebhooks", "", "/webhook-deliveries/redeliver", fmt.Sprintf(`{"startDate": %q, "endDate": %q, "status": "FAILED"}`,
		page.text("data.1.createdAt"), page.text("data.0.createdAt"))).wantStatus(200)
	s.record("listWebhookKeys", "", "/webhook-keys", "").wantStatus(200)
	secret := s.record("createWebhookSecret", "", "/webhook-secrets", `{"overlapSeconds": 3600}`).wantStatus(201).text("id")
	s.record("listWebhookSecrets", "", "/webhook-secrets", "").wantStatus(200)
	s.record("deleteWebhookSecret", "", "/webhook-secrets/"+secret, "").wantStatus(204)
	s.record("sendTestWebhook", "", "/sandbox/webhooks/test", "").wantStatus(200)
}

func (s *exampleRecorder) recordTokens(string, externalAccounts) {
	tokenID := s.record("createToken", "", "/tokens", `{"name": "Back office", "permissions": ["VIEW", "TRANSACT"]}`).wantStatus(
		201).text("id")
	s.record("getTokenById", "", "/tokens/"+tokenID, "").wantStatus(200)
	s.record("listTokens", "", "/tokens?limit=2", "").wantStatus(200)
	s.record("deleteTokenById", "", "/tokens/"+tokenID, "").wantStatus(204)
}

// recordPeriods closes last month, with an adjustment.
func (s *exampleRecorder) recordPeriods(string, externalAccounts) {
	s.awaitAllDelivered()
	last := "/ledger/periods/" + previousMonth().Format("2006-01")
	s.record("softCloseLedgerPeriod", "", last+"/soft-close", `{"note": "Closing time", "confirmOpeningBalances": true}`).wantStatus(200)
	s.record("reopenLedgerPeriod", "", last+"/reopen", `{"note": "A statement is missing."}`).wantStatus(200)
	s.callUnrecorded("POST", last+"/soft-close", object{"confirmOpeningBalances": true})
	s.callUnrecorded("POST", "/ledger/adjustments", object{"note": "The bank's fee for the month",
		"effectiveAt": formatTimestamp(previousMonth().Add(time.Hour)),
		"entries":     []object{{"debit": "expense/rails", "credit": "rails/WIRE", "currency": "USD", "amount": 4500}}})
	s.record("createLedgerAdjustment", "", "/ledger/adjustments", `{
		"entries": [{"debit": "expense/rails", "credit": "rails/WIRE", "currency": "USD", "amount": 2500}],
		"note": "The bank charged the wire of the 3rd twice."}`).wantStatus(201)
	s.recordMonthEnd()
	s.awaitCheckpoint() // which the close records
	s.record("closeLedgerPeriod", "", last+"/close", `{"note": "The month is complete."}`).wantStatus(200)
	s.record("getLedgerPeriod", "", last, "").wantStatus(200)
	s.record("listLedgerPeriods", "", "/ledger/periods", "").wantStatus(200)
}

// awaitCheckpoint waits for a checkpoint of all postings: what records the newest one has the same response then.
func (s *exampleRecorder) awaitCheckpoint() {
	s.t.Helper()
	eventually(s.t, "a checkpoint of all postings", func() bool {
		log := s.get("/ledger/log").wantStatus(200)
		return log.int("sealed") == log.int("postings") && log.int("checkpoint.size") == log.int("postings")
	})
}

// recordVerification submits a business, which lacks documents, with its beneficial owner.
func (s *exampleRecorder) recordVerification(string, externalAccounts) {
	business := s.callUnrecorded("POST", "/customers", `{"platformCustomerId": "acme-8", "customerType": "BUSINESS", "region": "US",
		"businessInfo": {"legalName": "Acme Retail LLC", "country": "US", "registrationNumber": "5523042", "entityType": "LLC"},
		"address": {"line1": "5 Market Street", "city": "Austin", "state": "TX", "postalCode": "78701", "country": "US"}}`).wantStatus(
		201).text("id")
	const path = "/beneficial-owners"
	const home = `{"line1": "55 Mission Street", "city": "San Francisco", "state": "CA", "postalCode": "94105", "country": "US"}`
	owner := s.record("createBeneficialOwner", "", path, `{
		"customerId": "`+business+`", "roles": ["UBO", "CONTROL_PERSON"], "ownershipPercentage": 60,
		"personalInfo": {"firstName": "Ana", "lastName": "Silva", "birthDate": "1980-01-31", "nationality": "US", "email": "ana@example.com",
			"phoneNumber": "+14155550123", "address": `+home+
		`, "idType": "SSN", "identifier": "123-45-6789", "countryOfIssuance": "US"}}`).wantStatus(201).text("id")
	s.record("createBeneficialOwner", "More than 100 percent", path, `{
		"customerId": "`+business+`", "roles": ["UBO"], "ownershipPercentage": 50,
		"personalInfo": {"firstName": "Bo", "lastName": "Ek", "birthDate": "1985-06-12", "nationality": "SE", "address": `+home+`,
			"idType": "NON_US_TAX_ID", "identifier": "850612-1234", "countryOfIssuance": "SE"}}`).wantStatus(400)
	s.record("getBeneficialOwner", "", path+"/"+owner, "").wantStatus(200)
	s.record("listBeneficialOwners", "", path+"?limit=2&customerId="+business, "").wantStatus(200)
	s.record("updateBeneficialOwner", "", path+"/"+owner,
		`{"ownershipPercentage": 75, "personalInfo": {"middleName": "Maria", "phoneNumber": "+14155550199"}}`).wantStatus(200)

	s.record("createCustomerKycLink", "", "/customers/"+business+"/kyc-link",
		`{"redirectUri": "https://example.com/onboarding/done"}`).wantStatus(201)
	verification := s.record("createVerification", "What is missing", "/verifications", `{"customerId": "`+business+
		`"}`).wantStatus(200).text("id")
	s.recordWebhook("verification", "VERIFICATION.RESOLVE_ERRORS", s.awaitEventAbout("VERIFICATION.RESOLVE_ERRORS", verification), "")
	s.record("getVerification", "", "/verifications/"+verification, "").wantStatus(200)
	s.record("listVerifications", "", "/verifications?limit=2&verificationStatus=RESOLVE_ERRORS", "").wantStatus(200)
}

// recordRequestLogs records the log of requests.
func (s *exampleRecorder) recordRequestLogs() {
	failed := s.post("/quotes", object{"lockedCurrencySide": "SENDING", "description": "Rent of Ana"}).wantStatus(400).header.Get("Request-Id")
	logged := "/request-logs?status=4xx&requestId=" + failed
	eventually(s.t, "the request is logged", func() bool { return len(s.get(logged).wantStatus(200).list("data")) == 1 })
	entry := s.record("listRequestLogs", "", logged, "").wantStatus(200).text("data.0.id")
	s.record("getRequestLog", "", "/request-logs/"+entry, "").wantStatus(200)
}
