package e2e

import (
	"strings"
	"testing"
)

func TestPayouts_RailsOfAccounts(t *testing.T) {
	t.Parallel()
	// Payments go over the rail that the amount or the request selects: to Indian accounts by number, to Colombia and Egypt, over the
	// systems behind bank transfers, and on Plasma. What cannot be is refused with the field, and a corridor that is announced by name.
	h := newSharedEnv(t)
	hooks := h.startReceiver()
	customer := h.createCustomer()
	balance := h.fundedAccount(customer)
	h.post("/sandbox/internal-accounts/"+balance+"/fund", object{"amount": 100_000_00}).wantStatus(200)
	create := func(currency, accountType string, fields object) apiResponse {
		info := object{"accountType": accountType}
		if !strings.HasSuffix(accountType, "_WALLET") {
			info["beneficiary"] = object{"beneficiaryType": "INDIVIDUAL", "fullName": "Ana Silva"}
		}
		for name, value := range fields {
			info[name] = value
		}
		return h.post("/customers/external-accounts", object{"customerId": customer, "currency": currency, "accountInfo": info})
	}
	quote := func(to, rail string, amount int) apiResponse {
		destination := object{"destinationType": "ACCOUNT", "accountId": to}
		if rail != "" {
			destination["paymentRail"] = rail
		}
		return h.post("/quotes", object{"source": object{"sourceType": "ACCOUNT", "accountId": balance}, "destination": destination,
			"lockedCurrencySide": "RECEIVING", "lockedCurrencyAmount": amount, "purposeOfPayment": "GIFT", "immediatelyExecute": true})
	}
	number := object{"accountNumber": "123456789019", "ifsc": "HDFC0001234"}

	philippine := func(end string) object { return object{"bankName": "BDO Unibank", "accountNumber": "00123456" + end} }
	for name, test := range map[string]struct {
		currency, accountType string
		fields                object
		wanted                string
		amount                int
		listed, rail          string
	}{
		"by number": {"INR", "INR_ACCOUNT", number, "", 150_000_00, "NEFT", "NEFT"},
		"much by number": {"INR", "INR_ACCOUNT", object{"accountNumber": "223456789019", "ifsc": "HDFC0001234"}, "", 200_000_00, "NEFT",
			"RTGS"},
		"only over RTGS": {"INR", "INR_ACCOUNT", object{"accountNumber": "323456789019", "ifsc": "HDFC0001234", "rail": "RTGS"}, "", 200_000_00,
			"RTGS", "RTGS"},
		"to a bank in Colombia": {"COP", "COP_ACCOUNT", object{"bankName": "Bancolombia", "accountNumber": "12345678919"}, "BRE_B", 40_000_00,
			"BANK_TRANSFER", "BRE_B"},
		"to a phone in Colombia": {"COP", "COP_ACCOUNT", object{"bankName": "Nequi", "phoneNumber": "+573001234519"}, "", 40_000_00,
			"MOBILE_MONEY", "MOBILE_MONEY"},
		"to a phone in Egypt": {"EGP", "EGP_ACCOUNT", object{"bankName": "Vodafone Cash", "phoneNumber": "+201001234519"}, "", 500_00,
			"MOBILE_MONEY", "MOBILE_MONEY"},
		"over InstaPay": {"PHP", "PHP_ACCOUNT", philippine("7819"), "INSTAPAY", 1_000_00, "BANK_TRANSFER", "INSTAPAY"},
		"over PESONet":  {"PHP", "PHP_ACCOUNT", philippine("8819"), "PESONET", 60_000_00, "BANK_TRANSFER", "PESONET"},
		"on Plasma": {"USDT", "PLASMA_WALLET", object{"address": "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B"}, "", 10_000_000, "PLASMA",
			""},
	} {
		created := create(test.currency, test.accountType, test.fields).wantStatus(201)
		created.wantValues(map[string]any{"accountInfo.paymentRails.0": test.listed})
		quoted := quote(created.text("id"), test.wanted, test.amount).wantStatus(201)
		hooks.awaitOutgoingEvent(quoted.text("transactionId"), "COMPLETED")
		paid := h.get("/transactions/" + quoted.text("transactionId")).wantStatus(200)
		if got := paid.text("destination.paymentRail"); got != test.rail {
			t.Errorf("%s: paid over %q, want %q", name, got, test.rail)
		}
	}

	create("INR", "INR_ACCOUNT", object{"vpa": "ana@okbank", "rail": "NEFT"}).wantError(400, "INVALID_INPUT").wantValues(
		map[string]any{"details.errors.0.field": "accountInfo.accountNumber"})
	other := create("PHP", "PHP_ACCOUNT", philippine("9819")).wantStatus(201).text("id")
	quote(other, "BRE_B", 1_000_00).wantError(400, "INVALID_INPUT").wantValues(map[string]any{
		"details.errors.0.field": "destination.paymentRail"})
	quote(other, "INSTAPAY", 60_000_00).wantError(400, "AMOUNT_OUT_OF_RANGE").wantValues(map[string]any{"details.maxAmount": 50_000_00})
	chinese := create("CNY", "CNY_ACCOUNT", object{"bankName": "AliPay", "phoneNumber": "+8613812345619"}).wantStatus(201)
	quote(chinese.text("id"), "", 100_00).wantError(400, "INVALID_CURRENCY").wantValues(map[string]any{"details.country": "CN"})
}

func TestFundingInstructions_AbroadAndRenamed(t *testing.T) {
	t.Parallel()
	// An account in dollars has a way for payers abroad, and both ways are in an event when the owner has another name.
	h := newSharedEnv(t)
	hooks := h.startReceiver()
	customer := h.createCustomer()
	h.get("/customers/internal-accounts?customerId=" + customer + "&currency=USD").wantStatus(200).wantValues(map[string]any{
		"data.0.fundingPaymentInstructions.1.accountOrWalletInfo.accountType":    "SWIFT_ACCOUNT",
		"data.0.fundingPaymentInstructions.1.accountOrWalletInfo.paymentRails.0": "SWIFT",
		"data.0.fundingPaymentInstructions.1.accountOrWalletInfo.bankAddress":    "1 Sandbox Street, New York, NY 10001, US"})

	h.patch("/customers/"+customer, object{"customerType": "INDIVIDUAL", "fullName": "Ana Lima"}).wantStatus(200)

	renamed := hooks.awaitDelivery("new instructions", func(d delivery) bool {
		return d.event == "INTERNAL_ACCOUNT.FUNDING_INSTRUCTIONS_UPDATED" && d.text("internalAccount.balance.currency.code") == "USD"
	})
	renamed.wantValues(map[string]any{"internalAccount.customerId": customer,
		"internalAccount.fundingPaymentInstructions.0.accountOrWalletInfo.accountHolderName": "Causeway Client Money FBO Ana Lima",
		"internalAccount.fundingPaymentInstructions.1.accountOrWalletInfo.accountHolderName": "Causeway Client Money FBO Ana Lima"})
}
