package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
)

const amountDescription = "Amount as a whole number in the smallest unit of the currency: 1050 USD is $10.50, 1050 JPY is 1050 yen, " +
	"1050000 USDC is 1.05 USDC, 1050 BTC is 0.00001050 BTC."

const agentPath = "/agents/me"

var getAgent = tool{
	name: "get_agent", title: "Limits and permissions", operation: "getAgentMe", method: "GET", path: agentPath,
	description: "Says what you may do and how much you may still spend: permissions, limits, what was spent today and this month, and " +
		"which payments a person has to approve. " +
		"Call it before the first payment, and after a refusal. Amounts in the data are whole numbers in the smallest unit of the limits' " +
		"currency: 1050 USD is $10.50.",
	summary: func(_ *profile, body []byte) string {
		var p profile
		if json.Unmarshal(body, &p) != nil {
			return "This is the agent."
		}
		return p.words()
	},
}

var (
	quoteID = field{name: "quoteId", kind: text, required: true, description: "Id of a quote that you created, such as " +
		"Quote:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11."}
	signature = field{name: signatureArgument, kind: text, maxLength: 8000, description: "Only for a quote that an embedded wallet pays: " +
		"the signature of the wallet's owner over payloadToSign of the quote. Never invent one."}
	intent = field{name: intentArgument, kind: text, required: true, maxLength: 200,
		description: "What this payment is for, in a few words that are different for each payment, such as \"rent for March 2026\" or " +
			"\"invoice 4711\". " +
			"Within 7 days, calls with the same intent pay once. Use the same intent to repeat a call whose result you did not see, and another " +
			"one only for another payment."}
	amount = field{name: "amount", kind: integer, required: true, minimum: 1, maximum: 9_000_000_000_000_000, description: amountDescription}
)

func accountID(description string) field {
	return field{name: "accountId", kind: text, required: true, description: description}
}

var transferOutFields = []field{
	{name: "source", kind: object, required: true, description: "The account that pays.",
		fields: []field{accountID("Id of an internal account, from list_internal_accounts.")}},
	{name: "destination", kind: object, required: true, description: "The account that receives.", fields: []field{
		accountID("Id of an external account, from list_external_accounts, in the currency of the source."),
		{name: "paymentRail", kind: text, description: "Payment rail, such as ACH. Leave it out for the fastest."},
	}},
	amount,
}

var transferInFields = []field{
	{name: "source", kind: object, required: true, description: "The account that is debited.",
		fields: []field{accountID("Id of an external account that can be debited, from list_external_accounts.")}},
	{name: "destination", kind: object, required: true, description: "The account that is credited.",
		fields: []field{accountID("Id of an internal account in the same currency, from list_internal_accounts.")}},
	amount,
}

// previewed returns the body of a preview of a request.
func previewed(name string) func(map[string]any) any {
	return func(arguments map[string]any) any { return map[string]any{name: arguments} }
}

func intentOf(arguments map[string]any) string {
	text, _ := arguments[intentArgument].(string)
	return text
}

// quoteOf returns what makes the execution of a quote unique. The service executes a quote once; another signature is
// another attempt, so that a refused one can be replaced.
func quoteOf(arguments map[string]any) string {
	quote, _ := arguments["quoteId"].(string)
	signature, _ := arguments[signatureArgument].(string)
	return strings.TrimSpace(quote + " " + signature)
}

const previewDescription = " Moves no money and records nothing. Says whether the payment would be allowed, would wait for a person's " +
	"approval, or would be refused and why, and what it would send including fees."

