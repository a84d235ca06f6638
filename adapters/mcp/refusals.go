package mcp

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// policyReasons are the reasons of a policy in words.
var policyReasons = map[string]string{
	"AGENT_PAUSED":            "the agent is paused",
	"PERMISSION_MISSING":      "the agent lacks the permission",
	"ACCOUNT_NOT_ALLOWED":     "the account may not be used by this agent",
	"PER_TRANSACTION_LIMIT":   "it is above the limit of a payment",
	"DAILY_LIMIT":             "it would exceed the daily limit",
	"DAILY_TRANSACTION_LIMIT": "the number of payments of this day is reached",
	"MONTHLY_LIMIT":           "it would exceed the monthly limit",
	"EXECUTION_MODE":          "a person approves such payments",
	"APPROVAL_THRESHOLD":      "it is above the amount from which a person approves",
}

// reasonWords returns reasons as ": a; b", or nothing.
func reasonWords(reasons []reason) string {
	var words []string
	for _, r := range reasons {
		if known, ok := policyReasons[r.Code]; ok {
			words = append(words, known)
		} else {
			words = append(words, safeCode(r.Code))
		}
	}
	if len(words) == 0 {
		return ""
	}
	return ": " + strings.Join(words, "; ")
}

// advice says what to do about a code.
var advice = map[string]string{
	"INVALID_INPUT": "Some arguments are wrong; the data lists each of them. Correct them and call again.",
	"INSUFFICIENT_BALANCE": "Nothing was sent: the account does not hold enough. Tell the person; do not try smaller amounts unless " +
		"asked to.",
	"AMOUNT_OUT_OF_RANGE": "The amount is too small or too large for this payment; the data says what is possible.",
	"INVALID_CURRENCY": "The currencies do not fit. Use transfer_out or transfer_in between two accounts of one currency, and " +
		"create_quote between two currencies.",
	"QUOTE_EXPIRED":          "Nothing was sent: the quote has expired. Create a new quote, preview it, and execute that one.",
	"QUOTE_ALREADY_EXECUTED": "The quote was executed before, and is not paid twice. Call get_quote for its status.",
	"QUOTE_NOT_EXECUTABLE": "This quote is not executed by you: somebody else pays it by its paymentInstructions, or it cannot be " +
		"executed any more.",
	"IDEMPOTENCY_KEY_IN_USE":      "The same call is still running. Wait a few seconds and call again with the same arguments.",
	"IDEMPOTENCY_KEY_REUSED":      "The same call was made before with other arguments.",
	"CUSTOMER_DELETED":            "The customer was deleted. Stop, and tell the person.",
	"USER_NOT_READY":              "The customer may not move money yet. Tell the person to contact the platform.",
	"COUNTERPARTY_NOT_ALLOWED":    "This receiver may not be paid. Tell the person; do not look for a way around it.",
	"ACTION_NOT_PENDING_APPROVAL": "The action was decided already. Call get_action for its status.",
}

// refusal returns the result of a response that is not ok. The text of the service is in the data, because messages can
// quote other people.
func refusal(t *tool, r response, arguments map[string]any) *sdk.CallToolResult {
	e := r.failure()
	code := fmt.Sprintf("%d %s", r.status, safeCode(e.Code))
	words := t.adviceOn(r, e, arguments)
	switch {
	case r.replayed:
		words += " This is the stored answer to an earlier call with the same intent, which was not evaluated again: nothing has been sent for " +
			"it. " + t.newAttempt()
	case t.hasIntent() && !r.isElsewhere() && (r.status == http.StatusBadRequest || r.status == http.StatusNotFound):
		words += " An intent is for one set of arguments: to call again with others, use another intent, such as the same one with \"second " +
			"attempt\" after it."
	}
	return failed("Refused ("+code+"). "+words, r.body)
}

// adviceOn says what happened and what to do.
func (t *tool) adviceOn(r response, e serviceError, arguments map[string]any) string {
	if t.hint != nil {
		if words := t.hint(e, arguments); words != "" {
			return words
		}
	}
	if words, known := advice[e.Code]; known {
		return words
	}
	switch {
	case r.isElsewhere():
		return wrongURLWords
	case r.deniesToken(): // the token was checked: it is about the signature
		return "Nothing was sent: an embedded wallet pays this, and the signature of its owner over payloadToSign of the quote is missing or " +
			"wrong. Ask the person for it."
	case r.status == http.StatusForbidden && len(e.Details.Reasons) > 0:
		return "The policy of the agent does not allow this" + reasonWords(e.Details.Reasons) +
			". Nothing was done. Tell the person, who can ask the platform to change the policy. Do not split a payment or look for another way " +
			"around a limit."
	case r.status == http.StatusForbidden:
		return "The agent may not do this. Tell the person, and call get_agent to see what you may do."
	case r.status == http.StatusNotFound:
		return "It does not exist for this agent. Check the id with the list_ tools."
	case r.status == http.StatusTooManyRequests:
		return "Too many calls. Wait " + seconds(r.retryAfter) + ", and then call again with the same arguments."
	case r.status >= http.StatusInternalServerError:
		return t.temporaryWords()
	}
	return "The data says why. Correct it, or tell the person."
}

const wrongURLWords = "Nothing was done: what answered is not the service, or another version of it. " +
	"Tell the person to check CAUSEWAY_URL, the URL of the service with its version, such as http://localhost:8080/2025-10-13."

const unauthorizedWords = "The access token is no longer accepted: the agent was deleted, or the token is wrong. Stop, and tell the " +
	"person to pair this program with a new device code of the platform, or to set CAUSEWAY_AGENT_TOKEN anew if it was given that way."

// temporaryWords says what to do if it is unknown what became of a call.
func (t *tool) temporaryWords() string {
	if t.intent != nil {
		return "It is not known whether the payment was made. Call again with exactly the same arguments: the same payment is never made twice."
	}
	if t.method == http.MethodPost && t.starts {
		return "It is not known whether it was done, but no money was moved. Call again in a few seconds."
	}
	return "This is temporary. Call again in a few seconds."
}

// newAttempt says how to ask again for a payment that was refused.
func (t *tool) newAttempt() string {
	if t.name == "execute_quote" {
		return "If the cause is gone, create a new quote."
	}
	return "If the cause is gone, call again with another intent, such as the same one with \"second attempt\" after it."
}

// seconds returns how long to wait in words.
func seconds(retryAfter string) string {
	n, err := strconv.Atoi(retryAfter)
	if err != nil || n < 1 || n > 3600 {
		return "a few seconds"
	}
	return fmt.Sprintf("%d seconds", n)
}