var paymentTools = []tool{
	{
		name: "create_quote", title: "Create a quote", operation: "agentCreateQuote", method: "POST", path: agentPath + "/quotes",
		permissions: []string{createQuotes}, starts: true, openWorld: true,
		description: "Locks the price of a payment from one currency to another: what is sent, the fees, and what the receiver gets. Moves no " +
			"money. Within one currency use transfer_out. " +
			"Then call preview_quote, and execute_quote before the quote expires. A quote with a source.currency instead of a source.accountId is " +
			"paid by somebody else, by its paymentInstructions, and is not executed.",
		arguments: []field{
			{name: "source", kind: object, required: true, description: "What pays: accountId, or currency for a quote that somebody else pays.",
				oneOf: []string{"accountId", "currency"}, fields: []field{
					{name: "accountId", kind: text, description: "Id of the account that pays, usually from list_internal_accounts."},
					{name: "currency", kind: text, description: "Only without accountId: currency to pay in, such as USD."},
					{name: "cryptoNetwork", kind: text, description: "Only without accountId: blockchain to pay a stablecoin on, such as SOLANA. " +
						"Required if there are several."},
				}},
			{name: "destination", kind: object, required: true, description: "What receives: accountId, or umaAddress.",
				oneOf: []string{"accountId", "umaAddress"}, fields: []field{
					{name: "accountId", kind: text, description: "Id of the account that receives, usually from list_external_accounts."},
					{name: "umaAddress", kind: text, description: "UMA address that receives, such as $ana@bank.example. Needs lookupId."},
					{name: "currency", kind: text, description: "Currency to receive. Leave it out unless a UMA address takes several."},
					{name: "paymentRail", kind: text, description: "Payment rail of the payout, such as RTP. Leave it out for the fastest."},
				}},
			{name: "lockedCurrencySide", kind: text, required: true, enum: []string{"SENDING", "RECEIVING"},
				description: "SENDING: lockedCurrencyAmount is what is sent, including fees. RECEIVING: it is what the receiver gets."},
			{name: "lockedCurrencyAmount", kind: integer, required: true, minimum: 1, maximum: 9_000_000_000_000_000,
				description: amountDescription},
			{name: "lookupId", kind: text, description: "Id of the lookup of a UMA address, if you were given one."},
			{name: "description", kind: text, maxLength: 500, description: "A note about the payment, for the platform's records."},
			{name: "purposeOfPayment", kind: text, description: "Purpose, required for some countries.",
				enum: []string{"GIFT", "SELF", "GOODS_OR_SERVICES", "EDUCATION", "HEALTH_OR_MEDICAL", "REAL_ESTATE_PURCHASE", "TAX_PAYMENT",
					"LOAN_PAYMENT", "UTILITY_BILL", "DONATION", "TRAVEL", "FAMILY_SUPPORT", "SALARY_PAYMENT",
					"OTHER"}},
			{name: "senderCustomerInfo", kind: object, open: true, description: "Only for a UMA address: what its lookup requires about the " +
				"sender, as texts by field name."},
		},
		summary: func(_ *profile, body []byte) string {
			return "The quote was created; nothing was sent. " + quoteWords(body)
		},
	},
	{
		name: "get_quote", title: "Get a quote", operation: "agentGetQuote", method: "GET", path: agentPath + "/quotes/{quoteId}",
		description: "Shows a quote that you created, with its current status.",
		arguments:   []field{quoteID},
		summary:     func(_ *profile, body []byte) string { return quoteWords(body) },
	},
	{
		name: "preview_quote", title: "Preview the execution of a quote", operation: "agentPreviewPayment", method: "POST",
		path: agentPath + "/actions/preview", permissions: []string{executeQuotes},
		description: "Call this before execute_quote." + previewDescription,
		arguments:   []field{quoteID},
		summary:     func(_ *profile, body []byte) string { return previewWords(body, "execute_quote") },
	},
	{
		name: "execute_quote", title: "Execute a quote", operation: "agentExecuteQuote", method: "POST",
		path:        agentPath + "/quotes/{quoteId}/execute",
		permissions: []string{executeQuotes}, starts: true, destructive: true, openWorld: true,
		description: "PAYS: sends the money of a quote. It cannot be undone. The result says whether the payment has started, or waits for a " +
			"person's approval. " +
			"A quote is paid at most once: if you did not see the result, call it again with the same quoteId.",
		arguments: []field{quoteID, signature},
		intent:    quoteOf,
		summary:   actionWords,
	},
	{
		name: "preview_transfer_out", title: "Preview a transfer out", operation: "agentPreviewPayment", method: "POST",
		path: agentPath + "/actions/preview", permissions: []string{createTransfers},
		description: "Call this before transfer_out, with the same source, destination and amount." + previewDescription,
		arguments:   transferOutFields, body: previewed("transferOut"),
		summary: func(_ *profile, body []byte) string { return previewWords(body, "transfer_out") },
	},
	{
		name: "transfer_out", title: "Transfer out", operation: "agentCreateTransferOut", method: "POST", path: agentPath + "/transfer-out",
		permissions: []string{createTransfers}, starts: true, destructive: true, openWorld: true,
		description: "PAYS: sends money from an internal account to an external account in the same currency, without a fee. It cannot be " +
			"undone. " +
			"For another currency use create_quote. Call preview_transfer_out first. The result says whether the payment has started, or waits " +
			"for a person's approval.",
		arguments: append(append([]field{}, transferOutFields...), intent),
		intent:    intentOf,
		summary:   actionWords,
		hint:      reusedIntent,
	},
	{
		name: "preview_transfer_in", title: "Preview a transfer in", operation: "agentPreviewPayment", method: "POST",
		path: agentPath + "/actions/preview", permissions: []string{createTransfers},
		description: "Call this before transfer_in, with the same source, destination and amount." + previewDescription,
		arguments:   transferInFields, body: previewed("transferIn"),
		summary: func(_ *profile, body []byte) string { return previewWords(body, "transfer_in") },
	},
	{
		name: "transfer_in", title: "Transfer in", operation: "agentCreateTransferIn", method: "POST", path: agentPath + "/transfer-in",
		permissions: []string{createTransfers}, starts: true, destructive: true, openWorld: true,
		description: "Debits an external account of the customer, such as a bank account, and credits an internal account in the same " +
			"currency. It counts against your limits like a payment. " +
			"Call preview_transfer_in first. The result says whether it has started, or waits for a person's approval.",
		arguments: append(append([]field{}, transferInFields...), intent),
		intent:    intentOf,
		summary:   actionWords,
		hint:      reusedIntent,
	},
}

// reusedIntent explains an intent that was used with other arguments.
func reusedIntent(e serviceError, _ map[string]any) string {
	if e.Code != "IDEMPOTENCY_KEY_REUSED" {
		return ""
	}
	return "Nothing was sent: this intent was used before with other arguments. Call list_actions: if the payment is there, do not make it " +
		"again. " +
		"If the earlier call was refused, or this is another payment, call again with an intent that says how it differs, such as the same one " +
		"with \"second attempt\" after it."
}

// quoteWords describes a quote.
func quoteWords(body []byte) string {
	var q struct {
		ID, Status, ExpiresAt                                  string
		TotalSendingAmount, TotalReceivingAmount, FeesIncluded int64
		SendingCurrency, ReceivingCurrency                     struct{ Code string }
		Source                                                 struct{ SourceType string }
	}
	if json.Unmarshal(body, &q) != nil {
		return "This is the quote."
	}
	amounts := fmt.Sprintf("%s in total, of which %s are fees; the receiver gets %s.", inWords(q.TotalSendingAmount, q.SendingCurrency.Code),
		inWords(q.FeesIncluded, q.SendingCurrency.Code), inWords(q.TotalReceivingAmount, q.ReceivingCurrency.Code))
	words := safeID(q.ID) + " is " + safeCode(q.Status) + ". "
	switch {
	case q.Status != "PENDING":
		return words + "It cannot be executed any more. Its amounts: " + amounts
	case q.Source.SourceType == "REALTIME_FUNDING":
		words += "Somebody else pays it, by its paymentInstructions; you cannot execute it. It takes " + amounts
	default:
		words += "Executing it sends " + amounts + " Call preview_quote to see whether it may be executed, and then execute_quote."
	}
	return words + " The price holds until " + safeTime(q.ExpiresAt) + "."
}

// previewWords describes a preview of a payment.
func previewWords(body []byte, tool string) string {
	var p struct {
		Decision            string
		Reasons             []reason
		Amount, LimitAmount currencyAmount
	}
	if json.Unmarshal(body, &p) != nil {
		return "This is the preview; nothing was sent."
	}
	amount := p.Amount.String()
	if p.LimitAmount.Currency.Code != "" && p.LimitAmount.Currency.Code != p.Amount.Currency.Code {
		amount += " (" + p.LimitAmount.String() + " of your limits)"
	}
	switch p.Decision {
	case "ALLOWED":
		return fmt.Sprintf("Nothing was sent. It would be allowed, and send %s. To pay, call %s.", amount, tool)
	case "APPROVAL_REQUIRED":
		return fmt.Sprintf("Nothing was sent. %s would ask for approval to send %s, and wait until a person decides%s.", tool, amount,
			reasonWords(p.Reasons))
	case "REFUSED":
		return fmt.Sprintf("Nothing was sent. Sending %s would be REFUSED%s. Do not call %s with this payment.", amount,
			reasonWords(p.Reasons), tool)
	}
	return "Nothing was sent. The data has the decision."
}

// actionWords describes what became of a payment.
func actionWords(p *profile, body []byte) string {
	var a struct {
		ID, Status  string
		Transaction *struct {
			ID, Status string
			SentAmount *currencyAmount
		}
	}
	if json.Unmarshal(body, &a) != nil {
		return "This is the action."
	}
	id := safeID(a.ID)
	switch a.Status {
	case "PENDING_APPROVAL":
		return fmt.Sprintf("WAITING FOR APPROVAL: nothing was sent yet. A person at the platform approves or rejects %s. Do not make the "+
			"payment again; call get_action with this actionId later to see the decision.", id)
	case "APPROVED":
		if a.Transaction == nil {
			return id + " is approved."
		}
		words := fmt.Sprintf("%s is approved, and its payment %s is %s", id, safeID(a.Transaction.ID), safeCode(a.Transaction.Status))
		if sent := a.Transaction.SentAmount; sent != nil {
			words += ", " + sent.String() + " sent"
		}
		switch a.Transaction.Status {
		case "COMPLETED":
			return words + ". It has arrived."
		case "FAILED", "REFUNDED", "REJECTED", "EXPIRED":
			return words + ". It was NOT delivered: the data says why, and whether the money came back. Tell the person."
		}
		if p.may(viewTransactions) {
			return words + ". It has started; it has arrived when get_transaction says COMPLETED."
		}
		return words + ". It has started; it has arrived when the transaction in get_action is COMPLETED."
	case "REJECTED":
		return id + " was REJECTED by the platform: nothing was sent. Tell the person, and do not try to get around it."
	case "FAILED":
		return id + " was approved but FAILED: nothing was sent. The data says why, such as an expired quote or a missing balance. If the " +
			"person still wants it, make a new payment: a new quote, or a transfer with another intent."
	}
	return id + " is " + safeCode(a.Status) + "."
}
